/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include "auth.h"

#define CHANNELS 8u
#define CRC_POLYNOMIAL 0xEDB88320u
#define CRC_SLICES 4u
#define CRC_OFFSET 28u
#define FIXED_BYTES 12u
#define FLAG_BIG_ENDIAN 1u
#define FLAG_AUTHENTICATED 2u

struct vxm_frame_counters vxm_frame_counters;

static uint32_t boot_id;
static uint32_t sequences[CHANNELS];
static uint16_t message_number;
static uint32_t crc_table[CRC_SLICES][256];
/* Each slice by a pointer of its own, which is in a register where the CRC is made. */
static const uint32_t *crc_slice[CRC_SLICES];
static uint32_t block_crc; /* of the beginning of a block's header */

static struct {
    _Alignas(8) uint8_t headroom[VXM_PORT_HEADROOM];
    uint8_t datagram[VXM_FRAME_MAX];
} transmit;

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1u) ? CRC_POLYNOMIAL : 0u);
        }
        crc_table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++) {
        for (unsigned slice = 1; slice < CRC_SLICES; slice++) {
            uint32_t before = crc_table[slice - 1][i];
            crc_table[slice][i] = (before >> 8) ^ crc_table[0][before & 0xFFu];
        }
    }
    for (unsigned slice = 0; slice < CRC_SLICES; slice++) {
        crc_slice[slice] = crc_table[slice];
    }
}

static inline uint32_t little_word(const uint8_t *data)
{
    return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

uint32_t vxm_frame_crc(uint32_t crc, const uint8_t *data, size_t size)
{
    const uint32_t *a = crc_slice[0];
    const uint32_t *b = crc_slice[1];
    const uint32_t *c = crc_slice[2];
    const uint32_t *d = crc_slice[3];

    crc = ~crc;
    for (; size >= 4; size -= 4, data += 4) {
        crc ^= little_word(data);
        crc = d[crc & 0xFFu] ^ c[(crc >> 8) & 0xFFu] ^ b[(crc >> 16) & 0xFFu] ^ a[crc >> 24];
    }
    for (; size > 0; size--, data++) {
        crc = (crc >> 8) ^ a[(crc ^ *data) & 0xFFu];
    }
    return ~crc;
}

static inline uint32_t get16(const uint8_t *from)
{
    return (uint32_t)from[0] << 8 | from[1];
}

static inline uint32_t get32(const uint8_t *from)
{
    return get16(from) << 16 | get16(from + 2);
}

static inline void put16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

void vxm_frame_put32(uint8_t *to, uint32_t value)
{
    put16(to, value >> 16);
    put16(to + 2, value);
}

void vxm_frame_refuse(enum vxm_refusal reason)
{
    vxm_frame_counters.refused++;
    vxm_frame_counters.refusals[reason]++;
}

/* Bytes of header and payload; 0: not even a trailer fits. */
static size_t plain_size(const uint8_t *data, size_t size)
{
    size_t trailer = (data[5] & FLAG_AUTHENTICATED) != 0 ? VXM_FRAME_TRAILER : 0;
    return size >= VXM_FRAME_HEADER + trailer ? size - trailer : 0;
}

/* Host datagrams are one fragment, and everything is covered by the CRC. */
static bool header_is_right(const uint8_t *data, size_t size)
{
    uint32_t header = data[7];
    return get32(data) == VXM_FRAME_MAGIC && data[4] == VXM_FRAME_VERSION && header >= VXM_FRAME_HEADER &&
           header <= size && get16(data + 20) == size - header && get16(data + 22) == size - header &&
           get16(data + 16) == 0 && get16(data + 18) == 1;
}

static bool crc_is_right(const uint8_t *data, size_t size)
{
    uint32_t crc = vxm_frame_crc(0, data, CRC_OFFSET);
    return vxm_frame_crc(crc, data + data[7], size - data[7]) == get32(data + CRC_OFFSET);
}

static enum vxm_refusal check(const uint8_t *data, size_t size)
{
    if (size < VXM_FRAME_HEADER || size > VXM_FRAME_MAX) {
        return VXM_MALFORMED;
    }
    size_t plain = plain_size(data, size);
    if (!header_is_right(data, plain) || !crc_is_right(data, plain)) {
        return VXM_MALFORMED;
    }
    return get32(data + 8) != 0 && get32(data + 8) != boot_id ? VXM_REPLAYED : VXM_ACCEPTED;
}

bool vxm_frame_check(const uint8_t *data, size_t size, struct vxm_frame *frame)
{
    vxm_frame_counters.received++;
    enum vxm_refusal refusal = check(data, size);
    if (refusal != VXM_ACCEPTED) {
        vxm_frame_refuse(refusal);
        return false;
    }
    size_t plain = plain_size(data, size);
    memset(frame, 0, sizeof *frame);
    frame->channel = data[6];
    frame->boot = get32(data + 8);
    frame->payload = data + data[7];
    frame->length = plain - data[7];
    frame->data = data;
    frame->size = size;
    if (plain != size) {
        frame->authenticated = true;
        frame->session = get32(data + plain);
        frame->number = get32(data + plain + 4u);
    }
    return true;
}

uint8_t *vxm_frame_payload(void)
{
    return transmit.datagram + VXM_FRAME_HEADER;
}

/* What differs between headers. */
struct header {
    uint8_t channel;
    bool sealed;
    uint32_t sequence;
    uint32_t fragment;
    uint32_t fragments;
    uint32_t message;
};

/* What no two datagrams of a channel differ in, FIXED_BYTES. */
static inline void put_fixed(uint8_t *data, uint8_t channel, bool sealed)
{
    vxm_frame_put32(data, VXM_FRAME_MAGIC);
    data[4] = VXM_FRAME_VERSION;
    data[5] = (uint8_t)((VXM_PORT_BIG_ENDIAN ? FLAG_BIG_ENDIAN : 0u) | (sealed ? FLAG_AUTHENTICATED : 0u));
    data[6] = channel;
    data[7] = VXM_FRAME_HEADER;
    vxm_frame_put32(data + 8, boot_id);
}

void vxm_frame_init(uint32_t boot)
{
    uint8_t fixed[FIXED_BYTES];

    boot_id = boot;
    message_number = 0;
    memset(sequences, 0, sizeof sequences);
    memset(&vxm_frame_counters, 0, sizeof vxm_frame_counters);
    make_crc_table();
    put_fixed(fixed, VXM_CHANNEL_BLOCK, false);
    block_crc = vxm_frame_crc(0, fixed, sizeof fixed);
}

/* The rest of the header; `crc` is that of the fixed bytes. */
static inline void put_header(uint8_t *data, const struct header *header, size_t length, size_t covered, uint32_t crc)
{
    vxm_frame_put32(data + 12, header->sequence);
    put16(data + 16, header->fragment);
    put16(data + 18, header->fragments);
    put16(data + 20, (uint32_t)length);
    put16(data + 22, (uint32_t)covered);
    put16(data + 24, header->message);
    put16(data + 26, 0);
    crc = vxm_frame_crc(crc, data + FIXED_BYTES, CRC_OFFSET - FIXED_BYTES);
    vxm_frame_put32(data + CRC_OFFSET, vxm_frame_crc(crc, data + VXM_FRAME_HEADER, covered));
}

static bool pass_on(const struct vxm_peer *to, uint8_t *data, size_t size)
{
    if (!vxm_port_send(to, data, size)) {
        vxm_frame_counters.send_failed++;
        return false;
    }
    vxm_frame_counters.sent++;
    return true;
}

static bool transmit_frame(const struct vxm_peer *to, const struct header *header, size_t length)
{
    uint8_t *data = transmit.datagram;
    size_t size = VXM_FRAME_HEADER + length;

    put_fixed(data, header->channel, header->sealed);
    put_header(data, header, length, length, vxm_frame_crc(0, data, FIXED_BYTES));
    if (header->sealed) {
        vxm_auth_seal(data, size);
        size += VXM_FRAME_TRAILER;
    }
    return pass_on(to, data, size);
}

bool vxm_frame_send_block(const struct vxm_peer *to, uint64_t sequence, size_t length, size_t covered)
{
    uint8_t *data = transmit.datagram;
    const struct header header = {
        .channel = VXM_CHANNEL_BLOCK,
        .sequence = (uint32_t)sequence,
        .fragments = 1,
        .message = (uint16_t)sequence,
    };
    put_fixed(data, VXM_CHANNEL_BLOCK, false);
    put_header(data, &header, length, covered, block_crc);
    return pass_on(to, data, VXM_FRAME_HEADER + length);
}

/* Bytes of the message in a datagram of that size. */
static size_t room_of(const struct vxm_message *message, uint32_t datagram_bytes)
{
    return datagram_bytes - VXM_FRAME_HEADER - (message->sealed ? VXM_FRAME_TRAILER : 0u);
}

bool vxm_message_begin(struct vxm_message *message, uint32_t datagram_bytes)
{
    size_t room = room_of(message, datagram_bytes);
    size_t size = message->prefix_size + message->body_size;
    size_t fragments = size == 0 ? 1 : (size + room - 1) / room;

    message->next = 0;
    message->fragments = 0;
    if (fragments > VXM_FRAME_MAX_FRAGMENTS) {
        return false;
    }
    message->fragments = (uint16_t)fragments;
    message->number = message_number++;
    return true;
}

/* Bytes `from` ... `from + size` of the prefix followed by the body. */
static void gather(uint8_t *to, const struct vxm_message *message, size_t from, size_t size)
{
    size_t head = 0;
    if (from < message->prefix_size) {
        head = message->prefix_size - from;
        head = head < size ? head : size;
        memcpy(to, message->prefix + from, head);
    }
    if (size > head) {
        memcpy(to + head, message->body + (from + head - message->prefix_size), size - head);
    }
}

bool vxm_message_step(struct vxm_message *message, uint32_t datagram_bytes)
{
    size_t room = room_of(message, datagram_bytes);
    size_t from = message->next * room;
    size_t left = message->prefix_size + message->body_size - from;
    size_t size = left < room ? left : room;
    const struct header header = {
        .channel = message->channel,
        .sealed = message->sealed,
        .sequence = sequences[message->channel % CHANNELS],
        .fragment = message->next,
        .fragments = message->fragments,
        .message = message->number,
    };

    gather(vxm_frame_payload(), message, from, size);
    if (!transmit_frame(&message->peer, &header, size)) {
        return false;
    }
    sequences[message->channel % CHANNELS]++;
    message->next++;
    return true;
}

static bool send_message(struct vxm_message *message, uint32_t datagram_bytes)
{
    if (!vxm_message_begin(message, datagram_bytes)) {
        return false;
    }
    while (!vxm_message_done(message)) {
        if (!vxm_message_step(message, datagram_bytes)) {
            return false;
        }
    }
    return true;
}

bool vxm_frame_send(const struct vxm_peer *to, uint8_t channel, const uint8_t *body, size_t size,
                    uint32_t datagram_bytes)
{
    struct vxm_message message = {
        .peer = *to,
        .channel = channel,
        .sealed = vxm_auth_seals(channel),
        .body = body,
        .body_size = size,
    };
    return send_message(&message, datagram_bytes);
}

bool vxm_frame_send_plain(const struct vxm_peer *to, uint8_t channel, const uint8_t *body, size_t size,
                          uint32_t datagram_bytes)
{
    struct vxm_message message = {.peer = *to, .channel = channel, .body = body, .body_size = size};
    return send_message(&message, datagram_bytes);
}
