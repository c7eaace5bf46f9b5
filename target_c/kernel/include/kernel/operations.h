/* SPDX-License-Identifier: Apache-2.0 */
/* How often each partition did what costs memory. Numbers of operations are those of the event table. */
#ifndef KERNEL_OPERATIONS_H
#define KERNEL_OPERATIONS_H

#include <stdbool.h>
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

/* Class c of allocate and free: sizes of 2^c up to 2^(c+1) - 1 bytes. The others are all of class 0. */
#define SIZE_CLASSES 18u

struct operation_book {
    uint32_t count;
    uint64_t total; /* bytes */
};

/* Since the partition was started last. */
struct operations {
    struct operation_book book[OPERATION_COUNT][SIZE_CLASSES];
};

static inline uint32_t size_class(enum operation operation, uint32_t bytes)
{
    const bool sized = (operation == OPERATION_ALLOCATE || operation == OPERATION_FREE) && bytes != 0u;
    const uint32_t class = sized ? 31u - (uint32_t)__builtin_clz(bytes) : 0u;

    return class < SIZE_CLASSES ? class : SIZE_CLASSES - 1u;
}

static inline void count_operation(struct operations *operations, enum operation operation, uint32_t bytes)
{
    struct operation_book *book = &operations->book[operation][size_class(operation, bytes)];

    book->count++;
    book->total += bytes;
}

#endif
