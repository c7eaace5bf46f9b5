/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated sources of what the agent collects: programs on Linux set them, the port's interface tells them. */
#ifndef VXM_POSIX_SOURCES_H
#define VXM_POSIX_SOURCES_H

#include "vxm/collect.h"
#include "vxm/port.h"

/* A heap or a stack exists from when it is set. */
void sources_set_memory(uint16_t partition, const struct vxm_memory *memory);
void sources_set_stack(uint16_t task, const struct vxm_stack *stack);
void sources_set_operation(uint16_t partition, const struct vxm_operation_count *count);

/* Adds an entry, which gets the next number; the oldest is overwritten when `entries_kept` are there. */
void sources_log(uint8_t log, const struct vxm_log_entry *entry);

/* Bytes that vxm_port_more_memory gives in all. */
void sources_set_more_memory(size_t bytes);

#endif
