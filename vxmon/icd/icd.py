# SPDX-License-Identifier: Apache-2.0
"""All layouts of a session: which message an object carries. Read from files by vxmon.icd.loading."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Final

from vxmon.config.entries import shown
from vxmon.errors import InputError
from vxmon.icd.layout import Layout
from vxmon.icd.model import Binding, Message

__all__ = ["Icd"]

_MOST_PATTERNS: Final = 1000
_KINDS: Final = re.compile(r"(?:struct|class|union|enum) +")


class Icd:
    """Messages, and the objects that carry them.

    Args:
        messages: of all sources, in their order.
        bindings: with the message that each leads to; the first one that fits an object counts, exact names before
            patterns.

    """

    def __init__(self, messages: Iterable[Message], bindings: Iterable[tuple[Binding, Message]] = ()) -> None:
        self.messages: tuple[Message, ...] = tuple(messages)
        bound = sorted(bindings, key=lambda b: _is_pattern(b[0].pattern))
        self.bindings: tuple[tuple[Binding, Message], ...] = tuple(bound)
        """In the order in which they are tried."""
        self._exact: dict[str, list[tuple[Binding, Message]]] = {}
        self._patterns: list[tuple[re.Pattern[str], Binding, Message]] = []
        for binding, message in self.bindings:
            self._bind(binding, message)
        self._layouts: dict[int, Layout] = {}
        self._names: dict[str, Message] = {}
        for message in self.messages:
            self._names.setdefault(message.name, message)
            self._names.setdefault(_KINDS.sub("", message.name), message)

    def _bind(self, binding: Binding, message: Message) -> None:
        if not _is_pattern(binding.pattern):
            self._exact.setdefault(binding.pattern, []).append((binding, message))
            return
        if len(self._patterns) == _MOST_PATTERNS:
            raise InputError(f"{binding.place}: more than {_MOST_PATTERNS:,} bindings have patterns")
        self._patterns.append((re.compile(translate(binding.pattern)), binding, message))

    def message_for(self, name: str, partition: str | None = None) -> Message | None:
        """Return the message of an object: that of its binding, else the one with the object's name."""
        for binding, message in self._exact.get(name, ()):
            if binding.partition in (None, partition):
                return message
        for pattern, binding, message in self._patterns:
            if binding.partition in (None, partition) and pattern.match(name):
                return message
        return self._names.get(name)

    def layout_for(self, name: str, partition: str | None = None) -> Layout | None:
        """Return the layout of an object's messages, None if the ICD does not say.

        Raises:
            InputError: the message cannot be laid out; the words name field, file and line.

        """
        message = self.message_for(name, partition)
        return None if message is None else self.layout(message)

    def layout(self, message: Message) -> Layout:
        """Return the layout of a message; it is made once."""
        if id(message) not in self._layouts:
            self._layouts[id(message)] = Layout(message)
        return self._layouts[id(message)]

    def message(self, name: str) -> Message:
        """Return the message of that name. Raises InputError."""
        found = self._names.get(name)
        if found is None:
            known = ", ".join(m.name for m in self.messages[:10])
            raise InputError(f"there is no message {shown(name)}; known are {known or 'none'}")
        return found


def _is_pattern(text: str) -> bool:
    return any(c in text for c in "*?[")
