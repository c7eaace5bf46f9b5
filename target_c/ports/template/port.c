/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a port. Copy this folder, then work off every FIXME; PORTING.md explains each item. */
#include "vxm/port.h"

#include "vxm/agent.h"
#include "vxm/collect.h"
#include "vxm/hooks.h"

#define ARENA_BYTES (256u << 10)

volatile uint64_t template_clock;

static uint64_t arena[ARENA_BYTES / sizeof(uint64_t)];

uint32_t vxm_port_clock_hz(void)
{
    return 1000000; /* FIXME: ticks a second of VXM_PORT_CLOCK64 */
}

void *vxm_port_arena(size_t *size)
{
    *size = sizeof arena; /* FIXME: a few MB; more rides out longer breaks of the link */
    return arena;
}

uint64_t vxm_port_entropy(void)
{
    return 1; /* FIXME: 64 bits that differ in each boot and cannot be guessed */
}

size_t vxm_port_key(uint8_t key[VXM_KEY_MAX])
{
    (void)key; /* FIXME: where only some hosts may command the target: its key. 0: there is none */
    return 0;
}

size_t vxm_port_receive(struct vxm_peer *from, const uint8_t **data)
{
    (void)from; /* FIXME: the next datagram that came to the agent's UDP port; 0: none. Never wait. */
    (void)data;
    return 0;
}

bool vxm_port_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    (void)to; /* FIXME: send; the VXM_PORT_HEADROOM bytes before data are yours. Never wait. */
    (void)data;
    (void)length;
    return false;
}

void vxm_port_publish_enable(const uint32_t bits[32])
{
    (void)bits; /* FIXME: only if partitions record through a system call: copy to a page they can read */
}

bool vxm_port_scenario(const char *name)
{
    (void)name; /* FIXME: only if the target can provoke situations by name */
    return false;
}

const struct vxm_interface *vxm_port_interface(const char *os_release)
{
    static const struct vxm_interface interface = {
        .memory = NULL, /* FIXME: what this OS can tell; NULL where it cannot. See vxm/collect.h */
        .stack = NULL,
        .operations = NULL,
        .log_state = NULL,
        .log_read = NULL,
    };
    (void)os_release;
    return &interface;
}

void *vxm_port_more_memory(size_t bytes)
{
    (void)bytes; /* FIXME: memory for buffers beyond the arena, if the OS can give any at run time */
    return NULL;
}

void template_start_monitoring(void);
void template_monitoring_task(uint64_t deadline);

/* FIXME: call once, before the first partition, task or object is created. */
void template_start_monitoring(void)
{
    static const struct vxm_agent_config config = {
        .os_release = "2.4", /* FIXME: the release whose events the hooks record */
        .os_name = "FIXME",
        .board = "FIXME",
        .udp_port = 6530,
    };
    if (vxm_agent_init(&config) != VXM_OK) {
        return; /* FIXME: say so where somebody sees it; without init all hooks do nothing */
    }
}

/*
 * FIXME: call from a task of the OS in time that belongs to no partition, with the instant at which that
 * time ends. False means that there was nothing to do, so the task may give the rest away.
 */
void template_monitoring_task(uint64_t deadline)
{
    while (VXM_PORT_CLOCK64() < deadline && vxm_agent_step(deadline)) {
    }
}
