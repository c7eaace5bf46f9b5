/* SPDX-License-Identifier: Apache-2.0 */
/* A run: checking its configuration, start, stop, filters. Agent context only. */
#ifndef VXM_AGENT_RUN_H
#define VXM_AGENT_RUN_H

#include "generated/vxmon.pb.h"
#include "state.h"
#include "text.h"

#define VXM_DEFAULT_UNIT_SLOTS 1024u

/* Starts; on refusal *why says it in words. *config gets the defaults filled in. */
vxmon_Result vxm_run_start(struct vxm_run_config *config, struct vxm_text *why);

/* Records STOP as the last record and closes all units. */
vxmon_Result vxm_run_stop(uint16_t reason, struct vxm_text *why);

/* Switches an event; closes the units and records FILTER. */
vxmon_Result vxm_run_filter(uint32_t event, bool on, struct vxm_text *why);

/* Closes units that are due; stops when the run's time is over. */
void vxm_run_tick(uint64_t now);

/* The most units a stream can have with units of this size. */
uint32_t vxm_run_max_units(uint32_t unit_slots);

#endif
