# SPDX-License-Identifier: Apache-2.0
"""Loss by hand: small sessions in which every record is known, so that the figures follow by counting."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sessions import Target, record, write_session
from vxmon.errors import InputError
from vxmon.session.reader import open_session
from vxmon.trace import LOSS_ID, Stream, Trace, open_trace
from vxmon.trace.live import LiveTrace
from vxmon.wire.types import StreamState


def lost(stream: Stream) -> dict[str, int]:
    return {cause: count for cause, count in stream.lost.items() if count}


def only_stream(trace: Trace) -> Stream:
    assert len(trace.facts.streams) == 1
    stream = trace.facts.streams[0]
    assert stream.recorded == stream.before_attach + stream.delivered + stream.lost_records
    return stream


def ids(trace: Trace) -> list[int]:
    """Arguments of the records in the order they are handed out; -1 for a loss."""
    return [
        -1 if event == LOSS_ID else int(arg)
        for chunk in trace.chunks()
        for event, arg in zip(chunk.columns.id.tolist(), chunk.columns.arg.tolist(), strict=True)
    ]


def test_nothing_is_lost_of_a_whole_session(tmp_path: Path) -> None:
    target = Target()
    datagrams = [*target.started(), target.points([1, 2]), target.points([3, 4, 5]), *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        stream = only_stream(trace)
        assert (stream.recorded, stream.delivered, lost(stream)) == (5, 5, {})
        assert not trace.facts.incomplete
        assert ids(trace) == [0, 1, 2, 3, 4]


def test_a_block_that_is_not_there_is_lost_on_the_link(tmp_path: Path) -> None:
    target = Target()
    blocks = [target.points([10 * i, 10 * i + 5]) for i in range(5)]
    datagrams = [*target.started(), *blocks[:2], *blocks[3:], *target.end(99)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        stream = only_stream(trace)
        assert (stream.recorded, stream.delivered, lost(stream)) == (10, 8, {"link": 2})
        loss = trace.facts.losses[0]
        assert (loss["first_index"], loss["records"], loss["start"], loss["end"]) == (4, 2, 15, 30)
        assert ids(trace) == [0, 1, 2, 3, -1, 6, 7, 8, 9]


def test_late_and_repeated_blocks_are_delivered_once(tmp_path: Path) -> None:
    target = Target()
    a, b, c = (target.points([10 * i, 10 * i + 5]) for i in range(3))
    datagrams = [*target.started(), c, a, c, b, a, b, *target.end(99)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        stream = only_stream(trace)
        assert (stream.delivered, lost(stream), trace.facts.counters.duplicates) == (6, {}, 3)
        assert ids(trace) == [0, 1, 2, 3, 4, 5]


def test_the_target_names_what_it_lost_and_the_rest_is_the_link(tmp_path: Path) -> None:
    target = Target()
    first = target.points([1, 2])
    target.lose(overwritten=100)
    target.points([3, 4, 5])  # never arrives
    target.lose(exhausted=7, full=2)
    datagrams = [*target.started(), first, target.points([6]), *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        stream = only_stream(trace)
        assert stream.recorded == 2 + 100 + 3 + 9 + 1
        assert lost(stream) == {"overwritten": 100, "full": 2, "exhausted": 7, "link": 3}
        assert [int(r) for r in trace.facts.losses["records"]] == [112]


def test_what_a_linear_buffer_refused_at_the_end_is_full(tmp_path: Path) -> None:
    target = Target()
    first = target.points([1, 2])
    target.lose(full=50)
    with open_trace([write_session(tmp_path / "s", [*target.started(), first, *target.end(60)])]) as trace:
        assert lost(only_stream(trace)) == {"full": 50}
        assert ids(trace) == [0, 1, -1]
        assert (trace.facts.losses[0]["start"], trace.facts.losses[0]["end"]) == (2, 60)


def test_without_an_end_what_was_counted_and_not_cut_is_pending(tmp_path: Path) -> None:
    target = Target()
    first = target.points([1, 2])
    beat = target.heartbeat(70, (target.state(recorded=12),))
    with open_trace([write_session(tmp_path / "s", [*target.started(), first, *beat])]) as trace:
        stream = only_stream(trace)
        assert (stream.recorded, lost(stream)) == (12, {"pending": 10})
        assert not trace.facts.boots[0].runs[1].complete
        assert trace.facts.losses[0]["end"] == 70


def test_cut_and_uncut_records_at_the_end_are_told_apart(tmp_path: Path) -> None:
    target = Target()
    first = target.points([1, 2])
    target.points([3, 4, 5])  # cut, never arrives
    beat = target.heartbeat(70, (target.state(recorded=9),))
    with open_trace([write_session(tmp_path / "s", [*target.started(), first, *beat])]) as trace:
        assert lost(only_stream(trace)) == {"link": 3, "pending": 4}


def test_a_stream_of_which_nothing_arrived_is_lost_whole(tmp_path: Path) -> None:
    target = Target()
    target.points([3, 4, 5])
    with open_trace([write_session(tmp_path / "s", [*target.started(2), *target.end(9)])]) as trace:
        assert lost(only_stream(trace)) == {"link": 3}
        assert ids(trace) == [-1]
        assert (trace.facts.losses[0]["start"], trace.facts.losses[0]["end"]) == (2, 9)


def test_what_was_before_the_attach_is_not_lost(tmp_path: Path) -> None:
    target = Target()
    target.lose(overwritten=5)
    for _ in range(3):
        target.points([1, 2])
    beat = target.heartbeat(50)
    missed, seen = target.points([60, 61]), target.points([70, 71, 72])
    del missed
    with open_trace([write_session(tmp_path / "s", [*beat, seen, *target.end(99)])]) as trace:
        stream = only_stream(trace)
        assert (stream.recorded, stream.before_attach, stream.delivered) == (16, 11, 3)
        assert lost(stream) == {"link": 2}


def test_without_a_heartbeat_the_attach_is_the_lowest_block_even_when_it_came_late(tmp_path: Path) -> None:
    target = Target()
    _, early, late = (target.points([10 * i, 10 * i + 1]) for i in range(3))
    with open_trace([write_session(tmp_path / "s", [late, early, *target.end(99)])]) as trace:
        stream = only_stream(trace)
        assert (stream.before_attach, stream.delivered, lost(stream)) == (2, 4, {})


def test_a_capture_that_saw_the_target_idle_saw_the_run_from_its_start(tmp_path: Path) -> None:
    target = Target()
    idle = target.heartbeat(1, (), run=0, running=False)
    target.points([10, 11])
    datagrams = [*idle, target.points([20]), *target.end(30)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        stream = only_stream(trace)
        assert (stream.before_attach, lost(stream)) == (0, {"link": 2})


def test_a_run_that_was_over_before_is_not_of_this_session(tmp_path: Path) -> None:
    old = Target(run=4)
    old.points([1, 2])
    target = Target(run=5)
    datagrams = [*old.heartbeat(5, running=False), *target.started(9), target.points([10]), *target.end(30)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert list(trace.facts.boots[0].runs) == [5]
        assert only_stream(trace).recorded == 1


def test_damage_in_the_slots_is_corrupt_to_the_record(tmp_path: Path) -> None:
    target = Target()
    a, b, c, d = (target.points(range(10 * i + 1, 10 * i + 2 + i)) for i in range(4))
    datagrams = [*target.started(), a, flip(b, -3), d, *target.end(99)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        stream = only_stream(trace)
        assert lost(stream) == {"corrupt": 2, "link": 3}
        assert trace.facts.counters.corrupt_blocks == 1
        assert len(c) > 0


def flip(datagram: bytes, at: int) -> bytes:
    data = bytearray(datagram)
    data[at] ^= 0x94
    return bytes(data)


@pytest.mark.parametrize("at", [*range(32), *range(32, 60, 3)])
def test_damage_in_the_header_is_corrupt_too(tmp_path: Path, at: int) -> None:
    target = Target()
    a, b, c = (target.points(range(10 * i + 1, 10 * i + 4)) for i in range(3))
    datagrams = [*target.started(), a, flip(b, at), c, *target.end(99)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert lost(only_stream(trace)) == {"corrupt": 3}
        assert trace.facts.incomplete


def test_a_good_copy_of_a_damaged_block_is_delivered(tmp_path: Path) -> None:
    target = Target()
    a, b = target.points([1, 2]), target.points([3, 4])
    datagrams = [*target.started(), a, flip(b, -1), b, *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert lost(only_stream(trace)) == {}
        assert trace.facts.incomplete


def test_runs_and_boots_are_accounted_apart(tmp_path: Path) -> None:
    target = Target()
    datagrams = [*target.started(), target.points([1, 2]), *target.end(5)]
    again = Target(run=2, _sequence=100)
    again.points([10])
    datagrams += [*again.started(9), again.points([11, 12]), *again.end(20)]
    other = Target(boot=77, big_endian=False)
    datagrams += [*other.started(), other.points([1]), *other.end(3)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        runs = [(boot.id, run) for boot in trace.facts.boots for run in boot.runs.values()]
        figures = [(boot, run.number, lost(run.streams[0])) for boot, run in runs]
        assert figures == [(0x1234ABCD, 1, {}), (0x1234ABCD, 2, {"link": 1}), (77, 1, {})]
        assert ids(trace) == [0, 1, -1, 1, 2, 0]


def test_several_files_are_one_session(tmp_path: Path) -> None:
    target = Target()
    a, b, c = (target.points([10 * i, 10 * i + 1]) for i in range(3))
    first = write_session(tmp_path / "1", [*target.started(), a, b])
    second = write_session(tmp_path / "2", [c, b, *target.end(99)])
    with open_trace([second, first]) as trace:
        assert lost(only_stream(trace)) == {}
        assert trace.facts.counters.duplicates == 1
        assert ids(trace) == [0, 1, 2, 3, 4, 5]


def test_figures_that_contradict_each_other_are_told_and_still_add_up(tmp_path: Path) -> None:
    target = Target()
    a = target.points([1, 2])
    target.lose(overwritten=40)
    target.index[0] -= 30  # counters claim more than the indices leave room for
    datagrams = [*target.started(), a, target.points([5]), *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert lost(only_stream(trace)) == {"overwritten": 10}
        assert any("contradict" in problem for problem in trace.facts.problems)


def test_numbers_beyond_reason_are_refused(tmp_path: Path) -> None:
    target = Target()
    mad = StreamState(0, recorded=1 << 62, cut_index=1 << 62)
    datagrams = [*target.started(), target.points([1]), *target.heartbeat(5, (mad,)), *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert only_stream(trace).recorded == 1
        assert trace.facts.counters.refused["payload"] == 1


def test_blocks_that_repeat_indices_are_not_used_twice(tmp_path: Path) -> None:
    target = Target()
    a = target.points([1, 2, 3])
    target.index[0] = 1
    datagrams = [*target.started(), a, target.points([8, 9]), *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert only_stream(trace).delivered == 3
        assert any("1 block repeats indices" in problem for problem in trace.facts.problems)


@pytest.mark.parametrize("piped", [False, True])
def test_a_block_in_bytes_that_were_skipped_is_corrupt(tmp_path: Path, piped: bool) -> None:
    """The third packet's length is spoiled, so its block is in the file; the sixth was never there."""
    target = Target()
    blocks = [target.points([10 * i, 10 * i + 5]) for i in range(8)]
    path = Path(write_session(tmp_path / "s", [*target.started(), *blocks[:5], *blocks[6:], *target.end(99)]))
    data = bytearray(path.read_bytes())
    data[data.index(blocks[2]) - 56 + 4] ^= 0x40
    path.write_bytes(bytes(data))
    reader = open_session(str(path))
    with LiveTrace(reader) if piped else open_trace([str(path)]) as trace:
        list(trace.chunks())
        assert lost(only_stream(trace)) == {"link": 2, "corrupt": 2}
    reader.close()


@pytest.mark.parametrize("spoiled", [range(3), range(7, 8)])
def test_skipped_bytes_at_either_end_are_corrupt(tmp_path: Path, spoiled: range) -> None:
    target = Target()
    blocks = [target.points([10 * i, 10 * i + 5]) for i in range(8)]
    path = Path(write_session(tmp_path / "s", [*target.started(), *blocks, *target.end(99)]))
    data = bytearray(path.read_bytes())
    for number in spoiled:
        data[data.index(blocks[number]) - 56 + 4] ^= 0x40
    path.write_bytes(bytes(data))
    with open_trace([str(path)]) as trace:
        assert lost(only_stream(trace)) == {"corrupt": 2 * len(spoiled)}


def test_the_start_record_tells_when_a_one_way_run_began(tmp_path: Path) -> None:
    """Nothing replies to a start that no host asked for; START is index 0 (SPEC section 5)."""
    target = Target()
    first = target.block(
        [record("START", 1, 500, {"window": 0, "task": 0, "run": 1}), record("USER_POINT", 1, 510)], 500, 510
    )
    with open_trace([write_session(tmp_path / "s", [first, *target.end(600)])]) as trace:
        run = trace.facts.boots[0].runs[1]
        assert (run.started, run.ended, run.seen_from_start) == (500, 600, True)
        assert not trace.facts.incomplete


def test_another_record_of_index_0_is_no_start(tmp_path: Path) -> None:
    target = Target()
    with open_trace([write_session(tmp_path / "s", [target.points([5, 6]), *target.end(9)])]) as trace:
        run = trace.facts.boots[0].runs[1]
        assert (run.started, run.seen_from_start) == (None, False)


@pytest.mark.parametrize("change", ["shorter", "zeros", "ones"])
def test_a_file_that_changes_between_the_passes_is_told(tmp_path: Path, change: str) -> None:
    target = Target()
    datagrams = [*target.started(), *(target.points(range(10 * i, 10 * i + 8)) for i in range(40)), *target.end(999)]
    path = Path(write_session(tmp_path / "s", datagrams))
    with open_trace([str(path)]) as trace:
        size = path.stat().st_size
        filling = {"zeros": bytes(size), "ones": b"\xff" * size}
        path.write_bytes(filling.get(change, path.read_bytes()[: size // 2]))
        with pytest.raises(InputError, match="changed while it was read"):
            list(trace.chunks())
