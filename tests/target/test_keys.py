# SPDX-License-Identifier: Apache-2.0
"""``--key-file`` as a user has it, against the agent on Linux: right and wrong keys, replays, readers without a key."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Done, Posix, info, kill_started, posix_target, vxmon
from vxmon.session.reader import open_session
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.types import Channel, Flag

DIGITS = "00112233445566778899aabbccddeeff" * 2


@pytest.fixture(autouse=True)
def _nothing_left_running(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("VXMON_KEY", raising=False)
    monkeypatch.delenv("VXMON_KEY_FILE", raising=False)
    yield
    kill_started()


@pytest.fixture(name="key")
def key_file(tmp_path: Path) -> str:
    return new_key(tmp_path / "key", DIGITS)


def new_key(path: Path, digits: str) -> str:
    path.touch(mode=0o600)
    path.write_text(digits + "\n", encoding="ascii")
    return str(path)


def target_info(target: Posix, *more: str) -> dict[str, Any]:
    done = vxmon("target", "info", target.address, "--format", "json", *more)
    assert done.status == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    return document


def outgoing(path: Path, port: int) -> list[bytes]:
    """What the host sent to the target's port, as the session has it."""
    found = []
    with open_session(str(path)) as session:
        for batch in session.datagrams():
            found += [batch.payload(i) for i in range(len(batch)) if batch.destinations[i] & 0xFFFF == port]
    return found


# -------------------------------------------------------------------- keys that fit


def test_a_capture_with_a_key_and_readers_without_it(key: str, tmp_path: Path) -> None:
    """Wireshark is one of them."""
    path = tmp_path / "s.pcapng"
    with posix_target("--key-file", key) as target:
        done = vxmon("capture", target.address, "-d", "1", "-o", str(path), "--key-file", key)
        assert done.status == 0, done.err
        assert done.figure("lost") == 0
        assert "chmod" not in done.err
    document = info(path)
    assert document["boots"][0]["key"] is True
    assert document["datagrams"]["refused"] == {}
    assert vxmon("print", str(path)).out.count(b"\n") > 100
    check_with_tshark(path)
    headers = [decode_datagram(data).header for data in outgoing(path, target.port)]
    sealed = [h for h in headers if h.channel != Channel.NOTE]
    assert len(sealed) > 10
    assert all(h.flags & Flag.AUTHENTICATED for h in sealed)


def check_with_tshark(path: Path) -> None:
    if shutil.which("tshark") is None:
        return
    out = subprocess.run(
        ["tshark", "-r", str(path), "-o", "udp.check_checksum:TRUE", "-T", "fields", "-e", "udp.checksum.status", "-e",
         "_ws.malformed"],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert len(out) > 50
    assert set(out) == {"1\t"}


def test_the_key_may_be_in_the_environment(key: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("format = 1\n", encoding="ascii")
    named, held = {**os.environ, "VXMON_KEY_FILE": key}, {**os.environ, "VXMON_KEY": DIGITS}
    with posix_target("--key-file", key) as target:
        for command, environment in (
            (["plan", "apply", str(plan), target.address], named),
            (["hm-log", "--target", target.address], held),
            (["target", "scenario", "nominal", target.address], held),
        ):
            done = vxmon(*command, env=environment)
            assert done.status == 0, done.err


# -------------------------------------------------------------------- keys that do not


def refused_at_once(*arguments: str) -> Done:
    """The answer of the target ends the attempt: nobody waited for another."""
    done = vxmon(*arguments)
    assert done.status == 3, done.err
    assert "does not answer" not in done.err
    assert done.err.count("\n") == 1
    return done


def test_without_the_key_commands_say_what_is_missing(key: str, tmp_path: Path) -> None:
    session = tmp_path / "s.pcapng"
    with posix_target("--key-file", key) as target:
        for arguments in (
            ["capture", target.address, "-d", "1", "-o", str(session)],
            ["target", "memory", target.address],
        ):
            done = refused_at_once(*arguments)
            assert "the target has a key" in done.err
            assert "--key-file" in done.err
    assert not session.exists()


def test_another_key_is_told_and_counted_and_one_that_others_can_read_is_warned_of(key: str, tmp_path: Path) -> None:
    other = new_key(tmp_path / "other", "ab" * 16)
    with posix_target("--key-file", key) as target:
        assert (
            "the key is not that of this target"
            in refused_at_once("target", "info", target.address, "--key-file", other).err
        )
        Path(key).chmod(0o644)
        done = vxmon("target", "info", target.address, "--key-file", key)
    text = done.out.decode()
    assert "others can read this key" in done.err
    assert "1 datagram refused: 1 with a wrong key" in text


def test_a_key_for_a_target_that_has_none(key: str) -> None:
    with posix_target() as target:
        assert "the target has none" in refused_at_once("target", "info", target.address, "--key-file", key).err
        assert target_info(target)["key"] is False


def test_a_key_file_that_holds_none_is_wrong_usage(tmp_path: Path) -> None:
    bad = new_key(tmp_path / "bad", "hello")
    done = vxmon("target", "info", "127.0.0.1:9", "--key-file", bad)
    assert done.status == 2
    assert "hexadecimal digits" in done.err
    assert "hello" not in done.err


# -------------------------------------------------------------------- yesterday's capture


def send_again(datagrams: list[bytes], target: Posix) -> None:
    """All of it, slowly enough for the target's bound on HMACs not to hide anything."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", target.port))
        for data in datagrams:
            sock.send(data)


def test_a_replayed_capture_does_nothing(key: str, tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--key-file", key, "--entropy", "1") as target:
        assert vxmon("capture", target.address, "-d", "1", "-o", str(path), "--key-file", key).status == 0
        sent = [data for data in outgoing(path, target.port) if data[6] != Channel.NOTE]
        send_again(sent, target)
        document = target_info(target, "--key-file", key)
        assert document["running"] is False
        assert document["refused"] == len(sent)
        assert document["refused_by_reason"]["replayed"] == len(sent)
    with posix_target("--key-file", key, "--entropy", "2") as rebooted:
        send_again(sent, rebooted)
        document = target_info(rebooted, "--key-file", key)
        assert document["running"] is False
        assert document["refused_by_reason"]["replayed"] == len(sent)
