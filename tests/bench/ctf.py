# SPDX-License-Identifier: Apache-2.0
"""The same events as a CTF 1.8 trace, for babeltrace2 to read: as compact as CTF allows without bit fields.

An event is a 16-bit id, the low 32 bits of the clock, the 16-bit argument and the fields, unpadded, big-endian as the
target stores them. A packet holds some thousand events. Numbers stay numbers: names would cost babeltrace2 more.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tests.bench.frames import CLOCK_HZ, FRAME_TICKS, TABLE, FrameLoad
from vxmon.wire.types import Event, FieldType

__all__ = ["make_ctf"]

_MAGIC: Final = 0xC1FC1FC1
_PACKET: Final = struct.Struct(">IQQQQ")
_FRAMES_A_PACKET: Final = 40
_TYPES: Final = {
    FieldType.U16: "u16", FieldType.U32: "u32", FieldType.I32: "i32", FieldType.X32: "x32", FieldType.U64: "x64",
}  # fmt: skip
_SIZES: Final = {FieldType.U16: 2, FieldType.U32: 4, FieldType.I32: 4, FieldType.X32: 4, FieldType.U64: 8}
_HEAD: Final = f"""/* CTF 1.8 */
typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 32; align = 8; signed = true; }} := i32;
typealias integer {{ size = 32; align = 8; signed = false; base = 16; }} := x32;
typealias integer {{ size = 64; align = 8; signed = false; base = 16; }} := x64;
trace {{
  major = 1; minor = 8; byte_order = be;
  packet.header := struct {{ u32 magic; }};
}};
clock {{ name = target; freq = {CLOCK_HZ}; }};
typealias integer {{ size = 32; align = 8; signed = false; map = clock.target.value; }} := stamp;
typealias integer {{ size = 64; align = 8; signed = false; map = clock.target.value; }} := long_stamp;
stream {{
  packet.context := struct {{
    long_stamp timestamp_begin; long_stamp timestamp_end; u64 content_size; u64 packet_size;
  }};
  event.header := struct {{ u16 id; stamp timestamp; }};
}};
"""


def _describe(event: Event) -> str:
    fields = "".join(f" {_TYPES[f.type]} _{f.name};" for f in event.fields)
    return (
        f'event {{ name = "{event.name}"; id = {event.id}; fields := struct {{ u16 _{event.arg.name};{fields} }}; }};\n'
    )


class _Frame:
    """The bytes of one frame, and where numbers that differ from frame to frame lie in them."""

    def __init__(self, load: FrameLoad) -> None:
        events = {event.id: event for event in TABLE.events}
        data = bytearray()
        self.stamps: list[int] = []
        self.counters: list[int] = []
        self.times: list[int] = []
        for number, arg, words in load.events:
            event = events[int(number)]
            data += struct.pack(">H", event.id)
            self.stamps.append(len(data))
            data += bytes(4) + struct.pack(">H", arg)
            self._fields(data, event, list(words))
        self.data = np.frombuffer(bytes(data), np.uint8)

    def _fields(self, data: bytearray, event: Event, words: list[int | str]) -> None:
        sizes = sum(_SIZES[field.type] for field in event.fields)
        end = len(data) + sizes
        for word in words:
            if word == "t":
                self.times.append(len(data))
                data += bytes(8)
            else:
                if word == "f":
                    self.counters.append(len(data))
                data += struct.pack(">I", 0 if word == "f" else int(word))
        del data[end:]


def make_ctf(folder: Path, events: int, load: str = "mixed") -> None:
    """Write the first ``events`` records of the load, rounded up to whole packets, as a trace in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = FrameLoad(load=load)
    used = {int(number) for number, _, _ in frames.events}
    description = "".join(_describe(event) for event in TABLE.events if event.id in used)
    (folder / "metadata").write_text(_HEAD + description)
    frame = _Frame(frames)
    count = -(-events // frames.events_a_frame)
    with (folder / "stream").open("wb") as file:
        for first in range(0, count, _FRAMES_A_PACKET):
            file.write(_packet(frames, frame, first, min(_FRAMES_A_PACKET, count - first)))


def _packet(frames: FrameLoad, frame: _Frame, first: int, count: int) -> bytes:
    numbers = np.arange(first, first + count, dtype=np.int64)
    records = frames.frames(first, count)
    body = np.tile(frame.data, (count, 1))
    _put(body, frame.stamps, (records.time & 0xFFFFFFFF).reshape(count, -1), ">u4")
    _put(body, frame.counters, np.repeat(numbers[:, None], len(frame.counters), 1), ">u4")
    starts = frames.start + numbers * FRAME_TICKS
    _put(body, frame.times, np.repeat(starts[:, None], len(frame.times), 1), ">u8")
    size = 8 * (body.size + _PACKET.size)
    return _PACKET.pack(_MAGIC, int(records.time[0]), int(records.time[-1]), size, size) + body.tobytes()


def _put(body: NDArray[np.uint8], places: list[int], values: NDArray[np.int64], kind: str) -> None:
    width = np.dtype(kind).itemsize
    stored = np.ascontiguousarray(values.astype(kind)).view(np.uint8).reshape(len(body), -1, width)
    for column, place in enumerate(places):
        body[:, place : place + width] = stored[:, column]
