/* SPDX-License-Identifier: Apache-2.0 */
/* The other end: who controls the target, whether it is heard, where datagrams go. Agent context only. */
#ifndef VXM_AGENT_LINK_H
#define VXM_AGENT_LINK_H

#include "vxm/port.h"

void vxm_link_init(void);

/* Sends to a peer that did not ask (autostart). It controls the target until it is missed. */
void vxm_link_assume(const struct vxm_peer *peer);

/* Gives control to a peer that has shown its cookie; false when another one has it. */
bool vxm_link_take(const struct vxm_peer *peer);

/* Ends control. What is not acknowledged will not be sent again. */
void vxm_link_release(void);

/* True for the controlling host. */
bool vxm_link_is_controller(const struct vxm_peer *peer);

/* A valid datagram of the controlling host arrived. */
void vxm_link_heard(void);

/* Notices a host that is no longer heard. */
void vxm_link_tick(uint64_t now);

/* The peer of heartbeats, tables and blocks; NULL: none. */
const struct vxm_peer *vxm_link_peer(void);

/* May blocks be sent? Not to a host that is missed, unless the run is one-way. */
bool vxm_link_open(void);

#endif
