# SPDX-License-Identifier: Apache-2.0
"""The host's state machine when the link is lost, the target restarts, a run is taken over, or pieces are missing.

The model of the target and the network is that of test_link_machine.
"""

from __future__ import annotations

from tests.unit.test_link_machine import MS, ModelTarget, Network, connected
from vxmon.link.machine import Control, HostLink
from vxmon.link.summary import Summary
from vxmon.wire.control import encode_reply
from vxmon.wire.datagram import decode_datagram, split_message
from vxmon.wire.notes import Note, NoteKind, decode_note
from vxmon.wire.resend import decode_fragment_request
from vxmon.wire.status import encode_end
from vxmon.wire.types import Channel, End, Header, InfoRequest, LinkCounters, Reply, Result, Stop, TargetInfo


def noted(network: Network) -> list[Note]:
    """Notes for the session, taken out."""
    notes, network.link.recorded = network.link.recorded, []
    datagrams = [decode_datagram(data) for data in notes]
    assert {datagram.header.channel for datagram in datagrams} <= {Channel.NOTE}
    return [decode_note(datagram.payload) for datagram in datagrams]


def test_a_link_that_is_lost_and_comes_back_is_noted_with_its_silence() -> None:
    network = connected()
    network.start()
    network.go(500)
    network.cut = True
    network.go(10_000)
    (lost,) = noted(network)
    assert (lost.kind, lost.run) == (NoteKind.LINK_LOST, 1)
    assert 3000 * MS < lost.silence < 3100 * MS
    network.cut = False
    network.go(3000)
    (back,) = noted(network)
    assert back.kind == NoteKind.LINK_BACK
    assert 10_000 * MS < back.silence < 13_000 * MS
    assert network.to_target[-1][6] != Channel.NOTE
    assert not any(data[6] == Channel.NOTE for data in network.to_target), "notes are never sent"


def test_a_reboot_is_noted_with_the_boot_before() -> None:
    network = connected()
    network.start()
    network.target = ModelTarget(boot=6)
    network.go(5000)
    lost, reboot = noted(network)
    assert (lost.kind, reboot.kind) == (NoteKind.LINK_LOST, NoteKind.REBOOT)
    assert (reboot.boot, reboot.run) == (5, 1)
    assert 3000 * MS < reboot.silence < 5000 * MS
    assert network.link.silent_ns == reboot.silence
    assert not network.link.lost


def test_a_command_without_an_answer_is_noted_but_no_greeting() -> None:
    network = connected()
    network.target.deaf = True
    pending = network.link.request(InfoRequest(), network.now)
    for _ in range(8000):
        network.tick()
    assert pending.failure == "no answer to 8 requests"
    kinds = [note.kind for note in noted(network)]
    assert kinds.count(NoteKind.UNANSWERED) == 1
    assert "command inforequest: no answer to 8 requests" in network.link.notes


def test_a_cancelled_command_is_noted_and_the_next_one_goes_at_once() -> None:
    network = connected()
    network.target.deaf = True
    pending = network.link.request(InfoRequest(), network.now)
    network.go(50)
    network.link.cancel(pending)
    network.target.deaf = False
    done = network.link.bye(network.now)
    network.go(10)
    assert done.reply is not None
    assert [note.kind for note in noted(network)] == [NoteKind.CANCELLED]
    network.link.cancel(pending)
    assert noted(network) == [], "it was over"


def test_notes_are_bounded() -> None:
    network = connected()
    for boot in range(10, 400):
        network.target = ModelTarget(boot=boot)
        network.deliver(network.target.block(0))
    assert len(network.link.recorded) == len(network.link.notes) == 100


def test_what_the_target_counted_for_earlier_captures_is_not_told() -> None:
    summary = Summary()
    summary.add_counters(
        LinkCounters(resent=218, refused=3, stranger=3), LinkCounters(resent=220, refused=4, stranger=4)
    )
    assert (summary.resends, summary.refused) == (2, "1 datagram refused: 1 from another host")


def test_resends_are_told_though_no_heartbeat_came_after_them() -> None:
    network = connected()
    network.start()
    network.target.blocks = 3
    for sequence in (0, 2):
        network.deliver(network.target.block(sequence))
    network.go(100)
    summary = Summary()
    summary.add_run(network.link)
    summary.add_counters(LinkCounters(), LinkCounters())
    assert (summary.blocks, summary.resends) == (3, 1)


def test_another_host_goes_on_with_a_run() -> None:
    """All that is held is asked for; what is gone is not; the figures say what was there before."""
    network = connected()
    network.start()
    network.produce(30)
    network.go(100)
    network.target.held = 10
    network.link = HostLink(5000, network.now)
    network.connect()
    network.go(1000)
    assert network.link.heartbeat is not None
    network.link.resume(1, one_way=False)
    assert [note.kind for note in noted(network)] == [NoteKind.RESUMED]
    network.go(500)
    assert network.link.blocks == 20
    assert network.link.trackers[0].gone.ranges == [(0, 10)]
    assert network.link.attach[0][0] == 100
    network.produce(5)
    network.go(500)
    network.link.request(Stop(), network.now)
    network.go(500)
    assert network.link.drained
    summary = Summary()
    summary.add_run(network.link)
    assert (summary.recorded, summary.delivered, summary.lost) == (250, 250, {})


def test_the_end_that_was_told_before_a_run_is_followed_counts() -> None:
    network = connected()
    network.start()
    network.produce(3)
    network.go(50)
    network.target.running = False
    network.link = HostLink(5000, network.now)
    network.connect()
    for data in network.target.message(Channel.END, encode_end(End(1, 1, 0, (network.target.state(),)))):
        network.deliver(data)
    assert not network.link.drained
    network.link.resume(1, one_way=False)
    network.go(2500)
    assert network.link.drained


def test_missing_fragments_of_a_reply_are_asked_for() -> None:
    """A reply of three fragments, of which the second is lost: it is complete as soon as that one came again."""
    network = connected()
    pending = network.link.request(InfoRequest(), network.now)
    info = TargetInfo("o" * 31, "2.4", "b" * 31, "a" * 31, 1000, True, boot=5, offered=frozenset(range(1024)))
    reply = encode_reply(Reply(pending.command.request, Result.OK, "t" * 150, info))
    header = Header(Channel.REPLY, 5, 70, message=70)
    pieces = split_message(header, reply + bytes([0x7A, 0x81, 0x04]) + b"x" * 513, 512)
    network.target.deaf = True
    network.link.poll(network.now)
    for piece in (pieces[0], *pieces[2:]):
        network.deliver(piece)
    before = len(network.to_target)
    network.go(100)
    asked = [d for d in network.to_target[before:] if d[6] == Channel.RESEND]
    request = decode_fragment_request(decode_datagram(asked[0]).payload)
    assert (request.channel, request.message, request.missing) == (Channel.REPLY, 70, (1,))
    network.deliver(pieces[1])
    assert pending.reply is not None


def test_a_message_that_never_gets_complete_is_told_with_what_was_missing() -> None:
    network = connected()
    pieces = split_message(Header(Channel.TABLE, 5, 70, message=70), bytes(2000), 512)
    network.deliver(pieces[0])
    network.deliver(pieces[3])
    network.go(2200)
    (told,) = [note for note in network.link.notes if "complete" in note]
    assert told == "message 70 of the target never got complete: it lacks 3 of 5 fragments (1, 2, 4)"
    assert len([d for d in network.to_target if d[6] == Channel.RESEND]) == 5


def test_who_comes_back_to_a_target_that_another_host_has_taken_is_told() -> None:
    network = connected()
    network.start()
    network.cut = True
    network.go(4000)
    network.target.busy = True
    network._next_beat = 1 << 62
    network.cut = False
    network.go(5000)
    assert network.link.control is Control.BUSY


def test_a_late_reply_and_a_duplicate_change_nothing() -> None:
    network = connected()
    first = network.link.request(InfoRequest(), network.now)
    network.go(10)
    late = network.target.message(Channel.REPLY, encode_reply(Reply(first.command.request, Result.LIMIT, "late")))
    second = network.link.request(Stop(), network.now)
    network.link.poll(network.now)
    for data in late * 2:
        network.deliver(data)
    assert first.reply is not None
    assert first.reply.result == Result.OK
    assert not second.done
