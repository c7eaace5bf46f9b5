/* SPDX-License-Identifier: Apache-2.0 */
#include "activity.h"

#include <string.h>

#include "sources.h"
#include "vxm/hooks.h"

#define MAX_PARTITIONS 8u
#define HEAP_BYTES 65536u
#define USED_BYTES 4096u
#define LEAK_BYTES 32u
#define MESSAGE_BYTES 100u
#define CODES 8u
#define FAULT_ADDRESS 0x1000u

static struct {
    uint16_t task[MAX_PARTITIONS];
    uint16_t count;
    uint16_t object;
    uint32_t leaked;
    uint32_t allocations;
    uint32_t hm_entries;
    bool leaking;
} at;

static void set_heap(uint16_t partition, uint32_t extra)
{
    const struct vxm_memory memory = {
        .free = HEAP_BYTES - USED_BYTES - extra,
        .allocated = USED_BYTES + extra,
        .blocks = 1u + extra / LEAK_BYTES,
        .largest = HEAP_BYTES - USED_BYTES - extra,
        .high_water = USED_BYTES + extra,
    };
    sources_set_memory(partition, &memory);
}

void activity_create(const uint16_t *tasks, uint16_t count)
{
    at.count = count;
    memcpy(at.task, tasks, count * sizeof *tasks);
    for (uint16_t partition = 0; partition <= count; partition++) {
        set_heap(partition, 0);
    }
    for (uint16_t i = 0; i < count; i++) {
        const struct vxm_stack stack = {.size = 8192, .high_water = 1024u + 16u * i};
        sources_set_stack(tasks[i], &stack);
    }
    at.object = vxm_hook_object_create("NAV_DATA", VXM_OBJECT_TYPE_BUFFER, 1, 0x20000000u, MESSAGE_BYTES, 4);
}

/* The number of the message in its first word, then a pattern. */
static void exchange(uint32_t message)
{
    uint8_t content[MESSAGE_BYTES];
    struct vxm_message_info info = {
        .object = at.object,
        .type = VXM_OBJECT_TYPE_BUFFER,
        .result = VXM_COMM_RESULT_OK,
        .partition = 1,
        .task = at.task[0],
        .number = message,
        .size = sizeof content,
        .depth = 1,
        .content = content,
    };
    for (uint32_t i = 0; i < sizeof content; i++) {
        content[i] = (uint8_t)(i < 4u ? message >> (24u - 8u * i) : i + message);
    }
    vxm_hook_message(VXM_EVENT_MSG_SEND, &info);
    info.depth = 0;
    vxm_hook_message(VXM_EVENT_MSG_RECEIVE, &info);
}

void activity_frame(uint32_t frame)
{
    if (at.leaking) {
        at.leaked += LEAK_BYTES;
        at.allocations++;
        set_heap(1, at.leaked);
    }
    const struct vxm_operation_count count = {
        .operation = VXM_OPERATION_ALLOCATE,
        .size_class = 5,
        .count = at.allocations + 1u,
        .total = (uint64_t)(at.allocations + 1u) * LEAK_BYTES,
    };
    sources_set_operation(1, &count);
    vxm_hook_partition_memory(1, HEAP_BYTES - USED_BYTES - at.leaked, USED_BYTES + at.leaked);
    exchange(frame + 1u);
}

void activity_leak(bool on)
{
    at.leaking = on;
}

void activity_faults(void)
{
    for (uint16_t code = 0; code < CODES; code++) {
        struct vxm_log_entry entry = {
            .time = VXM_PORT_CLOCK64(),
            .boot_cycle = 1,
            .code = code,
            .level = VXM_HM_LEVEL_PARTITION,
            .action = VXM_HM_ACTION_LOG,
            .address = FAULT_ADDRESS + code,
            .partition = (uint16_t)(code % at.count + 1u),
            .task = at.task[code % at.count],
            .message = "simulated",
        };
        sources_log(VXM_LOG_HM, &entry);
        vxm_hm_event(entry.partition, entry.code, entry.level, 0, entry.address, entry.task, entry.action,
                     at.hm_entries++);
    }
}
