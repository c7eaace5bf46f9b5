# SPDX-License-Identifier: Apache-2.0
"""The target's Ethernet, ARP, IPv4 and UDP against frames made here by the RFCs, good ones and hostile ones.

QEMU carries each Ethernet frame in a UDP datagram on 127.0.0.1, so the test is the target's only neighbour.
"""

from __future__ import annotations

import random
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.qemu import BARE, KERNEL, books, boot

TARGET_IP, OUR_IP = bytes([10, 0, 2, 15]), bytes([10, 0, 2, 99])
OUR_MAC, BROADCAST = bytes.fromhex("02aabbccdd01"), b"\xff" * 6
PORT, OUR_PORT = 6530, 40000
PATIENCE_S = 30.0


class Wire:
    """Both ends of the cable: frames to the target and from it."""

    def __init__(self) -> None:
        self.ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ours.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.target = free.getsockname()
        self.mac = b""

    def close(self) -> None:
        self.ours.close()

    def options(self) -> list[str]:
        mine, theirs = self.ours.getsockname()[1], self.target[1]
        ends = f"local.type=inet,local.host=127.0.0.1,local.port={theirs}"
        ends += f",remote.type=inet,remote.host=127.0.0.1,remote.port={mine}"
        return ["-netdev", f"dgram,id=n0,{ends}", "-device", "eTSEC,netdev=n0"]

    def send(self, frame: bytes) -> None:
        self.ours.sendto(frame.ljust(60, b"\0"), self.target)

    def receive(self, timeout: float) -> bytes | None:
        self.ours.settimeout(timeout)
        try:
            return self.ours.recv(2048)
        except TimeoutError:
            return None

    def ask(self, question: bytes, kind: int, *, protocol: int | None = None) -> bytes | None:
        """Send until a frame of the wanted type (and IP protocol) comes back; None when it never does."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.send(question)
            while (answer := self.receive(0.2)) is not None:
                if answer[12:14] == kind.to_bytes(2, "big") and (protocol is None or answer[23] == protocol):
                    return answer
        return None


def checksum(data: bytes) -> int:
    """RFC 1071."""
    padded = data + b"\0" * (len(data) & 1)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def arp(operation: int = 1, target_ip: bytes = TARGET_IP) -> bytes:
    body = struct.pack(">HHBBH", 1, 0x0800, 6, 4, operation) + OUR_MAC + OUR_IP + bytes(6) + target_ip
    return BROADCAST + OUR_MAC + b"\x08\x06" + body


def ip(mac: bytes, protocol: int, payload: bytes, *, fragment: int = 0, length: int | None = None) -> bytes:
    total = 20 + len(payload) if length is None else length
    header = struct.pack(">BBHHHBBH", 0x45, 0, total, 7, fragment, 64, protocol, 0) + OUR_IP + TARGET_IP
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return mac + OUR_MAC + b"\x08\x00" + header + payload


def udp(mac: bytes, payload: bytes, *, port: int = PORT, length: int | None = None, wrong: int = 0) -> bytes:
    size = 8 + len(payload) if length is None else length
    head = struct.pack(">HHHH", OUR_PORT, port, size, 0)
    pseudo = OUR_IP + TARGET_IP + struct.pack(">BBH", 0, 17, size)
    value = checksum(pseudo + head + payload) or 0xFFFF
    return ip(mac, 17, head[:6] + struct.pack(">H", value ^ wrong) + payload)


def echo(mac: bytes, payload: bytes) -> bytes:
    head = struct.pack(">BBHHH", 8, 0, 0, 77, 1)
    return ip(mac, 1, head[:2] + struct.pack(">H", checksum(head + payload)) + head[4:] + payload)


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with closing(Wire()) as cable, boot("network", "entropy=77", *cable.options(), kernel=KERNEL):
        answer = cable.ask(arp(), 0x0806)
        assert answer is not None
        cable.mac = answer[6:12]
        yield cable


def test_arp_is_answered_to_the_one_who_asked(wire: Wire) -> None:
    answer = wire.ask(arp(), 0x0806)
    assert answer is not None
    assert answer[:14] == OUR_MAC + wire.mac + b"\x08\x06"
    expected = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 2) + wire.mac + TARGET_IP + OUR_MAC + OUR_IP
    assert answer[14:42] == expected


@pytest.mark.parametrize("size", [0, 1, 56, 1000, 1472])
def test_ping_is_answered_with_right_checksums(wire: Wire, size: int) -> None:
    payload = random.Random(size).randbytes(size)
    answer = wire.ask(echo(wire.mac, payload), 0x0800, protocol=1)
    assert answer is not None
    assert answer[:6] == OUR_MAC
    header, message = answer[14:34], answer[34 : 34 + 8 + size]
    assert checksum(header) == 0
    assert int.from_bytes(header[2:4], "big") == 28 + size
    assert (header[12:16], header[16:20]) == (TARGET_IP, OUR_IP)
    assert (message[0], checksum(message), message[8:]) == (0, 0, payload)


def hostile(mac: bytes, seed: int) -> bytes:
    """A frame that is wrong in one way, or in several."""
    dice = random.Random(seed)
    data = dice.randbytes(dice.randrange(1, 1400))
    good = dice.choice([udp(mac, data), echo(mac, data), arp()])
    kind = seed % 8
    if kind == 0:
        return udp(mac, data, length=dice.randrange(65536))
    if kind == 1:
        return ip(mac, dice.choice([1, 17]), data, length=dice.randrange(65536))
    if kind == 2:
        return ip(mac, 17, data, fragment=dice.randrange(1, 0x2000))
    if kind == 3:
        return udp(mac, data, wrong=dice.randrange(1, 65536))
    if kind == 4:
        return good[: dice.randrange(1, len(good))]
    if kind == 5:
        changed = bytearray(good)
        changed[dice.randrange(12, len(changed))] ^= 1 << dice.randrange(8)
        return bytes(changed)
    if kind == 6:
        return mac + OUR_MAC + dice.randbytes(dice.randrange(2, 1500))
    return udp(mac, data, port=dice.randrange(65536))


def answers(wire: Wire, word: bytes) -> bool:
    """True when it answers this very ping: then it has taken all that was sent before."""
    end = time.monotonic() + PATIENCE_S
    wire.send(echo(wire.mac, word))
    while time.monotonic() < end:
        answer = wire.receive(1.0)
        if answer is not None and answer[42 : 42 + len(word)] == word:
            return True
    return False


def test_hostile_frames_change_nothing(wire: Wire) -> None:
    wire.send(BROADCAST + OUR_MAC + b"\x08\x00" + bytes(5000))  # spans three of its buffers
    for seed in range(4000):
        wire.send(hostile(wire.mac, seed))
        if seed % 50 == 49:  # let it keep up: its ring holds 256 frames, and QEMU crashes when it is full
            assert answers(wire, b"still there %d" % seed)


def test_a_kernel_without_a_monitor_answers_too() -> None:
    with closing(Wire()) as cable, boot("network-bare", "run=3600s", *cable.options(), kernel=BARE) as log:
        assert cable.ask(arp(), 0x0806) is not None
    assert "panic" not in log.read_text(encoding="latin-1")


def test_a_waiting_processor_is_woken_by_the_network_interrupt() -> None:
    """With idle=wait each frame that comes in raises the device's interrupt through the interrupt controller."""
    pings = 40
    with (
        closing(Wire()) as cable,
        boot("network-wait", "run=4s idle=wait", *cable.options(), kernel=BARE, icount=None) as log,
    ):
        answer = cable.ask(arp(), 0x0806)
        assert answer is not None
        cable.mac = answer[6:12]
        assert all(answers(cable, b"ping %d" % number) for number in range(pings))
        end = time.monotonic() + PATIENCE_S
        while "end of run" not in (console := log.read_text(encoding="latin-1")) and time.monotonic() < end:
            time.sleep(0.1)
    module = books(console, "module")[0]
    # One interrupt may stand for several frames, but each ping was answered before the next was sent.
    assert int(module["device_interrupts"]) >= pings
