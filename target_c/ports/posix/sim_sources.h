/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of vxm-sim about what is sampled and logged, and about messages. */
#ifndef VXM_POSIX_SIM_SOURCES_H
#define VXM_POSIX_SIM_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

/* Does a command with its `count` numbers; false when there is none of that name and count. */
bool sim_source(const char *name, const uint64_t *n, int count);

#endif
