/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of life, and the final figures of a run (SPEC section 7, channels HEARTBEAT and END). */
#ifndef VXM_AGENT_HEARTBEAT_H
#define VXM_AGENT_HEARTBEAT_H

#include "generated/vxmon.pb.h"
#include "state.h"

void vxm_heartbeat_init(void);

/* The next one at the next step, because something changed. */
void vxm_heartbeat_soon(void);

/* Time of the host's heartbeat that was received last. */
void vxm_heartbeat_echo(uint64_t host_time);

/* Sends what is due: a heartbeat, or an END message. */
enum vxm_work vxm_heartbeat_step(uint64_t now);

/* Sends END three times, in one-way runs after the last block. */
void vxm_end_begin(void);
void vxm_end_cancel(void);
bool vxm_end_pending(void);

/* The final figures of the last run. */
void vxm_end_fill(vxmon_End *end);

#endif
