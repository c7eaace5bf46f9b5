# SPDX-License-Identifier: Apache-2.0
"""Makes ``agent/generated/event_table.[ch]``: the event table of each OS release."""

from __future__ import annotations

from proto.gen.model import EventTable
from proto.gen.serialize import ReleaseTable, release_table

__all__ = ["c_table_header", "c_table_source"]

_NOTICE = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* Made by `make gen` from proto/events.toml; do not edit. */
"""

_HEADER = """\
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
#define VXM_EVENT_TABLE_MAX_BYTES {largest}u

/* The table of an OS release by its name, or NULL. */
const struct vxm_event_table *vxm_event_table_find(const char *os_release);

/* The name of an event of any release, or NULL. */
const char *vxm_event_name(uint32_t id);

#endif
"""

_FIND = """\
static int same_text(const char *a, const char *b)
{
    while (*a != '\\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const struct vxm_event_table *vxm_event_table_find(const char *os_release)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (same_text(tables[i].os_release, os_release)) {
            return &tables[i];
        }
    }
    return NULL;
}

const char *vxm_event_name(uint32_t id)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].id == id) {
            return names[i].name;
        }
    }
    return NULL;
}
"""


def c_table_header(table: EventTable) -> str:
    """Text of ``event_table.h``."""
    largest = max((len(release_table(table, release).data) for release in table.releases), default=0)
    return _NOTICE + _HEADER.replace("{largest}", str(largest))


def c_table_source(table: EventTable) -> str:
    """Text of ``event_table.c``."""
    tables = [release_table(table, release) for release in table.releases]
    names = [f'    {{{event.id}, "{event.name}"}},' for event in table.live]
    parts = [
        _NOTICE + '#include "event_table.h"\n',
        *(_byte_array(entry) for entry in tables),
        "\n".join(["static const struct vxm_event_table tables[] = {", *map(_table, tables), "};", ""]),
        "\n".join(
            ["static const struct {", "    uint16_t id;", "    const char *name;", "} names[] = {", *names, "};", ""]
        ),
        _FIND,
    ]
    return "\n".join(parts)


def _symbol(entry: ReleaseTable) -> str:
    return "table_" + entry.release.replace(".", "_")


def _byte_array(entry: ReleaseTable) -> str:
    rows = [entry.data[i : i + 16] for i in range(0, len(entry.data), 16)]
    lines = ["    " + " ".join(f"0x{byte:02x}," for byte in row) for row in rows]
    return "\n".join([f"static const uint8_t {_symbol(entry)}[] = {{", *lines, "};", ""])


def _table(entry: ReleaseTable) -> str:
    return "\n".join(
        [
            "    {",
            f'        .os_release = "{entry.release}",',
            f"        .bytes = {_symbol(entry)},",
            f"        .size = sizeof {_symbol(entry)},",
            f"        .fingerprint = 0x{entry.fingerprint:08x}u,",
            f"        .offered = {_bits(entry.offered)},",
            f"        .partition = {_bits(entry.partition)},",
            "    },",
        ]
    )


def _bits(words: tuple[int, ...]) -> str:
    return "{" + ", ".join(f"[{i}] = 0x{word:08x}u" for i, word in enumerate(words) if word) + "}"
