# SPDX-License-Identifier: Apache-2.0
"""Small sessions of messages, event by event, with figures calculated by hand; the arithmetic stands beside each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.handmade import both, certain
from tests.support.messaging import (
    BOARD,
    BUFFER,
    DST_Q,
    DST_S,
    DST_S2,
    QUEUE,
    SRC_Q,
    SRC_S,
    A,
    B,
    C,
    Messages,
    found,
)
from tests.support.recording import EVENTS
from vxmon.analysis.comm.result import BootComm, Receiving, Sending
from vxmon.analysis.figures import NOT_RECORDED
from vxmon.trace.span import parse_span
from vxmon.wire.events import CommResult


def sending(boot: BootComm, index: int) -> Sending:
    one = found(boot, index).sending
    assert one is not None
    return one


def receiving(boot: BootComm, index: int) -> Receiving:
    one = found(boot, index).receiving
    assert one is not None
    return one


def flows(boot: BootComm) -> dict[tuple[int | None, int | None], tuple[int, int]]:
    return {(f.sender, f.receiver): (certain(f.count), certain(f.octets)) for f in boot.flows}


def overflowing() -> Messages:
    """The queue at the other end has room for two: the third message finds it full."""
    m = Messages()
    m.send(100, SRC_Q, 1)
    m.send(200, SRC_Q, 2)
    m.send(300, SRC_Q, 3)
    m.send(301, DST_Q, 3, 2, CommResult.FULL)
    m.receive(400, DST_Q, 1, 1)
    m.receive(450, DST_Q, 2, 0)
    m.receive(460, DST_Q, 0, 0, CommResult.EMPTY, size=0)
    m.send(600, SRC_Q, 4)
    m.receive(650, DST_Q, 4, 0)
    m.stop()
    return m


def test_a_queuing_port_that_overflows(tmp_path: Path) -> None:
    boot = overflowing().analyzed(tmp_path)
    sent, got = sending(boot, SRC_Q), receiving(boot, DST_Q)
    assert certain(sent.sent) == 4
    # 4 messages in 1000 us are 4,000 a second; all of them are in its first second.
    assert certain(sent.rate) == 4_000_000
    assert (certain(sent.busiest), sent.busiest_second) == (4, 0)
    # 100 to 200, 200 to 300, 300 to 600: the mean of 500 / 3 is rounded down. Jitter |100 - 100|, |300 - 100|.
    assert (certain(sent.period.least), certain(sent.period.mean), certain(sent.period.most)) == (100, 166, 300)
    assert (certain(sent.jitter.least), certain(sent.jitter.mean), certain(sent.jitter.most)) == (0, 100, 200)
    # 400 - 100, 450 - 200, 650 - 600.
    assert certain(got.received) == 3
    assert (certain(got.latency.least), certain(got.latency.mean), certain(got.latency.most)) == (50, 200, 300)
    assert got.latency.worst is not None
    assert (got.latency.worst.number, got.latency.worst.time) == (1, 400)
    assert certain(found(boot, DST_Q).overflow) == 1
    assert certain(found(boot, SRC_Q).overflow) == 0
    # The depth is told first at 301: 2 until 400, 1 until 450, 0 until 600, 1 until 650, 0 until 1000.
    # 2 * 99 + 1 * 50 + 1 * 50 = 298, over 1000 - 301 = 699; 298,000 / 699 = 426.
    depth = got.depth
    assert depth is not None
    assert (certain(depth.least), certain(depth.mean), certain(depth.most)) == (0, 426, 2)
    assert (certain(depth.full), depth.times_full, depth.full_first, depth.longest_full) == (99, 1, 301, 99)
    assert found(boot, DST_Q).orphan_sends == {}
    assert flows(boot) == {(A, B): (3, 24)}
    assert found(boot, DST_Q).results == {"send": {"full": 1}, "receive": {"ok": 3, "empty": 1}}
    assert found(boot, DST_Q).source == "a_out"
    assert boot.notes == []


def test_without_its_channel_a_queue_may_be_deeper_between_calls(tmp_path: Path) -> None:
    """Told are 2 from 301, 1 from 400, 0 from 450 on. (2 * 99 + 50) * 1000 / 699 = 354; 2 is the capacity."""
    depth = receiving(overflowing().analyzed(tmp_path, module=False), DST_Q).depth
    assert depth is not None
    assert (both(depth.least), both(depth.mean), both(depth.most)) == ((0, 0), (354, 2000), (2, 2))
    assert both(depth.full) == (99, 699)
    assert depth.mean.value is None


def test_a_sampling_port_overwritten_and_stale(tmp_path: Path) -> None:
    m = Messages()
    m.receive(90, DST_S, 0, 0, CommResult.EMPTY, size=0)
    m.send(100, SRC_S, 1, 1)
    m.send(120, SRC_S, 2, 1)
    m.receive(130, DST_S, 2, 1)
    m.receive(190, DST_S, 2, 1, CommResult.STALE)
    m.send(200, SRC_S, 3, 1)
    m.receive(210, DST_S, 3, 1)
    m.stop(300)
    boot = m.analyzed(tmp_path)
    got = receiving(boot, DST_S)
    assert certain(got.received) == 3
    # Message 1 was replaced before anybody read it.
    assert certain(got.overwritten) == 1
    # First readings: 130 - 120, 210 - 200. All: 10, 70, 10.
    assert (certain(got.latency.least), certain(got.latency.most)) == (10, 10)
    assert certain(got.latency.count) == 2
    assert (certain(got.age.most), certain(got.age.total)) == (70, 90)
    # The kernel says so once, and 70 is more than the refresh period of 50.
    assert certain(got.stale) == certain(got.older) == 1
    assert got.refresh == 50
    assert got.depth is None
    # Two messages, each counted once; C's port gets them, too, and nobody reads it.
    assert flows(boot) == {(A, B): (2, 16)}
    assert found(boot, SRC_S).destinations == ("b_state", "c_state")


def test_several_destinations_and_several_readers(tmp_path: Path) -> None:
    m = Messages()
    m.send(100, SRC_S, 7, 1)
    m.receive(105, DST_S, 7, 1)
    m.receive(130, DST_S2, 7, 1)
    m.send(140, BOARD, 1, 1, size=4)
    m.receive(150, BOARD, 1, 1, size=4, task=5)
    m.receive(155, BOARD, 1, 1, size=4, task=6)
    m.receive(190, BOARD, 1, 1, size=4, task=5)
    m.send(240, BOARD, 2, 1, size=4)
    m.receive(270, BOARD, 2, 1, size=4, task=6)
    m.stop(300)
    boot = m.analyzed(tmp_path)
    assert certain(receiving(boot, DST_S).latency.most) == 5
    assert certain(receiving(boot, DST_S2).latency.most) == 30
    board = receiving(boot, BOARD)
    # First by task 5: 150 - 140; by task 6: 155 - 140, 270 - 240.
    assert certain(board.latency.count) == 3
    assert (certain(board.latency.least), certain(board.latency.most)) == (10, 30)
    # Every reading: 10, 15, 50, 30.
    assert certain(board.age.total) == 105
    assert certain(board.received) == 4
    assert certain(board.overwritten) == 0
    # The board's three first readings of 4 bytes stay in A.
    assert flows(boot) == {(A, A): (3, 12), (A, B): (1, 8), (A, C): (1, 8)}


def test_numbers_wrap(tmp_path: Path) -> None:
    m = Messages()
    for at, number in enumerate([2**32 - 2, 2**32 - 1, 0, 1]):
        m.send(100 + 100 * at, BUFFER, number, 1)
        m.receive(110 + 100 * at, BUFFER, number, 0)
    m.stop()
    boot = m.analyzed(tmp_path)
    assert certain(sending(boot, BUFFER).sent) == 4
    assert certain(sending(boot, BUFFER).period.most) == 100
    latency = receiving(boot, BUFFER).latency
    assert (certain(latency.count), certain(latency.least), certain(latency.most)) == (4, 10, 10)
    assert found(boot, BUFFER).orphan_sends == found(boot, BUFFER).orphan_receives == {}


def six() -> Messages:
    """Six messages, 100 apart, each received 10 later. Blocks of 4: [START s1 r1 s2] [r2 s3 r3 s4] [r4 s5 r5 s6] ..."""
    m = Messages()
    for number in range(1, 7):
        m.send(100 * number, BUFFER, number, 1)
        m.receive(100 * number + 10, BUFFER, number, 0)
    m.stop()
    return m


def test_a_loss_in_the_middle(tmp_path: Path) -> None:
    boot = six().analyzed(tmp_path, drop=(1,))
    sent, got = sending(boot, BUFFER), receiving(boot, BUFFER)
    # 1, 2, 5, 6 were seen; the numbers tell of 3 and 4.
    assert (certain(sent.sent), sent.sent.n) == (6, 4)
    # 100 twice for sure; between 2 and 5 there are three periods, none longer than 300.
    assert (sent.period.count.lo, sent.period.count.hi) == (2, 5)
    assert both(sent.period.least) == (0, 100)
    assert both(sent.period.most) == (100, 300)
    # Received: 1, 4, 5, 6; between 1 and 4 at most two more.
    assert both(got.received) == (4, 6)
    # 1, 5, 6 took 10; 4 was sent in the gap, and 2 and 3 may have taken any time.
    assert (got.latency.count.value, got.latency.most.value, both(got.latency.most)) == (3, 10, (10, None))
    assert found(boot, BUFFER).orphan_receives == {"lost": 1}
    assert found(boot, BUFFER).orphan_sends == {"lost": 1}
    # Four records are lost; any of them may have found the buffer full.
    assert both(found(boot, BUFFER).overflow) == (0, 4)
    depth = got.depth
    assert depth is not None
    # Known from 100 to 200 and from 410 to 1000: 690, of which 100..110, 500..510, 600..610 with one message: 30.
    # Unknown 200..410: 210, with up to 4. 30,000 / 690 = 43; 30,000 / 900 = 33; (30 + 840) * 1000 / 900 = 966.
    assert depth.unknown == 210
    assert (depth.mean.value, *both(depth.mean)) == (43, 33, 966)
    assert both(depth.most) == (1, 4)
    assert both(depth.least) == (0, 0)
    assert both(depth.full) == (0, 210)
    flow = boot.flows[0]
    # Two messages of at most 16 bytes more.
    assert (both(flow.count), both(flow.octets)) == ((4, 6), (32, 64))


def test_a_loss_that_the_numbers_explain_puts_no_period_in_doubt(tmp_path: Path) -> None:
    """Events of another kind are lost between two messages with successive numbers."""
    m = Messages(block_records=3)
    m.send(100, BUFFER, 1, 1)
    m.receive(110, BUFFER, 1, 0)
    for at in (150, 160, 170):
        m.recording.add(at, "USER_POINT", 1)
    m.send(200, BUFFER, 2, 1)
    m.receive(210, BUFFER, 2, 0)
    m.stop()
    boot = m.analyzed(tmp_path, drop=(1,))
    sent, got = sending(boot, BUFFER), receiving(boot, BUFFER)
    assert certain(sent.sent) == 2
    assert certain(sent.period.most) == 100
    assert certain(got.received) == 2
    assert certain(got.latency.most) == 10


def test_without_numbers_the_position_in_the_queue_tells(tmp_path: Path) -> None:
    m = Messages()
    m.receive(50, QUEUE, 0, 0)
    m.send(100, QUEUE, 0, 1)
    m.send(200, QUEUE, 0, 2)
    m.receive(250, QUEUE, 0, 1)
    m.receive(260, QUEUE, 0, 0)
    m.stop()
    boot = m.analyzed(tmp_path)
    latency = receiving(boot, QUEUE).latency
    # What was received at 50 was sent before recording began; then 250 - 100, 260 - 200.
    assert found(boot, QUEUE).orphan_receives == {"before": 1}
    assert (certain(latency.count), certain(latency.most), certain(latency.least)) == (2, 150, 60)
    assert boot.notes == [
        "lines: the kernel gives no numbers; messages are matched by their position in the queue",
    ]  # fmt: skip


def test_without_numbers_a_full_queue_keeps_its_positions(tmp_path: Path) -> None:
    m = Messages()
    for time in (100, 200, 300):
        m.send(time, SRC_Q, 0)
    m.send(301, DST_Q, 0, 2, CommResult.FULL)
    m.receive(400, DST_Q, 0, 1)
    m.send(420, SRC_Q, 0)
    m.receive(450, DST_Q, 0, 1)
    m.receive(500, DST_Q, 0, 0)
    m.stop()
    latency = receiving(m.analyzed(tmp_path), DST_Q).latency
    # 400 - 100, 450 - 200, 500 - 420; the one of 300 found no room.
    assert (certain(latency.count), certain(latency.total)) == (3, 300 + 250 + 80)


def test_without_numbers_nothing_is_matched_across_a_loss(tmp_path: Path) -> None:
    m = Messages(block_records=3)
    m.send(100, QUEUE, 0, 1)
    m.send(200, QUEUE, 0, 2)
    for at in (210, 220, 230):
        m.recording.add(at, "USER_POINT", 1)
    m.receive(250, QUEUE, 0, 1)
    m.send(260, QUEUE, 0, 2)
    m.receive(270, QUEUE, 0, 1)
    m.receive(280, QUEUE, 0, 0)
    m.stop()
    boot = m.analyzed(tmp_path, drop=(1,))
    latency = receiving(boot, QUEUE).latency
    # Those sent at 100 and 200 are received at 250 and 270, behind the loss; only 280 - 260 is known.
    assert (latency.count.lo, latency.most.value, latency.most.hi) == (1, 20, None)
    assert found(boot, QUEUE).orphan_receives == {"lost": 2}
    # Three records may have been messages that the session does not show.
    assert both(sending(boot, QUEUE).sent) == (3, 6)


def test_ports_without_a_channel_are_orphans_at_both_ends(tmp_path: Path) -> None:
    boot = overflowing().analyzed(tmp_path, module=False)
    assert found(boot, SRC_Q).orphan_sends == {"no_channel": 4}
    assert found(boot, DST_Q).orphan_receives == {"no_channel": 3}
    assert receiving(boot, DST_Q).latency.most.status == NOT_RECORDED
    assert certain(receiving(boot, DST_Q).received) == 3
    assert boot.notes == ["no channels are known: give the module's configuration with --module"]
    assert {(f.sender, f.receiver): certain(f.count) for f in boot.flows} == {(None, B): 3}


def test_messages_that_wait_at_the_end_and_such_that_nobody_receives(tmp_path: Path) -> None:
    m = Messages()
    m.send(100, BUFFER, 1, 1)
    m.receive(110, BUFFER, 1, 0)
    m.send(200, BUFFER, 2, 1)
    m.send(300, SRC_Q, 1)
    m.stop()
    boot = m.analyzed(tmp_path)
    assert found(boot, BUFFER).orphan_sends == {"unread_at_end": 1}
    assert found(boot, DST_Q).orphan_sends == {"never_read": 1}
    # 0 before, 1 from 200 to the end at 1000; the buffer told its depth first at 100.
    depth = receiving(boot, BUFFER).depth
    assert depth is not None
    assert certain(depth.mean) == (10 + 800) * 1000 // 900


def test_messages_that_nobody_receives_do_not_fill_the_memory(tmp_path: Path) -> None:
    """1,100 messages wait; 1,024 are remembered, and the others are told."""
    m = Messages(block_records=20)
    for number in range(1, 1101):
        m.send(number, BUFFER, number, 1)
    m.stop(2000)
    boot = m.analyzed(tmp_path)
    assert found(boot, BUFFER).orphan_sends == {"table_full": 76, "never_read": 1024}
    assert boot.notes == [
        "commands: the table of open messages overflowed; 76 messages that nobody had received were dropped from it",
    ]  # fmt: skip


def test_what_is_in_an_object_goes_with_it(tmp_path: Path) -> None:
    m = Messages()
    m.send(100, BUFFER, 1, 1)
    m.send(200, BUFFER, 2, 2)
    m.receive(250, BUFFER, 1, 1)
    m.recording.add(350, "OBJECT_DELETE", BUFFER)
    m.stop()
    boot = m.analyzed(tmp_path)
    assert found(boot, BUFFER).orphan_sends == {"deleted": 1}
    depth = receiving(boot, BUFFER).depth
    assert depth is not None
    # One message for 100 us, two for 50, one for 100, then there is no buffer: 300 over 250.
    assert certain(depth.mean) == 1200


def test_a_window_of_time(tmp_path: Path) -> None:
    """Of six messages those of 300 and 400 lie in 250..450 us, with the period between them."""
    boot = six().analyzed(tmp_path, span=parse_span("250us..450us"))
    sent, got = sending(boot, BUFFER), receiving(boot, BUFFER)
    assert certain(sent.sent) == 2
    assert (certain(sent.period.count), certain(sent.period.most)) == (1, 100)
    assert certain(got.received) == 2
    depth = got.depth
    assert depth is not None
    # 20 of 200 us with one message.
    assert certain(depth.mean) == 100
    assert (boot.begin, boot.end) == (250, 450)


def test_what_was_not_recorded_is_not_0(tmp_path: Path) -> None:
    m = Messages(events=frozenset({EVENTS["MSG_SEND"].id}))
    m.send(100, BUFFER, 1, 1)
    m.stop()
    boot = m.analyzed(tmp_path)
    assert certain(sending(boot, BUFFER).sent) == 1
    got = receiving(boot, BUFFER)
    assert got.received.status == got.latency.most.status == NOT_RECORDED
    assert found(boot, BUFFER).orphan_sends == {}


@pytest.mark.parametrize("number", [0, 1])
def test_objects_that_the_tables_do_not_name_are_numbered(tmp_path: Path, number: int) -> None:
    m = Messages()
    m.recording.objects = ()
    m.send(100, BUFFER, number, 1)
    m.receive(150, BUFFER, number, 0)
    m.stop()
    boot = m.analyzed(tmp_path, module=False)
    assert found(boot, BUFFER).label == f"object {BUFFER}"
    # The records themselves say that it is a buffer.
    assert certain(receiving(boot, BUFFER).latency.most) == 50
