/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "block.h"
#include "evtmap.h"
#include "heartbeat.h"
#include "link.h"
#include "tables.h"
#include "upload.h"
#include "vxm/hooks.h"

#define MIN_UNIT_SLOTS 128u
#define MAX_UNIT_SLOTS 4096u
#define DEFAULT_HIGH_WATER 70u
#define DEFAULT_FLUSH_MS 100u
#define MAX_FLUSH_MS 60000u
#define MIN_UNITS 2u
#define MAX_UNITS 65535u

uint32_t vxm_run_max_units(uint32_t unit_slots)
{
    size_t each = vxm_units_bytes(unit_slots) + VXM_UPLOAD_ENTRY_BYTES;
    size_t units = vxm_agent.arena_size / VXM_PORT_STREAMS / each;
    return units < MAX_UNITS ? (uint32_t)units : MAX_UNITS;
}

static void fill_defaults(struct vxm_run_config *config)
{
    if (config->datagram_bytes == 0) {
        config->datagram_bytes = VXM_FRAME_DEFAULT;
    }
    if (config->unit_slots == 0) {
        config->unit_slots = VXM_DEFAULT_UNIT_SLOTS;
    }
    if (config->units == 0 && config->unit_slots >= MIN_UNIT_SLOTS) {
        config->units = (uint16_t)vxm_run_max_units(config->unit_slots);
    }
    if (config->high_water == 0) {
        config->high_water = DEFAULT_HIGH_WATER;
    }
    if (config->flush_ms == 0) {
        config->flush_ms = DEFAULT_FLUSH_MS;
    }
    vxm_evtmap_add_always(config->enable);
}

static bool within(const char *name, uint32_t value, uint32_t low, uint32_t high, struct vxm_text *why)
{
    if (value >= low && value <= high) {
        return true;
    }
    vxm_text_add(why, name);
    vxm_text_add(why, " ");
    vxm_text_number(why, value);
    vxm_text_add(why, " is outside ");
    vxm_text_number(why, low);
    vxm_text_add(why, "-");
    vxm_text_number(why, high);
    return false;
}

static void name_event(struct vxm_text *why, uint32_t id)
{
    const char *name = vxm_event_name(id);
    vxm_text_add(why, "event ");
    if (name != NULL) {
        vxm_text_add(why, name);
        vxm_text_add(why, " (");
        vxm_text_number(why, id);
        vxm_text_add(why, ")");
    } else {
        vxm_text_add(why, "EVENT_");
        vxm_text_number(why, id);
    }
}

static vxmon_Result refuse_event(struct vxm_text *why, uint32_t id)
{
    name_event(why, id);
    vxm_text_add(why, " is not offered by release ");
    vxm_text_add(why, vxm_agent.table->os_release);
    return vxmon_Result_UNSUPPORTED;
}

/* A unit becomes at most 32 blocks, one bit each in the list of what was acknowledged. */
static bool blocks_fit(const struct vxm_run_config *config, struct vxm_text *why)
{
    uint32_t slots = vxm_block_max_slots(config->datagram_bytes);
    if (vxm_block_most_per_unit(config->unit_slots, slots) <= VXM_UPLOAD_MAX_BLOCKS) {
        return true;
    }
    vxm_text_add(why, "units of ");
    vxm_text_number(why, config->unit_slots);
    vxm_text_add(why, " slots need more than 32 datagrams of ");
    vxm_text_number(why, config->datagram_bytes);
    vxm_text_add(why, " bytes");
    return false;
}

static vxmon_Result check_memory(const struct vxm_run_config *config, struct vxm_text *why)
{
    uint32_t most = vxm_run_max_units(config->unit_slots);
    if (most >= MIN_UNITS && config->units <= most) {
        return vxmon_Result_OK;
    }
    vxm_text_add(why, "the buffer memory holds ");
    vxm_text_number(why, most);
    vxm_text_add(why, " units of ");
    vxm_text_number(why, config->unit_slots);
    vxm_text_add(why, " slots a stream, not ");
    vxm_text_number(why, config->units);
    return vxmon_Result_MEMORY;
}

static vxmon_Result check(const struct vxm_run_config *config, struct vxm_text *why)
{
    uint32_t refused = vxm_evtmap_refused(config->enable);
    if (refused != 0) {
        return refuse_event(why, refused);
    }
    if (!within("datagram_bytes", config->datagram_bytes, VXM_FRAME_MIN_LIMIT, VXM_FRAME_MAX, why) ||
        !within("unit_slots", config->unit_slots, MIN_UNIT_SLOTS, MAX_UNIT_SLOTS, why) ||
        !within("high_water", config->high_water, 1, 100, why) ||
        !within("flush_ms", config->flush_ms, 1, MAX_FLUSH_MS, why) ||
        !within("policy", config->policy, VXM_RING, VXM_LINEAR, why)) {
        return vxmon_Result_LIMIT;
    }
    vxmon_Result memory = check_memory(config, why);
    if (memory != vxmon_Result_OK) {
        return memory;
    }
    if (!within("units", config->units, MIN_UNITS, MAX_UNITS, why) || !blocks_fit(config, why)) {
        return vxmon_Result_LIMIT;
    }
    return vxmon_Result_OK;
}

static uint8_t known_context(void)
{
    uint8_t known = 0;
    known |= vxm_enabled(VXM_EVENT_PARTITION_SWITCH) ? VXM_KNOWN_PARTITION : 0;
    known |= vxm_enabled(VXM_EVENT_WINDOW) ? VXM_KNOWN_WINDOW : 0;
    known |= vxm_enabled(VXM_EVENT_TASK_SWITCH) ? VXM_KNOWN_TASK : 0;
    known |= vxm_enabled(VXM_EVENT_INT_ENTR) && vxm_enabled(VXM_EVENT_INT_EXIT) ? VXM_KNOWN_DEPTH : 0;
    return known;
}

static void set_known(void)
{
    uint8_t known = known_context();
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_store[i].known = known;
    }
}

static void lay_out_arena(const struct vxm_run_config *config)
{
    uint8_t *at = vxm_agent.arena;
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_units_reset(i, at, config->units, config->unit_slots, config->policy == VXM_RING);
        at += config->units * vxm_units_bytes(config->unit_slots);
        vxm_upload_reset(i, at, config->units);
        at += config->units * VXM_UPLOAD_ENTRY_BYTES;
    }
}

/* One mask around all, so that no event can come between the enable bits and START. */
static void begin_recording(const struct vxm_run_config *config)
{
    uintptr_t state = VXM_PORT_MASK();
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_store[i].recording = true;
    }
    memcpy(vxm_recorder.enable, config->enable, sizeof vxm_recorder.enable);
    set_known();
    const struct vxm_context *context = vxm_context();
    vxm_start(context->partition, context->window, context->task, vxm_agent.run);
    vxm_agent.started_at = VXM_PORT_CLOCK64();
    VXM_PORT_UNMASK(state);
}

vxmon_Result vxm_run_start(struct vxm_run_config *config, struct vxm_text *why)
{
    if (vxm_agent.running) {
        vxm_text_add(why, "already recording run ");
        vxm_text_number(why, vxm_agent.run);
        return vxmon_Result_STATE;
    }
    fill_defaults(config);
    vxmon_Result result = check(config, why);
    if (result != vxmon_Result_OK) {
        return result;
    }
    lay_out_arena(config);
    vxm_agent.start = *config;
    vxm_agent.run++;
    vxm_agent.due_words = (uint32_t)config->unit_slots * VXM_SLOT_WORDS * config->high_water / 100u;
    vxm_agent.flush_ticks = vxm_ticks_of_ms(config->flush_ms);
    vxm_agent.running = true;
    vxm_end_cancel();
    begin_recording(config);
    vxm_evtmap_publish();
    vxm_tables_snapshot();
    vxm_heartbeat_soon();
    return vxmon_Result_OK;
}

/* One mask around all, so that STOP is the last record. */
static void end_recording(uint16_t reason)
{
    uintptr_t state = VXM_PORT_MASK();
    memset(vxm_recorder.enable, 0, sizeof vxm_recorder.enable);
    vxm_record0(VXM_HEAD(VXM_EVENT_STOP, 0, reason));
    vxm_agent.stopped_at = VXM_PORT_CLOCK64();
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_units_stop(i);
    }
    VXM_PORT_UNMASK(state);
}

vxmon_Result vxm_run_stop(uint16_t reason, struct vxm_text *why)
{
    if (!vxm_agent.running) {
        vxm_text_add(why, "not recording");
        return vxmon_Result_STATE;
    }
    end_recording(reason);
    vxm_agent.running = false;
    vxm_agent.stop_reason = reason;
    vxm_tables_end_snapshot();
    vxm_evtmap_publish();
    vxm_heartbeat_soon();
    if (vxm_agent.start.one_way || reason != VXM_STOP_REASON_HOST) {
        vxm_end_begin();
    }
    return vxmon_Result_OK;
}

static void switch_event(const struct vxm_event_entry *entry, bool on)
{
    uintptr_t state = VXM_PORT_MASK();
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_units_close(i);
    }
    vxm_evtmap_switch(entry, on);
    set_known();
    vxm_filter(entry->id, on ? VXM_ON_OFF_ON : VXM_ON_OFF_OFF);
    VXM_PORT_UNMASK(state);
    vxm_evtmap_publish();
}

vxmon_Result vxm_run_filter(uint32_t event, bool on, struct vxm_text *why)
{
    const struct vxm_event_entry *entry = vxm_evtmap_find(event);
    if (entry == NULL) {
        return refuse_event(why, event);
    }
    if (!vxm_agent.running) {
        vxm_text_add(why, "not recording");
        return vxmon_Result_STATE;
    }
    if (entry->always && !on) {
        name_event(why, event);
        vxm_text_add(why, " is part of every run");
        return vxmon_Result_LIMIT;
    }
    if (vxm_enabled(event) != on) {
        switch_event(entry, on);
    }
    return vxmon_Result_OK;
}

/*
 * Units are closed early only while their blocks can leave; else a ring would hold less history. The
 * 64-bit counts are brought up to date as well: far fewer than 2^32 records pass between two steps.
 */
static void close_due(unsigned number, uint64_t now)
{
    const struct vxm_stream *stream = &vxm_recorder.stream[number];
    bool leaving = vxm_link_open() && !vxm_agent.start.no_upload;

    uintptr_t state = VXM_PORT_MASK();
    const struct vxm_unit *unit = stream->unit;
    (void)vxm_units_attempts(number);
    (void)vxm_units_overwritten(number);
    if (unit != NULL) {
        uint64_t age = now - unit->base_time;
        bool full = (uint32_t)(stream->head - unit->base) >= vxm_agent.due_words;
        /* A unit that was opened after `now` was read is not old. */
        bool old = now > unit->base_time && age >= vxm_agent.flush_ticks;
        bool ancient = now > unit->base_time && age >= VXM_UNIT_MAX_AGE;
        if ((leaving && (full || old)) || ancient) {
            vxm_units_close(number);
        }
    }
    VXM_PORT_UNMASK(state);
}

void vxm_run_tick(uint64_t now)
{
    if (!vxm_agent.running) {
        return;
    }
    if (vxm_agent.start.max_ticks != 0 && now - vxm_agent.started_at >= vxm_agent.start.max_ticks) {
        struct vxm_text why;
        char words[32];
        vxm_text_begin(&why, words, sizeof words);
        (void)vxm_run_stop(VXM_STOP_REASON_AUTOSTOP, &why);
        return;
    }
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        close_due(i, now);
    }
}
