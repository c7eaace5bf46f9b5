/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sent it: HMACs over the host's datagrams and ours, sessions, and the guard against replays (SPEC
 * section 10). Without a key everything here lets pass and seals nothing. Agent context only.
 */
#ifndef VXM_AGENT_AUTH_H
#define VXM_AGENT_AUTH_H

#include "frame.h"
#include "generated/vxmon.pb.h"

/* Takes the port's key; VXM_ERR_ARGUMENT for one of a length that is not allowed. */
int vxm_auth_init(uint64_t entropy);

/* Only hosts with the key are served. */
bool vxm_auth_needed(void);

/* What a host must cover with its HMAC to begin the next session. */
void vxm_auth_challenge(vxmon_Challenge *challenge);

/* Checks a hello whose cookie is right. */
enum vxm_refusal vxm_auth_check_hello(const struct vxm_frame *frame);

/* Checks any other datagram; a new number is taken. */
enum vxm_refusal vxm_auth_check(const struct vxm_frame *frame, bool from_controller);

/* A datagram that claims to belong to the session that is open. */
bool vxm_auth_in_session(const struct vxm_frame *frame);

/* Begins the next session with the hello that was checked last; the one before ends. */
void vxm_auth_open(const struct vxm_frame *hello);
void vxm_auth_close(void);

/* Are datagrams of this channel to the controlling host sealed now? */
bool vxm_auth_seals(uint8_t channel);

/* Writes the trailer behind a datagram of `size` bytes; there must be room. */
void vxm_auth_seal(uint8_t *data, size_t size);

#endif
