# SPDX-License-Identifier: Apache-2.0
"""Golden frames of every wire version: each decodes to what it meant when it was made, and is made again the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.golden import VECTORS, cut, decode, encode, to_json
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
