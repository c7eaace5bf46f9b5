# SPDX-License-Identifier: Apache-2.0
"""Messages of the demo's applications: the records against the kernel's books, and content against its pattern.

Objects, sizes, periods and the pattern are those of partitions/*/main.c and module.xml: byte i of message n is n + i,
but for the first four, which are n. Numbers of types and results are those of proto/events.toml.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from dataclasses import dataclass

import pytest

from tests.support.qemu import CHECK_MONITORED
from tests.support.recorded import Recording, record

MSG_SEND, MSG_RECEIVE, CONTENT, OBJECT_CREATE, TASK_SWITCH = 192, 193, 194, 195, 64
OK, TIMED_OUT, FULL, EMPTY, STALE = 0, 6, 7, 8, 9
MESSAGE_QUEUE, BLACKBOARD, BUFFER, SAMPLING_PORT, QUEUING_PORT = range(5)
FRAMES = 100
REASON_ENDED = 2


@dataclass(frozen=True)
class Message:
    event: int
    object: int
    type: int
    result: int
    number: int
    size: int
    depth: int
    partition: int
    task: int


@pytest.fixture(scope="module")
def nominal(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return record(tmp_path_factory.mktemp("messages"), "messages", "scenario=nominal", FRAMES)


@pytest.fixture(scope="module")
def messages(nominal: Recording) -> list[Message]:
    return [
        Message(
            event, number, data[0] >> 16, data[0] & 0xFFFF, data[1], data[2], data[3], data[4] >> 16, data[4] & 0xFFFF
        )
        for event, number, data, _ in nominal.of(MSG_SEND, MSG_RECEIVE)
    ]


@pytest.fixture(scope="module")
def index(nominal: Recording) -> dict[str, int]:
    return {entry["name"]: int(entry["index"]) for entry in nominal.done.books("object")}


def of(messages: list[Message], event: int, number: int, result: int = OK) -> list[Message]:
    return [m for m in messages if (m.event, m.object, m.result) == (event, number, result)]


def test_each_call_is_recorded_as_the_kernel_counted_it(nominal: Recording, messages: list[Message]) -> None:
    seen: dict[int, Counter[str]] = defaultdict(Counter)
    for m in messages:
        seen[m.object][f"{'send' if m.event == MSG_SEND else 'receive'}{m.result}"] += 1
    for entry in nominal.done.books("object"):
        counted = {k: int(v) for k, v in entry.items() if k.startswith(("send", "receive")) and k != "sent"}
        assert seen[int(entry["index"])] == counted, entry["name"]
    assert sum(map(len, seen.values())) > 10


def test_objects_have_the_kinds_and_sizes_of_the_source(nominal: Recording, index: dict[str, int]) -> None:
    created = {number: (data[0] >> 16, data[2], data[3]) for _, number, data, _ in nominal.of(OBJECT_CREATE)}
    expected = {
        "display_lines": (MESSAGE_QUEUE, 40, 8), "maint_orders": (BLACKBOARD, 4, 1), "flight_commands": (BUFFER, 16, 4),
        "nav_position": (SAMPLING_PORT, 32, 1), "dsp_health": (SAMPLING_PORT, 8, 1),
        "io_surfaces": (QUEUING_PORT, 24, 8), "mnt_reports": (QUEUING_PORT, 16, 4),
    }  # fmt: skip
    assert {name: created[index[name]] for name in expected} == expected


def test_numbers_count_up_from_1(messages: list[Message], index: dict[str, int]) -> None:
    for name in ("nav_position", "flt_surfaces", "io_reports", "mnt_health", "display_lines", "flight_commands"):
        numbers = [m.number for m in of(messages, MSG_SEND, index[name])]
        assert numbers == list(range(1, len(numbers) + 1)), name
        assert len(numbers) > FRAMES // 6, name


def test_a_queue_gives_each_message_once_and_in_order(messages: list[Message], index: dict[str, int]) -> None:
    for source, destination in (
        ("flt_surfaces", "io_surfaces"),
        ("display_lines", "display_lines"),
        ("flight_commands", "flight_commands"),
    ):
        sent = [m.number for m in of(messages, MSG_SEND, index[source])]
        received = [m.number for m in of(messages, MSG_RECEIVE, index[destination])]
        assert received == sent[: len(received)], source
        assert len(sent) - len(received) <= 3, source  # what was under way at the end


def test_what_a_short_queue_loses_is_lost_for_a_reason(messages: list[Message], index: dict[str, int]) -> None:
    """IO reports each 10 ms, MAINT reads each 100 ms a queue of 4: of ten, four arrive and six find it full."""
    sent = {m.number for m in of(messages, MSG_SEND, index["io_reports"])}
    received = {m.number for m in of(messages, MSG_RECEIVE, index["mnt_reports"])}
    lost = {m.number for m in of(messages, MSG_SEND, index["mnt_reports"], FULL)}
    assert not received & lost
    assert len(sent - received - lost) <= 4
    assert len(lost) == pytest.approx(len(sent) * 6 / 10, abs=8)
    full = of(messages, MSG_SEND, index["mnt_reports"], FULL)
    assert {m.depth for m in full} == {4}


def test_a_sampling_port_shows_the_last_message_and_whether_it_is_stale(
    nominal: Recording, index: dict[str, int]
) -> None:
    """mnt_health is written each 100 ms and read each 40 ms with a refresh period of 50 ms."""
    written, at, seen = 0, 0, Counter[int]()
    for event, number, data, time in nominal.of(MSG_SEND, MSG_RECEIVE):
        if event == MSG_SEND and number == index["mnt_health"]:
            written, at = data[1], time
        elif event == MSG_RECEIVE and number == index["dsp_health"]:
            result = data[0] & 0xFFFF
            seen[result] += 1
            assert data[1] == written
            # A few microseconds lie between the kernel's reading of the clock and the record.
            if written and abs(time - at - 20_000_000) > 40_000:
                assert result == (STALE if time - at > 20_000_000 else OK)
            assert (result == EMPTY) == (written == 0)
    assert seen[OK] > 5
    assert seen[STALE] > 5


def test_times_out_where_nobody_orders(messages: list[Message], index: dict[str, int]) -> None:
    """maint_orders waits 250 ms, an order comes each 300 ms."""
    got = len(of(messages, MSG_RECEIVE, index["maint_orders"]))
    late = len(of(messages, MSG_RECEIVE, index["maint_orders"], TIMED_OUT))
    assert got == FRAMES * 20 // 300
    assert late in (got - 1, got)


def contents(recording: Recording) -> list[tuple[Message, bytes]]:
    """Each message with the content that follows it."""
    found: list[tuple[Message, bytearray]] = []
    for event, number, data, _ in recording.of(MSG_SEND, MSG_RECEIVE, CONTENT):
        if event != CONTENT:
            message = Message(event, number, data[0] >> 16, data[0] & 0xFFFF, data[1], data[2], data[3], 0, 0)
            found.append((message, bytearray()))
        else:
            message, content = found[-1]
            assert (message.object, message.number, len(content)) == (number, data[0], data[1] >> 16)
            content += struct.pack(f">{len(data) - 2}I", *data[2:])[: data[1] & 0xFFFF]
    return [(message, bytes(content)) for message, content in found]


def test_content_is_what_the_application_wrote(tmp_path_factory: pytest.TempPathFactory) -> None:
    recording = record(
        tmp_path_factory.mktemp("content"), "content", "scenario=nominal", 30, config="payload:2,content:64"
    )
    names = {int(entry["index"]): entry["name"] for entry in recording.done.books("object")}
    checked = Counter[str]()
    for message, content in contents(recording):
        if message.result not in (OK, STALE, FULL):
            assert content == b""
            continue
        assert len(content) == message.size
        if names[message.object] in ("flight_commands", "maint_orders"):
            assert int.from_bytes(content[:4], "big") >= message.number
            continue
        number = int.from_bytes(content[:4], "big")
        assert content[4:] == bytes((number + i) & 0xFF for i in range(4, message.size))
        checked[names[message.object]] += 1
    assert checked["nav_position"] == 30
    assert min(checked.values()) >= 4
    assert len(checked) == 10


def test_a_partition_records_a_task_switch_through_the_recording_call(tmp_path_factory: pytest.TempPathFactory) -> None:
    """tests/qemu/partitions/services says it switched from its process 2 to 3, with reason 2, and four wrong things."""
    recording = record(tmp_path_factory.mktemp("switch"), "switch", "", 300, kernel=CHECK_MONITORED)
    tasks = recording.done.tasks()
    expected = (int(tasks["divider"]["index"]), REASON_ENDED << 16 | int(tasks["sender"]["index"]))
    # The kernel itself never switches between the two: the driver runs in between.
    assert [(task, data[0]) for _, task, data, _ in recording.of(TASK_SWITCH)].count(expected) == 1
    services = recording.done.partitions()["SERVICES"]
    assert (services["user_events"], services["refused"]) == ("5", "4")
    assert "[SERVICES] checks 0076 failures 0000\n" in recording.done.console
