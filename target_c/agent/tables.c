/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include <pb_encode.h>

#include "acquire.h"
#include "auth.h"
#include "config.h"
#include "evtmap.h"
#include "fragments.h"
#include "link.h"
#include "objects.h"
#include "text.h"
#include "vxm/collect.h"

#define REPEAT_MS 5000u
#define CHANGE_MS 200u
#define PART_BYTES VXM_PART_BYTES
#define VERSION_BYTES 6u
/* Field `events` of message Table; nanopb leaves it out because its bytes are ready-made. */
#define VXM_TABLE_EVENTS_TAG 2u
/* Tag and length before an entry, and the longest entry of fixed size. */
#define ENTRY_BYTES (2u + vxmon_TaskEntry_size)

/* What a pass over the tables sends next. */
enum item { ITEM_INFO, ITEM_EVENTS, ITEM_SCHEDULES, ITEM_PARTITIONS, ITEM_TASKS, ITEM_OBJECTS, ITEM_END };

static struct {
    struct vxm_message message; /* in parts of it */
    enum item item;
    uint16_t index; /* in the object table, within item */
    bool active;
    bool again;       /* asked for while active */
    bool snapshot;    /* records SNAPSHOT end when done */
    uint32_t version; /* of the object table when the pass began */
    uint64_t begun_at;
} pass;

void vxm_tables_init(void)
{
    memset(&pass, 0, sizeof pass);
}

static void begin(void)
{
    pass.message.fragments = 0;
    pass.message.next = 0;
    pass.item = ITEM_INFO;
    pass.index = 0;
    pass.active = true;
    pass.again = false;
    pass.version = vxm_objects.version;
    pass.begun_at = VXM_PORT_CLOCK64();
}

void vxm_tables_request(void)
{
    if (pass.active) {
        pass.again = true;
    } else {
        begin();
    }
}

static uint32_t object_total(void)
{
    return (uint32_t)vxm_objects.partition_count + vxm_objects.task_count + vxm_objects.object_count;
}

void vxm_tables_snapshot(void)
{
    begin();
    pass.snapshot = true;
    vxm_snapshot(VXM_PHASE_BEGIN, pass.version, object_total());
}

void vxm_tables_end_snapshot(void)
{
    pass.snapshot = false;
}

static void end(void)
{
    pass.active = false;
    if (pass.snapshot) {
        pass.snapshot = false;
        vxm_snapshot(VXM_PHASE_END, pass.version, object_total());
    }
    if (pass.again) {
        begin();
    }
}

void vxm_tables_fill_info(vxmon_TargetInfo *info)
{
    const struct vxm_agent *agent = &vxm_agent;
    uint32_t offered[VXM_MAX_EVENTS / 32u];
    vxm_evtmap_offered(offered);
    memset(info, 0, sizeof *info);
    vxm_text_copy(info->os_name, sizeof info->os_name, agent->config.os_name);
    vxm_text_copy(info->os_release, sizeof info->os_release, agent->table->os_release);
    vxm_text_copy(info->board, sizeof info->board, agent->config.board);
    vxm_text_copy(info->agent_version, sizeof info->agent_version, VXM_AGENT_VERSION);
    info->clock_hz = agent->hz;
    info->big_endian = VXM_PORT_BIG_ENDIAN;
    info->streams = VXM_PORT_STREAMS;
    info->table_fingerprint = agent->table->fingerprint;
    info->max_units =
        vxm_config_max_units(agent->start.unit_slots != 0 ? agent->start.unit_slots : VXM_DEFAULT_UNIT_SLOTS);
    info->arena_bytes = (uint32_t)agent->arena_size;
    info->offered.size = sizeof info->offered.bytes;
    for (uint32_t i = 0; i < sizeof info->offered.bytes; i++) {
        info->offered.bytes[i] = (uint8_t)(offered[i / 4u] >> (8u * (i % 4u)));
    }
    info->min_period_ms = VXM_MIN_PERIOD_MS;
    info->max_period_ms = VXM_MAX_PERIOD_MS;
    info->max_content_bytes = VXM_MAX_CONTENT_BYTES;
    info->hm_log = vxm_acquire_has_log(VXM_LOG_HM);
    info->edr_log = vxm_acquire_has_log(VXM_LOG_EDR);
    info->has_key = vxm_auth_needed();
    info->running = agent->running;
    info->partition_count = vxm_objects.partition_count;
    info->object_count = vxm_objects.object_count;
    info->has_config = agent->running || agent->configured;
    if (info->has_config) {
        vxm_config_to_message(&info->config, agent->running ? &agent->start : &agent->configuration);
    }
    info->boot = agent->boot;
    info->time = VXM_PORT_CLOCK64();
    info->unnamed = vxm_objects.unnamed;
}

/* ------------------------------------------------------------------ entries of the object table */

static bool encode_windows(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
    const struct vxm_schedule_info *schedule = *arg;
    for (uint16_t i = 0; i < schedule->window_count; i++) {
        const struct vxm_window_info *from = &schedule->windows[i];
        const vxmon_Window window = {from->partition, from->release_point, from->offset, from->duration};
        if (!pb_encode_tag_for_field(stream, field) || !pb_encode_submessage(stream, vxmon_Window_fields, &window)) {
            return false;
        }
    }
    return true;
}

static bool add(pb_ostream_t *stream, uint32_t tag, const pb_msgdesc_t *fields, const void *entry)
{
    return pb_encode_tag(stream, PB_WT_STRING, tag) && pb_encode_submessage(stream, fields, entry);
}

static bool add_schedule(pb_ostream_t *stream, const struct vxm_schedule_info *from)
{
    const vxmon_Schedule entry = {
        .id = from->id,
        .major_frame = from->major_frame,
        .windows = {.funcs.encode = encode_windows, .arg = (void *)(uintptr_t)from},
    };
    return add(stream, vxmon_ObjectTable_schedules_tag, vxmon_Schedule_fields, &entry);
}

static bool add_partition(pb_ostream_t *stream, uint16_t index)
{
    const struct vxm_partition_entry *from = &vxm_objects.partition[index];
    vxmon_PartitionEntry entry = {.index = index, .handle = from->handle};
    memcpy(entry.name, from->name, sizeof entry.name);
    return add(stream, vxmon_ObjectTable_partitions_tag, vxmon_PartitionEntry_fields, &entry);
}

static bool add_task(pb_ostream_t *stream, uint16_t index)
{
    const struct vxm_task_entry *from = &vxm_objects.task[index];
    vxmon_TaskEntry entry = {
        .index = index,
        .partition = from->partition,
        .handle = from->handle,
        .priority = from->priority,
        .stack_size = from->stack_size,
        .period = from->period,
        .time_capacity = from->time_capacity,
        .idle = from->idle,
        .deleted = from->deleted,
    };
    memcpy(entry.name, from->name, sizeof entry.name);
    return add(stream, vxmon_ObjectTable_tasks_tag, vxmon_TaskEntry_fields, &entry);
}

static bool add_object(pb_ostream_t *stream, uint16_t index)
{
    const struct vxm_object_entry *from = &vxm_objects.object[index];
    vxmon_ObjectEntry entry = {
        .index = index,
        .type = from->type,
        .partition = from->partition,
        .handle = from->handle,
        .message_size = from->message_size,
        .capacity = from->capacity,
        .deleted = from->deleted,
    };
    memcpy(entry.name, from->name, sizeof entry.name);
    return add(stream, vxmon_ObjectTable_objects_tag, vxmon_ObjectEntry_fields, &entry);
}

static uint16_t count_of(enum item item)
{
    switch (item) {
    case ITEM_SCHEDULES:
        return vxm_objects.schedule_count;
    case ITEM_PARTITIONS:
        return vxm_objects.partition_count;
    case ITEM_TASKS:
        return vxm_objects.task_count;
    case ITEM_OBJECTS:
        return vxm_objects.object_count;
    default:
        return 0;
    }
}

static bool add_entry(pb_ostream_t *stream)
{
    switch (pass.item) {
    case ITEM_SCHEDULES:
        return add_schedule(stream, vxm_objects.schedule[pass.index]);
    case ITEM_PARTITIONS:
        return add_partition(stream, pass.index);
    case ITEM_TASKS:
        return add_task(stream, pass.index);
    default:
        return add_object(stream, pass.index);
    }
}

static size_t schedule_bytes(const struct vxm_schedule_info *schedule)
{
    pb_ostream_t sizing = PB_OSTREAM_SIZING;
    return add_schedule(&sizing, schedule) ? sizing.bytes_written : PART_BYTES;
}

bool vxm_tables_schedule_fits(const struct vxm_schedule_info *schedule)
{
    return schedule_bytes(schedule) <= PART_BYTES - VERSION_BYTES;
}

/* Bytes the next entry needs at most. */
static size_t entry_room(void)
{
    return pass.item == ITEM_SCHEDULES ? schedule_bytes(vxm_objects.schedule[pass.index]) : ENTRY_BYTES;
}

/* Past the ends of lists, and past a schedule that has grown since it was registered. */
static void settle(void)
{
    while (pass.item < ITEM_END) {
        if (pass.index >= count_of(pass.item)) {
            pass.item++;
            pass.index = 0;
        } else if (entry_room() > PART_BYTES - VERSION_BYTES) {
            pass.index++;
        } else {
            return;
        }
    }
}

/* Fills a part with the entries that fit, which is at least one; returns its size. */
static size_t fill_part(void)
{
    pb_ostream_t stream = pb_ostream_from_buffer(vxm_fragments_part(), PART_BYTES);
    if (!pb_encode_tag(&stream, PB_WT_VARINT, vxmon_ObjectTable_version_tag) ||
        !pb_encode_varint(&stream, pass.version)) {
        return 0;
    }
    while (pass.item < ITEM_END) {
        if (stream.bytes_written + entry_room() > PART_BYTES) {
            break;
        }
        if (!add_entry(&stream)) {
            return 0;
        }
        pass.index++;
        settle();
    }
    return stream.bytes_written;
}

/* ------------------------------------------------------------------ messages */

static void put_varint(struct vxm_message *message, size_t value)
{
    while (value >= 0x80u) {
        message->prefix[message->prefix_size++] = (uint8_t)(value | 0x80u);
        value >>= 7;
    }
    message->prefix[message->prefix_size++] = (uint8_t)value;
}

/* A Table message whose one field is the body: tag and length go before it. */
static bool begin_message(uint32_t tag, const uint8_t *body, size_t size)
{
    struct vxm_message *message = &pass.message;
    *message = (struct vxm_message){
        .peer = *vxm_link_peer(),
        .channel = VXM_CHANNEL_TABLE,
        .body = body,
        .body_size = size,
    };
    put_varint(message, tag << 3 | PB_WT_STRING);
    put_varint(message, size);
    if (!vxm_message_begin(message, vxm_datagram_bytes())) {
        return false;
    }
    vxm_fragments_keep(message, vxm_datagram_bytes());
    return true;
}

static bool begin_info(void)
{
    static vxmon_TargetInfo info;
    uint8_t *part = vxm_fragments_part();
    pb_ostream_t stream = pb_ostream_from_buffer(part, PART_BYTES);
    vxm_tables_fill_info(&info);
    return pb_encode(&stream, vxmon_TargetInfo_fields, &info) &&
           begin_message(vxmon_Table_info_tag, part, stream.bytes_written);
}

/* Makes the next message of the pass; false when the pass is over. */
static bool next_message(void)
{
    switch (pass.item) {
    case ITEM_INFO:
        pass.item = ITEM_EVENTS;
        return begin_info();
    case ITEM_EVENTS:
        pass.item = ITEM_SCHEDULES;
        pass.index = 0;
        settle();
        return begin_message(VXM_TABLE_EVENTS_TAG, vxm_agent.table->bytes, vxm_agent.table->size);
    case ITEM_END:
        return false;
    default: {
        const uint8_t *part = vxm_fragments_part();
        size_t size = fill_part();
        return size != 0 && begin_message(vxmon_Table_objects_tag, part, size);
    }
    }
}

static bool is_time(uint64_t now)
{
    uint64_t since = now > pass.begun_at ? now - pass.begun_at : 0;
    if (!vxm_agent.running || !vxm_link_open()) {
        return false;
    }
    return since >= vxm_ticks_of_ms(REPEAT_MS) ||
           (pass.version != vxm_objects.version && since >= vxm_ticks_of_ms(CHANGE_MS));
}

enum vxm_work vxm_tables_step(uint64_t now)
{
    if (!pass.active && is_time(now)) {
        begin();
    }
    if (!pass.active || !vxm_link_open()) {
        return VXM_IDLE;
    }
    if (vxm_message_done(&pass.message) && !next_message()) {
        end();
        return VXM_WORKED;
    }
    return vxm_message_step(&pass.message, vxm_datagram_bytes()) ? VXM_WORKED : VXM_BLOCKED;
}
