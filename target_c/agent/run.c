/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "config.h"
#include "evtmap.h"
#include "grow.h"
#include "heartbeat.h"
#include "link.h"
#include "sample.h"
#include "tables.h"
#include "upload.h"
#include "vxm/hooks.h"

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
        vxm_upload_reset(i, at, config->max_units, config->datagram_bytes);
        at += config->max_units * VXM_UPLOAD_ENTRY_BYTES;
    }
    vxm_grow_begin((size_t)(at - vxm_agent.arena));
}

/* Under the mask. */
static void set_filters(const struct vxm_run_config *config)
{
    memcpy(vxm_filters.hidden_partition, config->hidden_partitions, sizeof vxm_filters.hidden_partition);
    memcpy(vxm_filters.hidden_object, config->hidden_objects, sizeof vxm_filters.hidden_object);
    vxm_filters.payload = config->payload;
    vxm_filters.content_bytes = config->content_bytes;
    vxm_heads_only = config->fast;
}

/* One mask around all, so that no event can come between the enable bits and START. */
static void begin_recording(const struct vxm_run_config *config)
{
    uintptr_t state = VXM_PORT_MASK();
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_store[i].recording = true;
    }
    memcpy(vxm_recorder.enable, config->enable, sizeof vxm_recorder.enable);
    set_filters(config);
    set_known();
    const struct vxm_context *context = vxm_context();
    vxm_start(context->partition, context->window, context->task, vxm_agent.run);
    vxm_agent.started_at = VXM_PORT_CLOCK64();
    VXM_PORT_UNMASK(state);
}

static void set_pace(const struct vxm_run_config *config)
{
    vxm_agent.due_words = (uint32_t)config->unit_slots * VXM_SLOT_WORDS * config->high_water / 100u;
    vxm_agent.flush_ticks = vxm_ticks_of_ms(config->flush_ms);
}

vxmon_Result vxm_run_start(struct vxm_run_config *config, struct vxm_text *why)
{
    if (vxm_agent.running) {
        vxm_text_add(why, "already recording run ");
        vxm_text_number(why, vxm_agent.run);
        return vxmon_Result_STATE;
    }
    vxm_config_fill(config);
    vxmon_Result result = vxm_config_check(config, why);
    if (result != vxmon_Result_OK) {
        return result;
    }
    lay_out_arena(config);
    vxm_agent.start = *config;
    vxm_agent.run++;
    set_pace(config);
    vxm_agent.running = true;
    vxm_end_cancel();
    vxm_agent.configured = false;
    begin_recording(config);
    vxm_evtmap_begin(config, vxm_agent.started_at);
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
    vxm_evtmap_end();
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
    vxm_evtmap_collect(entry, on, VXM_PORT_CLOCK64());
}

/* Events, filters, payload and periods of the run become those of the configuration. */
static void change_run(const struct vxm_run_config *config)
{
    for (uint32_t id = 1; id < VXM_MAX_EVENTS; id++) {
        bool on = (config->enable[id / 32u] >> (id % 32u)) & 1u;
        const struct vxm_event_entry *entry = vxm_enabled(id) != on ? vxm_evtmap_find(id) : NULL;
        if (entry != NULL) {
            switch_event(entry, on);
        }
    }
    uintptr_t state = VXM_PORT_MASK();
    set_filters(config);
    VXM_PORT_UNMASK(state);
    vxm_evtmap_begin(config, VXM_PORT_CLOCK64());
}

/* Of a run that lasts the buffers stay as they are; so must all that says how they are read. */
static bool same_buffers(const struct vxm_run_config *config, struct vxm_text *why)
{
    const struct vxm_run_config *run = &vxm_agent.start;
    bool same = config->unit_slots == run->unit_slots && config->units == run->units && config->policy == run->policy &&
                config->datagram_bytes == run->datagram_bytes && config->max_units == run->max_units &&
                config->one_way == run->one_way && config->no_upload == run->no_upload && config->fast == run->fast;
    if (!same) {
        vxm_text_add(why, "buffers, datagrams, upload and fast mode cannot change while run ");
        vxm_text_number(why, vxm_agent.run);
        vxm_text_add(why, " lasts");
    }
    return same;
}

static void take_buffers(struct vxm_run_config *config)
{
    const struct vxm_run_config *run = &vxm_agent.start;
    config->unit_slots = config->unit_slots != 0 ? config->unit_slots : run->unit_slots;
    if (config->units == 0 && config->max_units == 0) {
        config->max_units = run->max_units;
    }
    config->units = config->units != 0 ? config->units : run->units;
    config->datagram_bytes = config->datagram_bytes != 0 ? config->datagram_bytes : run->datagram_bytes;
}

vxmon_Result vxm_run_configure(struct vxm_run_config *config, bool check_only, struct vxm_text *why)
{
    if (vxm_agent.running) {
        take_buffers(config);
    }
    vxm_config_fill(config);
    vxmon_Result result = vxm_config_check(config, why);
    if (result != vxmon_Result_OK || check_only) {
        return result;
    }
    if (vxm_agent.running) {
        if (!same_buffers(config, why)) {
            return vxmon_Result_STATE;
        }
        change_run(config);
        set_pace(config);
        vxm_agent.start = *config;
        return vxmon_Result_OK;
    }
    vxm_agent.configuration = *config;
    vxm_agent.configured = true;
    return vxmon_Result_OK;
}

vxmon_Result vxm_run_filter(uint32_t event, bool on, struct vxm_text *why)
{
    const struct vxm_event_entry *entry = vxm_evtmap_find(event);
    if (entry == NULL) {
        return vxm_config_refuse_event(why, event);
    }
    if (!vxm_agent.running) {
        vxm_text_add(why, "not recording");
        return vxmon_Result_STATE;
    }
    if (entry->always && !on) {
        vxm_config_name_event(why, event);
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

/* What ends a run by itself; VXM_STOP_REASON_HOST: nothing does yet. */
static uint16_t stop_reason(uint64_t now)
{
    const struct vxm_run_config *run = &vxm_agent.start;
    uint64_t attempts = 0;
    uint64_t dropped = 0;
    if (run->max_ticks != 0 && now - vxm_agent.started_at >= run->max_ticks) {
        return VXM_STOP_REASON_AUTOSTOP;
    }
    if (run->max_records == 0 && !run->stop_when_full) {
        return VXM_STOP_REASON_HOST;
    }
    uintptr_t state = VXM_PORT_MASK();
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        attempts += vxm_units_attempts(i);
        dropped += vxm_store[i].dropped;
    }
    VXM_PORT_UNMASK(state);
    if (run->max_records != 0 && attempts >= run->max_records) {
        return VXM_STOP_REASON_AUTOSTOP;
    }
    return run->stop_when_full && dropped != 0 ? VXM_STOP_REASON_BUFFER_FULL : VXM_STOP_REASON_HOST;
}

void vxm_run_tick(uint64_t now)
{
    if (!vxm_agent.running) {
        return;
    }
    uint16_t reason = stop_reason(now);
    if (reason != VXM_STOP_REASON_HOST) {
        struct vxm_text why;
        char words[32];
        vxm_text_begin(&why, words, sizeof words);
        (void)vxm_run_stop(reason, &why);
        return;
    }
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        close_due(i, now);
    }
}
