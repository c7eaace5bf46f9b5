# SPDX-License-Identifier: Apache-2.0
"""Reads and checks ``events.toml``. Every error is one line that names the event."""

from __future__ import annotations

import keyword
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from proto.gen.layout import lay_out
from proto.gen.model import FIELD_TYPES, MAX_ID, Arg, Event, EventTable, Field, GenError, Klass

__all__ = ["load", "parse"]

_KINDS = frozenset({"", "partition", "task", "window", "object", "schedule", "event", "ticks"})
_ORIGINS = frozenset({"kernel", "partition", "both"})
_EVENT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ENUM_VALUE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*")
# C's words that could be taken for field names; Python's are in the keyword module.
_C_WORDS = frozenset(
    "auto break bool case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile "
    "while".split(" ")
)
_EVENT_KEYS = frozenset(
    {"id", "name", "class", "doc", "arg", "fields", "origin", "since", "releases", "combine", "removed"}
)
_OPTIONAL_KEYS = frozenset({"combine", "removed"})
_FIELD_KEYS = frozenset({"name", "type", "kind", "unit", "length"})


def load(path: Path) -> EventTable:
    """Read an event table from a file; raises GenError."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise GenError(f"{path}: {error}") from error
    except GenError as error:
        raise GenError(f"{path}: {error}") from error


def parse(text: str) -> EventTable:
    """Read an event table from its text; raises GenError."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GenError(f"not TOML: {error}") from error
    _check_keys("the table", raw, {"format", "classes", "enums", "event"}, set())
    version = _integer("the table", raw, "format", 1, 255)
    classes = _classes(_mapping("the table", raw, "classes"))
    enums = _enums(_mapping("the table", raw, "enums"))
    events = [_event(entry, classes, enums, version) for entry in _list("the table", raw, "event")]
    _check_unique(events)
    return EventTable(version, tuple(classes.values()), enums, tuple(sorted(events, key=lambda e: e.id)))


def _classes(raw: Mapping[str, object]) -> dict[str, Klass]:
    classes: dict[str, Klass] = {}
    for name in raw:
        where = f"class {name}"
        entry = _mapping(where, raw, name)
        _check_name(where, name, _EVENT_NAME)
        _check_keys(where, entry, {"id", "doc"}, set())
        number = _integer(where, entry, "id", 0, 31)
        if number in {klass.id for klass in classes.values()}:
            raise GenError(f"{where}: id {number} is used twice")
        classes[name] = Klass(number, name, _string(where, entry, "doc"))
    return classes


def _enums(raw: Mapping[str, object]) -> dict[str, dict[int, str]]:
    return {name: _enum(name, _mapping(f"enum {name}", raw, name)) for name in raw}


def _enum(name: str, raw: Mapping[str, object]) -> dict[int, str]:
    where = f"enum {name}"
    _check_name(where, name, _FIELD_NAME)
    values: dict[int, str] = {}
    for key in raw:
        if not re.fullmatch(r"0|[1-9][0-9]{0,4}", key) or int(key) > 0xFFFF:
            raise GenError(f"{where}: value {key!r} is not a number of 0 to 65535")
        text = _string(where, raw, key)
        _check_name(f"{where}: value {key}", text, _ENUM_VALUE)
        values[int(key)] = text
    if len({text.upper() for text in values.values()}) != len(values):
        raise GenError(f"{where}: two values have one name")
    return dict(sorted(values.items()))


def _event(entry: object, classes: Collection[str], enums: Collection[str], version: int) -> Event:
    if not isinstance(entry, dict):
        raise GenError("event: not a table")
    where = f"event {entry.get('name', entry.get('id', '?'))}"
    _check_keys(where, entry, _EVENT_KEYS - _OPTIONAL_KEYS, _OPTIONAL_KEYS)
    name = _string(where, entry, "name")
    _check_name(where, name, _EVENT_NAME)
    klass = _string(where, entry, "class")
    if klass not in classes:
        raise GenError(f"{where}: unknown class {klass}")
    origin = _string(where, entry, "origin")
    if origin not in _ORIGINS:
        raise GenError(f"{where}: origin is {origin}, not one of {', '.join(sorted(_ORIGINS))}")
    event = Event(
        id=_id(where, entry),
        name=name,
        klass=klass,
        doc=_string(where, entry, "doc"),
        arg=_arg(where, _mapping(where, entry, "arg"), enums),
        fields=tuple(_field(where, field, enums) for field in _list(where, entry, "fields")),
        origin=origin,
        since=_integer(where, entry, "since", 1, version),
        releases=_releases(where, _list(where, entry, "releases")),
        combine=_boolean(where, entry, "combine"),
        removed=_integer(where, entry, "removed", 1, version) if "removed" in entry else 0,
    )
    _check_event(where, event)
    return event


def _id(where: str, entry: Mapping[str, object]) -> int:
    if entry["id"] == 0:
        raise GenError(f"{where}: id 0 is reserved, a zeroed slot must not look like an event")
    return _integer(where, entry, "id", 1, MAX_ID)


def _arg(where: str, raw: Mapping[str, object], enums: Collection[str]) -> Arg:
    where = f"{where}: arg"
    _check_keys(where, raw, {"name"}, {"kind"})
    name = _string(where, raw, "name")
    _check_name(where, name, _FIELD_NAME)
    kind = _kind(where, raw, enums)
    if kind == "ticks":
        raise GenError(f"{where} {name}: an argument of 16 bits cannot hold ticks")
    return Arg(name, kind)


def _field(where: str, raw: object, enums: Collection[str]) -> Field:
    if not isinstance(raw, dict):
        raise GenError(f"{where}: a field is not a table")
    where = f"{where}: field {raw.get('name', '?')}"
    _check_keys(where, raw, {"name", "type"}, _FIELD_KEYS)
    name = _string(where, raw, "name")
    _check_name(where, name, _FIELD_NAME)
    kind = _kind(where, raw, enums)
    type_ = _string(where, raw, "type")
    if type_ not in FIELD_TYPES:
        raise GenError(f"{where}: unknown type {type_}")
    if kind == "ticks" and type_ != "u64":
        raise GenError(f"{where}: ticks need u64, it is {type_}")
    if kind and type_ not in {"u16", "u32", "u64"}:
        raise GenError(f"{where}: kind {kind} needs an unsigned number, it is {type_}")
    if ("length" in raw) != (type_ == "bytes"):
        raise GenError(f"{where}: length goes with bytes, and only with bytes")
    return Field(name, type_, kind, _string(where, raw, "unit", default=""), _string(where, raw, "length", default=""))


def _kind(where: str, raw: Mapping[str, object], enums: Collection[str]) -> str:
    kind = _string(where, raw, "kind", default="")
    if kind.startswith("enum:"):
        if kind.removeprefix("enum:") not in enums:
            raise GenError(f"{where}: unknown enum {kind.removeprefix('enum:')}")
    elif kind not in _KINDS:
        raise GenError(f"{where}: unknown kind {kind}")
    return kind


def _releases(where: str, raw: list[object]) -> tuple[str, ...]:
    releases = []
    for release in raw:
        if not isinstance(release, str) or not _RELEASE.fullmatch(release):
            raise GenError(f'{where}: release {release!r} is not a number like "2.2"')
        releases.append(release)
    if not releases or len(set(releases)) != len(releases):
        raise GenError(f"{where}: releases must name at least one release, each once")
    return tuple(releases)


def _check_event(where: str, event: Event) -> None:
    names = [event.arg.name, *(field.name for field in event.fields)]
    for name in names:
        if names.count(name) > 1:
            raise GenError(f"{where}: two fields are called {name}")
    for field in event.fields:
        lengths = {other.name for other in event.fields if other.type in {"u16", "u32"}}
        if field.type == "bytes" and field.length not in lengths:
            raise GenError(f"{where}: field {field.name}: length names {field.length}, no u16 or u32 field")
    if event.removed and event.removed <= event.since:
        raise GenError(f"{where}: removed in format {event.removed}, but there only since {event.since}")
    lay_out(event)


def _check_unique(events: list[Event]) -> None:
    ids: dict[int, str] = {}
    names: set[str] = set()
    for event in events:
        if event.id in ids:
            raise GenError(f"event {event.name}: id {event.id} is that of {ids[event.id]}; ids are never reused")
        if event.name in names:
            raise GenError(f"event {event.name}: the name is used twice")
        ids[event.id] = event.name
        names.add(event.name)


def _check_name(where: str, name: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(name) or len(name) > 31:
        raise GenError(f"{where}: the name {name!r} does not fit {pattern.pattern} with at most 31 characters")
    if name in _C_WORDS or keyword.iskeyword(name):
        raise GenError(f"{where}: {name} is a word of C or Python")


def _check_keys(where: str, raw: Mapping[str, object], needed: Collection[str], optional: Collection[str]) -> None:
    for key in needed:
        if key not in raw:
            raise GenError(f"{where}: {key} is missing")
    for key in raw:
        if key not in needed and key not in optional:
            raise GenError(f"{where}: unknown key {key}")


def _integer(where: str, raw: Mapping[str, object], key: str, low: int, high: int) -> int:
    value = raw[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise GenError(f"{where}: {key} is {value!r}, not a number of {low} to {high}")
    return value


def _boolean(where: str, raw: Mapping[str, object], key: str) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, bool):
        raise GenError(f"{where}: {key} is {value!r}, not true or false")
    return value


def _string(where: str, raw: Mapping[str, object], key: str, default: str | None = None) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str) or not value.isprintable():
        raise GenError(f"{where}: {key} is {value!r}, not a line of text")
    return value


def _mapping(where: str, raw: Mapping[str, object], key: str) -> dict[str, object]:
    value = raw[key]
    if not isinstance(value, dict):
        raise GenError(f"{where}: {key} is not a table")
    return value


def _list(where: str, raw: Mapping[str, object], key: str) -> list[object]:
    value = raw[key]
    if not isinstance(value, list):
        raise GenError(f"{where}: {key} is not a list")
    return value
