/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel without a monitor (VXM=0): what everything costs is measured against this. */
#include "kernel/monitor.h"
#include "kernel/net.h"

void monitor_init(void)
{
}

/* Datagrams are answered by nobody, but ARP and ping are. */
bool monitor_step(uint64_t deadline)
{
    struct net_peer from;
    const uint8_t *data;

    (void)deadline;
    return net_receive(&from, &data) != 0u;
}

void monitor_finish(void)
{
}
