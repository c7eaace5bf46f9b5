/* SPDX-License-Identifier: Apache-2.0 */
#include "port.h"

#include <time.h>

#include "vxm/agent.h"

#define NS_PER_SECOND 1000000000u

struct vxm_posix vxm_posix = {.hz = NS_PER_SECOND};
void (*vxm_posix_on_publish)(const uint32_t bits[32]);
bool (*vxm_posix_on_scenario)(const char *name);

static void *arena;
static size_t arena_size;
static uint64_t entropy = 1;
static uint8_t secret[VXM_KEY_MAX];
static size_t key_size;

uint64_t vxm_posix_monotonic(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t part = (uint64_t)now.tv_nsec * vxm_posix.hz / NS_PER_SECOND;
    return (uint64_t)now.tv_sec * vxm_posix.hz + part + vxm_posix.offset;
}

/* The handler runs masked and once; what it records must not be interrupted again by itself. */
void vxm_posix_take_interrupt(void)
{
    void (*handler)(void) = vxm_posix.interrupt;
    vxm_posix.interrupt = NULL;
    vxm_posix.masked = 1;
    handler();
    vxm_posix.masked = 0;
}

void vxm_posix_set_arena(void *memory, size_t size)
{
    arena = memory;
    arena_size = size;
}

void vxm_posix_set_entropy(uint64_t value)
{
    entropy = value;
}

bool vxm_posix_set_key(const char *text, size_t length)
{
    key_size = vxm_key_from_text(text, length, secret);
    return key_size != 0;
}

uint32_t vxm_port_clock_hz(void)
{
    return vxm_posix.hz;
}

void *vxm_port_arena(size_t *size)
{
    *size = arena_size;
    return arena;
}

uint64_t vxm_port_entropy(void)
{
    return entropy;
}

size_t vxm_port_key(uint8_t key[VXM_KEY_MAX])
{
    for (size_t i = 0; i < key_size; i++) {
        key[i] = secret[i];
    }
    return key_size;
}

size_t vxm_port_receive(struct vxm_peer *from, const uint8_t **data)
{
    return vxm_posix_network_receive(from, data);
}

bool vxm_port_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    return vxm_posix_network_send(to, data, length);
}

void vxm_port_publish_enable(const uint32_t bits[32])
{
    if (vxm_posix_on_publish != NULL) {
        vxm_posix_on_publish(bits);
    }
}

bool vxm_port_scenario(const char *name)
{
    return vxm_posix_on_scenario != NULL && vxm_posix_on_scenario(name);
}
