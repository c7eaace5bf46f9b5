/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port contract: all that the agent needs from an operating system and a board.
 *
 * A port supplies `vxm_port_config.h` on the include path (macros and inline functions of the hot
 * path) and one C file with the functions below. Copy ports/template to begin; PORTING.md explains
 * each item. Whatever is missing is named by an #error.
 */
#ifndef VXM_PORT_H
#define VXM_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vxm_port_config.h"

#ifndef VXM_PORT_BIG_ENDIAN
#error "vxm_port_config.h: define VXM_PORT_BIG_ENDIAN as 1 or 0, the byte order of this target"
#endif
#ifndef VXM_PORT_STREAMS
#error "vxm_port_config.h: define VXM_PORT_STREAMS, the number of streams (one per CPU)"
#endif
#ifndef VXM_PORT_STREAM
#error "vxm_port_config.h: define VXM_PORT_STREAM(), the stream of the running CPU"
#endif
#ifndef VXM_PORT_CLOCK32
#error "vxm_port_config.h: define VXM_PORT_CLOCK32(), the low 32 bits of the clock, in ticks"
#endif
#ifndef VXM_PORT_CLOCK64
#error "vxm_port_config.h: define VXM_PORT_CLOCK64(), the whole clock, in ticks"
#endif
#ifndef VXM_PORT_MASK
#error "vxm_port_config.h: define VXM_PORT_MASK(), which masks interrupts and returns the old state"
#endif
#ifndef VXM_PORT_UNMASK
#error "vxm_port_config.h: define VXM_PORT_UNMASK(state), which restores what VXM_PORT_MASK returned"
#endif
#ifndef VXM_PORT_MAX_PARTITIONS
#error "vxm_port_config.h: define VXM_PORT_MAX_PARTITIONS (the module OS counts as one)"
#endif
#ifndef VXM_PORT_MAX_TASKS
#error "vxm_port_config.h: define VXM_PORT_MAX_TASKS, tasks created in one boot"
#endif
#ifndef VXM_PORT_MAX_OBJECTS
#error "vxm_port_config.h: define VXM_PORT_MAX_OBJECTS, communication objects created in one boot"
#endif

/* Room before and after a datagram that the port may use for its own headers, in bytes. */
#ifndef VXM_PORT_HEADROOM
#define VXM_PORT_HEADROOM 64
#endif

/* The other end of a datagram. IPv4 in host order. */
struct vxm_peer {
    uint32_t address;
    uint16_t port;
};

/* Ticks per second of the clock. Constant within a boot. */
uint32_t vxm_port_clock_hz(void);

/* Memory for record buffers: the whole arena, 8-byte aligned; *size in bytes. Called once, at init. */
void *vxm_port_arena(size_t *size);

/* 64 bits that a stranger cannot guess and that differ in each boot. */
uint64_t vxm_port_entropy(void);

/*
 * The key that hosts must have (SPEC section 10): writes VXM_KEY_MIN to VXM_KEY_MAX bytes and returns how
 * many; 0: there is none, everybody is served. Called once, at init. vxm_key_from_text reads a key file.
 */
#define VXM_KEY_MIN 16u
#define VXM_KEY_MAX 64u
size_t vxm_port_key(uint8_t key[VXM_KEY_MAX]);

/*
 * Takes one received datagram, or returns 0 when there is none. *data stays valid until the next
 * call. Never blocks. Agent context only.
 */
size_t vxm_port_receive(struct vxm_peer *from, const uint8_t **data);

/*
 * Sends one datagram of `length` bytes that begins at `data`; VXM_PORT_HEADROOM bytes before it
 * belong to the port during the call. Never blocks. False when the network did not take it.
 */
bool vxm_port_send(const struct vxm_peer *to, uint8_t *data, size_t length);

/*
 * Shows the enable bits (1024 bits, event id e = bit e % 32 of word e / 32, only events that
 * partitions may record) to the partitions, if they record through a system call; else does nothing.
 */
void vxm_port_publish_enable(const uint32_t bits[32]);

/* Starts a scenario by name. False when there is none of that name. Agent context. */
bool vxm_port_scenario(const char *name);

#endif
