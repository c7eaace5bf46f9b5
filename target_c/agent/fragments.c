/* SPDX-License-Identifier: Apache-2.0 */
#include "fragments.h"

/* A pass over the tables of a small module is about so many messages. */
#define TABLES 4u
#define REPLY TABLES

struct kept {
    struct vxm_message message; /* 0 fragments: none */
    uint32_t datagram_bytes;
    uint64_t wanted; /* bit i: fragment i is to be sent again */
};

static struct kept kept[TABLES + 1u];
static uint8_t parts[TABLES][VXM_PART_BYTES];
static unsigned next_table;

void vxm_fragments_init(void)
{
    memset(kept, 0, sizeof kept);
    next_table = 0;
}

uint8_t *vxm_fragments_part(void)
{
    return parts[next_table];
}

void vxm_fragments_keep(const struct vxm_message *message, uint32_t datagram_bytes)
{
    unsigned at = REPLY;
    if (message->channel != VXM_CHANNEL_REPLY) {
        at = next_table;
        next_table = (next_table + 1u) % TABLES;
    }
    kept[at] = (struct kept){.message = *message, .datagram_bytes = datagram_bytes};
}

/* A fragment that the network does not take is asked for again by the host. */
static bool send_fragment(const struct kept *from, uint16_t fragment)
{
    struct vxm_message message = from->message;
    message.next = fragment;
    return vxm_message_step(&message, from->datagram_bytes);
}

void vxm_fragments_repeat_reply(void)
{
    for (uint16_t i = 0; i < kept[REPLY].message.fragments; i++) {
        (void)send_fragment(&kept[REPLY], i);
    }
}

static bool is_asked_for(const struct kept *entry, const struct vxm_peer *from, const vxmon_FragmentRequest *request)
{
    const struct vxm_message *message = &entry->message;
    return message->fragments > 1u && message->channel == request->channel && message->number == request->message &&
           message->peer.address == from->address && message->peer.port == from->port;
}

void vxm_fragments_want(const struct vxm_peer *from, const vxmon_FragmentRequest *request)
{
    for (unsigned i = 0; i <= TABLES; i++) {
        uint32_t fragments = kept[i].message.fragments;
        if (is_asked_for(&kept[i], from, request)) {
            uint64_t all = fragments == VXM_FRAME_MAX_FRAGMENTS ? UINT64_MAX : ((uint64_t)1 << fragments) - 1u;
            kept[i].wanted |= request->missing & all;
        }
    }
}

enum vxm_work vxm_fragments_step(void)
{
    for (unsigned i = 0; i <= TABLES; i++) {
        for (uint16_t fragment = 0; kept[i].wanted != 0 && fragment < VXM_FRAME_MAX_FRAGMENTS; fragment++) {
            uint64_t bit = (uint64_t)1 << fragment;
            if ((kept[i].wanted & bit) == 0) {
                continue;
            }
            if (!send_fragment(&kept[i], fragment)) {
                return VXM_BLOCKED;
            }
            kept[i].wanted &= ~bit;
            return VXM_WORKED;
        }
    }
    return VXM_IDLE;
}
