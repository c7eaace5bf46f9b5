/* SPDX-License-Identifier: Apache-2.0 */
/* Entries are filled and published under one mask, so that the agent never sees half of one. */
#include "objects.h"

#include "tables.h"
#include "text.h"

struct vxm_objects vxm_objects;

void vxm_objects_init(void)
{
    memset(&vxm_objects, 0, sizeof vxm_objects);
    (void)vxm_hook_partition_create("MODULE_OS", 0);
}

uint16_t vxm_hook_partition_create(const char *name, uint32_t handle)
{
    struct vxm_partition_entry entry = {.handle = handle};
    uint16_t index = VXM_UNNAMED;

    vxm_text_copy(entry.name, sizeof entry.name, name);
    uintptr_t state = VXM_PORT_MASK();
    if (vxm_objects.partition_count < VXM_PORT_MAX_PARTITIONS) {
        index = vxm_objects.partition_count++;
        vxm_objects.partition[index] = entry;
        vxm_objects.version++;
    } else {
        vxm_objects.unnamed++;
    }
    VXM_PORT_UNMASK(state);
    return index;
}

uint16_t vxm_hook_task_create(const struct vxm_task_info *task)
{
    struct vxm_task_entry entry = {
        .period = task->period,
        .time_capacity = task->time_capacity,
        .handle = task->handle,
        .stack_size = task->stack_size,
        .partition = task->partition,
        .priority = task->priority,
        .idle = task->idle,
    };
    uint16_t index = VXM_UNNAMED;

    vxm_text_copy(entry.name, sizeof entry.name, task->name);
    uintptr_t state = VXM_PORT_MASK();
    if (vxm_objects.task_count < VXM_PORT_MAX_TASKS) {
        index = vxm_objects.task_count++;
        vxm_objects.task[index] = entry;
        vxm_objects.version++;
    } else {
        vxm_objects.unnamed++;
    }
    VXM_PORT_UNMASK(state);
    vxm_task_create(index, task->partition, task->priority, task->handle, task->stack_size);
    return index;
}

void vxm_hook_task_delete(uint16_t task, uint32_t handle)
{
    uintptr_t state = VXM_PORT_MASK();
    if (task < vxm_objects.task_count) {
        vxm_objects.task[task].deleted = true;
        vxm_objects.version++;
    }
    VXM_PORT_UNMASK(state);
    vxm_task_delete(task, handle);
}

uint16_t vxm_hook_object_create(const char *name, uint16_t type, uint16_t partition, uint32_t handle,
                                uint32_t message_size, uint32_t capacity)
{
    struct vxm_object_entry entry = {
        .handle = handle,
        .message_size = message_size,
        .capacity = capacity,
        .type = type,
        .partition = partition,
    };
    uint16_t index = VXM_UNNAMED;

    vxm_text_copy(entry.name, sizeof entry.name, name);
    uintptr_t state = VXM_PORT_MASK();
    if (vxm_objects.object_count < VXM_PORT_MAX_OBJECTS) {
        index = vxm_objects.object_count++;
        vxm_objects.object[index] = entry;
        vxm_objects.version++;
    } else {
        vxm_objects.unnamed++;
    }
    VXM_PORT_UNMASK(state);
    vxm_object_create(index, type, partition, handle, message_size, capacity);
    return index;
}

void vxm_hook_object_delete(uint16_t object, uint32_t handle)
{
    uintptr_t state = VXM_PORT_MASK();
    if (object < vxm_objects.object_count) {
        vxm_objects.object[object].deleted = true;
        vxm_objects.version++;
    }
    VXM_PORT_UNMASK(state);
    vxm_object_delete(object, handle);
}

/* A schedule of an id that is known replaces it. */
void vxm_hook_schedule(const struct vxm_schedule_info *schedule)
{
    bool fits = vxm_tables_schedule_fits(schedule);
    uint16_t at = 0;

    uintptr_t state = VXM_PORT_MASK();
    while (at < vxm_objects.schedule_count && vxm_objects.schedule[at]->id != schedule->id) {
        at++;
    }
    if (fits && at < VXM_MAX_SCHEDULES) {
        vxm_objects.schedule[at] = schedule;
        vxm_objects.schedule_count =
            at == vxm_objects.schedule_count ? (uint16_t)(at + 1u) : vxm_objects.schedule_count;
        vxm_objects.version++;
    } else {
        vxm_objects.unnamed++;
    }
    VXM_PORT_UNMASK(state);
}
