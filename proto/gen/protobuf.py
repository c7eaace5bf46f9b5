# SPDX-License-Identifier: Apache-2.0
"""Runs protoc and nanopb's generator on ``vxmon.proto``; both come with the development tools."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from proto.gen.model import GenError

__all__ = ["protobuf_outputs"]

_TIMEOUT_S = 120
_NANOPB_MAIN = "from nanopb.generator.nanopb_generator import main_cli; main_cli()"


def protobuf_outputs(proto: Path) -> dict[str, str]:
    """Names and texts of the files made from ``vxmon.proto`` and ``vxmon.options`` in a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        options = [f"--proto_path={proto}", f"--python_out={scratch}", f"--pyi_out={scratch}"]
        _run([sys.executable, "-m", "grpc_tools.protoc", *options, "vxmon.proto"])
        nanopb = ["-q", "--error-on-unmatched", "-I", str(proto), "-D", scratch, "vxmon.proto"]
        _run([sys.executable, "-c", _NANOPB_MAIN, *nanopb])
        names = ["vxmon_pb2.py", "vxmon_pb2.pyi", "vxmon.pb.c", "vxmon.pb.h"]
        return {name: (Path(scratch) / name).read_text(encoding="utf-8") for name in names}


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise GenError(f"{command[2]}: no end after {_TIMEOUT_S} s") from error
    if done.returncode:
        raise GenError(f"{command[2]}: {done.stderr.strip() or done.stdout.strip()}")
