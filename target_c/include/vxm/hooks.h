/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks an operating system calls. They keep the recorder's context and record the events.
 *
 * Times are ticks of the port's clock. Partition, task and object arguments are the dense indices
 * that the create hooks returned; keep them beside the OS object. Partition 0 is the module OS; the
 * agent makes its entry. All but the create hooks may be called from interrupt handlers; switch,
 * window and interrupt hooks are called with interrupts masked, by the CPU they are about. They
 * change the context after recording: a block's context is that before its first record.
 */
#ifndef VXM_HOOKS_H
#define VXM_HOOKS_H

#include "vxm/generated/events.h"
#include "vxm/record.h"

/* What the object table says of a task; times in ticks, 0 where it has none. */
struct vxm_task_info {
    const char *name; /* copied; at most 31 characters are kept */
    uint32_t handle;  /* the OS's own number */
    uint16_t partition;
    uint16_t priority; /* the OS's own scale */
    uint32_t stack_size;
    uint64_t period;
    uint64_t time_capacity;
    bool idle; /* the partition's idle process: its time is margin, not execution */
};

struct vxm_window_info {
    uint16_t partition; /* dense index; 0: SPARE */
    bool release_point;
    uint64_t offset; /* from the start of the major frame */
    uint64_t duration;
};

/* A schedule stays in the OS's memory; the agent keeps the pointer. */
struct vxm_schedule_info {
    uint16_t id;
    uint16_t window_count;
    uint64_t major_frame;
    const struct vxm_window_info *windows;
};

/* Create hooks: kernel or task context, after vxm_agent_init. VXM_UNNAMED when the table is full (counted). */
uint16_t vxm_hook_partition_create(const char *name, uint32_t handle);
uint16_t vxm_hook_task_create(const struct vxm_task_info *task);
void vxm_hook_task_delete(uint16_t task, uint32_t handle);
uint16_t vxm_hook_object_create(const char *name, uint16_t type, uint16_t partition, uint32_t handle,
                                uint32_t message_size, uint32_t capacity);
void vxm_hook_object_delete(uint16_t object, uint32_t handle);
void vxm_hook_schedule(const struct vxm_schedule_info *schedule);

/*
 * Called by window-switch code after the window hook: closes a unit that is so old that its 32-bit
 * times would become ambiguous. A few instructions when there is nothing to do.
 */
void vxm_hook_age_check(void);

/* A handler that the mask does not stop leaves its exception here; it is recorded at the next window hook. */
void vxm_pending_exception(uint32_t vector, uint32_t code, uint32_t address, uint32_t ip);

static inline struct vxm_context *vxm_context(void)
{
    return &vxm_recorder.stream[VXM_PORT_STREAM()].context;
}

static inline void vxm_hook_major_frame(uint16_t schedule, uint32_t frame, uint64_t start)
{
    vxm_major_frame(schedule, start, frame);
}

static inline void vxm_hook_window(uint16_t window)
{
    vxm_window(window);
    vxm_context()->window = window;
    vxm_hook_age_check();
}

static inline void vxm_hook_partition_switch(uint16_t partition)
{
    vxm_partition_switch(partition);
    vxm_context()->partition = partition;
}

static inline void vxm_hook_task_switch(uint16_t task, uint16_t reason, uint16_t previous)
{
    vxm_task_switch(task, reason, previous);
    vxm_context()->task = task;
}

static inline void vxm_hook_interrupt_entry(uint16_t interrupt, uint32_t vector, uint32_t ip)
{
    vxm_int_entr(interrupt, vector, ip);
    vxm_context()->depth++;
}

static inline void vxm_hook_interrupt_exit(uint16_t interrupt)
{
    vxm_int_exit(interrupt);
    vxm_context()->depth--;
}

/* ------------------------------------------------------------------ what the host's filters apply to */

/*
 * Filters of the run. A hidden partition or object is one of which no kernel calls, memory, messages and
 * user events are recorded; switches, releases, interrupts and errors always are, for times depend on them.
 */
enum vxm_payload { VXM_PAYLOAD_METADATA = 0, VXM_PAYLOAD_OFF = 1, VXM_PAYLOAD_CONTENT = 2 };

struct vxm_filters {
    uint32_t hidden_partition[(VXM_PORT_MAX_PARTITIONS + 31u) / 32u];
    uint32_t hidden_object[(VXM_PORT_MAX_OBJECTS + 31u) / 32u];
    uint16_t content_bytes; /* of a message that are recorded at most */
    uint8_t payload;        /* enum vxm_payload: of messages */
};
extern struct vxm_filters vxm_filters;

static inline bool vxm_shows_partition(uint16_t partition)
{
    return partition >= VXM_PORT_MAX_PARTITIONS ||
           !((vxm_filters.hidden_partition[partition / 32u] >> (partition % 32u)) & 1u);
}

static inline bool vxm_shows_object(uint16_t object)
{
    return object >= VXM_PORT_MAX_OBJECTS || !((vxm_filters.hidden_object[object / 32u] >> (object % 32u)) & 1u);
}

/* Heap counters of a partition that leaves the processor. Only counters that the heap keeps anyway. */
static inline void vxm_hook_partition_memory(uint16_t partition, uint32_t free, uint32_t allocated)
{
    if (vxm_enabled(VXM_EVENT_MEM_SWITCH) && vxm_shows_partition(partition)) {
        vxm_mem_switch(partition, free, allocated);
    }
}

/* Stack in use by a task of the running partition that leaves the processor, from its stack pointer. */
static inline void vxm_hook_stack(uint16_t task, uint32_t used)
{
    if (vxm_enabled(VXM_EVENT_STACK_SWITCH) && vxm_shows_partition(vxm_context()->partition)) {
        vxm_stack_switch(task, used);
    }
}

static inline void vxm_hook_kernel_call(uint16_t call, uint16_t partition, uint16_t task)
{
    if (vxm_enabled(VXM_EVENT_KER_CALL) && vxm_shows_partition(partition)) {
        vxm_ker_call(call, partition, task);
    }
}

static inline void vxm_hook_kernel_exit(uint16_t call, uint16_t partition, uint16_t task, int32_t result)
{
    if (vxm_enabled(VXM_EVENT_KER_EXIT) && vxm_shows_partition(partition)) {
        vxm_ker_exit(call, partition, task, result);
    }
}

/* A message that was sent (written, displayed) or received (read), or that was not, as result says. */
struct vxm_message_info {
    uint16_t object;
    uint16_t type;      /* VXM_OBJECT_TYPE_... */
    uint16_t result;    /* VXM_COMM_RESULT_... */
    uint16_t partition; /* who did it */
    uint16_t task;
    uint32_t number; /* the kernel's number of the message in this object (and, of channels, in its source); 0: none */
    uint32_t size;   /* bytes */
    uint32_t depth;  /* messages in the object after the call */
    const void *content; /* the kernel's own copy, or memory that was checked; NULL: none */
};

/*
 * Call from the kernel's handler when the event (VXM_EVENT_MSG_SEND or VXM_EVENT_MSG_RECEIVE) is enabled;
 * the content follows its record at once, with nothing between when interrupts are masked.
 */
void vxm_hook_message(uint16_t event, const struct vxm_message_info *message);

/* The others need no context: call the generated vxm_release, vxm_complete, vxm_deadline, ... */

#endif
