/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording path: mask, store, count, unmask. There is always room for one record; what to do when
 * the next might not fit, or when there was no unit, is decided after storing (units.h).
 */
#include "vxm/record.h"

#include "units.h"

struct vxm_recorder vxm_recorder;

/* The place of a record with `data_words` words of data, header words stored. Under the mask. */
static inline uint32_t *begin(struct vxm_stream *stream, uint32_t head)
{
    uint32_t *to = stream->head;
    to[0] = head;
    to[1] = VXM_PORT_CLOCK32();
    return to;
}

/* Counts the record that ends before `end` and ends the mask. */
static inline void finish(struct vxm_stream *stream, uint32_t *end, uintptr_t state)
{
    stream->head = end;
    stream->attempts++;
    if (VXM_UNLIKELY((uintptr_t)end > (uintptr_t)stream->limit)) {
        vxm_units_turn(state, stream);
        return;
    }
    VXM_PORT_UNMASK(state);
}

void vxm_record0(uint32_t head)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = &vxm_recorder.stream[VXM_PORT_STREAM()];
    uint32_t *to = begin(stream, head);
    finish(stream, to + 2, state);
}

void vxm_record1(uint32_t head, uint32_t a, uint32_t b)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = &vxm_recorder.stream[VXM_PORT_STREAM()];
    uint32_t *to = begin(stream, head);
    to[2] = a;
    to[3] = b;
    finish(stream, to + 4, state);
}

void vxm_record2(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = &vxm_recorder.stream[VXM_PORT_STREAM()];
    uint32_t *to = begin(stream, head);
    to[2] = a;
    to[3] = b;
    to[4] = c;
    to[5] = d;
    finish(stream, to + 6, state);
}

void vxm_record3(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = &vxm_recorder.stream[VXM_PORT_STREAM()];
    uint32_t *to = begin(stream, head);
    to[2] = a;
    to[3] = b;
    to[4] = c;
    to[5] = d;
    to[6] = e;
    to[7] = f;
    finish(stream, to + 8, state);
}

/* More slots than are worth a function of their own. */
static void record_many(uint32_t head, const uint32_t *words, uint32_t slots)
{
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_stream *stream = &vxm_recorder.stream[VXM_PORT_STREAM()];
    uint32_t *to = begin(stream, head) + VXM_SLOT_WORDS;
    do {
        to[0] = words[0];
        to[1] = words[1];
        to += VXM_SLOT_WORDS;
        words += VXM_SLOT_WORDS;
    } while (--slots != 0);
    finish(stream, to, state);
}

void vxm_record_n(uint32_t head, const uint32_t *words)
{
    uint32_t slots = VXM_HEAD_SLOTS(head);
    if (slots == 0) {
        vxm_record0(head);
    } else if (slots == 1u) {
        vxm_record1(head, words[0], words[1]);
    } else if (slots == 2u) {
        vxm_record2(head, words[0], words[1], words[2], words[3]);
    } else if (slots == 3u) {
        vxm_record3(head, words[0], words[1], words[2], words[3], words[4], words[5]);
    } else if (slots <= VXM_MAX_DATA_SLOTS) {
        record_many(head, words, slots);
    }
}
