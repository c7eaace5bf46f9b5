/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record stream: units are cut into blocks, sent, kept until acknowledged, and sent again when
 * the host misses them (SPEC section 6). Agent context only.
 */
#ifndef VXM_AGENT_UPLOAD_H
#define VXM_AGENT_UPLOAD_H

#include "block.h"
#include "generated/vxmon.pb.h"
#include "state.h"

#define VXM_UPLOAD_MAX_BLOCKS 32u

/* A unit that was cut, at least in part. It is stale when the recorder has taken the unit again. */
struct vxm_cut {
    struct vxm_unit *unit;
    uint64_t first_index; /* the unit's when it was cut: tells a unit from its later use */
    uint64_t first_block;
    uint64_t overwritten;  /* records of the stream that were overwritten before the unit began */
    uint64_t dropped;      /* and that found no unit */
    uint32_t acknowledged; /* bit i: block first_block + i is stored by the host */
    uint32_t sent_at;      /* low 32 bits of the clock when one of its blocks was sent last */
    uint8_t blocks;
    bool whole; /* all records are in blocks */
    bool done;  /* released */
};
#define VXM_UPLOAD_ENTRY_BYTES sizeof(struct vxm_cut)

/* Begins the upload of a new run with room for `units` entries. */
void vxm_upload_reset(unsigned stream, void *memory, uint32_t units, uint32_t datagram_bytes);

/* Sends at most one block. */
enum vxm_work vxm_upload_step(void);

/* Takes what the host says it has. False when it cannot be right. */
bool vxm_upload_acknowledge(const vxmon_StreamAck *ack);

/* Another host takes over: what is held must be sent to it, whatever the one before has. */
void vxm_upload_forget_acknowledgements(void);

/* The figures of a stream, as of one instant. */
void vxm_upload_state(unsigned stream, vxmon_StreamState *state);

/* True while a block must still be cut, sent or acknowledged. */
bool vxm_upload_busy(void);

/* True while a record of a closed or filling unit is not cut. */
bool vxm_upload_uncut(void);

#endif
