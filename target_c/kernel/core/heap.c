/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boundary tags in an array beside the heap, free runs in lists by powers of two. A request takes one
 * of the first few runs of its own class that is large enough, else the first of a larger class.
 */
#include "kernel/heap.h"

#include "kernel/library.h"

#define NONE 0xFFFFu
#define FREE 0x8000u
#define LENGTH(tag) ((tag)&0x7FFFu)
#define LOOKS 8u
/* Tries of heap_largest while the heap is being used. */
#define TRIES 4u

static unsigned class_of(uint32_t granules)
{
    return 31u - (unsigned)__builtin_clz(granules);
}

static void tag(struct heap *heap, uint32_t at, uint32_t granules, uint32_t flag)
{
    heap->run[at] = heap->run[at + granules - 1u] = (uint16_t)(granules | flag);
}

static void add_free(struct heap *heap, uint32_t at, uint32_t granules)
{
    const unsigned class = class_of(granules);

    tag(heap, at, granules, FREE);
    heap->previous[at] = NONE;
    heap->next[at] = heap->first[class];
    if (heap->first[class] != NONE) {
        heap->previous[heap->first[class]] = (uint16_t)at;
    }
    heap->first[class] = (uint16_t)at;
    heap->classes |= 1u << class;
}

static void remove_free(struct heap *heap, uint32_t at)
{
    const unsigned class = class_of(LENGTH(heap->run[at]));
    const uint16_t next = heap->next[at], previous = heap->previous[at];

    if (next != NONE) {
        heap->previous[next] = previous;
    }
    if (previous != NONE) {
        heap->next[previous] = next;
    } else {
        heap->first[class] = next;
    }
    if (heap->first[class] == NONE) {
        heap->classes &= ~(1u << class);
    }
}

void heap_reset(struct heap *heap, uint32_t base)
{
    heap->base = base;
    heap->allocated = heap->blocks = heap->classes = 0;
    heap->changes++;
    memset(heap->first, 0xFF, sizeof heap->first);
    memset(heap->begins, 0, sizeof heap->begins);
    add_free(heap, 0, HEAP_GRANULES);
}

static uint32_t find(const struct heap *heap, uint32_t granules)
{
    const unsigned class = class_of(granules);
    uint32_t at = heap->first[class];

    for (unsigned looks = 0; at != NONE && looks < LOOKS; looks++) {
        if (LENGTH(heap->run[at]) >= granules) {
            return at;
        }
        at = heap->next[at];
    }
    const uint32_t larger = heap->classes & ~((2u << class) - 1u);
    return larger != 0u ? heap->first[__builtin_ctz(larger)] : NONE;
}

uint32_t heap_allocate(struct heap *heap, uint32_t bytes)
{
    const uint32_t granules = (bytes + HEAP_GRANULE - 1u) / HEAP_GRANULE;
    const uint32_t at = bytes != 0u && bytes <= HEAP_BYTES ? find(heap, granules) : NONE;

    if (at == NONE) {
        heap->failures++;
        return 0;
    }
    const uint32_t rest = LENGTH(heap->run[at]) - granules;
    remove_free(heap, at);
    tag(heap, at, granules, 0);
    if (rest != 0u) {
        add_free(heap, at + granules, rest);
    }
    heap->begins[at / 32u] |= 1u << (at % 32u);
    heap->allocated += granules * HEAP_GRANULE;
    heap->blocks++;
    heap->high_water = heap->allocated > heap->high_water ? heap->allocated : heap->high_water;
    heap->changes++;
    return heap->base + at * HEAP_GRANULE;
}

uint32_t heap_free(struct heap *heap, uint32_t address)
{
    const uint32_t offset = address - heap->base;
    uint32_t at = offset / HEAP_GRANULE;

    if (offset >= HEAP_BYTES || offset % HEAP_GRANULE != 0u || (heap->begins[at / 32u] >> (at % 32u) & 1u) == 0u) {
        return 0;
    }
    uint32_t granules = heap->run[at];
    const uint32_t bytes = granules * HEAP_GRANULE, after = at + granules;
    heap->begins[at / 32u] &= ~(1u << (at % 32u));
    if (after < HEAP_GRANULES && (heap->run[after] & FREE) != 0u) {
        granules += LENGTH(heap->run[after]);
        remove_free(heap, after);
    }
    if (at > 0u && (heap->run[at - 1u] & FREE) != 0u) {
        const uint32_t before = LENGTH(heap->run[at - 1u]);
        at -= before;
        granules += before;
        remove_free(heap, at);
    }
    add_free(heap, at, granules);
    heap->allocated -= bytes;
    heap->blocks--;
    heap->changes++;
    return bytes;
}

static uint32_t longest_free(const struct heap *heap)
{
    uint32_t longest = 0;

    if (heap->classes == 0u) {
        return 0;
    }
    uint32_t at = heap->first[class_of(heap->classes)];
    for (unsigned steps = 0; at < HEAP_GRANULES && steps < HEAP_GRANULES; steps++) {
        longest = LENGTH(heap->run[at]) > longest ? LENGTH(heap->run[at]) : longest;
        at = heap->next[at];
    }
    return longest * HEAP_GRANULE;
}

/* A window may end on the way and the heap change: then again. */
uint32_t heap_largest(const struct heap *heap)
{
    uint32_t before, bytes;
    unsigned tries = 0;

    do {
        before = *(const volatile uint32_t *)&heap->changes;
        bytes = longest_free(heap);
    } while (*(const volatile uint32_t *)&heap->changes != before && ++tries < TRIES);
    return bytes;
}
