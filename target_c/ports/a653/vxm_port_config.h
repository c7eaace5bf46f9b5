/* SPDX-License-Identifier: Apache-2.0 */
/* The port to the demo kernel on PowerPC e500mc: the parts on the recording path. */
#ifndef VXM_PORT_CONFIG_H
#define VXM_PORT_CONFIG_H

#include <stdint.h>

#define VXM_PORT_BIG_ENDIAN 1
#define VXM_PORT_STREAMS 1
#define VXM_PORT_STREAM() 0u
/* The module OS and the kernel's MAX_PARTITIONS. */
#define VXM_PORT_MAX_PARTITIONS 17
#define VXM_PORT_MAX_TASKS 512
#define VXM_PORT_MAX_OBJECTS 256

#define VXM_PORT_CLOCK32() vxm_port_clock_low()
#define VXM_PORT_CLOCK64() vxm_port_clock_whole()
#define VXM_PORT_MASK() vxm_port_mask()
#define VXM_PORT_UNMASK(state) vxm_port_unmask(state)

static inline uint32_t vxm_port_clock_low(void)
{
    uint32_t low;

    __asm__ volatile("mfspr %0, 268" : "=r"(low));
    return low;
}

static inline uint64_t vxm_port_clock_whole(void)
{
    uint32_t high, low, again;

    do {
        __asm__ volatile("mfspr %0, 269\n\tmfspr %1, 268\n\tmfspr %2, 269" : "=r"(high), "=r"(low), "=r"(again));
    } while (high != again);
    return (uint64_t)high << 32 | low;
}

static inline uintptr_t vxm_port_mask(void)
{
    uintptr_t state;

    __asm__ volatile("mfmsr %0\n\twrteei 0" : "=r"(state)::"memory");
    return state;
}

static inline void vxm_port_unmask(uintptr_t state)
{
    __asm__ volatile("wrtee %0" ::"r"(state) : "memory");
}

#endif
