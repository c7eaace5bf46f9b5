/* SPDX-License-Identifier: Apache-2.0 */
#include "block.h"

#include "frame.h"
#include "generated/vxmon.pb.h"
#include "vxm/generated/events.h"

/*
 * The message before the content of `slots` and without the content of `starts`, at its longest:
 * run 6, stream 2, sequence 11, first_index 11, count 3, times 22, context 18, losses 35, starts 2,
 * checksum 9, slots 3.
 */
#define MESSAGE_OVERHEAD 122u
/* The field of the checksum: tag and fixed64. */
#define CHECKSUM_BYTES 9u
/* Words of the slots whose start bits are stored together. */
#define GROUP_WORDS (32u * VXM_SLOT_WORDS)

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

void vxm_cursor_begin(struct vxm_cursor *cursor, const struct vxm_unit *unit)
{
    cursor->next = unit->base;
    cursor->end = unit->end;
    cursor->index = unit->first_index;
    cursor->time = unit->base_time;
    cursor->context = unit->context;
    cursor->known = unit->known;
    cursor->inside = false;
}

/* Could the record of word 0 `head` be one that `follow` knows? Most are not. */
static inline bool changes_context(uint32_t head)
{
    return head - VXM_HEAD(VXM_EVENT_WINDOW, 0, 0) < VXM_HEAD(VXM_EVENT_INT_EXIT + 1 - VXM_EVENT_WINDOW, 0, 0);
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

/* Stores a word with its lowest byte first: also the start bits of 32 slots, of which bit i is that of slot i. */
static inline uint8_t *store_little(uint8_t *to, uint32_t word)
{
    to[0] = (uint8_t)word;
    to[1] = (uint8_t)(word >> 8);
    to[2] = (uint8_t)(word >> 16);
    to[3] = (uint8_t)(word >> 24);
    return to + 4;
}

static inline uint32_t ones_in(uint32_t bits)
{
    bits -= (bits >> 1) & 0x55555555u;
    bits = (bits & 0x33333333u) + ((bits >> 2) & 0x33333333u);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0Fu;
    return (bits * 0x01010101u) >> 24;
}

/* The bit of the slot at `at` among 32 that follow each other in memory, wherever they begin. */
static inline uint32_t bit_of(const uint32_t *at)
{
    return 1u << ((uintptr_t)at / VXM_SLOT_BYTES % 32u);
}

/*
 * The loop of the walk, paid for once a record, so it does nothing else: marks the records that begin below `limit`,
 * which also end below what is to be walked, and moves the cursor behind them.
 */
static inline uint32_t mark_until(const uint32_t *limit, struct vxm_cursor *cursor)
{
    const uint32_t *next = cursor->next;
    uint32_t bits = 0;

    while (next < limit) {
        uint32_t head = *next;
        bits |= bit_of(next);
        if (changes_context(head)) {
            follow(&cursor->context, head);
        }
        next += VXM_HEAD_DATA_WORDS(head) + VXM_SLOT_WORDS;
    }
    cursor->next = next;
    return bits;
}

/* The same for the last slots, where a record may be longer than what is left: it begins the next block. */
static uint32_t mark_last(const uint32_t *limit, const uint32_t *stop, struct vxm_cursor *cursor)
{
    uint32_t bits = 0;
    while (cursor->next < limit) {
        const uint32_t *next = cursor->next;
        if ((size_t)(stop - next) < VXM_HEAD_DATA_WORDS(*next) + VXM_SLOT_WORDS) {
            break;
        }
        bits |= mark_until(next + 1, cursor);
    }
    return bits;
}

/*
 * Marks the records up to `stop`, 32 slots at a time. Bits are first set by their place in memory and then turned so
 * that the block's first slot is bit 0.
 */
static void mark_records(const uint32_t *stop, struct vxm_cursor *cursor, struct vxm_block *block)
{
    const uint32_t *group = cursor->next;
    const uint32_t turn = (uint32_t)((uintptr_t)group / VXM_SLOT_BYTES % 32u);
    uint8_t *starts = block->starts;
    bool more = true;

    block->count = 0;
    while (more) {
        const size_t left = (size_t)(stop - group);
        const uint32_t *end = group + (left < GROUP_WORDS ? left : GROUP_WORDS);
        /* What begins below fits whatever its length. */
        const uint32_t *sure = left < VXM_MAX_RECORD_WORDS ? group : stop - VXM_MAX_RECORD_WORDS;
        uint32_t bits = mark_until(sure < end ? sure : end, cursor);
        bits |= mark_last(end, stop, cursor);
        bits = bits >> turn | (bits << 1) << (31u - turn);
        if (bits != 0) {
            block->last_words = group + (31u - (uint32_t)__builtin_clz(bits)) * VXM_SLOT_WORDS;
        }
        starts = store_little(starts, bits);
        block->count += ones_in(bits);
        more = cursor->next >= end && end < stop;
        group = end;
    }
}

bool vxm_block_walk(struct vxm_cursor *cursor, uint32_t max_slots, struct vxm_block *block)
{
    const uint32_t *begin = cursor->next;
    const uint32_t *stop = begin + (size_t)max_slots * VXM_SLOT_WORDS;
    if (begin >= cursor->end) {
        return false;
    }
    block->words = begin;
    block->first_index = cursor->index;
    block->context = known_context(cursor);
    mark_records(stop < cursor->end ? stop : cursor->end, cursor, block);
    block->slots = (uint32_t)(cursor->next - begin) / VXM_SLOT_WORDS;
    /* A unit spans less than 2^31 ticks, so each time follows from any other. */
    block->first_time = cursor->time + (uint32_t)(begin[1] - (uint32_t)cursor->time);
    block->last_time = cursor->time + (uint32_t)(block->last_words[1] - (uint32_t)cursor->time);
    cursor->index += block->count;
    cursor->time = block->last_time;
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

/* Copies a slot and adds its words to both sums. */
static inline void copy_slot(uint8_t *to, const uint32_t *words, uint64_t *first, uint64_t *second)
{
    uint32_t a = words[0];
    uint32_t b = words[1];
    VXM_COPY(to, &a, sizeof a);
    VXM_COPY(to + sizeof a, &b, sizeof b);
    *first += a;
    *second += *first;
    *first += b;
    *second += *first;
}

uint64_t vxm_block_copy(uint8_t *to, const uint32_t *words, uint32_t slots)
{
    /* 2^9 words at most: neither sum can pass 2^50. */
    uint64_t first = 0;
    uint64_t second = 0;
    for (; slots >= 4u; slots -= 4u) {
        copy_slot(to, words, &first, &second);
        copy_slot(to + 8, words + 2, &first, &second);
        copy_slot(to + 16, words + 4, &first, &second);
        copy_slot(to + 24, words + 6, &first, &second);
        words += 8;
        to += 32;
    }
    for (; slots != 0; slots--) {
        copy_slot(to, words, &first, &second);
        words += 2;
        to += 8;
    }
    return (uint64_t)reduce(second) << 32 | reduce(first);
}

/*
 * The message is written by hand, with the field numbers of the generated header: nanopb's encoder, which
 * serves every other message, takes eight thousand instructions for this one, more than all else of
 * a block. Zero is the default and is left out, as protobuf does it.
 */
static uint8_t *put_varint(uint8_t *to, uint64_t value)
{
    uint32_t low = (uint32_t)value;
    while (value >> 28 != 0) {
        to[0] = (uint8_t)(low | 0x80u);
        to[1] = (uint8_t)(low >> 7 | 0x80u);
        to[2] = (uint8_t)(low >> 14 | 0x80u);
        to[3] = (uint8_t)(low >> 21 | 0x80u);
        to += 4;
        value >>= 28;
        low = (uint32_t)value;
    }
    while (low >= 0x80u) {
        *to++ = (uint8_t)(low | 0x80u);
        low >>= 7;
    }
    *to++ = (uint8_t)low;
    return to;
}

static inline uint8_t *put_number(uint8_t *to, uint32_t tag, uint64_t value)
{
    if (value == 0) {
        return to;
    }
    *to++ = (uint8_t)(tag << 3 | PB_WT_VARINT);
    return put_varint(to, value);
}

static inline uint8_t *put_length(uint8_t *to, uint32_t tag, uint32_t length)
{
    *to++ = (uint8_t)(tag << 3 | PB_WT_STRING);
    return put_varint(to, length);
}

/* A message of less than 128 bytes begins with one byte of length, which is set when its end is known. */
static inline uint8_t *begin_message(uint8_t *to, uint32_t tag)
{
    *to = (uint8_t)(tag << 3 | PB_WT_STRING);
    return to + 2;
}

static uint8_t *put_context(uint8_t *to, const struct vxm_context *context)
{
    uint8_t *begin = begin_message(to, vxmon_Block_context_tag);
    uint8_t *end = put_number(begin, vxmon_Context_partition_tag, context->partition);
    end = put_number(end, vxmon_Context_window_tag, context->window);
    end = put_number(end, vxmon_Context_task_tag, context->task);
    end = put_number(end, vxmon_Context_depth_tag, context->depth);
    begin[-1] = (uint8_t)(end - begin);
    return end;
}

static uint8_t *put_losses(uint8_t *to, const struct vxm_block *block)
{
    uint8_t *begin = begin_message(to, vxmon_Block_losses_tag);
    uint8_t *end = put_number(begin, vxmon_Losses_overwritten_tag, block->overwritten);
    end = put_number(end, vxmon_Losses_full_tag, block->full);
    end = put_number(end, vxmon_Losses_exhausted_tag, block->exhausted);
    begin[-1] = (uint8_t)(end - begin);
    return end;
}

static uint8_t *put_starts(uint8_t *to, const struct vxm_block *block)
{
    uint32_t bytes = (block->slots + 7u) / 8u;
    to = put_length(to, vxmon_Block_starts_tag, bytes);
    /* By whole words: what follows is written later. */
    for (uint32_t i = 0; i < bytes; i += 4u) {
        VXM_COPY(to + i, block->starts + i, 4u);
    }
    return to + bytes;
}

/* All before the starts. */
static uint8_t *put_numbers(uint8_t *to, const struct vxm_block *block)
{
    to = put_number(to, vxmon_Block_run_tag, block->run);
    to = put_number(to, vxmon_Block_stream_tag, block->stream);
    to = put_number(to, vxmon_Block_sequence_tag, block->sequence);
    to = put_number(to, vxmon_Block_first_index_tag, block->first_index);
    to = put_number(to, vxmon_Block_count_tag, block->count);
    to = put_number(to, vxmon_Block_first_time_tag, block->first_time);
    to = put_number(to, vxmon_Block_last_time_tag, block->last_time);
    to = put_context(to, &block->context);
    return put_losses(to, block);
}

/* The checksum lies before the slots, and is known when they were copied to their place. */
static void put_checksum(uint8_t *to, uint64_t sum)
{
    *to++ = vxmon_Block_checksum_tag << 3 | PB_WT_64BIT;
    to = store_little(to, (uint32_t)sum);
    (void)store_little(to, (uint32_t)(sum >> 32));
}

size_t vxm_block_encode(const struct vxm_block *block, uint8_t *to, size_t *covered)
{
    uint8_t *checksum = put_starts(put_numbers(to, block), block);
    uint32_t bytes = block->slots * VXM_SLOT_BYTES;
    uint8_t *slots = put_length(checksum + CHECKSUM_BYTES, vxmon_Block_slots_tag, bytes);

    put_checksum(checksum, vxm_block_copy(slots, block->words, block->slots));
    *covered = (size_t)(slots - to);
    return *covered + bytes;
}
