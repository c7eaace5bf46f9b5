# SPDX-License-Identifier: Apache-2.0
"""ICD files in TOML and CSV: what they mean, and the line, key and cure of everything that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vxmon.config.tomlfile import read_toml
from vxmon.errors import InputError
from vxmon.icd.conditions import Compare
from vxmon.icd.csvicd import read_csv_icd
from vxmon.icd.model import Field, FieldType, Message
from vxmon.icd.tomlicd import read_toml_icd

TOML = """icd = 1
name = "demo"
byte_order = "little"

[enum.mode]
0 = "OFF"
0x1 = "ON"

[[message]]
name = "state"
size = 16
minimum_size = 8
description = "what is known"

  [[message.field]]
  name = "counter"
  type = "unsigned"
  byte = 0
  bytes = 4

  [[message.field]]
  name = "alt"
  type = "signed"
  byte = 4
  bit = 4
  length = 12
  byte_order = "big"
  scale = 0.5
  offset = -10
  unit = "ft"
  min = -100
  max = 1000.5
  valid = "mode == ON"
  description = "above the sea"

  [[message.field]]
  name = "mode"
  type = "enum"
  values = "mode"
  bit = 48
  length = 2

[[message]]
name = "inline"
size = 12
byte_order = "big"
field = [
  { name = "v", type = "float32", byte = 0, count = 2, stride = 48 },
  { name = "s", type = "text", byte = 10, bytes = 2 },
]

[[bind]]
port = "NAV_*"
message = "state"

[[bind]]
object = "board"
partition = "FLT"
message = "inline"
"""

CSV = """# a comment
message,size,minimum_size,message_description,name,type,byte,bit,length,byte_order,scale,offset,unit,min,max,values,valid,description
state,16,8,what is known,counter,unsigned,0,,32,little,,,,,,,,
state,,,,alt,signed,4,4,12,big,0.5,-10,ft,-100,1000.5,,mode == ON,above the sea

state,,,,mode,enum,,48,2,little,,,,,,0=OFF;0x1=ON,,
inline,12,,,v[0],float32,0,,,,,,,,,,,
inline,,,,v[1],float32,6,,,,,,,,,,,
inline,12,,,s,text,10,,16,,,,,,,,,
"""


def without_places(messages: tuple[Message, ...]) -> list[object]:
    return [
        (m.name, m.size, m.minimum_size, m.description, [plain(f) for f in m.fields]) for m in messages
    ]  # fmt: skip


def plain(field: Field) -> object:
    return tuple(getattr(field, name) for name in Field.__slots__ if name != "place")


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(TOML)
    document = read_toml_icd(str(path))
    state, inline = document.messages
    counter, alt, mode = state.fields
    assert (state.name, state.size, state.minimum_size, state.description) == ("state", 16, 8, "what is known")
    assert (counter.position, counter.length, counter.order) == (0, 32, "little")
    assert (alt.position, alt.length, alt.order, alt.scale, alt.offset) == (36, 12, "big", 0.5, -10)
    assert (alt.unit, alt.minimum, alt.maximum, alt.description) == ("ft", -100, 1000.5, "above the sea")
    assert alt.valid == Compare("mode", "==", ("ON",))
    assert (mode.type, mode.position, mode.values) == (FieldType.ENUM, 48, {0: "OFF", 1: "ON"})
    assert [(f.name, f.position, f.order) for f in inline.fields] == [
        ("v[0]", 0, "big"),
        ("v[1]", 48, "big"),
        ("s", 80, "big"),
    ]
    assert [str(m.place) for m in document.messages] == [f"{path}:9", f"{path}:43"]
    assert [f.place.line for m in document.messages for f in m.fields] == [15, 21, 36, 48, 48, 49]
    assert [(b.pattern, b.port, b.partition, b.layout, b.place.line) for b in document.bindings] == [
        ("NAV_*", True, None, "state", 52), ("board", False, "FLT", "inline", 56),
    ]  # fmt: skip


def test_csv_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "a.toml").write_text(TOML)
    messages = read_csv_icd(str(tmp_path / "a.csv"))
    assert without_places(messages) == without_places(read_toml_icd(str(tmp_path / "a.toml")).messages)
    assert [f.place.line for m in messages for f in m.fields] == [3, 4, 6, 7, 8, 9]


def test_csv_of_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'\xef\xbb\xbfMessage,Size,Name,Type,Byte,Length,Description\r\n"m",4,"a",unsigned,0x2,8,"x, ""y"""\r\n'
    )
    (message,) = read_csv_icd(str(path))
    assert (message.fields[0].position, message.fields[0].description) == (16, 'x, "y"')


def test_csv_of_arinc_429_words(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("message,size,name,type,byte,encoding,label,range,lsb,parity\nm,4,w,arinc429,0,bnr,012,128,13,no\n")
    (message,) = read_csv_icd(str(path))
    word = message.fields[0].word
    assert word is not None
    assert (word.label, word.parity, message.fields[0].scale) == (0o12, False, 128 / 2**16)


HEAD = 'icd = 1\n[[message]]\nname = "m"\nsize = 4\n[[message.field]]\n'
GOOD = 'name = "a"\ntype = "unsigned"\nbyte = 0\nlength = 8\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 0, "icd file needs the key icd; write icd = 1 above all else"),
        ("icd = 2\n", 1, "icd file.icd is 2; it must be 1, the version"),
        ('icd = 1\nmesage = "x"\n', 2, "has no key 'mesage'; keys are bind, byte_order, description"),
        ('icd = 1\nbyte_order = "middle"\n', 2, "is 'middle'; it must be one of big, little"),
        ("icd = 1\nenum = 3\n", 2, "tables such as"),
        ('icd = 1\n[enum.e]\nx = "A"\n', 3, "enum.e.x is no number"),
        ('icd = 1\n[enum.e]\n1 = "A"\n0x1 = "B"\n', 4, "gives 1 a second name"),
        ("icd = 1\n[enum.e]\n1 = 2\n", 3, "is 2; it must be text"),
        ('icd = 1\n[[message]]\nname = "m"\n', 2, "message needs the key size"),
        ('icd = 1\n[[message]]\nname = "m"\nsize = 70000\n', 4, "size is 70000; it must be a whole number from 1 to"),
        ('icd = 1\n[[message]]\nname = "m"\nsize = 4\nminimum_size = 5\n', 5, "from 0 to 4"),
        ('icd = 1\n[[message]]\nname = "m"\nsize = 4\nsize = 5\n', 0, "no TOML"),
        ('icd = 1\n' + '[[message]]\nname = "m"\nsize = 4\n' * 2, 6, "message m was defined before, at"),
        ("icd = 1\nmessage = 3\n", 2, "is 3; it must be an array of tables"),
        (HEAD + 'name = "a"\ntype = "uint"\nbyte = 0\n', 7, "is 'uint'; it must be one of unsigned, signed, bcd"),
        (HEAD + 'type = "unsigned"\nbyte = 0\n', 5, "field needs the key name"),
        (HEAD + 'name = "a b"\ntype = "unsigned"\nbyte = 0\nlength = 8\n', 6, "a name of letters, digits"),
        (HEAD + 'name = "and"\ntype = "unsigned"\nbyte = 0\nlength = 8\n', 6, "none of and, or, not, in"),
        (HEAD + 'name = "a"\ntype = "unsigned"\nlength = 8\n', 5, "field needs the key byte"),
        (HEAD + 'name = "a"\ntype = "unsigned"\nbyte = 0\n', 5, "field needs the key length"),
        (HEAD + GOOD + "bytes = 1\n", 10, "say the same thing; give one of them"),
        (HEAD + GOOD + "lenght = 1\n", 10, "has no key 'lenght'; keys are bit, byte"),
        (HEAD + GOOD + 'label = "203"\n', 10, "has no key 'label'"),
        (HEAD + GOOD + "scale = 0\n", 10, "makes every value the same"),
        (HEAD + GOOD + "scale = nan\n", 10, "is nan; it must be a finite number"),
        (HEAD + GOOD + 'scale = "1"\n', 10, "is '1'; it must be a finite number"),
        (HEAD + GOOD + "scale = true\n", 10, "is True; it must be a finite number"),
        (HEAD + GOOD + "min = 3\nmax = 2\n", 11, "is 2, less than min = 3"),
        (HEAD + GOOD + 'values = "mode"\n', 10, "the name of an enumeration of this file: (none)"),
        (HEAD + GOOD + "values = 7\n", 10, "is 7; it must be a table of number = name"),
        (HEAD + GOOD + 'values = { 300000000000000000000 = "A" }\n', 10, "is no number"),
        (HEAD + GOOD + 'valid = "a =="\n', 10, "is no condition: 'the end' stands where a value should"),
        (HEAD + GOOD + "count = 0\n", 10, "from 1 to 4,096"),
        (HEAD + GOOD + "count = 5000\n", 10, "from 1 to 4,096"),
        (HEAD + GOOD + "count = 2\nstride = 4\n", 11, "from 8 to 524,288"),
        (HEAD + GOOD + "stride = 8\n", 10, "has no meaning without count"),
        (HEAD + GOOD + "overlay = 1\n", 10, "is 1; it must be true or false"),
        (HEAD + GOOD + 'display = "binary"\n', 10, "one of decimal, hex, octal"),
        (HEAD + GOOD + 'unit = "a\\nb"\n', 10, "text on one line"),
        (HEAD + 'name = "a"\ntype = "float32"\nbyte = 0\nlength = 16\n', 9, "is 16; type float32 has 32 bits"),
        (HEAD + 'name = "a"\ntype = "text"\nbyte = 0\nlength = 12\n', 9, "type text has whole bytes"),
        (HEAD + 'name = "a"\ntype = "text"\nbit = 3\nlength = 8\n', 8, "puts a field of type text off a byte"),
        (HEAD + 'name = "a"\ntype = "text"\nbyte = 0\nlength = 8\nscale = 2\n', 10, "no meaning for a field"),
        (HEAD + 'name = "a"\ntype = "enum"\nbyte = 0\nlength = 8\n', 5, "field needs the key values"),
        (HEAD + 'name = "a"\ntype = "enum"\nbyte = 0\nlength = 8\nvalues = {}\n', 10, "is empty"),
        (HEAD + 'name = "a"\ntype = "unsigned"\nbyte = 0\nlength = 65\n', 9, "from 1 to 64"),
        ('icd = 1\n[[bind]]\nmessage = "m"\n', 2, "bind needs either port or object"),
        ('icd = 1\n[[bind]]\nport = "p"\nobject = "o"\n', 2, "bind needs either port or object"),
        ('icd = 1\n[[bind]]\nport = "p"\nmessage = "m"\n', 4, "is 'm'; it must be the name of a message of this file"),
        ("icd = 1\n[[bind\n", 0, "no TOML"),
        ("icd = " + "9" * 5000 + "\n", 0, "no TOML"),
        ("a" + ".a" * 20 + " = 1\n", 1, "a key has more than 16 parts"),
        ("a = " + "[" * 40 + "\n", 1, "nested more than 16 times"),
        ("a = " + "{a=" * 40 + "\n", 1, "nested more than 16 times"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_toml(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_toml_icd(str(path))
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert "\n" not in str(caught.value)


CSV_HEAD = "message,size,name,type,byte,length\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 0, "an empty file"),
        ("message,size,name,type,bite\n", 1, "no column 'bite'; columns are bit, byte"),
        ("message,size,name\n", 1, "the column type must be there once"),
        ("message,size,name,type,unit,unit\n", 1, "a column is there twice"),
        (CSV_HEAD + "m,4,a,unsigned,0,8,9\n", 2, "7 cells under 6 columns"),
        (CSV_HEAD + ",4,a,unsigned,0,8\n", 2, "the column message is empty"),
        (CSV_HEAD + "m,4,a,uint,0,8\n", 2, "field.type is 'uint'; it must be one of"),
        (CSV_HEAD + "m,4,a,unsigned,zero,8\n", 2, "field.byte is 'zero'; it must be a whole number"),
        (CSV_HEAD + "m,,a,unsigned,0,8\n", 2, "message needs the key size"),
        (CSV_HEAD + "m,4,a,unsigned,0,8\n\nm,5,b,unsigned,0,8\n", 4, "size is '5', in line 2 it was another"),
        (CSV_HEAD + 'm,4,"a,unsigned,0,8\n', 2, "no CSV"),
        (CSV_HEAD + "m,4,a,unsigned,0," + "8" * 20000 + "\n", 2, "a cell has more than"),
    ],
)
def test_what_is_wrong_with_csv(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_csv_icd(str(path))
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")


@pytest.mark.parametrize("data", [b"icd = 1\n# \xff\n", b"a" * ((1 << 20) + 1)])
def test_what_is_no_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"bad.toml:2: byte 10 is no text|at most"):
        read_toml_icd(str(path))


def test_lines_of_keys_in_every_syntax(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'a = 1 # x = [\n"b.c" = """\n[no]\n"""\nd.e = [\n  1.5, # one\n  2026-11-30 07:32:00,\n'
        '  { f = "}", g = [[1],\n  [2]] },\n]\n'
        "[t.'u']\nv = '''\n'''\nw = false\n[[x]]\n[[x.y]]\nz = -inf\n[[x.y]]\nz = 0x1\n[[x]]\nq = 1\n"
    )
    lines = read_toml(str(path)).lines
    assert lines == {
        ("a",): 1, ("b.c",): 2, ("d", "e"): 5, ("d", "e", 2): 8,
        ("d", "e", 2, "f"): 8, ("d", "e", 2, "g"): 8, ("d", "e", 2, "g", 0): 8, ("d", "e", 2, "g", 1): 9,
        ("t", "u"): 11, ("t", "u", "v"): 12, ("t", "u", "w"): 14, ("x", 0): 15, ("x", 0, "y", 0): 16,
        ("x", 0, "y", 0, "z"): 17, ("x", 0, "y", 1): 18, ("x", 0, "y", 1, "z"): 19, ("x", 1): 20, ("x", 1, "q"): 21,
    }  # fmt: skip


def test_a_long_file_is_read_in_one_go(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    count = 4000
    fields = "".join(f'{{ name = "f{n}", type = "unsigned", byte = {n}, length = 8 }},\n' for n in range(count))
    path.write_text(f'icd = 1\n[[message]]\nname = "m"\nsize = {count}\nfield = [\n{fields}]\n')
    (message,) = read_toml_icd(str(path)).messages
    assert np.array_equal([f.place.line for f in message.fields], np.arange(count) + 6)
