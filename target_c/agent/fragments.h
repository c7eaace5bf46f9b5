/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of several fragments are kept for a while after they were sent, so that the host can ask for
 * the fragments that it lacks (SPEC section 7). Agent context only.
 */
#ifndef VXM_AGENT_FRAGMENTS_H
#define VXM_AGENT_FRAGMENTS_H

#include "frame.h"
#include "generated/vxmon.pb.h"
#include "state.h"

/* Largest body of a table message that is made while a pass runs. */
#define VXM_PART_BYTES 4096u

void vxm_fragments_init(void);

/* The memory in which the body of the next table message is made; it is not used again before three more. */
uint8_t *vxm_fragments_part(void);

/* Keeps a message that vxm_message_begin has prepared, in place of the oldest of its channel. */
void vxm_fragments_keep(const struct vxm_message *message, uint32_t datagram_bytes);

/* Sends the reply that is kept, whole, under its old number. */
void vxm_fragments_repeat_reply(void);

/* The host lacks these fragments (bit i: fragment i) of a message. One that is not kept is no error. */
void vxm_fragments_want(const struct vxm_peer *from, const vxmon_FragmentRequest *request);

/* Sends at most one fragment that was asked for. */
enum vxm_work vxm_fragments_step(void);

#endif
