# SPDX-License-Identifier: Apache-2.0
"""A key and the demo target: it serves nobody without it, and no list of processes shows it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import finish, info, kill_started, start_vxmon
from tests.support.qemu import KERNEL
from vxmon.errors import InputError, TargetError
from vxmon.link.client import Client
from vxmon.link.qemu import LIVE, Boot, DemoTarget, forward_options, free_port

DIGITS = "c0ffee00112233445566778899aabbcc" * 2


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    kill_started()


@pytest.fixture(name="key")
def key_file(tmp_path: Path) -> str:
    path = tmp_path / "key"
    path.touch(mode=0o600)
    path.write_text(DIGITS, encoding="ascii")
    return str(path)


def words_of_all_processes() -> list[bytes]:
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            found.append((entry / "cmdline").read_bytes() if entry.name.isdigit() else b"")
    return found


def test_a_capture_with_a_key(key: str, tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    process = start_vxmon("capture", "--qemu", "-d", "2", "--key-file", key, "-o", str(path))
    shown = False
    while process.poll() is None:
        words = words_of_all_processes()
        shown = shown or any(b"-initrd" in word for word in words)
        assert not any(DIGITS.encode() in word for word in words)
    done = finish(process)
    assert done.status == 0, done.err
    assert shown
    assert done.figure("lost") == 0
    document = info(path)
    assert document["boots"][0]["key"] is True
    assert document["boots"][0]["byte_order"] == "big"
    assert document["boots"][0]["link"]["refused"] == 0


def test_the_demo_target_serves_nobody_without_its_key() -> None:
    port = free_port()
    with DemoTarget(KERNEL, Boot.fresh(), forward_options(port), LIVE, key=bytes.fromhex(DIGITS)) as demo:
        client = Client("127.0.0.1", port, demo.check)
        try:
            with pytest.raises(TargetError, match="the target has a key"):
                client.connect(60, 60)
        finally:
            client.close()


def test_a_boot_file_that_holds_no_key_ends_the_boot_in_words() -> None:
    with DemoTarget(KERNEL, Boot.fresh(), forward_options(free_port()), LIVE, key=b"short") as demo:
        demo.wait(60)
        with pytest.raises(InputError, match="boot file holds no key"):
            demo.check()
