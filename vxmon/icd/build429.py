# SPDX-License-Identifier: Apache-2.0
"""Fields of an ARINC 429 word from its entry in an ICD file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, cast

from vxmon.config.entries import Entry
from vxmon.icd.model import Field, FieldType, Kind429, Order, Word429
from vxmon.icd.word429 import WORD_BITS, auxiliary_fields, bits_of

__all__ = ["KEYS_429", "fields_429"]

KEYS_429: Final = frozenset({"label", "encoding", "msb", "lsb", "range", "label_order", "parity", "sdi", "parts"})
_PART_KEYS: Final = frozenset("name encoding msb lsb scale range offset unit values min max valid description".split())
_ENCODINGS: Final = {
    "bnr": FieldType.SIGNED,
    "unsigned": FieldType.UNSIGNED,
    "bcd": FieldType.BCD,
    "discrete": FieldType.UNSIGNED,
}
_MOST_PARTS: Final = 32

Describe = Callable[[Entry], Field]


def fields_429(entry: Entry, name: str, position: int, order: Order, describe: Describe) -> list[Field]:
    """Return the data of a word, then what describes it: label, SDI, SSM, parity.

    ``describe`` makes a field without a place from an entry.
    """
    if position % 8:
        raise entry.fail("bit", "puts an ARINC 429 word off a byte")
    encoding = entry.choice("encoding", tuple(_ENCODINGS))
    sdi = entry.boolean("sdi", default=True)
    word = Word429(
        name=name,
        position=position,
        order=order,
        kind=cast("Kind429", "bnr" if encoding == "unsigned" else encoding),
        label=_label(entry),
        reversed=entry.choice("label_order", ("reversed", "plain"), "reversed") == "reversed",
        parity=entry.boolean("parity", default=True),
    )
    parts = entry.tables("parts", _MOST_PARTS)
    made = [_part(entry.inner("part", part, "parts", i), word, encoding, describe) for i, part in enumerate(parts)]
    if not made:
        made = [_data(entry, word, encoding, describe, sdi=sdi)]
    return [*made, *_padding(made, word, sdi=sdi), *auxiliary_fields(word, sdi=sdi, place=entry.place)]


def _padding(made: list[Field], word: Word429, *, sdi: bool) -> list[Field]:
    """Return the data bits that are not used; a word has them as pad bits."""
    free = set(range(11 if sdi else 9, 30))
    for field in made:
        place = field.position - word.position
        lsb = WORD_BITS - place - field.length + 1 if word.order == "big" else place + 1
        free -= set(range(lsb, lsb + field.length))
    pads = ((f"{word.name}.pad{bit}", bits_of(word, bit, bit)) for bit in sorted(free))
    return [Field(name, FieldType.PADDING, *place, word.order, place=made[0].place) for name, place in pads]


def _label(entry: Entry) -> int | None:
    """Return a label as its octal digits say; they are written as text, because 012 is no TOML number."""
    if not entry.has("label"):
        return None
    text = entry.values["label"]
    if not isinstance(text, str) or len(text) != 3 or not all(c in "01234567" for c in text) or int(text, 8) > 0o377:
        raise entry.wrong("label", 'three octal digits in quotes, "000" to "377"')
    return int(text, 8)


def _part(entry: Entry, word: Word429, encoding: str, describe: Describe) -> Field:
    entry.only(_PART_KEYS)
    field = _data(entry, word, entry.choice("encoding", tuple(_ENCODINGS), encoding), describe, sdi=False)
    return replace(field, name=f"{word.name}.{field.name}")


def _data(entry: Entry, word: Word429, encoding: str, describe: Describe, *, sdi: bool) -> Field:
    """Return the field in the bits msb to lsb; the data bits where the entry does not say."""
    msb = entry.integer("msb", 9, 29, 29)
    lsb = entry.integer("lsb", 9, 29, 11)
    if lsb > msb:
        raise entry.fail("lsb", f"is {lsb}, above msb = {msb}")
    if sdi and lsb < 11:
        raise entry.fail("lsb", f"is {lsb}, among the bits of the SDI; give sdi = false if they are data")
    kind = _ENCODINGS[encoding]
    # type is the word's own there; it has no meaning in a part.
    values = {key: value for key, value in entry.values.items() if key != "type"} | {"type": kind.value}
    field = describe(Entry(entry.what, values, entry.places, *entry.path))
    position, length = bits_of(word, msb, lsb)
    scale = _scale(entry, field, encoding, length)
    return replace(field, position=position, length=length, order=word.order, scale=scale, word=word)


def _scale(entry: Entry, field: Field, encoding: str, length: int) -> int | float:
    """Return the weight of the least significant bit: given, or from the range, which the bits below the sign reach."""
    if not entry.has("range"):
        return field.scale
    if entry.has("scale") or encoding not in ("bnr", "unsigned"):
        raise entry.fail("range", "is for binary data, in place of scale")
    span = entry.number("range", 0)
    if span <= 0:
        raise entry.wrong("range", "above 0")
    return span / (1 << (length - 1 if encoding == "bnr" else length))
