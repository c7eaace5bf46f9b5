# SPDX-License-Identifier: Apache-2.0
"""``python -m proto.gen [--output FOLDER]``: write the generated files below the project's root or a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from proto.gen.c_record import c_record_header
from proto.gen.c_table import c_table_header, c_table_source
from proto.gen.doc import events_doc
from proto.gen.load import load
from proto.gen.model import GenError
from proto.gen.protobuf import protobuf_outputs
from proto.gen.py_table import py_table

__all__ = ["generate", "main"]

_PROTO = Path(__file__).resolve().parents[1]
_AGENT = "target_c/agent/generated"
_WIRE = "vxmon/wire/generated"
_FOLDERS = {"vxmon_pb2.py": _WIRE, "vxmon_pb2.pyi": _WIRE, "vxmon.pb.c": _AGENT, "vxmon.pb.h": _AGENT}


def generate(proto: Path) -> dict[str, str]:
    """Make all generated files from a ``proto`` folder: path below the root -> text. Raises GenError."""
    table = load(proto / "events.toml")
    files = {
        "target_c/include/vxm/generated/events.h": c_record_header(table),
        f"{_AGENT}/event_table.h": c_table_header(table),
        f"{_AGENT}/event_table.c": c_table_source(table),
        f"{_WIRE}/events.py": py_table(table),
        "proto/EVENTS.md": events_doc(table),
    }
    for name, text in protobuf_outputs(proto).items():
        files[f"{_FOLDERS[name]}/{name}"] = text
    return files


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m proto.gen", description=__doc__)
    parser.add_argument("--output", type=Path, default=_PROTO.parent, help="root to write below")
    output: Path = parser.parse_args(arguments).output
    try:
        files = generate(_PROTO)
    except GenError as error:
        print(f"proto.gen: {error}", file=sys.stderr)
        return 2
    for name, text in files.items():
        _write(output / name, text)
    return 0


def _write(path: Path, text: str) -> None:
    """Write a file only if it changes, so that nothing is built again without need."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"made {path}")


if __name__ == "__main__":
    sys.exit(main())
