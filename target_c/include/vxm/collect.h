/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors: what the agent asks an operating system for, and logs it reads from it. A port gives
 * one table of functions for each OS release it serves; NULL: this release cannot tell, and events
 * made from it are not offered. Called in the agent's context only, in time that belongs to no
 * partition; every call is bounded and never waits.
 */
#ifndef VXM_COLLECT_H
#define VXM_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A heap, in bytes. */
struct vxm_memory {
    uint32_t free;
    uint32_t allocated;
    uint32_t blocks;     /* allocated blocks */
    uint32_t largest;    /* free block */
    uint32_t high_water; /* of allocated, since the heap was made */
};

/* A stack, in bytes. */
struct vxm_stack {
    uint32_t size;
    uint32_t high_water; /* by the fill pattern */
};

/* How often a partition did an operation, since the partition was started last. */
struct vxm_operation_count {
    uint16_t operation;  /* VXM_OPERATION_... */
    uint16_t size_class; /* of allocate and free: sizes 2^n ... 2^(n+1) - 1 bytes; else 0 */
    uint32_t count;
    uint64_t total; /* bytes; 0 for operations without a size */
};

#define VXM_MAX_OPERATIONS 64u

enum vxm_log { VXM_LOG_HM = 0, VXM_LOG_EDR = 1 };

#define VXM_LOG_NAME_BYTES 32u
#define VXM_LOG_MESSAGE_BYTES 64u

/*
 * An entry of a log. Entries have numbers that grow by one and are never reused, not even after a warm
 * reset. Names are kept in the entry because it may outlive the boot whose indices it has.
 */
struct vxm_log_entry {
    uint64_t number;
    uint64_t time;       /* ticks since that boot */
    uint32_t boot_cycle; /* counts boots, warm resets included */
    uint32_t kind;       /* ED&R: severity | facility */
    uint32_t subcode;
    uint32_t address;
    uint16_t code;      /* HM: VXM_HM_CODE_... */
    uint16_t level;     /* HM: VXM_HM_LEVEL_... */
    uint16_t action;    /* HM: VXM_HM_ACTION_... */
    uint16_t partition; /* index; VXM_UNNAMED: none */
    uint16_t task;      /* index; VXM_UNNAMED: none */
    char partition_name[VXM_LOG_NAME_BYTES];
    char task_name[VXM_LOG_NAME_BYTES];
    char message[VXM_LOG_MESSAGE_BYTES]; /* ended by NUL, printable or not: the agent checks */
};

struct vxm_log_state {
    uint64_t oldest;     /* number of the oldest entry that is kept */
    uint64_t next;       /* number that the next entry gets; == oldest: the log is empty */
    uint64_t missed;     /* entries overwritten or not taken since the log was made */
    uint32_t generation; /* another one: the log was made anew and numbers began again */
    uint32_t boot_cycle; /* of this boot */
};

struct vxm_interface {
    /* The heap of a partition; partition 0: the kernel's. False: it has none (now). */
    bool (*memory)(uint16_t partition, struct vxm_memory *memory);
    /* The stack of a task. False: the task does not exist (any more). Scans at most its whole stack. */
    bool (*stack)(uint16_t task, struct vxm_stack *stack);
    /* Counts that are not 0; returns how many, at most `max`. */
    uint32_t (*operations)(uint16_t partition, struct vxm_operation_count *counts, uint32_t max);
    /* False: the log does not exist. */
    bool (*log_state)(uint8_t log, struct vxm_log_state *state);
    /* False: the entry is not kept (any more), or was changed while it was read. */
    bool (*log_read)(uint8_t log, uint64_t number, struct vxm_log_entry *entry);
};

/* The interface of an OS release. Never NULL; a release that the port does not know has no functions. */
const struct vxm_interface *vxm_port_interface(const char *os_release);

/*
 * More memory for record buffers beyond the arena, 8-byte aligned, kept for the rest of the boot.
 * NULL: there is none.
 */
void *vxm_port_more_memory(size_t bytes);

#endif
