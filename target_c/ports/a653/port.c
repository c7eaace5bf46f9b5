/* SPDX-License-Identifier: Apache-2.0 */
/* The agent on the demo kernel: its network, clock and memory, and its turns in SPARE windows. */
#include "vxm/port.h"

#include "boot_config.h"
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/log.h"
#include "kernel/monitor.h"
#include "kernel/net.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"
#include "vxm/hooks.h"

/* The longest time the end of a run waits for the last blocks to be sent. */
/* Odd, from the golden ratio: spreads small numbers over 64 bits. */
#define BOOT_FACTOR 0x9E3779B97F4A7C15u
#define FINISH_NS 2000000000u

_Static_assert(VXM_PORT_HEADROOM >= NET_HEADROOM, "the network's headers fit before a datagram");
_Static_assert(VXM_PORT_MAX_PARTITIONS == MAX_PARTITIONS + 1, "every partition has a number");

uint32_t vxm_port_clock_hz(void)
{
    return clock_hz();
}

void *vxm_port_arena(size_t *size)
{
    return board_monitor_memory(size);
}

/* The board has no source of its own: it is given at boot. */
uint64_t vxm_port_entropy(void)
{
    const uint64_t given = parameter_number("entropy", arch_time());

    /* A warm reset has the same boot parameters. */
    return given ^ (uint64_t)log_boot_cycle() * BOOT_FACTOR;
}

/* In the boot file, which no list of processes shows. Without entropy an old recording could be replayed. */
size_t vxm_port_key(uint8_t key[VXM_KEY_MAX])
{
    uint32_t bytes = 0;
    char *text = boot_file(&bytes);

    if (text == NULL) {
        return 0;
    }
    const size_t size = vxm_key_from_text(text, bytes, key);
    memset(text, 0, bytes);
    if (size == 0u) {
        panic("boot file holds no key: 32 to 128 hexadecimal digits");
    }
    if (parameter("entropy") == NULL) {
        panic("boot parameter entropy is needed with a key");
    }
    return size;
}

size_t vxm_port_receive(struct vxm_peer *from, const uint8_t **data)
{
    struct net_peer peer;
    const size_t bytes = net_receive(&peer, data);

    if (bytes != 0u) {
        *from = (struct vxm_peer){.address = peer.address, .port = peer.port};
    }
    return bytes;
}

bool vxm_port_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    return net_send(&(struct net_peer){.address = to->address, .port = to->port}, data, length);
}

void vxm_port_publish_enable(const uint32_t bits[32])
{
    memcpy(shared_page->enable, bits, sizeof shared_page->enable);
}

/* Also "schedule:ID": another schedule from the next major frame on, whatever the applications do. */
bool vxm_port_scenario(const char *name)
{
    static const char prefix[] = "schedule:";
    const size_t length = sizeof prefix - 1u;
    uint64_t id = 0;

    if (strlen(name) <= length || memcmp(name, prefix, length) != 0) {
        return scenario_set(name);
    }
    const char *at = name + length;
    return text_number(&at, &id) && *at == '\0' && id <= UINT32_MAX && sched_set_schedule((uint32_t)id);
}

void monitor_init(void)
{
    struct vxm_agent_config config;

    boot_config(&config);
    if (parameter("entropy") == NULL) {
        print("kernel: no entropy given, the boot id can be guessed\n");
    }
    const int status = vxm_agent_init(&config);
    if (status != VXM_OK) {
        panic("the agent does not start (status %d): see the boot parameters config and peer", status);
    }
}

bool monitor_step(uint64_t deadline)
{
    return vxm_agent_step(deadline);
}

static void print_totals(void)
{
    struct vxm_totals totals;

    vxm_agent_totals(0, &totals);
    print("book monitor recorded=%llu overwritten=%llu full=%llu exhausted=%llu blocks=%llu unsent=%u\n",
          totals.recorded, totals.overwritten, totals.full, totals.exhausted, totals.blocks, vxm_agent_busy());
}

void monitor_finish(void)
{
    const uint64_t end = arch_time() + ticks_of_ns(FINISH_NS);

    (void)vxm_agent_stop(VXM_STOP_REASON_SHUTDOWN);
    while (vxm_agent_busy() && arch_time() < end) {
        (void)vxm_agent_step(end);
    }
    print_totals();
}
