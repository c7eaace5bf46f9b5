# SPDX-License-Identifier: Apache-2.0
"""What comes out of decoding: a column a field, each value with the reason why it may not be used."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.icd.model import Field

__all__ = ["REASON_TEXT", "STATUS_OF_REASON", "DecodedFields", "FieldColumn", "Fit", "Reason", "Status"]


class Status(IntEnum):
    """Whether a value may be used."""

    VALID = 0
    INVALID = 1
    """The message itself says so: validity condition, sign/status matrix, parity, not a number."""
    OUT_OF_RANGE = 2
    """Outside minimum and maximum, or not among the values of an enumeration."""
    ABSENT = 3
    """The message does not have this field."""
    NOT_RECORDED = 4
    """The message has it, the recording of the message was cut before."""
    WRONG_SIZE = 5
    """The message is longer or shorter than its layout, so nothing of it is decoded."""


class Reason(IntEnum):
    """Why a value has its status."""

    NONE = 0
    BELOW = 1
    ABOVE = 2
    NOT_NAMED = 3
    CONDITION = 4
    NOT_A_NUMBER = 5
    NOT_DIGITS = 6
    FAILURE = 7
    NO_COMPUTED_DATA = 8
    FUNCTIONAL_TEST = 9
    PARITY = 10
    LABEL = 11
    NOT_SELECTED = 12
    LEFT_OUT = 13
    CUT = 14
    SIZE = 15


REASON_TEXT: Final[dict[Reason, str]] = {
    Reason.NONE: "",
    Reason.BELOW: "below range",
    Reason.ABOVE: "above range",
    Reason.NOT_NAMED: "not in enumeration",
    Reason.CONDITION: "condition not met",
    Reason.NOT_A_NUMBER: "not a number",
    Reason.NOT_DIGITS: "not decimal digits",
    Reason.FAILURE: "failure warning",
    Reason.NO_COMPUTED_DATA: "no computed data",
    Reason.FUNCTIONAL_TEST: "functional test",
    Reason.PARITY: "parity error",
    Reason.LABEL: "other label",
    Reason.NOT_SELECTED: "not selected",
    Reason.LEFT_OUT: "left out",
    Reason.CUT: "not recorded",
    Reason.SIZE: "wrong size",
}

_STATUS: Final = {
    Reason.NONE: Status.VALID,
    Reason.BELOW: Status.OUT_OF_RANGE,
    Reason.ABOVE: Status.OUT_OF_RANGE,
    Reason.NOT_NAMED: Status.OUT_OF_RANGE,
    Reason.NOT_SELECTED: Status.ABSENT,
    Reason.LEFT_OUT: Status.ABSENT,
    Reason.CUT: Status.NOT_RECORDED,
    Reason.SIZE: Status.WRONG_SIZE,
}
STATUS_OF_REASON: Final[NDArray[np.uint8]] = np.array([_STATUS.get(r, Status.INVALID) for r in Reason], np.uint8)
"""Status by reason; every reason that is not in the list makes a value invalid."""


class Fit(IntEnum):
    """Size of a message against its layout."""

    RIGHT = 0
    SHORTER = 1
    LONGER = 2


@dataclass(frozen=True, slots=True)
class FieldColumn:
    """One field of n messages.

    Attributes:
        values: scaled: int64, uint64 or float64; bool; for text bytes of dtype S; for bytes uint8 of shape (n, k).
        raw: the number in the message: int64 or uint64 (the bits of a float); for text and bytes as ``values``.
        reason: uint8, a Reason a message.

    """

    field: Field
    values: NDArray[Any]
    raw: NDArray[Any]
    reason: NDArray[np.uint8]

    @property
    def status(self) -> NDArray[np.uint8]:
        """Return a Status a message."""
        return STATUS_OF_REASON[self.reason]

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Tell for each message whether there is a value at all, usable or not."""
        return self.status < Status.ABSENT


@dataclass(frozen=True, slots=True)
class DecodedFields:
    """The fields of n messages of one layout.

    Attributes:
        payloads: uint8 of shape (n, k), as given.
        lengths: bytes recorded of each message; sizes: bytes that each message had.
        fit: a Fit a message.
        columns: by name, in the order of the document.

    """

    payloads: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    sizes: NDArray[np.int64]
    fit: NDArray[np.uint8]
    columns: dict[str, FieldColumn]

    def __len__(self) -> int:
        return len(self.payloads)

    def __getitem__(self, name: str) -> FieldColumn:
        return self.columns[name]
