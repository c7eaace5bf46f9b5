# SPDX-License-Identifier: Apache-2.0
"""``vxmon memmap`` as it is used: output, formats, exit status. Expected figures: by hand from the image below."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.elfwriter import NOBITS, A, Elf, Sec, Seg, W, X, symbol
from tests.support.schemas import valid

VXMON = [sys.executable, "-c", "from vxmon_cli.main import main; main()", "memmap"]


def run(*args: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [*VXMON, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=60, check=False)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """64 bytes of code, 16 of data, 32 of zero data."""
    return write(tmp_path / "nav.elf", 16)


def write(path: Path, data: int) -> Path:
    names = b"\0_ZN3nav6filterEi\0"
    elf = Elf(
        segments=[Seg(0x1000, 64, 64), Seg(0x2000, data + 32, data, flags=6)],
        sections=[
            Sec(".text", flags=A | X, address=0x1000, size=64, offset=0),
            Sec(".data", flags=A | W, address=0x2000, size=data, offset=0),
            Sec(".bss", NOBITS, A | W, 0x2000 + data, 32),
            Sec(".symtab", 2, data=bytes(16) + symbol(1, 0x1000, 64, 0x12, 1), link=5),
            Sec(".strtab", 3, data=names),
        ],
    )
    path.write_bytes(elf.encode())
    return path


def test_the_json_has_the_promised_shape(image: Path) -> None:
    result = run(image, "--format", "json", "--symbols", "3")
    assert (result.returncode, result.stderr) == (0, "")
    value = valid("memmap-1", result.stdout)
    (entry,) = value["images"]
    assert value["version"] == 1
    assert (entry["path"], entry["class"], entry["byte_order"], entry["machine"]) == (
        str(image),
        "ELF32",
        "big",
        "PowerPC",
    )
    assert entry["totals"]["ram"] == 112
    assert entry["totals"]["load"] == 80
    assert entry["segments"][1]["memory_size"] == 48
    assert entry["sections"][1] == {
        "index": 2,
        "name": ".data",
        "type": "PROGBITS",
        "address": "0x2000",
        "load_address": "0x2000",
        "size": 16,
        "file_size": 16,
        "offset": 0,
        "permissions": "RW-",
        "alignment": 1,
        "kind": "data",
    }
    assert entry["symbols"][0]["name"] == "_ZN3nav6filterEi"
    assert value["problems"] == []


def test_the_table(image: Path) -> None:
    result = run(image, "--symbols", "1")
    assert result.returncode == 0
    assert "RAM   112 B (code 64, data 16, zero data 32)" in result.stdout.splitlines()
    assert "load  80 B" in result.stdout.splitlines()
    assert "nav::filter(int)" in result.stdout or "c++filt" in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("view", ["tree", "bars"])
def test_other_views(image: Path, view: str) -> None:
    result = run(image, "--view", view)
    assert result.returncode == 0
    marks = {
        "tree": "`- segment 1  RW-  0x00002000..0x00002030  48 B",
        "bars": "code       " + "#" * 23 + "." * 17 + "  64 (57.1 %)",
    }
    assert marks[view] in result.stdout


def test_a_terminal_gets_boxes_and_a_pipe_does_not(image: Path) -> None:
    master, slave = pty.openpty()
    command = [*VXMON, str(image)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        assert process.wait(60) == 0
    os.close(master)
    assert "─" in text.decode()
    assert "─" not in run(image).stdout


@pytest.mark.parametrize(
    ("options", "columns", "rows"),
    [
        ([], "image,index,name,type,kind", 6),
        (["--symbols", "5"], "image,name,demangled", 1),
        (["--units"], "image,unit,folder", 0),
    ],
)
def test_csv_is_one_table(image: Path, options: list[str], columns: str, rows: int) -> None:
    result = run(image, "--format", "csv", *options)
    assert result.returncode == 0
    lines = list(csv.reader(io.StringIO(result.stdout)))
    assert ",".join(lines[0]).startswith(columns)
    assert len(lines) == rows + 1


def test_csv_of_two_tables_is_refused(image: Path) -> None:
    result = run(image, "--format", "csv", "--symbols", "5", "--units")
    assert (result.returncode, result.stdout) == (2, "")
    assert "holds one table; asked for are symbols and units" in result.stderr


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_growth_fails_alike_in_every_format(tmp_path: Path, form: str) -> None:
    old, new = write(tmp_path / "old.elf", 16), write(tmp_path / "new.elf", 24)
    grown = run(new, "--baseline", old, "--format", form)
    assert grown.returncode == 0
    if form == "json":
        assert valid("memmap-1", grown.stdout)["growth"][0]["passed"] is True
    assert run(new, "--baseline", old, "--max-growth", "8", "--format", form).returncode == 0
    result = run(new, "--baseline", old, "--max-growth", "7", "--format", form)
    assert result.returncode == 1
    if form == "text":
        assert "FAIL: ram grew by 8 B, more than 7" in result.stdout


MODULE = """<Module Name="m" Id="1"><Partitions><Partition Name="NAV" Id="1"><PartitionDescription>
<Settings RequiredMemorySize="{}"/></PartitionDescription></Partition></Partitions>
<Schedules><Schedule Id="0"><PartitionWindow PartitionNameRef="NAV" Duration="1"/></Schedule></Schedules></Module>"""


def test_a_module(image: Path) -> None:
    module = image.parent / "module.xml"
    module.write_text(MODULE.format(112))
    result = run(image, "--module", module)
    assert result.returncode == 0
    row = next(line.split() for line in result.stdout.splitlines() if line.startswith("NAV"))
    assert row == ["NAV", str(image), "112", "0", "0", "112", "0", "0.0", "%", "fits"]
    module.write_text(MODULE.format(111))
    assert run(image, "--module", module, "--format", "json").returncode == 1
    module.write_text("<Module>")
    result = run(image, "--module", module)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"vxmon: {module}:1: not well-formed XML")


def test_strict(image: Path) -> None:
    assert run(image, "--strict").returncode == 0
    data = bytearray(image.read_bytes())
    data[6] = 9  # the ELF version
    image.write_bytes(data)
    assert run(image).returncode == 0
    assert run(image, "--strict").returncode == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rom", "5"], "is no address range"),
        (["--rom", "0x20..0x10"], "ends before it begins"),
        (["--max-growth", "5"], "give --baseline"),
        (["--baseline", "none.elf"], "cannot read none.elf"),
        (["--partition", "A=b"], "give --module too"),
        (["--map", "none.map"], "cannot read none.map"),
        (["--symbols", "-1"], "is not in the range"),
        (["--format", "xml"], "xml"),
        (["none.elf"], "cannot read none.elf"),
        (["."], "it is a directory"),
        ([__file__], "no ELF file"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(image: Path, options: list[str], words: str) -> None:
    result = run(image, *options, cwd=image.parent)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_rom(image: Path) -> None:
    result = run(image, "--rom", "0x1000..0x1040", "--format", "json")
    totals = json.loads(result.stdout)["images"][0]["totals"]
    assert (totals["ram"], totals["in_place"]) == (48, 64)


def test_output_that_cannot_be_written(image: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*VXMON, image], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert result.returncode == 3
    assert "cannot be written" in result.stderr
