/* SPDX-License-Identifier: Apache-2.0 */
/* How often each partition did what costs memory. Numbers of operations are those of the event table. */
#ifndef KERNEL_OPERATIONS_H
#define KERNEL_OPERATIONS_H

#include <stdint.h>

enum operation {
    OPERATION_TASK_CREATE,
    OPERATION_TASK_DELETE,
    OPERATION_IO_OPEN,
    OPERATION_IO_CLOSE,
    OPERATION_ALLOCATE,
    OPERATION_FREE,
    OPERATION_OBJECT_CREATE,
    OPERATION_OBJECT_DELETE,
    OPERATION_COUNT
};

/* Class c holds sizes above 2^(c-1) up to 2^c bytes; what has no size, and 1 byte, is class 0. */
#define SIZE_CLASSES 18u

struct operation_book {
    uint32_t count;
    uint64_t total; /* bytes */
};

/* Since the boot; restarts of the partition do not begin anew. */
struct operations {
    struct operation_book book[OPERATION_COUNT][SIZE_CLASSES];
};

static inline uint32_t size_class(uint32_t bytes)
{
    const uint32_t class = bytes > 1u ? 32u - (uint32_t)__builtin_clz(bytes - 1u) : 0u;

    return class < SIZE_CLASSES ? class : SIZE_CLASSES - 1u;
}

static inline void count_operation(struct operations *operations, enum operation operation, uint32_t bytes)
{
    struct operation_book *book = &operations->book[operation][size_class(bytes)];

    book->count++;
    book->total += bytes;
}

#endif
