# SPDX-License-Identifier: Apache-2.0
"""The result of ``analyze system``. All times are ticks of the target's clock, rates thousandths per second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from vxmon.analysis.figures import Figure
from vxmon.analysis.spread import Spread
from vxmon.trace.span import EVERYTHING, Span
from vxmon.wire.events import EventId

__all__ = [
    "CATEGORIES", "EVENTS", "BootSystem", "Category", "CategoryName", "ExceptionFact", "Fault", "Interrupt",
    "InterruptTime", "Kind", "Message", "Sample", "SystemResult",
]  # fmt: skip

CategoryName = Literal["hm", "edr", "exception", "interrupt"]
CATEGORIES: Final[tuple[CategoryName, ...]] = ("hm", "edr", "exception", "interrupt")
EVENTS: Final[dict[CategoryName, EventId]] = {
    "hm": EventId.HM_EVENT,
    "edr": EventId.EDR_EVENT,
    "exception": EventId.EXCEPTION,
    "interrupt": EventId.INT_ENTR,
}
"""The event of each category."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Events of one kind: of one partition, or of all (``partition`` is None). ``name`` is that of figures.

    ``worst_at`` is when the span began in which they were densest. ``partition`` 65535: of none, -1: not known.
    """

    name: str
    number: int
    partition: int | None
    count: Figure
    mean_rate: Figure
    most_rate: Figure
    worst_at: int | None
    first: int | None
    last: int | None
    over_time: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Category:
    """Events of one category; ``kinds`` are over all partitions, ``by_partition`` apart. Both may be empty."""

    name: CategoryName
    total: Kind
    kinds: list[Kind] = field(default_factory=list)
    by_partition: list[Kind] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class InterruptTime:
    """How long the handlers of one interrupt took, from entry to exit."""

    number: int
    vector: int | None
    duration: Spread


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a partition; ``sent`` or received. ``result`` is a name of the session's table, or a number."""

    time: int
    sent: bool
    object: int
    number: int
    size: int
    result: str


@dataclass(frozen=True, slots=True)
class Interrupt:
    """An interrupt that was taken before; ``ip`` is the interrupted instruction."""

    time: int
    number: int
    vector: int
    ip: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a partition's heap in bytes; ``largest`` is None where the sample does not tell."""

    time: int
    free: int
    allocated: int
    largest: int | None


@dataclass(frozen=True, slots=True)
class ExceptionFact:
    """The processor's exception that led to an error."""

    time: int
    vector: int
    code: int
    address: int
    ip: int


@dataclass(frozen=True, slots=True)
class Fault:
    """An error with its circumstances. What is None is told in ``absent``: by the name of the fact, why.

    ``of_partition`` and ``of_task`` are whom the health monitor names, ``partition`` and ``task`` who ran.
    ``offset`` is in the window that ran, ``released`` the nominal release of the task the error is of (of the running
    one where it names none). ``lost_before`` is how long before the fault records were lost, None: never.
    """

    time: int
    stream: int
    name: str
    code: int | None
    level: str
    action: str
    subcode: int
    address: int
    entry: int | None
    of_partition: int | None
    of_task: int | None
    partition: int | None
    task: int | None
    depth: int | None
    schedule: int | None
    window: int | None
    offset: int | None
    budget: int | None
    frame: int | None
    margin: Figure
    released: int | None
    activation: int | None
    completed: bool
    memory: Sample | None
    messages: tuple[Message, ...]
    interrupts: tuple[Interrupt, ...]
    exception: ExceptionFact | None
    lost_before: int | None
    absent: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class BootSystem:
    """The figures of one boot. Names are those of the session; ``rate_span`` is the width for the largest rates."""

    id: int
    number: int
    clock_hz: int
    begin: int
    end: int
    observed: int
    rate_span: int
    categories: list[Category] = field(default_factory=list)
    interrupts: list[InterruptTime] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    faults_left_out: int = 0
    partition_names: Mapping[int, str] = field(default_factory=dict)
    task_names: Mapping[int, str] = field(default_factory=dict)
    object_names: Mapping[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def category(self, name: CategoryName) -> Category:
        """A category by its name."""
        return next(category for category in self.categories if category.name == name)


@dataclass(slots=True)
class SystemResult:
    """What ``analyze system`` found."""

    boots: list[BootSystem]
    span: Span = EVERYTHING
