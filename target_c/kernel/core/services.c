/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/services.h"

#include "kernel/library.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"

/* Times longer than this are taken as this: 10 years. Keeps sums of times inside 64 bits. */
#define LONGEST_NS 315360000000000000

uint64_t service_deadline(int64_t timeout)
{
    if (timeout < 0) {
        return NEVER;
    }
    return arch_time() + ticks_of_ns((uint64_t)(timeout < LONGEST_NS ? timeout : LONGEST_NS));
}

bool service_store(struct process *process, uint32_t address, const void *from, uint32_t bytes)
{
    if (!partition_owns(process->partition, address, bytes, true)) {
        return false;
    }
    memcpy((void *)(uintptr_t)address, from, bytes);
    return true;
}

bool service_store_word(struct process *process, uint32_t address, uint32_t value)
{
    return (address & 3u) == 0u && service_store(process, address, &value, sizeof value);
}

bool service_owns_word(struct process *process, unsigned index)
{
    const uint32_t address = service_argument(process, index);

    return (address & 3u) == 0u && partition_owns(process->partition, address, 4, true);
}

bool service_name(struct process *process, unsigned index, char name[NAME_BYTES + 1])
{
    const uint32_t address = service_argument(process, index);

    if (!partition_owns(process->partition, address, NAME_BYTES + 1u, false)) {
        return false;
    }
    memset(name, 0, NAME_BYTES + 1u);
    const char *from = (const char *)(uintptr_t)address;
    for (unsigned i = 0; i < NAME_BYTES && from[i] != '\0'; i++) {
        name[i] = from[i];
    }
    return name[0] != '\0';
}

static struct process *process_of(struct process *process, uint32_t id)
{
    struct partition *partition = process->partition;

    /* 0 is the process that initialises; it and the error handler are nobody's to start or stop. */
    return id != 0u && id < partition->process_count && &partition->process[id] != partition->handler
               ? &partition->process[id]
               : NULL;
}

static uint32_t get_time(struct process *process)
{
    const uint64_t now = ns_of_ticks(arch_time());

    return service_store(process, service_argument(process, 0), &now, sizeof now) ? NO_ERROR : INVALID_PARAM;
}

static bool has_idle(const struct partition *partition)
{
    for (unsigned i = 1; i < partition->process_count; i++) {
        if (partition->process[i].priority == IDLE_PRIORITY) {
            return true;
        }
    }
    return false;
}

static uint32_t check_attributes(const struct partition *partition, const struct process_attributes *attributes)
{
    if (attributes->priority > MAX_PRIORITY || attributes->stack_size == 0u ||
        attributes->stack_size > STACK_MAX_BYTES || attributes->name[0] == '\0' || attributes->period > LONGEST_NS ||
        attributes->time_capacity > LONGEST_NS || attributes->period == 0 ||
        !partition_owns(partition, attributes->entry, 4, false)) {
        return INVALID_PARAM;
    }
    if (attributes->priority == IDLE_PRIORITY && has_idle(partition)) {
        return INVALID_CONFIG;
    }
    return NO_ERROR;
}

/* Stacks are one page or the largest there is. */
static uint32_t stack_bytes(uint32_t size)
{
    return size <= 0x1000u ? 0x1000u : STACK_MAX_BYTES;
}

static uint32_t create_process(struct process *process)
{
    struct partition *partition = process->partition;
    const uint32_t address = service_argument(process, 0), id_address = service_argument(process, 1);
    struct process_attributes attributes;

    if (partition->mode == MODE_NORMAL) {
        return INVALID_MODE;
    }
    if (!partition_owns(partition, address, sizeof attributes, false) || (id_address & 3u) != 0u ||
        !partition_owns(partition, id_address, 4, true)) {
        return INVALID_PARAM;
    }
    memcpy(&attributes, (const void *)(uintptr_t)address, sizeof attributes);
    attributes.name[NAME_BYTES] = '\0';
    const uint32_t check = check_attributes(partition, &attributes);
    if (check != NO_ERROR) {
        return check;
    }
    const uint32_t id = partition->process_count;
    attributes.stack_size = stack_bytes(attributes.stack_size);
    if (id == MAX_PROCESSES || !partition_map_stack(partition, id, attributes.stack_size)) {
        return INVALID_CONFIG;
    }
    (void)process_create(partition, &attributes);
    (void)service_store_word(process, id_address, id);
    return NO_ERROR;
}

static uint32_t start(struct process *process)
{
    struct process *other = process_of(process, service_argument(process, 0));

    return other == NULL ? (uint32_t)INVALID_PARAM : (uint32_t)process_start(other, arch_time());
}

static uint32_t stop(struct process *process)
{
    struct process *other = process_of(process, service_argument(process, 0));

    if (other == NULL || other->priority == IDLE_PRIORITY) {
        return INVALID_PARAM;
    }
    if (other->state == STATE_DORMANT) {
        return NO_ACTION;
    }
    process_stop(other);
    return NO_ERROR;
}

static uint32_t stop_self(struct process *process)
{
    if (process->priority == IDLE_PRIORITY) {
        return INVALID_MODE;
    }
    if (process == process->partition->handler) {
        process_complete(process);
        process_stop(process);
        hm_handler_ended(process->partition);
    } else {
        process_stop(process);
    }
    return NO_ERROR;
}

static uint32_t set_priority(struct process *process)
{
    struct process *other = process_of(process, service_argument(process, 0));
    const uint32_t priority = service_argument(process, 1);

    if (other == NULL || priority == IDLE_PRIORITY || priority > MAX_PRIORITY || other->priority == IDLE_PRIORITY) {
        return INVALID_PARAM;
    }
    process_set_priority(other, (uint8_t)priority);
    return NO_ERROR;
}

static uint32_t periodic_wait(struct process *process)
{
    if (!process->periodic || !process_may_wait(process)) {
        return INVALID_MODE;
    }
    process_wait(process, WAIT_PERIOD, process->release + process->period);
    return NO_ERROR;
}

static uint32_t timed_wait(struct process *process)
{
    const int64_t delay = service_time(process, 0);

    if (!process_may_wait(process)) {
        return INVALID_MODE;
    }
    if (delay < 0) {
        return INVALID_PARAM;
    }
    process_wait(process, WAIT_DELAY, service_deadline(delay));
    return NO_ERROR;
}

static uint32_t replenish(struct process *process)
{
    const int64_t budget = service_time(process, 0);

    if (!process->active) {
        return NO_ACTION;
    }
    process_set_deadline(process, budget < 0 ? 0u : service_deadline(budget));
    return NO_ERROR;
}

/* A partition that begins cold does not go on warm. */
static uint32_t restart(struct partition *partition, enum partition_mode mode)
{
    if (mode == MODE_WARM_START && partition->mode == MODE_COLD_START) {
        return INVALID_MODE;
    }
    partition_restart(partition, mode, PARTITION_RESTART);
    return NO_ERROR;
}

static uint32_t set_partition_mode(struct process *process)
{
    struct partition *partition = process->partition;
    const uint32_t mode = service_argument(process, 0);

    if (mode > MODE_NORMAL) {
        return INVALID_PARAM;
    }
    if (mode == MODE_COLD_START || mode == MODE_WARM_START) {
        return restart(partition, (enum partition_mode)mode);
    }
    if (mode == MODE_NORMAL && partition->mode == MODE_NORMAL) {
        return NO_ACTION;
    }
    if (mode == MODE_NORMAL && !has_idle(partition)) {
        return INVALID_CONFIG;
    }
    partition_set_mode(partition, (enum partition_mode)mode, arch_time());
    return NO_ERROR;
}

static uint32_t get_partition_mode(struct process *process)
{
    return service_store_word(process, service_argument(process, 0), process->partition->mode) ? NO_ERROR
                                                                                               : INVALID_PARAM;
}

/* Control characters become dots, so that a partition cannot write lines in the kernel's name. */
static uint32_t console_write(struct process *process)
{
    const uint32_t address = service_argument(process, 0), length = service_argument(process, 1);
    char text[MAX_CONSOLE_BYTES];

    if (length > sizeof text || !partition_owns(process->partition, address, length, false)) {
        return INVALID_PARAM;
    }
    memcpy(text, (const void *)(uintptr_t)address, length);
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] < ' ' || text[i] > '~') {
            text[i] = '.';
        }
    }
    print("[%s] ", process->partition->name);
    print_characters(text, length);
    print_characters("\n", 1);
    return NO_ERROR;
}

static service_function *const table[CALL_COUNT] = {
    [CALL_GET_TIME] = get_time,
    [CALL_CREATE_PROCESS] = create_process,
    [CALL_START] = start,
    [CALL_STOP] = stop,
    [CALL_STOP_SELF] = stop_self,
    [CALL_SET_PRIORITY] = set_priority,
    [CALL_PERIODIC_WAIT] = periodic_wait,
    [CALL_TIMED_WAIT] = timed_wait,
    [CALL_REPLENISH] = replenish,
    [CALL_SET_PARTITION_MODE] = set_partition_mode,
    [CALL_GET_PARTITION_MODE] = get_partition_mode,
    [CALL_CREATE_SEMAPHORE] = service_create_semaphore,
    [CALL_WAIT_SEMAPHORE] = service_wait_semaphore,
    [CALL_SIGNAL_SEMAPHORE] = service_signal_semaphore,
    [CALL_CREATE_EVENT] = service_create_event,
    [CALL_SET_EVENT] = service_set_event,
    [CALL_RESET_EVENT] = service_reset_event,
    [CALL_WAIT_EVENT] = service_wait_event,
    [CALL_CREATE_BUFFER] = service_create_buffer,
    [CALL_SEND_BUFFER] = service_send_buffer,
    [CALL_RECEIVE_BUFFER] = service_receive_buffer,
    [CALL_CREATE_BLACKBOARD] = service_create_blackboard,
    [CALL_DISPLAY_BLACKBOARD] = service_display_blackboard,
    [CALL_READ_BLACKBOARD] = service_read_blackboard,
    [CALL_CLEAR_BLACKBOARD] = service_clear_blackboard,
    [CALL_CONSOLE_WRITE] = console_write,
    [CALL_ALLOCATE] = service_allocate,
    [CALL_FREE] = service_free,
    [CALL_OPEN] = service_open,
    [CALL_CLOSE] = service_close,
    [CALL_CREATE_QUEUE] = service_create_queue,
    [CALL_SEND_QUEUE] = service_send_queue,
    [CALL_RECEIVE_QUEUE] = service_receive_queue,
    [CALL_CREATE_SAMPLING] = service_create_sampling_port,
    [CALL_WRITE_SAMPLING] = service_write_sampling,
    [CALL_READ_SAMPLING] = service_read_sampling,
    [CALL_CREATE_QUEUING] = service_create_queuing_port,
    [CALL_SEND_QUEUING] = service_send_queuing,
    [CALL_RECEIVE_QUEUING] = service_receive_queuing,
    [CALL_CREATE_ERROR_HANDLER] = service_create_error_handler,
    [CALL_GET_ERROR_STATUS] = service_get_error_status,
    [CALL_RAISE_ERROR] = service_raise_error,
    [CALL_GET_START_CONDITION] = service_get_start_condition,
};

uint32_t service_call(struct process *process, uint32_t number)
{
    if (number >= CALL_COUNT || table[number] == NULL) {
        service_illegal(process, number);
        return INVALID_PARAM;
    }
    return table[number](process);
}
