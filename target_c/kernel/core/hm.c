/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/hm.h"

#include "kernel/board.h"
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/log.h"
#include "kernel/monitor.h"
#include "kernel/sched.h"

#if KERNEL_MONITORED
_Static_assert((int)ERROR_POWER_FAIL == (int)VXM_HM_CODE_POWER_FAIL && (int)LEVEL_MODULE == (int)VXM_HM_LEVEL_MODULE &&
                   (int)ACTION_HANDLER == (int)VXM_HM_ACTION_HANDLER,
               "codes, levels and actions are those of the event table");
#endif

static const char *const CODE_NAME[ERROR_CODES] = {
    "DEADLINE_MISSED", "APPLICATION_ERROR", "NUMERIC_ERROR",  "ILLEGAL_REQUEST",
    "STACK_OVERFLOW",  "MEMORY_VIOLATION",  "HARDWARE_FAULT", "POWER_FAIL",
};
static const char *const LEVEL_NAME[] = {"process", "partition", "module"};
static const char *const ACTION_NAME[] = {
    "ignore",         "log",          "restart_process", "stop_process", "warm_restart", "cold_restart",
    "idle_partition", "reset_module", "handler",
};

static bool reset_due;

static enum hm_state state_of(const struct hm_error *error)
{
    if (error->device || error->partition == NULL || error->partition->index == 0u) {
        return HM_MODULE_MODE;
    }
    return error->partition->mode != MODE_NORMAL || error->process == NULL ? HM_PARTITION_MODE : HM_PROCESS_MODE;
}

/* An error in the handler, or one too many, is the partition's. */
static bool handler_can_take(const struct hm_error *error)
{
    const struct partition *partition = error->partition;

    return partition->handler != NULL && error->process != partition->handler && partition->error_count < MAX_ERRORS;
}

/* Warm restart; when that is what failed, cold restart; when that failed too, nothing is left to try. */
static enum hm_action default_action(const struct partition *partition)
{
    switch (partition->mode) {
    case MODE_NORMAL:
        return ACTION_WARM_RESTART;
    case MODE_WARM_START:
        return ACTION_COLD_RESTART;
    default:
        return ACTION_IDLE_PARTITION;
    }
}

static enum hm_action partition_action(const struct hm_error *error)
{
    const enum hm_action action = error->partition->config->hm_action[error->code];

    if (action == ACTION_DEFAULT) {
        return default_action(error->partition);
    }
    const bool of_process = action == ACTION_RESTART_PROCESS || action == ACTION_STOP_PROCESS;
    if ((of_process && state_of(error) != HM_PROCESS_MODE) || (error->stuck && action < ACTION_RESTART_PROCESS)) {
        /* There is no process of its own to restart, or it cannot be let go on. */
        return state_of(error) == HM_PROCESS_MODE ? ACTION_STOP_PROCESS : default_action(error->partition);
    }
    return action;
}

static enum hm_action decide(const struct hm_error *error, enum hm_level *level)
{
    *level = module_config.hm_level[state_of(error)][error->code];
    if (*level != LEVEL_MODULE && (error->partition == NULL || error->partition->index == 0u)) {
        *level = LEVEL_MODULE;
    }
    if (*level == LEVEL_PROCESS) {
        if (handler_can_take(error)) {
            return ACTION_HANDLER;
        }
        *level = error->process == error->partition->handler ? LEVEL_PARTITION : LEVEL_PROCESS;
    }
    if (*level != LEVEL_MODULE) {
        return partition_action(error);
    }
    const enum hm_action action = module_config.hm_module_action[error->code];
    return action == ACTION_DEFAULT ? ACTION_RESET_MODULE : action;
}

static void write_log(const struct hm_error *error, enum hm_level level, enum hm_action action)
{
    struct log_entry entry = {
        .subcode = error->subcode,
        .address = error->address,
        .code = (uint16_t)error->code,
        .level = (uint16_t)level,
        .action = (uint16_t)action,
    };

    memcpy(entry.message, error->message, sizeof entry.message);
    const uint64_t number = log_append(LOG_HM, &entry, error->partition, error->process);
    vxm_hm_event(entry.partition, entry.code, entry.level, entry.subcode, entry.address, entry.task, entry.action,
                 (uint32_t)number);
    if (action == ACTION_HANDLER) {
        return;
    }
    print("hm: %s partition %s process %s address %08x subcode %08x: level %s, action %s\n", CODE_NAME[error->code],
          error->partition != NULL ? error->partition->name : "-", error->process != NULL ? error->process->name : "-",
          error->address, error->subcode, LEVEL_NAME[level], ACTION_NAME[action]);
}

static void tell_handler(const struct hm_error *error, uint64_t now)
{
    struct partition *partition = error->partition;

    partition->error[(partition->error_first + partition->error_count++) % MAX_ERRORS] = (struct error_status){
        .code = error->code,
        .address = error->address,
        .process = error->process->number,
        .subcode = error->subcode,
    };
    struct error_status *status =
        &partition->error[(partition->error_first + partition->error_count - 1u) % MAX_ERRORS];
    memcpy(status->message, error->message, sizeof status->message);
    error->process->stuck = error->process->stuck || error->stuck;
    (void)process_start(partition->handler, now);
}

static void restart_process(struct process *process, uint64_t now)
{
    process_stop(process);
    (void)process_start(process, now);
}

static void act(const struct hm_error *error, enum hm_action action)
{
    const uint64_t now = arch_time();

    switch (action) {
    case ACTION_HANDLER:
        tell_handler(error, now);
        break;
    case ACTION_RESTART_PROCESS:
        restart_process(error->process, now);
        break;
    case ACTION_STOP_PROCESS:
        process_stop(error->process);
        break;
    case ACTION_WARM_RESTART:
        partition_restart(error->partition, MODE_WARM_START, HM_PARTITION_RESTART);
        break;
    case ACTION_COLD_RESTART:
        partition_restart(error->partition, MODE_COLD_START, HM_PARTITION_RESTART);
        break;
    case ACTION_IDLE_PARTITION:
        partition_set_mode(error->partition, MODE_IDLE, now);
        break;
    case ACTION_RESET_MODULE:
        module_reset_soon(CODE_NAME[error->code]);
        break;
    default:
        break;
    }
}

void hm_raise(const struct hm_error *error)
{
    enum hm_level level;
    const enum hm_action action = decide(error, &level);

    if (action != ACTION_IGNORE) {
        write_log(error, level, action);
        act(error, action);
    }
}

void hm_handler_ended(struct partition *partition)
{
    for (unsigned i = 0; i < partition->process_count; i++) {
        struct process *process = &partition->process[i];
        if (process->stuck && process->state != STATE_DORMANT) {
            process_stop(process);
        }
    }
    if (partition->error_count != 0u) {
        (void)process_start(partition->handler, arch_time());
    }
}

/* Whose memory an address of the machine is. */
static struct partition *owner_of(uint32_t physical)
{
    for (unsigned i = 1; i < module.partition_count; i++) {
        struct partition *partition = &module.partition[i];
        if (physical - partition->physical < PARTITION_LAYOUT_BYTES) {
            return partition;
        }
    }
    return NULL;
}

void hm_device(uint32_t interrupt)
{
    const uint32_t address = board_error_address();

    if (interrupt == BOARD_MEMORY_ERROR) {
        struct partition *partition = owner_of(address);
        log_edr(EDR_NONFATAL | EDR_INTERRUPT, address, partition, NULL,
                "memory controller: single-bit error corrected");
        hm_raise(&(struct hm_error){.code = ERROR_HARDWARE_FAULT,
                                    .subcode = 1,
                                    .address = address,
                                    .partition = partition,
                                    .device = true,
                                    .message = "ECC: single-bit error corrected"});
    } else if (interrupt == BOARD_POWER_FAIL) {
        log_edr(EDR_WARNING | EDR_INTERRUPT, 0, NULL, NULL, "power supply: input lost");
        hm_raise(&(struct hm_error){
            .code = ERROR_POWER_FAIL, .subcode = interrupt, .device = true, .message = "power supply: input lost"});
    }
}

void module_reset_soon(const char *why)
{
    if (!reset_due) {
        reset_due = true;
        log_edr(EDR_INFO | EDR_REBOOT, 0, NULL, NULL, why);
    }
}

void module_reset_if_due(void)
{
    if (!reset_due) {
        return;
    }
    arch_disarm_timer();
    monitor_finish();
    print("kernel: module reset\n");
    while (console_drain(256)) {
    }
    log_announce_reset();
    board_reset();
}
