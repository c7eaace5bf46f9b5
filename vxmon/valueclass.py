# SPDX-License-Identifier: Apache-2.0
"""Dataclasses that are quick to define; see :func:`dataclass`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

__all__ = ["dataclass"]

T = TypeVar("T")
Fields = tuple["dataclasses.Field[Any]", ...]
Values = Callable[[Any], tuple[Any, ...]]

_NOT_GIVEN: Final = object()


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True  # noqa: A002 - the known name
) -> Callable[[type[T]], type[T]]:  # fmt: skip
    """The same as the standard library's, in a quarter of the time.

    That one compiles each method of each class for itself: 0.4 ms a class, where a command loads 80 to 240 of them.
    Here only ``__init__`` is compiled; comparing, hashing, showing, copying and refusing change are done by functions
    that look the fields up. Everything else, ``slots`` and what ``fields``, ``replace`` and ``match`` need, comes from
    the standard library, as does what mypy knows.

    Raises:
        TypeError: a field has other settings than a default, a factory and ``init``.

    """

    def decorate(cls: type[T]) -> type[T]:
        # Where a class has no text, the standard library takes 2 ms to put its signature there.
        cls.__doc__ = cls.__doc__ or cls.__name__
        made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        own, fields = vars(made), dataclasses.fields(made)
        for name, method in _methods(fields, frozen=frozen, eq=eq, repr=repr).items():
            if own.get(name) is None:
                setattr(made, name, method)
        made.__init__ = _init(made, fields, frozen)
        return cast("type[T]", made)

    return decorate


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


def _methods(fields: Fields, *, frozen: bool, eq: bool, repr: bool) -> dict[str, Any]:  # noqa: A002 - as above
    if not all(field.repr and field.compare and not field.kw_only for field in fields):
        raise TypeError("of the settings of fields there are default, default_factory and init")
    values = _values([field.name for field in fields])
    methods: dict[str, Any] = {}
    if repr:
        methods["__repr__"] = _repr(fields)
    if eq:
        methods |= {"__eq__": _eq(values), "__hash__": _hash(values) if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
        methods |= {"__getstate__": _get_state(values), "__setstate__": _set_state(fields)}
    return methods


def _values(names: list[str]) -> Values:
    """A function that gives an instance's values."""
    get: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()
    return (lambda instance: (get(instance),)) if len(names) == 1 else get


def _eq(values: Values) -> Callable[[Any, object], bool]:
    def eq(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return eq


def _hash(values: Values) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _get_state(values: Values) -> Callable[[Any], tuple[Any, ...]]:
    def get_state(self: Any) -> tuple[Any, ...]:
        return values(self)

    return get_state


def _set_state(fields: Fields) -> Callable[[Any, tuple[Any, ...]], None]:
    """How copies get their values, which nobody else may set."""

    def set_state(self: Any, state: tuple[Any, ...]) -> None:
        for field, value in zip(fields, state, strict=True):
            object.__setattr__(self, field.name, value)

    return set_state


def _repr(fields: Fields) -> Callable[[Any], str]:
    @recursive_repr()
    def show(self: Any) -> str:
        shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields)
        return f"{self.__class__.__qualname__}({shown})"

    return show


def _refuse_set(self: object, name: str, value: object) -> NoReturn:
    del self, value
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> NoReturn:
    del self
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _init(cls: type, fields: Fields, frozen: bool) -> Callable[..., None]:
    """Compile ``__init__``: generic code would make each instance four times slower."""
    given: dict[str, Any] = {"_set": object.__setattr__, "_not_given": _NOT_GIVEN}
    parameters, body = ["self"], []
    for field in fields:
        default, value = _parameter(field, given)
        if field.init:
            parameters.append(field.name + default)
        if field.init or default:
            body.append(f"_set(self, {field.name!r}, {value})" if frozen else f"self.{field.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    text = f"def make({', '.join(given)}):\n def __init__({', '.join(parameters)}):\n  "
    text += "\n  ".join(body or ["pass"]) + "\n return __init__"
    scope: dict[str, Any] = {}
    # The text holds names of fields and nothing else from outside; the standard library does the same.
    exec(text, vars(sys.modules[cls.__module__]), scope)  # noqa: S102
    made: Callable[..., None] = scope["make"](**given)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return made


def _parameter(field: dataclasses.Field[Any], given: dict[str, Any]) -> tuple[str, str]:
    """A parameter's default and the value for the field, as text; what they name is put into ``given``."""
    name = f"_default_{field.name}"
    if field.default_factory is not dataclasses.MISSING:
        given[name] = field.default_factory
        made = f"{name}()"
        return "=_not_given", f"{made} if {field.name} is _not_given else {field.name}" if field.init else made
    if field.default is not dataclasses.MISSING:
        given[name] = field.default
        return f"={name}", field.name if field.init else name
    return "", field.name
