/* SPDX-License-Identifier: Apache-2.0 */
/* ARP, IPv4 without fragments and options, UDP: enough for one address on one Ethernet. Polled. */
#ifndef KERNEL_NET_H
#define KERNEL_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of headers that net_send writes before a datagram. */
#define NET_HEADROOM 42u
#define NET_MAX_DATAGRAM 1472u

struct net_peer {
    uint32_t address; /* host order */
    uint16_t port;
};

struct net_counters {
    uint32_t received;
    uint32_t sent;
    uint32_t refused; /* malformed, or not for us */
    uint32_t unsent;  /* no device, or the peer's Ethernet address is not known yet */
};

extern struct net_counters net_counters;

/* `port` is the one UDP port we receive on. */
bool net_init(uint32_t address, uint16_t port);
/* A fixed entry of the ARP table, for a peer that never sends. */
void net_set_neighbour(uint32_t address, const uint8_t ethernet[6]);
/* Takes one datagram for our port; answers ARP and ping on the way. *data is valid until the next call. */
size_t net_receive(struct net_peer *from, const uint8_t **data);
/* Sends from where the data lies; NET_HEADROOM bytes before it are overwritten. */
bool net_send(const struct net_peer *to, uint8_t *data, size_t bytes);

#endif
