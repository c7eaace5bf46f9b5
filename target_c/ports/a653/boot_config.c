/* SPDX-License-Identifier: Apache-2.0 */
#include "boot_config.h"

#include "generated/event_table.h"
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/net.h"
#include "kernel/parameters.h"
#include "vxm/record.h"

#define DEFAULT_PORT 6530u

static const char *const RELEASE[] = {"2.4", "2.2", NULL};
static const char *const SWITCH[] = {"0", "1", NULL};

static _Noreturn void refuse(const char *key)
{
    panic("boot parameter %s=%s: see target_c/kernel/README.md for its form", key, parameter(key));
}

static uint64_t number_up_to(const char *key, const char **at, uint64_t most)
{
    uint64_t number = 0;

    if (!text_number(at, &number) || number > most) {
        refuse(key);
    }
    return number;
}

static void expect(const char *key, const char **at, char character)
{
    if (*(*at)++ != character) {
        refuse(key);
    }
}

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10u : 16u;
}

static void read_ethernet(const char *at, uint8_t ethernet[6])
{
    for (unsigned i = 0; i < 6u; i++) {
        const unsigned high = hex_digit(at[0]), low = high < 16u ? hex_digit(at[1]) : 16u;
        if (low >= 16u || at[2] != (i < 5u ? ':' : '\0')) {
            refuse("peer");
        }
        ethernet[i] = (uint8_t)(high << 4 | low);
        at += 3;
    }
}

static void read_peer(struct vxm_peer *peer)
{
    const char *at = parameter("peer");
    uint8_t ethernet[6];

    for (unsigned i = 0; i < 4u; i++) {
        peer->address = peer->address << 8 | (uint32_t)number_up_to("peer", &at, 255);
        expect("peer", &at, i < 3u ? '.' : ':');
    }
    peer->port = (uint16_t)number_up_to("peer", &at, UINT16_MAX);
    if (*at == '@') {
        read_ethernet(at + 1, ethernet);
        net_set_neighbour(peer->address, ethernet);
    } else if (*at != '\0') {
        refuse("peer");
    }
}

static void switch_events(uint32_t enable[32], uint64_t first, uint64_t last, bool on)
{
    for (uint64_t id = first; id <= last; id++) {
        const uint32_t bit = 1u << (id % 32u);
        enable[id / 32u] = on ? enable[id / 32u] | bit : enable[id / 32u] & ~bit;
    }
}

/* ID or ID-ID, joined by '+'. */
static void read_events(struct vxm_run_config *run, const char **at, bool on)
{
    if (on) {
        memset(run->enable, 0, sizeof run->enable);
    }
    for (;;) {
        const uint64_t first = number_up_to("config", at, VXM_MAX_EVENTS - 1u);
        uint64_t last = first;
        if (**at == '-') {
            ++*at;
            last = number_up_to("config", at, VXM_MAX_EVENTS - 1u);
        }
        switch_events(run->enable, first, last, on);
        if (**at != '+') {
            return;
        }
        ++*at;
    }
}

static bool word(const char **at, const char *expected)
{
    const size_t length = strlen(expected);

    for (size_t i = 0; i < length; i++) {
        if ((*at)[i] != expected[i]) {
            return false;
        }
    }
    *at += length;
    return true;
}

static void read_policy(struct vxm_run_config *run, const char **at)
{
    if (word(at, "linear")) {
        run->policy = VXM_LINEAR;
    } else if (word(at, "ring")) {
        run->policy = VXM_RING;
    } else {
        refuse("config");
    }
}

/* What a collection plan may say beyond the rest. */
static bool read_plan_item(struct vxm_run_config *run, const char **at)
{
    if (word(at, "payload:")) {
        run->payload = (uint8_t)number_up_to("config", at, 2);
    } else if (word(at, "content:")) {
        run->content_bytes = (uint16_t)number_up_to("config", at, UINT16_MAX);
    } else if (word(at, "fast:")) {
        run->fast = number_up_to("config", at, 1) != 0u;
    } else if (word(at, "memory:")) {
        run->memory_ms = (uint32_t)number_up_to("config", at, UINT32_MAX);
    } else if (word(at, "stack:")) {
        run->stack_ms = (uint32_t)number_up_to("config", at, UINT32_MAX);
    } else if (word(at, "operations:")) {
        run->operations_ms = (uint32_t)number_up_to("config", at, UINT32_MAX);
    } else if (word(at, "grow:")) {
        run->grow_units = (uint16_t)number_up_to("config", at, UINT16_MAX);
    } else if (word(at, "maxunits:")) {
        run->max_units = (uint16_t)number_up_to("config", at, UINT16_MAX);
    } else if (word(at, "records:")) {
        run->max_records = number_up_to("config", at, UINT64_MAX);
    } else if (word(at, "whenfull:")) {
        run->stop_when_full = number_up_to("config", at, 1) != 0u;
    } else {
        return false;
    }
    return true;
}

static void read_item(struct vxm_run_config *run, const char **at)
{
    if (word(at, "datagram:")) {
        run->datagram_bytes = (uint16_t)number_up_to("config", at, UINT16_MAX);
    } else if (word(at, "units:")) {
        run->units = (uint16_t)number_up_to("config", at, UINT16_MAX);
    } else if (word(at, "unit:")) {
        run->unit_slots = (uint16_t)number_up_to("config", at, UINT16_MAX);
    } else if (word(at, "highwater:")) {
        run->high_water = (uint8_t)number_up_to("config", at, 100);
    } else if (word(at, "flush:")) {
        run->flush_ms = (uint16_t)number_up_to("config", at, UINT16_MAX);
    } else if (word(at, "ms:")) {
        run->max_ticks = ticks_of_ns(number_up_to("config", at, UINT32_MAX) * 1000000u);
    } else if (word(at, "oneway:")) {
        run->one_way = number_up_to("config", at, 1) != 0u;
    } else if (word(at, "noupload:")) {
        run->no_upload = number_up_to("config", at, 1) != 0u;
    } else if (read_plan_item(run, at)) {
        return;
    } else if (word(at, "policy:")) {
        read_policy(run, at);
    } else if (word(at, "on:")) {
        read_events(run, at, true);
    } else if (word(at, "off:")) {
        read_events(run, at, false);
    } else {
        refuse("config");
    }
}

static void read_run(struct vxm_run_config *run)
{
    const char *at = parameter("config");

    while (at != NULL && *at != '\0') {
        read_item(run, &at);
        if (*at == ',') {
            at++;
        } else if (*at != '\0') {
            refuse("config");
        }
    }
}

void boot_config(struct vxm_agent_config *config)
{
    *config = (struct vxm_agent_config){
        .os_release = RELEASE[parameter_choice("release", RELEASE)],
        .os_name = "Demo A653",
        .board = board_name,
        .udp_port = (uint16_t)parameter_number("port", DEFAULT_PORT),
        .autostart = parameter_choice("autostart", SWITCH) == 1u,
    };
    memcpy(config->start.enable, vxm_event_table_find(config->os_release)->offered, sizeof config->start.enable);
    read_run(&config->start);
    if (parameter("peer") != NULL) {
        read_peer(&config->peer);
    } else if (config->autostart) {
        panic("boot parameter autostart needs peer=A.B.C.D:PORT");
    }
}
