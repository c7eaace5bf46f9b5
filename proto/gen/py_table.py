# SPDX-License-Identifier: Apache-2.0
"""Makes ``vxmon/wire/generated/events.py``: the host's copy of the event tables."""

from __future__ import annotations

from proto.gen.model import Arg, Event, EventTable, Field
from proto.gen.serialize import ReleaseTable, release_table, used_enums

__all__ = ["py_table"]

_HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
# Made by `make gen` from proto/events.toml; do not edit.
"""Event ids, enumerations and the event table of each OS release."""

from __future__ import annotations

from enum import IntEnum

from vxmon.wire.types import Enumeration, Event, EventTable, Field, FieldType
'''


def py_table(table: EventTable) -> str:
    """Text of ``vxmon/wire/generated/events.py``."""
    releases = [release_table(table, release) for release in table.releases]
    classes = ["CLASSES: tuple[str, ...] = (", *(f'    "{klass.name}",' for klass in table.classes), ")"]
    # Compared with the table: the same event is one object in all releases.
    parts = [
        _HEAD,
        _exported(table),
        f"FORMAT = {table.format}",
        "\n".join(classes),
        _int_enum("EventId", "Ids of the events.", {event.id: event.name for event in table.live}),
        *(_int_enum(_class_name(name), f"Values of the kind ``enum:{name}``.", v) for name, v in table.enums.items()),
        "\n".join(["_EVENTS = {", *(_event(event) for event in table.live), "}"]),
        "\n".join(["_ENUMS = {", *(_enumeration(name, table.enums[name]) for name in table.enums), "}"]),
        "\n".join(["TABLES: dict[str, EventTable] = {", *(_release(table, entry) for entry in releases), "}"]),
    ]
    return "\n\n".join(parts) + "\n"


def _exported(table: EventTable) -> str:
    names = sorted(["CLASSES", "FORMAT", "TABLES"]) + sorted(["EventId", *map(_class_name, table.enums)])
    return "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"])


def _class_name(enum: str) -> str:
    return "".join(part.capitalize() for part in enum.split("_"))


def _int_enum(name: str, doc: str, values: dict[int, str]) -> str:
    lines = [f"    {text.upper()} = {value}" for value, text in values.items()]
    return "\n".join(["", f"class {name}(IntEnum):", f'    """{doc}"""', "", *lines, ""])


def _event(event: Event) -> str:
    fields = "".join(f"            {_field(field)},\n" for field in event.fields)
    lines = [
        f"    {event.id}: Event(",
        f"        id={event.id},",
        f'        name="{event.name}",',
        f'        klass="{event.klass}",',
        f"        arg={_field(event.arg)},",
        f"        fields=(\n{fields}        )," if fields else "        fields=(),",
        *(["        combine=True,"] if event.combine else []),
        *(["        partition_origin=True,"] if event.partition_origin else []),
        "    ),",
    ]
    return "\n".join(lines)


def _field(field: Field | Arg) -> str:
    if isinstance(field, Arg):
        return _call(name=field.name, type_="u16", kind=field.kind)
    return _call(name=field.name, type_=field.type, kind=field.kind, unit=field.unit, length=field.length)


def _call(name: str, type_: str, **texts: str) -> str:
    given = "".join(f', {key}="{text}"' for key, text in texts.items() if text)
    return f'Field("{name}", FieldType.{type_.upper()}{given})'


def _enumeration(name: str, values: dict[int, str]) -> str:
    items = ", ".join(f'{value}: "{text}"' for value, text in values.items())
    return f'    "{name}": Enumeration("{name}", {{{items}}}),'


def _release(table: EventTable, entry: ReleaseTable) -> str:
    events = table.of_release(entry.release)
    ids = ", ".join(str(event.id) for event in events)
    enums = ", ".join(f'"{name}"' for name in used_enums(table, events))
    return "\n".join(
        [
            f'    "{entry.release}": EventTable(',
            f'        os_release="{entry.release}",',
            f"        format={table.format},",
            f"        events=tuple(_EVENTS[i] for i in ({ids})),",
            f"        enums=tuple(_ENUMS[name] for name in ({enums})),",
            f"        fingerprint=0x{entry.fingerprint:08X},",
            "    ),",
        ]
    )
