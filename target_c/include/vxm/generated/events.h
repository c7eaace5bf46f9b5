/* SPDX-License-Identifier: Apache-2.0 */
/* Made by `make gen` from proto/events.toml; do not edit. */
/*
 * One function for each event. Each tests the event's enable bit inline, then records; what it may be
 * called from is said in vxm/record.h. Arguments of kind task, partition and object are the dense
 * indices of the create hooks, instants are ticks of the port's clock.
 */
#ifndef VXM_GENERATED_EVENTS_H
#define VXM_GENERATED_EVENTS_H

#include "vxm/record.h"

#define VXM_EVENT_FORMAT 1u

/* Event ids. */
enum vxm_event {
    VXM_EVENT_START = 1,
    VXM_EVENT_STOP = 2,
    VXM_EVENT_FILTER = 3,
    VXM_EVENT_TIME = 4,
    VXM_EVENT_MARK = 5,
    VXM_EVENT_SNAPSHOT = 6,
    VXM_EVENT_LINK = 7,
    VXM_EVENT_BUFFER_GROW = 8,
    VXM_EVENT_MAJOR_FRAME = 32,
    VXM_EVENT_WINDOW = 33,
    VXM_EVENT_PARTITION_SWITCH = 34,
    VXM_EVENT_SCHEDULE = 35,
    VXM_EVENT_PARTITION_MODE = 36,
    VXM_EVENT_TASK_SWITCH = 64,
    VXM_EVENT_RELEASE = 65,
    VXM_EVENT_COMPLETE = 66,
    VXM_EVENT_DEADLINE = 67,
    VXM_EVENT_TASK_CREATE = 68,
    VXM_EVENT_TASK_DELETE = 69,
    VXM_EVENT_TASK_PRIORITY = 70,
    VXM_EVENT_TASK_STATE = 71,
    VXM_EVENT_INT_ENTR = 96,
    VXM_EVENT_INT_EXIT = 97,
    VXM_EVENT_EXCEPTION = 98,
    VXM_EVENT_KER_CALL = 128,
    VXM_EVENT_KER_EXIT = 129,
    VXM_EVENT_MEM_SAMPLE = 160,
    VXM_EVENT_MEM_SWITCH = 161,
    VXM_EVENT_STACK_SWITCH = 162,
    VXM_EVENT_STACK_SAMPLE = 163,
    VXM_EVENT_OP_COUNT = 164,
    VXM_EVENT_MSG_SEND = 192,
    VXM_EVENT_MSG_RECEIVE = 193,
    VXM_EVENT_CONTENT = 194,
    VXM_EVENT_OBJECT_CREATE = 195,
    VXM_EVENT_OBJECT_DELETE = 196,
    VXM_EVENT_HM_EVENT = 224,
    VXM_EVENT_EDR_EVENT = 225,
    VXM_EVENT_USER_POINT = 256,
    VXM_EVENT_USER = 257,
    VXM_EVENT_USER_TEXT = 258,
};

enum vxm_reason {
    VXM_REASON_BLOCKED = 0,
    VXM_REASON_PREEMPTED = 1,
    VXM_REASON_ENDED = 2,
    VXM_REASON_WINDOW_END = 3,
};

enum vxm_stop_reason {
    VXM_STOP_REASON_HOST = 0,
    VXM_STOP_REASON_AUTOSTOP = 1,
    VXM_STOP_REASON_BUFFER_FULL = 2,
    VXM_STOP_REASON_SHUTDOWN = 3,
};

enum vxm_on_off {
    VXM_ON_OFF_OFF = 0,
    VXM_ON_OFF_ON = 1,
};

enum vxm_phase {
    VXM_PHASE_BEGIN = 0,
    VXM_PHASE_END = 1,
};

enum vxm_link_state {
    VXM_LINK_STATE_LOST = 0,
    VXM_LINK_STATE_UP = 1,
    VXM_LINK_STATE_MOVED = 2,
};

enum vxm_partition_mode {
    VXM_PARTITION_MODE_IDLE = 0,
    VXM_PARTITION_MODE_COLD_START = 1,
    VXM_PARTITION_MODE_WARM_START = 2,
    VXM_PARTITION_MODE_NORMAL = 3,
};

enum vxm_task_state {
    VXM_TASK_STATE_DORMANT = 0,
    VXM_TASK_STATE_READY = 1,
    VXM_TASK_STATE_RUNNING = 2,
    VXM_TASK_STATE_WAITING = 3,
};

enum vxm_deadline_kind {
    VXM_DEADLINE_KIND_SET = 0,
    VXM_DEADLINE_KIND_MISSED = 1,
};

enum vxm_operation {
    VXM_OPERATION_TASK_CREATE = 0,
    VXM_OPERATION_TASK_DELETE = 1,
    VXM_OPERATION_IO_OPEN = 2,
    VXM_OPERATION_IO_CLOSE = 3,
    VXM_OPERATION_ALLOCATE = 4,
    VXM_OPERATION_FREE = 5,
    VXM_OPERATION_OBJECT_CREATE = 6,
    VXM_OPERATION_OBJECT_DELETE = 7,
};

enum vxm_object_type {
    VXM_OBJECT_TYPE_MESSAGE_QUEUE = 0,
    VXM_OBJECT_TYPE_BLACKBOARD = 1,
    VXM_OBJECT_TYPE_BUFFER = 2,
    VXM_OBJECT_TYPE_SAMPLING_PORT = 3,
    VXM_OBJECT_TYPE_QUEUING_PORT = 4,
    VXM_OBJECT_TYPE_SEMAPHORE = 5,
    VXM_OBJECT_TYPE_EVENT = 6,
    VXM_OBJECT_TYPE_IO = 7,
};

enum vxm_comm_result {
    VXM_COMM_RESULT_OK = 0,
    VXM_COMM_RESULT_NO_ACTION = 1,
    VXM_COMM_RESULT_NOT_AVAILABLE = 2,
    VXM_COMM_RESULT_INVALID_PARAM = 3,
    VXM_COMM_RESULT_INVALID_CONFIG = 4,
    VXM_COMM_RESULT_INVALID_MODE = 5,
    VXM_COMM_RESULT_TIMED_OUT = 6,
    VXM_COMM_RESULT_FULL = 7,
    VXM_COMM_RESULT_EMPTY = 8,
    VXM_COMM_RESULT_STALE = 9,
};

enum vxm_hm_code {
    VXM_HM_CODE_DEADLINE_MISSED = 0,
    VXM_HM_CODE_APPLICATION_ERROR = 1,
    VXM_HM_CODE_NUMERIC_ERROR = 2,
    VXM_HM_CODE_ILLEGAL_REQUEST = 3,
    VXM_HM_CODE_STACK_OVERFLOW = 4,
    VXM_HM_CODE_MEMORY_VIOLATION = 5,
    VXM_HM_CODE_HARDWARE_FAULT = 6,
    VXM_HM_CODE_POWER_FAIL = 7,
};

enum vxm_hm_level {
    VXM_HM_LEVEL_PROCESS = 0,
    VXM_HM_LEVEL_PARTITION = 1,
    VXM_HM_LEVEL_MODULE = 2,
};

enum vxm_hm_action {
    VXM_HM_ACTION_IGNORE = 0,
    VXM_HM_ACTION_LOG = 1,
    VXM_HM_ACTION_RESTART_PROCESS = 2,
    VXM_HM_ACTION_STOP_PROCESS = 3,
    VXM_HM_ACTION_WARM_RESTART = 4,
    VXM_HM_ACTION_COLD_RESTART = 5,
    VXM_HM_ACTION_IDLE_PARTITION = 6,
    VXM_HM_ACTION_RESET_MODULE = 7,
    VXM_HM_ACTION_HANDLER = 8,
};

enum vxm_kernel_call {
    VXM_KERNEL_CALL_GET_TIME = 2,
    VXM_KERNEL_CALL_CREATE_PROCESS = 3,
    VXM_KERNEL_CALL_START = 4,
    VXM_KERNEL_CALL_STOP = 5,
    VXM_KERNEL_CALL_STOP_SELF = 6,
    VXM_KERNEL_CALL_SET_PRIORITY = 7,
    VXM_KERNEL_CALL_PERIODIC_WAIT = 8,
    VXM_KERNEL_CALL_TIMED_WAIT = 9,
    VXM_KERNEL_CALL_REPLENISH = 10,
    VXM_KERNEL_CALL_SET_PARTITION_MODE = 11,
    VXM_KERNEL_CALL_GET_PARTITION_MODE = 12,
    VXM_KERNEL_CALL_CREATE_SEMAPHORE = 13,
    VXM_KERNEL_CALL_WAIT_SEMAPHORE = 14,
    VXM_KERNEL_CALL_SIGNAL_SEMAPHORE = 15,
    VXM_KERNEL_CALL_CREATE_EVENT = 16,
    VXM_KERNEL_CALL_SET_EVENT = 17,
    VXM_KERNEL_CALL_RESET_EVENT = 18,
    VXM_KERNEL_CALL_WAIT_EVENT = 19,
    VXM_KERNEL_CALL_CREATE_BUFFER = 20,
    VXM_KERNEL_CALL_SEND_BUFFER = 21,
    VXM_KERNEL_CALL_RECEIVE_BUFFER = 22,
    VXM_KERNEL_CALL_CREATE_BLACKBOARD = 23,
    VXM_KERNEL_CALL_DISPLAY_BLACKBOARD = 24,
    VXM_KERNEL_CALL_READ_BLACKBOARD = 25,
    VXM_KERNEL_CALL_CLEAR_BLACKBOARD = 26,
    VXM_KERNEL_CALL_CONSOLE_WRITE = 27,
    VXM_KERNEL_CALL_ALLOCATE = 28,
    VXM_KERNEL_CALL_FREE = 29,
    VXM_KERNEL_CALL_OPEN = 30,
    VXM_KERNEL_CALL_CLOSE = 31,
    VXM_KERNEL_CALL_CREATE_QUEUE = 32,
    VXM_KERNEL_CALL_SEND_QUEUE = 33,
    VXM_KERNEL_CALL_RECEIVE_QUEUE = 34,
    VXM_KERNEL_CALL_CREATE_SAMPLING = 35,
    VXM_KERNEL_CALL_WRITE_SAMPLING = 36,
    VXM_KERNEL_CALL_READ_SAMPLING = 37,
    VXM_KERNEL_CALL_CREATE_QUEUING = 38,
    VXM_KERNEL_CALL_SEND_QUEUING = 39,
    VXM_KERNEL_CALL_RECEIVE_QUEUING = 40,
    VXM_KERNEL_CALL_CREATE_ERROR_HANDLER = 41,
    VXM_KERNEL_CALL_GET_ERROR_STATUS = 42,
    VXM_KERNEL_CALL_RAISE_ERROR = 43,
    VXM_KERNEL_CALL_GET_START_CONDITION = 44,
    VXM_KERNEL_CALL_MONITOR_WAIT = 62,
    VXM_KERNEL_CALL_MONITOR_WAKE = 63,
    VXM_KERNEL_CALL_INVALID = 255,
};

/* Two fields of 16 bits in one word, the first in the upper half. */
#define VXM_HALVES(a, b) (((uint32_t)(uint16_t)(a) << 16) | (uint16_t)(b))

/*
 * Copies up to `length` bytes of content behind the first `used` words of a record's data and fills
 * the last slot with zeros. Returns the bytes taken; the rest does not fit into a record.
 */
static inline uint32_t vxm_pack_bytes(uint32_t *words, uint32_t used, const void *content, uint32_t length)
{
    const uint8_t *from = (const uint8_t *)content;
    uint8_t *to = (uint8_t *)(words + used);
    const uint32_t room = (2u * VXM_MAX_DATA_SLOTS - used) * 4u;
    const uint32_t taken = length < room ? length : room;
    const uint32_t slots = (used * 4u + taken + VXM_SLOT_BYTES - 1u) / VXM_SLOT_BYTES;
    uint32_t *last = words + 2u * (slots == 0u ? 0u : slots - 1u);
    uint32_t i = 0;
    last[0] = 0; /* fields that lie here are stored later */
    last[1] = 0;
    for (; i + 4u <= taken; i += 4u) {
        VXM_COPY_WORD(to + i, from + i);
    }
    for (; i < taken; i++) {
        to[i] = from[i];
    }
    return taken;
}

/* Length of a text that goes into a record, without its NUL; NULL counts as empty. */
static inline uint32_t vxm_text_length(const char *text)
{
    const char *at = text;
    const char *const end = text == NULL ? text : text + VXM_MAX_DATA_SLOTS * VXM_SLOT_BYTES;
    while (at != end && *at != '\0') {
        at++;
    }
    return (uint32_t)(at - text);
}

/* Data slots of `used` words and `bytes` bytes behind them; at least one. */
static inline uint32_t vxm_data_slots(uint32_t used, uint32_t bytes)
{
    const uint32_t slots = (used * 4u + bytes + VXM_SLOT_BYTES - 1u) / VXM_SLOT_BYTES;
    return slots == 0u ? 1u : slots;
}

/* Recording starts; who is running at this instant. */
static inline void vxm_start(uint16_t partition, uint16_t window, uint16_t task, uint32_t run)
{
    if (vxm_enabled(VXM_EVENT_START)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_START, 1, partition), VXM_HALVES(window, task), run);
    }
}

/* Recording stops; the last record of a run. */
static inline void vxm_stop(uint16_t reason)
{
    if (vxm_enabled(VXM_EVENT_STOP)) {
        vxm_record0(VXM_HEAD(VXM_EVENT_STOP, 0, reason));
    }
}

/* An event was switched on or off while recording. */
static inline void vxm_filter(uint16_t event, uint32_t state)
{
    if (vxm_enabled(VXM_EVENT_FILTER)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_FILTER, 1, event), state, 0);
    }
}

/* The lower 32 bits of the clock rolled over. Informational: blocks carry 64-bit times. */
static inline void vxm_time(uint16_t cpu, uint64_t time)
{
    if (vxm_enabled(VXM_EVENT_TIME)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_TIME, 1, cpu), VXM_FIRST_WORD(time), VXM_SECOND_WORD(time));
    }
}

/* A mark set by the host's trigger command. */
static inline void vxm_mark(uint16_t number, const char *text)
{
    if (vxm_enabled(VXM_EVENT_MARK)) {
        if (vxm_heads_only) {
            vxm_record0(VXM_HEAD(VXM_EVENT_MARK, 0, number));
            return;
        }
        uint32_t words[2u * VXM_MAX_DATA_SLOTS];
        const uint32_t bytes = vxm_pack_bytes(words, 0, text, vxm_text_length(text));
        vxm_record_n(VXM_HEAD(VXM_EVENT_MARK, vxm_data_slots(0, bytes), number), words);
    }
}

/* The walk over the object tables begins or ends; version is that of the object table. */
static inline void vxm_snapshot(uint16_t phase, uint32_t version, uint32_t objects)
{
    if (vxm_enabled(VXM_EVENT_SNAPSHOT)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_SNAPSHOT, 1, phase), version, objects);
    }
}

/* The link to the host was lost, came back or moved to another port. */
static inline void vxm_link(uint16_t state, uint32_t address, uint32_t port)
{
    if (vxm_enabled(VXM_EVENT_LINK)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_LINK, 1, state), address, port);
    }
}

/* The buffer arena grew by `units` (0: the allocation failed), `failures` counts failed growths of this boot. */
static inline void vxm_buffer_grow(uint16_t stream, uint32_t units, uint32_t failures)
{
    if (vxm_enabled(VXM_EVENT_BUFFER_GROW)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_BUFFER_GROW, 1, stream), units, failures);
    }
}

/* A major frame starts; start is its nominal instant, free of latency. */
static inline void vxm_major_frame(uint16_t schedule, uint64_t start, uint32_t frame)
{
    if (vxm_enabled(VXM_EVENT_MAJOR_FRAME)) {
        vxm_record2(
            VXM_HEAD(VXM_EVENT_MAJOR_FRAME, 2, schedule),
            VXM_FIRST_WORD(start),
            VXM_SECOND_WORD(start),
            frame,
            0);
    }
}

/* A partition window starts (SPARE included); index in the active schedule. */
static inline void vxm_window(uint16_t window)
{
    if (vxm_enabled(VXM_EVENT_WINDOW)) {
        vxm_record0(VXM_HEAD(VXM_EVENT_WINDOW, 0, window));
    }
}

/* Another partition (0: the module OS, in SPARE time) gets the processor. */
static inline void vxm_partition_switch(uint16_t partition)
{
    if (vxm_enabled(VXM_EVENT_PARTITION_SWITCH)) {
        vxm_record0(VXM_HEAD(VXM_EVENT_PARTITION_SWITCH, 0, partition));
    }
}

/* The active schedule changes at the next major frame. */
static inline void vxm_schedule(uint16_t schedule, uint32_t previous)
{
    if (vxm_enabled(VXM_EVENT_SCHEDULE)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_SCHEDULE, 1, schedule), previous, 0);
    }
}

/* A partition changes its operating mode. */
static inline void vxm_partition_mode(uint16_t partition, uint16_t mode, uint16_t previous)
{
    if (vxm_enabled(VXM_EVENT_PARTITION_MODE)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_PARTITION_MODE, 1, partition), VXM_HALVES(mode, previous), 0);
    }
}

/* Another task runs (65535: none); reason says why the previous one left. */
static inline void vxm_task_switch(uint16_t task, uint16_t reason, uint16_t previous)
{
    if (vxm_enabled(VXM_EVENT_TASK_SWITCH)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_TASK_SWITCH, 1, task), VXM_HALVES(reason, previous), 0);
    }
}

/* An activation of a task is released; deadline 0 means none. */
static inline void vxm_release(uint16_t task, uint64_t release, uint64_t deadline, uint32_t activation)
{
    if (vxm_enabled(VXM_EVENT_RELEASE)) {
        vxm_record3(
            VXM_HEAD(VXM_EVENT_RELEASE, 3, task),
            VXM_FIRST_WORD(release),
            VXM_SECOND_WORD(release),
            VXM_FIRST_WORD(deadline),
            VXM_SECOND_WORD(deadline),
            activation,
            0);
    }
}

/* A task finished its activation. */
static inline void vxm_complete(uint16_t task, uint32_t activation)
{
    if (vxm_enabled(VXM_EVENT_COMPLETE)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_COMPLETE, 1, task), activation, 0);
    }
}

/* A deadline was set, or passed without completion. */
static inline void vxm_deadline(uint16_t task, uint64_t deadline, uint32_t kind, uint32_t activation)
{
    if (vxm_enabled(VXM_EVENT_DEADLINE)) {
        vxm_record2(
            VXM_HEAD(VXM_EVENT_DEADLINE, 2, task),
            VXM_FIRST_WORD(deadline),
            VXM_SECOND_WORD(deadline),
            kind,
            activation);
    }
}

/* A task came to exist; its name is in the object table. */
static inline void vxm_task_create(
    uint16_t task,
    uint16_t partition,
    uint16_t priority,
    uint32_t handle,
    uint32_t stack_size)
{
    if (vxm_enabled(VXM_EVENT_TASK_CREATE)) {
        vxm_record2(
            VXM_HEAD(VXM_EVENT_TASK_CREATE, 2, task),
            VXM_HALVES(partition, priority),
            handle,
            stack_size,
            0);
    }
}

/* A task ceased to exist; its index is not used again in this boot. */
static inline void vxm_task_delete(uint16_t task, uint32_t handle)
{
    if (vxm_enabled(VXM_EVENT_TASK_DELETE)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_TASK_DELETE, 1, task), handle, 0);
    }
}

/* The current priority of a task changed. */
static inline void vxm_task_priority(uint16_t task, uint16_t priority, uint16_t previous)
{
    if (vxm_enabled(VXM_EVENT_TASK_PRIORITY)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_TASK_PRIORITY, 1, task), VXM_HALVES(priority, previous), 0);
    }
}

/* A task changed state. */
static inline void vxm_task_state(uint16_t task, uint16_t state, uint16_t previous)
{
    if (vxm_enabled(VXM_EVENT_TASK_STATE)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_TASK_STATE, 1, task), VXM_HALVES(state, previous), 0);
    }
}

/* An interrupt is taken; ip is the interrupted instruction. */
static inline void vxm_int_entr(uint16_t interrupt, uint32_t vector, uint32_t ip)
{
    if (vxm_enabled(VXM_EVENT_INT_ENTR)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_INT_ENTR, 1, interrupt), vector, ip);
    }
}

/* The interrupt's handler is done. */
static inline void vxm_int_exit(uint16_t interrupt)
{
    if (vxm_enabled(VXM_EVENT_INT_EXIT)) {
        vxm_record0(VXM_HEAD(VXM_EVENT_INT_EXIT, 0, interrupt));
    }
}

/* A processor exception in a task or in the kernel; code is the exception syndrome. */
static inline void vxm_exception(
    uint16_t exception,
    uint32_t vector,
    uint32_t code,
    uint32_t address,
    uint32_t ip,
    uint16_t partition,
    uint16_t task)
{
    if (vxm_enabled(VXM_EVENT_EXCEPTION)) {
        vxm_record3(
            VXM_HEAD(VXM_EVENT_EXCEPTION, 3, exception),
            vector,
            code,
            address,
            ip,
            VXM_HALVES(partition, task),
            0);
    }
}

/* A partition calls the kernel. The recording call itself is exempt. */
static inline void vxm_ker_call(uint16_t call, uint16_t partition, uint16_t task)
{
    if (vxm_enabled(VXM_EVENT_KER_CALL)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_KER_CALL, 1, call), VXM_HALVES(partition, task), 0);
    }
}

/* The kernel call returns to the task that made it. */
static inline void vxm_ker_exit(uint16_t call, uint16_t partition, uint16_t task, int32_t result)
{
    if (vxm_enabled(VXM_EVENT_KER_EXIT)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_KER_EXIT, 1, call), VXM_HALVES(partition, task), (uint32_t)result);
    }
}

/* Periodic sample of a heap in bytes (partition 0: the kernel's); taken in SPARE time. */
static inline void vxm_mem_sample(
    uint16_t partition,
    uint32_t free,
    uint32_t allocated,
    uint32_t blocks,
    uint32_t largest,
    uint32_t high_water)
{
    if (vxm_enabled(VXM_EVENT_MEM_SAMPLE)) {
        if (vxm_heads_only) {
            vxm_record0(VXM_HEAD(VXM_EVENT_MEM_SAMPLE, 0, partition));
            return;
        }
        vxm_record3(VXM_HEAD(VXM_EVENT_MEM_SAMPLE, 3, partition), free, allocated, blocks, largest, high_water, 0);
    }
}

/* Heap counters of a partition as it leaves the processor. */
static inline void vxm_mem_switch(uint16_t partition, uint32_t free, uint32_t allocated)
{
    if (vxm_enabled(VXM_EVENT_MEM_SWITCH)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_MEM_SWITCH, 1, partition), free, allocated);
    }
}

/* Stack in use by a task as it leaves the processor, from its stack pointer. */
static inline void vxm_stack_switch(uint16_t task, uint32_t used)
{
    if (vxm_enabled(VXM_EVENT_STACK_SWITCH)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_STACK_SWITCH, 1, task), used, 0);
    }
}

/* Stack high-water of a task by its fill pattern; scanned in SPARE time. */
static inline void vxm_stack_sample(uint16_t task, uint32_t high_water, uint32_t size)
{
    if (vxm_enabled(VXM_EVENT_STACK_SAMPLE)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_STACK_SAMPLE, 1, task), high_water, size);
    }
}

/* How often a partition did an operation since it started; size_class is the power of two of the size. */
static inline void vxm_op_count(
    uint16_t partition,
    uint16_t operation,
    uint16_t size_class,
    uint32_t count,
    uint64_t total)
{
    if (vxm_enabled(VXM_EVENT_OP_COUNT)) {
        vxm_record2(
            VXM_HEAD(VXM_EVENT_OP_COUNT, 2, partition),
            VXM_HALVES(operation, size_class),
            count,
            VXM_FIRST_WORD(total),
            VXM_SECOND_WORD(total));
    }
}

/* A message was sent (written, displayed); number counts the object's messages, depth is after the call. */
static inline void vxm_msg_send(
    uint16_t object,
    uint16_t type,
    uint16_t result,
    uint32_t number,
    uint32_t size,
    uint32_t depth,
    uint16_t partition,
    uint16_t task)
{
    if (vxm_enabled(VXM_EVENT_MSG_SEND)) {
        vxm_record3(
            VXM_HEAD(VXM_EVENT_MSG_SEND, 3, object),
            VXM_HALVES(type, result),
            number,
            size,
            depth,
            VXM_HALVES(partition, task),
            0);
    }
}

/* A message was received (read); number is the one the kernel gave when it was sent. */
static inline void vxm_msg_receive(
    uint16_t object,
    uint16_t type,
    uint16_t result,
    uint32_t number,
    uint32_t size,
    uint32_t depth,
    uint16_t partition,
    uint16_t task)
{
    if (vxm_enabled(VXM_EVENT_MSG_RECEIVE)) {
        vxm_record3(
            VXM_HEAD(VXM_EVENT_MSG_RECEIVE, 3, object),
            VXM_HALVES(type, result),
            number,
            size,
            depth,
            VXM_HALVES(partition, task),
            0);
    }
}

/* Part of a message's content; follows its MSG_SEND or MSG_RECEIVE, in order of offset. */
static inline void vxm_content(
    uint16_t object,
    uint32_t number,
    uint16_t offset,
    uint16_t length,
    const void *content)
{
    if (vxm_enabled(VXM_EVENT_CONTENT)) {
        if (vxm_heads_only) {
            vxm_record0(VXM_HEAD(VXM_EVENT_CONTENT, 0, object));
            return;
        }
        uint32_t words[2u * VXM_MAX_DATA_SLOTS];
        const uint32_t bytes = vxm_pack_bytes(words, 2, content, (uint32_t)length);
        words[0] = number;
        words[1] = VXM_HALVES(offset, bytes);
        vxm_record_n(VXM_HEAD(VXM_EVENT_CONTENT, vxm_data_slots(2, bytes), object), words);
    }
}

/* A communication object came to exist; its name is in the object table. */
static inline void vxm_object_create(
    uint16_t object,
    uint16_t type,
    uint16_t partition,
    uint32_t handle,
    uint32_t message_size,
    uint32_t capacity)
{
    if (vxm_enabled(VXM_EVENT_OBJECT_CREATE)) {
        vxm_record2(
            VXM_HEAD(VXM_EVENT_OBJECT_CREATE, 2, object),
            VXM_HALVES(type, partition),
            handle,
            message_size,
            capacity);
    }
}

/* A communication object ceased to exist. */
static inline void vxm_object_delete(uint16_t object, uint32_t handle)
{
    if (vxm_enabled(VXM_EVENT_OBJECT_DELETE)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_OBJECT_DELETE, 1, object), handle, 0);
    }
}

/* The health monitor handled an error; entry is its number in the HM log. */
static inline void vxm_hm_event(
    uint16_t partition,
    uint16_t code,
    uint16_t level,
    uint32_t subcode,
    uint32_t address,
    uint16_t task,
    uint16_t action,
    uint32_t entry)
{
    if (vxm_enabled(VXM_EVENT_HM_EVENT)) {
        vxm_record3(
            VXM_HEAD(VXM_EVENT_HM_EVENT, 3, partition),
            VXM_HALVES(code, level),
            subcode,
            address,
            VXM_HALVES(task, action),
            entry,
            0);
    }
}

/* An entry of the ED&R log; kind is severity or'ed with facility. */
static inline void vxm_edr_event(
    uint16_t partition,
    uint32_t kind,
    uint32_t entry,
    uint32_t address,
    uint16_t task,
    uint16_t boot_cycle)
{
    if (vxm_enabled(VXM_EVENT_EDR_EVENT)) {
        vxm_record2(
            VXM_HEAD(VXM_EVENT_EDR_EVENT, 2, partition),
            kind,
            entry,
            address,
            VXM_HALVES(task, boot_cycle));
    }
}

/* A point in application code; one slot. */
static inline void vxm_user_point(uint16_t number)
{
    if (vxm_enabled(VXM_EVENT_USER_POINT)) {
        vxm_record0(VXM_HEAD(VXM_EVENT_USER_POINT, 0, number));
    }
}

/* A user event with two numbers. */
static inline void vxm_user(uint16_t number, uint32_t d0, uint32_t d1)
{
    if (vxm_enabled(VXM_EVENT_USER)) {
        vxm_record1(VXM_HEAD(VXM_EVENT_USER, 1, number), d0, d1);
    }
}

/* A user event with text. */
static inline void vxm_user_text(uint16_t number, const char *text)
{
    if (vxm_enabled(VXM_EVENT_USER_TEXT)) {
        if (vxm_heads_only) {
            vxm_record0(VXM_HEAD(VXM_EVENT_USER_TEXT, 0, number));
            return;
        }
        uint32_t words[2u * VXM_MAX_DATA_SLOTS];
        const uint32_t bytes = vxm_pack_bytes(words, 0, text, vxm_text_length(text));
        vxm_record_n(VXM_HEAD(VXM_EVENT_USER_TEXT, vxm_data_slots(0, bytes), number), words);
    }
}

#endif
