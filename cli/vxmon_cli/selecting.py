# SPDX-License-Identifier: Apache-2.0
"""The options that select events, the same in every command that has them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from vxmon.trace.criteria import Selection

__all__ = ["EVERY_CRITERION", "note_selection", "selection_options"]

F = TypeVar("F", bound=Callable[..., Any])

# Criterion -> (option, settings). A command has those that make sense for it.
_OPTIONS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "classes": ("--class", {"multiple": True, "metavar": "NAME", "help": "Only events of this class."}),
    "events": ("--event", {"multiple": True, "metavar": "NAME", "help": "Only this event, beside those of --class."}),
    "partitions": (
        "--partition",
        {"multiple": True, "metavar": "NAME", "help": "Only this partition: it ran, or the event names it."},
    ),
    "tasks": (
        "--task",
        {"multiple": True, "metavar": "NAME", "help": "Only this task: it ran, or the event names it."},
    ),
    "objects": ("--object", {"multiple": True, "metavar": "NAME", "help": "Only events that name this object."}),
    "cpus": (
        "--cpu",
        {"multiple": True, "metavar": "N", "type": click.IntRange(0, 7), "help": "Only this CPU's stream."},
    ),
    "span": (
        "--window",
        {"metavar": "A..B", "help": "Only this time from the first record: 1.5s..2s, 200ms.., ..3"},
    ),
    "around": (
        "--around-fault",
        {
            "metavar": "TYPE[:TIME]",
            "help": "Only around faults: any, HM, EXCEPTION, EDR or a code as DEADLINE_MISSED:5ms (10ms else).",
        },
    ),
}
EVERY_CRITERION: Final = tuple(_OPTIONS)


def selection_options(*criteria: str) -> Callable[[F], F]:
    """Options for these criteria, as one argument ``selection`` of the command."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def command(*arguments: Any, **options: Any) -> Any:
            given = {name: options.pop(name) for name in criteria}
            return function(*arguments, selection=_selection(given), **options)

        for name in reversed(criteria):
            option, settings = _OPTIONS[name]
            command = click.option(option, name, **settings)(command)
        return command  # type: ignore[return-value]

    return decorate


def _selection(given: dict[str, Any]) -> Selection:
    """Raises InputError: a time window or fault is not written as it should be."""
    from vxmon.trace.criteria import Selection

    if given.get("span") is not None:
        from vxmon.trace.span import parse_span

        given["span"] = parse_span(given["span"])
    if given.get("around") is not None:
        from vxmon.trace.faults import parse_fault

        given["around"], given["reach_ns"] = parse_fault(given["around"])
    return Selection(**{name: value for name, value in given.items() if value is not None})


def note_selection(text: str) -> None:
    """Say on standard error how much was selected; never silent, so that nobody takes a part for the whole."""
    click.echo(f"vxmon: {text}", err=True)
