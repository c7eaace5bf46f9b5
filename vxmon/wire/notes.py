# SPDX-License-Identifier: Apache-2.0
"""What a host notes in its session about the link (SPEC section 8, channel NOTE). Never sent to a target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from vxmon.errors import WireError
from vxmon.wire.convert import check_numbers, check_text, enum_from, parse, serialize
from vxmon.wire.generated import vxmon_pb2 as pb

__all__ = ["Note", "NoteKind", "decode_note", "encode_note"]

_MAX_TEXT: Final = 159


class NoteKind(IntEnum):
    """What happened."""

    LINK_LOST = 0
    LINK_BACK = 1
    REBOOT = 2
    RESUMED = 3
    PORT_CHANGED = 4
    CANCELLED = 5
    UNANSWERED = 6


@dataclass(frozen=True, slots=True)
class Note:
    """An event of the link, as its host saw it.

    ``run`` is the one that the host followed, 0: none; ``boot``, of a reboot, the one before; ``silence`` in ns since
    the target was heard last.
    """

    kind: NoteKind
    text: str = ""
    run: int = 0
    boot: int = 0
    silence: int = 0


def decode_note(payload: bytes) -> Note:
    """Decode the payload of a NOTE datagram; raises WireError."""
    message = parse(pb.Note(), payload, "note")
    check_numbers("note", message.silence)
    text = check_text(message.text, _MAX_TEXT, "note: text")
    return Note(enum_from(NoteKind, message.kind, "note: kind"), text, message.run, message.boot, message.silence)


def encode_note(note: Note) -> bytes:
    """Payload of a NOTE datagram; raises WireError."""
    text = check_text(note.text, _MAX_TEXT, "note: text")
    try:
        return serialize(pb.Note(kind=note.kind.name, run=note.run, boot=note.boot, silence=note.silence, text=text))
    except ValueError as error:
        raise WireError("payload", f"note: {error}") from error
