/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated module: a 20 ms major frame with four partitions and SPARE windows, processes that are
 * released, run and complete. It calls the hooks as an operating system would, at the instants of the
 * schedule; the times recorded are those of the real clock.
 */
#ifndef VXM_POSIX_MODULE_H
#define VXM_POSIX_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Registers partitions, tasks and the schedule. */
void module_create(void);

/* Does all that is due by now (ticks); call it often. */
void module_advance(uint64_t now);

/* The next instant (ticks) at which something is due. */
uint64_t module_next(void);

/* True in a SPARE window, where the agent works. */
bool module_in_spare(void);

#endif
