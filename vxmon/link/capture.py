# SPDX-License-Identifier: Apache-2.0
"""A capture from start to end: connect, learn what the target offers, record, stop, fetch the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from vxmon.errors import TargetError
from vxmon.link.client import REFUSED_S, Client
from vxmon.link.learning import learn_target
from vxmon.link.logs import read_log
from vxmon.link.machine import Control
from vxmon.link.resume import find_run
from vxmon.link.selection import Resolver, select_events
from vxmon.link.summary import Summary
from vxmon.link.timed import TimedAction, TimedActions
from vxmon.session.sink import OutputClosedError
from vxmon.session.writer import Recorder
from vxmon.wire.acquired import Log, LogRequest
from vxmon.wire.events import StopReason
from vxmon.wire.types import (
    Reply,
    Result,
    RunConfig,
    Scenario,
    Start,
    Started,
    Stop,
    TargetHeartbeat,
    TargetInfo,
)

__all__ = ["Capture", "Limits", "Plan", "Status"]

_STATUS_S: Final = 0.5
# The rest of a run is waited for as long as something still arrives.
_DRAIN_QUIET_S: Final = 4.0
# Commands to stop, each with all its repetitions, on a link that brings heartbeats but no answer.
_STOPS: Final = 4
# The target keeps its last blocks until they are acknowledged, so they are before we leave.
_LAST_ACK_S: Final = 0.2
_RESTARTS: Final = 100
# A target that went down in good order is waited for so long.
_RETURN_S: Final = 30.0
# What a target says three times at the end of a run is waited for so long.
_END_WAIT_S: Final = 1.0
# The target's own clock ends a run of so many seconds; ours stops it when that does not happen.
_TARGET_STOP_GRACE_S: Final = 1.0
# How much slower than our time a target may be that is still waited for.
_SLOWEST: Final = 20
_LONGEST_GRACE_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop; 0: never. ``size`` in bytes of the session."""

    seconds: float = 0.0
    events: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to record and how. ``config.events`` is filled in from ``only`` and ``without``.

    ``resolve`` makes the configuration instead, when the target is known. With ``resume`` a run that the target still
    records, or holds, for a host that is gone is not stopped: this capture goes on with it.
    """

    config: RunConfig
    only: Sequence[str] = ()
    without: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    scenario: str = ""
    connect_seconds: float = 4.6
    refused_seconds: float = REFUSED_S
    resolve: Resolver | None = None
    resume: bool = False
    timed: Sequence[TimedAction] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """Where a capture stands. ``fill`` is the part of the target's units in use, 0-1; ``rate`` in events/s."""

    seconds: float
    events: int
    rate: float
    lost: int
    fill: float
    size: int


class Capture:
    """Records one session from a target.

    ``open_recorder`` is called when the target has agreed to record, so that a capture that never begins touches no
    file. ``observe`` is called about twice a second, ``tell`` with sentences for the user.
    """

    def __init__(
        self,
        client: Client,
        plan: Plan,
        open_recorder: Callable[[TargetInfo], Recorder],
        tell: Callable[[str], None],
        observe: Callable[[Status], None] | None = None,
    ) -> None:
        self.summary = Summary()
        self._client = client
        self._link = client.link
        self._plan = plan
        self._open_recorder = open_recorder
        self._tell = tell
        self._observe = observe
        self._recorder: Recorder | None = None
        self._config = plan.config
        self._timed = TimedActions(plan.timed)
        self._stop = False
        self._cut_short = False
        self._begun = 0.0
        self._started: Started | None = None
        self._events_before = 0
        self._last_status = (0.0, 0)
        self._restarts = 0
        self._gone = False
        self._accounted = False
        # Of the time asked for: runs of earlier boots, and the silence between them.
        self._spent = 0.0
        self._quiet_since = 0.0
        self._hz = 0
        self._planned_ticks = 0
        self._logs: list[Log] = []

    def stop(self) -> None:
        """End the capture in good order; may be called from a signal handler."""
        self._stop = True

    @property
    def begun(self) -> bool:
        """True when recording has started."""
        return self._begun > 0

    # ------------------------------------------------------------ the whole

    def run(self) -> Summary:
        """Capture until a limit, a stop, or the end of the run.

        Raises:
            InputError: an event or class that the target does not have.
            TargetError: the target does not answer or refuses.
            OutputError: the session could not be written; the target goes on recording by its policy.

        """
        client = self._client
        client.connect(self._plan.connect_seconds, self._plan.refused_seconds)
        try:
            left = find_run(client) if self._plan.resume else None
            if left is None:
                self._end_other_run()
            if left is None and self._plan.resume:
                self._tell("the target holds no run to go on with; a new one begins")
            info = self._learn()
            if left is None:
                self._scenario()
            self._recorder = self._open_recorder(info)
            client.record(self._recorder)
            if left is None:
                self._start()
            else:
                self._resume(left, info)
            self._go_on()
            self._finish_run()
        except KeyboardInterrupt:
            self._cut_short = True
            raise
        finally:
            self._close()
        if client.output_error is not None:
            raise client.output_error
        return self.summary

    def _end_other_run(self) -> None:
        """Whoever began it is gone, else we would not have control. Its figures are no part of our session."""
        if self._client.call(Stop()).result == Result.OK:
            self._tell("the target was already recording; that run is stopped (--resume goes on with it)")
        self._client.forget()

    def _resume(self, left: TargetHeartbeat, info: TargetInfo) -> None:
        """The run keeps the configuration it has."""
        self._config = info.config or self._config
        self._link.resume(left.run, one_way=self._config.one_way)
        self._started, self._accounted = Started(left.run, left.time, self._config), False
        self._begun = time.monotonic()

    def _learn(self) -> TargetInfo:
        """Target information and event table; the events to record follow from them."""
        plan = self._plan
        view = learn_target(self._client, names=plan.resolve is not None and plan.resolve.needs_names)
        if plan.resolve is not None:
            config = plan.resolve(view)
        else:
            events = select_events(view.table, view.info.offered, plan.only, plan.without)
            config = replace(plan.config, events=events)
        self._timed.resolve(view)
        self._hz = view.info.clock_hz
        self._logs = [log for log, there in ((Log.HM, view.info.hm_log), (Log.EDR, view.info.edr_log)) if there]
        self._planned_ticks = config.max_ticks
        self._config = replace(config, max_ticks=self._max_ticks())
        return view.info

    def _max_ticks(self) -> int:
        """The time limit on the target's clock, so that a run is as long as was asked, free of the host's delays."""
        ticks = max(round((self._plan.limits.seconds - self._spent) * self._hz), 0)
        planned = self._planned_ticks
        return min(ticks, planned) if ticks and planned else ticks or planned

    def _scenario(self) -> None:
        if self._plan.scenario:
            self._client.demand(Scenario(self._plan.scenario))

    def _start(self) -> None:
        reply = self._client.call(Start(self._config))
        if reply.result == Result.STATE:
            # A restarted target may record by itself, with a configuration that is not ours.
            self._end_other_run()
            reply = self._client.call(Start(self._config))
        if reply.result != Result.OK or not isinstance(reply.body, Started):
            raise TargetError(f"{self._client.name}: start refused: {reply.text or reply.result.name.lower()}")
        self._started, self._accounted = reply.body, False
        self._begun = self._begun or time.monotonic()

    # ------------------------------------------------------------ while it runs

    def _go_on(self) -> None:
        while not self._is_over():
            self._client.pump()
            self._act()
            self._tell_notes()
            self._show()
            self._recover()
            if self._went_down():
                self._await_return()

    def _act(self) -> None:
        """What the user wants told to the target at this time; not while its run is being started again."""
        if self._link.run and self._link.control is Control.HELD:
            self._timed.step(self._link, time.monotonic() - self._begun, time.monotonic_ns(), self._tell)

    def _went_down(self) -> bool:
        """The target told the end of the run because it goes down, as before a reset."""
        end = self._link.end
        return end is not None and end.reason == StopReason.SHUTDOWN and self._link.run == end.run

    def _is_over(self) -> bool:
        limits, end = self._plan.limits, self._link.end
        if self._stop or self._gone or self._client.output_error is not None:
            return True
        if end is not None and end.reason != StopReason.SHUTDOWN:
            return True
        if self._ended_by_itself():
            return True
        if limits.seconds and self._time_is_over(limits.seconds):
            return True
        if limits.events and self._events() >= limits.events:
            return True
        return bool(limits.size and self._recorder and self._recorder.size + self._held_bytes() >= limits.size)

    def _time_is_over(self, seconds: float) -> bool:
        """The target's clock should have ended the run, and has not; or the target is not heard any more.

        A target that is slower than our time, as an emulator on a busy host is, is waited for.
        """
        over = time.monotonic() - self._begun - seconds
        if self._link.resumed:
            return over >= 0
        if over < _TARGET_STOP_GRACE_S:
            return False
        beat, started = self._link.heartbeat, self._started
        if self._link.lost or beat is None or started is None or over > _SLOWEST * seconds + _LONGEST_GRACE_S:
            return True
        return beat.run != started.run or beat.time >= started.time + self._config.max_ticks

    def _ended_by_itself(self) -> bool:
        """The run is over, and its end, which says why, has not come."""
        beat, link = self._link.heartbeat, self._link
        if not (beat and link.run and beat.run == link.run and not beat.running and link.end is None):
            self._quiet_since = 0.0
            return False
        self._quiet_since = self._quiet_since or time.monotonic()
        return time.monotonic() - self._quiet_since > _END_WAIT_S

    def _await_return(self) -> None:
        """Fetch what a target that goes down still has, then look for its next boot."""
        link, client, reboots = self._link, self._client, self._link.reboots
        self._drain()
        self._tell("the target ended the run: shutdown; waiting for its return")
        begin, refused = time.monotonic(), client.receiver.refused
        longest = min(_RETURN_S, self._seconds_left()) if self._plan.limits.seconds else _RETURN_S
        while link.reboots == reboots and not self._stop and client.output_error is None:
            waited = time.monotonic() - begin
            nobody = client.receiver.refused > refused and waited > self._plan.refused_seconds
            if nobody or waited > longest or not self._is_there():
                self._tell(f"the target has not come back for {waited:.1f} s")
                self._gone = True
                return
            if link.control is not Control.ASKING:
                link.connect(time.monotonic_ns(), patient=True)

    def _is_there(self) -> bool:
        """Go on; false when it is certain that the target will not come back."""
        try:
            self._client.pump()
        except TargetError:
            return False
        return True

    def _seconds_left(self) -> float:
        """Of the time asked for, on the target's clock, when the run that was followed has ended."""
        return self._plan.limits.seconds - self._spent - self._run_seconds()

    def _run_seconds(self) -> float:
        """Length of the run that was followed, as far as the target told."""
        link, started = self._link, self._started
        if started is None or not self._hz:
            return 0.0
        ends = [state.cut_time for state in link.states.values()] if link.end is None else [link.end.time]
        return max(max(ends, default=started.time) - started.time, 0) / self._hz

    def _events(self) -> int:
        return self._events_before + self._link.delivered

    def _held_bytes(self) -> int:
        """About what the target still holds; it will be fetched after the stop."""
        slots = self._config.unit_slots or 1024
        return sum(8 * slots * state.units_used for state in self._link.states.values())

    def _recover(self) -> None:
        link = self._link
        if link.control is Control.BUSY:
            raise TargetError(f"{self._client.name}: another host has taken control of the target")
        if link.control is Control.SILENT:
            link.connect(time.monotonic_ns())
        if link.control is Control.HELD and not link.run:
            self._restart()

    def _restart(self) -> None:
        """After a reboot: the new boot is recorded too, in the same session."""
        self._restarts += 1
        if self._restarts > _RESTARTS:
            raise TargetError(f"{self._client.name}: the target was restarted more than {_RESTARTS} times")
        self._spent += self._run_seconds() + self._link.silent_ns / 1e9
        self._started = None
        self._account()
        if self._plan.limits.seconds and self._spent >= self._plan.limits.seconds:
            self._gone = True
            return
        self._config = replace(self._config, max_ticks=self._max_ticks())
        reboots = self._link.reboots
        try:
            self._start()
        except TargetError as error:
            self._tell(str(error))
            if self._link.reboots == reboots:
                self.summary.failure, self._gone = str(error), True

    def _tell_notes(self) -> None:
        notes, self._link.notes = self._link.notes, []
        for note in notes:
            self._tell(note)

    def _show(self) -> None:
        now = time.monotonic()
        before, events_before = self._last_status
        if self._observe is None or now - before < _STATUS_S:
            return
        events = self._events()
        rate = (events - events_before) / (now - before) if before else 0.0
        self._last_status = (now, events)
        states = self._link.states.values()
        units = sum(state.units for state in states)
        fill = sum(state.units_used for state in states) / units if units else 0.0
        size = self._recorder.size if self._recorder else 0
        self._observe(Status(now - self._begun, events, rate, sum(s.losses.total for s in states), fill, size))

    # ------------------------------------------------------------ the end

    def _finish_run(self) -> None:
        self.summary.seconds = time.monotonic() - self._begun
        if self._has_no_room():
            self.summary.incomplete = "the target goes on recording; make room and go on with --resume"
        else:
            self._stop_target()
        if self._client.output_error is None and self._link.end is not None:
            self._drain()
            self._read_logs()
        self._timed.finish(self._tell)
        self._tell_notes()
        self._tell_reason()
        self._account()

    def _read_logs(self) -> None:
        """The texts of the logs, which events do not carry: the replies are datagrams of the session."""
        for log in self._logs:
            if self._gone or self._client.output_error is not None:
                return
            try:
                read_log(self._client, LogRequest(log))
            except TargetError as error:
                self._tell(f"the {log.name} log was not read: {error}")
                return

    def _has_no_room(self) -> bool:
        """The session takes no more: what the target holds may still be fetched. A reader that closed wants no more."""
        error = self._client.output_error
        return error is not None and not isinstance(error, OutputClosedError) and self._link.end is None

    def _tell_reason(self) -> None:
        """Why the run ended, when it was not we who ended it."""
        end = self._link.end
        if end is not None and end.reason not in (StopReason.HOST, StopReason.AUTOSTOP, StopReason.SHUTDOWN):
            reason = next((r.name.lower() for r in StopReason if r == end.reason), str(end.reason))
            self._tell(f"the target ended the run: {reason}")

    def _stop_target(self) -> None:
        if self._link.end is not None or not self._link.run:
            return
        reply = self._call_stop()
        if reply is None or self._link.end is not None:
            return
        if reply.result == Result.STATE:
            # It has stopped by itself; the end comes by its channel, or not at all.
            self._client.wait(lambda: self._link.end is not None, 1.0)
        elif reply.result != Result.OK:
            self.summary.failure = f"stop refused: {reply.text or reply.result.name.lower()}"

    def _call_stop(self) -> Reply | None:
        """Stop; a target that is heard but does not answer is asked again, as all that it holds depends on it."""
        failure = ""
        for _ in range(_STOPS):
            try:
                return self._client.call(Stop())
            except TargetError as error:
                failure = str(error)
            if self._link.end is not None:
                return None
            if self._link.lost:
                break
        self.summary.failure = f"{failure}; what it holds can be fetched by another capture with --resume"
        return None

    def _drain(self) -> None:
        """Fetch what the target still holds, as long as something arrives."""
        link = self._link
        blocks, since = link.blocks, time.monotonic()
        while not link.drained and self._client.output_error is None:
            self._client.pump()
            self._show()
            if link.blocks != blocks:
                blocks, since = link.blocks, time.monotonic()
            elif time.monotonic() - since > _DRAIN_QUIET_S:
                self._tell("the rest of the run did not arrive")
                return
        self._client.wait(lambda: link.acknowledged, _LAST_ACK_S)

    def _account(self) -> None:
        """Add the figures of the run that ended, once."""
        if self._accounted:
            return
        self._accounted = True
        self.summary.corrupt = self._client.corrupt
        self.summary.add_run(self._link, stored=self._client.output_error is None)
        self._events_before += self._link.delivered
        self._link.follow(0, one_way=False)

    def _close(self) -> None:
        """Say goodbye and close the session, however far it came."""
        client, summary, recorder = self._client, self.summary, self._recorder
        if not self._cut_short:
            # Whatever went wrong must not leave the target busy for the next host.
            client.leave()
        elif not self.begun:
            client.let_go()
        if recorder is None:
            return
        beat = self._link.heartbeat
        if beat:
            summary.add_counters(self._link.counters_before, beat.link)
        summary.datagrams = client.receiver.received
        summary.socket_drops = client.receiver.dropped
        if client.output_error is None and not self._cut_short:
            recorder.finish(client.receiver.received, client.receiver.dropped)
        else:
            recorder.close()
