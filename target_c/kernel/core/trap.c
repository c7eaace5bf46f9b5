/* SPDX-License-Identifier: Apache-2.0 */
/* From the processor's exceptions to what the kernel does about them. */
#include "kernel/board.h"
#include "kernel/hooks.h"
#include "kernel/library.h"
#include "kernel/log.h"
#include "kernel/sched.h"
#include "kernel/services.h"

/* Numbers of interrupts in events: a device's vector, or the timer's. Vectors are those of the hooks' readers. */
#define TIMER_INTERRUPT 256u
#define TIMER_VECTOR 10u
#define DEVICE_VECTOR 4u
#define INVALID_CALL 255u

#if KERNEL_MONITORED
_Static_assert((int)CALL_GET_TIME == (int)VXM_KERNEL_CALL_GET_TIME &&
                   (int)CALL_ALLOCATE == (int)VXM_KERNEL_CALL_ALLOCATE &&
                   (int)CALL_COUNT == (int)VXM_KERNEL_CALL_GET_START_CONDITION + 1 &&
                   (int)CALL_MONITOR_WAKE == (int)VXM_KERNEL_CALL_MONITOR_WAKE &&
                   (int)INVALID_CALL == (int)VXM_KERNEL_CALL_INVALID,
               "kernel calls are numbered as in the event table");
#endif

struct arch_context *trap_call(struct arch_context *context)
{
    struct process *process = module.running;
    const uint32_t number = arch_call_number(context);

    if (process->partition->index == 0u) {
        module_os_call(number);
        return sched_dispatch();
    }
    process->call = (uint8_t)(number < CALL_COUNT ? number : INVALID_CALL);
    process->partition->calls++;
    vxm_hook_kernel_call(process->call, process->partition->index, process->task);
    const uint32_t result = service_call(process, number);
    if (process->state == STATE_READY) {
        arch_set_result(&process->context, result);
    }
    return sched_dispatch();
}

struct arch_context *trap_timer(uint32_t ip)
{
    module.interrupts++;
    vxm_hook_interrupt_entry(TIMER_INTERRUPT, TIMER_VECTOR, ip);
    sched_timer();
    vxm_hook_interrupt_exit(TIMER_INTERRUPT);
    return sched_dispatch();
}

struct arch_context *trap_device(uint32_t ip)
{
    const uint32_t interrupt = board_interrupt();

    if (interrupt != BOARD_NO_INTERRUPT) {
        module.interrupts++;
        module.device_interrupts++;
        vxm_hook_interrupt_entry((uint16_t)interrupt, DEVICE_VECTOR, ip);
        board_interrupt_done();
        hm_device(interrupt);
        vxm_hook_interrupt_exit((uint16_t)interrupt);
    }
    return sched_dispatch();
}

/* A stack that met the unmapped memory below it. */
static bool in_guard(const struct process *process, uint32_t address)
{
    const uint32_t bottom = process->stack_top - process->stack_size;

    return address < bottom && address >= process->stack_top - STACK_SPACING;
}

static enum error_code code_of(const struct fault *fault, const struct process *process)
{
    switch (fault->kind) {
    case FAULT_NUMERIC:
        return ERROR_NUMERIC;
    case FAULT_INSTRUCTION:
        return ERROR_ILLEGAL_REQUEST;
    default:
        return in_guard(process, fault->address) ? ERROR_STACK_OVERFLOW : ERROR_MEMORY_VIOLATION;
    }
}

struct arch_context *trap_fault(const struct fault *fault)
{
    struct process *process = module.running;
    struct partition *partition = process->partition;
    struct hm_error error = {
        .code = code_of(fault, process),
        .subcode = fault->code,
        .address = fault->address,
        .partition = partition,
        .process = process,
        .stuck = true,
    };

    partition->faults++;
    vxm_exception((uint16_t)fault->vector, fault->vector, fault->code, fault->address, fault->ip, partition->index,
                  process->task);
    print("fault: partition %s process %s: %s at %08x, address %08x, syndrome %08x\n", partition->name, process->name,
          fault->name, fault->ip, fault->address, fault->code);
    memcpy(error.message, fault->name, strlen(fault->name));
    log_edr(EDR_NONFATAL | EDR_USER, fault->ip, partition, process, fault->name);
    hm_raise(&error);
    return sched_dispatch();
}

static bool record_text(uint32_t number, uint32_t address, uint32_t length)
{
    char text[MAX_TEXT_BYTES + 1];

    if (length > MAX_TEXT_BYTES || !partition_owns(module.running->partition, address, length, false)) {
        return false;
    }
    memcpy(text, (const void *)(uintptr_t)address, length);
    text[length] = '\0';
    vxm_user_text((uint16_t)number, text);
    return true;
}

/* A switch that a scheduler inside the partition made, between two of its processes; it names them by their ids. */
static bool record_switch(uint32_t id, uint32_t reason_and_previous)
{
    const struct partition *partition = module.running->partition;
    const uint32_t reason = reason_and_previous >> 16, previous = reason_and_previous & 0xFFFFu;

    if (id >= partition->process_count || previous >= partition->process_count || reason > LEFT_WINDOW_END) {
        return false;
    }
    vxm_task_switch(partition->process[id].task, (uint16_t)reason, partition->process[previous].task);
    return true;
}

/* One of the events that the table lets partitions record. */
static bool record_event(uint32_t event, uint32_t number, uint32_t a, uint32_t b)
{
    switch (event) {
    case VXM_EVENT_USER_POINT:
        vxm_user_point((uint16_t)number);
        return true;
    case VXM_EVENT_USER:
        vxm_user((uint16_t)number, a, b);
        return true;
    case VXM_EVENT_USER_TEXT:
        return record_text(number, a, b);
    case VXM_EVENT_TASK_SWITCH:
        return record_switch(number, a);
    default:
        return false;
    }
}

uint32_t trap_record(uint32_t event, uint32_t number, uint32_t a, uint32_t b)
{
    struct partition *partition = module.running->partition;

    partition->user_events++;
    if (!vxm_shows_partition(partition->index)) {
        return NO_ERROR;
    }
    if (!record_event(event, number, a, b)) {
        partition->refused++;
        return INVALID_PARAM;
    }
    return NO_ERROR;
}
