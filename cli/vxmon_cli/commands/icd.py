# SPDX-License-Identifier: Apache-2.0
"""``vxmon icd``: layouts of messages: check them, show them, decode bytes with them."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vxmon.errors import InputError
from vxmon_cli.modules import module_given
from vxmon_cli.output import default_sigpipe
from vxmon_cli.render import show as show_blocks
from vxmon_cli.render import write_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vxmon.icd.icd import Icd
    from vxmon.icd.layout import Layout

__all__ = ["icd"]

_FORMAT = click.option(
    "--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True
)
_MOST_HEX = 64 << 20
_MOST_CELLS = 200_000_000


@click.group()
def icd() -> None:
    """Layouts of messages: check them, show them, decode bytes with them.

    A SOURCE of layouts is an ICD in TOML or CSV, a type of an application (app.elf:'struct nav_state'), or a CAN
    database (bus.dbc, bus.dbc:MESSAGE). OBJECT=SOURCE says which object carries a message.
    """


@icd.command("check", short_help="Find what is wrong with layouts.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="Check ports against module.xml.")
@click.option("--strict", is_flag=True, help="Exit 1 for warnings too.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def _check(context: click.Context, sources: tuple[str, ...], module: Path | None, form: str, *, strict: bool) -> None:
    """Find overlaps, gaps, fields past the end, duplicate names, and ports that the module does not have.

    Exit status: 0 fine, 1 there are errors, 2 a file cannot be used.
    """
    from vxmon.analysis.icd import check_icd
    from vxmon.icd.loading import load_icd
    from vxmon.report.icd_data import check_json
    from vxmon.report.icd_text import check_blocks

    default_sigpipe()
    result = check_icd(load_icd(sources), module_given(module))
    if form == "json":
        _write_json(check_json(result))
    else:
        show_blocks(check_blocks(result))
    warned = strict and any(p.severity == "warning" for p in result.problems)
    context.exit(1 if result.failed or warned else 0)


@icd.command("show")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--message", "names", metavar="NAME", multiple=True, help="Only this message.")
@click.option("--types", is_flag=True, help="List the structures of applications, whose types are then not named.")
@_FORMAT
def _show(sources: tuple[str, ...], names: tuple[str, ...], form: str, *, types: bool) -> None:
    """Show messages and their fields."""
    from vxmon.icd.loading import load_icd
    from vxmon.report.icd_data import layout_json, layout_rows
    from vxmon.report.icd_text import layout_blocks

    default_sigpipe()
    if types:
        _show_types(sources, form)
        return
    loaded = load_icd(sources)
    messages = [loaded.message(name) for name in names] if names else loaded.messages
    if form == "json":
        _write_json(layout_json(messages))
    elif form == "csv":
        _write_csv(layout_rows(messages))
    else:
        show_blocks(layout_blocks(loaded, messages))


@icd.command("decode", short_help="Decode messages given as hexadecimal digits.")
@click.argument("source", metavar="SOURCE")
@click.argument("payloads", metavar="[HEX]...", nargs=-1)
@click.option("--message", metavar="NAME", help="The message that the bytes are; not needed if there is only one.")
@click.option("--object", "name", metavar="NAME", help="The object that carried them, in place of --message.")
@click.option("--partition", metavar="NAME", help="The partition of the object.")
@_FORMAT
def _decode(
    source: str,
    payloads: tuple[str, ...],
    *,
    message: str | None,
    name: str | None,
    partition: str | None,
    form: str,
) -> None:
    """Decode messages given as hexadecimal digits: arguments, or lines of standard input.

    Spaces, colons and 0x between the digits do not matter.
    """
    from vxmon.icd.loading import load_icd
    from vxmon.report.icd_data import decoded_json, decoded_rows
    from vxmon.report.icd_values import message_lines

    default_sigpipe()
    layout = _chosen(load_icd([source]), message, name, partition)
    array, lengths = _array(payloads or _lines(), len(layout.fields))
    decoded = layout.decode(array, lengths)
    if form == "json":
        _write_json(decoded_json(layout, decoded))
    elif form == "csv":
        _write_csv(decoded_rows(decoded))
    else:
        write_text(message_lines(decoded, [layout.name.encode("ascii", "replace")]).decode("ascii"))


def _chosen(loaded: Icd, message: str | None, name: str | None, partition: str | None) -> Layout:
    if message is not None and name is not None:
        raise click.UsageError("--message and --object both say which message it is; give one of them")
    if name is not None:
        layout = loaded.layout_for(name, partition)
        if layout is None:
            raise InputError(f"the ICD does not say what {name!r} carries")
        return layout
    if message is not None:
        return loaded.layout(loaded.message(message))
    if len(loaded.messages) != 1:
        known = ", ".join(m.name for m in loaded.messages[:10])
        raise click.UsageError(f"which message is it? give --message or --object; known are {known or 'none'}")
    return loaded.layout(loaded.messages[0])


def _lines() -> list[str]:
    text = b""
    while piece := os.read(0, 1 << 20):
        text += piece
        if len(text) > _MOST_HEX:
            raise InputError(f"standard input: more than {_MOST_HEX >> 20} MiB")
    return [line for line in text.decode("ascii", "replace").splitlines() if line.strip()]


def _array(texts: Iterable[str], fields: int) -> tuple[NDArray[np.uint8], list[int]]:
    """Return the payloads as rows of equal width, and their lengths."""
    import numpy as np

    rows = [_bytes(text, number) for number, text in enumerate(texts, 1)]
    lengths = [len(row) for row in rows]
    width = max(lengths, default=0)
    if len(rows) * (width + 8 * fields) > _MOST_CELLS:
        raise InputError(f"{len(rows):,} messages of {fields:,} fields are too many at once")
    array = np.frombuffer(b"".join(row.ljust(width, b"\0") for row in rows), np.uint8)
    return array.reshape(len(rows), width), lengths


def _bytes(text: str, number: int) -> bytes:
    digits = "".join(text.split()).replace(":", "").removeprefix("0x").removeprefix("0X")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        short = text if len(text) <= 40 else text[:37] + "..."
        raise InputError(f"message {number}: {short!r} is not pairs of hexadecimal digits") from None


def _show_types(paths: Iterable[str], form: str) -> None:
    from vxmon.icd.dwarf import list_types
    from vxmon.report.blocks import Table

    found = [(path, t) for path in paths for t in list_types(path)]
    if form == "json":
        _write_json(
            {"version": 1, "types": [{"file": p, "name": t.name, "size": t.size, "unit": t.unit} for p, t in found]}
        )
    elif form == "csv":
        _write_csv([("file", "name", "size", "unit"), *((p, t.name, t.size, t.unit) for p, t in found)])
    else:
        show_blocks([Table("", ("type", ">bytes", "unit"), [(t.name, f"{t.size:,}", t.unit) for _, t in found])])


def _write_json(value: dict[str, Any]) -> None:
    write_text(json.dumps(value, indent=2, allow_nan=False) + "\n")


def _write_csv(rows: Iterable[Iterable[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_text(text.getvalue())
