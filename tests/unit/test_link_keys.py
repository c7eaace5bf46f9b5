# SPDX-License-Identifier: Apache-2.0
"""Keys by file and environment: what is one, which goes first, and who may read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vxmon.errors import InputError
from vxmon.link.keys import find_key, parse_key, read_key

DIGITS = "000102030405060708090a0b0c0d0e0fF01112131415161718191A1b1c1d1e1f"


@pytest.fixture(name="file")
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.touch(mode=0o600)
    path.write_text(DIGITS + "\n", encoding="ascii")
    return path


def test_a_key_is_its_hexadecimal_digits(file: Path) -> None:
    key, warning = read_key(str(file))
    assert key == bytes.fromhex(DIGITS)
    assert warning == ""


@pytest.mark.parametrize("length", [32, 128])
def test_shortest_and_longest_key(length: int) -> None:
    assert len(parse_key(b" \n" + b"a" * length + b"\r\n", "x")) == length // 2


@pytest.mark.parametrize(
    "text", [b"", b" ", b"a" * 30, b"a" * 33, b"a" * 130, b"0x" + b"a" * 32, b"g" * 32, b"a" * 16 + b" " + b"a" * 16]
)
def test_what_is_no_key_is_refused_without_being_shown(text: bytes) -> None:
    with pytest.raises(InputError, match="32 to 128 hexadecimal digits") as caught:
        parse_key(text, "the file")
    assert text.decode() not in str(caught.value) or not text.strip()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_file_that_others_can_read_is_warned_of(file: Path, mode: int) -> None:
    file.chmod(mode)
    key, warning = read_key(str(file))
    assert key == bytes.fromhex(DIGITS)
    assert "chmod 600" in warning


def test_a_long_file_is_no_key(file: Path) -> None:
    file.write_text(DIGITS + " " * 2000, encoding="ascii")
    with pytest.raises(InputError):
        read_key(str(file))


@pytest.mark.parametrize("name", ["nothing here", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_key(str(tmp_path) + "/" + name)


def test_the_option_goes_before_the_environment_and_files_before_digits(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("b" * 32, encoding="ascii")
    both = {"VXMON_KEY_FILE": str(other), "VXMON_KEY": "c" * 32}
    assert find_key(str(file), both)[0] == bytes.fromhex(DIGITS)
    assert find_key(None, both)[0] == b"\xbb" * 16
    assert find_key(None, {"VXMON_KEY": "c" * 32})[0] == b"\xcc" * 16
    assert find_key(None, {"VXMON_KEY": "", "VXMON_KEY_FILE": ""}) == (None, "")


def test_digits_of_the_environment_that_are_none_name_the_variable() -> None:
    with pytest.raises(InputError, match="VXMON_KEY"):
        find_key(None, {"VXMON_KEY": "secret"})
