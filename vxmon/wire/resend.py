# SPDX-License-Identifier: Apache-2.0
"""Asking for missing fragments of a message (SPEC section 7, channel RESEND)."""

from __future__ import annotations

from dataclasses import dataclass

from vxmon.errors import WireError
from vxmon.wire.convert import parse, serialize
from vxmon.wire.datagram import MAX_FRAGMENTS
from vxmon.wire.generated import vxmon_pb2 as pb

__all__ = ["FragmentRequest", "decode_fragment_request", "encode_fragment_request"]


@dataclass(frozen=True, slots=True)
class FragmentRequest:
    """Fragments of a message that the host lacks; ``channel`` is the message's, ``message`` its number."""

    channel: int
    message: int
    missing: tuple[int, ...] = ()


def decode_fragment_request(payload: bytes) -> FragmentRequest:
    """Decode the payload of a RESEND datagram; raises WireError."""
    message = parse(pb.FragmentRequest(), payload, "request for fragments")
    missing = tuple(i for i in range(MAX_FRAGMENTS) if message.missing >> i & 1)
    return FragmentRequest(message.channel, message.message, missing)


def encode_fragment_request(request: FragmentRequest) -> bytes:
    """Payload of a RESEND datagram; raises WireError."""
    if not all(0 <= i < MAX_FRAGMENTS for i in request.missing):
        raise WireError("payload", f"request for fragments: one of more than {MAX_FRAGMENTS}")
    try:
        bits = sum(1 << i for i in request.missing)
        return serialize(pb.FragmentRequest(channel=request.channel, message=request.message, missing=bits))
    except ValueError as error:
        raise WireError("payload", f"request for fragments: {error}") from error
