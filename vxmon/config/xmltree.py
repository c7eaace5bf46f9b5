# SPDX-License-Identifier: Apache-2.0
"""XML files as plain, bounded trees that know their lines; the only module that sees lxml.

The files may come from anybody, so: no document type declaration (hence no entities), no network, and XInclude
resolved here: only regular files inside the folder of the first file, ``parse="xml"``, at most MAX_DEPTH deep.
lxml's own ``xinclude()`` is not used because it reads any local file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote, urlsplit

from lxml import etree

from vxmon.config.place import Place
from vxmon.config.values import shown
from vxmon.errors import InputError

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_FILES", "Node", "XmlTree", "load_tree"]

MAX_DEPTH = 8
"""How deep files may include files."""
MAX_FILES = 1000
MAX_BYTES = 32 << 20
"""All files of one module together."""
_MAX_NODES = 500_000
_MAX_NESTING = 64
_XI = "http://www.w3.org/2001/XInclude"


@dataclass(frozen=True, slots=True)
class Node:
    """An element: local name, namespace, attributes (those without a namespace), children, place."""

    tag: str
    namespace: str
    attributes: dict[str, str]
    children: tuple[Node, ...]
    source: Place

    def all(self, *tags: str) -> Iterator[Node]:
        """Yield the children of these names, in document order."""
        return (child for child in self.children if child.tag in tags)

    def first(self, tag: str) -> Node | None:
        """Return the first child of that name, or None."""
        return next(self.all(tag), None)


@dataclass(frozen=True, slots=True)
class XmlTree:
    """A root with every include resolved, and the files it came from."""

    root: Node
    files: tuple[str, ...]


def load_tree(path: Path) -> XmlTree:
    """Read an XML file and what it includes. Raises InputError, with file and line where there is one."""
    loader = _Loader(path)
    return XmlTree(loader.root(), tuple(loader.files))


class _Loader:
    """State of one load: what is open, and what is left of the limits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: list[str] = []
        self._folder = path.parent.resolve()
        self._open: list[Path] = []
        self._bytes = 0
        self._nodes = 0

    def root(self) -> Node:
        return self._load(self.path, None)

    def _load(self, path: Path, at: Place | None) -> Node:
        real = path.resolve()
        if real in self._open:
            raise InputError(f"{at}: {shown(path.name)} includes itself")
        if len(self._open) > MAX_DEPTH:
            raise InputError(f"{at}: includes are nested deeper than {MAX_DEPTH}")
        if len(self.files) >= MAX_FILES:
            raise InputError(f"{at}: more than {MAX_FILES} files are included")
        self.files.append(str(path))
        self._open.append(real)
        try:
            return self._convert(self._parse(path, at), str(path), 0)
        finally:
            self._open.pop()

    def _parse(self, path: Path, at: Place | None) -> etree._Element:
        data = self._read(path, at)
        # An early no for the usual encodings; the check after parsing sees the others.
        if b"<!DOCTYPE" in data:
            raise InputError(f"{path}: has a document type declaration (DTD), which is refused")
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise InputError(f"{path}:{error.lineno or 1}: not well-formed XML: {_one_line(error.msg)}") from None
        except (ValueError, LookupError) as error:
            raise InputError(f"{path}: not usable as XML: {_one_line(str(error))}") from None
        if root.getroottree().docinfo.doctype:
            raise InputError(f"{path}: has a document type declaration (DTD), which is refused")
        return root

    def _read(self, path: Path, at: Place | None) -> bytes:
        place = f"{at}: cannot include {shown(path.name)}" if at else f"cannot read {path}"
        try:
            with open(path, "rb", opener=_no_wait) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise InputError(f"{place}: it is not a regular file")
                data = file.read(MAX_BYTES - self._bytes + 1)
        except (OSError, ValueError) as error:
            raise InputError(f"{place}: {getattr(error, 'strerror', None) or error}") from None
        self._bytes += len(data)
        if self._bytes > MAX_BYTES:
            raise InputError(f"{place}: the configuration is larger than {MAX_BYTES >> 20} MiB")
        return data

    def _convert(self, element: etree._Element, file: str, nesting: int) -> Node:
        source = Place(file, int(element.sourceline or 0))
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise InputError(f"{source}: more than {_MAX_NODES:,} elements")
        if nesting > _MAX_NESTING:
            raise InputError(f"{source}: elements are nested deeper than {_MAX_NESTING}")
        name = etree.QName(element)
        if name.namespace == _XI:
            return self._include(element, name.localname, source)
        children = tuple(self._convert(c, file, nesting + 1) for c in element if isinstance(c.tag, str))
        attributes = {str(k): str(v) for k, v in element.attrib.items() if not str(k).startswith("{")}
        return Node(name.localname, name.namespace or "", attributes, children, source)

    def _include(self, element: etree._Element, tag: str, source: Place) -> Node:
        if tag != "include":
            raise InputError(f"{source}: xi:{tag} stands outside xi:include")
        if element.get("parse", "xml") != "xml":
            raise InputError(f'{source}: xi:include is supported with parse="xml" only')
        if element.get("xpointer") is not None:
            raise InputError(f"{source}: xi:include with xpointer is not supported")
        href = str(element.get("href", ""))
        return self._load(self._inside(href, Path(source.file).parent, source), source)

    def _inside(self, href: str, base: Path, source: Place) -> Path:
        """Return the file that href names, or raise when it lies outside the module's folder."""
        if not href or "\0" in unquote(href):
            raise InputError(f"{source}: xi:include needs the name of a file in href")
        # Files written on Windows have backslashes here, as they have in schemaLocation.
        name = PureWindowsPath(unquote(href)).as_posix()
        absolute = name.startswith("/") or PureWindowsPath(name).drive
        if absolute or urlsplit(href.replace("\\", "/")).scheme:
            raise InputError(f"{source}: xi:include of {shown(href)}: only files relative to this one are read")
        path = base / name
        try:
            real = path.resolve()
        except (OSError, RuntimeError) as error:
            raise InputError(f"{source}: cannot include {shown(href)}: {error}") from None
        if not real.is_relative_to(self._folder):
            raise InputError(f"{source}: xi:include of {shown(href)} leads outside the module's folder")
        return path


def _no_wait(path: str, flags: int) -> int:
    """Open a file; without O_NONBLOCK a FIFO that nobody writes to would hang here."""
    return os.open(path, flags | os.O_NONBLOCK)


def _one_line(message: str | None) -> str:
    text = " ".join((message or "").split())
    return "".join(c if c.isprintable() else "?" for c in text)[:200]
