# SPDX-License-Identifier: Apache-2.0
"""ICD files in TOML, see README.md beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from vxmon.config.entries import Entry
from vxmon.config.tomlfile import TomlFile, read_toml
from vxmon.errors import InputError
from vxmon.icd.build import Defaults, build_fields, build_message, build_values
from vxmon.icd.model import MAX_FIELDS, Binding, Field, Message, Order

__all__ = ["VERSION", "Document", "read_toml_icd"]

VERSION: Final = 1
_ROOT_KEYS: Final = frozenset({"icd", "name", "description", "byte_order", "enum", "message", "bind"})
_MESSAGE_KEYS: Final = frozenset({"name", "size", "minimum_size", "description", "byte_order", "field"})
_BIND_KEYS: Final = frozenset({"port", "object", "message", "layout", "partition"})
_MOST_MESSAGES: Final = 4096
_MOST_BINDINGS: Final = 10_240
_MOST_FIELDS: Final = 65_536


@dataclass(frozen=True, slots=True)
class Document:
    """What an ICD file holds."""

    messages: tuple[Message, ...]
    bindings: tuple[Binding, ...] = ()


def read_toml_icd(path: str) -> Document:
    """Read an ICD file. Raises InputError with file, line and key for anything that breaks the format."""
    file = read_toml(path)
    root = Entry("icd file", file.data, file.place)
    root.only(_ROOT_KEYS)
    root.version("icd", VERSION)
    defaults = Defaults(_order(root, "big"), _enums(root))
    messages = _messages(root, file, defaults)
    return Document(tuple(messages), tuple(_bindings(root, {m.name for m in messages})))


def _order(entry: Entry, default: Order) -> Order:
    return cast("Order", entry.choice("byte_order", ("big", "little"), default))


def _enums(root: Entry) -> dict[str, Mapping[int, str]]:
    tables = root.values.get("enum", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise root.wrong("enum", "tables such as [enum.mode]")
    return {name: build_values(root.inner(f"enum.{name}", table, "enum", name)) for name, table in tables.items()}


def _messages(root: Entry, file: TomlFile, defaults: Defaults) -> list[Message]:
    messages: list[Message] = []
    seen: dict[str, Message] = {}
    fields = 0
    for index, table in enumerate(root.tables("message", _MOST_MESSAGES)):
        message = _message(root.inner("message", table, "message", index), defaults)
        other = seen.setdefault(message.name, message)
        if other is not message:
            where = file.place("message", index, "name")
            raise InputError(f"{where}: message {message.name} was defined before, at {other.place}")
        fields += len(message.fields)
        if fields > _MOST_FIELDS:
            raise InputError(f"{message.place}: the file has more than {_MOST_FIELDS:,} fields")
        messages.append(message)
    return messages


def _message(entry: Entry, defaults: Defaults) -> Message:
    entry.only(_MESSAGE_KEYS)
    defaults = Defaults(_order(entry, defaults.order), defaults.enums)
    fields: list[Field] = []
    for index, table in enumerate(entry.tables("field", MAX_FIELDS)):
        fields += build_fields(entry.inner("field", table, "field", index), defaults)
        if len(fields) > MAX_FIELDS:
            raise InputError(f"{entry.place}: the message has more than {MAX_FIELDS:,} fields")
    return build_message(entry, fields)


def _bindings(root: Entry, names: set[str]) -> list[Binding]:
    tables: list[Mapping[str, Any]] = root.tables("bind", _MOST_BINDINGS)
    return [_binding(root.inner("bind", table, "bind", index), names) for index, table in enumerate(tables)]


def _binding(entry: Entry, names: set[str]) -> Binding:
    entry.only(_BIND_KEYS)
    subject = _one_of(entry, "port", "object")
    layout = _one_of(entry, "message", "layout")
    target = entry.name(layout)
    if layout == "message" and target not in names:
        raise entry.wrong("message", "the name of a message of this file")
    partition = entry.name("partition") if entry.has("partition") else None
    return Binding(entry.name(subject), target, subject == "port", partition, entry.place)


def _one_of(entry: Entry, first: str, second: str) -> str:
    if entry.has(first) == entry.has(second):
        raise InputError(f"{entry.place}: {entry.what} needs either {first} or {second}")
    return first if entry.has(first) else second
