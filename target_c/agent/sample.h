/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periodic samples of memory, stacks and operation counts. What a sample needs is asked of the operating
 * system one partition or task at a time. Agent context only.
 */
#ifndef VXM_AGENT_SAMPLE_H
#define VXM_AGENT_SAMPLE_H

#include "state.h"
#include "vxm/collect.h"

/* The collectors of events that are sampled. */
enum vxm_sampler { VXM_SAMPLE_MEMORY, VXM_SAMPLE_STACK, VXM_SAMPLE_OPERATIONS, VXM_SAMPLERS };

void vxm_sample_init(void);

/* What the port can tell; never NULL after vxm_sample_init. */
const struct vxm_interface *vxm_sample_interface(void);

/* Is there a function of the port behind the sampler? */
bool vxm_sample_offered(enum vxm_sampler sampler);

/* Starts a sampler with its period, from now on; the first sample is taken at once. */
void vxm_sample_begin(enum vxm_sampler sampler, uint32_t period_ms, uint64_t now);
void vxm_sample_end(enum vxm_sampler sampler);

/* Takes the next piece of a sample that is due. */
enum vxm_work vxm_sample_step(uint64_t now);

#endif
