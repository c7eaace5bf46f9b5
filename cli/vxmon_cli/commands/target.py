# SPDX-License-Identifier: Apache-2.0
"""``vxmon target``: the demo target on QEMU."""

from __future__ import annotations

import click

__all__ = ["target"]


@click.group("target")
def target() -> None:
    """Run the demo target."""


@target.command("run")
@click.option("--scenario", default="nominal", show_default=True, metavar="NAME", help="What the applications do.")
@click.option("--port", type=click.IntRange(1, 65535), default=6530, show_default=True, help="UDP port of 127.0.0.1.")
@click.option("--run", "length", default="", metavar="LENGTH", help="End after 10s or 500f (frames); without: never.")
@click.option(
    "--release", type=click.Choice(["2.2", "2.4"]), default="2.4", show_default=True, help="OS release played."
)
@click.option("--image", metavar="FILE", help="The kernel; default $VXMON_TARGET, else build/ of the checkout.")
@click.option("--parameter", "extra", multiple=True, metavar="KEY=VALUE", help="Any other boot parameter.")
@click.pass_context
def run(
    context: click.Context, scenario: str, port: int, length: str, release: str, image: str | None,
    extra: tuple[str, ...],
) -> None:  # fmt: skip
    """Run the demo target in the foreground; its console is shown.

    Capture from it with: vxmon capture 127.0.0.1 -o FILE. Ctrl-C ends it.
    """
    from dataclasses import replace

    from vxmon.errors import TargetError
    from vxmon.link.qemu import LIVE, Boot, DemoTarget, find_image, forward_options

    boot = replace(Boot.fresh(scenario, extra), run=length, release=release)
    with DemoTarget(find_image(image), boot, forward_options(port), LIVE, foreground=True) as demo:
        status = demo.wait(float("inf"))
        if status:
            raise TargetError(f"the demo target failed (status {status}): {demo.last_words()}")
    context.exit(0)
