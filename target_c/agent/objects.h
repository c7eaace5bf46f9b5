/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object table: names and static facts of partitions, tasks, communication objects and
 * schedules by their dense indices. The create hooks add; nothing is ever removed within a boot.
 */
#ifndef VXM_AGENT_OBJECTS_H
#define VXM_AGENT_OBJECTS_H

#include "compiler.h"
#include "vxm/hooks.h"

#define VXM_NAME_BYTES 32u
#define VXM_MAX_SCHEDULES 16u

struct vxm_partition_entry {
    char name[VXM_NAME_BYTES];
    uint32_t handle;
};

struct vxm_task_entry {
    char name[VXM_NAME_BYTES];
    uint64_t period;
    uint64_t time_capacity;
    uint32_t handle;
    uint32_t stack_size;
    uint16_t partition;
    uint16_t priority;
    bool idle;
    bool deleted;
};

struct vxm_object_entry {
    char name[VXM_NAME_BYTES];
    uint32_t handle;
    uint32_t message_size;
    uint32_t capacity;
    uint16_t type;
    uint16_t partition;
    bool deleted;
};

struct vxm_objects {
    uint32_t version; /* grows with every change */
    uint32_t unnamed; /* what did not fit */
    uint16_t schedule_count;
    uint16_t partition_count;
    uint16_t task_count;
    uint16_t object_count;
    const struct vxm_schedule_info *schedule[VXM_MAX_SCHEDULES];
    struct vxm_partition_entry partition[VXM_PORT_MAX_PARTITIONS];
    struct vxm_task_entry task[VXM_PORT_MAX_TASKS];
    struct vxm_object_entry object[VXM_PORT_MAX_OBJECTS];
};

extern struct vxm_objects vxm_objects;

/* Empties the table and makes partition 0, the module OS. */
void vxm_objects_init(void);

#endif
