/* SPDX-License-Identifier: Apache-2.0 */
/* Release 2.2 of the simulation, as of the demo kernel, scans no stacks and has no ED&R log. */
#include "sources.h"

#include <stdlib.h>
#include <string.h>

#define LOGS 2u
#define ENTRIES_KEPT 64u

static struct {
    struct vxm_memory memory[VXM_PORT_MAX_PARTITIONS];
    bool has_memory[VXM_PORT_MAX_PARTITIONS];
    struct vxm_stack stack[VXM_PORT_MAX_TASKS];
    struct vxm_operation_count counts[VXM_PORT_MAX_PARTITIONS][VXM_MAX_OPERATIONS];
    uint32_t count[VXM_PORT_MAX_PARTITIONS];
    struct vxm_log_entry entries[LOGS][ENTRIES_KEPT];
    uint64_t next[LOGS];
    size_t more;
} sources;

void sources_set_memory(uint16_t partition, const struct vxm_memory *memory)
{
    if (partition < VXM_PORT_MAX_PARTITIONS) {
        sources.memory[partition] = *memory;
        sources.has_memory[partition] = true;
    }
}

void sources_set_stack(uint16_t task, const struct vxm_stack *stack)
{
    if (task < VXM_PORT_MAX_TASKS) {
        sources.stack[task] = *stack;
    }
}

void sources_set_operation(uint16_t partition, const struct vxm_operation_count *count)
{
    if (partition >= VXM_PORT_MAX_PARTITIONS) {
        return;
    }
    uint32_t at = 0;
    while (at < sources.count[partition] && (sources.counts[partition][at].operation != count->operation ||
                                             sources.counts[partition][at].size_class != count->size_class)) {
        at++;
    }
    if (at < VXM_MAX_OPERATIONS) {
        sources.counts[partition][at] = *count;
        sources.count[partition] = at == sources.count[partition] ? at + 1u : sources.count[partition];
    }
}

void sources_log(uint8_t log, const struct vxm_log_entry *entry)
{
    uint64_t number = sources.next[log]++;
    sources.entries[log][number % ENTRIES_KEPT] = *entry;
    sources.entries[log][number % ENTRIES_KEPT].number = number;
}

void sources_set_more_memory(size_t bytes)
{
    sources.more = bytes;
}

static bool tell_memory(uint16_t partition, struct vxm_memory *memory)
{
    bool known = partition < VXM_PORT_MAX_PARTITIONS && sources.has_memory[partition];
    if (known) {
        *memory = sources.memory[partition];
    }
    return known;
}

static bool tell_stack(uint16_t task, struct vxm_stack *stack)
{
    bool known = task < VXM_PORT_MAX_TASKS && sources.stack[task].size != 0;
    if (known) {
        *stack = sources.stack[task];
    }
    return known;
}

static uint32_t tell_operations(uint16_t partition, struct vxm_operation_count *counts, uint32_t max)
{
    uint32_t count = partition < VXM_PORT_MAX_PARTITIONS ? sources.count[partition] : 0;
    count = count < max ? count : max;
    memcpy(counts, sources.counts[partition], count * sizeof *counts);
    return count;
}

static bool tell_state(uint8_t log, struct vxm_log_state *state)
{
    if (log >= LOGS) {
        return false;
    }
    uint64_t next = sources.next[log];
    uint64_t oldest = next > ENTRIES_KEPT ? next - ENTRIES_KEPT : 0;
    *state = (struct vxm_log_state){.oldest = oldest, .next = next, .missed = oldest, .generation = 1, .boot_cycle = 1};
    return true;
}

static bool tell_entry(uint8_t log, uint64_t number, struct vxm_log_entry *entry)
{
    struct vxm_log_state state;
    if (!tell_state(log, &state) || number < state.oldest || number >= state.next) {
        return false;
    }
    *entry = sources.entries[log][number % ENTRIES_KEPT];
    return true;
}

static bool tell_state_2_2(uint8_t log, struct vxm_log_state *state)
{
    return log == VXM_LOG_HM && tell_state(log, state);
}

static bool tell_entry_2_2(uint8_t log, uint64_t number, struct vxm_log_entry *entry)
{
    return log == VXM_LOG_HM && tell_entry(log, number, entry);
}

const struct vxm_interface *vxm_port_interface(const char *os_release)
{
    static const struct vxm_interface release_2_2 = {
        .memory = tell_memory,
        .operations = tell_operations,
        .log_state = tell_state_2_2,
        .log_read = tell_entry_2_2,
    };
    static const struct vxm_interface release_2_4 = {
        .memory = tell_memory,
        .stack = tell_stack,
        .operations = tell_operations,
        .log_state = tell_state,
        .log_read = tell_entry,
    };
    return strcmp(os_release, "2.2") == 0 ? &release_2_2 : &release_2_4;
}

void *vxm_port_more_memory(size_t bytes)
{
    if (bytes > sources.more) {
        return NULL;
    }
    sources.more -= bytes;
    return malloc(bytes);
}
