/* SPDX-License-Identifier: Apache-2.0 */
/* Made by `make gen` from proto/events.toml; do not edit. */
#ifndef VXM_GENERATED_EVENT_TABLE_H
#define VXM_GENERATED_EVENT_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* The events of an OS release. Bit maps: event e is bit e % 32 of word e / 32. */
struct vxm_event_table {
    const char *os_release;
    const uint8_t *bytes; /* serialized message EventTable (vxmon.proto) */
    size_t size;
    uint32_t fingerprint;   /* CRC-32 of the bytes */
    uint32_t offered[32];   /* what the release can record */
    uint32_t partition[32]; /* what partitions may record */
};

/* Size of the largest table in bytes. */
#define VXM_EVENT_TABLE_MAX_BYTES 5382u

/* The table of an OS release by its name, or NULL. */
const struct vxm_event_table *vxm_event_table_find(const char *os_release);

/* The name of an event of any release, or NULL. */
const char *vxm_event_name(uint32_t id);

#endif
