/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a unit's records, which block they are in and what it says of them. */
#include <string.h>

#include "block.h"
#include "frame.h"
#include "unit_tests.h"
#include "vxm/generated/events.h"

#define WALK_SLOTS 1024u

static uint32_t random_state = 1;

/* Numerical Recipes' generator; its upper bits. */
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

/* Word 0 of a record: by kind, one event that comes often, switches and interrupts, or anything. */
static uint32_t random_head(unsigned kind)
{
    static const uint16_t switches[] = {VXM_EVENT_WINDOW, VXM_EVENT_PARTITION_SWITCH, VXM_EVENT_TASK_SWITCH,
                                        VXM_EVENT_INT_ENTR, VXM_EVENT_INT_EXIT};
    uint32_t slots = random_below(9);
    uint32_t argument = random_below(1u << 16);
    if (kind == 0 || (kind == 1 && random_below(40) != 0)) {
        return VXM_HEAD(VXM_EVENT_USER_POINT, 0, argument);
    }
    if (random_below(3) == 0) {
        return VXM_HEAD(switches[random_below(5)], slots % 2u, argument);
    }
    return VXM_HEAD(random_below(VXM_MAX_EVENTS), kind == 3 ? 8u : slots, argument);
}

/* Fills a unit with records of increasing times, as the recorder does, and leaves the rest. */
static void fill_unit(struct vxm_unit *unit, unsigned kind)
{
    uint32_t *to = unit->base;
    uint32_t *end = unit->base + 2u * (WALK_SLOTS - 9u - random_below(WALK_SLOTS - 20u));
    uint32_t now = (uint32_t)unit->base_time;
    while (to < end) {
        uint32_t head = random_head(kind);
        to[0] = head;
        to[1] = now;
        for (uint32_t i = 2; i < 2u * ((head >> 16 & 63u) + 1u); i++) {
            to[i] = random_below(1u << 24) << 8;
        }
        to += 2u * ((head >> 16 & 63u) + 1u);
        now += random_below(1000);
    }
    unit->end = to;
}

/* What SPEC section 3 says of the block of the records from `at` on, one record after the other. */
static const uint32_t *slow_walk(const uint32_t *at, const uint32_t *end, uint32_t max_slots, struct vxm_block *block,
                                 struct vxm_context *context)
{
    *block = (struct vxm_block){.words = at, .context = *context};
    while (at < end && block->slots + (at[0] >> 16 & 63u) + 1u <= max_slots) {
        uint16_t argument = (uint16_t)at[0];
        switch (at[0] >> 22) {
        case VXM_EVENT_WINDOW:
            context->window = argument;
            break;
        case VXM_EVENT_PARTITION_SWITCH:
            context->partition = argument;
            break;
        case VXM_EVENT_TASK_SWITCH:
            context->task = argument;
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
        block->starts[block->slots / 8u] |= (uint8_t)(1u << block->slots % 8u);
        block->last_words = at;
        block->slots += (at[0] >> 16 & 63u) + 1u;
        at += 2u * ((at[0] >> 16 & 63u) + 1u);
        block->count++;
    }
    return at;
}

static void check_walk(const struct vxm_unit *unit, uint32_t max_slots)
{
    struct vxm_context context = unit->context;
    const uint32_t *at = unit->base;
    uint64_t index = unit->first_index;
    struct vxm_cursor cursor;
    struct vxm_block block;
    struct vxm_block expected;

    vxm_cursor_begin(&cursor, unit);
    while (at < unit->end) {
        at = slow_walk(at, unit->end, max_slots, &expected, &context);
        memset(&block, 0xA5, sizeof block);
        CHECK(vxm_block_walk(&cursor, unit, max_slots, &block));
        CHECK(block.words == expected.words && block.slots == expected.slots && block.count == expected.count);
        CHECK(memcmp(block.starts, expected.starts, (block.slots + 7u) / 8u) == 0);
        CHECK(memcmp(&block.context, &expected.context, sizeof block.context) == 0);
        CHECK(block.first_index == index);
        CHECK((uint32_t)block.first_time == block.words[1] && block.first_time >= unit->base_time);
        CHECK((uint32_t)block.last_time == expected.last_words[1] && block.last_time >= block.first_time);
        CHECK(block.last_time - unit->base_time < UINT64_C(0x100000000));
        index += expected.count;
    }
    CHECK(cursor.next == unit->end && cursor.index == index);
    CHECK(!vxm_block_walk(&cursor, unit, max_slots, &block));
}

/* Every mixture of lengths, place in memory and size of a block, against one record after the other. */
void blocks_hold_the_records_that_fit(void)
{
    static uint32_t words[2u * (WALK_SLOTS + 32u)];
    for (unsigned round = 0; round < 2000; round++) {
        struct vxm_unit unit = {
            .base = words + 2u * random_below(32),
            .base_time = UINT64_C(0x7FFFFF000) + random_below(1u << 20),
            .first_index = random_below(1u << 20),
            .context = {1, 2, 3, (uint16_t)random_below(4)},
            .known = VXM_KNOWN_PARTITION | VXM_KNOWN_WINDOW | VXM_KNOWN_TASK | VXM_KNOWN_DEPTH,
        };
        uint32_t bytes = round % 3u == 0 ? VXM_FRAME_DEFAULT : 512u + random_below(VXM_FRAME_MAX - 511u);
        fill_unit(&unit, round % 4u);
        check_walk(&unit, vxm_block_max_slots(bytes));
    }
}
