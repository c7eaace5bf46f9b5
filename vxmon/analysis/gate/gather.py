# SPDX-License-Identifier: Apache-2.0
"""The named figures of a session: one walk for all those analyses of which some figure is wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from vxmon.analysis.named import NamedFigure
from vxmon.analysis.walk import Walker, walk
from vxmon.config.limits import Limits, Pattern
from vxmon.config.model import ModuleConfig
from vxmon.errors import InputError
from vxmon.trace.criteria import Selection
from vxmon.trace.facts import Facts
from vxmon.trace.selection import check_names
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.trace import StoredTrace

__all__ = ["SOURCES", "FigureSource", "GateRequest", "check_scope", "gather", "is_selected"]


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What to judge: a time window, a module configuration, and processes whose time is margin."""

    span: Span = EVERYTHING
    module: ModuleConfig | None = None
    background: Collection[str] = ()


Figures = Callable[[], Iterator[NamedFigure]]
Start = Callable[[StoredTrace, GateRequest], tuple[Walker, Figures]]


@dataclass(frozen=True, slots=True)
class FigureSource:
    """One analysis: the first parts of the names of its figures, and the function that starts it.

    That returns what the analysis does with the records, and what makes the figures behind the walk.
    """

    analysis: str
    prefixes: tuple[str, ...]
    start: Start

    def may_match(self, pattern: Pattern) -> bool:
        """Tell whether a pattern can name one of its figures."""
        return any(_overlap(pattern, f"{prefix}.") for prefix in self.prefixes)

    def compute(self, trace: StoredTrace, request: GateRequest) -> Iterator[NamedFigure]:
        """Its figures, by a walk of its own."""
        walker, figures = self.start(trace, request)
        walk(trace, [walker])
        return figures()


def _overlap(pattern: Pattern, prefix: str) -> bool:
    head = pattern.head
    return head.startswith(prefix) or (head != pattern.text and prefix.startswith(head))


def _time(trace: StoredTrace, request: GateRequest) -> tuple[Walker, Figures]:
    from vxmon.analysis.time.analyze import TimeRequest, time_walk
    from vxmon.analysis.time.named import named_figures

    walker, result = time_walk(trace, TimeRequest(request.span, request.module, request.background))
    return walker, lambda: named_figures(result, trace.facts)


def _memory(trace: StoredTrace, request: GateRequest) -> tuple[Walker, Figures]:
    from vxmon.analysis.memory.analyze import MemoryRequest, memory_walk
    from vxmon.analysis.memory.named import named_figures

    walker, result = memory_walk(trace, MemoryRequest(request.span))
    return walker, lambda: named_figures(result, trace.facts)


def _comm(trace: StoredTrace, request: GateRequest) -> tuple[Walker, Figures]:
    from vxmon.analysis.comm.analyze import comm_walk
    from vxmon.analysis.comm.named import named_figures
    from vxmon.analysis.scene import Scope

    walker, result = comm_walk(trace, Scope(request.span, request.module))
    return walker, lambda: named_figures(result, trace.facts)


def _system(trace: StoredTrace, request: GateRequest) -> tuple[Walker, Figures]:
    from vxmon.analysis.scene import Scope
    from vxmon.analysis.system.analyze import SystemRequest, system_walk
    from vxmon.analysis.system.named import named_figures

    scope = Scope(request.span, request.module, request.background)
    walker, result = system_walk(trace, SystemRequest(scope))
    return walker, lambda: named_figures(result, trace.facts)


def _quality(trace: StoredTrace, request: GateRequest) -> tuple[Walker, Figures]:
    from vxmon.analysis.quality import named_figures, quality_walk

    del request  # What weakens the evidence does so outside the window, too.
    walker, judged = quality_walk(trace)
    return walker, lambda: named_figures(judged(), trace.facts)


SOURCES: Final = (
    FigureSource("time", ("cpu", "partition", "window", "task"), _time),
    FigureSource("memory", ("memory", "stack", "operations"), _memory),
    FigureSource("comm", ("comm", "flow"), _comm),
    FigureSource("system", ("hm", "edr", "exception", "interrupt"), _system),
    FigureSource("quality", ("quality",), _quality),
)
"""Every analysis that the gate asks. A new one adds its line here, and nothing else."""


def gather(trace: StoredTrace, patterns: Collection[Pattern], request: GateRequest) -> list[NamedFigure]:
    """The figures of every analysis that one of the patterns can mean; more than those that match."""
    wanted = [source for source in SOURCES if any(source.may_match(pattern) for pattern in patterns)]
    started = [source.start(trace, request) for source in wanted]
    walk(trace, [walker for walker, _ in started])
    return [figure for _, figures in started for figure in figures()]


def check_scope(limits: Limits, facts: Facts) -> None:
    """Refuse background processes that the session does not have, and a window in which there is none of it.

    A count in a window without records would be 0, and a rule that allows no more would hold.

    Raises:
        InputError: with the place in the file of limits.

    """
    for key, selection in (
        ("background", Selection(tasks=limits.background)),
        ("window", Selection(span=limits.span)),
    ):
        try:
            check_names(selection, facts)
        except InputError as error:
            raise InputError(f"{limits.places[key]}: {key}: {error}") from None


def is_selected(pattern: Pattern, figure: NamedFigure) -> bool:
    """Tell whether a pattern means a figure; ``#12``, which tells things of one name apart, may be left out."""
    return pattern.matches(figure.name) or ("#" in figure.name and pattern.matches(_without_number(figure.name)))


def _without_number(name: str) -> str:
    """``task.NAV.worker#12.time`` without ``#12``."""
    head, _, tail = name.rpartition("#")
    digits, dot, rest = tail.partition(".")
    return head + dot + rest if digits.isdecimal() else name
