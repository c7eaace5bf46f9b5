/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording path. Each function ends in a tail call when the unit has no room for the largest
 * record, so that the usual path needs no stack frame; attempts are counted in both.
 */
#include "vxm/record.h"

#include "units.h"

struct vxm_recorder vxm_recorder;

static inline struct vxm_stream *running_stream(void)
{
    return &vxm_recorder.stream[VXM_PORT_STREAM()];
}

/* True when there is no unit, or less than the largest record is left in it. */
static inline bool needs_unit(const struct vxm_stream *stream)
{
    return VXM_UNLIKELY((uintptr_t)stream->head > (uintptr_t)stream->limit);
}

static inline void store_head(struct vxm_stream *stream, uint32_t head, uint32_t data_words)
{
    uint32_t *to = stream->head;
    to[0] = head;
    to[1] = VXM_PORT_CLOCK32();
    stream->head = to + VXM_SLOT_WORDS + data_words;
    stream->attempts++;
}

static VXM_COLD void record0_in_next(uint32_t head, uintptr_t state)
{
    (void)vxm_units_next(head);
    VXM_PORT_UNMASK(state);
}

static VXM_COLD void record1_in_next(uint32_t head, uint32_t a, uint32_t b, uintptr_t state)
{
    uint32_t *to = vxm_units_next(head);
    if (to != NULL) {
        to[0] = a;
        to[1] = b;
    }
    VXM_PORT_UNMASK(state);
}

static VXM_COLD void record2_in_next(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uintptr_t state)
{
    uint32_t *to = vxm_units_next(head);
    if (to != NULL) {
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
    }
    VXM_PORT_UNMASK(state);
}

static VXM_COLD void record3_in_next(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
                                     uint32_t f, uintptr_t state)
{
    uint32_t *to = vxm_units_next(head);
    if (to != NULL) {
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
        to[4] = e;
        to[5] = f;
    }
    VXM_PORT_UNMASK(state);
}

static inline void store_words(uint32_t *to, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = words[i];
    }
}

static VXM_COLD void record_n_in_next(uint32_t head, const uint32_t *words, uint32_t count, uintptr_t state)
{
    uint32_t *to = vxm_units_next(head);
    if (to != NULL) {
        store_words(to, words, count);
    }
    VXM_PORT_UNMASK(state);
}

void vxm_record0(uint32_t head)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = running_stream();
    if (needs_unit(stream)) {
        record0_in_next(head, state);
        return;
    }
    store_head(stream, head, 0);
    VXM_PORT_UNMASK(state);
}

void vxm_record1(uint32_t head, uint32_t a, uint32_t b)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = running_stream();
    if (needs_unit(stream)) {
        record1_in_next(head, a, b, state);
        return;
    }
    uint32_t *to = stream->head;
    store_head(stream, head, 2);
    to[2] = a;
    to[3] = b;
    VXM_PORT_UNMASK(state);
}

void vxm_record2(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = running_stream();
    if (needs_unit(stream)) {
        record2_in_next(head, a, b, c, d, state);
        return;
    }
    uint32_t *to = stream->head;
    store_head(stream, head, 4);
    to[2] = a;
    to[3] = b;
    to[4] = c;
    to[5] = d;
    VXM_PORT_UNMASK(state);
}

void vxm_record3(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = running_stream();
    if (needs_unit(stream)) {
        record3_in_next(head, a, b, c, d, e, f, state);
        return;
    }
    uint32_t *to = stream->head;
    store_head(stream, head, 6);
    to[2] = a;
    to[3] = b;
    to[4] = c;
    to[5] = d;
    to[6] = e;
    to[7] = f;
    VXM_PORT_UNMASK(state);
}

void vxm_record_n(uint32_t head, const uint32_t *words)
{
    uint32_t count = VXM_HEAD_DATA_WORDS(head);
    if (count > VXM_MAX_DATA_SLOTS * VXM_SLOT_WORDS) {
        return;
    }
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = running_stream();
    if (needs_unit(stream)) {
        record_n_in_next(head, words, count, state);
        return;
    }
    uint32_t *to = stream->head;
    store_head(stream, head, count);
    store_words(to + VXM_SLOT_WORDS, words, count);
    VXM_PORT_UNMASK(state);
}
