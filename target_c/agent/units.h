/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units: the buffers of a stream. The recorder takes a unit when it needs one and the agent empties
 * them; what both touch is changed under the mask, in constant time.
 *
 * A unit is FREE, FILLING (the recorder's), FULL (closed, not all of it is cut into blocks), READING
 * (a block is being made from it; never overwritten) or SENT (all of it is cut, not acknowledged).
 * All but the free ones are in a list in order of time.
 */
#ifndef VXM_AGENT_UNITS_H
#define VXM_AGENT_UNITS_H

#include "compiler.h"
#include "vxm/record.h"

/* Data words of a record, from its word 0. */
#define VXM_HEAD_DATA_WORDS(head) (((head) >> 15) & 0x7Eu)
#define VXM_HEAD_ID(head) ((head) >> 22)

/* A unit older than this is closed at the next window or step, long before its times are ambiguous. */
#define VXM_UNIT_MAX_AGE (1u << 30)

enum vxm_unit_state { VXM_UNIT_FREE, VXM_UNIT_FILLING, VXM_UNIT_FULL, VXM_UNIT_READING, VXM_UNIT_SENT };

/* Which parts of the context follow from the records of a unit: their events are switched on. */
enum vxm_known {
    VXM_KNOWN_PARTITION = 1,
    VXM_KNOWN_WINDOW = 2,
    VXM_KNOWN_TASK = 4,
    VXM_KNOWN_DEPTH = 8,
};

struct vxm_unit {
    uint32_t *base;
    uint32_t *end; /* beyond its last word, once closed */
    struct vxm_unit *next;
    struct vxm_unit *previous;
    uint64_t first_index; /* of its first record in the run; no two units of a run have the same */
    uint64_t base_time;   /* of its first record */
    uint64_t dropped;     /* records dropped for want of a unit before its first record */
    struct vxm_context context;
    uint32_t count;     /* records, once closed */
    uint32_t cut_count; /* records in blocks */
    uint8_t state;
    uint8_t known; /* enum vxm_known */
};

/* The units of one stream. */
struct vxm_store {
    uint64_t index;       /* records attempted, as of the last change of unit */
    uint64_t overwritten; /* records in units that were reused before they were cut */
    uint64_t dropped;     /* records that found no unit: full (linear) or exhausted (ring) */
    struct vxm_unit *free;
    struct vxm_unit *oldest;
    struct vxm_unit *newest;
    struct vxm_unit *cut; /* the oldest that is not cut whole; NULL: none */
    uint32_t room_words;  /* from a unit's base to the last place where the largest record fits */
    uint32_t units;
    uint32_t used;
    uint8_t policy; /* enum vxm_policy */
    uint8_t known;  /* of units opened from now on */
    bool recording;
};

extern struct vxm_store vxm_store[VXM_PORT_STREAMS];

/* Bytes of arena that one unit needs, its descriptor included. */
size_t vxm_units_bytes(uint32_t unit_slots);

/* Makes `units` free units of memory for a new run. The stream must not be recording. */
void vxm_units_reset(unsigned stream, void *memory, uint32_t units, uint32_t unit_slots, uint8_t policy);

/*
 * Under the mask: opens the next unit, stores the two header words of a record there and returns the
 * place of its data; NULL when the record is lost (counted) or the stream is not recording.
 */
uint32_t *vxm_units_next(uint32_t head);

/* Under the mask: counts attempts that were lost before they came to the recorder. */
void vxm_units_drop(unsigned stream, uint32_t records);

/* Closes the unit that is being filled, if any. Call it under the mask or not at all from elsewhere. */
void vxm_units_close(unsigned stream);

/* Records attempted in this run. Under the mask. */
uint64_t vxm_units_attempts(unsigned stream);

/* Agent only: takes a unit out of the list and makes it free. Under the mask. */
void vxm_units_release(unsigned stream, struct vxm_unit *unit);

#endif
