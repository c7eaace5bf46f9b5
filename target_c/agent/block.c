/* SPDX-License-Identifier: Apache-2.0 */
#include "block.h"

#include <pb_encode.h>

#include "frame.h"
#include "generated/vxmon.pb.h"
#include "vxm/generated/events.h"

/*
 * The message before the content of `slots` and without the content of `starts`, at its longest:
 * run 6, stream 2, sequence 11, first_index 11, count 3, times 22, context 18, losses 35, starts 2,
 * checksum 9, slots 3.
 */
#define MESSAGE_OVERHEAD 122u

uint32_t vxm_block_max_slots(uint32_t datagram_bytes)
{
    uint32_t room = datagram_bytes - VXM_FRAME_HEADER - MESSAGE_OVERHEAD;
    uint32_t slots = room * 8u / (8u * VXM_SLOT_BYTES + 1u);
    while (slots * VXM_SLOT_BYTES + (slots + 7u) / 8u > room) {
        slots--;
    }
    return slots;
}

uint32_t vxm_block_most_per_unit(uint32_t unit_slots, uint32_t max_slots)
{
    uint32_t least = max_slots - VXM_MAX_DATA_SLOTS;
    return (unit_slots + least - 1u) / least;
}

void vxm_cursor_begin(struct vxm_cursor *cursor, const struct vxm_unit *unit, uint32_t count)
{
    cursor->next = unit->base;
    cursor->left = count;
    cursor->index = unit->first_index;
    cursor->time = unit->base_time;
    cursor->context = unit->context;
    cursor->known = unit->known;
    cursor->inside = false;
}

/* What the record of word 0 `head` makes of the context. */
static inline void follow(struct vxm_context *context, uint32_t head)
{
    switch (VXM_HEAD_ID(head)) {
    case VXM_EVENT_WINDOW:
        context->window = (uint16_t)head;
        break;
    case VXM_EVENT_PARTITION_SWITCH:
        context->partition = (uint16_t)head;
        break;
    case VXM_EVENT_TASK_SWITCH:
        context->task = (uint16_t)head;
        break;
    case VXM_EVENT_INT_ENTR:
        context->depth++;
        break;
    case VXM_EVENT_INT_EXIT:
        context->depth--;
        break;
    default:
        break;
    }
}

/* The context inside a unit: parts whose events are not recorded are not known there. */
static struct vxm_context known_context(const struct vxm_cursor *cursor)
{
    struct vxm_context context = cursor->context;
    if (!cursor->inside) {
        return context;
    }
    if (!(cursor->known & VXM_KNOWN_PARTITION)) {
        context.partition = VXM_UNNAMED;
    }
    if (!(cursor->known & VXM_KNOWN_WINDOW)) {
        context.window = VXM_UNNAMED;
    }
    if (!(cursor->known & VXM_KNOWN_TASK)) {
        context.task = VXM_UNNAMED;
    }
    if (!(cursor->known & VXM_KNOWN_DEPTH)) {
        context.depth = VXM_UNNAMED;
    }
    return context;
}

bool vxm_block_walk(struct vxm_cursor *cursor, uint32_t max_slots, struct vxm_block *block)
{
    const uint32_t *next = cursor->next;
    const uint32_t *stop = next + (size_t)max_slots * VXM_SLOT_WORDS;
    uint64_t time = cursor->time;
    uint32_t count = 0;

    if (cursor->left == 0) {
        return false;
    }
    memset(block->starts, 0, sizeof block->starts);
    block->words = next;
    block->first_index = cursor->index;
    block->context = known_context(cursor);
    block->first_time = time + (uint32_t)(next[1] - (uint32_t)time);
    while (count < cursor->left) {
        uint32_t head = next[0];
        const uint32_t *after = next + VXM_SLOT_WORDS + VXM_HEAD_DATA_WORDS(head);
        if (after > stop) {
            break;
        }
        uint32_t slot = (uint32_t)(next - block->words) / VXM_SLOT_WORDS;
        block->starts[slot / 8u] |= (uint8_t)(1u << (slot % 8u));
        time += (uint32_t)(next[1] - (uint32_t)time);
        follow(&cursor->context, head);
        count++;
        next = after;
    }
    block->last_time = time;
    block->count = count;
    block->slots = (uint32_t)(next - block->words) / VXM_SLOT_WORDS;
    cursor->next = next;
    cursor->left -= count;
    cursor->index += count;
    cursor->time = time;
    cursor->inside = true;
    return true;
}

/* A sum reduced modulo 2^32 - 1 to 0 ... 2^32 - 2. */
static uint32_t reduce(uint64_t sum)
{
    sum = (sum & 0xFFFFFFFFu) + (sum >> 32);
    sum = (sum & 0xFFFFFFFFu) + (sum >> 32);
    return sum == 0xFFFFFFFFu ? 0u : (uint32_t)sum;
}

uint64_t vxm_block_copy(uint8_t *to, const uint32_t *words, uint32_t count)
{
    /* 2^9 words at most: neither sum can pass 2^50. */
    uint64_t first = 0;
    uint64_t second = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = words[i];
        memcpy(to + (size_t)i * sizeof word, &word, sizeof word);
        first += word;
        second += first;
    }
    return (uint64_t)reduce(second) << 32 | reduce(first);
}

static bool encode_starts(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
    const struct vxm_block *block = *arg;
    return pb_encode_tag_for_field(stream, field) && pb_encode_string(stream, block->starts, (block->slots + 7u) / 8u);
}

/* Where the encoder stands; slots are copied to their place in the datagram, which ends the message. */
struct slots_place {
    const struct vxm_block *block;
    uint8_t *message;
    size_t covered;
};

static bool encode_slots(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
    struct slots_place *place = *arg;
    const struct vxm_block *block = place->block;
    size_t bytes = (size_t)block->slots * VXM_SLOT_BYTES;
    uint8_t *checksum = place->message + stream->bytes_written - sizeof(uint64_t);

    if (!pb_encode_tag_for_field(stream, field) || !pb_encode_varint(stream, bytes)) {
        return false;
    }
    place->covered = stream->bytes_written;
    if (stream->bytes_written + bytes > stream->max_size) {
        return false;
    }
    uint64_t sum = vxm_block_copy(place->message + place->covered, block->words, block->slots * VXM_SLOT_WORDS);
    for (unsigned i = 0; i < sizeof sum; i++) {
        checksum[i] = (uint8_t)(sum >> (8u * i));
    }
    return true;
}

size_t vxm_block_encode(const struct vxm_block *block, uint8_t *to, size_t room, size_t *covered)
{
    struct slots_place place = {.block = block, .message = to};
    const vxmon_Block message = {
        .run = block->run,
        .stream = block->stream,
        .sequence = block->sequence,
        .first_index = block->first_index,
        .count = block->count,
        .first_time = block->first_time,
        .last_time = block->last_time,
        .has_context = true,
        .context = {block->context.partition, block->context.window, block->context.task, block->context.depth},
        .has_losses = true,
        .losses = {block->overwritten, block->full, block->exhausted},
        .starts = {.funcs.encode = encode_starts, .arg = (void *)(uintptr_t)block},
        .checksum = 1, /* not 0, so that it is encoded; the value follows when the slots were copied */
        .slots = {.funcs.encode = encode_slots, .arg = &place},
    };
    pb_ostream_t stream = pb_ostream_from_buffer(to, room);
    if (!pb_encode(&stream, vxmon_Block_fields, &message)) {
        return 0;
    }
    *covered = place.covered;
    return place.covered + (size_t)block->slots * VXM_SLOT_BYTES;
}
