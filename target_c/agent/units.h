/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units: the buffers of a stream. The recorder takes a unit when it needs one and the agent empties
 * them; what both touch is changed under the mask, in constant time.
 *
 * A unit is FREE (in the free list), FILLING (the recorder's), FULL (closed, not all of it is cut
 * into blocks), READING (a block is being made from it; never overwritten) or SENT (all of it is cut,
 * not acknowledged). All but the free ones are in a ring in order of time that begins and ends at
 * the store's own `list`. States are not stored but follow from the places of a unit, because every
 * store would be paid for in the longest masked section there is, the opening of a unit.
 *
 * A record is stored first; when after it the largest record would not fit any more, the unit is closed.
 * Without a unit records are stored in the store's scratch place, and moved into the unit that is
 * then opened. So the usual path has one test and nothing to keep for the other.
 */
#ifndef VXM_AGENT_UNITS_H
#define VXM_AGENT_UNITS_H

#include "compiler.h"
#include "vxm/record.h"

/* Data words of a record, from its word 0. */
#define VXM_HEAD_DATA_WORDS(head) (((head) >> 15) & 0x7Eu)
#define VXM_HEAD_SLOTS_MASK 0x003F0000u
#define VXM_HEAD_SLOTS(head) (((head) >> 16) & 0x3Fu)
#define VXM_HEAD_ID(head) ((head) >> 22)

/* A unit older than this is closed at the next window or step, long before its times are ambiguous. */
#define VXM_UNIT_MAX_AGE (1u << 30)

/* Which parts of the context follow from the records of a unit: their events are switched on. */
enum vxm_known {
    VXM_KNOWN_PARTITION = 1,
    VXM_KNOWN_WINDOW = 2,
    VXM_KNOWN_TASK = 4,
    VXM_KNOWN_DEPTH = 8,
};

struct vxm_unit {
    struct vxm_unit *next;
    struct vxm_unit *previous;
    uint32_t *base;
    uint32_t *end;        /* once closed: beyond its last word */
    uint32_t uncut;       /* once closed: records that are not in a block */
    uint64_t first_index; /* of its first record; no two units of a run have the same */
    uint64_t base_time;   /* of its first record */
    struct vxm_context context;
    uint8_t known; /* enum vxm_known */
    bool reading;
};

/* The units of one stream. */
struct vxm_store {
    struct vxm_unit list; /* next: the oldest, previous: the newest */
    struct vxm_unit *free;
    struct vxm_unit *cut_last; /* the newest that is cut whole, or &list */
    uint32_t index_low;        /* records attempted, as of the last change of unit */
    uint32_t index_high;
    uint32_t overwritten; /* low 32 bits: records in units that were reused before they were cut */
    uint32_t room_bytes;  /* from a unit's base to the last place where the largest record fits */
    uint32_t units;
    uint32_t used;
    uint64_t dropped; /* records that found no unit: full (linear) or exhausted (ring) */
    bool ring;        /* overwrite */
    bool recording;
    uint8_t known; /* of units opened from now on */
    uint32_t overwritten_seen;
    uint64_t overwritten_total;
    uint32_t scratch[VXM_MAX_RECORD_WORDS];
};

extern struct vxm_store vxm_store[VXM_PORT_STREAMS];

/* Bytes of arena that one unit needs, its descriptor included. */
size_t vxm_units_bytes(uint32_t unit_slots);

/* Makes `units` free units of memory for a new run. The stream must not be recording. */
void vxm_units_reset(unsigned stream, void *memory, uint32_t units, uint32_t unit_slots, bool ring);

/* Gives a stream that may be recording `units` more free units, one after the other. Agent context. */
void vxm_units_add(unsigned stream, void *memory, uint32_t units, uint32_t unit_slots);

/* ------------------------------------------------------------------ under the mask */

/*
 * The slow path of recording: a record was stored beyond the limit of the stream, which is the running
 * one. Ends with the mask as `state` says.
 */
void vxm_units_turn(uintptr_t state, struct vxm_stream *stream);

/* Counts attempts that were lost before they came to the recorder. */
void vxm_units_drop(unsigned stream, uint32_t records);

/* Closes the unit that is being filled, if any. */
void vxm_units_close(unsigned stream);

/* Nothing is recorded from now on; units that are released are not used again. */
void vxm_units_stop(unsigned stream);

/* Records attempted, and overwritten before they were cut, in this run. */
uint64_t vxm_units_attempts(unsigned stream);
uint64_t vxm_units_overwritten(unsigned stream);

/* The oldest unit that is not cut whole, FILLING or FULL; NULL: none. */
struct vxm_unit *vxm_units_next_to_cut(unsigned stream);

/* Takes a unit out of the list and makes it free. */
void vxm_units_release(unsigned stream, struct vxm_unit *unit);

#endif
