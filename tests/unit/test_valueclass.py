# SPDX-License-Identifier: Apache-2.0
"""Quick dataclasses, against the standard library's of the same text."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field
from typing import Any

import pytest

from vxmon import valueclass

STANDARD = dataclasses.dataclass(frozen=True, slots=True)
QUICK: Any = valueclass.dataclass(frozen=True, slots=True)


class Text:
    """What is made into a class twice."""

    number: int
    name: str = "x"
    parts: list[int] = field(default_factory=list)


def made(decorator: Any, body: type, **names: Any) -> Any:
    own = {name: value for name, value in vars(body).items() if name not in ("__dict__", "__weakref__")}
    return decorator(type(body.__name__, (), own | names))


@valueclass.dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2


@valueclass.dataclass(frozen=True, slots=True)
class Alone:
    value: float


@valueclass.dataclass(frozen=True, slots=True)
class Nothing:
    pass


PAIR = [made(decorator, Text) for decorator in (STANDARD, QUICK)]


@pytest.mark.parametrize("arguments", [(1,), (1, "a"), (1, "a", [3])])
def test_instances_look_the_same(arguments: tuple[Any, ...]) -> None:
    standard, quick = (cls(*arguments) for cls in PAIR)
    assert repr(quick) == repr(standard)
    assert dataclasses.asdict(quick) == dataclasses.asdict(standard)
    assert dataclasses.asdict(dataclasses.replace(quick, number=7)) == {**dataclasses.asdict(standard), "number": 7}


def test_the_signature_and_the_fields_are_the_same() -> None:
    standard, quick = PAIR
    assert list(inspect.signature(quick).parameters) == list(inspect.signature(standard).parameters)
    assert quick.__init__.__annotations__ == standard.__init__.__annotations__
    assert quick.__match_args__ == standard.__match_args__
    assert quick.__slots__ == standard.__slots__
    assert quick.__doc__ == Text.__doc__ == standard.__doc__
    assert [f.name for f in dataclasses.fields(quick)] == [f.name for f in dataclasses.fields(standard)]


@pytest.mark.parametrize("arguments", [{}, {"number": 1, "other": 2}])
def test_wrong_arguments_are_refused_in_the_same_words(arguments: dict[str, int]) -> None:
    texts = []
    for cls in PAIR:
        with pytest.raises(TypeError) as caught:
            cls(**arguments)
        texts.append(str(caught.value).split("()")[1])
    assert texts[0] == texts[1]


def test_factories_make_a_new_value_each() -> None:
    _, quick = PAIR
    assert quick(1).parts is not quick(1).parts


def test_equal_are_those_of_the_same_class_with_equal_values() -> None:
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(2)
    for other in ((1, 2), Alone(1), dataclasses.make_dataclass("Point", ["x", "y"])(1, 2)):
        assert Point(1) != other
    assert Nothing() == Nothing()
    nan = float("nan")
    assert Alone(nan) == Alone(nan), "identity comes first, as in tuples"
    assert len({Point(1), Point(1, 2), Point(2), Nothing(), Nothing(), Alone(1)}) == 4


def test_frozen_values_cannot_be_changed() -> None:
    point: Any = Point(1)
    for name in ("x", "z"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(point, name, 5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert point == Point(1)


@pytest.mark.parametrize("value", [Point(3, 4), Alone(0.5), Nothing()])
def test_copies_are_equal(value: object) -> None:
    assert copy.copy(value) == value
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


def test_a_class_without_a_text_has_its_name() -> None:
    assert Point.__doc__ == "Point"


def test_they_match_by_position() -> None:
    match Point(5, 6):
        case Point(x, y):
            assert (x, y) == (5, 6)


def test_changeable_ones_can_be_changed_and_have_no_hash() -> None:
    @valueclass.dataclass(slots=True)
    class Count:
        number: int = 0
        twice: int = field(init=False)
        seen: set[int] = field(init=False, default_factory=set)

        def __post_init__(self) -> None:
            self.twice = 2 * self.number

    count = Count(4)
    assert (count.twice, count.seen) == (8, set())
    count.number = 5
    assert (count.number, count.twice) == (5, 8)
    assert count != Count(5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(count)
    with pytest.raises(AttributeError):
        count.other = 1  # type: ignore[attr-defined]


def test_without_eq_an_instance_is_equal_to_itself_only() -> None:
    @valueclass.dataclass(slots=True, eq=False)
    class Place:
        at: int

    place = Place(1)
    assert place == place  # noqa: PLR0124
    assert place != Place(1)
    assert len({place, Place(1)}) == 2


def test_what_a_class_says_itself_stays() -> None:
    @valueclass.dataclass(frozen=True, slots=True)
    class Key:
        secret: str

        def __repr__(self) -> str:
            return "a key"

    @valueclass.dataclass(frozen=True, slots=True, repr=False)
    class Hidden:
        secret: str

    assert repr(Key("x")) == "a key"
    assert "secret" not in repr(Hidden("secret"))


def test_a_value_within_itself_is_shown_once() -> None:
    _, quick = PAIR
    value = quick(1)
    value.parts.append(value)
    assert repr(value).endswith("parts=[...])")


def test_other_settings_of_fields_are_refused() -> None:
    with pytest.raises(TypeError, match="settings of fields"):

        @valueclass.dataclass(slots=True)
        class Wrong:
            at: int = field(compare=False)
