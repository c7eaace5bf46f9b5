/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_sources.h"

#include <string.h>

#include "sources.h"
#include "vxm/hooks.h"

static void message(uint16_t event, const uint64_t *n)
{
    static uint8_t content[8192];
    const struct vxm_message_info info = {
        .object = (uint16_t)n[0],
        .type = (uint16_t)n[1],
        .result = (uint16_t)n[2],
        .number = (uint32_t)n[3],
        .depth = (uint32_t)n[4],
        .partition = (uint16_t)n[5],
        .task = (uint16_t)n[6],
        .size = (uint32_t)n[7],
        .content = content,
    };
    for (uint32_t i = 0; i < info.size && i < sizeof content; i++) {
        content[i] = (uint8_t)(info.number + i);
    }
    if (info.size <= sizeof content) {
        vxm_hook_message(event, &info);
    }
}

static void switched(const uint64_t *n)
{
    vxm_hook_partition_memory((uint16_t)n[0], (uint32_t)n[1], (uint32_t)n[2]);
}

static void stack_used(const uint64_t *n)
{
    vxm_hook_stack((uint16_t)n[0], (uint32_t)n[1]);
}

static void kernel_call(const uint64_t *n)
{
    vxm_hook_kernel_call((uint16_t)n[0], (uint16_t)n[1], (uint16_t)n[2]);
}

static void set_memory(const uint64_t *n)
{
    const struct vxm_memory memory = {(uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], (uint32_t)n[4], (uint32_t)n[5]};
    sources_set_memory((uint16_t)n[0], &memory);
}

static void set_stack(const uint64_t *n)
{
    const struct vxm_stack stack = {(uint32_t)n[1], (uint32_t)n[2]};
    sources_set_stack((uint16_t)n[0], &stack);
}

static void set_operation(const uint64_t *n)
{
    const struct vxm_operation_count count = {(uint16_t)n[1], (uint16_t)n[2], (uint32_t)n[3], n[4]};
    sources_set_operation((uint16_t)n[0], &count);
}

static void set_more(const uint64_t *n)
{
    sources_set_more_memory((size_t)n[0]);
}

static void add_log(const uint64_t *n)
{
    const struct vxm_log_entry entry = {
        .code = (uint16_t)n[1],
        .kind = (uint32_t)n[2],
        .partition = (uint16_t)n[3],
        .task = (uint16_t)n[4],
        .time = n[5],
        .boot_cycle = 1,
        .partition_name = "P",
        .task_name = "T",
        .message = "from the simulation",
    };
    if (n[0] <= VXM_LOG_EDR) {
        sources_log((uint8_t)n[0], &entry);
    }
}

static void send(const uint64_t *n)
{
    message(VXM_EVENT_MSG_SEND, n);
}

static void receive(const uint64_t *n)
{
    message(VXM_EVENT_MSG_RECEIVE, n);
}

static const struct {
    const char *name;
    int count;
    void (*run)(const uint64_t *n);
} commands[] = {
    {"send", 8, send},
    {"receive", 8, receive},
    {"switched", 3, switched},
    {"stack_used", 2, stack_used},
    {"kernel_call", 3, kernel_call},
    {"memory", 6, set_memory},
    {"stack", 3, set_stack},
    {"operation", 5, set_operation},
    {"more", 1, set_more},
    {"log", 6, add_log},
};

bool sim_source(const char *name, const uint64_t *n, int count)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(name, commands[i].name) == 0 && count == commands[i].count) {
            commands[i].run(n);
            return true;
        }
    }
    return false;
}
