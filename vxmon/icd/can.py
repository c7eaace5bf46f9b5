# SPDX-License-Identifier: Apache-2.0
"""Messages from CAN databases (DBC, KCD, ARXML) by way of cantools, which is needed only for them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from vxmon.config.entries import LONGEST_TEXT
from vxmon.config.place import Place
from vxmon.config.textfile import read_text
from vxmon.errors import InputError
from vxmon.icd import can_child
from vxmon.icd.can_child import CPU_S, MEMORY
from vxmon.icd.conditions import Compare, Condition
from vxmon.icd.model import MAX_FIELDS, MAX_SIZE, Field, FieldType, Message, Order

__all__ = ["CAN_SUFFIXES", "MAX_DATABASE", "messages_of_database"]

CAN_SUFFIXES: Final = frozenset({".dbc", ".kcd", ".arxml"})
MAX_DATABASE: Final = 4 << 20
"""Largest database in bytes: cantools takes seconds a megabyte, and 100 bytes of memory a byte."""

_FLOATS: Final = {16: FieldType.FLOAT16, 32: FieldType.FLOAT32, 64: FieldType.FLOAT64}
_XML: Final = frozenset({".kcd", ".arxml"})
_TIMEOUT_S: Final = 2 * CPU_S
_TOO_MUCH: Final = 4
_MOST_SELECTORS: Final = 1000

Json = dict[str, Any]


def messages_of_database(path: str) -> tuple[Message, ...]:
    """Return the messages of a database.

    Raises:
        InputError: it cannot be read, or cantools is not installed; the message then names the extra.

    """
    suffix = Path(path).suffix.lower()
    text = _text(path, suffix)
    if not _installed():
        install = "install it with: pip install 'vxmon[can]'"
        raise InputError(f"{path}: reading {suffix} files needs cantools; {install}")
    messages: list[Message] = []
    seen: set[str] = set()
    for source in _read(path, suffix, text):
        name = _name(source["name"])
        if name not in seen and 1 <= source["size"] <= MAX_SIZE:
            seen.add(name)
            messages.append(_message(name, source, Place(path)))
    return tuple(messages)


def _text(path: str, suffix: str) -> str:
    encoding = "utf-8-sig" if suffix in _XML else "cp1252"
    text = read_text(path, MAX_DATABASE, encoding)
    if suffix in _XML and ("<!DOCTYPE" in text or "<!ENTITY" in text):
        raise InputError(f"{path}: it declares entities, which no such database does")
    return text


def _installed() -> bool:
    try:
        return find_spec("cantools") is not None
    except ValueError:
        return False


def _read(path: str, suffix: str, text: str) -> list[Json]:
    # -P: modules beside that file have names that others use, too.
    command = [sys.executable, "-P", "-X", "utf8", can_child.__file__, suffix[1:]]
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, encoding="utf-8", timeout=_TIMEOUT_S, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{path}: cantools needs more than {_TIMEOUT_S} s for it") from None
    except OSError as error:
        raise InputError(f"{path}: cannot run {sys.executable} to read it: {error.strerror}") from None
    if done.returncode == 0:
        found: list[Json] = json.loads(done.stdout)
        return found
    lines = done.stderr.strip().splitlines()
    if done.returncode == _TOO_MUCH or done.returncode < 0 or "MemoryError" in done.stderr:
        raise InputError(f"{path}: cantools needs more than {CPU_S} s or {MEMORY >> 20} MiB for it")
    reason = _plain(lines[-1]) if lines else f"exit status {done.returncode}"
    raise InputError(f"{path}: no {suffix[1:].upper()} database: {reason}")


def _message(name: str, source: Json, place: Place) -> Message:
    notes: list[str] = []
    if source["container"]:
        notes.append("a container of other messages, whose contents are not taken apart")
    signals = source["signals"][:MAX_FIELDS]
    fields = [field for field in (_field(signal, place, notes) for signal in signals) if field is not None]
    return Message(
        name, source["size"], tuple(fields), source["size"], _plain(source["description"]), place, tuple(notes)
    )


def _field(signal: Json, place: Place, notes: list[str]) -> Field | None:
    """Return a signal as a field, or None with a note."""
    name, kind = _name(signal["name"]), _type(signal)
    if not signal["linear"] or not _finite(signal["scale"]) or not _finite(signal["offset"]):
        notes.append(f"{name} has a conversion that is not linear, and is left out")
        return None
    if kind is None or not 1 <= signal["length"] <= 64 or not 0 <= signal["start"] < 8 * MAX_SIZE:
        notes.append(f"{name} has {signal['length']} bits of a type that is not known, and is left out")
        return None
    if len(signal["selected_by"]) > _MOST_SELECTORS:
        notes.append(f"{name} is selected by {len(signal['selected_by']):,} numbers, and is left out")
        return None
    order: Order = "big" if signal["order"] == "big_endian" else "little"
    return Field(
        name=name,
        type=kind,
        position=_position(signal["start"], order),
        length=signal["length"],
        order=order,
        scale=_number(signal["scale"]),
        offset=_number(signal["offset"]),
        unit=_plain(signal["unit"]),
        values={code: _plain(text) for code, text in signal["values"]},
        minimum=signal["minimum"] if _finite(signal["minimum"]) else None,
        maximum=signal["maximum"] if _finite(signal["maximum"]) else None,
        present=_selected(signal),
        overlay=signal["selector"] is not None,
        description=_plain(signal["description"]),
        place=place,
    )


def _type(signal: Json) -> FieldType | None:
    if signal["float"]:
        return _FLOATS.get(signal["length"])
    return FieldType.SIGNED if signal["signed"] else FieldType.UNSIGNED


def _position(start: int, order: Order) -> int:
    """Return the position: a database counts from the least significant bit of each byte in both byte orders."""
    return start if order == "little" else start // 8 * 8 + 7 - start % 8


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _number(value: float) -> int | float:
    """Return a factor as cantools uses it: in whole numbers where it is one."""
    return int(value) if float(value).is_integer() and abs(value) < 1 << 53 else float(value)


def _selected(signal: Json) -> Condition | None:
    if signal["selector"] is None:
        return None
    return Compare(_name(signal["selector"]), "==", tuple(signal["selected_by"]), raw=True)


def _name(text: str) -> str:
    return "_".join(_plain(text).split())[:255] or "_"


def _plain(text: str) -> str:
    """Return text on one line without control characters."""
    return "".join(c if c.isprintable() else "." for c in " ".join(text.split()))[:LONGEST_TEXT]
