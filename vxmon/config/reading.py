# SPDX-License-Identifier: Apache-2.0
"""Typed access to the attributes of a Node, with messages that name file, line, element and attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vxmon.config.model import ConfigProblem
from vxmon.config.place import Place
from vxmon.config.values import MAX_NAME, parse_boolean, parse_integer, parse_name, parse_seconds, shown
from vxmon.config.xmltree import Node
from vxmon.errors import InputError

__all__ = ["Reader", "fail"]

T = TypeVar("T")


def fail(source: Place, message: str) -> InputError:
    """Return the error for a configuration that cannot be used as it is written at that place."""
    return InputError(f"{source}: {message}")


class Reader:
    """Reads attributes and collects the oddities that do not keep the file from being used."""

    def __init__(self) -> None:
        self.problems: list[ConfigProblem] = []
        self._long_names: set[str] = set()

    def problem(self, source: Place, message: str) -> None:
        """Note something odd."""
        self.problems.append(ConfigProblem(source, message))

    def required(self, node: Node, tag: str) -> Node:
        """Return the one child that must be there."""
        child = node.first(tag)
        if child is None:
            raise fail(node.source, f"{node.tag} has no {tag} element")
        return child

    def text(self, node: Node, attribute: str) -> str | None:
        """Return an attribute as it is written."""
        return node.attributes.get(attribute)

    def name(self, node: Node, attribute: str) -> str:
        """Return a name that must be there."""
        return self._must(node, attribute, self._name(node, attribute))

    def optional_name(self, node: Node, attribute: str) -> str | None:
        """Return a name, or None where the attribute is missing."""
        return self._name(node, attribute)

    def integer(self, node: Node, attribute: str) -> int:
        """Return an unsigned integer that must be there."""
        return self._must(node, attribute, self.optional_integer(node, attribute))

    def optional_integer(self, node: Node, attribute: str) -> int | None:
        """Return an unsigned integer, or None where the attribute is missing."""
        return self._parsed(node, attribute, parse_integer)

    def time(self, node: Node, attribute: str) -> int:
        """Return a finite time that must be there, in nanoseconds."""
        return self._must(node, attribute, self._parsed(node, attribute, parse_seconds))

    def optional_time(self, node: Node, attribute: str) -> int | None:
        """Return a time in nanoseconds, INFINITE_TIME, or None where the attribute is missing."""
        return self._parsed(node, attribute, lambda text: parse_seconds(text, infinite=True))

    def boolean(self, node: Node, attribute: str, *, default: bool) -> bool:
        """Return an xs:boolean."""
        value = self._parsed(node, attribute, parse_boolean)
        return default if value is None else value

    def _name(self, node: Node, attribute: str) -> str | None:
        value = self._parsed(node, attribute, parse_name)
        if value is not None and len(value) > MAX_NAME and value not in self._long_names:
            self._long_names.add(value)
            self.problem(node.source, f"name {shown(value)} has {len(value)} characters, more than {MAX_NAME}")
        return value

    @staticmethod
    def _parsed(node: Node, attribute: str, parse: Callable[[str], T]) -> T | None:
        text = node.attributes.get(attribute)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise fail(node.source, f"{node.tag}/@{attribute}={shown(text)} {error}") from None

    @staticmethod
    def _must(node: Node, attribute: str, value: T | None) -> T:
        if value is None:
            raise fail(node.source, f"{node.tag} needs the attribute {attribute}")
        return value
