# SPDX-License-Identifier: Apache-2.0
"""``vxmon target``: the demo target on QEMU."""

from __future__ import annotations

import click

from vxmon_cli.keys import given_key, key_option
from vxmon_cli.params import SCENARIOS, Address, BootParameter

__all__ = ["target"]

_PORT = 6530
_HEARTBEAT_S = 1.5
_MAX_SCENARIO = 31


@click.group("target")
def target() -> None:
    """Run the demo target, and tell targets what to do."""


@target.command("scenario")
@click.argument("name", metavar="NAME")
@click.argument("address", type=Address(_PORT), default=f"127.0.0.1:{_PORT}", metavar="[HOST[:PORT]]")
@key_option
def _scenario(name: str, address: tuple[str, int]) -> None:
    """Let a target's applications do something else: nominal, overload, leak, faults, chatter, bursty.

    schedule:ID takes another schedule of the demo module from the next major frame on. Other targets may have other
    names; what they do not have they refuse.
    """
    from vxmon.wire.types import Scenario
    from vxmon_cli.planning import connected

    if len(name) > _MAX_SCENARIO or not name.isascii() or not name.isprintable():
        raise click.BadParameter(f"a scenario's name is at most {_MAX_SCENARIO} printable characters")
    with connected(address) as client:
        client.demand(Scenario(name))
    click.echo(f"{client.name}: scenario {name}")


@target.command("info")
@click.argument("address", type=Address(_PORT), default=f"127.0.0.1:{_PORT}", metavar="[HOST[:PORT]]")
@key_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def _info(address: tuple[str, int], form: str) -> None:
    """Say what a target is, which events and limits it offers, its partitions, and the plan that is active."""
    import json

    from vxmon.link.learning import learn_target
    from vxmon.report.target import target_blocks, target_document
    from vxmon_cli.planning import connected
    from vxmon_cli.render import show, write_text

    with connected(address) as client:
        view = learn_target(client, names=True)
        # Its first heartbeat comes at once.
        client.wait(lambda: client.link.heartbeat is not None, _HEARTBEAT_S)
        beat = client.link.heartbeat
    document = target_document(view, beat.link if beat is not None else None)
    if form == "json":
        write_text(json.dumps(document, indent=2) + "\n")
    else:
        show(target_blocks(document))


@target.command("memory")
@click.argument("address", type=Address(_PORT), default=f"127.0.0.1:{_PORT}", metavar="[HOST[:PORT]]")
@key_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def _memory(address: tuple[str, int], form: str) -> None:
    """Show the heaps of a target's partitions as they are now."""
    import json

    from vxmon.link.learning import learn_target
    from vxmon.link.logs import read_memory
    from vxmon.report.target import memory_blocks, memory_document
    from vxmon_cli.planning import connected
    from vxmon_cli.render import show, write_text

    with connected(address) as client:
        view = learn_target(client, names=True)
        document = memory_document(view, read_memory(client))
    if form == "json":
        write_text(json.dumps(document, indent=2) + "\n")
    else:
        show(memory_blocks(document))


@target.command("run")
@click.option(
    "--scenario",
    type=click.Choice(SCENARIOS),
    default="nominal",
    show_default=True,
    metavar="NAME",
    help=f"What the applications do: {', '.join(SCENARIOS)}.",
)
@click.option("--port", type=click.IntRange(1, 65535), default=6530, show_default=True, help="UDP port of 127.0.0.1.")
@click.option("--run", "length", default="", metavar="LENGTH", help="End after 10s or 500f (frames); without: never.")
@click.option(
    "--release", type=click.Choice(["2.2", "2.4"]), default="2.4", show_default=True, help="OS release played."
)
@click.option("--image", metavar="FILE", help="The kernel; default $VXMON_TARGET, else build/ of the checkout.")
@click.option(
    "--parameter",
    "extra",
    type=BootParameter(),
    multiple=True,
    metavar="KEY=VALUE",
    help="Any other boot parameter.",
)
@key_option
@click.pass_context
def _run(
    context: click.Context, scenario: str, port: int, length: str, release: str, image: str | None,
    extra: tuple[str, ...],
) -> None:  # fmt: skip
    """Run the demo target in the foreground; its console is shown.

    Capture from it with: vxmon capture 127.0.0.1 -o FILE. Ctrl-C ends it.
    """
    from dataclasses import replace

    from vxmon.link.qemu import LIVE, Boot, DemoTarget, check_port, find_image, forward_options

    boot = replace(Boot.fresh(scenario, extra), run=length, release=release)
    kernel = find_image(image)
    check_port(port)
    with DemoTarget(kernel, boot, forward_options(port), LIVE, foreground=True, key=given_key()) as demo:
        if demo.wait(float("inf")):
            raise demo.failure()
    context.exit(0)
