/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording path. Everything here may be called from any context that VXM_PORT_MASK stops:
 * tasks, the kernel, interrupt handlers. Handlers that the mask does not stop (machine check,
 * critical input) must not record; see vxm_pending_exception in hooks.h.
 *
 * A record is a header slot of 8 bytes and up to 8 data slots, as words of the target's byte order:
 *   word 0   event id (10 bits) | data slots (6 bits) | first argument (16 bits)
 *   word 1   low 32 bits of the clock, read after masking
 */
#ifndef VXM_RECORD_H
#define VXM_RECORD_H

#include "vxm/port.h"

#define VXM_MAX_EVENTS 1024u
#define VXM_MAX_DATA_SLOTS 8u
#define VXM_SLOT_WORDS 2u
#define VXM_SLOT_BYTES 8u
/* Words of the largest record; a unit is changed when fewer are left. */
#define VXM_MAX_RECORD_WORDS ((1u + VXM_MAX_DATA_SLOTS) * VXM_SLOT_WORDS)
/* The index of an object that the agent could not give a number. */
#define VXM_UNNAMED 0xFFFFu

/* Word 0 of a record. */
#define VXM_HEAD(id, slots, arg) (((uint32_t)(id) << 22) | ((uint32_t)(slots) << 16) | (uint16_t)(arg))

/* Who runs on a stream; kept by the hooks whether or not their events are enabled. */
struct vxm_context {
    uint16_t partition; /* 0: the module OS */
    uint16_t window;    /* index in the active schedule */
    uint16_t task;      /* VXM_UNNAMED: none */
    uint16_t depth;     /* nested interrupts */
};

/* One CPU's recorder. head, limit and attempts are the hot path's; unit and store are the agent's. */
struct vxm_stream {
    uint32_t *head;    /* next word to store; there is room for the largest record */
    uint32_t *limit;   /* beyond it the largest record would not fit; NULL: every record takes the slow path */
    uint32_t attempts; /* records attempted in this run, low 32 bits */
    struct vxm_context context;
    struct vxm_unit *unit;
    struct vxm_store *store;
};

struct vxm_recorder {
    uint32_t enable[VXM_MAX_EVENTS / 32u]; /* event e: bit e % 32 of word e / 32 */
    struct vxm_stream stream[VXM_PORT_STREAMS];
};

extern struct vxm_recorder vxm_recorder;

/* The host's fast mode: the generated functions keep only the header slot of combine events. */
extern bool vxm_heads_only;

/* Is the event switched on? Folds to a load, a test and a branch for a constant id. */
static inline bool vxm_enabled(uint32_t id)
{
    return (*(const volatile uint32_t *)&vxm_recorder.enable[id / 32u] >> (id % 32u)) & 1u;
}

/*
 * Store a record of 0, 1, 2 or 3 data slots, or as many as `head` says (from memory that cannot
 * fault; checked and copied by the caller). They do not test the enable bit: the generated inline
 * functions in vxm/generated/events.h do.
 */
void vxm_record0(uint32_t head);
void vxm_record1(uint32_t head, uint32_t a, uint32_t b);
void vxm_record2(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d);
void vxm_record3(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f);
void vxm_record_n(uint32_t head, const uint32_t *words);

/* Copies four bytes of any alignment as one load and one store, where the compiler can tell that it may. */
#if defined(__GNUC__) || defined(__clang__)
#define VXM_COPY_WORD(to, from) __builtin_memcpy(to, from, 4u)
#else
#define VXM_COPY_WORD(to, from)                                                                                        \
    do {                                                                                                               \
        for (unsigned byte_ = 0; byte_ < 4u; byte_++) {                                                                \
            (to)[byte_] = (from)[byte_];                                                                               \
        }                                                                                                              \
    } while (0)
#endif

/* The two words of a 64-bit value in the order in which they are stored. */
#if VXM_PORT_BIG_ENDIAN
#define VXM_FIRST_WORD(v) ((uint32_t)((uint64_t)(v) >> 32))
#define VXM_SECOND_WORD(v) ((uint32_t)(v))
#else
#define VXM_FIRST_WORD(v) ((uint32_t)(v))
#define VXM_SECOND_WORD(v) ((uint32_t)((uint64_t)(v) >> 32))
#endif

#endif
