/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo kernel tells the agent in SPARE time, by OS release. No partition runs while the agent does. */
#include "vxm/collect.h"

#include "kernel/library.h"
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

/* Release 2.2 has no call that looks at a stack of another process. */
static const struct vxm_interface interface_2_2 = {
    .memory = collect_memory,
    .operations = collect_operations,
};

static const struct vxm_interface interface_2_4 = {
    .memory = collect_memory,
    .stack = collect_stack,
    .operations = collect_operations,
};

const struct vxm_interface *vxm_port_interface(const char *os_release)
{
    return text_equal(os_release, "2.2") ? &interface_2_2 : &interface_2_4;
}

void *vxm_port_more_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}
