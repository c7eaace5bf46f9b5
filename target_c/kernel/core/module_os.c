/* SPDX-License-Identifier: Apache-2.0 */
/* The module OS's tasks, which have the processor in SPARE windows. They run in kernel mode with interrupts on. */
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/monitor.h"
#include "kernel/sched.h"

#define STACK_BYTES 16384u

static struct process *monitor, *loader;
static uint8_t kernel_memory[HEAP_BYTES] __attribute__((aligned(HEAP_GRANULE)));
static uint8_t stack[3][STACK_BYTES] __attribute__((aligned(16)));

static uint64_t window_end(void)
{
    const uint32_t state = arch_mask();
    const uint64_t end = module.window_end;

    arch_unmask(state);
    return end;
}

static void monitor_main(void)
{
    for (;;) {
        while (monitor_step(window_end())) {
        }
        arch_call(CALL_MONITOR_WAIT);
    }
}

/* Partitions that restart are loaded here, before the monitor gets the time. */
static void loader_main(void)
{
    for (;;) {
        while (partition_load_next()) {
        }
        arch_call(CALL_MONITOR_WAIT);
    }
}

/* Console output and a look at the network; what comes in wakes the monitoring task. */
static void idle_main(void)
{
    for (;;) {
        const bool more = console_drain(8);
        if (board_net_pending()) {
            arch_call(CALL_MONITOR_WAKE);
        } else if (!more && shared_page->idle_waits != 0u) {
            arch_wait();
        }
    }
}

static struct process *create(struct partition *partition, const char *name, uint32_t priority, void (*entry)(void))
{
    struct process_attributes attributes = {
        .period = INFINITE_TIME,
        .time_capacity = INFINITE_TIME,
        .entry = (uint32_t)(uintptr_t)entry,
        .stack_size = STACK_BYTES,
        .priority = priority,
    };

    memcpy(attributes.name, name, strlen(name));
    struct process *process = process_create(partition, &attributes);
    process->stack_top = (uint32_t)(uintptr_t)stack[process->number + 1u];
    memset(stack[process->number], 0xEE, STACK_BYTES);
    (void)process_start(process, arch_time());
    return process;
}

void module_os_init(struct partition *partition)
{
    partition->name = "MODULE_OS";
    partition->mode = MODE_NORMAL;
    heap_reset(&partition->heap, (uint32_t)(uintptr_t)kernel_memory);
    monitor = create(partition, "mos_monitor", 1, monitor_main);
    loader = create(partition, "mos_loader", 2, loader_main);
    (void)create(partition, "mos_idle", IDLE_PRIORITY, idle_main);
}

static bool any_load(void)
{
    bool any = false;

    for (unsigned i = 1; i < module.partition_count; i++) {
        any = any || module.partition[i].load;
    }
    return any;
}

static void wake_monitor(uint64_t now)
{
    if (monitor->state == STATE_WAITING) {
        process_wake(monitor, NO_ERROR, now);
    }
}

void module_os_window(uint64_t now)
{
    wake_monitor(now);
    if (loader->state == STATE_WAITING && any_load()) {
        process_wake(loader, NO_ERROR, now);
    }
}

void module_os_call(uint32_t call)
{
    if (call == CALL_MONITOR_WAIT) {
        process_wait(module.running, WAIT_OBJECT, NEVER);
    } else if (call == CALL_MONITOR_WAKE) {
        wake_monitor(arch_time());
    } else {
        panic("the module OS has no call %u", call);
    }
}
