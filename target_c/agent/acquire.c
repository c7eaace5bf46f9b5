/* SPDX-License-Identifier: Apache-2.0 */
#include "acquire.h"

#include "objects.h"
#include "sample.h"
#include "vxm/collect.h"

#define MEMORY_PAGE (sizeof((vxmon_MemoryPage *)0)->entries / sizeof((vxmon_MemoryPage *)0)->entries[0])
#define LOG_PAGE (sizeof((vxmon_LogPage *)0)->entries / sizeof((vxmon_LogPage *)0)->entries[0])
/* Entries looked at for one page. */
#define LOG_SCAN 64u
/* Parts of an ED&R kind: severity, then facility. */
#define SEVERITY_MASK 0x00Fu
#define FACILITY_MASK 0xFF0u

static const char *const log_names[] = {"HM", "ED&R"};

bool vxm_acquire_has_log(uint8_t log)
{
    struct vxm_log_state state;
    const struct vxm_interface *from = vxm_sample_interface();
    return from->log_state != NULL && from->log_read != NULL && from->log_state(log, &state);
}

/* ------------------------------------------------------------------ memory */

static void add_memory(vxmon_MemoryPage *page, uint16_t partition, const struct vxm_memory *memory)
{
    page->entries[page->entries_count++] = (vxmon_MemoryEntry){
        .partition = partition,
        .free = memory->free,
        .allocated = memory->allocated,
        .blocks = memory->blocks,
        .largest = memory->largest,
        .high_water = memory->high_water,
    };
}

vxmon_Result vxm_acquire_memory(const vxmon_MemoryRequest *request, vxmon_MemoryPage *page, struct vxm_text *why)
{
    const struct vxm_interface *from = vxm_sample_interface();
    if (from->memory == NULL) {
        vxm_text_add(why, "this target cannot tell of its memory");
        return vxmon_Result_UNSUPPORTED;
    }
    memset(page, 0, sizeof *page);
    page->time = VXM_PORT_CLOCK64();
    for (uint32_t i = request->first; i < vxm_objects.partition_count; i++) {
        struct vxm_memory memory;
        if (page->entries_count == MEMORY_PAGE) {
            page->next = i;
            break;
        }
        if (from->memory((uint16_t)i, &memory)) {
            add_memory(page, (uint16_t)i, &memory);
        }
    }
    return vxmon_Result_OK;
}

/* ------------------------------------------------------------------ logs */

/* 0 stands for any severity, and for any facility. */
static bool is_kind(uint32_t kind, uint32_t wanted)
{
    return ((wanted & SEVERITY_MASK) == 0 || (kind & SEVERITY_MASK) == (wanted & SEVERITY_MASK)) &&
           ((wanted & FACILITY_MASK) == 0 || (kind & FACILITY_MASK) == (wanted & FACILITY_MASK));
}

static bool is_wanted(const vxmon_LogRequest *request, const struct vxm_log_entry *entry)
{
    if (request->has_partition && entry->partition != request->partition) {
        return false;
    }
    if (!request->has_type) {
        return true;
    }
    return request->log == VXM_LOG_HM ? entry->code == request->type : is_kind(entry->kind, request->type);
}

static void add_entry(vxmon_LogPage *page, const struct vxm_log_entry *from)
{
    vxmon_LogEntry *to = &page->entries[page->entries_count++];
    *to = (vxmon_LogEntry){
        .number = from->number,
        .time = from->time,
        .boot_cycle = from->boot_cycle,
        .kind = from->kind,
        .code = from->code,
        .level = from->level,
        .subcode = from->subcode,
        .address = from->address,
        .action = from->action,
        .partition = from->partition,
        .task = from->task,
    };
    vxm_text_copy(to->partition_name, sizeof to->partition_name, from->partition_name);
    vxm_text_copy(to->task_name, sizeof to->task_name, from->task_name);
    vxm_text_copy(to->message, sizeof to->message, from->message);
}

static void fill_page(const vxmon_LogRequest *request, vxmon_LogPage *page, uint64_t number, uint32_t most)
{
    const struct vxm_interface *from = vxm_sample_interface();
    for (uint32_t seen = 0; number > page->oldest && seen < LOG_SCAN && page->entries_count < most; seen++) {
        struct vxm_log_entry entry;
        memset(&entry, 0, sizeof entry);
        number--;
        if (!from->log_read((uint8_t)request->log, number, &entry)) {
            page->unreadable++;
            continue;
        }
        entry.partition_name[VXM_LOG_NAME_BYTES - 1u] = '\0';
        entry.task_name[VXM_LOG_NAME_BYTES - 1u] = '\0';
        entry.message[VXM_LOG_MESSAGE_BYTES - 1u] = '\0';
        if (is_wanted(request, &entry)) {
            add_entry(page, &entry);
        }
    }
    page->before = number > page->oldest ? number : 0;
}

vxmon_Result vxm_acquire_log(const vxmon_LogRequest *request, vxmon_LogPage *page, struct vxm_text *why)
{
    struct vxm_log_state state;
    if (request->log > VXM_LOG_EDR) {
        vxm_text_add(why, "there is no log of this number");
        return vxmon_Result_LIMIT;
    }
    if (!vxm_acquire_has_log((uint8_t)request->log)) {
        vxm_text_add(why, "release ");
        vxm_text_add(why, vxm_agent.table->os_release);
        vxm_text_add(why, " has no ");
        vxm_text_add(why, log_names[request->log]);
        vxm_text_add(why, " log");
        return vxmon_Result_UNSUPPORTED;
    }
    (void)vxm_sample_interface()->log_state((uint8_t)request->log, &state);
    memset(page, 0, sizeof *page);
    page->log = request->log;
    page->oldest = state.oldest;
    page->next = state.next;
    page->missed = state.missed;
    page->generation = state.generation;
    page->boot_cycle = state.boot_cycle;
    uint32_t most = request->count != 0 && request->count < LOG_PAGE ? request->count : LOG_PAGE;
    bool newest = request->before == 0 || request->before > state.next;
    fill_page(request, page, newest ? state.next : request->before, most);
    return vxmon_Result_OK;
}
