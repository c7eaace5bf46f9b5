/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: target information, events, objects (SPEC section 7, channel TABLE). Agent context only. */
#ifndef VXM_AGENT_TABLES_H
#define VXM_AGENT_TABLES_H

#include "generated/vxmon.pb.h"
#include "state.h"
#include "vxm/hooks.h"

void vxm_tables_init(void);

/* Sends all tables, from the beginning when they are being sent already. */
void vxm_tables_request(void);

/* The same at the start of a run, between SNAPSHOT begin and SNAPSHOT end. */
void vxm_tables_snapshot(void);

/* The run is over: no SNAPSHOT end will be recorded. */
void vxm_tables_end_snapshot(void);

/* Sends at most one datagram; begins again when it is time or something changed. */
enum vxm_work vxm_tables_step(uint64_t now);

/* A schedule must fit one part of the object table. */
bool vxm_tables_schedule_fits(const struct vxm_schedule_info *schedule);

void vxm_tables_fill_info(vxmon_TargetInfo *info);

#endif
