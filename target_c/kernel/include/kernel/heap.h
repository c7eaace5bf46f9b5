/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps: one in each partition's memory, one of the kernel's own. Blocks are whole granules; all that
 * the allocator knows lies in the kernel's memory, out of reach of the partition that uses the heap.
 * Allocating and freeing take a bounded number of steps. Kernel context, interrupts masked.
 */
#ifndef KERNEL_HEAP_H
#define KERNEL_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_GRANULE 32u
#define HEAP_BYTES 0x20000u
#define HEAP_GRANULES (HEAP_BYTES / HEAP_GRANULE)
#define HEAP_CLASSES 13u /* free runs of 1, 2-3, 4-7 ... granules */

struct heap {
    uint32_t base;                /* address of the first granule, as its user sees it */
    uint16_t run[HEAP_GRANULES];  /* at a run's first and last granule: its length, and whether it is free */
    uint16_t next[HEAP_GRANULES]; /* at a free run's first granule: the others of its class */
    uint16_t previous[HEAP_GRANULES];
    uint32_t begins[HEAP_GRANULES / 32u]; /* bit set: an allocated block begins at this granule */
    uint16_t first[HEAP_CLASSES];
    uint32_t classes; /* bit set: there are free runs of this class */
    /* books; bytes are those of the blocks, whole granules */
    uint32_t allocated;
    uint32_t blocks;
    uint32_t high_water;
    uint32_t failures;
    uint32_t changes;
};

/* Makes it empty. The books of failures and the high water go on. */
void heap_reset(struct heap *heap, uint32_t base);
/* Address of a block of at least `bytes`, or 0: there is none, or none was found in bounded time. */
uint32_t heap_allocate(struct heap *heap, uint32_t bytes);
/* The bytes that are free again, or 0: no block begins there. */
uint32_t heap_free(struct heap *heap, uint32_t address);
/* Bytes of the largest free run. It looks at many runs: for a task of the module OS, interrupts on. */
uint32_t heap_largest(const struct heap *heap);

static inline uint32_t heap_free_bytes(const struct heap *heap)
{
    return HEAP_BYTES - heap->allocated;
}

#endif
