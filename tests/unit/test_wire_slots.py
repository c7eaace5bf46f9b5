# SPDX-License-Identifier: Apache-2.0
"""Records. Expected bytes are packed by hand from SPEC section 2."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.wire.events import TABLES, EventId
from vxmon.wire.slots import Value, decode_record, encode_record, place_fields, slot_words
from vxmon.wire.types import Event, Field, FieldType

EVENTS = {event.id: event for event in TABLES["2.4"].events}
U16, U32, U64, TEXT = FieldType.U16, FieldType.U32, FieldType.U64, FieldType.TEXT


def event(*fields: tuple[str, FieldType]) -> Event:
    return Event(1, "E", "CONTROL", Field("a", U16), tuple(Field(name, kind) for name, kind in fields))


def test_task_switch_both_byte_orders() -> None:
    # id 64 = 0b0001000000, one slot, argument 0x0102: word 0 is 64<<22 | 1<<16 | 0x0102 = 0x10010102.
    values: dict[str, Value] = {"reason": 1, "previous": 0x0203}
    big = encode_record(EVENTS[EventId.TASK_SWITCH], 0x0102, 0x9_1122_3344, values, True)
    assert big.hex(" ", 4) == "10010102 11223344 00010203 00000000"
    little = encode_record(EVENTS[EventId.TASK_SWITCH], 0x0102, 0x9_1122_3344, values, False)
    assert little.hex(" ", 4) == "02010110 44332211 03020100 00000000"


def test_u64_lies_as_a_number_of_the_target() -> None:
    values: dict[str, Value] = {"start": 0x0102030405060708, "frame": 9}
    big = encode_record(EVENTS[EventId.MAJOR_FRAME], 0, 0, values, True)
    assert big[8:].hex(" ", 8) == "0102030405060708 0000000900000000"
    little = encode_record(EVENTS[EventId.MAJOR_FRAME], 0, 0, values, False)
    assert little[8:].hex(" ", 8) == "0807060504030201 0900000000000000"


def test_text_is_padded_and_bytes_have_their_length() -> None:
    text = encode_record(EVENTS[EventId.MARK], 1, 0, {"text": "abcdefghi"}, True)
    assert text[8:] == b"abcdefghi" + bytes(7)
    assert decode_record(EVENTS[EventId.MARK], text, True) == {"text": "abcdefghi"}
    content: dict[str, Value] = {"number": 5, "offset": 0, "length": 3, "content": b"xyz"}
    record = encode_record(EVENTS[EventId.CONTENT], 1, 0, content, False)
    assert record[8:].hex(" ", 4) == "05000000 03000000 78797a00 00000000"
    assert decode_record(EVENTS[EventId.CONTENT], record, False) == content


def test_empty_text_is_recorded() -> None:
    record = encode_record(EVENTS[EventId.MARK], 1, 0, {"text": ""}, True)
    assert len(record) == 16
    assert decode_record(EVENTS[EventId.MARK], record, True) == {"text": ""}


def test_short_record_leaves_fields_out() -> None:
    full = encode_record(EVENTS[EventId.RELEASE], 1, 0, {"release": 1, "deadline": 2, "activation": 3}, True)
    assert decode_record(EVENTS[EventId.RELEASE], full[:24], True) == {"release": 1, "deadline": 2}
    assert decode_record(EVENTS[EventId.RELEASE], full[:8], True) == {}


def test_longer_record_is_read_as_far_as_it_is_known() -> None:
    record = encode_record(EVENTS[EventId.COMPLETE], 1, 0, {"activation": 7}, True) + bytes(8)
    assert decode_record(EVENTS[EventId.COMPLETE], record, True) == {"activation": 7}


def test_negative_result() -> None:
    values: dict[str, Value] = {"partition": 1, "task": 2, "result": -3}
    record = encode_record(EVENTS[EventId.KER_EXIT], 4, 0, values, True)
    assert record[8:].hex(" ", 4) == "00010002 fffffffd"
    assert decode_record(EVENTS[EventId.KER_EXIT], record, True) == values


@pytest.mark.parametrize(
    "fields",
    [
        [("a", U16)],
        [("a", U16), ("b", U32)],
        [("a", U32), ("b", U64)],
        [("a", TEXT), ("b", U32)],
        [(f"f{i}", U64) for i in range(9)],
    ],
)
def test_tables_that_break_a_packing_rule_are_refused(fields: list[tuple[str, FieldType]]) -> None:
    with pytest.raises(WireError) as caught:
        place_fields(event(*fields))
    assert caught.value.kind == "payload"


@pytest.mark.parametrize(
    "values", [{}, {"activation": -1}, {"activation": 1 << 32}, {"activation": "seven"}, {"activation": b"7"}]
)
def test_values_that_do_not_fit_are_refused(values: dict[str, Value]) -> None:
    with pytest.raises(WireError):
        encode_record(EVENTS[EventId.COMPLETE], 1, 0, values, True)


def test_too_long_text_is_refused() -> None:
    with pytest.raises(WireError):
        encode_record(EVENTS[EventId.MARK], 1, 0, {"text": "x" * 65}, True)


def test_slot_words_have_numbers_of_the_target() -> None:
    assert slot_words(bytes.fromhex("0102030405060708"), True).tolist() == [0x01020304, 0x05060708]
    assert slot_words(bytes.fromhex("0102030405060708"), False).tolist() == [0x04030201, 0x08070605]


def values_of(kind: FieldType) -> st.SearchStrategy[int | str]:
    if kind == FieldType.TEXT:
        return st.text(st.characters(min_codepoint=1, max_codepoint=127), max_size=64)
    bits = {FieldType.U16: 16, FieldType.U64: 64, FieldType.X64: 64}.get(kind, 32)
    if kind == FieldType.I32:
        return st.integers(-(1 << 31), (1 << 31) - 1)
    return st.integers(0, (1 << bits) - 1)


@given(st.data(), st.sampled_from(sorted(EVENTS)), st.booleans(), st.integers(0, 65535), st.integers(0, 1 << 63))
def test_round_trip(data: st.DataObject, number: int, big_endian: bool, arg: int, time: int) -> None:
    entry = EVENTS[number]
    values: dict[str, Value] = {}
    for field in entry.fields:
        if field.type == FieldType.BYTES:
            content = data.draw(st.binary(max_size=40))
            values[field.name], values[field.length] = content, len(content)
        else:
            values[field.name] = data.draw(values_of(field.type))
    record = encode_record(entry, arg, time, values, big_endian)
    assert len(record) % 8 == 0
    assert decode_record(entry, record, big_endian) == values
    words = slot_words(record, big_endian).tolist()
    assert words[0] == number << 22 | (len(record) // 8 - 1) << 16 | arg
    assert words[1] == time & 0xFFFFFFFF
