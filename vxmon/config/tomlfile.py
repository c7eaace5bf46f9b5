# SPDX-License-Identifier: Apache-2.0
"""TOML files with the line of every key, and with limits that make any file quick to read.

The standard library's parser does not say where a key was. A second, simpler walk over the same text finds that. It
goes first, because it also refuses what would make the parser slow: the parser's time grows with the square of the
number of parts of a dotted key, and it goes as deep as brackets do.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from vxmon.config.place import Place
from vxmon.config.textfile import read_text
from vxmon.errors import InputError

__all__ = ["TomlFile", "read_toml"]

_MOST_PARTS: Final = 16
_DEEPEST: Final = 16

_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\#[^\n]*)"
    r"|(?P<newline>\n)"
    r'|(?P<long>"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}' + r"|'''(?:[^']|'(?!''))*+'{3,5})"
    r'|(?P<quoted>"(?:[^"\\\n]|\\.)*+"' + r"|'[^'\n]*')"
    r"|(?P<mark>[\[\]{}=,.])"
    r"|(?P<word>[^\s\[\]{}=,.#\"']++)"
    r"|(?P<stray>.)",
    re.DOTALL,
)

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file's contents, and the line of each key and table."""

    path: str
    data: dict[str, Any]
    lines: dict[Path, int]

    def place(self, *path: str | int) -> Place:
        """Return where something is written: the line of the longest part of its path that is known."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return Place(self.path, self.lines[path[:end]])
        return Place(self.path)


def read_toml(path: str) -> TomlFile:
    """Read a file. Raises InputError, with its line, for what is no TOML or too deep."""
    text = read_text(path)
    lines = _Walk(path, text).lines()
    try:
        data = tomllib.loads(text)
    # Not only TOMLDecodeError: numbers of thousands of digits and impossible dates are other ValueErrors.
    except ValueError as error:
        raise InputError(f"{path}: no TOML: {error}") from None
    return TomlFile(path, data, lines)


class _Walk:
    """Goes over the tokens once. What is no TOML ends it early; the parser then says what is wrong."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._tokens = _tokens(text)
        self._line = 1
        self._lines: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}
        self._kind = self._text = ""

    def lines(self) -> dict[Path, int]:
        self._next()
        table: Path = ()
        while self._kind != "end":
            if self._kind == "newline":
                self._next()
            elif self._text == "[" and self._kind == "mark":
                table = self._header()
            elif not self._pair(table, 0):
                break
        return self._lines

    def _next(self) -> None:
        self._kind, self._text, self._line = next(self._tokens, ("end", "", self._line))

    def _mark(self, mark: str) -> bool:
        if self._kind != "mark" or self._text != mark:
            return False
        self._next()
        return True

    def _header(self) -> Path:
        """Read ``[a.b]`` or ``[[a.b]]``; return the path of the table."""
        line = self._line
        self._next()
        array = self._mark("[")
        path = self._resolve(self._key())
        if array:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
        self._lines.setdefault(path, line)
        while self._mark("]"):
            pass
        return path

    def _resolve(self, key: tuple[str, ...]) -> Path:
        """Return the path that a header means: in an array of tables, the last one."""
        path: Path = ()
        for number, part in enumerate(key):
            path = (*path, part)
            if path in self._counts and number < len(key) - 1:
                path = (*path, self._counts[path])
        return path

    def _key(self) -> tuple[str, ...]:
        parts: list[str] = []
        while self._kind in ("word", "quoted"):
            parts.append(self._text.strip("\"'"))
            self._next()
            if not self._mark("."):
                break
            if len(parts) >= _MOST_PARTS:
                raise InputError(f"{self._path}:{self._line}: a key has more than {_MOST_PARTS} parts")
        return tuple(parts)

    def _pair(self, table: Path, depth: int) -> bool:
        """Read ``key = value``; tell whether it was one."""
        line = self._line
        key = self._key()
        if not key or not self._mark("="):
            return False
        path = (*table, *key)
        self._lines.setdefault(path, line)
        return self._value(path, depth)

    def _value(self, path: Path, depth: int) -> bool:
        if depth > _DEEPEST:
            raise InputError(f"{self._path}:{self._line}: values are nested more than {_DEEPEST} times")
        if self._mark("["):
            return self._array(path, depth)
        if self._mark("{"):
            return self._table(path, depth)
        good = False
        # Numbers and dates are several tokens: 1.5, 2026-11-30 07:32:00.
        while self._kind in ("word", "quoted", "long") or (self._kind, self._text) == ("mark", "."):
            good = True
            self._next()
        return good

    def _array(self, path: Path, depth: int) -> bool:
        number = 0
        while not self._mark("]"):
            if self._kind == "newline":
                self._next()
                continue
            if self._text in ("[", "{"):
                self._lines.setdefault((*path, number), self._line)
            if not self._value((*path, number), depth + 1):
                return False
            number += 1
            while self._kind == "newline":
                self._next()
            if not self._mark(",") and self._text != "]":
                return False
        return True

    def _table(self, path: Path, depth: int) -> bool:
        while not self._mark("}"):
            if not self._pair(path, depth + 1):
                return False
            if not self._mark(",") and self._text != "}":
                return False
        return True


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "space":
            yield kind, match[0], line
        line += match[0].count("\n")
