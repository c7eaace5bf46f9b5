/* SPDX-License-Identifier: Apache-2.0 */
#include "vxm/agent.h"

#include "auth.h"
#include "command.h"
#include "cookie.h"
#include "evtmap.h"
#include "fragments.h"
#include "grow.h"
#include "heartbeat.h"
#include "link.h"
#include "objects.h"
#include "pending.h"
#include "run.h"
#include "sample.h"
#include "tables.h"
#include "upload.h"

/* After so many pieces of work the clock's duties are looked at again. */
#define WORK_PER_TICK 16u

struct vxm_agent vxm_agent;

static uint32_t boot_of(uint64_t entropy)
{
    uint32_t boot = (uint32_t)(entropy >> 32) ^ (uint32_t)entropy;
    return boot != 0 ? boot : 1u;
}

static void reset_context(void)
{
    memset(&vxm_recorder, 0, sizeof vxm_recorder);
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_units_reset(i, NULL, 0, 0, false);
        vxm_recorder.stream[i].context.task = VXM_UNNAMED;
    }
}

static int set_up(const struct vxm_agent_config *config)
{
    memset(&vxm_agent, 0, sizeof vxm_agent);
    vxm_agent.config = *config;
    vxm_agent.table = config->os_release != NULL ? vxm_event_table_find(config->os_release) : NULL;
    if (vxm_agent.table == NULL) {
        return VXM_ERR_UNSUPPORTED;
    }
    vxm_agent.hz = vxm_port_clock_hz();
    vxm_agent.arena = vxm_port_arena(&vxm_agent.arena_size);
    if (vxm_agent.hz == 0) {
        return VXM_ERR_ARGUMENT;
    }
    return vxm_agent.arena == NULL ? VXM_ERR_MEMORY : VXM_OK;
}

int vxm_agent_init(const struct vxm_agent_config *config)
{
    reset_context();
    int status = set_up(config);
    if (status != VXM_OK) {
        return status;
    }
    uint64_t entropy = vxm_port_entropy();
    vxm_agent.boot = boot_of(entropy);
    vxm_frame_init(vxm_agent.boot);
    vxm_cookie_init(entropy);
    status = vxm_auth_init(entropy);
    if (status != VXM_OK) {
        return status;
    }
    vxm_sample_init();
    vxm_grow_init();
    vxm_evtmap_init(vxm_agent.table);
    vxm_objects_init();
    vxm_pending_init();
    vxm_link_init();
    vxm_fragments_init();
    vxm_command_init();
    vxm_heartbeat_init();
    vxm_tables_init();
    vxm_evtmap_publish();
    if (!config->autostart) {
        return VXM_OK;
    }
    vxm_link_assume(&config->peer);
    return vxm_agent_start(&config->start);
}

static int status_of(vxmon_Result result)
{
    switch (result) {
    case vxmon_Result_OK:
        return VXM_OK;
    case vxmon_Result_STATE:
        return VXM_ERR_STATE;
    case vxmon_Result_MEMORY:
        return VXM_ERR_MEMORY;
    case vxmon_Result_UNSUPPORTED:
        return VXM_ERR_UNSUPPORTED;
    default:
        return VXM_ERR_ARGUMENT;
    }
}

int vxm_agent_start(const struct vxm_run_config *config)
{
    struct vxm_run_config filled = *config;
    struct vxm_text why;
    char words[160];
    vxm_text_begin(&why, words, sizeof words);
    return status_of(vxm_run_start(&filled, &why));
}

int vxm_agent_stop(uint16_t reason)
{
    struct vxm_text why;
    char words[32];
    vxm_text_begin(&why, words, sizeof words);
    return status_of(vxm_run_stop(reason, &why));
}

bool vxm_agent_busy(void)
{
    return vxm_upload_busy() || vxm_end_pending();
}

void vxm_agent_totals(unsigned stream, struct vxm_totals *totals)
{
    vxmon_StreamState figures;
    memset(totals, 0, sizeof *totals);
    if (stream >= VXM_PORT_STREAMS) {
        return;
    }
    vxm_upload_state(stream, &figures);
    totals->recorded = figures.recorded;
    totals->overwritten = figures.losses.overwritten;
    totals->full = figures.losses.full;
    totals->exhausted = figures.losses.exhausted;
    totals->blocks = figures.blocks;
}

/* What the clock asks for. */
static enum vxm_work tick(void)
{
    uint64_t now = VXM_PORT_CLOCK64();
    vxm_run_tick(now);
    (void)vxm_grow_step(now);
    vxm_link_tick(now);
    return vxm_heartbeat_step(now);
}

/* Receiving, sampling and sending take turns, so that none can starve the others. */
static enum vxm_work exchange(void)
{
    enum vxm_work received = vxm_command_step();
    enum vxm_work sampled = vxm_sample_step(VXM_PORT_CLOCK64());
    enum vxm_work sent = vxm_upload_step();
    if (sent == VXM_IDLE) {
        return received == VXM_IDLE ? sampled : received;
    }
    return sampled == VXM_WORKED && sent == VXM_BLOCKED ? VXM_WORKED : sent;
}

bool vxm_agent_step(uint64_t deadline)
{
    bool worked = tick() != VXM_IDLE;
    worked |= vxm_fragments_step() != VXM_IDLE;
    worked |= vxm_tables_step(VXM_PORT_CLOCK64()) != VXM_IDLE;
    for (unsigned done = 1; VXM_PORT_CLOCK64() < deadline; done++) {
        enum vxm_work work = exchange();
        if (work == VXM_IDLE) {
            break;
        }
        worked = true;
        if (work == VXM_BLOCKED) {
            break;
        }
        if (done % WORK_PER_TICK == 0) {
            (void)tick();
        }
    }
    return worked;
}
