# SPDX-License-Identifier: Apache-2.0
"""Fields out of many payloads at once: a column of numbers from an array of bytes of shape (n, size).

The loops run over the bytes of one field, never over messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vxmon.icd.model import Order

__all__ = ["bcd_digits", "byte_block", "float_bits", "signed", "unsigned"]

_WHOLE = {8: "u1", 16: "u2", 32: "u4", 64: "u8"}


def unsigned(payloads: NDArray[np.uint8], position: int, length: int, order: Order) -> NDArray[np.uint64]:
    """Return the numbers in up to 64 bits; the payloads must reach that far."""
    if position % 8 == 0 and length in _WHOLE:
        first = position // 8
        block = np.ascontiguousarray(payloads[:, first : first + length // 8])
        kind = np.dtype(_WHOLE[length]).newbyteorder(">" if order == "big" else "<")
        return block.reshape(-1).view(kind).astype(np.uint64)
    return _big(payloads, position, length) if order == "big" else _little(payloads, position, length)


def _big(payloads: NDArray[np.uint8], position: int, length: int) -> NDArray[np.uint64]:
    first, last = position // 8, (position + length - 1) // 8
    used = (position + length - 1) % 8 + 1
    number = (payloads[:, first] & (0xFF >> position % 8)).astype(np.uint64)
    if first == last:
        return number >> np.uint64(8 - used)
    for at in range(first + 1, last):
        number = number << np.uint64(8) | payloads[:, at].astype(np.uint64)
    return number << np.uint64(used) | (payloads[:, last] >> (8 - used)).astype(np.uint64)


def _little(payloads: NDArray[np.uint8], position: int, length: int) -> NDArray[np.uint64]:
    first, last = position // 8, (position + length - 1) // 8
    used, shift = (position + length - 1) % 8 + 1, position % 8
    number = (payloads[:, last] & (0xFF >> 8 - used)).astype(np.uint64)
    if first == last:
        return number >> np.uint64(shift)
    for at in range(last - 1, first, -1):
        number = number << np.uint64(8) | payloads[:, at].astype(np.uint64)
    return number << np.uint64(8 - shift) | (payloads[:, first] >> shift).astype(np.uint64)


def signed(numbers: NDArray[np.uint64], length: int) -> NDArray[np.int64]:
    """Return numbers of that many bits as two's complement."""
    shift = np.int64(64 - length)
    return (numbers << np.uint64(shift)).view(np.int64) >> shift


def bcd_digits(numbers: NDArray[np.uint64], length: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the value of groups of 4 bits as decimal digits, and where all of them are digits."""
    value = np.zeros(len(numbers), np.int64)
    good = np.ones(len(numbers), bool)
    for group in range((length + 3) // 4):
        digit = (numbers >> np.uint64(4 * group) & np.uint64(15)).astype(np.int64)
        good &= digit <= 9
        value += digit * 10**group
    return value, good


def float_bits(numbers: NDArray[np.uint64], length: int) -> NDArray[np.float64]:
    """Return numbers whose bits are IEEE 754 values of 16, 32 or 64 bits."""
    bits = numbers.astype(np.dtype(_WHOLE[length]))
    # A signalling NaN is a value like any other here.
    with np.errstate(invalid="ignore"):
        return bits.view(np.dtype(f"f{length // 8}")).astype(np.float64)


def byte_block(payloads: NDArray[np.uint8], position: int, length: int) -> NDArray[np.uint8]:
    """Return whole bytes, of shape (n, length // 8)."""
    block: NDArray[Any] = payloads[:, position // 8 : (position + length) // 8]
    return np.ascontiguousarray(block)
