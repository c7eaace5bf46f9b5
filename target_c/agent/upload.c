/* SPDX-License-Identifier: Apache-2.0 */
#include "upload.h"

#include "grow.h"
#include "link.h"

#define RESEND_INTERVAL_MS 20u
#define RESEND_TRIES 32u
#define MAX_RANGES 16u
/*
 * Blocks sent beyond the highest that the host has; more would only be dropped by its socket. When so many
 * are on the way, one more follows now and then, lest a lost acknowledgement stops the stream for good.
 */
#define WINDOW_BLOCKS 1024u
#define PROBE_INTERVAL_MS 100u

/* Blocks first ... end - 1. */
struct range {
    uint64_t first;
    uint64_t end;
};

struct upload {
    struct vxm_cut *cuts; /* a ring in order of blocks */
    uint32_t capacity;
    uint32_t head;
    uint32_t count;
    uint32_t max_slots;       /* of a block */
    struct vxm_cut *cutting;  /* the newest, as long as there is more of its unit; it may be stale */
    struct vxm_cursor cursor; /* in the newest cut */
    uint64_t overwritten;     /* records, when the newest began */
    uint64_t blocks;
    uint64_t records; /* in blocks */
    uint64_t held;
    uint64_t seen;                    /* one more than the highest block that the host said it has */
    uint64_t sent_at;                 /* when a block was sent last for the first time */
    struct range missing[MAX_RANGES]; /* to be sent again, in order */
    uint32_t missing_count;
    uint32_t missing_next;
    uint64_t listed_at; /* when the list was finished */
};

static struct upload uploads[VXM_PORT_STREAMS];
static unsigned turn;        /* the stream that is served next */
static bool resend_had_turn; /* new blocks and resends alternate */

void vxm_upload_reset(unsigned stream, void *memory, uint32_t units, uint32_t datagram_bytes)
{
    struct upload *upload = &uploads[stream];
    memset(upload, 0, sizeof *upload);
    upload->cuts = memory;
    upload->capacity = units;
    upload->max_slots = vxm_block_max_slots(datagram_bytes);
}

static struct vxm_cut *cut_at(const struct upload *upload, uint32_t at)
{
    uint32_t index = upload->head + at;
    return &upload->cuts[index < upload->capacity ? index : index - upload->capacity];
}

/* Is the unit still what it was when it was cut? Under the mask. */
static bool is_live(const struct vxm_cut *cut)
{
    return !cut->done && cut->unit->first_index == cut->first_index;
}

static bool is_live_now(const struct vxm_cut *cut)
{
    uintptr_t state = VXM_PORT_MASK();
    bool live = is_live(cut);
    VXM_PORT_UNMASK(state);
    return live;
}

/* What lies below is acknowledged or gone. */
static void raise_held(struct upload *upload, uint64_t block)
{
    if (upload->held < block) {
        upload->held = block;
    }
}

/* Forgets the oldest cuts that are over. */
static void prune(struct upload *upload)
{
    while (upload->count > 0) {
        struct vxm_cut *oldest = cut_at(upload, 0);
        if (is_live_now(oldest)) {
            raise_held(upload, oldest->first_block);
            return;
        }
        upload->head = upload->head + 1u < upload->capacity ? upload->head + 1u : 0;
        upload->count--;
        raise_held(upload, oldest->first_block + oldest->blocks);
    }
    raise_held(upload, upload->blocks);
}

/* Forgets cuts that are over anywhere in the ring; at most as many are live as there are units. */
static void compact(struct upload *upload)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < upload->count; i++) {
        const struct vxm_cut *cut = cut_at(upload, i);
        if (is_live_now(cut)) {
            *cut_at(upload, kept++) = *cut;
        } else if (!cut->done) {
            raise_held(upload, cut->first_block + cut->blocks);
        }
    }
    upload->count = kept;
}

/* ------------------------------------------------------------------ making blocks */

static void fill(struct vxm_block *block, unsigned number, const struct vxm_cut *cut, uint64_t sequence)
{
    bool ring = vxm_agent.start.policy == VXM_RING;
    block->run = vxm_agent.run;
    block->stream = number;
    block->sequence = sequence;
    block->overwritten = cut->overwritten;
    block->full = ring ? 0 : cut->dropped;
    block->exhausted = ring ? cut->dropped : 0;
}

static bool send(const struct vxm_block *block)
{
    size_t covered = 0;
    size_t length = vxm_block_encode(block, vxm_frame_payload(), &covered);
    return vxm_frame_send_block(vxm_link_peer(), block->sequence, length, covered);
}

/* Is this unit, which is closed or filling, the one that is being cut? */
static bool is_being_cut(const struct upload *upload, const struct vxm_unit *unit)
{
    const struct vxm_cut *cut = upload->cutting;
    return cut != NULL && cut->unit == unit && cut->first_index == unit->first_index;
}

/* The oldest unit that is closed and not cut whole becomes READING; NULL when there is none. */
static struct vxm_unit *claim_next(unsigned number)
{
    struct upload *upload = &uploads[number];
    uintptr_t state = VXM_PORT_MASK();
    struct vxm_unit *unit = vxm_units_next_to_cut(number);
    if (unit == vxm_recorder.stream[number].unit) {
        unit = NULL; /* FILLING */
    }
    if (unit != NULL) {
        unit->reading = true;
        if (!is_being_cut(upload, unit)) {
            upload->cutting = NULL;
            upload->overwritten = vxm_units_overwritten(number);
        }
    }
    VXM_PORT_UNMASK(state);
    return unit;
}

/*
 * The entry of a unit whose cutting begins. All units older than it are cut or overwritten by then, so what else is
 * missing below its first index was dropped.
 */
static struct vxm_cut *begin_cut(struct upload *upload, struct vxm_unit *unit)
{
    prune(upload);
    if (upload->count == upload->capacity) {
        compact(upload);
    }
    struct vxm_cut *cut = cut_at(upload, upload->count);
    *cut = (struct vxm_cut){
        .unit = unit,
        .first_index = unit->first_index,
        .first_block = upload->blocks,
        .overwritten = upload->overwritten,
        .dropped = unit->first_index - upload->records - upload->overwritten,
    };
    vxm_cursor_begin(&upload->cursor, unit);
    upload->count++;
    upload->cutting = cut;
    return cut;
}

static bool all_acknowledged(const struct vxm_cut *cut)
{
    uint32_t all = cut->blocks == VXM_UPLOAD_MAX_BLOCKS ? UINT32_MAX : (1u << cut->blocks) - 1u;
    return cut->whole && cut->acknowledged == all;
}

/* Under the mask: the unit of a cut is needed no longer. */
static void release(unsigned number, struct vxm_cut *cut)
{
    vxm_units_release(number, cut->unit);
    cut->done = true;
}

/* Gives the unit back after `records` of it were put into a block that was sent. */
static void finish(unsigned number, struct vxm_cut *cut, uint32_t records)
{
    struct vxm_unit *unit = cut->unit;
    uintptr_t state = VXM_PORT_MASK();
    unit->uncut -= records;
    unit->reading = false;
    if (unit->uncut == 0) {
        cut->whole = true;
        vxm_store[number].cut_last = unit;
        if (vxm_agent.start.one_way || all_acknowledged(cut)) {
            release(number, cut);
        }
    }
    VXM_PORT_UNMASK(state);
}

static bool window_is_open(const struct upload *upload)
{
    return vxm_agent.start.one_way || upload->blocks - upload->seen < WINDOW_BLOCKS ||
           VXM_PORT_CLOCK64() - upload->sent_at >= vxm_ticks_of_ms(PROBE_INTERVAL_MS);
}

/*
 * Cuts and sends the next block of a stream. It counts as cut only when the network has taken it; nothing is changed
 * before, for a target that goes down may begin a new step while one is not over.
 */
static enum vxm_work cut_step(unsigned number)
{
    struct upload *upload = &uploads[number];
    struct vxm_block block;
    struct vxm_unit *unit = window_is_open(upload) ? claim_next(number) : NULL;
    if (unit == NULL) {
        return VXM_IDLE;
    }
    struct vxm_cut *cut = upload->cutting != NULL ? upload->cutting : begin_cut(upload, unit);
    struct vxm_cursor cursor = upload->cursor;
    (void)vxm_block_walk(&cursor, unit, upload->max_slots, &block);
    fill(&block, number, cut, upload->blocks);
    bool sent = send(&block);
    if (sent) {
        upload->cursor = cursor;
        upload->blocks++;
        upload->records += block.count;
        cut->blocks++;
        upload->sent_at = VXM_PORT_CLOCK64();
        cut->sent_at = (uint32_t)upload->sent_at;
    }
    finish(number, cut, sent ? block.count : 0);
    if (vxm_agent.start.one_way && cut->done) {
        prune(upload);
    }
    return sent ? VXM_WORKED : VXM_BLOCKED;
}

/* ------------------------------------------------------------------ acknowledgements */

/* Bits of the blocks of a cut that lie in first ... end - 1. */
static uint32_t bits_between(const struct vxm_cut *cut, uint64_t first, uint64_t end)
{
    uint64_t low = first > cut->first_block ? first - cut->first_block : 0;
    uint64_t high = end > cut->first_block ? end - cut->first_block : 0;
    if (high > cut->blocks) {
        high = cut->blocks;
    }
    if (low >= high) {
        return 0;
    }
    uint32_t below_high = high == VXM_UPLOAD_MAX_BLOCKS ? UINT32_MAX : (1u << high) - 1u;
    return below_high & ~((1u << low) - 1u);
}

/* Copies the ranges; they must be in order, apart, not empty and of blocks that were cut. */
static bool take_ranges(const struct upload *upload, const vxmon_StreamAck *ack, struct range *ranges)
{
    uint64_t from = ack->next;
    if (ack->next > ack->seen || ack->seen > upload->blocks || ack->missing_count > MAX_RANGES) {
        return false;
    }
    for (pb_size_t i = 0; i < ack->missing_count; i++) {
        uint64_t first = ack->missing[i].first;
        uint64_t count = ack->missing[i].count;
        if (first < from || first >= upload->blocks || count == 0 || count > upload->blocks - first) {
            return false;
        }
        ranges[i] = (struct range){first, first + count};
        from = first + count;
    }
    return true;
}

static void acknowledge_cut(unsigned number, struct vxm_cut *cut, uint32_t bits)
{
    uintptr_t state = VXM_PORT_MASK();
    cut->acknowledged |= bits;
    if (is_live(cut) && all_acknowledged(cut)) {
        release(number, cut);
    }
    VXM_PORT_UNMASK(state);
}

static void acknowledge_all(unsigned number, const vxmon_StreamAck *ack, const struct range *ranges)
{
    struct upload *upload = &uploads[number];
    uint32_t range = 0;
    for (uint32_t i = 0; i < upload->count; i++) {
        struct vxm_cut *cut = cut_at(upload, i);
        uint64_t end = cut->first_block + cut->blocks;
        if (cut->first_block >= ack->seen) {
            break;
        }
        while (range < ack->missing_count && ranges[range].end <= cut->first_block) {
            range++;
        }
        uint32_t bits = bits_between(cut, 0, ack->seen);
        for (uint32_t r = range; r < ack->missing_count && ranges[r].first < end; r++) {
            bits &= ~bits_between(cut, ranges[r].first, ranges[r].end);
        }
        acknowledge_cut(number, cut, bits);
    }
    prune(upload);
}

void vxm_upload_forget_acknowledgements(void)
{
    for (unsigned number = 0; number < VXM_PORT_STREAMS; number++) {
        struct upload *upload = &uploads[number];
        upload->missing_count = upload->missing_next = 0;
        for (uint32_t i = 0; i < upload->count; i++) {
            cut_at(upload, i)->acknowledged = 0;
        }
    }
}

/* A new list is taken when the one before is worked off and its last block had time to arrive. */
static void plan_resends(struct upload *upload, const vxmon_StreamAck *ack, const struct range *ranges)
{
    uint64_t now = VXM_PORT_CLOCK64();
    if (upload->missing_next < upload->missing_count ||
        (upload->listed_at != 0 && now - upload->listed_at < vxm_ticks_of_ms(RESEND_INTERVAL_MS))) {
        return;
    }
    memcpy(upload->missing, ranges, ack->missing_count * sizeof ranges[0]);
    upload->missing_count = ack->missing_count;
    upload->missing_next = 0;
}

bool vxm_upload_acknowledge(const vxmon_StreamAck *ack)
{
    struct range ranges[MAX_RANGES];
    if (ack->stream >= VXM_PORT_STREAMS || !take_ranges(&uploads[ack->stream], ack, ranges)) {
        return false;
    }
    if (!vxm_agent.start.one_way) {
        struct upload *upload = &uploads[ack->stream];
        upload->seen = ack->seen > upload->seen ? ack->seen : upload->seen;
        acknowledge_all(ack->stream, ack, ranges);
        plan_resends(upload, ack, ranges);
    }
    return true;
}

/* ------------------------------------------------------------------ resends */

/* The first cut that ends above a block, or NULL. */
static struct vxm_cut *find_cut(const struct upload *upload, uint64_t block)
{
    uint32_t low = 0;
    uint32_t high = upload->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2u;
        const struct vxm_cut *cut = cut_at(upload, middle);
        if (cut->first_block + cut->blocks > block) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low < upload->count ? cut_at(upload, low) : NULL;
}

/* The unit of a cut becomes READING. False when it is gone. */
static bool claim_cut(const struct vxm_cut *cut)
{
    uintptr_t state = VXM_PORT_MASK();
    bool live = is_live(cut);
    if (live) {
        cut->unit->reading = true;
    }
    VXM_PORT_UNMASK(state);
    return live;
}

/* Makes a block again by walking its unit from the beginning: byte-identical to the first time. */
static enum vxm_work resend(unsigned number, struct vxm_cut *cut, uint64_t sequence)
{
    const struct upload *upload = &uploads[number];
    struct vxm_block block;
    struct vxm_cursor cursor;
    if (!claim_cut(cut)) {
        return VXM_IDLE;
    }
    vxm_cursor_begin(&cursor, cut->unit);
    for (uint64_t at = cut->first_block; at <= sequence; at++) {
        (void)vxm_block_walk(&cursor, cut->unit, upload->max_slots, &block);
    }
    fill(&block, number, cut, sequence);
    bool sent = send(&block);
    cut->unit->reading = false;
    if (!sent) {
        return VXM_BLOCKED;
    }
    vxm_frame_counters.resent++;
    return VXM_WORKED;
}

static bool is_recent(const struct vxm_cut *cut)
{
    return VXM_PORT_CLOCK32() - cut->sent_at < (uint32_t)vxm_ticks_of_ms(RESEND_INTERVAL_MS);
}

/* Serves the first block of the list; *range moves past what was sent or need not be sent. */
static enum vxm_work resend_first(unsigned number, struct range *range)
{
    struct upload *upload = &uploads[number];
    struct vxm_cut *cut = find_cut(upload, range->first);
    if (cut == NULL) {
        range->first = range->end;
        return VXM_IDLE;
    }
    if (cut->first_block > range->first) {
        range->first = cut->first_block;
        return VXM_IDLE;
    }
    if (!is_live_now(cut)) {
        range->first = cut->first_block + cut->blocks;
        if (!cut->done) {
            raise_held(upload, range->first);
        }
        return VXM_IDLE;
    }
    if (is_recent(cut)) {
        range->first = cut->first_block + cut->blocks;
        return VXM_IDLE;
    }
    if ((cut->acknowledged >> (range->first - cut->first_block)) & 1u) {
        range->first++;
        return VXM_IDLE;
    }
    enum vxm_work work = resend(number, cut, range->first);
    range->first += work == VXM_WORKED ? 1u : 0u;
    return work;
}

static enum vxm_work resend_step(unsigned number)
{
    struct upload *upload = &uploads[number];
    for (unsigned tries = 0; tries < RESEND_TRIES; tries++) {
        if (upload->missing_next >= upload->missing_count) {
            return tries == 0 ? VXM_IDLE : VXM_WORKED;
        }
        struct range *range = &upload->missing[upload->missing_next];
        if (range->first >= range->end) {
            upload->missing_next++;
            upload->listed_at = VXM_PORT_CLOCK64();
            continue;
        }
        enum vxm_work work = resend_first(number, range);
        if (work != VXM_IDLE) {
            return work;
        }
    }
    return VXM_WORKED;
}

/* ------------------------------------------------------------------ the step */

static enum vxm_work stream_step(unsigned number)
{
    enum vxm_work work = VXM_IDLE;
    resend_had_turn = !resend_had_turn;
    if (resend_had_turn) {
        work = resend_step(number);
    }
    if (work == VXM_IDLE) {
        work = cut_step(number);
    }
    if (work == VXM_IDLE && !resend_had_turn) {
        work = resend_step(number);
    }
    return work;
}

enum vxm_work vxm_upload_step(void)
{
    if (vxm_agent.run == 0 || !vxm_link_open() || (vxm_agent.running && vxm_agent.start.no_upload)) {
        return VXM_IDLE;
    }
    for (unsigned tries = 0; tries < VXM_PORT_STREAMS; tries++) {
        unsigned number = turn;
        turn = (turn + 1u) % VXM_PORT_STREAMS;
        enum vxm_work work = stream_step(number);
        if (work != VXM_IDLE) {
            return work;
        }
    }
    return VXM_IDLE;
}

/* ------------------------------------------------------------------ figures */

void vxm_upload_state(unsigned number, vxmon_StreamState *figures)
{
    struct upload *upload = &uploads[number];
    const struct vxm_store *store = &vxm_store[number];
    bool ring = vxm_agent.start.policy == VXM_RING;

    prune(upload);
    uintptr_t state = VXM_PORT_MASK();
    const struct vxm_unit *next = vxm_units_next_to_cut(number);
    uint64_t dropped = store->dropped;
    *figures = (vxmon_StreamState){
        .stream = number,
        .recorded = vxm_units_attempts(number),
        .blocks = upload->blocks,
        .held = upload->held,
        .has_losses = true,
        .losses = {vxm_units_overwritten(number), ring ? 0 : dropped, ring ? dropped : 0},
        .units = store->units,
        .units_used = store->used,
        .grow_failures = vxm_grow_failures(),
    };
    if (next == NULL) {
        figures->cut_index = figures->recorded;
        figures->cut_time = VXM_PORT_CLOCK64();
    } else if (is_being_cut(upload, next)) {
        figures->cut_index = upload->cursor.index;
        figures->cut_time = upload->cursor.time;
    } else {
        figures->cut_index = next->first_index;
        figures->cut_time = next->base_time;
    }
    VXM_PORT_UNMASK(state);
}

bool vxm_upload_uncut(void)
{
    bool uncut = false;
    uintptr_t state = VXM_PORT_MASK();
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        uncut = uncut || vxm_units_next_to_cut(i) != NULL;
    }
    VXM_PORT_UNMASK(state);
    return uncut;
}

bool vxm_upload_busy(void)
{
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        prune(&uploads[i]);
        if (uploads[i].count > 0) {
            return true;
        }
    }
    return vxm_upload_uncut();
}
