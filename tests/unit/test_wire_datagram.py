# SPDX-License-Identifier: Apache-2.0
"""The datagram header. Expected bytes are written out by hand from SPEC section 1."""

from __future__ import annotations

import pytest

from vxmon.errors import WireError
from vxmon.wire.datagram import HEADER_BYTES, decode_datagram, encode_datagram, looks_like_datagram, split_message
from vxmon.wire.types import Channel, Header

# Offset 0 magic, 4 version, 5 flags, 6 channel, 7 header size, 8 boot, 12 sequence, 16 fragment, 18 fragments,
# 20 length, 22 covered, 24 message, 26 reserved; the CRC follows from bit_by_bit_crc below.
HAND_MADE = bytes.fromhex("56584d4e 01 01 02 20 00000007 00000102 0001 0003 0005 0005 0a0b 0000".replace(" ", ""))
PAYLOAD = b"hello"
HAND_HEADER = Header(
    channel=Channel.REPLY, boot=7, sequence=0x102, flags=1, fragment=1, fragments=3, length=5, covered=5, message=0xA0B
)


def bit_by_bit_crc(data: bytes) -> int:
    """CRC-32 from its definition: reflected polynomial 0xEDB88320, start and end inverted."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def hand_made(head: bytes = HAND_MADE, payload: bytes = PAYLOAD) -> bytes:
    return head + bit_by_bit_crc(head + payload).to_bytes(4, "big") + payload


def test_crc_definition() -> None:
    # The check value of CRC-32 in the catalogue of parametrised CRC algorithms.
    assert bit_by_bit_crc(b"123456789") == 0xCBF43926


def test_decode_hand_made() -> None:
    datagram = decode_datagram(hand_made())
    assert datagram.header == HAND_HEADER
    assert datagram.payload == PAYLOAD
    assert datagram.header.big_endian


def test_encode_gives_the_hand_made_bytes() -> None:
    assert encode_datagram(HAND_HEADER, PAYLOAD) == hand_made()


def test_longer_header_is_skipped() -> None:
    head = bytearray(HAND_MADE)
    head[7] = 36
    crc = bit_by_bit_crc(bytes(head) + PAYLOAD).to_bytes(4, "big")
    assert decode_datagram(bytes(head) + crc + b"\xff\xff\xff\xff" + PAYLOAD).payload == PAYLOAD


def test_block_crc_stops_at_covered() -> None:
    head = bytearray(HAND_MADE)
    head[6], head[17], head[19], head[23] = Channel.BLOCK, 0, 1, 2
    crc = bit_by_bit_crc(bytes(head) + PAYLOAD[:2]).to_bytes(4, "big")
    assert decode_datagram(bytes(head) + crc + PAYLOAD).header.covered == 2


@pytest.mark.parametrize(
    ("at", "value", "kind"),
    [
        (0, 0x57, "magic"),
        (4, 2, "version"),
        (4, 0, "version"),
        (5, 3, "length"),  # authenticated, and no trailer
        (5, 4, "header"),  # a flag that does not exist
        (7, 31, "header"),
        (7, 200, "header"),
        (11, 0, "header"),  # boot 0 from a target
        (17, 3, "fragment"),  # fragment 3 of 3
        (19, 0, "fragment"),
        (19, 65, "fragment"),
        (21, 4, "length"),
        (21, 6, "length"),
        (23, 4, "length"),  # not a block, and not all covered
        (23, 6, "length"),
        (6, Channel.COMMAND, "fragment"),  # commands have one fragment
    ],
)
def test_each_check_has_its_kind(at: int, value: int, kind: str) -> None:
    head = bytearray(HAND_MADE)
    head[at] = value
    with pytest.raises(WireError) as caught:
        decode_datagram(hand_made(bytes(head)))
    assert caught.value.kind == kind


def test_wrong_crc() -> None:
    with pytest.raises(WireError) as caught:
        decode_datagram(hand_made()[:-1] + b"x")
    assert caught.value.kind == "crc"


@pytest.mark.parametrize(("size", "kind"), [(0, "short"), (31, "short"), (1473, "length")])
def test_size_is_checked_first(size: int, kind: str) -> None:
    with pytest.raises(WireError) as caught:
        decode_datagram(bytes(size))
    assert caught.value.kind == kind


def test_unknown_channel_is_left_to_the_caller() -> None:
    assert decode_datagram(encode_datagram(Header(channel=99, boot=1, sequence=0), b"?")).header.channel == 99


def test_looks_like_datagram() -> None:
    assert looks_like_datagram(hand_made())
    assert not looks_like_datagram(b"")
    assert not looks_like_datagram(b"VXM")


def test_split_message_counts_fragments_and_sequence() -> None:
    message = bytes(range(256)) * 10
    pieces = [decode_datagram(d) for d in split_message(Header(Channel.TABLE, 9, 5, message=77), message, 512)]
    assert [len(piece.payload) for piece in pieces] == [480, 480, 480, 480, 480, 160]
    assert [piece.header.sequence for piece in pieces] == [5, 6, 7, 8, 9, 10]
    assert [piece.header.fragment for piece in pieces] == [0, 1, 2, 3, 4, 5]
    assert {piece.header.fragments for piece in pieces} == {6}
    assert b"".join(piece.payload for piece in pieces) == message


def test_split_message_refuses_what_cannot_be_sent() -> None:
    with pytest.raises(WireError):
        split_message(Header(Channel.TABLE, 1, 0), bytes(65537), 1472)
    with pytest.raises(WireError):
        split_message(Header(Channel.COMMAND, 1, 0), bytes(2000))


def test_encode_refuses_a_payload_that_does_not_fit() -> None:
    assert len(encode_datagram(Header(Channel.ACK, 1, 0), bytes(1472 - HEADER_BYTES))) == 1472
    with pytest.raises(WireError):
        encode_datagram(Header(Channel.ACK, 1, 0), bytes(1473 - HEADER_BYTES))
