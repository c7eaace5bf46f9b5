# SPDX-License-Identifier: Apache-2.0
"""What decoding says of values: usable, invalid, out of range, absent, not recorded. Expected values by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vxmon.config.place import Place
from vxmon.errors import InputError
from vxmon.icd.conditions import parse_condition
from vxmon.icd.decoded import DecodedFields, Fit, Reason, Status
from vxmon.icd.layout import Layout
from vxmon.icd.model import Field, FieldType, Message
from vxmon.report.icd_values import message_lines

U = FieldType.UNSIGNED


def decode(
    fields: list[Field], *payloads: str, minimum: int | None = None, size: int = 0, **more: Any
) -> DecodedFields:
    data = [bytes.fromhex(payload) for payload in payloads]
    size = size or max(map(len, data))
    width = max(map(len, data))
    array = np.frombuffer(b"".join(d.ljust(width, b"\xee") for d in data), np.uint8).reshape(len(data), width)
    message = Message("m", size, tuple(fields), size if minimum is None else minimum)
    more.setdefault("lengths", [len(d) for d in data])
    return Layout(message).decode(array, **more)


def test_scaled_values_are_number_times_scale_plus_offset() -> None:
    field = Field("t", FieldType.SIGNED, 0, 16, scale=0.1, offset=-40)
    column = decode([field], "0000", "0190", "fff6")["t"]
    assert column.values.tolist() == [-40.0, 0.0, -10 * 0.1 - 40]
    assert column.raw.tolist() == [0, 400, -10]


def test_whole_scales_keep_whole_numbers() -> None:
    column = decode([Field("n", U, 0, 32, scale=1000, offset=7)], "ffffffff")["n"]
    assert column.values.tolist() == [4294967295007]
    assert column.values.dtype == np.int64


def test_numbers_of_64_bits_are_exact_without_a_scale() -> None:
    assert decode([Field("n", U, 0, 64)], "ffffffffffffffff")["n"].values.tolist() == [2**64 - 1]
    assert decode([Field("n", FieldType.SIGNED, 0, 64)], "8000000000000000")["n"].values.tolist() == [-(2**63)]


def test_whole_scales_that_do_not_fit_become_floats() -> None:
    column = decode([Field("n", U, 0, 64, scale=10)], "ffffffffffffffff")["n"]
    assert column.values.tolist() == [(2.0**64 - 1) * 10]


def test_range_includes_its_ends() -> None:
    field = Field("n", FieldType.SIGNED, 0, 8, minimum=-2, maximum=3)
    column = decode([field], "fd", "fe", "03", "04")["n"]
    assert column.reason.tolist() == [Reason.BELOW, Reason.NONE, Reason.NONE, Reason.ABOVE]
    assert column.status.tolist() == [Status.OUT_OF_RANGE, Status.VALID, Status.VALID, Status.OUT_OF_RANGE]
    assert column.values.tolist() == [-3, -2, 3, 4]


def test_numbers_without_a_name_are_out_of_range_only_for_enumerations() -> None:
    names = {0: "OFF", 1: "ON"}
    fields = [Field("e", FieldType.ENUM, 0, 8, values=names), Field("u", U, 0, 8, values=names, overlay=True)]
    decoded = decode(fields, "01", "02")
    assert decoded["e"].reason.tolist() == [Reason.NONE, Reason.NOT_NAMED]
    assert decoded["u"].reason.tolist() == [Reason.NONE, Reason.NONE]


def test_enumerations_with_negative_numbers_are_signed() -> None:
    field = Field("e", FieldType.ENUM, 0, 8, values={-1: "ERROR", 0: "OK"})
    assert decode([field], "ff")["e"].values.tolist() == [-1]


def test_a_bool_is_0_or_1() -> None:
    column = decode([Field("b", FieldType.BOOL, 0, 8)], "00", "01", "02")["b"]
    assert column.values.tolist() == [False, True, True]
    assert column.status.tolist() == [Status.VALID, Status.VALID, Status.OUT_OF_RANGE]


def test_what_is_not_a_number_is_invalid() -> None:
    column = decode([Field("f", FieldType.FLOAT32, 0, 32)], "7fc00000", "3f800000", "7f800000")["f"]
    assert column.reason.tolist() == [Reason.NOT_A_NUMBER, Reason.NONE, Reason.NONE]
    assert column.values[1:].tolist() == [1.0, float("inf")]
    assert column.raw.tolist() == [0x7FC00000, 0x3F800000, 0x7F800000]


def test_decimal_digits_above_9_are_invalid() -> None:
    column = decode([Field("d", FieldType.BCD, 0, 16, scale=0.01)], "1234", "12a4")["d"]
    assert column.values[0] == pytest.approx(12.34)
    assert column.reason.tolist() == [Reason.NONE, Reason.NOT_DIGITS]


def test_text_ends_at_a_zero_byte() -> None:
    column = decode([Field("s", FieldType.TEXT, 8, 40)], "ff4142004344", "ff4142434445")["s"]
    assert column.values.tolist() == [b"AB", b"ABCDE"]


def test_a_validity_condition_marks_and_keeps_the_value() -> None:
    mode = Field("mode", FieldType.ENUM, 0, 8, values={0: "OFF", 1: "ON"})
    value = Field("v", U, 8, 8, valid=parse_condition("mode == ON"), maximum=100)
    column = decode([mode, value], "0007", "0107", "00ff", "01ff")["v"]
    assert column.values.tolist() == [7, 7, 255, 255]
    assert column.reason.tolist() == [Reason.CONDITION, Reason.NONE, Reason.CONDITION, Reason.ABOVE]


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("a == 2", True), ("a != 2", False), ("a < 3 and b > 4", True), ("a > 2 or b == 5", True),
        ("not a == 2", False), ("not (a == 1 or b == 1)", True), ("a in (1, 2)", True), ("a in (1, 3)", False),
        ("c == -1", True), ("d == 0.5", True), ("d >= 0x1", False), ("a and b", True), ("z or a", True), ("z", False),
        ("e == 'X Y'", True), ("e != Z", True), ("e == Z", False), ("s == 'hi'", True), ("s == 'ho'", False),
        ("a == 1 or a == 2 and b == 9", False),
        ("a < 18446744073709551615", True), ("d > -1e300", True), ("a == -1", False),
    ],
)  # fmt: skip
def test_conditions(text: str, truth: bool) -> None:
    fields = [
        Field("a", U, 0, 8), Field("b", U, 8, 8), Field("c", FieldType.SIGNED, 16, 8),
        Field("d", U, 24, 8, scale=0.25), Field("e", U, 32, 8, values={1: "X Y", 2: "Z"}), Field("z", U, 40, 8),
        Field("s", FieldType.TEXT, 48, 16), Field("x", U, 64, 8, valid=parse_condition(text)),
    ]  # fmt: skip
    column = decode(fields, "0205ff0201006869" + "00")["x"]
    assert bool(column.reason[0] == Reason.NONE) is truth


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a ==",
        "== 1",
        "a = 1",
        "a == 1 b",
        "(a == 1",
        "a in 1",
        "a in ()",
        "and",
        "a == $",
        "(" * 50 + "a",
        "a and",
        "a == 18446744073709551616",
        "a == 1e400",
        "a == -0x10000000000000000",
        "a == " + "9" * 900,
    ],
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(ValueError, match=r"no condition|nested"):
        parse_condition(text)


@pytest.mark.parametrize(
    ("text", "words"), [("b == 1", "b, which is no field"), ("a == ON", "with 'ON'"), ("e == Q", "among X")]
)
def test_conditions_name_what_is_there(text: str, words: str) -> None:
    fields = (
        Field("a", U, 0, 8, place=Place("f", 3), valid=parse_condition(text)),
        Field("e", U, 8, 8, values={1: "X"}),
    )
    with pytest.raises(InputError, match=words) as caught:
        Layout(Message("m", 2, fields, 2))
    assert str(caught.value).startswith("f:3: ")


def test_messages_of_another_size_are_told_and_nothing_of_them_is_decoded() -> None:
    decoded = decode([Field("a", U, 0, 8)], "01ff", "02", "03ffff", size=2)
    assert decoded.fit.tolist() == [Fit.RIGHT, Fit.SHORTER, Fit.LONGER]
    assert decoded["a"].status.tolist() == [Status.VALID, Status.WRONG_SIZE, Status.WRONG_SIZE]
    assert decoded["a"].values.tolist() == [1, 0, 0]
    assert message_lines(decoded) == b" a:1\n shorter:1 raw:02\n longer:3 raw:03ffff\n"


def test_an_end_that_may_be_left_out() -> None:
    fields = [Field("a", U, 0, 8), Field("b", U, 8, 16)]
    decoded = decode(fields, "01", "010203", "0102", size=3, minimum=1)
    assert decoded.fit.tolist() == [Fit.RIGHT] * 3
    assert decoded["b"].status.tolist() == [Status.ABSENT, Status.VALID, Status.ABSENT]
    assert message_lines(decoded) == b" a:1\n a:1 b:515\n a:1\n"


def test_a_recording_that_was_cut_is_not_a_short_message() -> None:
    fields = [Field("a", U, 0, 8), Field("b", U, 8, 16)]
    decoded = decode(fields, "010203", "0102", size=3, sizes=[3, 3])
    assert decoded.fit.tolist() == [Fit.RIGHT, Fit.RIGHT]
    assert decoded["b"].status.tolist() == [Status.VALID, Status.NOT_RECORDED]
    assert decoded["b"].values.tolist() == [0x0203, 0]
    assert message_lines(decoded) == b" a:1 b:515\n a:1 b:not_recorded\n"


def test_bytes_behind_a_message_do_not_matter() -> None:
    payloads = np.array([[1, 2, 0xEE, 0xEE]], np.uint8)
    layout = Layout(Message("m", 2, (Field("a", U, 0, 16),), 2))
    assert layout.decode(payloads, [2])["a"].values.tolist() == [0x0102]


def test_multiplexed_fields_are_there_only_when_selected() -> None:
    fields = [
        Field("mux", U, 0, 8),
        Field("a", U, 8, 8, present=parse_condition("mux == 0")),
        Field("sub", U, 8, 8, present=parse_condition("mux == 1")),
        Field("c", U, 16, 8, present=parse_condition("sub == 5")),
    ]
    decoded = decode(fields, "000500", "010507", "010607")
    assert decoded["a"].status.tolist() == [Status.VALID, Status.ABSENT, Status.ABSENT]
    # In the first message sub is not there, though its bits are those of 5.
    assert decoded["c"].status.tolist() == [Status.ABSENT, Status.VALID, Status.ABSENT]


@pytest.mark.parametrize("count", [2, 500])
def test_fields_that_select_each_other_are_refused(count: int) -> None:
    names = [f"f{n}" for n in range(count)]
    fields = [Field(n, U, 0, 8, present=parse_condition(m)) for n, m in zip(names, names[1:] + names[:1], strict=True)]
    with pytest.raises(InputError, match="selected by itself or by more than 64 others"):
        decode(fields, "01")


def test_padding_is_no_data() -> None:
    decoded = decode([Field("a", U, 0, 8), Field("pad", FieldType.PADDING, 8, 8)], "01ff")
    assert list(decoded.columns) == ["a"]
    assert message_lines(decoded) == b" a:1\n"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([Field("a", U, 0, 8), Field("a", U, 8, 8)], "a was defined before"),
        ([Field("a", U, 12, 8)], "ends in byte 3 of 2"),
        ([Field("a", FieldType.TEXT, 4, 8)], "not whole bytes"),
        ([Field("a", U, 0, 0)], "ends in byte"),
        ([Field("a", FieldType.FLOAT16, 0, 15)], "of type float16 has 15 bits"),
    ],
)
def test_layouts_that_cannot_be(fields: list[Field], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Layout(Message("m", 2, tuple(fields), 2))


def test_no_messages() -> None:
    layout = Layout(Message("m", 4, (Field("a", U, 3, 9), Field("s", FieldType.TEXT, 16, 16)), 4))
    decoded = layout.decode(np.zeros((0, 4), np.uint8))
    assert len(decoded) == 0
    assert message_lines(decoded) == b""


@pytest.mark.parametrize(("lengths", "sizes"), [([5], None), ([-1], None), ([1, 2], None), ([2], [1]), (None, [3])])
def test_arguments_that_do_not_fit_together(lengths: list[int] | None, sizes: list[int] | None) -> None:
    layout = Layout(Message("m", 4, (Field("a", U, 0, 8),), 4))
    with pytest.raises(ValueError, match="length"):
        layout.decode(np.zeros((1, 4), np.uint8), lengths, sizes)


@pytest.mark.parametrize(
    ("field", "payload", "text"),
    [
        (Field("a", FieldType.SIGNED, 0, 16), "8000", b" a:-32768"),
        (Field("a", FieldType.SIGNED, 0, 64), "8000000000000000", b" a:-9223372036854775808"),
        (Field("a", U, 0, 64), "ffffffffffffffff", b" a:18446744073709551615"),
        (Field("a", U, 0, 32, display="hex"), "0000c0de", b" a:0x0000c0de"),
        (Field("a", U, 0, 8, display="hex"), "0f", b" a:0x000f"),
        (Field("a", U, 0, 8, display="octal"), "83", b" a:203"),
        (Field("a", U, 0, 8, scale=0.1, unit="V"), "03", b" a:0.3V"),
        (Field("a", U, 0, 16, scale=180 / 2**16, unit="deg"), "0001", b" a:0.0027deg"),
        (Field("a", FieldType.SIGNED, 0, 16, scale=0.00025), "fc18", b" a:-0.25000"),
        (Field("a", FieldType.SIGNED, 0, 16, scale=0.1, offset=0.04), "0000", b" a:0.04"),
        (Field("a", FieldType.SIGNED, 0, 16, scale=0.5, offset=-0.5), "0001", b" a:0.0"),
        (Field("a", U, 0, 64, scale=0.5), "ffffffffffffffff", b" a:9.223372036854776e+18"),
        (Field("a", U, 0, 16, scale=1e-12), "0003", b" a:3e-12"),
        (Field("a", U, 0, 16, scale=2.0), "0003", b" a:6.0"),
        (Field("a", FieldType.FLOAT32, 0, 32), "3dcccccd", b" a:0.1"),
        (Field("a", FieldType.FLOAT64, 0, 64), "3fb999999999999a", b" a:0.1"),
        (Field("a", U, 0, 8, unit="km per h"), "03", b" a:3km_per_h"),
        (Field("a", FieldType.ENUM, 0, 8, values={3: "ON"}), "03", b" a:ON"),
        (Field("a", FieldType.ENUM, 0, 8, values={3: "ON"}), "04", b" a:4!not_in_enumeration"),
        (Field("a", FieldType.BOOL, 0, 8), "01", b" a:true"),
        (Field("a", FieldType.TEXT, 0, 32), "41 1b 0a 42".replace(" ", ""), b' a:"A..B"'),
        (Field("a", FieldType.BYTES, 0, 24), "00ff1b", b" a:00ff1b"),
        (Field("a", U, 0, 8, maximum=2), "03", b" a:3!above_range"),
        (Field("a", U, 0, 8, auxiliary=True), "03", b""),
    ],
)
def test_text_of_values(field: Field, payload: str, text: bytes) -> None:
    assert message_lines(decode([field], payload)) == text + b"\n"
