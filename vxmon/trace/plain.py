# SPDX-License-Identifier: Apache-2.0
"""Values of dataclasses as plain JSON and back, by the types that the classes declare.

What does not have the declared type is refused, so that what was read from a file is no more than it may be; nothing
is ever executed.
"""

from __future__ import annotations

import types
from collections import Counter
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

__all__ = ["PlainError", "from_plain", "to_plain"]

_SCALARS: Final = (bool, int, float, str)
_SEQUENCES: Final = (list, tuple, set, frozenset)


class PlainError(ValueError):
    """A value does not have the type that it should have."""


def to_plain(value: Any) -> Any:
    """A value of scalars, bytes, containers, enums and dataclasses as lists, numbers and texts.

    Raises:
        PlainError: it holds something else.

    """
    if value is None or type(value) in _SCALARS:
        return value
    if isinstance(value, (Enum, bytes)):
        return value.hex() if isinstance(value, bytes) else to_plain(value.value)
    if isinstance(value, dict):
        return [[to_plain(key), to_plain(item)] for key, item in value.items()]
    if isinstance(value, _SEQUENCES):
        return [to_plain(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [to_plain(getattr(value, field.name)) for field in fields(value)]
    raise PlainError(f"{type(value).__name__} is not plain")


def from_plain(kind: Any, value: Any) -> Any:
    """The value of declared type ``kind`` that :func:`to_plain` made ``value`` of. Raises PlainError."""
    origin = get_origin(kind)
    if origin is not None:
        return _from_generic(origin, get_args(kind), value)
    if kind in (None, type(None), *_SCALARS):
        return _scalar(kind, value)
    if kind is bytes:
        return _bytes(value)
    if isinstance(kind, type) and (issubclass(kind, Enum) or is_dataclass(kind)):
        return _enum(kind, value) if issubclass(kind, Enum) else _from_fields(kind, value)
    raise PlainError(f"no values of {kind} are kept")


def _from_generic(origin: Any, kinds: tuple[Any, ...], value: Any) -> Any:
    if origin in (Union, types.UnionType):
        return _from_union(kinds, value)
    if issubclass(origin, dict):
        return _from_dict(origin, kinds, value)
    if origin in _SEQUENCES:
        return _from_sequence(origin, kinds, value)
    raise PlainError(f"no values of {origin} are kept")


def _scalar(kind: Any, value: Any) -> Any:
    wanted = type(None) if kind is None else kind
    if type(value) is not wanted and not (wanted is float and type(value) is int):
        raise PlainError(f"{value!r:.40} where {wanted.__name__} should be")
    return value


def _bytes(value: Any) -> bytes:
    try:
        return bytes.fromhex(_scalar(str, value))
    except ValueError as error:
        raise PlainError("no bytes") from error


def _enum(kind: type[Enum], value: Any) -> Enum:
    try:
        return kind(value)
    except ValueError as error:
        raise PlainError(f"{value!r:.40} is no {kind.__name__}") from error


def _from_union(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    others = [kind for kind in kinds if kind is not type(None)]
    if len(others) != 1:
        raise PlainError("which of several types it is cannot be told")
    return from_plain(others[0], value)


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PlainError("no list")
    return value


def _from_dict(origin: type, kinds: tuple[Any, ...], value: Any) -> Any:
    key_kind, item_kind = (kinds[0], int) if origin is Counter else kinds
    pairs = [_items(pair) for pair in _items(value)]
    if any(len(pair) != 2 for pair in pairs):
        raise PlainError("no pairs")
    return origin({from_plain(key_kind, key): from_plain(item_kind, item) for key, item in pairs})


def _from_sequence(origin: type, kinds: tuple[Any, ...], value: Any) -> Any:
    items = _items(value)
    if origin is not tuple or (len(kinds) == 2 and kinds[1] is Ellipsis):
        return origin(from_plain(kinds[0], item) for item in items)
    if len(items) != len(kinds):
        raise PlainError("of another length")
    return tuple(from_plain(kind, item) for kind, item in zip(kinds, items, strict=True))


@cache
def _hints(kind: type) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


def _from_fields(kind: type, value: Any) -> Any:
    items = _items(value)
    hints = _hints(kind)
    if len(items) != len(hints):
        raise PlainError(f"another {kind.__name__}")
    made: Any = object.__new__(kind)
    for (name, hint), item in zip(hints, items, strict=True):
        object.__setattr__(made, name, from_plain(hint, item))
    return made
