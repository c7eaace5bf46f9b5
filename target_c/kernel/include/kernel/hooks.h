/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's hooks, or nothing in their place in a kernel built without a monitor (VXM=0). */
#ifndef KERNEL_HOOKS_H
#define KERNEL_HOOKS_H

#if KERNEL_MONITORED

#include "vxm/hooks.h"

#else

#include <stdbool.h>
#include <stdint.h>

#define VXM_UNNAMED 0xFFFFu

struct vxm_task_info {
    const char *name;
    uint32_t handle;
    uint16_t partition;
    uint16_t priority;
    uint32_t stack_size;
    uint64_t period;
    uint64_t time_capacity;
    bool idle;
};

struct vxm_window_info {
    uint16_t partition;
    bool release_point;
    uint64_t offset;
    uint64_t duration;
};

struct vxm_schedule_info {
    uint16_t id;
    uint16_t window_count;
    uint64_t major_frame;
    const struct vxm_window_info *windows;
};

struct vxm_message_info {
    uint16_t object;
    uint16_t type;
    uint16_t result;
    uint16_t partition;
    uint16_t task;
    uint32_t number;
    uint32_t size;
    uint32_t depth;
    const void *content;
};

enum { VXM_EVENT_TASK_SWITCH = 64 };
enum { VXM_EVENT_MSG_SEND = 192, VXM_EVENT_MSG_RECEIVE = 193 };
enum { VXM_EVENT_USER_POINT = 256, VXM_EVENT_USER = 257, VXM_EVENT_USER_TEXT = 258 };

#define vxm_hook_partition_create(name, handle) ((void)(name), (void)(handle), (uint16_t)VXM_UNNAMED)
#define vxm_hook_task_create(task) ((void)(task), (uint16_t)VXM_UNNAMED)
#define vxm_hook_task_delete(task, handle) ((void)(task), (void)(handle))
#define vxm_hook_schedule(schedule) ((void)(schedule))
#define vxm_hook_major_frame(schedule, frame, start) ((void)(schedule), (void)(frame), (void)(start))
#define vxm_hook_window(window) ((void)(window))
#define vxm_hook_partition_switch(partition) ((void)(partition))
#define vxm_hook_task_switch(task, reason, previous) ((void)(task), (void)(reason), (void)(previous))
#define vxm_hook_interrupt_entry(interrupt, vector, ip) ((void)(interrupt), (void)(vector), (void)(ip))
#define vxm_hook_interrupt_exit(interrupt) ((void)(interrupt))
#define vxm_partition_mode(partition, mode, previous) ((void)(partition), (void)(mode), (void)(previous))
#define vxm_release(task, release, deadline, activation) ((void)(task), (void)(release), (void)(deadline))
#define vxm_complete(task, activation) ((void)(task))
#define vxm_deadline(task, deadline, kind, activation) ((void)(task), (void)(deadline), (void)(kind))
#define vxm_task_priority(task, priority, previous) ((void)(task), (void)(priority), (void)(previous))
#define vxm_task_state(task, state, previous) ((void)(task), (void)(state), (void)(previous))
#define vxm_schedule(schedule, previous) ((void)(schedule), (void)(previous))
#define vxm_exception(exception, vector, code, address, ip, partition, task) ((void)(exception), (void)(vector))
#define vxm_hook_kernel_call(call, partition, task) ((void)(call), (void)(partition), (void)(task))
#define vxm_hook_kernel_exit(call, partition, task, result)                                                            \
    ((void)(call), (void)(partition), (void)(task), (void)(result))
#define vxm_hook_object_create(name, type, partition, handle, size, capacity)                                          \
    ((void)(name), (void)(type), (void)(handle), (uint16_t)VXM_UNNAMED)
#define vxm_hook_object_delete(object, handle) ((void)(object), (void)(handle))
#define vxm_hook_kernel_call(call, partition, task) ((void)(call), (void)(partition), (void)(task))
#define vxm_hook_kernel_exit(call, partition, task, result)                                                            \
    ((void)(call), (void)(partition), (void)(task), (void)(result))
#define vxm_shows_partition(partition) ((void)(partition), true)
#define vxm_hook_object_delete(object, handle) ((void)(object), (void)(handle))
#define vxm_enabled(event) false
#define vxm_hook_message(event, message) ((void)(event), (void)(message))
#define vxm_hook_partition_memory(partition, free, allocated) ((void)(partition), (void)(free), (void)(allocated))
#define vxm_hook_stack(task, used) ((void)(task), (void)(used))
#define vxm_hm_event(partition, code, level, subcode, address, task, action, entry)                                    \
    ((void)(partition), (void)(code), (void)(level), (void)(subcode), (void)(action), (void)(entry))
#define vxm_edr_event(partition, kind, entry, address, task, boot_cycle)                                               \
    ((void)(partition), (void)(kind), (void)(entry), (void)(boot_cycle))
#define vxm_shows_partition(partition) ((void)(partition), true)
#define vxm_task_switch(task, reason, previous) ((void)(task), (void)(reason), (void)(previous))
#define vxm_user_point(number) ((void)(number))
#define vxm_user(number, d0, d1) ((void)(number), (void)(d0), (void)(d1))
#define vxm_user_text(number, text) ((void)(number), (void)(text))

#endif
#endif
