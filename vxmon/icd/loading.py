# SPDX-License-Identifier: Apache-2.0
"""Reads ICDs from files of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vxmon.config.entries import shown
from vxmon.config.place import Place
from vxmon.errors import InputError
from vxmon.icd.can import CAN_SUFFIXES, messages_of_database
from vxmon.icd.csvicd import read_csv_icd
from vxmon.icd.dwarf import message_of_type
from vxmon.icd.icd import Icd
from vxmon.icd.model import Binding, Message
from vxmon.icd.tomlicd import Document, read_toml_icd

__all__ = ["load_icd"]

_MOST_SOURCES: Final = 256
_LONGEST_SOURCE: Final = 4096


def load_icd(sources: Sequence[str]) -> Icd:
    """Read ICD sources.

    Args:
        sources: each one of
            ``FILE.toml`` or ``FILE.csv``: an ICD of our own, see README.md;
            ``FILE.dbc``, ``.kcd``, ``.arxml``, with ``:MESSAGE`` for one of its messages;
            ``APPLICATION.elf:struct NAME``: a type from its debug information;
            any of the last two with ``OBJECT=`` before it: the object (wildcards ``*?[]``) carries it.

    Raises:
        InputError: a source cannot be used.

    """
    loader = _Loader()
    for source in sources:
        loader.add(source)
    return Icd(loader.messages, loader.bindings)


class _Loader:
    """Reads sources, each once."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.bindings: list[tuple[Binding, Message]] = []
        self._read: dict[tuple[str, str], tuple[Message, ...]] = {}

    def add(self, source: str) -> None:
        pattern, source = _bound_to(source)
        path, name = _split(source)
        if Path(path).suffix.lower() == ".toml" and not name:
            if pattern:
                raise InputError(f"{shown(pattern)}= goes before one message, not before {path}; bind it in the file")
            self._document(read_toml_icd(path), path)
            return
        found = self._source(path, name)
        self.messages += found
        if pattern:
            if len(found) != 1:
                raise InputError(f"{path} has {len(found):,} messages; write {pattern}={path}:MESSAGE")
            self.bindings.append((Binding(pattern, source, False, None, Place("--icd")), found[0]))

    def _document(self, document: Document, path: str) -> None:
        names = {message.name: message for message in document.messages}
        self.messages += document.messages
        folder = Path(path).parent
        for binding in document.bindings:
            message = names.get(binding.layout)
            if message is None:
                message = self._elsewhere(binding, folder)
                if not any(m is message for m in self.messages):
                    self.messages.append(message)
            self.bindings.append((binding, message))

    def _elsewhere(self, binding: Binding, folder: Path) -> Message:
        """Return the message that a binding's layout means; files are looked for beside the ICD."""
        path, name = _split(binding.layout, folder)
        try:
            found = self._source(path, name)
        except InputError as error:
            raise InputError(f"{binding.place}: bind.layout: {error}") from None
        if len(found) != 1:
            raise InputError(f"{binding.place}: bind.layout: {path} has {len(found):,} messages; write {path}:MESSAGE")
        return found[0]

    def _source(self, path: str, name: str) -> tuple[Message, ...]:
        if (path, name) not in self._read:
            if len(self._read) >= _MOST_SOURCES:
                raise InputError(f"{path}: more than {_MOST_SOURCES} sources of layouts")
            self._read[path, name] = self._messages(path, name)
        return self._read[path, name]

    def _messages(self, path: str, name: str) -> tuple[Message, ...]:
        suffix = Path(path).suffix.lower()
        if suffix not in (CAN_SUFFIXES | {".csv", ".toml"}):
            if not name:
                if not Path(path).is_file():
                    raise InputError(f"{path}: is no file")
                raise InputError(f"{path}: which type? write for example {path}:'struct nav_state'")
            return (message_of_type(path, name),)
        if suffix == ".toml":
            found = read_toml_icd(path).messages
        else:
            found = read_csv_icd(path) if suffix == ".csv" else self._database(path)
        return found if not name else (Icd(found).message(name),)

    def _database(self, path: str) -> tuple[Message, ...]:
        if (path, "") not in self._read:
            self._read[path, ""] = messages_of_database(path)
        return self._read[path, ""]


def _bound_to(source: str) -> tuple[str, str]:
    """Return the object before ``=``, empty if there is none, and the rest."""
    pattern, mark, rest = source.partition("=")
    if not mark or _is_file(_split(source)[0]):
        return "", source
    return pattern.strip(), rest


def _split(source: str, folder: Path | None = None) -> tuple[str, str]:
    """Return the file and the name after the first colon that follows an existing file (C++ names have colons too)."""
    if not source or "\0" in source or len(source) > _LONGEST_SOURCE:
        raise InputError(f"{shown(source)} is no source of layouts")
    ends = [i for i, c in enumerate(source) if c == ":"] + [len(source)]
    for end in ends[:20]:
        path = str((folder or Path()) / source[:end])
        if _is_file(path):
            return path, source[end + 1 :].strip()
    return str((folder or Path()) / source[: ends[0]]), source[ends[0] + 1 :].strip()


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:
        return False
