/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include "vxm/agent.h"

struct vxm_store vxm_store[VXM_PORT_STREAMS];

/* Where head points without a unit; with limit NULL every record takes the slow path. */
static uint32_t nowhere[1];

size_t vxm_units_bytes(uint32_t unit_slots)
{
    return sizeof(struct vxm_unit) + unit_slots * VXM_SLOT_BYTES;
}

static void park(struct vxm_stream *stream)
{
    stream->unit = NULL;
    stream->head = nowhere;
    stream->limit = NULL;
}

void vxm_units_reset(unsigned number, void *memory, uint32_t units, uint32_t unit_slots, uint8_t policy)
{
    struct vxm_store *store = &vxm_store[number];
    struct vxm_unit *unit = memory;
    uint32_t *words = (uint32_t *)(void *)(unit + units);

    memset(store, 0, sizeof *store);
    store->policy = policy;
    store->units = units;
    store->room_words = unit_slots * VXM_SLOT_WORDS - VXM_MAX_RECORD_WORDS;
    for (uint32_t i = units; i > 0; i--) {
        memset(&unit[i - 1], 0, sizeof *unit);
        unit[i - 1].base = words + (size_t)(i - 1) * unit_slots * VXM_SLOT_WORDS;
        unit[i - 1].next = store->free;
        store->free = &unit[i - 1];
    }
    park(&vxm_recorder.stream[number]);
    vxm_recorder.stream[number].attempts = 0;
}

/* The 64-bit count; valid because a unit holds far fewer than 2^32 records. */
static inline uint64_t attempts_of(const struct vxm_store *store, uint32_t attempts)
{
    return store->index + (uint32_t)(attempts - (uint32_t)store->index);
}

uint64_t vxm_units_attempts(unsigned stream)
{
    return attempts_of(&vxm_store[stream], vxm_recorder.stream[stream].attempts);
}

static inline void seal(struct vxm_stream *stream, const struct vxm_store *store)
{
    struct vxm_unit *unit = stream->unit;
    unit->end = stream->head;
    unit->count = (uint32_t)store->index - (uint32_t)unit->first_index;
    unit->state = VXM_UNIT_FULL;
}

void vxm_units_close(unsigned number)
{
    struct vxm_stream *stream = &vxm_recorder.stream[number];
    struct vxm_store *store = &vxm_store[number];
    if (stream->unit == NULL) {
        return;
    }
    store->index = attempts_of(store, stream->attempts);
    seal(stream, store);
    park(stream);
}

/*
 * The oldest unit that is not being read, taken out of the list, but never the newest: that one was
 * filled just now. At most one unit of a stream is being read, so the first two decide.
 */
static inline struct vxm_unit *take_oldest(struct vxm_store *store)
{
    struct vxm_unit *unit = store->oldest;
    struct vxm_unit *before = NULL;

    if (unit != NULL && unit->state == VXM_UNIT_READING) {
        before = unit;
        unit = unit->next;
    }
    if (unit == NULL || unit == store->newest) {
        return NULL;
    }
    unit->next->previous = before;
    if (before != NULL) {
        before->next = unit->next;
    } else {
        store->oldest = unit->next;
    }
    if (unit == store->cut) {
        store->cut = unit->next;
    }
    store->overwritten += unit->count - unit->cut_count;
    return unit;
}

static inline struct vxm_unit *take_free(struct vxm_store *store)
{
    struct vxm_unit *unit = store->free;
    store->free = unit->next;
    store->used++;
    return unit;
}

static inline void append(struct vxm_store *store, struct vxm_unit *unit)
{
    unit->next = NULL;
    unit->previous = store->newest;
    if (store->newest != NULL) {
        store->newest->next = unit;
    } else {
        store->oldest = unit;
    }
    store->newest = unit;
    if (store->cut == NULL) {
        store->cut = unit;
    }
}

static inline void open_unit(struct vxm_stream *stream, struct vxm_store *store, struct vxm_unit *unit)
{
    unit->first_index = store->index;
    unit->dropped = store->dropped;
    unit->context = stream->context;
    unit->cut_count = 0;
    unit->state = VXM_UNIT_FILLING;
    unit->known = store->known;
    append(store, unit);
    stream->unit = unit;
    stream->limit = unit->base + store->room_words;
}

uint32_t *vxm_units_next(uint32_t head)
{
    unsigned number = VXM_PORT_STREAM();
    struct vxm_stream *stream = &vxm_recorder.stream[number];
    struct vxm_store *store = &vxm_store[number];
    struct vxm_unit *unit;

    if (!store->recording) {
        return NULL;
    }
    store->index = attempts_of(store, stream->attempts);
    stream->attempts++;
    if (stream->unit != NULL) {
        seal(stream, store);
    }
    if (store->free != NULL) {
        unit = take_free(store);
    } else {
        unit = store->policy == VXM_RING ? take_oldest(store) : NULL;
    }
    if (unit == NULL) {
        store->dropped++;
        park(stream);
        return NULL;
    }
    open_unit(stream, store, unit);
    uint32_t *to = unit->base;
    uint64_t now = VXM_PORT_CLOCK64();
    unit->base_time = now;
    to[0] = head;
    to[1] = (uint32_t)now;
    stream->head = to + VXM_SLOT_WORDS + VXM_HEAD_DATA_WORDS(head);
    return to + VXM_SLOT_WORDS;
}

void vxm_units_drop(unsigned number, uint32_t records)
{
    struct vxm_store *store = &vxm_store[number];
    if (!store->recording) {
        return;
    }
    vxm_units_close(number);
    store->index = vxm_units_attempts(number);
    vxm_recorder.stream[number].attempts += records;
    store->dropped += records;
}

void vxm_units_release(unsigned number, struct vxm_unit *unit)
{
    struct vxm_store *store = &vxm_store[number];
    if (unit->previous != NULL) {
        unit->previous->next = unit->next;
    } else {
        store->oldest = unit->next;
    }
    if (unit->next != NULL) {
        unit->next->previous = unit->previous;
    } else {
        store->newest = unit->previous;
    }
    unit->state = VXM_UNIT_FREE;
    unit->next = store->free;
    store->free = unit;
    store->used--;
}
