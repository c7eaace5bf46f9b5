/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts send: commands, acknowledgements, heartbeats. Agent context only. */
#ifndef VXM_AGENT_COMMAND_H
#define VXM_AGENT_COMMAND_H

#include "state.h"

void vxm_command_init(void);

/* Takes one datagram from the port and serves it. */
enum vxm_work vxm_command_step(void);

#endif
