/* SPDX-License-Identifier: Apache-2.0 */
/* Cookies of the handshake: bound to an address, not guessable, nothing to be kept for them. */
#ifndef VXM_AGENT_COOKIE_H
#define VXM_AGENT_COOKIE_H

#include "vxm/port.h"

void vxm_cookie_init(uint64_t entropy);

/* The cookie of an address at an instant (ticks); never 0. */
uint64_t vxm_cookie_make(const struct vxm_peer *peer, uint64_t now);

/* True for a cookie given to this address in this period or the one before (16 s each). */
bool vxm_cookie_check(const struct vxm_peer *peer, uint64_t cookie, uint64_t now);

#endif
