/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARP (RFC 826), IPv4 (RFC 791) without fragments and options, UDP (RFC 768), ICMP echo (RFC 792).
 * Everything that comes in is hostile until checked; each frame costs a bounded time. Answers go to
 * the Ethernet address the question came from.
 */
#include "kernel/net.h"

#include "kernel/arch.h"
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/parameters.h"

#define ETHERNET 14u
#define ARP_BYTES 28u
#define IP_HEADER 20u
#define UDP_HEADER 8u
#define MAX_FRAME 1514u
#define NEIGHBOURS 8u
#define FRAMES_A_CALL 16u /* that are not datagrams for us, before net_receive gives up for now */
#define ASK_INTERVAL_NS 100000000u
#define TYPE_IP 0x0800u
#define TYPE_ARP 0x0806u
#define PROTOCOL_ICMP 1u
#define PROTOCOL_UDP 17u

_Static_assert(NET_HEADROOM == ETHERNET + IP_HEADER + UDP_HEADER, "the headers of a datagram");

struct neighbour {
    uint32_t address; /* 0: free */
    uint8_t ethernet[6];
    bool fixed;
};

struct net_counters net_counters;

static struct neighbour neighbour[NEIGHBOURS];
static unsigned next_neighbour;
static uint32_t our_address;
static uint16_t our_port;
static bool device, taken; /* a frame is held for the caller of net_receive */
static uint16_t identification;
static uint8_t reply[MAX_FRAME + 2u] __attribute__((aligned(4)));

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
    return get16(at) << 16 | get16(at + 2);
}

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value);
}

/* RFC 1071: the sum of 16-bit words, not yet complemented. */
static uint32_t sum(uint32_t start, const uint8_t *at, size_t bytes)
{
    uint32_t total = start;

    for (; bytes > 1u; bytes -= 2u, at += 2) {
        total += get16(at);
    }
    if (bytes != 0u) {
        total += (uint32_t)at[0] << 8;
    }
    return total;
}

static uint32_t fold(uint32_t total)
{
    total = (total & 0xFFFFu) + (total >> 16);
    return (total & 0xFFFFu) + (total >> 16);
}

bool net_init(uint32_t address, uint16_t port)
{
    our_address = address;
    our_port = port;
    device = board_net_init();
    return device;
}

static struct neighbour *find_neighbour(uint32_t address)
{
    for (unsigned i = 0; i < NEIGHBOURS; i++) {
        if (neighbour[i].address == address) {
            return &neighbour[i];
        }
    }
    return NULL;
}

/* Keeps an address; the table's oldest makes room, but never a fixed one. */
static void learn(uint32_t address, const uint8_t *ethernet, bool fixed)
{
    struct neighbour *at = address != 0u ? find_neighbour(address) : NULL;

    if (address == 0u || (at != NULL && at->fixed && !fixed)) {
        return;
    }
    for (unsigned i = 0; at == NULL && i < NEIGHBOURS; i++) {
        struct neighbour *old = &neighbour[next_neighbour++ % NEIGHBOURS];
        at = old->fixed ? NULL : old;
    }
    if (at != NULL) {
        at->address = address;
        at->fixed = fixed;
        memcpy(at->ethernet, ethernet, 6);
    }
}

void net_set_neighbour(uint32_t address, const uint8_t ethernet[6])
{
    learn(address, ethernet, true);
}

/* Inline: the upload path pays for each instruction. */
static inline void put_address(uint8_t *at, const uint8_t *ethernet)
{
    put16(at, get16(ethernet));
    put16(at + 2, get16(ethernet + 2));
    put16(at + 4, get16(ethernet + 4));
}

static void put_ethernet(uint8_t *frame, const uint8_t *to, uint32_t type)
{
    put_address(frame, to);
    put_address(frame + 6, board_net_address());
    put16(frame + 12, type);
}

static void put_arp(uint8_t *frame, const uint8_t *to, uint32_t operation, const uint8_t *target, uint32_t address)
{
    uint8_t *arp = frame + ETHERNET;

    put_ethernet(frame, to, TYPE_ARP);
    put32(arp, 0x00010800u); /* Ethernet, IPv4 */
    put32(arp + 4, 0x06040000u | operation);
    memcpy(arp + 8, board_net_address(), 6);
    put32(arp + 14, our_address);
    memcpy(arp + 18, target, 6);
    put32(arp + 24, address);
}

/* Asks who has an address, at most ten times a second. */
static void ask(uint32_t address)
{
    static const uint8_t EVERYBODY[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, NOBODY[6];
    static uint64_t not_before;
    const uint64_t now = arch_time();

    if (now < not_before) {
        return;
    }
    not_before = now + ticks_of_ns(ASK_INTERVAL_NS);
    put_arp(reply, EVERYBODY, 1, NOBODY, address);
    (void)board_net_send(reply, ETHERNET + ARP_BYTES);
}

static bool take_arp(const uint8_t *frame, size_t bytes)
{
    const uint8_t *arp = frame + ETHERNET;

    if (bytes < ETHERNET + ARP_BYTES || get32(arp) != 0x00010800u || get16(arp + 4) != 0x0604u ||
        get32(arp + 24) != our_address || (arp[8] & 1u) != 0u) {
        return false;
    }
    const uint32_t operation = get16(arp + 6), sender = get32(arp + 14);
    learn(sender, arp + 8, false);
    if (operation == 1u) {
        put_arp(reply, arp + 8, 2, arp + 8, sender);
        (void)board_net_send(reply, ETHERNET + ARP_BYTES);
    }
    return operation == 1u || operation == 2u;
}

/* The IPv4 packet's size when it is one for us, whole and with a right checksum; else 0. */
static size_t check_ip(const uint8_t *frame, size_t bytes)
{
    const uint8_t *ip = frame + ETHERNET;

    if (bytes < ETHERNET + IP_HEADER || ip[0] != 0x45u) {
        return 0;
    }
    const uint32_t total = get16(ip + 2);
    const bool fragment = (get16(ip + 6) & 0x3FFFu) != 0u;
    if (total < IP_HEADER || total > bytes - ETHERNET || fragment || get32(ip + 16) != our_address ||
        fold(sum(0, ip, IP_HEADER)) != 0xFFFFu) {
        return 0;
    }
    return total;
}

/* The checksum is made from the values, not read back. */
static void put_ip(uint8_t *ip, uint32_t total, uint32_t protocol, uint32_t to)
{
    const uint32_t first = 0x45000000u | total;
    const uint32_t second = (uint32_t)identification++ << 16 | 0x4000u; /* do not fragment */
    const uint32_t life = 64u << 8 | protocol;
    const uint32_t total_sum = (first >> 16) + (first & 0xFFFFu) + (second >> 16) + (second & 0xFFFFu) + life +
                               (our_address >> 16) + (our_address & 0xFFFFu) + (to >> 16) + (to & 0xFFFFu);

    put32(ip, first);
    put32(ip + 4, second);
    put32(ip + 8, life << 16 | (~fold(total_sum) & 0xFFFFu));
    put32(ip + 12, our_address);
    put32(ip + 16, to);
}

static bool answer_echo(const uint8_t *frame, size_t total)
{
    const uint8_t *ip = frame + ETHERNET, *icmp = ip + IP_HEADER;
    const size_t bytes = total - IP_HEADER;

    if (bytes < 8u || bytes > MAX_FRAME - ETHERNET - IP_HEADER || icmp[0] != 8u ||
        fold(sum(0, icmp, bytes)) != 0xFFFFu) {
        return false;
    }
    put_ethernet(reply, frame + 6, TYPE_IP);
    put_ip(reply + ETHERNET, (uint32_t)total, PROTOCOL_ICMP, get32(ip + 12));
    uint8_t *answer = reply + ETHERNET + IP_HEADER;
    memcpy(answer, icmp, bytes);
    put32(answer, 0);
    put16(answer + 2, ~fold(sum(0, answer, bytes)));
    (void)board_net_send(reply, ETHERNET + total);
    return true;
}

static bool udp_checksum_right(const uint8_t *ip, const uint8_t *udp, uint32_t length)
{
    if (get16(udp + 6) == 0u) {
        return true;
    }
    return fold(sum(sum(PROTOCOL_UDP + length, ip + 12, 8), udp, length)) == 0xFFFFu;
}

/* Bytes of the datagram for our port in this packet, or 0. */
static size_t take_udp(const uint8_t *frame, size_t total, struct net_peer *from)
{
    const uint8_t *ip = frame + ETHERNET, *udp = ip + IP_HEADER;

    if (total < IP_HEADER + UDP_HEADER) {
        return 0;
    }
    const uint32_t length = get16(udp + 4);
    if (length <= UDP_HEADER || length > total - IP_HEADER || get16(udp + 2) != our_port ||
        !udp_checksum_right(ip, udp, length)) {
        return 0;
    }
    from->address = get32(ip + 12);
    from->port = (uint16_t)get16(udp);
    learn(from->address, frame + 6, false);
    return length - UDP_HEADER;
}

/* One frame; the bytes of a datagram when it holds one for our port, else 0. */
static size_t take(const uint8_t *frame, size_t bytes, struct net_peer *from)
{
    bool good = false;
    size_t datagram = 0;

    if (bytes >= ETHERNET && (frame[6] & 1u) == 0u) {
        if (get16(frame + 12) == TYPE_ARP) {
            good = take_arp(frame, bytes);
        } else if (get16(frame + 12) == TYPE_IP) {
            const size_t total = check_ip(frame, bytes);
            const uint8_t protocol = total != 0u ? frame[ETHERNET + 9u] : 0u;
            datagram = protocol == PROTOCOL_UDP ? take_udp(frame, total, from) : 0u;
            good = datagram != 0u || (protocol == PROTOCOL_ICMP && answer_echo(frame, total));
        }
    }
    net_counters.received += good;
    net_counters.refused += !good;
    return datagram;
}

size_t net_receive(struct net_peer *from, const uint8_t **data)
{
    const uint8_t *frame;

    if (!device) {
        return 0;
    }
    if (taken) {
        board_net_release();
        taken = false;
    }
    for (unsigned i = 0; i < FRAMES_A_CALL; i++) {
        const size_t bytes = board_net_receive(&frame);
        if (bytes == 0u) {
            return 0;
        }
        const size_t datagram = take(frame, bytes, from);
        if (datagram != 0u) {
            *data = frame + NET_HEADROOM;
            taken = true;
            return datagram;
        }
        board_net_release();
    }
    return 0;
}

bool net_send(const struct net_peer *to, uint8_t *data, size_t bytes)
{
    const struct neighbour *peer = device ? find_neighbour(to->address) : NULL;
    uint8_t *frame = data - NET_HEADROOM, *udp = data - UDP_HEADER;

    if (peer == NULL || to->address == 0u || bytes > NET_MAX_DATAGRAM) {
        net_counters.unsent++;
        if (device && to->address != 0u && bytes <= NET_MAX_DATAGRAM) {
            ask(to->address);
        }
        return false;
    }
    put_ethernet(frame, peer->ethernet, TYPE_IP);
    put_ip(frame + ETHERNET, (uint32_t)(bytes + IP_HEADER + UDP_HEADER), PROTOCOL_UDP, to->address);
    put32(udp, (uint32_t)our_port << 16 | to->port);
    put32(udp + 4, (uint32_t)(bytes + UDP_HEADER) << 16); /* checksum 0: none, as RFC 768 allows */
    const bool sent = board_net_send(frame, NET_HEADROOM + bytes);
    net_counters.sent += sent;
    net_counters.unsent += !sent;
    return sent;
}
