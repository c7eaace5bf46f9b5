/* SPDX-License-Identifier: Apache-2.0 */
/* A run: checking its configuration, start, stop, filters. Agent context only. */
#ifndef VXM_AGENT_RUN_H
#define VXM_AGENT_RUN_H

#include "generated/vxmon.pb.h"
#include "state.h"
#include "text.h"

/* Starts; on refusal *why says it in words. *config gets the defaults filled in. */
vxmon_Result vxm_run_start(struct vxm_run_config *config, struct vxm_text *why);

/* Records STOP as the last record and closes all units. */
vxmon_Result vxm_run_stop(uint16_t reason, struct vxm_text *why);

/* Switches an event; closes the units and records FILTER. */
vxmon_Result vxm_run_filter(uint32_t event, bool on, struct vxm_text *why);

/*
 * Checks a configuration and, unless check_only, makes it that of the next start without one; while a run lasts,
 * that of the run. *config gets the defaults filled in.
 */
vxmon_Result vxm_run_configure(struct vxm_run_config *config, bool check_only, struct vxm_text *why);

/* Closes units that are due; stops when a stop condition is met. */
void vxm_run_tick(uint64_t now);

#endif
