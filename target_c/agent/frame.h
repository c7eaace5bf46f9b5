/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams: header, CRC, fragments, and the counters of the link (SPEC section 1). Agent context only. */
#ifndef VXM_AGENT_FRAME_H
#define VXM_AGENT_FRAME_H

#include "compiler.h"
#include "vxm/port.h"

#define VXM_FRAME_MAGIC 0x56584D4Eu
#define VXM_FRAME_VERSION 1u
#define VXM_FRAME_HEADER 32u
#define VXM_FRAME_TRAILER 24u
#define VXM_FRAME_MAX 1472u
#define VXM_FRAME_MIN_LIMIT 512u
#define VXM_FRAME_DEFAULT 1400u
#define VXM_FRAME_MAX_FRAGMENTS 64u

enum vxm_channel {
    VXM_CHANNEL_COMMAND = 1,
    VXM_CHANNEL_REPLY = 2,
    VXM_CHANNEL_BLOCK = 3,
    VXM_CHANNEL_TABLE = 4,
    VXM_CHANNEL_HEARTBEAT = 5,
    VXM_CHANNEL_ACK = 6,
    VXM_CHANNEL_END = 7,
    VXM_CHANNEL_RESEND = 8,
};

/* A received datagram whose header and CRC are right. With a trailer its session and number are what it says. */
struct vxm_frame {
    uint8_t channel;
    bool authenticated;
    uint32_t boot;
    uint32_t session;
    uint32_t number;
    const uint8_t *payload;
    size_t length;
    const uint8_t *data; /* whole, trailer included */
    size_t size;
};

/* Why a datagram was refused. */
enum vxm_refusal {
    VXM_ACCEPTED,
    VXM_MALFORMED,
    VXM_NO_KEY, /* plain where a key is needed, or authenticated where there is none */
    VXM_WRONG_KEY,
    VXM_REPLAYED,  /* of another boot or session, or it came before */
    VXM_STRANGER,  /* not from the controlling host */
    VXM_UNCHECKED, /* beyond the HMACs of a period */
    VXM_REFUSALS
};

/* Since boot. */
struct vxm_frame_counters {
    uint64_t sent;
    uint64_t received;
    uint64_t refused;
    uint64_t refusals[VXM_REFUSALS]; /* by reason */
    uint64_t resent;
    uint64_t send_failed;
};
extern struct vxm_frame_counters vxm_frame_counters;

/* A message on its way: a prefix and a body that stay where they are until the last fragment is sent. */
struct vxm_message {
    struct vxm_peer peer;
    uint8_t channel;
    bool sealed; /* each fragment has a trailer */
    uint8_t prefix_size;
    uint8_t prefix[12];
    const uint8_t *body;
    size_t body_size;
    uint16_t number;
    uint16_t fragments;
    uint16_t next; /* fragment to send; == fragments: done */
};

void vxm_frame_init(uint32_t boot);

/* CRC-32 as zlib; begin with 0. */
uint32_t vxm_frame_crc(uint32_t crc, const uint8_t *data, size_t size);

/* Counts a datagram that is not served. */
void vxm_frame_refuse(enum vxm_refusal reason);

/* A number in network order. */
void vxm_frame_put32(uint8_t *to, uint32_t value);

/* Checks a datagram cheapest first; false (and counted) when it is refused. */
bool vxm_frame_check(const uint8_t *data, size_t size, struct vxm_frame *frame);

/* The payload of the datagram that is sent next; VXM_FRAME_MAX - VXM_FRAME_HEADER bytes. */
uint8_t *vxm_frame_payload(void);

/* Sends the block whose message is in vxm_frame_payload. */
bool vxm_frame_send_block(const struct vxm_peer *to, uint64_t sequence, size_t length, size_t covered);

/* Prepares a message for sending in fragments of at most `datagram_bytes`. False: it does not fit 64. */
bool vxm_message_begin(struct vxm_message *message, uint32_t datagram_bytes);

/* Sends the next fragment; false when the network did not take it. */
bool vxm_message_step(struct vxm_message *message, uint32_t datagram_bytes);

static inline bool vxm_message_done(const struct vxm_message *message)
{
    return message->next >= message->fragments;
}

/*
 * Sends a whole message of one buffer at once; false when the network did not take all of it. To the
 * controlling host it is sealed if its session has a key; _plain: to anybody, never sealed.
 */
bool vxm_frame_send(const struct vxm_peer *to, uint8_t channel, const uint8_t *body, size_t size,
                    uint32_t datagram_bytes);
bool vxm_frame_send_plain(const struct vxm_peer *to, uint8_t channel, const uint8_t *body, size_t size,
                          uint32_t datagram_bytes);

#endif
