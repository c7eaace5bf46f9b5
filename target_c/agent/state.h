/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the agent share. Agent context only. */
#ifndef VXM_AGENT_STATE_H
#define VXM_AGENT_STATE_H

#include "compiler.h"
#include "frame.h"
#include "generated/event_table.h"
#include "units.h"
#include "vxm/agent.h"

#define VXM_AGENT_VERSION "0.1"

/* Outcome of one piece of work. */
enum vxm_work {
    VXM_IDLE,    /* nothing to do */
    VXM_WORKED,  /* done, there may be more */
    VXM_BLOCKED, /* the network takes nothing now */
};

struct vxm_agent {
    struct vxm_agent_config config;
    const struct vxm_event_table *table;
    uint32_t boot;
    uint32_t hz;
    uint8_t *arena;
    size_t arena_size;
    uint32_t run; /* 0: none in this boot */
    bool running;
    struct vxm_run_config start;         /* of the run, defaults filled in */
    struct vxm_run_config configuration; /* of the next start without one */
    bool configured;
    uint64_t started_at; /* ticks */
    uint64_t stopped_at;
    uint16_t stop_reason;
    uint32_t due_words;   /* fill at which a unit is due */
    uint64_t flush_ticks; /* age at which it is */
};

extern struct vxm_agent vxm_agent;

static inline uint64_t vxm_ticks_of_ms(uint32_t ms)
{
    return (uint64_t)vxm_agent.hz * ms / 1000u;
}

/* Datagram size of the run, or the default before the first. */
static inline uint32_t vxm_datagram_bytes(void)
{
    return vxm_agent.start.datagram_bytes != 0 ? vxm_agent.start.datagram_bytes : VXM_FRAME_DEFAULT;
}

#endif
