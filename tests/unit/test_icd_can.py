# SPDX-License-Identifier: Apache-2.0
"""CAN databases: our decoding of random frames equals cantools' own."""

from __future__ import annotations

import math
import re
import resource
import subprocess
import sys
from pathlib import Path

import cantools
import numpy as np
import pytest
from cantools.database.can import Database

from vxmon.errors import InputError
from vxmon.icd.can import messages_of_database
from vxmon.icd.decoded import Status
from vxmon.icd.layout import Layout
from vxmon.icd.loading import load_icd

DBC = """VERSION ""
NS_ :
BS_:
BU_: NAV FLT
BO_ 100 State: 8 NAV
 SG_ Counter : 0|16@1+ (1,0) [0|65535] "" FLT
 SG_ Altitude : 23|16@0- (0.5,-1000) [-1000|20000] "ft" FLT
 SG_ Temperature : 33|11@1- (0.1,40) [-40|120] "degC" FLT
 SG_ Mode : 47|3@0+ (1,0) [0|7] "" FLT
 SG_ Odd : 52|13@0+ (3,7) [0|0] "" FLT
BO_ 101 Floats: 12 NAV
 SG_ Speed : 0|32@1- (1,0) [0|0] "m/s" FLT
 SG_ Heading : 39|64@0- (2,1) [0|0] "deg" FLT
BO_ 102 Many: 8 NAV
 SG_ Page M : 3|4@0+ (1,0) [0|15] "" FLT
 SG_ First m0 : 15|8@0+ (2,0) [0|0] "" FLT
 SG_ Second m1 : 8|12@1- (1,0) [0|0] "" FLT
 SG_ Third m1 : 24|40@1+ (0.001,0) [0|0] "s" FLT
BO_ 103 Wide: 8 NAV
 SG_ All : 7|64@0+ (1,0) [0|0] "" FLT
CM_ BO_ 100 "What NAV knows";
VAL_ 100 Mode 0 "OFF" 1 "ALIGN" 2 "NAV";
SIG_VALTYPE_ 101 Speed : 1;
SIG_VALTYPE_ 101 Heading : 2;
"""

KCD = """<?xml version="1.0" encoding="UTF-8"?>
<NetworkDefinition xmlns="http://kayak.2codeornot2code.org/1.0">
  <Document name="n"/>
  <Bus name="b">
    <Message id="0x64" name="State" length="8">
      <Signal name="Angle" offset="4" length="12" endianess="big">
        <Value type="signed" slope="0.25" unit="deg"/>
      </Signal>
      <Signal name="Level" offset="17" length="9"><Value slope="2" intercept="5"/></Signal>
      <Signal name="Mode" offset="40" length="2"><LabelSet><Label name="ON" value="1"/></LabelSet></Signal>
    </Message>
  </Bus>
</NetworkDefinition>
"""

ARXML = """<?xml version="1.0" encoding="UTF-8"?>
<AUTOSAR xmlns="http://autosar.org/schema/r4.0"><AR-PACKAGES>
<AR-PACKAGE><SHORT-NAME>P</SHORT-NAME><ELEMENTS>
<CAN-CLUSTER><SHORT-NAME>C</SHORT-NAME><CAN-CLUSTER-VARIANTS><CAN-CLUSTER-CONDITIONAL><PHYSICAL-CHANNELS>
<CAN-PHYSICAL-CHANNEL><SHORT-NAME>Ch</SHORT-NAME><FRAME-TRIGGERINGS><CAN-FRAME-TRIGGERING><SHORT-NAME>T</SHORT-NAME>
<FRAME-REF DEST="CAN-FRAME">/P/F</FRAME-REF><IDENTIFIER>5</IDENTIFIER></CAN-FRAME-TRIGGERING></FRAME-TRIGGERINGS>
</CAN-PHYSICAL-CHANNEL></PHYSICAL-CHANNELS></CAN-CLUSTER-CONDITIONAL></CAN-CLUSTER-VARIANTS></CAN-CLUSTER>
<CAN-FRAME><SHORT-NAME>F</SHORT-NAME><FRAME-LENGTH>6</FRAME-LENGTH><PDU-TO-FRAME-MAPPINGS><PDU-TO-FRAME-MAPPING>
<SHORT-NAME>M</SHORT-NAME><PACKING-BYTE-ORDER>MOST-SIGNIFICANT-BYTE-LAST</PACKING-BYTE-ORDER>
<PDU-REF DEST="I-SIGNAL-I-PDU">/P/U</PDU-REF><START-POSITION>0</START-POSITION></PDU-TO-FRAME-MAPPING>
</PDU-TO-FRAME-MAPPINGS></CAN-FRAME>
<I-SIGNAL-I-PDU><SHORT-NAME>U</SHORT-NAME><LENGTH>6</LENGTH><I-SIGNAL-TO-PDU-MAPPINGS>
<I-SIGNAL-TO-I-PDU-MAPPING><SHORT-NAME>M1</SHORT-NAME><I-SIGNAL-REF DEST="I-SIGNAL">/P/S1</I-SIGNAL-REF>
<PACKING-BYTE-ORDER>MOST-SIGNIFICANT-BYTE-LAST</PACKING-BYTE-ORDER><START-POSITION>3</START-POSITION>
</I-SIGNAL-TO-I-PDU-MAPPING>
<I-SIGNAL-TO-I-PDU-MAPPING><SHORT-NAME>M2</SHORT-NAME><I-SIGNAL-REF DEST="I-SIGNAL">/P/S2</I-SIGNAL-REF>
<PACKING-BYTE-ORDER>MOST-SIGNIFICANT-BYTE-FIRST</PACKING-BYTE-ORDER><START-POSITION>26</START-POSITION>
</I-SIGNAL-TO-I-PDU-MAPPING></I-SIGNAL-TO-PDU-MAPPINGS></I-SIGNAL-I-PDU>
<I-SIGNAL><SHORT-NAME>S1</SHORT-NAME><LENGTH>11</LENGTH>
<SYSTEM-SIGNAL-REF DEST="SYSTEM-SIGNAL">/P/Y1</SYSTEM-SIGNAL-REF></I-SIGNAL>
<I-SIGNAL><SHORT-NAME>S2</SHORT-NAME><LENGTH>13</LENGTH>
<SYSTEM-SIGNAL-REF DEST="SYSTEM-SIGNAL">/P/Y2</SYSTEM-SIGNAL-REF></I-SIGNAL>
<SYSTEM-SIGNAL><SHORT-NAME>Y1</SHORT-NAME></SYSTEM-SIGNAL><SYSTEM-SIGNAL><SHORT-NAME>Y2</SHORT-NAME></SYSTEM-SIGNAL>
</ELEMENTS></AR-PACKAGE></AR-PACKAGES></AUTOSAR>
"""

TEXTS = {"dbc": DBC, "kcd": KCD, "arxml": ARXML}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for suffix, text in TEXTS.items():
        (tmp_path / f"bus.{suffix}").write_text(text)
    return tmp_path


@pytest.mark.parametrize("suffix", sorted(TEXTS))
def test_values_are_those_of_cantools(folder: Path, suffix: str) -> None:
    path = str(folder / f"bus.{suffix}")
    database = cantools.database.load_file(path)
    assert isinstance(database, Database)
    ours = messages_of_database(path)
    assert [m.name for m in ours] == [m.name for m in database.messages]
    compared = 0
    for message in ours:
        payloads = np.random.default_rng(1).integers(0, 256, (2000, message.size), np.uint8)
        if message.name == "Many":
            payloads[:, 0] &= 0xF1  # pages that the database knows; cantools decodes no others
        columns = Layout(message).decode(payloads).columns
        theirs = database.get_message_by_name(message.name)
        for row, payload in enumerate(payloads):
            wanted = theirs.decode(bytes(payload), decode_choices=False)
            assert isinstance(wanted, dict)
            there = {name for name, column in columns.items() if column.shown[row]}
            assert there == set(wanted)
            for name, value in wanted.items():
                got = columns[name].values[row]
                where = (message.name, name, bytes(payload).hex())
                assert got == value or (np.isnan(got) and math.isnan(float(str(value)))), where
                compared += 1
    assert compared >= 2000 * len(ours)


def test_names_units_and_ranges_come_along(folder: Path) -> None:
    layout = load_icd([f"{folder}/bus.dbc:State"]).layout_for("State")
    assert layout is not None
    fields = {field.name: field for field in layout.fields}
    assert fields["Mode"].values == {0: "OFF", 1: "ALIGN", 2: "NAV"}
    assert (fields["Altitude"].unit, fields["Altitude"].minimum, fields["Altitude"].maximum) == ("ft", -1000, 20000)
    assert layout.message.description == "What NAV knows"
    # 0x7FFF * 0.5 - 1000 is above 15000 but not 20000; 0x8000 is far below.
    column = layout.decode(np.array([[0, 0, 0x7F, 0xFF, 0, 0, 0, 0], [0, 0, 0x80, 0, 0, 0, 0, 0]], np.uint8))[
        "Altitude"
    ]
    assert column.status.tolist() == [Status.VALID, Status.OUT_OF_RANGE]


def test_one_message_for_an_object(folder: Path) -> None:
    icd = load_icd([f"NAV_*={folder}/bus.dbc:Floats"])
    assert icd.layout_for("NAV_OUT") is not None
    assert icd.layout_for("FLT_OUT") is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("bus.dbc:Nothing", "there is no message 'Nothing'; known are State, Floats"),
        ("NAV=bus.dbc", "has 4 messages; write NAV="),
        ("absent.dbc", "cannot read"),
        ("bad.dbc", "no DBC database"),
        ("bad.kcd", "no KCD database"),
        ("bomb.kcd", "it declares entities"),
        ("large.dbc", "at most"),
    ],
)
def test_what_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, words: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "bad.dbc").write_text("BO_ 1 x: y")
    (folder / "bad.kcd").write_text("<a/>")
    (folder / "bomb.kcd").write_text('<!DOCTYPE a [<!ENTITY b "c">]><a/>')
    (folder / "large.dbc").write_bytes(b" " * (9 << 20))
    with pytest.raises(InputError, match=words) as caught:
        load_icd([source])
    assert "\n" not in str(caught.value)


def test_without_cantools_the_extra_is_named(folder: Path) -> None:
    script = (
        "import sys; sys.modules['cantools'] = None\n"
        "from vxmon.errors import InputError\nfrom vxmon.icd.loading import load_icd\n"
        f"try:\n    load_icd([{str(folder / 'bus.dbc')!r}])\nexcept InputError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert "pip install 'vxmon[can]'" in done.stdout


def test_cantools_is_loaded_only_when_it_is_used() -> None:
    script = "import sys, vxmon.icd.loading; print('cantools' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"


SIGNAL = ' SG_ %s (1,0) [0|0] "" X\n'


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (SIGNAL % "A : 2000000000|8@1+", "needs more than|A has 8 bits"),
        (SIGNAL % "A : 0|2000000000@1+", "needs more than|A has 2000000000 bits"),
        (SIGNAL % "M M : 0|8@1+" + SIGNAL % "A m0 : 8|8@1+" + "SG_MUL_VAL_ 1 A M 0-4294967295;\n", "needs more than"),
    ],
)
def test_sizes_that_a_file_only_states_take_no_memory(tmp_path: Path, lines: str, words: str) -> None:
    path = tmp_path / "bomb.dbc"
    path.write_text('VERSION ""\nBO_ 1 State: 8 X\n' + lines)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        said = str(messages_of_database(str(path))[0].notes)
    except InputError as error:
        said = str(error)
    assert re.search(words, said)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_conversions_that_are_no_numbers_leave_a_signal_out(tmp_path: Path) -> None:
    path = tmp_path / "a.kcd"
    path.write_text(KCD.replace('slope="0.25"', 'slope="nan"').replace('name="Level"', 'name="A&#127;[1m B"'))
    (message,) = messages_of_database(str(path))
    assert [field.name for field in message.fields] == ["A.[1m_B", "Mode"]
    assert message.notes == ("Angle has a conversion that is not linear, and is left out",)
