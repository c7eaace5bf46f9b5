# SPDX-License-Identifier: Apache-2.0
"""Collection plans: what a target shall record and how, as a TOML file (``plan.toml``).

Every error names the file, the line, the key and what is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from vxmon.config.tomlfile import TomlFile, read_toml
from vxmon.errors import InputError

__all__ = ["KEYS", "CollectionPlan", "Key", "read_plan"]

_FORMAT: Final = 1
_MOST_NAMES: Final = 1024


@dataclass(frozen=True, slots=True)
class Key:
    """What a key may hold: a number within limits, one of some words, a switch, or names."""

    kind: str
    low: float = 0
    high: float = 0
    words: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.kind in ("integer", "number"):
            what = "an integer" if self.kind == "integer" else "a number"
            return f"{what} of {self.low:g} to {self.high:.0f}"
        if self.kind == "word":
            return "one of " + ", ".join(f'"{word}"' for word in self.words)
        return "true or false" if self.kind == "switch" else "a list of names"


_PERIOD: Final = Key("integer", 10, 3_600_000)
_NAMES: Final = Key("names")
# Sections and their keys; limits are those of the wire format and of the agent. A target may have narrower ones.
KEYS: Final[Mapping[str, Mapping[str, Key]]] = {
    "events": {"classes": _NAMES, "events": _NAMES, "without": _NAMES},
    "filters": {
        "partitions": _NAMES, "without_partitions": _NAMES, "objects": _NAMES, "without_objects": _NAMES,
    },
    "sampling": {"memory_ms": _PERIOD, "stack_ms": _PERIOD, "operations_ms": _PERIOD},
    "messages": {
        "payload": Key("word", words=("off", "metadata", "content")),
        "content_bytes": Key("integer", 1, 4096),
    },
    "buffers": {
        "type": Key("word", words=("ring", "linear")),
        "unit_slots": Key("integer", 128, 4096),
        "units": Key("integer", 2, 65535),
        "grow_units": Key("integer", 1, 1024),
        "max_units": Key("integer", 2, 65535),
        "high_water_percent": Key("integer", 1, 100),
        "flush_ms": Key("integer", 1, 60000),
    },
    "upload": {
        "mode": Key("word", words=("acknowledged", "one_way", "at_stop")),
        "datagram_bytes": Key("integer", 512, 1472),
    },
    "recording": {"fast": Key("switch")},
    "stop": {
        "seconds": Key("number", 0.001, 1e9),
        "records": Key("integer", 1, (1 << 62) - 1),
        "when_full": Key("switch"),
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CollectionPlan:
    """A plan as it was read; what is not in it is the target's default. ``file`` tells where each key was."""

    file: TomlFile
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def value(self, section: str, key: str, otherwise: Any = None) -> Any:
        """What a key holds."""
        return self.sections.get(section, {}).get(key, otherwise)

    def names(self, section: str, key: str) -> list[str]:
        """The names a key holds; none when it is not there."""
        return list(self.value(section, key, ()))

    def refuse(self, section: str, key: str, why: str) -> NoReturn:
        """Raise InputError about a key."""
        raise InputError(f"{self.file.place(section, key)}: {section}.{key}: {why}")


def read_plan(path: str) -> CollectionPlan:
    """Read and check a plan, as far as it can be checked without a target.

    Raises:
        InputError: the file cannot be read or is no plan.

    """
    file = read_toml(path)
    sections = dict(file.data)
    version = sections.pop("format", None)
    if type(version) is not int or version != _FORMAT:
        said = "is missing" if version is None else f"is {version!r}"
        raise InputError(f"{file.place('format')}: format {said}; allowed is {_FORMAT}")
    for name, content in sections.items():
        _check_section(file, name, content)
    plan = CollectionPlan(file, sections)
    _check_together(plan)
    return plan


def _check_section(file: TomlFile, name: str, content: object) -> None:
    keys = KEYS.get(name)
    if keys is None or not isinstance(content, dict):
        raise InputError(f"{file.place(name)}: unknown section {name}; there are: {', '.join(KEYS)}")
    for key, value in content.items():
        where = f"{file.place(name, key)}: {name}.{key}"
        if key not in keys:
            raise InputError(f"{where}: unknown key; there are: {', '.join(keys)}")
        if not _is_allowed(keys[key], value):
            raise InputError(f"{where} is {_shown(value)}; allowed is {keys[key].allowed}")


def _shown(value: object) -> str:
    text = repr(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_allowed(key: Key, value: object) -> bool:
    match key.kind:
        case "integer":
            return type(value) is int and key.low <= value <= key.high
        case "number":
            return type(value) in (int, float) and key.low <= value <= key.high  # type: ignore[operator]
        case "word":
            return value in key.words
        case "switch":
            return type(value) is bool
    return (
        isinstance(value, list)
        and len(value) <= _MOST_NAMES
        and all(isinstance(name, str) and 0 < len(name) <= 31 and name.isprintable() for name in value)
    )


def _check_together(plan: CollectionPlan) -> None:
    """Keys that do not go together."""
    for what in ("partitions", "objects"):
        if plan.value("filters", what) is not None and plan.value("filters", f"without_{what}") is not None:
            plan.refuse("filters", f"without_{what}", f"give {what} or without_{what}, not both")
    if plan.value("stop", "when_full") and plan.value("buffers", "type") != "linear":
        plan.refuse("stop", "when_full", 'needs buffers.type = "linear": a ring overwrites when it is full')
    if plan.value("messages", "content_bytes") and plan.value("messages", "payload") != "content":
        plan.refuse("messages", "content_bytes", 'needs messages.payload = "content"')
    units, most = plan.value("buffers", "units"), plan.value("buffers", "max_units")
    if most is not None and units is not None and most < units:
        plan.refuse("buffers", "max_units", f"is {most}, below buffers.units {units}")
