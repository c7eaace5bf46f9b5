# SPDX-License-Identifier: Apache-2.0
"""What decoding one datagram alone says of it, for what checks many at once."""

from __future__ import annotations

from vxmon.errors import WireError
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram

__all__ = ["verdict"]


def verdict(datagram: bytes) -> str:
    """The kind of error of a block, "ok" without one."""
    try:
        decode_block(decode_datagram(datagram))
    except WireError as error:
        return error.kind
    return "ok"
