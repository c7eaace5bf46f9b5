/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to Linux: a quick local target, unit tests and fuzzing. One thread records and runs the
 * agent; interrupts are simulated at the ends of masked sections, where real ones would come.
 */
#ifndef VXM_PORT_CONFIG_H
#define VXM_PORT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define VXM_PORT_BIG_ENDIAN 1
#else
#define VXM_PORT_BIG_ENDIAN 0
#endif

#ifndef VXM_PORT_STREAMS
#define VXM_PORT_STREAMS 1
#endif
#ifndef VXM_PORT_MAX_PARTITIONS
#define VXM_PORT_MAX_PARTITIONS 64
#endif
#ifndef VXM_PORT_MAX_TASKS
#define VXM_PORT_MAX_TASKS 512
#endif
#ifndef VXM_PORT_MAX_OBJECTS
#define VXM_PORT_MAX_OBJECTS 512
#endif

struct vxm_posix {
    uint32_t hz;
    uint64_t offset; /* added to CLOCK_MONOTONIC, in ticks */
    bool manual;     /* the clock stands at `now` until a test moves it */
    uint64_t now;
    unsigned stream; /* the CPU that is running */
    uintptr_t masked;
    void (*interrupt)(void); /* called, masked, where a pending interrupt would be taken; NULL: none */
};
extern struct vxm_posix vxm_posix;

uint64_t vxm_posix_monotonic(void);
void vxm_posix_take_interrupt(void);

static inline uint64_t vxm_posix_clock(void)
{
    return vxm_posix.manual ? vxm_posix.now : vxm_posix_monotonic();
}

static inline uintptr_t vxm_posix_mask(void)
{
    return vxm_posix.masked++;
}

static inline void vxm_posix_unmask(uintptr_t state)
{
    vxm_posix.masked = state;
    if (state == 0 && vxm_posix.interrupt != NULL) {
        vxm_posix_take_interrupt();
    }
}

#if VXM_PORT_STREAMS > 1
#define VXM_PORT_STREAM() (vxm_posix.stream)
#else
#define VXM_PORT_STREAM() 0u
#endif
#define VXM_PORT_CLOCK32() ((uint32_t)vxm_posix_clock())
#define VXM_PORT_CLOCK64() vxm_posix_clock()
#define VXM_PORT_MASK() vxm_posix_mask()
#define VXM_PORT_UNMASK(state) vxm_posix_unmask(state)

#endif
