# SPDX-License-Identifier: Apache-2.0
"""What a session says that was cut from a larger one (SPEC section 8): which records of each stream it kept.

Everything else of the larger session is *not in this file*: it is neither lost nor before the attach.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["NOTHING", "Cut", "Kept", "part_numbers", "parts_between", "read_cut", "write_cut"]

KEY: Final = "cut"
_LIMIT: Final = 1 << 62
_MOST_STREAMS: Final = 2000
_LONGEST: Final = 200
_MOST_PARTS: Final = 100_000
_MOST_NAMED: Final = 20

Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Kept:
    """Records ``begin`` ... ``end - 1`` of a stream are what the session is about.

    ``attach`` is the first that the larger session could have, ``recorded`` is how many there were in all:
    attach <= begin <= end <= recorded.
    """

    attach: int
    begin: int
    end: int
    recorded: int

    @property
    def empty(self) -> bool:
        """True when nothing of the stream was kept."""
        return self.begin == self.end


NOTHING: Final = Kept(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Cut:
    """A session's word on how it was cut: the selection in words, of which files, and what was kept.

    ``streams`` are by (boot id, run, stream); of one that is not among them nothing is known. ``more`` is true of a
    part of a session in several files that is followed by another: the ends of runs may be there.
    """

    what: str
    of: tuple[str, ...] = ()
    streams: Mapping[Place, Kept] = field(default_factory=dict)
    more: bool = False

    def kept(self, boot: int, run: int, stream: int) -> Kept:
        """What was kept of a stream."""
        return self.streams.get((boot, run, stream), NOTHING)

    @property
    def text(self) -> str:
        """In words."""
        text = f"{self.what} of {', '.join(self.of) or 'a session'}"
        return f"{text}, which goes on in another file" if self.more else f"cut {text}"


def write_cut(cut: Cut) -> dict[str, Any]:
    """As session metadata."""
    streams = [[*place, k.attach, k.begin, k.end, k.recorded] for place, k in sorted(cut.streams.items())]
    more = {"more": True} if cut.more else {}
    return {KEY: {"what": cut.what, "of": list(cut.of), **more, "streams": streams}}


def read_cut(metadata: Iterable[Mapping[str, Any]]) -> tuple[Cut | None, list[str]]:
    """The word of several files on how they were cut; None unless all were. And what is wrong with it, in words."""
    files = list(metadata)
    told = [value.get(KEY) for value in files]
    if not told or any(value is None for value in told):
        return None, _without_parts(files)
    cuts = [_read(value) for value in told]
    good = [cut for cut in cuts if cut is not None]
    if len(good) < len(cuts):
        return None, ["what it says of how it was cut makes no sense; what was cut away counts as lost"]
    if len(good) == 1:
        return good[0], []
    if not _are_apart(good):
        return _joined(good), []
    return _joined(good), _without_parts(files) or [
        "several cuts are read as one; what lies between them counts as lost"
    ]


def part_numbers(metadata: Iterable[Mapping[str, Any]]) -> list[int]:
    """Which parts of a session in several files these are, ascending; of a file that is none it has nothing."""
    parts = [value.get("part") for value in metadata]
    numbers = [part.get("number") for part in parts if isinstance(part, dict)]
    return sorted(number for number in numbers if isinstance(number, int) and 0 < number < _MOST_PARTS)


def parts_between(numbers: list[int]) -> list[int]:
    """Parts that are not given though one before and one behind them are."""
    return sorted(set(range(numbers[0], numbers[-1])) - set(numbers)) if numbers else []


def _without_parts(files: list[Mapping[str, Any]]) -> list[str]:
    missing = parts_between(part_numbers(files))
    some = ", ".join(map(str, missing[:_MOST_NAMED]))
    which = f"part {some} is" if len(missing) == 1 else f"{len(missing)} parts ({some}) are"
    return [f"{which} not among the files given; what is in there counts as lost"] if missing else []


def _are_apart(cuts: list[Cut]) -> bool:
    """Whether records of a stream lie between two cuts."""
    ends: dict[Place, int] = {}
    pieces = sorted((place, kept.begin, kept.end) for cut in cuts for place, kept in cut.streams.items())
    for place, begin, end in pieces:
        if begin > ends.get(place, begin):
            return True
        ends[place] = max(end, ends.get(place, end))
    return False


def _joined(cuts: list[Cut]) -> Cut:
    streams: dict[Place, Kept] = {}
    for cut in cuts:
        for place, kept in cut.streams.items():
            other = streams.get(place, kept)
            streams[place] = Kept(
                min(kept.attach, other.attach), min(kept.begin, other.begin), max(kept.end, other.end),
                max(kept.recorded, other.recorded),
            )  # fmt: skip
    what, of = " and ".join(cut.what for cut in cuts)[:_LONGEST], tuple({name for cut in cuts for name in cut.of})
    return Cut(what, of, streams, more=any(cut.more for cut in cuts))


def _read(value: Any) -> Cut | None:
    if not isinstance(value, dict):
        return None
    what, of, streams = value.get("what"), value.get("of"), value.get("streams")
    if not isinstance(what, str) or not isinstance(of, list) or not isinstance(streams, list):
        return None
    if len(streams) > _MOST_STREAMS or not all(map(_sound, streams)):
        return None
    names = tuple(str(name)[:_LONGEST] for name in of[:10])
    kept = {(row[0], row[1], row[2]): Kept(*row[3:]) for row in streams}
    return Cut(what[:_LONGEST], names, kept, more=value.get("more") is True)


def _sound(row: Any) -> bool:
    if not isinstance(row, list) or len(row) != 7 or not all(type(n) is int and 0 <= n < _LIMIT for n in row):
        return False
    attach, begin, end, recorded = row[3:]
    return bool(attach <= begin <= end <= recorded)
