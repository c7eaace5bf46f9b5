/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a run: defaults, limits, and why one is refused, in words. Agent context only. */
#ifndef VXM_AGENT_CONFIG_H
#define VXM_AGENT_CONFIG_H

#include "generated/vxmon.pb.h"
#include "state.h"
#include "text.h"

#define VXM_DEFAULT_UNIT_SLOTS 1024u
#define VXM_MIN_PERIOD_MS 10u
#define VXM_MAX_PERIOD_MS 3600000u
#define VXM_MAX_CONTENT_BYTES 4096u

/* Puts the defaults in the place of zeros and adds the events that are part of every run. */
void vxm_config_fill(struct vxm_run_config *config);

/* Can a run be recorded like this? Else *why says why not. The defaults are filled in. */
vxmon_Result vxm_config_check(const struct vxm_run_config *config, struct vxm_text *why);

/* The most units that a stream can begin with, of this size. */
uint32_t vxm_config_max_units(uint32_t unit_slots);

/* True when low <= value <= high, else it is said in words. */
bool vxm_config_within(const char *name, uint32_t value, uint32_t low, uint32_t high, struct vxm_text *why);

/* From a message; defaults are not filled in. Refuses what could not be told from a default. */
vxmon_Result vxm_config_from_message(struct vxm_run_config *config, const vxmon_RunConfig *from, struct vxm_text *why);
void vxm_config_to_message(vxmon_RunConfig *to, const struct vxm_run_config *config);

/* "event NAME (ID)". */
void vxm_config_name_event(struct vxm_text *why, uint32_t id);
vxmon_Result vxm_config_refuse_event(struct vxm_text *why, uint32_t id);

#endif
