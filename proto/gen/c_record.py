# SPDX-License-Identifier: Apache-2.0
"""Makes ``vxm/generated/events.h``: event ids, enumerations and the functions that record."""

from __future__ import annotations

from itertools import groupby

from proto.gen.layout import Layout, Placed, lay_out
from proto.gen.model import Event, EventTable, Field

__all__ = ["c_record_header"]

_HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* Made by `make gen` from proto/events.toml; do not edit. */
/*
 * One function for each event. Each tests the event's enable bit inline, then records; what it may be
 * called from is said in vxm/record.h. Arguments of kind task, partition and object are the dense
 * indices of the create hooks, instants are ticks of the port's clock.
 */
#ifndef VXM_GENERATED_EVENTS_H
#define VXM_GENERATED_EVENTS_H

#include "vxm/record.h"

#define VXM_EVENT_FORMAT {format}u
"""

_PACK = """\
/* Two fields of 16 bits in one word, the first in the upper half. */
#define VXM_HALVES(a, b) (((uint32_t)(uint16_t)(a) << 16) | (uint16_t)(b))

/*
 * Copies up to `length` bytes of content behind the first `used` words of a record's data and fills
 * the last slot with zeros. Returns the bytes taken; the rest does not fit into a record.
 */
static inline uint32_t vxm_pack_bytes(uint32_t *words, uint32_t used, const void *content, uint32_t length)
{
    const uint8_t *from = (const uint8_t *)content;
    uint8_t *to = (uint8_t *)(words + used);
    const uint32_t room = (2u * VXM_MAX_DATA_SLOTS - used) * 4u;
    const uint32_t taken = length < room ? length : room;
    const uint32_t slots = (used * 4u + taken + VXM_SLOT_BYTES - 1u) / VXM_SLOT_BYTES;
    uint32_t *last = words + 2u * (slots == 0u ? 0u : slots - 1u);
    uint32_t i = 0;
    last[0] = 0; /* fields that lie here are stored later */
    last[1] = 0;
    for (; i + 4u <= taken; i += 4u) {
        VXM_COPY_WORD(to + i, from + i);
    }
    for (; i < taken; i++) {
        to[i] = from[i];
    }
    return taken;
}

/* Length of a text that goes into a record, without its NUL; NULL counts as empty. */
static inline uint32_t vxm_text_length(const char *text)
{
    const char *at = text;
    const char *const end = text == NULL ? text : text + VXM_MAX_DATA_SLOTS * VXM_SLOT_BYTES;
    while (at != end && *at != '\\0') {
        at++;
    }
    return (uint32_t)(at - text);
}

/* Data slots of `used` words and `bytes` bytes behind them; at least one. */
static inline uint32_t vxm_data_slots(uint32_t used, uint32_t bytes)
{
    const uint32_t slots = (used * 4u + bytes + VXM_SLOT_BYTES - 1u) / VXM_SLOT_BYTES;
    return slots == 0u ? 1u : slots;
}
"""

_C_TYPES = {"u16": "uint16_t", "u32": "uint32_t", "i32": "int32_t", "x32": "uint32_t", "u64": "uint64_t"}


def c_record_header(table: EventTable) -> str:
    """Text of ``vxm/generated/events.h``."""
    parts = [_HEAD.replace("{format}", str(table.format)), _event_ids(table)]
    parts += [_enum(name, values) for name, values in table.enums.items()]
    parts += [_PACK, *(_function(event) for event in table.live), "#endif\n"]
    return "\n".join(parts)


def _event_ids(table: EventTable) -> str:
    lines = [f"    VXM_EVENT_{event.name} = {event.id}," for event in table.live]
    return "\n".join(["/* Event ids. */", "enum vxm_event {", *lines, "};", ""])


def _enum(name: str, values: dict[int, str]) -> str:
    prefix = f"VXM_{name.upper()}"
    lines = [f"    {prefix}_{text.upper()} = {value}," for value, text in values.items()]
    return "\n".join([f"enum vxm_{name} {{", *lines, "};", ""])


def _function(event: Event) -> str:
    layout = lay_out(event)
    body = _variable_body(event, layout) if layout.variable else _fixed_body(event, layout)
    return "\n".join(
        [
            f"/* {event.doc} */",
            _wrap(f"static inline void vxm_{event.name.lower()}(", _parameters(event), ")"),
            "{",
            f"    if (vxm_enabled(VXM_EVENT_{event.name})) {{",
            *(f"        {line}" for line in [*_heads_only(event), *body]),
            "    }",
            "}",
            "",
        ]
    )


def _heads_only(event: Event) -> list[str]:
    """Of a combine event, fast mode keeps the header slot."""
    if not event.combine:
        return []
    head = f"VXM_HEAD(VXM_EVENT_{event.name}, 0, {event.arg.name})"
    return ["if (vxm_heads_only) {", f"    vxm_record0({head});", "    return;", "}"]


def _parameters(event: Event) -> list[str]:
    parameters = [f"uint16_t {event.arg.name}"]
    for field in event.fields:
        if field.type == "text":
            parameters.append(f"const char *{field.name}")
        elif field.type == "bytes":
            parameters.append(f"const void *{field.name}")
        else:
            parameters.append(f"{_C_TYPES.get(field.type, 'uint64_t')} {field.name}")
    return parameters


def _fixed_body(event: Event, layout: Layout) -> list[str]:
    words = _padded(_words(layout.placed))
    head = f"VXM_HEAD(VXM_EVENT_{event.name}, {layout.slots}, {event.arg.name})"
    if layout.slots <= 3:
        return _wrap(f"vxm_record{layout.slots}(", [head, *words], ");").split("\n")
    return [*_array("const uint32_t words[]", words), f"vxm_record_n({head}, words);"]


def _variable_body(event: Event, layout: Layout) -> list[str]:
    variable = layout.variable
    if variable is None:
        raise AssertionError(event.name)
    field, used = variable.field, layout.words
    length = f"vxm_text_length({field.name})" if field.type == "text" else f"(uint32_t){field.length}"
    call = f"vxm_pack_bytes(words, {used}, {field.name}, {length})"
    # The length is stored as it was asked for less what did not fit, so pack before storing it.
    lines = ["uint32_t words[2u * VXM_MAX_DATA_SLOTS];", f"const uint32_t bytes = {call};"]
    renamed = {field.length: "bytes"} if field.type == "bytes" else {}
    lines += [f"words[{i}] = {word};" for i, word in enumerate(_words(layout.placed[:-1], renamed))]
    slots = f"vxm_data_slots({used}, bytes)"
    return [*lines, f"vxm_record_n(VXM_HEAD(VXM_EVENT_{event.name}, {slots}, {event.arg.name}), words);"]


def _words(placed: tuple[Placed, ...], renamed: dict[str, str] | None = None) -> list[str]:
    """C expressions of the data words of fixed fields."""
    words: list[str] = []
    for _, group in groupby(placed, key=lambda p: p.word):
        words += _word([p.field for p in group], renamed or {})
    return words


def _word(fields: list[Field], renamed: dict[str, str]) -> list[str]:
    names = [renamed.get(field.name, field.name) for field in fields]
    if fields[0].type == "u16":
        return [f"VXM_HALVES({names[0]}, {names[1]})"]
    if fields[0].type in {"u64", "x64"}:
        return [f"VXM_FIRST_WORD({names[0]})", f"VXM_SECOND_WORD({names[0]})"]
    return [f"(uint32_t){names[0]}" if fields[0].type == "i32" else names[0]]


def _padded(words: list[str]) -> list[str]:
    return [*words, "0"] if len(words) % 2 else words


def _array(declaration: str, words: list[str]) -> list[str]:
    return [f"{declaration} = {{", *(f"    {word}," for word in words), "};"]


def _wrap(start: str, items: list[str], end: str) -> str:
    """One line, or an item a line where it would be too long."""
    line = start + ", ".join(items) + end
    if len(line) <= 108:
        return line
    return start + "\n    " + ",\n    ".join(items) + end
