/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include "objects.h"
#include "vxm/hooks.h"

static struct sampler {
    uint64_t period; /* ticks; 0: off */
    uint64_t due;    /* begin of the next sample */
    uint16_t next;   /* partition or task of the sample that is being taken */
    bool active;
} samplers[VXM_SAMPLERS];

static const struct vxm_interface *interface;
static unsigned turn;
static uint64_t idle_until; /* nothing is to be done before */

void vxm_sample_init(void)
{
    memset(samplers, 0, sizeof samplers);
    interface = vxm_port_interface(vxm_agent.table->os_release);
    turn = 0;
    idle_until = 0;
}

const struct vxm_interface *vxm_sample_interface(void)
{
    return interface;
}

bool vxm_sample_offered(enum vxm_sampler sampler)
{
    switch (sampler) {
    case VXM_SAMPLE_MEMORY:
        return interface->memory != NULL;
    case VXM_SAMPLE_STACK:
        return interface->stack != NULL;
    default:
        return interface->operations != NULL;
    }
}

void vxm_sample_begin(enum vxm_sampler sampler, uint32_t period_ms, uint64_t now)
{
    samplers[sampler] = (struct sampler){.period = vxm_ticks_of_ms(period_ms), .due = now};
    idle_until = 0;
}

void vxm_sample_end(enum vxm_sampler sampler)
{
    samplers[sampler] = (struct sampler){0};
}

static void sample_memory(uint16_t partition)
{
    struct vxm_memory memory;
    if (vxm_shows_partition(partition) && interface->memory(partition, &memory)) {
        vxm_mem_sample(partition, memory.free, memory.allocated, memory.blocks, memory.largest, memory.high_water);
    }
}

static void sample_stack(uint16_t task)
{
    const struct vxm_task_entry *entry = &vxm_objects.task[task];
    struct vxm_stack stack;
    if (!entry->deleted && vxm_shows_partition(entry->partition) && interface->stack(task, &stack)) {
        vxm_stack_sample(task, stack.high_water, stack.size);
    }
}

static void sample_operations(uint16_t partition)
{
    static struct vxm_operation_count counts[VXM_MAX_OPERATIONS];
    if (!vxm_shows_partition(partition)) {
        return;
    }
    uint32_t found = interface->operations(partition, counts, VXM_MAX_OPERATIONS);
    for (uint32_t i = 0; i < found && i < VXM_MAX_OPERATIONS; i++) {
        vxm_op_count(partition, counts[i].operation, counts[i].size_class, counts[i].count, counts[i].total);
    }
}

/* Takes one piece; false when the sample is complete. */
static bool take(enum vxm_sampler which, uint16_t at)
{
    uint16_t count = which == VXM_SAMPLE_STACK ? vxm_objects.task_count : vxm_objects.partition_count;
    if (at >= count) {
        return false;
    }
    if (which == VXM_SAMPLE_MEMORY) {
        sample_memory(at);
    } else if (which == VXM_SAMPLE_STACK) {
        sample_stack(at);
    } else {
        sample_operations(at);
    }
    return true;
}

/* The next sample begins a period after this one began, or was due when several were missed. */
static void begin(struct sampler *sampler, uint64_t now)
{
    uint64_t missed = (now - sampler->due) / sampler->period;
    sampler->due += (missed + 1u) * sampler->period;
    sampler->next = 0;
    sampler->active = true;
}

/* When the first sample is due of those that are not being taken. */
static uint64_t next_due(void)
{
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < VXM_SAMPLERS; i++) {
        if (samplers[i].period != 0 && samplers[i].due < due) {
            due = samplers[i].due;
        }
    }
    return due;
}

enum vxm_work vxm_sample_step(uint64_t now)
{
    if (now < idle_until) {
        return VXM_IDLE;
    }
    for (unsigned tried = 0; tried < VXM_SAMPLERS; tried++) {
        enum vxm_sampler which = (enum vxm_sampler)((turn + tried) % VXM_SAMPLERS);
        struct sampler *sampler = &samplers[which];
        if (sampler->period != 0 && !sampler->active && now >= sampler->due) {
            begin(sampler, now);
        }
        if (sampler->active) {
            sampler->active = take(which, sampler->next++);
            turn = which + 1u;
            return VXM_WORKED;
        }
    }
    idle_until = next_due();
    return VXM_IDLE;
}
