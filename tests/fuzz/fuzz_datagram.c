/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: datagrams into a fresh agent, with what coverage teaches the fuzzer about them.
 * fuzz_agent.c knows the messages and tries what their fields can be; this one finds the rest.
 *
 * An input is a byte of settings and then datagrams: a byte that says how each comes, its length in two
 * bytes, and its bytes. With FIX the header is made right, so that the payload is what is tried.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "generated/event_table.h"
#include "link.h"
#include "port.h"
#include "state.h"
#include "vxm/agent.h"
#include "vxm/hooks.h"

#define HZ 1000000u
#define ARENA_BYTES (1u << 16)
#define LOOPBACK 0x7F000001u
#define HOST_PORT 4000u
#define STRANGER_PORT 5000u
#define MOST_DATAGRAMS 32u
#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"

enum setting { CONTROLLED = 1, RUNNING = 2, WITH_KEY = 4, LINEAR = 8, ONE_WAY = 16 };
enum how { FIX = 1, STRANGER = 2, LATER = 4, RECORDS = 8, CHANNEL_SHIFT = 4 };

static struct {
    uint8_t bytes[VXM_FRAME_MAX + 64u];
    size_t length;
    struct vxm_peer from;
    bool waiting;
} incoming;

static size_t stranger_sent;
static size_t stranger_got;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t vxm_posix_network_receive(struct vxm_peer *from, const uint8_t **data)
{
    if (!incoming.waiting) {
        return 0;
    }
    incoming.waiting = false;
    *from = incoming.from;
    *data = incoming.bytes;
    return incoming.length;
}

bool vxm_posix_network_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    vxm_posix.now += 5;
    if (length < VXM_FRAME_HEADER || length > VXM_FRAME_MAX) {
        abort();
    }
    if (to->port == STRANGER_PORT && !vxm_link_is_controller(to)) {
        stranger_got += length;
        if (stranger_got > stranger_sent) {
            abort(); /* a stranger got more than it sent */
        }
    }
    memset(data - VXM_PORT_HEADROOM, 0x5A, VXM_PORT_HEADROOM + length);
    return true;
}

static void put(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(value >> (8u * (bytes - 1u - i)));
    }
}

static void make_header(uint8_t channel, size_t payload)
{
    uint8_t *data = incoming.bytes;
    memset(data, 0, VXM_FRAME_HEADER);
    put(data, VXM_FRAME_MAGIC, 4);
    data[4] = VXM_FRAME_VERSION;
    data[6] = channel;
    data[7] = VXM_FRAME_HEADER;
    put(data + 18, 1, 2);
    put(data + 20, payload, 2);
    put(data + 22, payload, 2);
    uint32_t crc = vxm_frame_crc(0, data, 28);
    put(data + 28, vxm_frame_crc(crc, data + VXM_FRAME_HEADER, payload), 4);
    incoming.length = VXM_FRAME_HEADER + payload;
}

static void deliver(uint8_t how, const uint8_t *bytes, size_t length)
{
    if ((how & FIX) != 0) {
        size_t most = VXM_FRAME_MAX - VXM_FRAME_HEADER;
        length = length < most ? length : most;
        memcpy(incoming.bytes + VXM_FRAME_HEADER, bytes, length);
        make_header(how >> CHANNEL_SHIFT, length);
    } else {
        incoming.length = length < sizeof incoming.bytes ? length : sizeof incoming.bytes;
        memcpy(incoming.bytes, bytes, incoming.length);
    }
    incoming.from = (struct vxm_peer){LOOPBACK, (how & STRANGER) != 0 ? STRANGER_PORT : HOST_PORT};
    stranger_sent += (how & STRANGER) != 0 ? incoming.length : 0;
    incoming.waiting = true;
    vxm_posix.now += (how & LATER) != 0 ? HZ : 100u;
    for (uint16_t i = 0; (how & RECORDS) != 0 && i < 100u; i++) {
        vxm_user(i, i, ~(uint32_t)i);
    }
    (void)vxm_agent_step(vxm_posix.now + 200u);
}

static void set_up(uint8_t settings)
{
    static uint64_t arena[ARENA_BYTES / sizeof(uint64_t)];
    struct vxm_agent_config config = {.os_release = "2.4", .os_name = "fuzz", .board = "none"};
    const struct vxm_peer host = {LOOPBACK, HOST_PORT};

    vxm_posix.manual = true;
    vxm_posix.hz = HZ;
    vxm_posix.now = UINT32_MAX - HZ;
    incoming.waiting = false;
    stranger_sent = stranger_got = 0;
    vxm_posix_set_arena(arena, sizeof arena);
    vxm_posix_set_entropy(1);
    (void)vxm_posix_set_key((settings & WITH_KEY) != 0 ? KEY : "", (settings & WITH_KEY) != 0 ? sizeof KEY - 1u : 0);
    if (vxm_agent_init(&config) != VXM_OK || ((settings & CONTROLLED) != 0 && !vxm_link_take(&host))) {
        abort();
    }
    if ((settings & RUNNING) != 0) {
        struct vxm_run_config run = {.policy = (settings & LINEAR) != 0 ? VXM_LINEAR : VXM_RING};
        run.one_way = (settings & ONE_WAY) != 0;
        memcpy(run.enable, vxm_event_table_find("2.4")->offered, sizeof run.enable);
        (void)vxm_agent_start(&run);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    set_up(data[0]);
    size_t at = 1;
    for (unsigned count = 0; count < MOST_DATAGRAMS && at + 3u <= size; count++) {
        size_t length = data[at + 1] | (size_t)data[at + 2] << 8;
        length = length < size - at - 3u ? length : size - at - 3u;
        deliver(data[at], data + at + 3u, length);
        at += 3u + length;
    }
    vxm_posix.now += HZ / 2u;
    (void)vxm_agent_step(vxm_posix.now + 1000u);
    return 0;
}
