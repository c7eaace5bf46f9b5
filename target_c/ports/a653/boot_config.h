/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's configuration from the boot parameters release, port, autostart, peer and config.
 *
 *   release=2.2|2.4   the OS release that is played (default 2.4)
 *   autostart=1       recording begins at boot, with `config`, towards `peer`
 *   peer=A.B.C.D:PORT[@xx:xx:xx:xx:xx:xx]   with the Ethernet address no answer to ARP is needed
 *   config=KEY:VALUE[,KEY:VALUE...]   datagram, unit, units, highwater, flush (ms), ms (stop by itself), oneway (0|1),
 *                     noupload (0|1), policy (ring|linear), on and off (event ids: ID or ID-ID, joined by +; `on`
 *                     leaves only these, `off` takes away)
 */
#ifndef VXM_A653_BOOT_CONFIG_H
#define VXM_A653_BOOT_CONFIG_H

#include "vxm/agent.h"

/* Fills everything; what cannot be understood ends the boot in words. */
void boot_config(struct vxm_agent_config *config);

#endif
