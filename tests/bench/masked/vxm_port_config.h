/* SPDX-License-Identifier: Apache-2.0 */
/* The demo kernel's port with a clock in its mask: how long interrupts stay masked (record_bench.c). */
#ifndef VXM_BENCH_MASKED_H
#define VXM_BENCH_MASKED_H

#include "target_c/ports/a653/vxm_port_config.h"

#define BENCH_MASKED 1

extern volatile uint32_t bench_masked_since;
extern volatile uint32_t bench_masked_ticks;

static inline uintptr_t bench_mask(void)
{
    uintptr_t state = vxm_port_mask();
    bench_masked_since = vxm_port_clock_low();
    return state;
}

static inline void bench_unmask(uintptr_t state)
{
    bench_masked_ticks += vxm_port_clock_low() - bench_masked_since;
    vxm_port_unmask(state);
}

#undef VXM_PORT_MASK
#undef VXM_PORT_UNMASK
#define VXM_PORT_MASK() bench_mask()
#define VXM_PORT_UNMASK(state) bench_unmask(state)

#endif
