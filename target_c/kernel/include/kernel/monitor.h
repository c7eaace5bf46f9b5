/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel calls in its monitor besides the hooks; ports/a653 implements it over the agent. */
#ifndef KERNEL_MONITOR_H
#define KERNEL_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

/* Once, after the network and before the first hook. A bad boot parameter ends the boot in words. */
void monitor_init(void);
/* One turn in a SPARE window, until the clock reaches `deadline` (ticks). False: nothing to do. */
bool monitor_step(uint64_t deadline);
/* At the end of a run: stops recording and sends what is left. Interrupts are masked. */
void monitor_finish(void);

#endif
