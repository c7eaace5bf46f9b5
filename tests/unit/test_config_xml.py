# SPDX-License-Identifier: Apache-2.0
"""XML that comes from strangers: includes, declarations, sizes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vxmon.config import xmltree
from vxmon.config.xmltree import MAX_DEPTH, load_tree
from vxmon.errors import InputError

XI = 'xmlns:xi="http://www.w3.org/2001/XInclude"'


def include(href: str, more: str = "") -> str:
    return f'<a {XI}>\n<xi:include href="{href}" {more}/></a>'


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path: Path, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        load_tree(path)
    assert "\n" not in str(error.value)


def test_an_include_takes_the_place_of_the_element(tmp_path: Path) -> None:
    write(tmp_path / "parts" / "p 1.xml", "<!-- a -->\n<p x='1'>\n<q/></p>")
    tree = load_tree(write(tmp_path / "m.xml", include("parts/p%201.xml", 'parse="xml"')))
    (part,) = tree.root.children
    assert (part.tag, part.attributes, part.source.line) == ("p", {"x": "1"}, 2)
    assert part.children[0].source.file == str(tmp_path / "parts" / "p 1.xml")
    assert tree.files == (str(tmp_path / "m.xml"), str(tmp_path / "parts" / "p 1.xml"))


def test_includes_are_relative_to_the_including_file(tmp_path: Path) -> None:
    write(tmp_path / "parts" / "p.xml", include("..\\q.xml"))
    write(tmp_path / "q.xml", "<q/>")
    tree = load_tree(write(tmp_path / "m.xml", include("parts\\p.xml")))
    assert tree.root.children[0].children[0].tag == "q"


@pytest.mark.parametrize(
    "href",
    ["../secret.xml", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1/x", "C:\\x.xml", "parts/../../secret.xml"],
)
def test_nothing_outside_the_folder_is_read(tmp_path: Path, href: str) -> None:
    write(tmp_path / "secret.xml", "<secret/>")
    refused(
        write(tmp_path / "module" / "m.xml", include(href)), r"m\.xml:2: .*(outside the module|relative to this one)"
    )


def test_a_link_that_leads_outside(tmp_path: Path) -> None:
    write(tmp_path / "secret.xml", "<secret/>")
    main = write(tmp_path / "module" / "m.xml", include("link.xml"))
    (tmp_path / "module" / "link.xml").symlink_to(tmp_path / "secret.xml")
    refused(main, "outside the module's folder")


def test_a_pipe_or_folder_is_not_included(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    refused(write(tmp_path / "m.xml", include("pipe.xml")), "not a regular file")
    refused(write(tmp_path / "n.xml", include(".")), "directory")


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ('<xi:include href="x.xml" parse="text"/>', 'parse="xml" only'),
        ('<xi:include href="x.xml" xpointer="a"/>', "xpointer"),
        ("<xi:include/>", "needs the name"),
        ('<xi:include href="a%00b"/>', "needs the name"),
        ('<xi:include href="none.xml"/>', "No such file"),
        ('<xi:include href="m.xml"/>', "includes itself"),
        ("<xi:fallback/>", "outside xi:include"),
    ],
)
def test_includes_that_are_refused(tmp_path: Path, element: str, words: str) -> None:
    refused(write(tmp_path / "m.xml", f"<a {XI}>{element}</a>"), words)


def test_the_depth_of_includes(tmp_path: Path) -> None:
    for level in range(MAX_DEPTH + 1):
        write(tmp_path / f"{level}.xml", include(f"{level + 1}.xml"))
    write(tmp_path / f"{MAX_DEPTH + 1}.xml", "<end/>")
    refused(tmp_path / "0.xml", f"deeper than {MAX_DEPTH}")
    assert len(load_tree(tmp_path / "1.xml").files) == MAX_DEPTH + 1


def test_includes_that_multiply(tmp_path: Path) -> None:
    for level in range(MAX_DEPTH):
        write(tmp_path / f"{level}.xml", f"<a {XI}>" + f'<xi:include href="{level + 1}.xml"/>' * 10 + "</a>")
    write(tmp_path / f"{MAX_DEPTH}.xml", "<end/>")
    refused(tmp_path / "0.xml", "more than 1000 files")


LAUGHS = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_declaration(tmp_path: Path, encoding: str) -> None:
    text = LAUGHS.replace("?>", f' encoding="{encoding}"?>', 1)
    refused(write(tmp_path / "m.xml", text.encode(encoding)), "document type declaration")


def test_an_external_entity_in_utf_16(tmp_path: Path) -> None:
    write(tmp_path / "secret", "secret")
    text = f'<?xml version="1.0" encoding="utf-16"?><!DOCTYPE l SYSTEM "{tmp_path}/secret"><l/>'
    refused(write(tmp_path / "m.xml", text.encode("utf-16")), "document type declaration")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not well-formed"),
        (b"\0\0\0", "not well-formed"),
        (b"<a>\n<b></a>", r"m\.xml:2: not well-formed"),
        (b"\x7fELF\x02", "not well-formed"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "not (well-formed|usable)"),
        (b"<a>" * 100 + b"</a>" * 100, "nested deeper"),
        (b"<a>" * 10000 + b"</a>" * 10000, "not well-formed|nested deeper"),
    ],
)
def test_what_is_no_xml(tmp_path: Path, text: bytes, words: str) -> None:
    refused(write(tmp_path / "m.xml", text), words)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    refused(tmp_path / "none.xml", "cannot read .*No such file")
    refused(tmp_path, "cannot read .*directory")


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "m.xml", "<a>" + "<b/>" * 100 + "</a>")
    monkeypatch.setattr(xmltree, "_MAX_NODES", 100)
    refused(path, "more than 100 elements")
    monkeypatch.setattr(xmltree, "MAX_BYTES", 100)
    refused(path, "larger than")
