/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/process.h"

#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"

/* The monitor takes our numbers as they are. */
#if KERNEL_MONITORED
_Static_assert((int)STATE_WAITING == (int)VXM_TASK_STATE_WAITING &&
                   (int)MODE_NORMAL == (int)VXM_PARTITION_MODE_NORMAL &&
                   (int)LEFT_WINDOW_END == (int)VXM_REASON_WINDOW_END,
               "states, modes and reasons are those of the event table");
_Static_assert((int)OPERATION_OBJECT_DELETE == (int)VXM_OPERATION_OBJECT_DELETE,
               "operations are those of the event table");
#endif

enum deadline_kind { DEADLINE_SET = 0, DEADLINE_MISSED = 1 };

static uint32_t handle_of(const struct process *process)
{
    return (uint32_t)process->partition->index << 16 | process->number;
}

static void set_state(struct process *process, enum process_state state)
{
    /* "Running" is no state of ours: it is who was dispatched last. */
    const uint8_t previous =
        process == module.running && process->state == STATE_READY ? STATE_RUNNING : process->state;
    const bool changed = process->state != state;

    process->state = (uint8_t)state;
    process->partition->stale = true;
    if (changed) {
        vxm_task_state(process->task, process->state, previous);
    }
    if (state == STATE_READY) {
        process->order = module.order++;
    }
}

static void announce(struct process *process)
{
    const struct vxm_task_info info = {
        .name = process->name,
        .handle = handle_of(process),
        .partition = process->partition->index,
        .priority = process->priority,
        .stack_size = process->stack_size,
        .period = process->period,
        .time_capacity = process->capacity,
        .idle = process->priority == IDLE_PRIORITY,
    };

    process->task = vxm_hook_task_create(&info);
}

struct process *process_create(struct partition *partition, const struct process_attributes *attributes)
{
    if (partition->process_count == MAX_PROCESSES) {
        return NULL;
    }
    const uint16_t number = partition->process_count++;
    struct process *process = &partition->process[number];
    *process = (struct process){
        .partition = partition,
        .number = number,
        .priority = (uint8_t)attributes->priority,
        .periodic = attributes->period > 0,
        .period = attributes->period > 0 ? ticks_of_ns((uint64_t)attributes->period) : 0u,
        .capacity = attributes->time_capacity > 0 ? ticks_of_ns((uint64_t)attributes->time_capacity) : 0u,
        .entry = attributes->entry,
        .stack_size = attributes->stack_size,
        .wake = NEVER,
    };
    process->stack_top = PARTITION_STACKS + (number + 1u) * STACK_SPACING;
    memcpy(process->name, attributes->name, sizeof process->name);
    process->name[NAME_BYTES] = '\0';
    process_reset(process);
    count_operation(&partition->operations, OPERATION_TASK_CREATE, process->stack_size);
    announce(process);
    return process;
}

void process_reset(struct process *process)
{
    const bool user = process->partition->index != 0u;

    arch_context_init(&process->context, process->entry, process->stack_top, user);
    process->call = 0;
    process->active = false;
    process->stuck = false;
    process->wait = WAIT_NONE;
    process->wake = NEVER;
    process->object = NULL;
}

static void begin_wait(struct process *process, enum wait_kind kind, uint64_t wake)
{
    process->wait = (uint8_t)kind;
    process->wake = wake;
    set_state(process, STATE_WAITING);
    if (wake != NEVER) {
        sched_due(wake);
    }
}

int process_start(struct process *process, uint64_t now)
{
    if (process->state != STATE_DORMANT) {
        return NO_ACTION;
    }
    process_reset(process);
    if (process->partition->mode != MODE_NORMAL) {
        begin_wait(process, WAIT_NORMAL_MODE, NEVER);
    } else if (process->periodic) {
        begin_wait(process, WAIT_RELEASE_POINT, NEVER);
    } else {
        process_release(process, now);
    }
    return NO_ERROR;
}

void process_stop(struct process *process)
{
    process_reset(process);
    set_state(process, STATE_DORMANT);
}

void process_set_priority(struct process *process, uint8_t priority)
{
    const uint8_t previous = process->priority;

    process->priority = priority;
    process->order = module.order++;
    process->partition->stale = true;
    vxm_task_priority(process->task, priority, previous);
}

void process_set_deadline(struct process *process, uint64_t deadline)
{
    process->deadline = deadline;
    process->missed = false;
    vxm_deadline(process->task, deadline, DEADLINE_SET, process->activation);
    sched_due(deadline);
}

void process_release(struct process *process, uint64_t nominal)
{
    process->wait = WAIT_NONE;
    process->wake = NEVER;
    process->release = nominal;
    process->deadline = process->capacity != 0u ? nominal + process->capacity : 0u;
    process->active = process->priority != IDLE_PRIORITY;
    process->missed = false;
    process->activation++;
    if (process->active) {
        process->releases++;
        vxm_release(process->task, nominal, process->deadline, process->activation);
    }
    set_state(process, STATE_READY);
    if (process->deadline != 0u) {
        sched_due(process->deadline);
    }
}

void process_complete(struct process *process)
{
    if (process->active) {
        process->active = false;
        process->completions++;
        vxm_complete(process->task, process->activation);
    }
}

/* A periodic process's activation ends with its PERIODIC_WAIT, another's with each wait for an object. */
void process_wait(struct process *process, enum wait_kind kind, uint64_t wake)
{
    if (kind == WAIT_PERIOD || (kind == WAIT_OBJECT && !process->periodic)) {
        process_complete(process);
    }
    if (kind == WAIT_PERIOD && wake <= arch_time()) {
        process_release(process, wake);
        return;
    }
    begin_wait(process, kind, wake);
}

void process_wake(struct process *process, uint32_t result, uint64_t now)
{
    const bool object = process->wait == WAIT_OBJECT;

    arch_set_result(&process->context, result);
    process->object = NULL;
    if (object && !process->periodic) {
        process_release(process, now);
        return;
    }
    process->wait = WAIT_NONE;
    process->wake = NEVER;
    set_state(process, STATE_READY);
}

bool process_may_wait(const struct process *process)
{
    return process->partition->mode == MODE_NORMAL && process->priority != IDLE_PRIORITY &&
           process->priority != HANDLER_PRIORITY;
}

static void check_deadline(struct process *process, uint64_t now)
{
    if (process->active && process->deadline != 0u && process->deadline <= now && !process->missed) {
        process->missed = true;
        process->misses++;
        vxm_deadline(process->task, process->deadline, DEADLINE_MISSED, process->activation);
        hm_raise(&(struct hm_error){.code = ERROR_DEADLINE_MISSED,
                                    .subcode = process->activation,
                                    .address = arch_instruction(&process->context),
                                    .partition = process->partition,
                                    .process = process});
    }
}

static void check_wake(struct process *process, uint64_t now)
{
    if (process->state != STATE_WAITING || process->wake > now) {
        return;
    }
    if (process->wait == WAIT_PERIOD) {
        process_release(process, process->wake);
    } else {
        object_timed_out(process);
        process_wake(process, process->wait == WAIT_DELAY ? NO_ERROR : TIMED_OUT, now);
    }
}

static uint64_t next_due(const struct process *process)
{
    uint64_t due = process->state == STATE_WAITING ? process->wake : NEVER;

    if (process->active && process->deadline != 0u && !process->missed && process->deadline < due) {
        due = process->deadline;
    }
    return due;
}

uint64_t partition_tick(struct partition *partition, uint64_t now)
{
    uint64_t due = NEVER;

    for (unsigned i = 0; i < partition->process_count; i++) {
        struct process *process = &partition->process[i];
        check_deadline(process, now);
        check_wake(process, now);
        const uint64_t own = next_due(process);
        due = own < due ? own : due;
    }
    return due;
}

void partition_release_point(struct partition *partition, uint64_t nominal)
{
    for (unsigned i = 0; i < partition->process_count; i++) {
        struct process *process = &partition->process[i];
        if (process->state == STATE_WAITING && process->wait == WAIT_RELEASE_POINT) {
            process_release(process, nominal);
        }
    }
}

struct process *partition_choose(struct partition *partition)
{
    if (!partition->stale) {
        return partition->chosen;
    }
    struct process *best = NULL;
    for (unsigned i = 0; i < partition->process_count; i++) {
        struct process *process = &partition->process[i];
        if (process->state == STATE_READY &&
            (best == NULL || process->priority > best->priority ||
             (process->priority == best->priority && (int32_t)(process->order - best->order) < 0))) {
            best = process;
        }
    }
    partition->chosen = best;
    partition->stale = false;
    return best;
}

static void stop_all(struct partition *partition)
{
    for (unsigned i = 0; i < partition->process_count; i++) {
        if (partition->process[i].state != STATE_DORMANT) {
            process_stop(&partition->process[i]);
        }
    }
}

void process_delete(struct process *process)
{
    if (process->deleted) {
        return;
    }
    if (process->state != STATE_DORMANT) {
        process_stop(process);
    }
    process->deleted = true;
    count_operation(&process->partition->operations, OPERATION_TASK_DELETE, process->stack_size);
    vxm_hook_task_delete(process->task, handle_of(process));
}

/* The process that initialised the partition ends, and those it started begin. */
static void enter_normal(struct partition *partition, uint64_t now)
{
    process_delete(&partition->process[0]);
    for (unsigned i = 1; i < partition->process_count; i++) {
        struct process *process = &partition->process[i];
        if (process->state == STATE_WAITING && process->wait == WAIT_NORMAL_MODE) {
            if (process->periodic) {
                begin_wait(process, WAIT_RELEASE_POINT, NEVER);
            } else {
                process_release(process, now);
            }
        }
    }
}

void partition_set_mode(struct partition *partition, enum partition_mode mode, uint64_t now)
{
    const uint8_t previous = partition->mode;

    partition->mode = (uint8_t)mode;
    vxm_partition_mode(partition->index, partition->mode, previous);
    if (mode == MODE_NORMAL) {
        enter_normal(partition, now);
    } else if (mode == MODE_IDLE) {
        stop_all(partition);
    }
}
