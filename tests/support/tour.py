# SPDX-License-Identifier: Apache-2.0
"""The tour in README.md: runs its commands, compares what they say with what is written, or writes it anew.

python -m tests.support.tour        # run the commands and write their output into README.md
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Final

from tests.support.tree import ROOT

__all__ = ["Step", "differences", "read_tour", "run_tour"]

README: Final = ROOT / "README.md"
TIMEOUT_S: Final = 120
_INDENT: Final = "    "
_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
# The demo kernel changes, and with it how long things take; what is said of them does not.
_NEAR: Final = 0.3
# Which frame was the worst may change with it, and how often the host asked depends on the machine.
_ANY: Final = re.compile(r"; worst: .*|datagrams: .*")


@dataclass(slots=True)
class Step:
    """A command and what it says."""

    command: str
    output: list[str] = field(default_factory=list)


def read_tour() -> list[Step]:
    """The steps of the README."""
    steps: list[Step] = []
    for line in _section():
        if line.startswith(f"{_INDENT}$ "):
            steps.append(Step(line.removeprefix(f"{_INDENT}$ ")))
        elif steps and line.startswith(_INDENT):
            steps[-1].output.append(line.removeprefix(_INDENT))
        elif steps and not line:
            steps[-1].output.append("")
    for step in steps:
        step.output = _stripped(step.output)
    return steps


def _section() -> list[str]:
    text = README.read_text(encoding="utf-8")
    begin = text.index("\n## Tour\n") + 1
    return text[begin : text.index("\n## ", begin)].splitlines()


def _stripped(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").splitlines()


def run_tour(folder: Path) -> list[Step]:
    """Run the README's commands in a folder, as a shell there would; both outputs in the order they come."""
    command = folder / "bin/vxmon"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vxmon_cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = os.pathsep.join([str(ROOT / "cli"), str(ROOT)])
    environment = {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": path,
        "VXMON_TARGET": str(ROOT / "build/ppce500/kernel.elf"),
    }
    return [Step(step.command, _run(step.command, folder, environment)) for step in read_tour()]


def _run(command: str, folder: Path, environment: dict[str, str]) -> list[str]:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_S,
        check=False,
    )
    return _stripped(done.stdout.decode().splitlines())


def differences(written: Step, said: Step) -> list[tuple[str, str]]:
    """Lines that differ by more than how large their numbers are."""
    pairs = zip_longest(written.output, said.output, fillvalue="(nothing)")
    return [(a, b) for a, b in pairs if not _alike(a, b)]


def _alike(a: str, b: str) -> bool:
    if a == b:
        return True
    words = [" ".join(_NUMBER.sub("0", line).split()) for line in (a, b)]
    numbers = [[float(t.replace(",", "")) for t in _NUMBER.findall(_ANY.sub("", line))] for line in (a, b)]
    return words[0] == words[1] and all(_near(x, y) for x, y in zip(*numbers, strict=True))


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= _NEAR * max(abs(a), abs(b))


def _write(steps: list[Step]) -> None:
    """Put the output of each command behind it."""
    waiting = iter(steps)
    lines: list[str] = []
    inside = False
    for line in _section():
        if line.startswith(f"{_INDENT}$ "):
            step = next(waiting)
            lines += [line, *(f"{_INDENT}{said}".rstrip() for said in step.output), ""]
            inside = True
        elif inside and (line.startswith(_INDENT) or not line):
            continue
        else:
            inside = False
            lines.append(line)
    text = README.read_text(encoding="utf-8")
    old = "\n".join(_section())
    README.write_text(text.replace(old, "\n".join(lines).rstrip("\n")), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        _write(run_tour(Path(name)))
