/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: walking a unit, and the message of a block with its checksum. Agent context only. */
#ifndef VXM_AGENT_BLOCK_H
#define VXM_AGENT_BLOCK_H

#include "units.h"

/* Slots that fit the largest datagram, and bytes of their start bits. */
#define VXM_BLOCK_MAX_SLOTS 192u /* 162 of them fit; the bits are stored by 32 */
#define VXM_BLOCK_STARTS_BYTES (VXM_BLOCK_MAX_SLOTS / 8u)

/* A place in a unit, between two records. */
struct vxm_cursor {
    const uint32_t *next;
    uint64_t index; /* of the record at next, in the run */
    uint64_t time;  /* of the record before, in ticks; at the beginning: the unit's base */
    struct vxm_context context;
};

/* What a block says, but for what the upload adds. */
struct vxm_block {
    uint32_t run;
    uint32_t stream;
    uint64_t sequence;
    uint64_t overwritten; /* losses before the unit, by cause */
    uint64_t full;
    uint64_t exhausted;
    uint64_t first_index;
    uint64_t first_time;
    uint64_t last_time;
    struct vxm_context context;
    uint32_t count;
    const uint32_t *words;
    const uint32_t *last_words; /* of the last record */
    uint32_t slots;
    uint8_t starts[VXM_BLOCK_STARTS_BYTES];
};

/* The most slots a block of a datagram of this many bytes can hold. */
uint32_t vxm_block_max_slots(uint32_t datagram_bytes);

/* The most blocks that a unit can become. */
uint32_t vxm_block_most_per_unit(uint32_t unit_slots, uint32_t max_slots);

/* The beginning of a closed unit. */
void vxm_cursor_begin(struct vxm_cursor *cursor, const struct vxm_unit *unit);

/* Takes as many records as fit into max_slots, at least the longest one; false when none are left in the unit. */
bool vxm_block_walk(struct vxm_cursor *cursor, const struct vxm_unit *unit, uint32_t max_slots,
                    struct vxm_block *block);

/*
 * Writes the message; *covered gets the bytes before the content of slots. Returns its size. A block of at
 * most vxm_block_max_slots fits its datagram whatever the numbers are.
 */
size_t vxm_block_encode(const struct vxm_block *block, uint8_t *to, size_t *covered);

/* Copies slots to any alignment and returns their Fletcher-64 (SPEC section 3). */
uint64_t vxm_block_copy(uint8_t *to, const uint32_t *words, uint32_t slots);

#endif
