# SPDX-License-Identifier: Apache-2.0
"""ARINC 429 words: label, sign/status matrix and parity, by columns.

A word has 32 bits, numbered from 1 as on the wire: 1-8 label (its most significant bit first), 9-10 SDI, 11-29 data,
30-31 SSM, 32 parity (odd). In memory bit n has the weight 2^(n-1).
Source: ARINC Specification 429 part 1, sections 2.1.2 to 2.1.5 and attachment 6.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.config.place import Place
from vxmon.icd.decoded import Reason
from vxmon.icd.extract import unsigned
from vxmon.icd.model import Field, FieldType, Kind429, Word429

__all__ = ["SSM_NAMES", "WORD_BITS", "auxiliary_fields", "bits_of", "is_minus", "word_reasons"]

WORD_BITS: Final = 32

SSM_NAMES: Final[dict[Kind429, dict[int, str]]] = {
    "bnr": {0: "failure warning", 1: "no computed data", 2: "functional test", 3: "normal"},
    "bcd": {0: "plus", 1: "no computed data", 2: "functional test", 3: "minus"},
    "discrete": {0: "normal", 1: "no computed data", 2: "functional test", 3: "failure warning"},
}

_SSM_REASONS: Final[dict[Kind429, NDArray[np.uint8]]] = {
    "bnr": np.array([Reason.FAILURE, Reason.NO_COMPUTED_DATA, Reason.FUNCTIONAL_TEST, Reason.NONE], np.uint8),
    "bcd": np.array([Reason.NONE, Reason.NO_COMPUTED_DATA, Reason.FUNCTIONAL_TEST, Reason.NONE], np.uint8),
    "discrete": np.array([Reason.NONE, Reason.NO_COMPUTED_DATA, Reason.FUNCTIONAL_TEST, Reason.FAILURE], np.uint8),
}

_REVERSED: Final = [int(f"{n:08b}"[::-1], 2) for n in range(256)]


def bits_of(word: Word429, msb: int, lsb: int) -> tuple[int, int]:
    """Return position and length of bits of a word, named as ARINC 429 names them."""
    length = msb - lsb + 1
    start = WORD_BITS - msb if word.order == "big" else lsb - 1
    return word.position + start, length


def word_reasons(payloads: NDArray[np.uint8], word: Word429) -> NDArray[np.uint8]:
    """Return what each message's word says against its data: parity first, then label, then SSM."""
    words = unsigned(payloads, word.position, WORD_BITS, word.order).astype(np.uint32)
    reasons: NDArray[np.uint8] = _SSM_REASONS[word.kind][words >> 29 & 3]
    if word.label is not None:
        label = _REVERSED[word.label] if word.reversed else word.label
        reasons = np.where(words & 0xFF == label, reasons, np.uint8(Reason.LABEL))
    if word.parity:
        reasons = np.where(_odd(words), reasons, np.uint8(Reason.PARITY))
    return reasons


def is_minus(payloads: NDArray[np.uint8], word: Word429) -> NDArray[np.bool_]:
    """Tell for each message whether the sign/status matrix of a BCD word says minus."""
    ssm = unsigned(payloads, *bits_of(word, 31, 30), word.order)
    return np.equal(ssm, 3)


def auxiliary_fields(word: Word429, *, sdi: bool, place: Place) -> list[Field]:
    """Return the fields beside the data of a word; without ``sdi`` its bits belong to the data."""
    position, length = bits_of(word, 8, 1)
    # The order of a label's bits is undone by its names, so that any word shows the label that an ICD would write.
    names = {n: f"{_REVERSED[n] if word.reversed else n:03o}" for n in range(256)}
    fields = [
        Field(f"{word.name}.label", FieldType.UNSIGNED, position, length, word.order, values=names, display="octal")
    ]
    if sdi:
        fields.append(Field(f"{word.name}.sdi", FieldType.UNSIGNED, *bits_of(word, 10, 9), word.order))
    ssm = SSM_NAMES[word.kind]
    fields.append(Field(f"{word.name}.ssm", FieldType.UNSIGNED, *bits_of(word, 31, 30), word.order, values=ssm))
    parity = {0: "0", 1: "1"}
    fields.append(Field(f"{word.name}.parity", FieldType.UNSIGNED, *bits_of(word, 32, 32), word.order, values=parity))
    return [replace(field, auxiliary=True, place=place) for field in fields]


def _odd(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Tell where the number of ones is odd."""
    for shift in (16, 8, 4, 2, 1):
        words = words ^ words >> np.uint32(shift)
    return (words & 1).astype(bool)
