# SPDX-License-Identifier: Apache-2.0
"""ICD files in CSV: a line a field, as spreadsheets keep them. See README.md beside this file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any, Final

from vxmon.config.entries import Entry
from vxmon.config.place import Place
from vxmon.config.textfile import read_text
from vxmon.errors import InputError
from vxmon.icd.build import FIELD_KEYS, Defaults, build_fields, build_message
from vxmon.icd.model import MAX_FIELDS, Field, Message

__all__ = ["read_csv_icd"]

_COLUMNS: Final = (FIELD_KEYS - {"parts"}) | {"message", "size", "minimum_size", "message_description"}
_NEEDED: Final = ("message", "size", "name", "type")
_MESSAGE: Final = {
    "message": "name",
    "size": "size",
    "minimum_size": "minimum_size",
    "message_description": "description",
}
_NUMBERS: Final = frozenset(
    "size minimum_size byte bit length bytes count stride msb lsb scale offset min max range".split()
)
_WORDS: Final = frozenset({"overlay", "parity", "sdi"})
_INTEGER: Final = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})")
_FLOAT: Final = re.compile(r"[-+]?[0-9]{1,40}(?:\.[0-9]{0,40})?(?:[eE][-+]?[0-9]{1,3})?")
_MOST_ROWS: Final = 65_536
_LONGEST_CELL: Final = 10_000

Row = tuple[int, dict[str, str]]


def read_csv_icd(path: str) -> tuple[Message, ...]:
    """Read an ICD file. Raises InputError with file, line and column for anything that breaks the format."""
    groups: dict[str, list[Row]] = {}
    for line, cells in _rows(path):
        name = cells.get("message", "").strip()
        if not name:
            raise InputError(f"{path}:{line}: the column message is empty")
        groups.setdefault(name, []).append((line, cells))
    return tuple(_message(path, rows) for rows in groups.values())


def _rows(path: str) -> Iterator[Row]:
    """Yield the lines with something in them, cells by column name."""
    lines = read_text(path).splitlines()
    # Cells do not go over lines, so that a quote that was forgotten costs one line and not the file.
    header = next(((n, cells) for n, cells in _cells(path, lines) if cells), None)
    if header is None:
        raise InputError(f"{path}: an empty file; the first line names the columns")
    names = _header(path, *header)
    for count, (line, cells) in enumerate(_cells(path, lines)):
        if line == header[0] or not any(cells):
            continue
        if count > _MOST_ROWS:
            raise InputError(f"{path}:{line}: more than {_MOST_ROWS:,} fields")
        if len(cells) > len(names):
            raise InputError(f"{path}:{line}: {len(cells)} cells under {len(names)} columns")
        yield line, dict(zip(names, cells, strict=False))


def _cells(path: str, lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and cells of each line that is no comment."""
    for number, text in enumerate(lines, 1):
        if text.startswith("#"):
            continue
        try:
            cells = next(csv.reader([text], strict=True), [])
        except csv.Error as error:
            raise InputError(f"{path}:{number}: no CSV: {error}") from None
        if any(len(cell) > _LONGEST_CELL for cell in cells):
            raise InputError(f"{path}:{number}: a cell has more than {_LONGEST_CELL:,} characters")
        yield number, [cell.strip() for cell in cells]


def _header(path: str, line: int, cells: list[str]) -> list[str]:
    names = [cell.lower().replace(" ", "_") for cell in cells]
    for name in names:
        if name not in _COLUMNS:
            raise InputError(f"{path}:{line}: no column {name[:60]!r}; columns are {', '.join(sorted(_COLUMNS))}")
    for name in _NEEDED:
        if names.count(name) != 1:
            raise InputError(f"{path}:{line}: the column {name} must be there once")
    if len(set(names)) != len(names):
        raise InputError(f"{path}:{line}: a column is there twice")
    return names


def _message(path: str, rows: list[Row]) -> Message:
    """Return a message: what is said of it stands in its first line, and may be repeated."""
    line, first = rows[0]
    about = {key: first[column] for column, key in _MESSAGE.items() if first.get(column)}
    fields: list[Field] = []
    for number, cells in rows:
        for column in _MESSAGE:
            if cells.get(column) and cells[column] != first.get(column):
                raise InputError(f"{path}:{number}: {column} is {cells[column][:60]!r}, in line {line} it was another")
        values = {key: cell for key, cell in cells.items() if cell and key not in _MESSAGE}
        fields += build_fields(_entry("field", values, path, number), Defaults("big", {}))
        if len(fields) > MAX_FIELDS:
            raise InputError(f"{path}:{number}: the message has more than {MAX_FIELDS:,} fields")
    return build_message(_entry("message", about, path, line), fields)


def _entry(what: str, cells: dict[str, str], path: str, line: int) -> Entry:
    return Entry(what, {key: _typed(key, cell) for key, cell in cells.items()}, lambda *_: Place(path, line))


def _typed(key: str, cell: str) -> Any:
    """Return a cell as the type that its column has; what does not fit stays text and is refused later."""
    if key in _NUMBERS:
        if _INTEGER.fullmatch(cell):
            return int(cell, 16 if "x" in cell.lower() else 10)
        return float(cell) if _FLOAT.fullmatch(cell) else cell
    if key in _WORDS:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(cell.lower(), cell)
    if key == "values":
        pairs = [part.partition("=") for part in cell.split(";") if part.strip()]
        return {number.strip(): name.strip() for number, _, name in pairs}
    return cell
