# SPDX-License-Identifier: Apache-2.0
"""Messages: round trips of anything within the limits, and what lies outside them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.wire import control, status, tables
from vxmon.wire import types as t
from vxmon.wire.events import TABLES, shipped_table

U16 = st.integers(0, 0xFFFE)
U32 = st.integers(0, 2**32 - 1)
NUMBER = st.integers(0, 2**62 - 1)
FLAG = st.booleans()


def text(limit: int) -> st.SearchStrategy[str]:
    return st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=limit)


NAME = text(31)
EVENT_IDS = st.frozensets(st.integers(0, 1023), max_size=40)
CONFIG = st.builds(t.RunConfig, EVENT_IDS, U32, U32, U32, st.sampled_from(t.Policy), U32, U32, FLAG, FLAG, NUMBER)
REQUEST: st.SearchStrategy[t.Request] = st.one_of(
    st.builds(t.Hello, st.integers(0, 2**64 - 1), st.integers(0, 64)),
    st.sampled_from([t.InfoRequest(), t.TablesRequest(), t.Stop(), t.Bye()]),
    st.builds(t.Start, CONFIG),
    st.builds(t.Trigger, U32, text(64)),
    st.builds(t.Scenario, NAME),
    st.builds(t.Filter, U32, FLAG),
)
LOSSES = st.builds(t.Losses, NUMBER, NUMBER, NUMBER)
STATE = st.builds(t.StreamState, st.integers(0, 7), NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, LOSSES, U32, U32)
STATES = st.lists(STATE, max_size=8, unique_by=lambda state: state.stream).map(tuple)
END = st.builds(t.End, U32, NUMBER, U32, STATES)
INFO = st.builds(
    t.TargetInfo, NAME, text(15), NAME, NAME, st.integers(1, 2**32 - 1), FLAG, st.integers(1, 8), U32, U32,
    U32, EVENT_IDS, U32, NUMBER, U32,
)  # fmt: skip
REPLY = st.builds(
    t.Reply,
    U32,
    st.sampled_from(t.Result),
    text(159),
    st.one_of(st.none(), st.integers(0, 2**64 - 1), INFO, END, st.builds(t.Started, U32, NUMBER, CONFIG)),
)
HEARTBEAT = st.builds(
    t.TargetHeartbeat, NUMBER, U32, text(15), U32, U32, U32, FLAG, STATES,
    st.builds(t.LinkCounters, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER), NUMBER,
)  # fmt: skip
RANGE = st.builds(t.Range, st.integers(0, 2**61 - 1), st.integers(0, 2**61 - 1))
STREAM_ACK = st.builds(t.StreamAck, st.integers(0, 7), NUMBER, NUMBER, st.lists(RANGE, max_size=16).map(tuple))
ACK = st.builds(t.Ack, U32, st.lists(STREAM_ACK, max_size=8).map(tuple))


def schedule(durations: list[int]) -> t.Schedule:
    windows = [t.Window(i % 5, i % 2 == 0, sum(durations[:i]), length) for i, length in enumerate(durations)]
    return t.Schedule(0, sum(durations), tuple(windows))


OBJECTS = st.builds(
    t.ObjectTable,
    U32,
    st.lists(st.lists(st.integers(1, 2**40), max_size=6).map(schedule), max_size=2).map(tuple),
    st.lists(st.builds(t.PartitionEntry, U16, NAME, U32), max_size=4).map(tuple),
    st.lists(st.builds(t.TaskEntry, U16, U16, NAME, U32, U32, U32, NUMBER, NUMBER, FLAG, FLAG), max_size=4).map(tuple),
    st.lists(st.builds(t.ObjectEntry, U16, U32, U16, NAME, U32, U32, U32, FLAG), max_size=4).map(tuple),
)


@given(st.integers(1, 2**32 - 1), REQUEST)
def test_command_round_trip(request: int, body: t.Request) -> None:
    command = t.Command(request, body)
    assert control.decode_command(control.encode_command(command)) == command


@given(REPLY)
def test_reply_round_trip(reply: t.Reply) -> None:
    assert control.decode_reply(control.encode_reply(reply)) == reply


@given(HEARTBEAT)
def test_target_heartbeat_round_trip(beat: t.TargetHeartbeat) -> None:
    assert status.decode_target_heartbeat(status.encode_target_heartbeat(beat)) == beat


@given(NUMBER)
def test_host_heartbeat_round_trip(time: int) -> None:
    beat = t.HostHeartbeat(time)
    assert status.decode_host_heartbeat(status.encode_host_heartbeat(beat)) == beat


@given(ACK)
def test_ack_round_trip(ack: t.Ack) -> None:
    assert status.decode_ack(status.encode_ack(ack)) == ack


@given(END)
def test_end_round_trip(end: t.End) -> None:
    assert status.decode_end(status.encode_end(end)) == end


@given(st.one_of(INFO, OBJECTS))
def test_table_round_trip(table: t.Table) -> None:
    assert tables.decode_table(tables.encode_table(table)) == table


@pytest.mark.parametrize("release", sorted(TABLES))
def test_shipped_event_tables_are_what_their_fingerprint_says(release: str) -> None:
    table = TABLES[release]
    # The generator writes the bytes by hand, this is protobuf's own encoding of them.
    assert tables.decode_table(tables.encode_table(table)) == table
    assert shipped_table(table.fingerprint) is table


def test_fingerprint_that_is_not_shipped() -> None:
    assert shipped_table(0) is None


def test_request_id_zero_is_refused() -> None:
    with pytest.raises(WireError):
        control.encode_command(t.Command(0, t.Stop()))
    with pytest.raises(WireError):
        control.decode_command(b"\x32\x00")  # field 6, stop, empty; no request id


@pytest.mark.parametrize("payload", [b"", b"\x08\x01", b"\x08\x01\x7a\x00", b"\xff"])
def test_empty_unknown_and_foreign_commands(payload: bytes) -> None:
    with pytest.raises(WireError) as caught:
        control.decode_command(payload)
    assert caught.value.kind == "payload"


@pytest.mark.parametrize(
    "body",
    [
        t.Hello(0, 65),
        t.Hello(-1),
        t.Trigger(0, "x" * 65),
        t.Trigger(0, "line\nbreak"),
        t.Trigger(2**32, ""),
        t.Scenario("x" * 32),
        t.Scenario("ü"),
        t.Start(t.RunConfig(frozenset({1024}))),
        t.Start(t.RunConfig(units=-1)),
        t.Filter(-1, on=True),
    ],
)
def test_requests_outside_their_limits(body: t.Request) -> None:
    with pytest.raises(WireError):
        control.encode_command(t.Command(1, body))


def test_acknowledgements_are_bounded() -> None:
    ranges = tuple(t.Range(2 * i, 1) for i in range(17))
    for ack in (
        t.Ack(1, (t.StreamAck(0, 0, 40, ranges),)),
        t.Ack(1, tuple(t.StreamAck(i, 0, 0) for i in range(9))),
    ):
        with pytest.raises(WireError):
            status.encode_ack(ack)


def test_stream_states_are_bounded() -> None:
    for states in (
        tuple(t.StreamState(i) for i in range(9)),
        (t.StreamState(8),),
        (t.StreamState(0), t.StreamState(0)),
        (t.StreamState(0, recorded=2**63),),
    ):
        with pytest.raises(WireError):
            status.decode_end(status.encode_end(t.End(1, 0, 0, states)))


def test_names_are_printable_ascii_of_31_characters() -> None:
    for name in ("x" * 32, "a\nb", "tab\t", "\x1b[31m", "é"):
        with pytest.raises(WireError):
            tables.encode_table(t.ObjectTable(1, partitions=(t.PartitionEntry(1, name),)))


def test_schedules_are_consecutive_and_full() -> None:
    good = schedule([3, 4])
    for bad in (
        replace(good, major_frame=8),
        replace(good, windows=good.windows[::-1]),
        replace(good, windows=(good.windows[0], replace(good.windows[1], duration=0))),
        replace(good, windows=(replace(good.windows[0], partition=65535), good.windows[1])),
    ):
        with pytest.raises(WireError):
            tables.decode_table(tables.encode_table(t.ObjectTable(1, (bad,))))


def test_event_tables_are_checked() -> None:
    table = TABLES["2.4"]
    first = table.events[0]
    u16 = t.Field("x", t.FieldType.U16)
    for events in (
        (first, first),
        (replace(first, id=0),),
        (replace(first, id=1024),),
        (replace(first, name=""),),
        (replace(first, fields=(u16,)),),
    ):
        with pytest.raises(WireError):
            tables.decode_table(tables.encode_table(replace(table, events=events)))


def test_fields_that_a_newer_target_adds_are_skipped() -> None:
    payload = status.encode_host_heartbeat(t.HostHeartbeat(5)) + b"\xfa\x01\x03new"  # field 31, three bytes
    assert status.decode_host_heartbeat(payload) == t.HostHeartbeat(5)


def test_target_information_that_makes_no_sense() -> None:
    for info in (t.TargetInfo(clock_hz=0), t.TargetInfo(clock_hz=1, streams=0), t.TargetInfo(clock_hz=1, streams=9)):
        with pytest.raises(WireError):
            tables.decode_table(tables.encode_table(info))
