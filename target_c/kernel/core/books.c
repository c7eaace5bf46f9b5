/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the run was spent, by the kernel's own count. Execution times are exact in ticks between the
 * instants at which the kernel switched: from its reading of the clock at one switch to that at the next.
 * The lines are `book <what> key=value ...`, for programs to read.
 */
#include "kernel/library.h"
#include "kernel/net.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"

static void print_process(const struct process *process)
{
    print("book task partition=%s name=%s index=%u priority=%u ticks=%llu switches=%u releases=%u completions=%u "
          "misses=%u stack_size=%u stack_high_water=%u\n",
          process->partition->name, process->name, process->task, process->priority, process->ticks, process->switches,
          process->releases, process->completions, process->misses, process->stack_size,
          process_stack_high_water(process));
}

static void print_operation(const struct partition *partition, unsigned operation, unsigned class)
{
    const struct operation_book *book = &partition->operations.book[operation][class];

    if (book->count != 0u) {
        print("book operation partition=%s operation=%u size_class=%u count=%u total=%llu\n", partition->name,
              operation, class, book->count, book->total);
    }
}

static void print_memory(const struct partition *partition)
{
    const struct heap *heap = &partition->heap;

    print("book heap partition=%s free=%u allocated=%u blocks=%u largest=%u high_water=%u failures=%u\n",
          partition->name, heap_free_bytes(heap), heap->allocated, heap->blocks, heap_largest(heap), heap->high_water,
          heap->failures);
    for (unsigned operation = 0; operation < OPERATION_COUNT; operation++) {
        for (unsigned class = 0; class < SIZE_CLASSES; class ++) {
            print_operation(partition, operation, class);
        }
    }
}

static void print_partition(const struct partition *partition)
{
    print(
        "book partition name=%s index=%u mode=%u ticks=%llu switches=%u calls=%u faults=%u restarts=%u user_events=%u "
        "refused=%u\n",
        partition->name, partition->index, partition->mode, partition->ticks, partition->switches, partition->calls,
        partition->faults, partition->restarts, partition->user_events, partition->refused);
    print_memory(partition);
    objects_print(partition);
    for (unsigned i = 0; i < partition->process_count; i++) {
        print_process(&partition->process[i]);
    }
    while (console_drain(256)) {
    }
}

static uint32_t latest_window(void)
{
    uint32_t latest = 0;

    for (unsigned i = 0; i < module.schedule->window_count; i++) {
        latest = module.window_books[i].latest > latest ? module.window_books[i].latest : latest;
    }
    return latest;
}

/* The clock goes on from the last switch to now, in the books of whoever was running. */
void sched_close_books(void)
{
    const uint64_t now = arch_time();

    module.running->ticks += now - module.task_since;
    module.current->ticks += now - module.partition_since;
    module.task_since = module.partition_since = now;
}

void sched_print_books(void)
{
    print("book module hz=%u began=%llu ended=%llu frames=%u windows=%u partition_switches=%u task_switches=%u "
          "interrupts=%u device_interrupts=%u nobody_ticks=%llu\n",
          clock_hz(), module.began, module.task_since, module.frame, module.windows, module.partition_switches,
          module.task_switches, module.interrupts, module.device_interrupts, module.nobody->ticks);
    print("book latency window_ticks=%u dispatch_ticks=%u\n", latest_window(), module.latest_dispatch);
    print("book network received=%u sent=%u refused=%u unsent=%u\n", net_counters.received, net_counters.sent,
          net_counters.refused, net_counters.unsent);
    for (unsigned i = 0; i < module.schedule->window_count; i++) {
        print("book window index=%u count=%u latest_ticks=%u\n", i, module.window_books[i].count,
              module.window_books[i].latest);
    }
    for (unsigned i = 0; i < module.partition_count; i++) {
        print_partition(&module.partition[i]);
    }
}
