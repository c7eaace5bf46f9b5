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
/* Word 0 of records from here on is of events behind those that `follow` knows. */
#define FIRST_NOT_FOLLOWED VXM_HEAD(VXM_EVENT_INT_EXIT + 1, 0, 0)

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
    cursor->index = unit->first_index;
    cursor->time = unit->base_time;
    cursor->context = unit->context;
}

_Static_assert(VXM_EVENT_WINDOW < VXM_EVENT_TASK_SWITCH && VXM_EVENT_PARTITION_SWITCH < VXM_EVENT_TASK_SWITCH &&
                   VXM_EVENT_TASK_SWITCH < VXM_EVENT_INT_ENTR && VXM_EVENT_INT_EXIT == VXM_EVENT_INT_ENTR + 1,
               "the order that `follow` relies on");

/* Could the record of word 0 `head` be one that `follow` knows? Most are of events behind those. */
static inline bool changes_context(uint32_t head)
{
    return head < FIRST_NOT_FOLLOWED;
}

/* What the record of word 0 `head` makes of the context. In this order because of the many events of class TASK. */
static inline void follow(struct vxm_context *context, uint32_t head)
{
    if (head >= VXM_HEAD(VXM_EVENT_TASK_SWITCH + 1, 0, 0)) {
        if (head >= VXM_HEAD(VXM_EVENT_INT_EXIT, 0, 0)) {
            context->depth--;
        } else if (head >= VXM_HEAD(VXM_EVENT_INT_ENTR, 0, 0)) {
            context->depth++;
        }
    } else if (head >= VXM_HEAD(VXM_EVENT_TASK_SWITCH, 0, 0)) {
        context->task = (uint16_t)head;
    } else if (VXM_HEAD_ID(head) == VXM_EVENT_PARTITION_SWITCH) {
        context->partition = (uint16_t)head;
    } else if (VXM_HEAD_ID(head) == VXM_EVENT_WINDOW) {
        context->window = (uint16_t)head;
    }
}

/* The context inside a unit: parts whose events are not recorded are not known there. */
static struct vxm_context known_context(const struct vxm_cursor *cursor, const struct vxm_unit *unit)
{
    struct vxm_context context = cursor->context;
    if (cursor->next == unit->base) {
        return context;
    }
    if (!(unit->known & VXM_KNOWN_PARTITION)) {
        context.partition = VXM_UNNAMED;
    }
    if (!(unit->known & VXM_KNOWN_WINDOW)) {
        context.window = VXM_UNNAMED;
    }
    if (!(unit->known & VXM_KNOWN_TASK)) {
        context.task = VXM_UNNAMED;
    }
    if (!(unit->known & VXM_KNOWN_DEPTH)) {
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

/* How many bits of each byte are set. */
static inline uint32_t ones_by_byte(uint32_t bits)
{
    bits -= (bits >> 1) & 0x55555555u;
    bits = (bits & 0x33333333u) + ((bits >> 2) & 0x33333333u);
    return (bits + (bits >> 4)) & 0x0F0F0F0Fu;
}

static inline uint32_t rotate_left(uint32_t bits, uint32_t by)
{
    return bits << (by & 31u) | bits >> (-by & 31u);
}

/* The number of the slot at `at` among 32 that follow each other in memory, wherever they begin. */
static inline uint32_t place_of(const uint32_t *at)
{
    return (uint32_t)((uintptr_t)at / VXM_SLOT_BYTES % 32u);
}

static inline uint32_t bit_of(const uint32_t *at)
{
    return 1u << place_of(at);
}

/*
 * Zero for a record of one slot that changes nothing. One subtraction serves both: it makes events that may be followed
 * negative, and those above 609 too, which costs them a little time.
 */
static inline uint32_t not_plain(uint32_t head)
{
    return (head - FIRST_NOT_FOLLOWED) & (0x80000000u | VXM_HEAD_SLOTS_MASK);
}

/* Passes plain records by fours: the usual ones where one event comes much more often than all others. */
static inline const uint32_t *pass_plain(const uint32_t *at, const uint32_t *limit)
{
    while (limit - at >= 4 * (ptrdiff_t)VXM_SLOT_WORDS &&
           (not_plain(at[0]) | not_plain(at[2]) | not_plain(at[4]) | not_plain(at[6])) == 0) {
        at += 4 * VXM_SLOT_WORDS;
    }
    return at;
}

/* The bits of the slots from `at` to `end`, at most 32. */
static inline uint32_t bits_between(const uint32_t *at, const uint32_t *end)
{
    uint32_t slots = (uint32_t)(end - at) / VXM_SLOT_WORDS;
    return slots == 0 ? 0 : rotate_left(UINT32_MAX >> (32u - slots), place_of(at));
}

/*
 * The loop of the walk, paid for once a record, so it does nothing else: marks the records that begin from `at` on and
 * before `limit`, at most 32 slots behind, by place in memory. Returns the end of the last of them.
 */
static inline const uint32_t *mark_until(const uint32_t *limit, const uint32_t *at, uint32_t *marks,
                                         struct vxm_context *context)
{
    uint32_t bits = *marks;

    if (at < limit && not_plain(*at) == 0) {
        const uint32_t *plain = pass_plain(at, limit);
        bits |= bits_between(at, plain);
        at = plain;
    }
    while (at < limit) {
        uint32_t head = *at;
        bits |= bit_of(at);
        if (changes_context(head)) {
            follow(context, head);
        }
        at += VXM_HEAD_DATA_WORDS(head) + VXM_SLOT_WORDS;
    }
    *marks = bits;
    return at;
}

/* The end of the last record that ends at `stop` or before. There is one at `next`, and one at `stop` or across it. */
static const uint32_t *end_of_last(const uint32_t *next, const uint32_t *stop)
{
    const uint32_t *end = next;
    while (end <= stop) {
        next = end;
        end += VXM_HEAD_DATA_WORDS(*next) + VXM_SLOT_WORDS;
    }
    return next;
}

/*
 * Marks the records up to `stop`, 32 slots at a time. What begins before `sure` fits whatever its length; the records
 * behind are looked at first, unless the unit ends there. Bits are first set by their place in memory and then turned
 * so that the block's first slot is bit 0. Returns the end of the last record.
 */
static const uint32_t *mark_records(const uint32_t *stop, bool last, struct vxm_cursor *cursor, struct vxm_block *block)
{
    const uint32_t *sure = last ? stop : stop - (VXM_MAX_RECORD_WORDS - VXM_SLOT_WORDS);
    const uint32_t *group = block->words;
    const uint32_t *next = group;
    const uint32_t turn = 32u - place_of(group);
    uint8_t *starts = block->starts;
    uint32_t bits = 0;
    uint32_t ones = 0;

    while (group < sure) {
        const uint32_t *end = sure - group > (ptrdiff_t)GROUP_WORDS ? group + GROUP_WORDS : sure;
        next = mark_until(end, next, &bits, &cursor->context);
        if (end == sure && !last) {
            sure = end_of_last(next, stop);
            last = true;
            continue;
        }
        bits = rotate_left(bits, turn);
        if (bits != 0) {
            block->last_words = group + (31u - (uint32_t)__builtin_clz(bits)) * VXM_SLOT_WORDS;
        }
        starts = store_little(starts, bits);
        ones += ones_by_byte(bits);
        bits = 0;
        group += GROUP_WORDS;
    }
    block->count = (ones * 0x01010101u) >> 24;
    return next;
}

bool vxm_block_walk(struct vxm_cursor *cursor, const struct vxm_unit *unit, uint32_t max_slots, struct vxm_block *block)
{
    const uint32_t *begin = cursor->next;
    size_t most = (size_t)max_slots * VXM_SLOT_WORDS;
    if (begin >= unit->end) {
        return false;
    }
    bool last = (size_t)(unit->end - begin) <= most;
    block->words = begin;
    block->first_index = cursor->index;
    block->context = known_context(cursor, unit);
    cursor->next = mark_records(last ? unit->end : begin + most, last, cursor, block);
    block->slots = (uint32_t)(cursor->next - begin) / VXM_SLOT_WORDS;
    /* A unit spans less than 2^31 ticks, so each time follows from any other. */
    block->first_time = cursor->time + (uint32_t)(begin[1] - (uint32_t)cursor->time);
    block->last_time = cursor->time + (uint32_t)(block->last_words[1] - (uint32_t)cursor->time);
    cursor->index += block->count;
    cursor->time = block->last_time;
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
static inline uint8_t *put_varint(uint8_t *to, uint32_t value)
{
    while (value >= 0x80u) {
        *to++ = (uint8_t)(value | 0x80u);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* The lowest 28 bits as four bytes that go on. */
static inline void put_four(uint8_t *to, uint32_t value)
{
    uint32_t bytes = (value & 0x7Fu) | (value & 0x3F80u) << 1 | (value & 0x1FC000u) << 2 | (value & 0xFE00000u) << 3;
    (void)store_little(to, bytes | 0x80808080u);
}

static uint8_t *put_long(uint8_t *to, uint64_t value)
{
    while (value >> 28 != 0) {
        put_four(to, (uint32_t)value);
        to += 4;
        value >>= 28;
    }
    return put_varint(to, (uint32_t)value);
}

static inline uint8_t *put_number(uint8_t *to, uint32_t tag, uint32_t value)
{
    if (value == 0) {
        return to;
    }
    *to++ = (uint8_t)(tag << 3 | PB_WT_VARINT);
    return put_varint(to, value);
}

static inline uint8_t *put_long_number(uint8_t *to, uint32_t tag, uint64_t value)
{
    if (value == 0) {
        return to;
    }
    *to++ = (uint8_t)(tag << 3 | PB_WT_VARINT);
    return put_long(to, value);
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
    uint8_t *end = put_long_number(begin, vxmon_Losses_overwritten_tag, block->overwritten);
    end = put_long_number(end, vxmon_Losses_full_tag, block->full);
    end = put_long_number(end, vxmon_Losses_exhausted_tag, block->exhausted);
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
    to = put_long_number(to, vxmon_Block_sequence_tag, block->sequence);
    to = put_long_number(to, vxmon_Block_first_index_tag, block->first_index);
    to = put_number(to, vxmon_Block_count_tag, block->count);
    to = put_long_number(to, vxmon_Block_first_time_tag, block->first_time);
    to = put_long_number(to, vxmon_Block_last_time_tag, block->last_time);
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
