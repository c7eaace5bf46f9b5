# SPDX-License-Identifier: Apache-2.0
"""Golden frames of every wire version: each decodes to what it meant when it was made, and is made again the same."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.golden import ENTROPY, KEY, NUMBER, SESSION, VECTORS, cut, decode, encode, to_json
from vxmon.wire.events import TABLES
from vxmon.wire.types import Channel, Header

NAMES = sorted(path.stem for path in VECTORS.glob("*.bin"))


def meaning(name: str) -> dict[str, object]:
    content: dict[str, object] = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("name", NAMES)
def test_vector_decodes_to_its_meaning(name: str) -> None:
    expected = meaning(name)
    assert to_json(*decode((VECTORS / f"{name}.bin").read_bytes(), str(expected["kind"]))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_vector_is_made_again(name: str) -> None:
    data = (VECTORS / f"{name}.bin").read_bytes()
    header, message = decode(data, str(meaning(name)["kind"]))
    again = Header(header.channel, header.boot, header.sequence, header.flags, message=header.message)
    assert encode(message, again) == data


def test_every_vector_has_both_files() -> None:
    assert sorted(path.stem for path in VECTORS.glob("*.json")) == NAMES


def test_every_channel_has_a_vector() -> None:
    channels = {data[6] for data in ((VECTORS / f"{name}.bin").read_bytes() for name in NAMES)}
    assert channels == set(Channel)


@pytest.mark.parametrize("order", ["be", "le"])
def test_every_event_has_a_vector(order: str) -> None:
    expected = {f"block-{e.id:04}-{e.name}-{order}" for table in TABLES.values() for e in table.events}
    assert expected - set(NAMES) == set()


def test_datagrams_of_a_vector_are_of_legal_size() -> None:
    for name in NAMES:
        assert all(len(piece) <= 1472 for piece in cut(Path(VECTORS / f"{name}.bin").read_bytes()))


AUTHENTICATED = [name for name in NAMES if name.startswith("authenticated-")]


def rfc_2104(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256 as RFC 2104 defines it, of a key that is not longer than a block."""
    inner, outer = (bytes(byte ^ pad for byte in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    return sha256(outer + sha256(inner + data).digest()).digest()


@pytest.mark.parametrize("name", AUTHENTICATED)
def test_trailer_of_a_vector_is_what_the_specification_says(name: str) -> None:
    """SPEC section 10, by a second implementation of everything but SHA-256."""
    nonce = rfc_2104(KEY, b"vxm1boot" + ENTROPY.to_bytes(8, "big"))[:8]
    label = (
        b"vxm1host" if meaning(name)["kind"] in ("Ack", "Command", "FragmentRequest", "HostHeartbeat") else b"vxm1targ"
    )
    for count, datagram in enumerate(cut((VECTORS / f"{name}.bin").read_bytes())):
        assert datagram[-24:-16] == SESSION.to_bytes(4, "big") + (NUMBER + count).to_bytes(4, "big")
        assert datagram[-16:] == rfc_2104(KEY, label + nonce + datagram[:-16])[:16]


def test_every_channel_that_may_be_authenticated_has_a_vector() -> None:
    channels = {(VECTORS / f"{name}.bin").read_bytes()[6] for name in AUTHENTICATED}
    assert channels == set(Channel) - {Channel.BLOCK, Channel.TABLE, Channel.NOTE}
