# SPDX-License-Identifier: Apache-2.0
"""The host's end of the protocol (SPEC sections 5-7) as a state machine without I/O. Times are ns of one clock.

Datagrams go in by :meth:`HostLink.receive` and :meth:`HostLink.stored`, those to be sent come out of
:meth:`HostLink.poll`. What happened is in the attributes and in ``notes``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.link.acks import StreamTracker
from vxmon.link.commands import BACK_OFF_MS, PATIENT_MS, Pending, Requester
from vxmon.link.guard import Guard
from vxmon.wire.control import decode_reply
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.notes import Note, NoteKind, encode_note
from vxmon.wire.reassembly import Incomplete, Reassembler
from vxmon.wire.resend import FragmentRequest, encode_fragment_request
from vxmon.wire.status import decode_end, decode_target_heartbeat, encode_ack, encode_host_heartbeat
from vxmon.wire.tables import decode_table
from vxmon.wire.types import (
    Ack,
    Bye,
    Channel,
    Datagram,
    End,
    EventTable,
    Header,
    Hello,
    HostHeartbeat,
    LinkCounters,
    Losses,
    ObjectTable,
    Reply,
    Request,
    Result,
    Started,
    StreamState,
    Table,
    TargetHeartbeat,
    TargetInfo,
)

__all__ = ["Control", "HostLink"]

_MS: Final = 1_000_000
_HEARTBEAT: Final = 1000 * _MS
_LOST: Final = 3000 * _MS
_ACK_FASTEST: Final = 20 * _MS
# Of a target that sends fast half of what it may send without an acknowledgement is acknowledged this soon.
_ACK_SOONER: Final = 5 * _MS
_ACK_BLOCKS: Final = 512
# While something is missing and nothing arrives, the target is reminded this often.
_ACK_REMINDER: Final = 40 * _MS
# Blocks that were cut and not seen this long after the last arrival are asked for.
_TAIL_WAIT: Final = 60 * _MS
_MAX_NOTES: Final = 100
_MAX_OLD_BOOTS: Final = 256


class Control(Enum):
    """Whether this host controls the target."""

    NONE = "none"
    ASKING = "asking"
    HELD = "held"
    BUSY = "busy"
    SILENT = "silent"
    DENIED = "denied"


class HostLink:
    """One host, one target.

    ``boot`` is the target's boot id, 0 before it is heard. ``run`` is the run whose blocks are acknowledged, 0: none.
    ``delivered`` counts its records in distinct valid blocks, ``duplicates`` blocks that came again. ``silent_ns``
    is the silence before the last reboot. Of a ``resumed`` run ``attach`` has, by stream, the first index that was
    stored and what the target had lost before it. ``notes`` are sentences for the user, ``recorded`` datagrams for the
    session only, oldest first; the caller takes both out. With ``key`` only a target that has it is believed;
    ``denied`` says why it and this host do not fit. ``counters_before`` are the target's in its first heartbeat.
    """

    def __init__(self, first_request: int, now: int, key: bytes | None = None) -> None:
        self.boot = 0
        self.control = Control.NONE
        self.info: TargetInfo | None = None
        self.table: EventTable | None = None
        self.partitions: dict[int, str] = {}
        self.tasks: dict[int, str] = {}
        self.objects: dict[int, str] = {}
        self.heartbeat: TargetHeartbeat | None = None
        self.counters_before = LinkCounters()
        self.end: End | None = None
        self.all_sent = False
        self.run = 0
        self.one_way = False
        self.delivered = 0
        self.blocks = 0
        self.duplicates = 0
        self.reboots = 0
        self.silent_ns = 0
        self.lost = False
        self.notes: list[str] = []
        self.recorded: list[bytes] = []
        self.refused: Counter[str] = Counter()
        self.resumed = False
        self.attach: dict[int, tuple[int, Losses]] = {}
        self._told: End | None = None
        self.trackers: dict[int, StreamTracker] = {}
        self.states: dict[int, StreamState] = {}
        self._guard = Guard(key)
        self._requests = Requester(first_request)
        self._hello: Pending | None = None
        self._patient = False
        self._reassembler = Reassembler()
        self._sequences: Counter[int] = Counter()
        self._old_boots: set[int] = set()
        self._heard = now
        self._next_heartbeat = now
        self._next_ack = now
        self._ack_wanted = False
        self._since_ack = 0
        self._last_block = now

    # ------------------------------------------------------------ what the caller wants

    def connect(self, now: int, *, patient: bool = False) -> None:
        """Ask for control; ``control`` tells the outcome. ``patient``: of a target that is starting up."""
        self.control = Control.ASKING
        self._patient = patient
        self._hello = self._requests.submit_first(Hello(0), now, PATIENT_MS if patient else BACK_OFF_MS)

    def request(self, body: Request, now: int) -> Pending:
        """Send a command; watch what is returned."""
        return self._requests.submit(body, now)

    def cancel(self, pending: Pending) -> None:
        """Repeat a command no more; whether the target carries it out is not known."""
        if self._requests.cancel(pending):
            name = type(pending.command.body).__name__.lower()
            self._happened(NoteKind.CANCELLED, f"command {name} was cancelled; the target may have carried it out")

    def follow(self, run: int, *, one_way: bool) -> None:
        """Count and acknowledge the blocks of a run from now on; the reply to a start does this by itself."""
        self.run = run
        self.one_way = one_way
        self.end = None
        self.all_sent = False
        self.trackers.clear()
        self.states.clear()
        self.delivered = self.blocks = self.duplicates = 0
        self.resumed = False
        self.attach.clear()
        if self._told is not None and self._told.run == run:
            self._take_end(self._told)

    def resume(self, run: int, *, one_way: bool) -> None:
        """Go on with a run that another host began: all that the target still holds of it is for this one."""
        self.follow(run, one_way=one_way)
        self.resumed = True
        if self.heartbeat is not None and self.heartbeat.run == run:
            self._hear(self.heartbeat.streams)
        self._happened(NoteKind.RESUMED, f"run {run}, which another host began, goes on with this one")

    @property
    def denied(self) -> str:
        """Why this host and this target do not fit, in words; "" when they do."""
        return self._guard.failure

    @property
    def recovered(self) -> int:
        """Blocks of the run that came after they had been named missing: the target has sent as many again, or more."""
        return sum(tracker.recovered for tracker in self.trackers.values())

    @property
    def repeated(self) -> int:
        """Commands that had to be sent again."""
        return self._requests.repeated

    # ------------------------------------------------------------ what comes in

    def receive(self, data: bytes, now: int) -> None:
        """Take a datagram that is no block."""
        try:
            datagram = decode_datagram(data)
            known = self._guard.admit(data, datagram)
            boot = datagram.header.boot
            if not known:
                self._guard.check_plain(datagram, self.boot)
            # What is plain may tell that the target lives, but not that it was restarted.
            if boot and (known or boot == self.boot) and not self._is_current(boot, now):
                return
            payload = self._reassembler.add(datagram, now)
            if payload is not None:
                self._dispatch(datagram, payload, now, known=known)
        except WireError as error:
            self.refused[error.kind] += 1

    def stored(self, rows: NDArray[np.void], now: int) -> None:
        """Take valid blocks (rows of :data:`vxmon.wire.bulk.BLOCK_ROW`) after they were written to the session."""
        rows = self._not_old(rows)
        if not len(rows):
            return
        boot = int(rows["boot"][-1])
        if not self._is_current(boot, now):
            return
        ours = (rows["boot"] == boot) & (rows["run"] == self.run) & (self.run != 0)
        if not ours.all():
            rows = rows[ours]
        self._store_streams(rows)
        if len(rows):
            self._ack_wanted = True
            self._since_ack += len(rows)
            self._last_block = now

    def _store_streams(self, rows: NDArray[np.void]) -> None:
        """Take blocks of our run, each stream's in their order."""
        order = np.argsort(rows["stream"], kind="stable")
        streams, sequences, counts = (rows[name][order] for name in ("stream", "sequence", "count"))
        ends = [*(np.flatnonzero(np.diff(streams)) + 1).tolist(), len(rows)] if len(rows) else []
        begin = 0
        for end in ends:
            stream = int(streams[begin])
            new = self._tracker(stream).store(sequences[begin:end])
            if self.resumed:
                some = order[begin:end]
                self._attach(stream, rows[some[np.argmin(rows["first_index"][some])]])
            blocks = int(np.count_nonzero(new))
            self.delivered += int(counts[begin:end][new].sum())
            self.blocks += blocks
            self.duplicates += end - begin - blocks
            begin = end

    def _not_old(self, rows: NDArray[np.void]) -> NDArray[np.void]:
        """Without blocks of boots that are over; with a key they, being plain, cannot tell of a new one either."""
        old = rows["boot"] != self.boot if self._guard.active else np.isin(rows["boot"], list(self._old_boots))
        kept: NDArray[np.void] = rows[~old] if old.any() else rows
        return kept

    def _attach(self, stream: int, row: np.void) -> None:
        """The first record of a resumed run that is here, and what the target had lost by then."""
        known = self.attach.get(stream)
        if known is None or int(row["first_index"]) < known[0]:
            losses = Losses(int(row["overwritten"]), int(row["full"]), int(row["exhausted"]))
            self.attach[stream] = (int(row["first_index"]), losses)

    def _tracker(self, stream: int) -> StreamTracker:
        return self.trackers.setdefault(stream, StreamTracker(stream))

    def _is_current(self, boot: int, now: int) -> bool:
        """Note that the target lives; false for a datagram from before its last reboot."""
        if boot in self._old_boots:
            return False
        silence = now - self._heard
        if self.boot and boot != self.boot:
            self._reboot(boot, now)
        self.boot = boot
        self._heard = now
        if self.lost:
            self.lost = False
            self._happened(NoteKind.LINK_BACK, "the target is heard again", silence=silence)
        return True

    def _reboot(self, boot: int, now: int) -> None:
        before, run = self.boot, self.run
        if len(self._old_boots) >= _MAX_OLD_BOOTS:
            self._old_boots.clear()
        self._old_boots.add(before)
        self.reboots += 1
        self.silent_ns = now - self._heard
        self.lost = False
        self.boot, self.run = boot, 0
        text = f"the target was restarted (boot {before:08x}, now {boot:08x})"
        self._happened(NoteKind.REBOOT, text, run=run, boot=before, silence=self.silent_ns)
        self.info = self.heartbeat = self._told = None
        self.partitions.clear()
        self.tasks.clear()
        self.objects.clear()
        self._requests.fail_all("the target was restarted")
        if self.control in (Control.HELD, Control.ASKING):
            self.connect(now)

    def _happened(self, kind: NoteKind, text: str, *, run: int | None = None, boot: int = 0, silence: int = 0) -> None:
        """Tell the user, and the session."""
        self._note(text)
        if len(self.recorded) < _MAX_NOTES:
            note = Note(kind, text, self.run if run is None else run, boot, silence)
            self.recorded.append(self._datagram(Channel.NOTE, encode_note(note), plain=True))

    def _note(self, text: str) -> None:
        if len(self.notes) < _MAX_NOTES:
            self.notes.append(text)

    def _dispatch(self, datagram: Datagram, payload: bytes, now: int, *, known: bool) -> None:
        match datagram.header.channel:
            case Channel.REPLY:
                self._take_reply(decode_reply(payload), now, known=known)
            case Channel.HEARTBEAT if datagram.header.boot:
                self._take_heartbeat(decode_target_heartbeat(payload))
            case Channel.TABLE:
                self._take_table(decode_table(payload))
            case Channel.END:
                end = decode_end(payload)
                self._take_end(end)
                self.all_sent = self.all_sent or (end.run == self.run != 0)
            case _:
                self.refused["channel"] += 1

    def _take_table(self, table: Table) -> None:
        match table:
            case EventTable():
                self.table = table
            case TargetInfo():
                self.info = table
            case ObjectTable():
                self.partitions |= {entry.index: entry.name for entry in table.partitions}
                self.tasks |= {entry.index: entry.name for entry in table.tasks}
                self.objects |= {entry.index: entry.name for entry in table.objects}

    def _take_reply(self, reply: Reply, now: int, *, known: bool) -> None:
        if not known:
            hello = self._hello
            greeting = hello is not None and hello.command.request == reply.request
            self._guard.check_plain_reply(reply, is_greeting=greeting)
        pending = self._requests.take(reply, now)
        if pending is None:
            return
        if pending is self._hello:
            self._take_welcome(reply, now)
        if isinstance(reply.body, TargetInfo):
            self.info = reply.body
        elif isinstance(reply.body, Started):
            # At once: the first blocks may be in the same batch of datagrams.
            self.follow(reply.body.run, one_way=reply.body.config.one_way)
        elif isinstance(reply.body, End):
            self._take_end(reply.body)

    def _take_welcome(self, reply: Reply, now: int) -> None:
        if not self._guard.take_welcome(reply):
            self._hello = None
            self.control = Control.DENIED
            return
        if reply.result == Result.COOKIE and isinstance(reply.body, int):
            waits = PATIENT_MS if self._patient else BACK_OFF_MS
            self._hello = self._requests.submit_first(Hello(reply.body), now, waits)
            return
        self._hello = None
        self.control = Control.HELD if reply.result == Result.OK else Control.BUSY
        self._next_heartbeat = now

    def _take_heartbeat(self, beat: TargetHeartbeat) -> None:
        if not beat.clock_hz:
            return
        if self.heartbeat is None:
            # On a bad link it may come late, and then has resends of the run that lasts: too many are told, not none.
            self.counters_before = replace(beat.link, resent=0) if self.run else beat.link
        self.heartbeat = beat
        if beat.run == self.run and self.run:
            self._hear(beat.streams)

    def _take_end(self, end: End) -> None:
        self._told = end
        if end.run == self.run and self.run:
            self.end = end
            self._hear(end.streams)

    def _hear(self, streams: tuple[StreamState, ...]) -> None:
        for state in streams:
            known = self.states.get(state.stream)
            if known is None or (state.recorded, state.blocks, state.held) >= (
                known.recorded, known.blocks, known.held,
            ):  # fmt: skip
                self.states[state.stream] = state
            if not self.one_way:
                self._tracker(state.stream).give_up_below(min(state.held, state.blocks))

    # ------------------------------------------------------------ what goes out

    def poll(self, now: int) -> list[bytes]:
        """Datagrams to be sent now."""
        self._watch(now)
        out = [self._command(pending) for pending in self._requests.poll(now)]
        for pending in self._requests.take_given_up():
            if not isinstance(pending.command.body, Hello):
                name = type(pending.command.body).__name__.lower()
                self._happened(NoteKind.UNANSWERED, f"command {name}: {pending.failure}")
        if self._hello is not None and self._hello.failure:
            self._hello = None
            self.control = Control.SILENT
            if self.lost:
                # A target that was there before may come back any time.
                self.connect(now)
        if self.control is Control.HELD:
            if now >= self._next_heartbeat:
                self._next_heartbeat = now + _HEARTBEAT
                out.append(self._datagram(Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(now))))
            if self._ack_is_due(now):
                out.append(self._acknowledge(now))
            out += [self._ask_again(lacking) for lacking in self._reassembler.lacking(now) if lacking.boot == self.boot]
        for dropped in self._reassembler.expire(now):
            self._note(f"message {dropped.message} of the target never got complete: it lacks {dropped.text}")
        return out

    def _command(self, pending: Pending) -> bytes:
        """A greeting is for whatever boot is there now: it is how a restarted target is found."""
        body = pending.command.body
        boot = 0 if isinstance(body, Hello) else self.boot
        return self._datagram(Channel.COMMAND, pending.payload, boot, plain=body == Hello(0))

    def _watch(self, now: int) -> None:
        if not self.lost and self.control is Control.HELD and now - self._heard > _LOST:
            self.lost = True
            text = f"the target has not been heard for {_LOST // 1_000_000_000} s"
            self._happened(NoteKind.LINK_LOST, text, silence=now - self._heard)
            self.connect(now)

    def _datagram(self, channel: Channel, payload: bytes, boot: int | None = None, *, plain: bool = False) -> bytes:
        self._sequences[channel] += 1
        sequence = self._sequences[channel] & 0xFFFFFFFF
        header = Header(channel, self.boot if boot is None else boot, sequence, message=sequence & 0xFFFF)
        return self._guard.encode(header, payload, plain=plain)

    def _ask_again(self, lacking: Incomplete) -> bytes:
        request = FragmentRequest(lacking.channel, lacking.message, lacking.missing)
        return self._datagram(Channel.RESEND, encode_fragment_request(request))

    def _tail(self, now: int) -> dict[int, int]:
        """Blocks cut of each stream, as far as they should have arrived."""
        if now - self._last_block < _TAIL_WAIT:
            return {}
        return {stream: state.blocks for stream, state in self.states.items()}

    @property
    def _may_ack(self) -> int:
        """When the next acknowledgement may go."""
        return self._next_ack - (_ACK_FASTEST - _ACK_SOONER if self._since_ack >= _ACK_BLOCKS else 0)

    def _ack_is_due(self, now: int) -> bool:
        if self.one_way or not self.run or now < self._may_ack:
            return False
        if self._ack_wanted:
            return True
        tail = self._tail(now)
        missing = any(tracker.next < tail.get(stream, tracker.seen) for stream, tracker in self.trackers.items())
        return missing and now >= self._next_ack + _ACK_REMINDER - _ACK_FASTEST

    def _acknowledge(self, now: int) -> bytes:
        self._next_ack = now + _ACK_FASTEST
        self._ack_wanted = False
        self._since_ack = 0
        tail = self._tail(now)
        streams = tuple(
            tracker.acknowledgement(tail.get(stream, 0)) for stream, tracker in sorted(self.trackers.items())
        )
        return self._datagram(Channel.ACK, encode_ack(Ack(self.run, streams)))

    def due(self, now: int) -> int:
        """When :meth:`poll` should be called at the latest."""
        times = [now + 100 * _MS]
        if self._requests.due is not None:
            times.append(self._requests.due)
        if self.control is Control.HELD:
            times.append(self._next_heartbeat)
            times.append(self._reassembler.due(now))
            if self.run and not self.one_way and self._ack_wanted:
                times.append(self._may_ack)
            elif self.run and not self.one_way:
                times.append(now + _ACK_FASTEST)
        return min(times)

    # ------------------------------------------------------------ the end of a run

    @property
    def drained(self) -> bool:
        """True when all records of the ended run are stored, or known to be lost."""
        end = self.end
        if end is None:
            return False
        if self.one_way and self.all_sent:
            return True
        accounted = sum(state.losses.total for state in self.states.values()) + self.delivered
        if accounted >= sum(state.recorded for state in end.streams):
            return True
        return all(self._is_drained(state.stream) for state in end.streams)

    def _is_drained(self, stream: int) -> bool:
        state, tracker = self.states[stream], self._tracker(stream)
        return state.cut_index >= state.recorded and tracker.next >= state.blocks

    @property
    def acknowledged(self) -> bool:
        """True when the target was told of all that is stored."""
        return self.one_way or not self._ack_wanted

    def bye(self, now: int) -> Pending:
        """End control."""
        self.control = Control.NONE
        return self._requests.submit(Bye(), now)
