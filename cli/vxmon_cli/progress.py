# SPDX-License-Identifier: Apache-2.0
"""What a capture says while it runs and when it ends: all of it on standard error."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vxmon.link.capture import Status
    from vxmon.link.summary import Summary

__all__ = ["Progress", "size_text", "status_line", "summary_lines"]


class Progress:
    """A status line that is rewritten, on a terminal; sentences anywhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._shown = False

    @property
    def live(self) -> bool:
        """True when there is somebody to look at a status line."""
        return self._live

    def show(self, status: Status) -> None:
        """Rewrite the status line."""
        width = max(shutil.get_terminal_size().columns - 1, 20)
        line = status_line(status, width)
        _write(f"\r{line:<{width}}")
        self._shown = True

    def clear(self) -> None:
        """Take the status line away."""
        if self._shown:
            width = max(shutil.get_terminal_size().columns - 1, 20)
            _write(f"\r{'':<{width}}\r")
            self._shown = False

    def tell(self, text: str) -> None:
        """Write a sentence on a line of its own."""
        self.clear()
        _write(f"vxmon: {text}\n")


def _write(text: str) -> None:
    """Say it; when the terminal has gone, the capture is still to be ended in good order."""
    try:
        click.echo(text, err=True, nl=False)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def status_line(status: Status, width: int) -> str:
    """Where a capture stands, in so many columns: fields that do not fit are left out from the end."""
    line = f"{status.seconds:.1f} s"
    for field in (
        f"{status.events:>11,} events", f"{status.rate:>11,.0f}/s", f"lost {status.lost:,}",
        f"buffers {status.fill:4.0%}", size_text(status.size),
    ):  # fmt: skip
        if len(line) + 2 + len(field) > width:
            break
        line += f"  {field}"
    return line


def size_text(size: int) -> str:
    """Bytes in the unit that suits."""
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def summary_lines(summary: Summary, name: str, size: int) -> list[str]:
    """The closing summary."""
    recorded = "not told" if summary.recorded is None else f"{summary.recorded:,}"
    causes = ", ".join(f"{cause} {count:,}" for cause, count in summary.lost.items())
    lost = f"{summary.lost_records:,}" + (f" ({causes})" if causes else "")
    datagrams = (
        f"datagrams: {summary.datagrams:,} received, {summary.blocks:,} blocks, {summary.duplicates:,} duplicates, "
        f"{summary.resends:,} resends, {summary.corrupt:,} corrupt, {summary.socket_drops:,} dropped by the socket"
    )
    return [
        f"{name}: {size_text(size)} in {summary.seconds:.1f} s",
        f"events: recorded {recorded}, delivered {summary.delivered:,}, lost {lost}",
        datagrams,
        *([f"the target meanwhile: {summary.refused}"] if summary.refused else []),
    ]
