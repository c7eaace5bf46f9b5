# SPDX-License-Identifier: Apache-2.0
"""``vxmon capture``: records what a target sends, raw."""

from __future__ import annotations

from typing import Any

import click

from vxmon_cli.keys import key_option, keyed_by_option
from vxmon_cli.options import CaptureOptions
from vxmon_cli.params import SCENARIOS, Address, BootParameter, Number, Size

__all__ = ["capture"]

_PORT = 6530
_MAX_SCENARIO = 31
_LEAST_PART = 64 << 10


@click.command("capture")
@click.argument("address", required=False, type=Address(_PORT), metavar="[HOST[:PORT]]")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The session; - is standard output, a FIFO is fine."
)
@click.option("-d", "--seconds", type=Number(0, 1e9, min_open=True), help="Stop after this time.")
@click.option("-n", "--events", type=click.IntRange(1), help="Stop when this many events have arrived.")
@click.option("-S", "--size", type=Size(), help="Stop at this size of the session (k, M, G).")
@click.option("-r", "--ring", is_flag=True, help="Keep the newest SIZE (default 64M) until you stop it.")
@click.option("--rotate-size", type=Size(), help="Begin a new file, NAME-0001, -0002 ..., at each SIZE (k, M, G).")
@click.option(
    "--rotate-time", type=click.FloatRange(1, 1e9), metavar="SECONDS", help="Begin a new file after this time."
)
@click.option("-F", "--exclude", multiple=True, metavar="CLASS", help="Leave out a class of events; may be repeated.")
@click.option("-E", "--event", "only", multiple=True, metavar="EVENT", help="Record only this event; may be repeated.")
@click.option("--plan", metavar="FILE", help="What to record and how, as vxmon plan init writes it.")
@click.option("--one-way", is_flag=True, help="No acknowledgements: what gets lost on the way stays lost.")
@click.option("--sync", is_flag=True, help="Acknowledge only what is on the disk (fsync).")
@click.option("--resume", is_flag=True, help="Go on with what the target still records for a capture that was killed.")
@click.option(
    "--at",
    "timed",
    multiple=True,
    metavar="SECONDS=ACTION",
    help="Tell the target while it records: scenario:NAME, on:EVENT, off:EVENT, mark:NUMBER; may be repeated.",
)
@key_option
@click.option("-v", "--verbose", count=True, help="Say more about what goes on.")
@click.option("--unit-slots", type=click.IntRange(128, 4096), help="Slots of 8 bytes in a unit.  [1024]")
@click.option("--units", type=click.IntRange(2, 65535), help="Units of the target.  [all its memory holds]")
@click.option(
    "--policy",
    type=click.Choice(["ring", "linear"]),
    default="ring",
    show_default=True,
    help="With all units in use: overwrite the oldest, or stop recording.",
)
@click.option("--high-water", type=click.IntRange(1, 100), help="Percent of a unit at which it is sent.  [70]")
@click.option("--flush-ms", type=click.IntRange(1, 65535), help="Age at which a unit is sent.  [100]")
@click.option("--datagram", type=click.IntRange(512, 1472), help="Bytes of a datagram.  [1400]")
@click.option("--no-upload", is_flag=True, help="Record only; fetch at the stop.")
@click.option("--qemu", is_flag=True, help="Run the demo target for the duration of the capture.")
@click.option("--deterministic", is_flag=True, help="With --qemu and -d: seconds of target time, equal in every run.")
@click.option(
    "--scenario",
    default="",
    metavar="NAME",
    help=f"What the demo applications do: {', '.join(SCENARIOS)}.",
)
@click.option("--image", metavar="FILE", help="The demo kernel; default $VXMON_TARGET, else build/ of the checkout.")
@click.option(
    "--parameter",
    "parameters",
    type=BootParameter(),
    multiple=True,
    metavar="KEY=VALUE",
    help="Boot parameter of the demo kernel.",
)
@click.pass_context
def capture(context: click.Context, /, **given: Any) -> None:
    """Record what a target sends, every datagram, into a session.

    The session is a pcapng file; look at it with vxmon print and vxmon info. Ctrl-C stops in good order: the rest
    is fetched and counted. A second one stops at once.
    """
    options = CaptureOptions(**{name: _given(name, value) for name, value in given.items()})
    _check(options, context)
    from vxmon_cli.recording import record

    context.exit(record(options))


def _given(name: str, value: Any) -> Any:
    """A number that was not given is 0: no limit, or the target's default."""
    return 0 if value is None and name not in ("address", "image", "plan") else value


def _check(options: CaptureOptions, context: click.Context) -> None:
    """Options that do not go together."""
    planned = (
        options.exclude or options.only or options.one_way or options.unit_slots or options.units
        or options.policy == "linear" or options.high_water or options.flush_ms or options.datagram
        or options.no_upload
    )  # fmt: skip
    rotated = options.rotate_size or options.rotate_time
    demo_only = options.deterministic or options.image or options.parameters
    for wrong, why in (
        (options.qemu and options.address, "give HOST or --qemu, not both"),
        (not options.qemu and not options.address, "which target? Give HOST[:PORT], or --qemu for the demo target"),
        (demo_only and not options.qemu, "--deterministic, --image and --parameter need --qemu"),
        (
            options.qemu and options.scenario not in ("", *SCENARIOS),
            f"'{options.scenario}' is no scenario of the demo target; there are: {', '.join(SCENARIOS)}",
        ),
        (
            len(options.scenario) > _MAX_SCENARIO or not options.scenario.isprintable(),
            f"a scenario's name is at most {_MAX_SCENARIO} printable characters",
        ),
        (options.resume and options.qemu, "--resume needs a target that is running: give HOST"),
        (options.ring and options.output == "-", "a ring needs a file: -o FILE"),
        (rotated and options.output == "-", "several files need a name: -o FILE"),
        (rotated and options.ring, "a ring keeps one file of a size; leave out --rotate-size and --rotate-time"),
        (0 < options.rotate_size < _LEAST_PART, "--rotate-size is at least 64k"),
        (rotated and options.deterministic, "--deterministic writes one file"),
        (options.plan and planned, "--plan says what to record and how; leave out -E, -F and the options of buffers"),
        (
            options.deterministic and keyed_by_option(),
            "--deterministic has no host that could show a key; leave out --key-file",
        ),
        (options.deterministic and options.timed, "--deterministic has no host that could act; leave out --at"),
        (options.deterministic and not options.seconds, "--deterministic needs -d SECONDS"),
        (
            options.deterministic and (options.events or options.size or options.ring),
            "--deterministic stops by -d alone, not by -n, -S or -r",
        ),
    ):
        if wrong:
            raise click.UsageError(why, context)
