# SPDX-License-Identifier: Apache-2.0
"""The generated record functions, compiled and called, store what the host's packing says they store.

Both sides follow SPEC section 2 in code of their own. Storing functions that print the words stand in for the
agent's, so the byte order of the target can be chosen by the port's macro on any machine.
"""

from __future__ import annotations

import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from proto.gen.load import load
from proto.gen.serialize import release_table
from tests.compat.make_vectors import sample_values
from vxmon.wire.events import TABLES
from vxmon.wire.slots import Value, encode_record
from vxmon.wire.types import Event, FieldType

ROOT = Path(__file__).parents[2]
EVENTS = {event.id: event for table in TABLES.values() for event in table.events}
ARG = 0x1234
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion", "-fsanitize=address,undefined"]

PORT = """
#define VXM_PORT_BIG_ENDIAN {big}
#define VXM_PORT_STREAMS 1
#define VXM_PORT_STREAM() 0u
#define VXM_PORT_CLOCK32() 0u
#define VXM_PORT_CLOCK64() 0u
#define VXM_PORT_MASK() 0u
#define VXM_PORT_UNMASK(state) ((void)(state))
#define VXM_PORT_MAX_PARTITIONS 1
#define VXM_PORT_MAX_TASKS 1
#define VXM_PORT_MAX_OBJECTS 1
"""

PROGRAM = """
#include <stdio.h>
#include "vxm/generated/events.h"

struct vxm_recorder vxm_recorder;
bool vxm_heads_only;

void vxm_record_n(uint32_t head, const uint32_t *words)
{
    printf("%08x", (unsigned)head);
    for (uint32_t i = 0; i < 2 * ((head >> 16) & 0x3F); i++) {
        printf(" %08x", (unsigned)words[i]);
    }
    printf("\\n");
}
void vxm_record0(uint32_t head) { vxm_record_n(head, NULL); }
void vxm_record1(uint32_t head, uint32_t a, uint32_t b) { vxm_record_n(head, (uint32_t[]){a, b}); }
void vxm_record2(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    vxm_record_n(head, (uint32_t[]){a, b, c, d});
}
void vxm_record3(uint32_t head, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f)
{
    vxm_record_n(head, (uint32_t[]){a, b, c, d, e, f});
}

int main(void)
{
    CALLS /* switched off: records nothing */
    for (int i = 0; i < 32; i++) {
        vxm_recorder.enable[i] = 0xFFFFFFFFu;
    }
    CALLS
    return 0;
}
"""


def call(event: Event, values: dict[str, Value]) -> str:
    """A C call of an event's record function."""
    arguments = [str(ARG)]
    for field in event.fields:
        value = values[field.name]
        if isinstance(value, bytes):
            arguments.append("(const uint8_t[]){" + ", ".join(map(str, value)) + "}")
        else:
            arguments.append(f'"{value}"' if isinstance(value, str) else f"{value}{'u' if value > 0 else ''}")
    return f"vxm_{event.name.lower()}({', '.join(arguments)});"


def compile_and_run(folder: Path, calls: list[str], *, big_endian: bool) -> list[str]:
    (folder / "vxm_port_config.h").write_text(PORT.replace("{big}", str(int(big_endian))))
    source, program = folder / "calls.c", folder / "calls"
    # The definitions on one line are for this test only; the header must pass all warnings.
    source.write_text(PROGRAM.replace("CALLS", "\n    ".join(calls)))
    compiler = shutil.which("gcc") or "cc"
    command = [compiler, *FLAGS, f"-I{folder}", f"-I{ROOT / 'target_c/include'}", str(source), "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    done = subprocess.run([str(program)], check=True, timeout=60, capture_output=True, text=True)
    return done.stdout.splitlines()


def words(record: bytes, order: str) -> str:
    """Words of a record as the stand-ins print them: all but the time."""
    numbers = [record[i : i + 4] if order == "big" else record[i : i + 4][::-1] for i in range(0, len(record), 4)]
    return " ".join(number.hex() for number in [numbers[0], *numbers[2:]])


def has_text(event: Event) -> bool:
    return any(field.type in {FieldType.TEXT, FieldType.BYTES} for field in event.fields)


@pytest.mark.parametrize("order", ["big", "little"])
def test_record_functions_store_what_the_host_reads(order: str, tmp_path: Path) -> None:
    # Text and bytes lie in memory order, which a little-endian test machine has only for a little-endian target.
    events = [event for event in EVENTS.values() if order == "little" or not has_text(event)]
    samples = {event.id: sample_values(event) for event in events}
    lines = compile_and_run(tmp_path, [call(e, samples[e.id]) for e in events], big_endian=order == "big")
    records = [encode_record(e, ARG, 0, samples[e.id], big_endian=order == "big") for e in events]
    assert lines == [words(record, order) for record in records]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 63, 64, 65, 200])
def test_text_of_any_length(length: int, tmp_path: Path) -> None:
    mark = next(event for event in EVENTS.values() if event.name == "MARK")
    text = ("abcdefghij" * 20)[:length]
    (line,) = compile_and_run(tmp_path, [call(mark, {"text": text})], big_endian=False)
    assert line == words(encode_record(mark, ARG, 0, {"text": text[:64]}, big_endian=False), "little")


@pytest.mark.parametrize(("length", "stored"), [(0, 0), (1, 1), (8, 8), (56, 56), (57, 56), (300, 56)])
def test_content_that_does_not_fit_is_cut_and_says_so(length: int, stored: int, tmp_path: Path) -> None:
    content = next(event for event in EVENTS.values() if event.name == "CONTENT")
    data = bytes(i % 256 for i in range(max(length, 1)))
    given: dict[str, Value] = {"number": 1, "offset": 2, "length": length, "content": data}
    (line,) = compile_and_run(tmp_path, [call(content, given)], big_endian=False)
    numbers = [1, 2 << 16 | stored, *packed(data[:stored])]
    head = content.id << 22 | len(numbers) // 2 << 16 | ARG
    assert line == " ".join(f"{number:08x}" for number in [head, *numbers])


def packed(data: bytes) -> list[int]:
    """Little-endian words of whole slots."""
    data += bytes(-len(data) % 8)
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


TABLE_PROGRAM = """
#include <stdio.h>
#include "event_table.h"

int main(void)
{
    const struct vxm_event_table *table = vxm_event_table_find("RELEASE");
    if (vxm_event_table_find("") != NULL || vxm_event_table_find("9.9") != NULL || vxm_event_name(0) != NULL) {
        return 1;
    }
    printf("%08x %s %s\\n", (unsigned)table->fingerprint, vxm_event_name(64), vxm_event_name(163));
    for (int i = 0; i < 32; i++) {
        printf("%08x %08x ", (unsigned)table->offered[i], (unsigned)table->partition[i]);
    }
    for (size_t i = 0; i < table->size; i++) {
        printf("%02x", table->bytes[i]);
    }
    return table->size > VXM_EVENT_TABLE_MAX_BYTES;
}
"""


@pytest.mark.parametrize("release", sorted(TABLES))
def test_event_table_of_the_target(release: str, tmp_path: Path) -> None:
    agent = ROOT / "target_c/agent/generated"
    source, program = tmp_path / "table.c", tmp_path / "table"
    source.write_text(TABLE_PROGRAM.replace("RELEASE", release))
    files = [str(source), str(agent / "event_table.c")]
    subprocess.run(["gcc", *FLAGS, f"-I{agent}", *files, "-o", str(program)], check=True, timeout=120)
    done = subprocess.run([str(program)], check=True, timeout=60, capture_output=True, text=True)
    head, rest = done.stdout.split("\n")
    *bits, data = rest.split(" ")
    events = TABLES[release].events
    assert head == f"{TABLES[release].fingerprint:08x} TASK_SWITCH STACK_SAMPLE"
    assert zlib.crc32(bytes.fromhex(data)) == TABLES[release].fingerprint
    assert ids(bits[0::2]) == {event.id for event in events}
    assert ids(bits[1::2]) == {event.id for event in events if event.partition_origin}


def ids(bits: list[str]) -> set[int]:
    numbers = [int(word, 16) for word in bits]
    return {32 * i + bit for i, word in enumerate(numbers) for bit in range(32) if word >> bit & 1}


def test_releases_differ_as_the_table_says() -> None:
    table = load(ROOT / "proto/events.toml")
    old, new = (release_table(table, release) for release in ("2.2", "2.4"))
    assert old.fingerprint != new.fingerprint
    # STACK_SAMPLE, OBJECT_DELETE and EDR_EVENT are in 2.4 only.
    difference = {event.id for event in TABLES["2.4"].events} - {event.id for event in TABLES["2.2"].events}
    assert difference == {163, 196, 225}
