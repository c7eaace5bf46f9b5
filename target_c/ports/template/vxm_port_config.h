/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path of a port. Copy this folder, then work off every FIXME; PORTING.md explains each item.
 * As it stands it compiles and records nothing useful: the clock is a counter, nothing is masked.
 */
#ifndef VXM_PORT_CONFIG_H
#define VXM_PORT_CONFIG_H

#include <stdint.h>

/* FIXME: byte order of the target. */
#define VXM_PORT_BIG_ENDIAN 1

/* FIXME: number of CPUs that record, 1-8. */
#define VXM_PORT_STREAMS 1

/* FIXME: the CPU that is running, 0 ... VXM_PORT_STREAMS - 1. Called masked. */
#define VXM_PORT_STREAM() 0u

/* FIXME: how many of each can be created in one boot, at most 65535. Their tables are static. */
#define VXM_PORT_MAX_PARTITIONS 16
#define VXM_PORT_MAX_TASKS 128
#define VXM_PORT_MAX_OBJECTS 128

/* FIXME: bytes that the network driver puts before a datagram; at least 42 for Ethernet, IPv4 and UDP. */
#define VXM_PORT_HEADROOM 64

extern volatile uint64_t template_clock;

/* FIXME: read a counter that never stops or steps back; the low 32 bits in one instruction if possible. */
static inline uint64_t template_read_clock(void)
{
    return template_clock++;
}
#define VXM_PORT_CLOCK32() ((uint32_t)template_read_clock())
#define VXM_PORT_CLOCK64() template_read_clock()

/* FIXME: mask interrupts of the running CPU, and return what restores the state before. */
static inline uintptr_t template_mask(void)
{
    return 0;
}

/* FIXME: restore. Calls nest: only the outermost one may let interrupts in. */
static inline void template_unmask(uintptr_t state)
{
    (void)state;
}
#define VXM_PORT_MASK() template_mask()
#define VXM_PORT_UNMASK(state) template_unmask(state)

#endif
