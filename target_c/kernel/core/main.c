/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/log.h"
#include "kernel/monitor.h"
#include "kernel/net.h"
#include "kernel/parameters.h"
#include "kernel/sched.h"

#define OUR_ADDRESS 0x0A00020Fu /* 10.0.2.15, what QEMU's user network gives */
#define DEFAULT_PORT 6530u
#define LATEST_CLOCK 0x4000000000000000u

static void begin_network(void)
{
    const uint64_t address = parameter_number("address", OUR_ADDRESS), port = parameter_number("port", DEFAULT_PORT);

    if (address == 0u || address > UINT32_MAX || port == 0u || port > UINT16_MAX) {
        panic("boot parameters address and port need an IPv4 address as one number, and 1 to 65535");
    }
    if (!net_init((uint32_t)address, (uint16_t)port)) {
        print("kernel: no network device\n");
    }
}

void kernel_main(const void *device_tree)
{
    board_init();
    parameters_init(device_tree);
    board_protect();
    const uint64_t clock = parameter_number("clock", 0);
    if (clock > LATEST_CLOCK) {
        panic("boot parameter clock is so late that the clock would wrap");
    }
    if (clock != 0u) {
        arch_set_time(clock);
    }
    print("kernel: module %s on %s, clock %u Hz at %llu\n", module_config.name, board_name, clock_hz(), arch_time());
    log_init();
    scenario_init();
    begin_network();
    monitor_init();
    log_edr(EDR_INFO | EDR_BOOT, 0, NULL, NULL, log_warm_boot() ? "boot after a reset" : "boot");
    struct arch_context *first = sched_begin();
    print("kernel: %u partitions, schedule %u, %u windows in %llu ns\n", module_config.partition_count,
          module.schedule->id, module.schedule->window_count, module.schedule->major_frame_ns);
    arch_start(first);
}
