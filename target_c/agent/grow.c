/* SPDX-License-Identifier: Apache-2.0 */
#include "grow.h"

#include "units.h"
#include "vxm/collect.h"
#include "vxm/generated/events.h"

/* Memory beyond the arena comes in so many pieces at most, and is kept for later runs. */
#define MAX_PIECES 16u
/* A stream grows when no more than this part of its units is free. */
#define FREE_PART 4u
#define RETRY_MS 1000u

struct piece {
    uint8_t *at;
    size_t size;
    size_t used;
};

static struct {
    struct piece piece[1u + MAX_PIECES]; /* the first is the arena */
    uint32_t pieces;
    uint32_t failures;
    uint64_t retry_at;
} pool;

void vxm_grow_init(void)
{
    memset(&pool, 0, sizeof pool);
    pool.piece[0] = (struct piece){vxm_agent.arena, vxm_agent.arena_size, vxm_agent.arena_size};
    pool.pieces = 1;
}

void vxm_grow_begin(size_t used)
{
    for (uint32_t i = 1; i < pool.pieces; i++) {
        pool.piece[i].used = 0;
    }
    pool.piece[0].used = used;
    pool.retry_at = 0;
}

uint32_t vxm_grow_failures(void)
{
    return pool.failures;
}

static uint8_t *take(size_t bytes)
{
    for (uint32_t i = 0; i < pool.pieces; i++) {
        struct piece *piece = &pool.piece[i];
        if (piece->size - piece->used >= bytes) {
            piece->used += bytes;
            return piece->at + piece->used - bytes;
        }
    }
    if (pool.pieces > MAX_PIECES) {
        return NULL;
    }
    uint8_t *more = vxm_port_more_memory(bytes);
    if (more != NULL) {
        pool.piece[pool.pieces++] = (struct piece){more, bytes, bytes};
    }
    return more;
}

static bool is_short(unsigned stream)
{
    const struct vxm_store *store = &vxm_store[stream];
    uintptr_t state = VXM_PORT_MASK();
    bool few = store->recording && (store->units - store->used) * FREE_PART <= store->units;
    VXM_PORT_UNMASK(state);
    return few && store->units < vxm_agent.start.max_units;
}

static void grow(unsigned stream, uint64_t now)
{
    const struct vxm_run_config *run = &vxm_agent.start;
    uint32_t left = run->max_units - vxm_store[stream].units;
    uint32_t units = left < run->grow_units ? left : run->grow_units;
    uint8_t *memory = take(units * vxm_units_bytes(run->unit_slots));

    if (memory == NULL) {
        pool.failures++;
        pool.retry_at = now + vxm_ticks_of_ms(RETRY_MS);
        vxm_buffer_grow((uint16_t)stream, 0, pool.failures);
        return;
    }
    vxm_units_add(stream, memory, units, run->unit_slots);
    vxm_buffer_grow((uint16_t)stream, units, pool.failures);
}

enum vxm_work vxm_grow_step(uint64_t now)
{
    if (!vxm_agent.running || now < pool.retry_at) {
        return VXM_IDLE;
    }
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        if (is_short(i)) {
            grow(i, now);
            return VXM_WORKED;
        }
    }
    return VXM_IDLE;
}
