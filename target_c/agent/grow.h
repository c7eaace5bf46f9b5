/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth of the buffers in bounded steps, from what the run left of the arena, then from memory that the
 * port gives beyond it. Agent context only.
 */
#ifndef VXM_AGENT_GROW_H
#define VXM_AGENT_GROW_H

#include "state.h"

void vxm_grow_init(void);

/* A new run begins, which has taken the first `used` bytes of the arena. */
void vxm_grow_begin(size_t used);

/* Grows one stream by one step when few of its units are free. */
enum vxm_work vxm_grow_step(uint64_t now);

/* Growths that found no memory, since boot. */
uint32_t vxm_grow_failures(void);

#endif
