/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

struct vxm_store vxm_store[VXM_PORT_STREAMS];

size_t vxm_units_bytes(uint32_t unit_slots)
{
    return sizeof(struct vxm_unit) + unit_slots * VXM_SLOT_BYTES;
}

/* Leaves the stream without a unit: the next record goes to the scratch place and turns. */
static inline void park(struct vxm_stream *stream, struct vxm_store *store)
{
    stream->unit = NULL;
    stream->head = store->scratch;
    stream->limit = NULL;
}

/* Brings the 64-bit index up to date; called long before 2^32 records have passed. */
static inline void follow_attempts(struct vxm_store *store, uint32_t attempts)
{
    store->index_high += attempts < store->index_low;
    store->index_low = attempts;
}

/* The index is brought up to date, so that the next unit can take it as it is. */
static inline void close_unit(struct vxm_stream *stream, struct vxm_store *store)
{
    stream->unit->end = stream->head;
    stream->unit->uncut = stream->attempts - (uint32_t)stream->unit->first_index;
    follow_attempts(store, stream->attempts);
    park(stream, store);
}

void vxm_units_reset(unsigned number, void *memory, uint32_t units, uint32_t unit_slots, bool ring)
{
    struct vxm_store *store = &vxm_store[number];
    struct vxm_unit *unit = memory;
    uint32_t *words = units != 0 ? (uint32_t *)(void *)(unit + units) : NULL;

    memset(store, 0, sizeof *store);
    store->list.next = &store->list;
    store->list.previous = &store->list;
    store->cut_last = &store->list;
    store->ring = ring;
    store->units = units;
    store->room_bytes = unit_slots * VXM_SLOT_BYTES - VXM_MAX_RECORD_WORDS * (uint32_t)sizeof *words;
    for (uint32_t i = units; i > 0; i--) {
        memset(&unit[i - 1], 0, sizeof *unit);
        unit[i - 1].base = words + (size_t)(i - 1) * unit_slots * VXM_SLOT_WORDS;
        unit[i - 1].next = store->free;
        store->free = &unit[i - 1];
    }
    vxm_recorder.stream[number].store = store;
    park(&vxm_recorder.stream[number], store);
    vxm_recorder.stream[number].attempts = 0;
}

void vxm_units_add(unsigned number, void *memory, uint32_t units, uint32_t unit_slots)
{
    struct vxm_store *store = &vxm_store[number];
    struct vxm_unit *unit = memory;
    uint32_t *words = (uint32_t *)(void *)(unit + units);

    for (uint32_t i = 0; i < units; i++) {
        memset(&unit[i], 0, sizeof *unit);
        unit[i].base = words + (size_t)i * unit_slots * VXM_SLOT_WORDS;
        uintptr_t state = VXM_PORT_MASK();
        unit[i].next = store->free;
        store->free = &unit[i];
        store->units++;
        VXM_PORT_UNMASK(state);
    }
}

uint64_t vxm_units_attempts(unsigned number)
{
    struct vxm_store *store = &vxm_store[number];
    follow_attempts(store, vxm_recorder.stream[number].attempts);
    return (uint64_t)store->index_high << 32 | store->index_low;
}

uint64_t vxm_units_overwritten(unsigned number)
{
    struct vxm_store *store = &vxm_store[number];
    store->overwritten_total += store->overwritten - store->overwritten_seen;
    store->overwritten_seen = store->overwritten;
    return store->overwritten_total;
}

void vxm_units_close(unsigned number)
{
    struct vxm_stream *stream = &vxm_recorder.stream[number];
    if (stream->unit != NULL) {
        close_unit(stream, &vxm_store[number]);
    }
}

/*
 * The oldest unit that is not being read, taken out of the list, but never the newest: that one was
 * filled just now. At most one unit of a stream is being read, so the first two decide. Called when no
 * unit is free, so there are at least two in the list. NULL: none.
 */
static inline struct vxm_unit *take_oldest(struct vxm_store *store)
{
    struct vxm_unit *unit = store->list.next;

    if (VXM_UNLIKELY(unit->reading)) {
        unit = unit->next;
        if (unit == store->list.previous) {
            return NULL;
        }
    }
    struct vxm_unit *before = unit->previous;
    struct vxm_unit *after = unit->next;
    before->next = after;
    after->previous = before;
    if (unit == store->cut_last) {
        store->cut_last = before;
    }
    store->overwritten += unit->uncut;
    return unit;
}

/* The record in the scratch place found no unit. */
static VXM_COLD void lose(uintptr_t state, struct vxm_stream *stream)
{
    struct vxm_store *store = stream->store;

    park(stream, store);
    if (store->recording) {
        store->dropped++;
        follow_attempts(store, stream->attempts);
    } else {
        stream->attempts--; /* recording has stopped since the event's enable bit was tested */
    }
    VXM_PORT_UNMASK(state);
}

/* Opens a unit as the newest. Since the last one was closed only the record in the scratch place came. */
static inline void open_unit(struct vxm_stream *stream, struct vxm_store *store, struct vxm_unit *unit, uint32_t *base)
{
    struct vxm_unit *newest = store->list.previous;
    unit->first_index = (uint64_t)store->index_high << 32 | store->index_low;
    unit->context = stream->context;
    unit->known = store->known;
    unit->previous = newest;
    unit->next = &store->list;
    newest->next = unit;
    store->list.previous = unit;
    stream->unit = unit;
    stream->limit = (uint32_t *)(void *)((uint8_t *)base + store->room_bytes);
}

/* The record gets the time at which its unit is opened: the base of the unit, all 64 bits of it. */
static inline void move_record(struct vxm_stream *stream, const struct vxm_store *store, struct vxm_unit *unit,
                               uint32_t *to)
{
    uint32_t head = store->scratch[0];
    uint64_t now = VXM_PORT_CLOCK64();

    unit->base_time = now;
    to[0] = head;
    to[1] = (uint32_t)now;
    to += VXM_SLOT_WORDS;
    if ((head & VXM_HEAD_SLOTS_MASK) != 0) {
        uint32_t slots = VXM_HEAD_DATA_WORDS(head) / VXM_SLOT_WORDS;
        const uint32_t *from = store->scratch + VXM_SLOT_WORDS;
        do {
            to[0] = from[0];
            to[1] = from[1];
            to += VXM_SLOT_WORDS;
            from += VXM_SLOT_WORDS;
        } while (--slots != 0);
    }
    stream->head = to;
}

VXM_COLD void vxm_units_turn(uintptr_t state, struct vxm_stream *stream)
{
    struct vxm_store *store = stream->store;

    if (stream->unit != NULL) {
        close_unit(stream, store);
        VXM_PORT_UNMASK(state);
        return;
    }
    struct vxm_unit *unit = store->free;
    if (VXM_UNLIKELY(unit != NULL)) {
        store->free = unit->next;
        store->used++;
    } else {
        unit = store->ring ? take_oldest(store) : NULL;
        if (VXM_UNLIKELY(unit == NULL)) {
            lose(state, stream);
            return;
        }
    }
    uint32_t *base = unit->base;
    open_unit(stream, store, unit, base);
    move_record(stream, store, unit, base);
    VXM_PORT_UNMASK(state);
}

void vxm_units_drop(unsigned number, uint32_t records)
{
    if (vxm_store[number].recording) {
        vxm_units_close(number);
        vxm_recorder.stream[number].attempts += records;
        vxm_store[number].dropped += records;
        follow_attempts(&vxm_store[number], vxm_recorder.stream[number].attempts);
    }
}

void vxm_units_stop(unsigned number)
{
    struct vxm_store *store = &vxm_store[number];
    vxm_units_close(number);
    park(&vxm_recorder.stream[number], store);
    store->free = NULL;
    store->ring = false;
    store->recording = false;
}

struct vxm_unit *vxm_units_next_to_cut(unsigned number)
{
    struct vxm_store *store = &vxm_store[number];
    if (store->cut_last == NULL || store->cut_last->next == &store->list) {
        return NULL;
    }
    return store->cut_last->next;
}

void vxm_units_release(unsigned number, struct vxm_unit *unit)
{
    struct vxm_store *store = &vxm_store[number];
    unit->previous->next = unit->next;
    unit->next->previous = unit->previous;
    if (unit == store->cut_last) {
        store->cut_last = unit->previous;
    }
    store->used--;
    if (store->recording) {
        unit->next = store->free;
        store->free = unit;
    }
}
