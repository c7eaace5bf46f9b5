# SPDX-License-Identifier: Apache-2.0
"""Reception over a real socket on 127.0.0.1: content, kernel time stamps, the kernel's drop counter."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from vxmon.errors import TargetError
from vxmon.link.receiver import BATCH, Receiver, next_pause, open_socket
from vxmon.session.rooms import LARGEST


@pytest.fixture
def target() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock


@pytest.fixture
def host(target: socket.socket) -> Iterator[socket.socket]:
    sock, _ = open_socket(*target.getsockname())
    with closing(sock):
        yield sock


def collect(receiver: Receiver, count: int) -> list[tuple[bytes, int]]:
    found: list[tuple[bytes, int]] = []
    end = time.monotonic() + 30
    while len(found) < count and time.monotonic() < end:
        batch = receiver.take(0.1)
        if batch is not None:
            found += [
                (batch.slots[i, : batch.lengths[i]].tobytes(), int(batch.times[i])) for i in range(len(batch.lengths))
            ]
            receiver.give_back(batch)
    return found


def test_every_datagram_arrives_as_it_was_sent_with_the_kernels_time(
    target: socket.socket, host: socket.socket
) -> None:
    sent = [bytes([i & 255]) * (1 + i * 7 % 1472) for i in range(3072)]  # of three calls of the system
    receiver = Receiver(host)
    before = time.time_ns()
    for data in sent:
        target.sendto(data, host.getsockname())
    after = time.time_ns()
    receiver.start()
    found = collect(receiver, len(sent))
    receiver.stop()
    assert [data for data, _ in found] == sent
    times = [stamp for _, stamp in found]
    assert times == sorted(times)
    assert before - 1_000_000 <= times[0], "stamped when it came, not when it was read"
    assert times[-1] <= after + 1_000_000
    assert (receiver.received, receiver.dropped, receiver.oversized) == (len(sent), 0, 0)


def test_memory_is_used_again(target: socket.socket, host: socket.socket) -> None:
    receiver = Receiver(host)
    receiver.start()
    for round_ in range(200):
        target.sendto(round_.to_bytes(4, "big"), host.getsockname())
        assert collect(receiver, 1)[0][0] == round_.to_bytes(4, "big")
    receiver.stop()


def test_the_kernels_drop_counter_is_exact(target: socket.socket, host: socket.socket) -> None:
    host.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20_000)
    receiver = Receiver(host)
    for i in range(500):
        target.sendto(bytes(1400), host.getsockname())
        del i
    receiver.start()
    found = len(collect(receiver, 500 - receiver.dropped))
    receiver.stop()
    assert found < 500
    assert found + receiver.dropped == 500


def test_datagrams_too_long_to_be_ours_are_counted(target: socket.socket, host: socket.socket) -> None:
    receiver = Receiver(host)
    target.sendto(bytes(LARGEST + 1), host.getsockname())
    target.sendto(b"ours", host.getsockname())
    receiver.start()
    assert [data for data, _ in collect(receiver, 1)] == [b"ours"]
    receiver.stop()
    assert receiver.oversized == 1


def test_strangers_are_kept_out_by_the_kernel(host: socket.socket) -> None:
    receiver = Receiver(host)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.sendto(b"hello", host.getsockname())
    receiver.start()
    assert receiver.take(0.3) is None
    receiver.stop()


def test_an_icmp_answer_is_noted(target: socket.socket, host: socket.socket) -> None:
    target.close()
    receiver = Receiver(host)
    receiver.start()
    host.send(b"anybody there?")
    end = time.monotonic() + 10
    while not receiver.refused and time.monotonic() < end:
        time.sleep(0.01)
    receiver.stop()
    assert receiver.refused == 1
    assert not receiver.failure


def test_a_name_that_is_not_known_is_told() -> None:
    with pytest.raises(TargetError, match=r"no\.such\.host\.invalid:1"):
        open_socket("no.such.host.invalid", 1)


def test_the_buffer_is_large_where_that_is_allowed(target: socket.socket) -> None:
    sock, size = open_socket(*target.getsockname())
    sock.close()
    assert size >= 200_000


def test_what_comes_while_the_consumer_is_busy_is_one_large_batch(target: socket.socket, host: socket.socket) -> None:
    receiver = Receiver(host)
    receiver.start()
    count = BATCH + 500
    for first in range(0, count, 100):
        for i in range(first, min(first + 100, count)):
            target.sendto(i.to_bytes(4, "big"), host.getsockname())
        time.sleep(0.002)  # so that the kernel's buffer need not hold all
    sizes, found = [], 0
    while found < count and (batch := receiver.take(5.0)) is not None:
        numbers = batch.slots[:, :4].astype(np.int64) @ (256 ** np.arange(3, -1, -1))
        assert (numbers == np.arange(found, found + len(batch))).all()
        found += len(batch)
        sizes.append(len(batch))
        receiver.give_back(batch)
    receiver.stop()
    assert found == count
    assert len(sizes) <= 6, "not one for each of the 46 groups that came"


def test_it_ends_while_no_buffer_is_free(target: socket.socket, host: socket.socket) -> None:
    """The consumer has left; what is in the buffers can still be taken."""
    receiver = Receiver(host)
    receiver.start()
    taken = []
    for _ in range(20):
        target.sendto(b"x", host.getsockname())
        batch = receiver.take(0.2)
        if batch is None:
            break
        taken.append(batch)
    assert 0 < len(taken) < 20, "buffers that are not given back are not used"
    receiver.stop()


@pytest.mark.parametrize(
    ("pause", "count", "wanted", "steady", "following"),
    [
        (0.001, 1, 2048, False, 0.001),  # answers do not wait
        (0.001, 300, 2048, False, 0.001),
        (0.001, 300, 2048, True, 0.001 * 2048 / 300),  # 300,000/s: until 2048 are there
        (0.007, 2100, 2048, True, 0.007 * 2048 / 2100),
        (0.001, 3, 2048, True, 0.008),  # 3,000/s: no longer than that
        (0.008, 0, 2048, True, 0.008),
        (0.008, 1, 2048, False, 0.001),  # it is over
        (0.001, 300, 46, True, 0.00025),  # a small buffer of the kernel would be full
    ],
)
def test_how_long_to_gather(pause: float, count: int, wanted: int, steady: bool, following: float) -> None:
    assert next_pause(pause, count, wanted, steady=steady) == pytest.approx(following)
