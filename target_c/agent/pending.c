/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells are a ring with one writer (the handler) and one reader (the window hook of the same
 * CPU, which the handler may interrupt but not the other way round), so that neither has to wait.
 */
#include "pending.h"

#include "units.h"
#include "vxm/hooks.h"

#define CELLS 4u

struct cell {
    uint32_t vector;
    uint32_t code;
    uint32_t address;
    uint32_t ip;
    uint16_t partition;
    uint16_t task;
};

static struct {
    struct cell cell[CELLS];
    volatile uint32_t written;
    volatile uint32_t missed; /* found no cell */
    uint32_t read;
    uint32_t missed_told;
    uint32_t rollovers; /* upper half of the clock, as of the last check */
} pending[VXM_PORT_STREAMS];

void vxm_pending_init(void)
{
    uint64_t now = VXM_PORT_CLOCK64();
    memset(pending, 0, sizeof pending);
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        pending[i].rollovers = (uint32_t)(now >> 32);
    }
}

void vxm_pending_exception(uint32_t vector, uint32_t code, uint32_t address, uint32_t ip)
{
    unsigned stream = VXM_PORT_STREAM();
    const struct vxm_context *context = &vxm_recorder.stream[stream].context;
    uint32_t at = pending[stream].written;
    if (!vxm_enabled(VXM_EVENT_EXCEPTION)) {
        return;
    }
    if (at - pending[stream].read >= CELLS) {
        pending[stream].missed++;
        return;
    }
    pending[stream].cell[at % CELLS] = (struct cell){vector, code, address, ip, context->partition, context->task};
    pending[stream].written = at + 1u;
}

static void record_pending(unsigned stream)
{
    while (pending[stream].read != pending[stream].written) {
        const struct cell *cell = &pending[stream].cell[pending[stream].read % CELLS];
        vxm_exception((uint16_t)cell->vector, cell->vector, cell->code, cell->address, cell->ip, cell->partition,
                      cell->task);
        pending[stream].read++;
    }
    uint32_t missed = pending[stream].missed;
    vxm_units_drop(stream, missed - pending[stream].missed_told);
    pending[stream].missed_told = missed;
}

void vxm_hook_age_check(void)
{
    uintptr_t state = VXM_PORT_MASK();
    unsigned stream = VXM_PORT_STREAM();
    const struct vxm_unit *unit = vxm_recorder.stream[stream].unit;
    uint64_t now = VXM_PORT_CLOCK64();

    if (unit != NULL && now - unit->base_time >= VXM_UNIT_MAX_AGE) {
        vxm_units_close(stream);
    }
    if (VXM_UNLIKELY((uint32_t)(now >> 32) != pending[stream].rollovers)) {
        pending[stream].rollovers = (uint32_t)(now >> 32);
        vxm_time((uint16_t)stream, now);
    }
    if (VXM_UNLIKELY(pending[stream].read != pending[stream].written ||
                     pending[stream].missed_told != pending[stream].missed)) {
        record_pending(stream);
    }
    VXM_PORT_UNMASK(state);
}
