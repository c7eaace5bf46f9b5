/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated module does beside being scheduled: heaps, stacks, counts, messages, errors. */
#ifndef VXM_POSIX_ACTIVITY_H
#define VXM_POSIX_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

/* After the partitions, with a task of each of the `count` partitions 1 ... count. */
void activity_create(const uint16_t *tasks, uint16_t count);

/* Once at the start of each major frame. */
void activity_frame(uint32_t frame);

/* From now on partition 1 loses 32 bytes a frame, or not. */
void activity_leak(bool on);

/* One error of each of the eight codes, code C in partition C % count + 1. */
void activity_faults(void);

#endif
