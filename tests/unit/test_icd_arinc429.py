# SPDX-License-Identifier: Apache-2.0
"""ARINC 429 words against worked examples that others have published; each names its source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vxmon.errors import InputError
from vxmon.icd.decoded import DecodedFields, Reason
from vxmon.icd.loading import load_icd
from vxmon.report.icd_values import message_lines


def decode(folder: Path, keys: str, *words: int, order: str = "big") -> DecodedFields:
    """Decode words of one layout, stored in the byte order given."""
    path = folder / "words.toml"
    path.write_text(
        f'icd = 1\nbyte_order = "{order}"\n[[message]]\nname = "m"\nsize = 4\n'
        f'[[message.field]]\nname = "w"\ntype = "arinc429"\nbyte = 0\n{keys}\n'
    )
    payloads = np.array(words, ">u4" if order == "big" else "<u4").view(np.uint8).reshape(-1, 4)
    layout = load_icd([str(path)]).layout_for("m")
    assert layout is not None
    return layout.decode(payloads)


# Source: tests/test_dec_bnr.py and tests/test_enc_bnr.py of arinc429 0.1.6 on PyPI: label, word, value, SSM.
BNR = [
    ("205", 11, 0xE00190A1, 100, 3),
    ("206", 11, 0xA001A461, 105, 1),
    ("321", 15, 0x600C808B, 50, 3),
    ("333", 16, 0x603F80DB, 127, 3),
]


@pytest.mark.parametrize(("label", "lsb", "word", "value", "ssm"), BNR)
@pytest.mark.parametrize("order", ["big", "little"])
def test_binary(tmp_path: Path, label: str, lsb: int, word: int, value: int, ssm: int, order: str) -> None:
    decoded = decode(tmp_path, f'encoding = "bnr"\nlabel = "{label}"\nlsb = {lsb}', word, order=order)
    assert decoded["w"].values.tolist() == [value]
    assert decoded["w.ssm"].raw.tolist() == [ssm]
    assert decoded["w.sdi"].raw.tolist() == [0]
    assert decoded["w"].reason[0] == (Reason.NONE if ssm == 3 else Reason.NO_COMPUTED_DATA)


def test_two_binary_values_in_a_word(tmp_path: Path) -> None:
    # Source: test_enc_bnr_mult in tests/test_enc_bnr.py of arinc429 0.1.6: 127 in bits 26 to 19 and in bits 18 to 11.
    parts = 'parts = [{ name = "a", msb = 26, lsb = 19 }, { name = "b", msb = 18, lsb = 11 }]'
    decoded = decode(tmp_path, f'encoding = "bnr"\nlabel = "333"\n{parts}', 0xE1FDFCDB)
    assert [decoded[name].values.tolist() for name in ("w.a", "w.b")] == [[127], [127]]


def test_decimal(tmp_path: Path) -> None:
    # Source: test_enc_bcd_case1 in tests/test_enc_bcd.py of arinc429 0.1.6: label 205, 78501, SSM 3. Bits 31-30 = 11
    # are minus in a BCD word (ARINC 429 P1, section 2.1.5.1); that package leaves them to its user.
    decoded = decode(tmp_path, 'encoding = "bcd"\nlabel = "205"', 0xFE1404A1)
    assert decoded["w"].values.tolist() == [-78501]
    assert decoded["w"].raw.tolist() == [78501]
    assert decoded["w.sdi"].raw.tolist() == [0]
    assert decoded["w"].reason.tolist() == [Reason.NONE]


def with_parity(word: int) -> int:
    return word if word.bit_count() % 2 else word | 1 << 31


def test_a_frequency_in_decimal_digits(tmp_path: Path) -> None:
    # Source: README.md of github.com/aeroneous/PyARINC429: label 001, 121.5 at a resolution of 0.1 is data 0x1215.
    word = with_parity(0x80 | 0x1215 << 10)
    decoded = decode(tmp_path, 'encoding = "bcd"\nlabel = "001"\nscale = 0.1\nunit = "MHz"', word)
    assert decoded["w"].values.tolist() == [121.5]
    assert message_lines(decoded) == b" w:121.5MHz\n"


def test_a_binary_value_and_a_discrete_beside_it(tmp_path: Path) -> None:
    # Source: README.md of github.com/aeroneous/PyARINC429: pitch 89.956055711 in bits 29 to 13 with a resolution of
    # 0.043945313 and 1 in bits 12 to 11 are data 0x1ffd.
    parts = (
        'parts = [{ name = "pitch", msb = 29, lsb = 13, scale = 0.043945313 },'
        ' { name = "mode", msb = 12, lsb = 11, encoding = "discrete" }]'
    )
    decoded = decode(tmp_path, f'encoding = "bnr"\nlabel = "002"\n{parts}', with_parity(0x40 | 0x1FFD << 10 | 3 << 29))
    assert decoded["w.pitch"].values[0] == pytest.approx(89.956055711, abs=1e-9)
    assert decoded["w.mode"].values.tolist() == [1]


def test_a_published_ground_speed(tmp_path: Path) -> None:
    # Source: docs.rs/arinc429 (0.1.0), example of the crate: label 012, 2000 * 0.125 = 250 knots is word 0xE01F4050.
    decoded = decode(tmp_path, 'encoding = "bnr"\nlabel = "012"\nscale = 0.125\nunit = "kn"', 0xE01F4050)
    assert decoded["w"].values.tolist() == [250.0]
    assert decoded["w"].reason.tolist() == [Reason.NONE]
    assert decoded["w.label"].field.values[int(decoded["w.label"].raw[0])] == "012"


def test_data_fields_of_both_kinds(tmp_path: Path) -> None:
    # Source: aviation.stackexchange.com/questions/29739: data 0x12340 as BCD is 12,340, data 0x7FD1C as BNR is -740.
    assert decode(tmp_path, 'encoding = "bcd"\nparity = false', 0x12340 << 10)["w"].values.tolist() == [12340]
    assert decode(tmp_path, 'encoding = "bnr"\nparity = false', 0x7FD1C << 10)["w"].values.tolist() == [-740]


def test_a_range_gives_the_resolution_of_the_label_tables(tmp_path: Path) -> None:
    # Source: errata to ARINC 429 P1-17 (studylib.net/doc/8225244): label 335, track angle rate, range 32 deg/s,
    # 11 significant bits, resolution 0.015 (rounded). The bits below the sign are 28 to 18.
    decoded = decode(
        tmp_path, 'encoding = "bnr"\nlabel = "335"\nlsb = 18\nrange = 32\nparity = false', 0b11 << 29 | 1 << 17
    )
    assert decoded["w"].values.tolist() == [0.015625]
    # Source: aviation.stackexchange.com/questions/63813: label 102, selected altitude, range 65536 in 16 bits.
    assert decode(tmp_path, 'encoding = "bnr"\nlsb = 13\nrange = 65536\nparity = false', 35000 << 12)[
        "w"
    ].values.tolist() == [35000]


def test_discretes(tmp_path: Path) -> None:
    # Source: tests/test_enc_dsc.py of arinc429 0.1.6: bits 29, 28, 27, 26, 20 and 11 set one after the other.
    parts = ", ".join(f'{{ name = "b{bit}", msb = {bit}, lsb = {bit} }}' for bit in range(11, 30))
    decoded = decode(tmp_path, f'encoding = "discrete"\nlabel = "205"\nparts = [{parts}]', 0x7E0804A1)
    assert {bit for bit in range(11, 30) if decoded[f"w.b{bit}"].values[0]} == {29, 28, 27, 26, 20, 11}
    # SSM 11 of a discrete word is a failure warning.
    assert set(decoded["w.b11"].reason.tolist()) == {Reason.FAILURE}


def test_discretes_of_several_bits(tmp_path: Path) -> None:
    # Source: test_enc_dsc_multiple_bnu of arinc429 0.1.6: 1 in bit 29, 3 from bit 12 on, 1 from bit 15 on.
    parts = (
        'parts = [{ name = "a", msb = 29, lsb = 29 }, { name = "b", msb = 13, lsb = 12,'
        ' values = { 3 = "BOTH" } }, { name = "c", msb = 15, lsb = 15 }]'
    )
    decoded = decode(tmp_path, f'encoding = "discrete"\nlabel = "205"\n{parts}', 0x700058A1)
    assert [decoded[f"w.{name}"].values.tolist() for name in "abc"] == [[1], [3], [1]]
    assert message_lines(decoded) == b" w.a:1!failure_warning w.b:BOTH!failure_warning w.c:1!failure_warning\n"


# ARINC 429 P1, section 2.1.5: bits 31-30 for each kind of data.
SSM = {
    "bnr": (Reason.FAILURE, Reason.NO_COMPUTED_DATA, Reason.FUNCTIONAL_TEST, Reason.NONE),
    "bcd": (Reason.NONE, Reason.NO_COMPUTED_DATA, Reason.FUNCTIONAL_TEST, Reason.NONE),
    "discrete": (Reason.NONE, Reason.NO_COMPUTED_DATA, Reason.FUNCTIONAL_TEST, Reason.FAILURE),
}


@pytest.mark.parametrize("encoding", sorted(SSM))
def test_sign_status_matrix_by_kind(tmp_path: Path, encoding: str) -> None:
    words = [with_parity(ssm << 29 | 1 << 10) for ssm in range(4)]
    assert tuple(decode(tmp_path, f'encoding = "{encoding}"', *words)["w"].reason.tolist()) == SSM[encoding]


def test_parity_comes_before_label_and_label_before_status(tmp_path: Path) -> None:
    good = 0xE00190A1
    decoded = decode(tmp_path, 'encoding = "bnr"\nlabel = "205"', good, good ^ 1 << 31, good ^ 3, good ^ 1 << 29)
    reasons = decoded["w"].reason.tolist()
    assert reasons == [Reason.NONE, Reason.PARITY, Reason.LABEL, Reason.PARITY]


def test_a_label_in_plain_order(tmp_path: Path) -> None:
    keys = 'encoding = "bnr"\nlabel = "205"\nparity = false'
    word = 3 << 29 | 0o205
    assert decode(tmp_path, f'{keys}\nlabel_order = "plain"', word)["w"].reason.tolist() == [Reason.NONE]
    assert decode(tmp_path, keys, word)["w"].reason.tolist() == [Reason.LABEL]


def test_data_in_the_bits_of_the_sdi(tmp_path: Path) -> None:
    decoded = decode(tmp_path, 'encoding = "bnr"\nlsb = 9\nsdi = false\nparity = false', 3 << 29 | 0b101 << 8)
    assert decoded["w"].values.tolist() == [5]
    assert "w.sdi" not in decoded.columns


def test_an_array_of_words(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'icd = 1\n[[message]]\nname = "m"\nsize = 8\nfield = [\n'
        '{ name = "w", type = "arinc429", byte = 0, count = 2, encoding = "bnr", label = "205" } ]\n'
    )
    layout = load_icd([str(path)]).layout_for("m")
    assert layout is not None
    decoded = layout.decode(np.array([[0xE00190A1, 0xE00190A0]], ">u4").view(np.uint8))
    assert [decoded[f"w[{i}]"].reason[0] for i in (0, 1)] == [Reason.NONE, Reason.PARITY]
    assert [decoded[f"w[{i}].label"].raw[0] for i in (0, 1)] == [0xA1, 0xA0]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('encoding = "bnr"\nlabel = 205', "label is 205; it must be three octal digits"),
        ('encoding = "bnr"\nlabel = "400"', "label is '400'; it must be three octal digits"),
        ('encoding = "bnr"\nlabel = "028"', "label is '028'"),
        ('encoding = "hex"', "encoding is 'hex'; it must be one of bnr, unsigned, bcd, discrete"),
        ('encoding = "bnr"\nmsb = 30', "msb is 30; it must be a whole number from 9 to 29"),
        ('encoding = "bnr"\nmsb = 12\nlsb = 13', "lsb is 13, above msb = 12"),
        ('encoding = "bnr"\nlsb = 9', "give sdi = false"),
        ('encoding = "bcd"\nrange = 3', "range is for binary data"),
        ('encoding = "bnr"\nrange = 0', "range is 0; it must be above 0"),
        ('encoding = "bnr"\nrange = 3\nscale = 2', "range is for binary data"),
        ('encoding = "bnr"\nparts = [{ name = "x", byte = 3 }]', "part has no key 'byte'"),
        ("", "needs the key encoding"),
        ('encoding = "bnr"\nbit = 4', "off a byte"),
    ],
)
def test_what_is_wrong_with_a_word(tmp_path: Path, keys: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        decode(tmp_path, keys, 0)
    assert str(tmp_path / "words.toml:") in str(caught.value)
