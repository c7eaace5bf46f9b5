/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo kernel tells the agent in SPARE time, by OS release. No partition runs while the agent does. */
#include "vxm/collect.h"

#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/log.h"
#include "kernel/sched.h"

static bool collect_memory(uint16_t partition, struct vxm_memory *memory)
{
    if (partition >= module.partition_count) {
        return false;
    }
    const struct heap *heap = &module.partition[partition].heap;
    const uint32_t state = arch_mask();
    *memory = (struct vxm_memory){
        .free = heap_free_bytes(heap),
        .allocated = heap->allocated,
        .blocks = heap->blocks,
        .high_water = heap->high_water,
    };
    arch_unmask(state);
    memory->largest = heap_largest(heap);
    return true;
}

static bool collect_stack(uint16_t task, struct vxm_stack *stack)
{
    const struct process *process = process_of_task(task);

    if (process == NULL) {
        return false;
    }
    *stack = (struct vxm_stack){.size = process->stack_size, .high_water = process_stack_high_water(process)};
    return true;
}

static uint32_t collect_operations(uint16_t partition, struct vxm_operation_count *counts, uint32_t max)
{
    uint32_t found = 0;

    for (unsigned i = 0; partition < module.partition_count && i < OPERATION_COUNT * SIZE_CLASSES; i++) {
        const struct operation_book *book =
            &module.partition[partition].operations.book[i / SIZE_CLASSES][i % SIZE_CLASSES];
        const uint32_t state = arch_mask();
        const struct operation_book copy = *book;
        arch_unmask(state);
        if (copy.count != 0u && found < max) {
            counts[found++] = (struct vxm_operation_count){
                .operation = (uint16_t)(i / SIZE_CLASSES),
                .size_class = (uint16_t)(i % SIZE_CLASSES),
                .count = copy.count,
                .total = copy.total,
            };
        }
    }
    return found;
}

static bool collect_log_state(uint8_t log, struct vxm_log_state *state)
{
    struct log_state own;

    if (log >= LOGS) {
        return false;
    }
    log_get_state(log, &own);
    *state = (struct vxm_log_state){
        .oldest = own.oldest,
        .next = own.next,
        .missed = own.missed,
        .generation = own.generation,
        .boot_cycle = own.boot_cycle,
    };
    return true;
}

static bool collect_log_entry(uint8_t log, uint64_t number, struct vxm_log_entry *entry)
{
    struct log_entry own;

    if (log >= LOGS || !log_read(log, number, &own)) {
        return false;
    }
    *entry = (struct vxm_log_entry){
        .number = own.number,
        .time = own.time,
        .boot_cycle = own.boot_cycle,
        .kind = own.kind,
        .subcode = own.subcode,
        .address = own.address,
        .code = own.code,
        .level = own.level,
        .action = own.action,
        .partition = own.partition,
        .task = own.task,
    };
    memcpy(entry->partition_name, own.partition_name, sizeof own.partition_name);
    memcpy(entry->task_name, own.task_name, sizeof own.task_name);
    memcpy(entry->message, own.message, sizeof own.message);
    return true;
}

/* Release 2.2 has no ED&R log. */
static bool collect_hm_state(uint8_t log, struct vxm_log_state *state)
{
    return log == LOG_HM && collect_log_state(log, state);
}

static bool collect_hm_entry(uint8_t log, uint64_t number, struct vxm_log_entry *entry)
{
    return log == LOG_HM && collect_log_entry(log, number, entry);
}

_Static_assert((int)LOG_HM == (int)VXM_LOG_HM && (int)LOG_EDR == (int)VXM_LOG_EDR &&
                   sizeof((struct vxm_log_entry *)0)->message == LOG_MESSAGE_BYTES &&
                   sizeof((struct vxm_log_entry *)0)->task_name == NAME_BYTES + 1,
               "the kernel's logs are as the agent's");

/* Release 2.2 has no call that looks at a stack of another process. */
static const struct vxm_interface interface_2_2 = {
    .memory = collect_memory,
    .operations = collect_operations,
    .log_state = collect_hm_state,
    .log_read = collect_hm_entry,
};

static const struct vxm_interface interface_2_4 = {
    .memory = collect_memory,
    .stack = collect_stack,
    .operations = collect_operations,
    .log_state = collect_log_state,
    .log_read = collect_log_entry,
};

const struct vxm_interface *vxm_port_interface(const char *os_release)
{
    return text_equal(os_release, "2.2") ? &interface_2_2 : &interface_2_4;
}

void *vxm_port_more_memory(size_t bytes)
{
    static size_t used;
    size_t all = 0;
    uint8_t *memory = board_more_memory(&all);
    const size_t wanted = (bytes + 7u) & ~(size_t)7u;

    if (wanted < bytes || wanted > all - used) {
        return NULL;
    }
    used += wanted;
    return memory + (used - wanted);
}
