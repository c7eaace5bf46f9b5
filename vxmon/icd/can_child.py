# SPDX-License-Identifier: Apache-2.0
"""Reads a CAN database in a process of its own, with limits: ``python can_child.py FORMAT < FILE``.

cantools believes the sizes that a file states: one line of a damaged file makes it take any amount of memory. Here it
ends instead. Standard output is a JSON array of messages; exit status 2 with one line on standard error for what is no
database, 4 for what is too much.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cantools.database.can import Message, Signal

__all__ = ["CPU_S", "MEMORY", "main"]

MEMORY: Final = 1 << 30
"""Most address space in bytes; 4 MB of DBC need 400 MB."""
CPU_S: Final = 60
_LINEAR: Final = frozenset(f"{name}Conversion" for name in ("Identity", "LinearInteger", "Linear", "NamedSignal"))


def main(kind: str) -> int:
    """Read standard input, write standard output; return the exit status."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    import cantools
    from cantools.database.can import Database
    from cantools.database.errors import UnsupportedDatabaseFormatError

    try:
        database = cantools.database.load_string(sys.stdin.read(), database_format=kind, strict=False)
        if not isinstance(database, Database):
            return _refuse("it describes diagnostics, not messages")
        json.dump([_message(message) for message in database.messages], sys.stdout)
    except MemoryError:
        return 4
    except UnsupportedDatabaseFormatError as error:
        # It wraps whatever went wrong in the reader of the format.
        inner = error.e_arxml or error.e_dbc or error.e_kcd or error
        return 4 if isinstance(inner, MemoryError) else _refuse(str(inner) or type(inner).__name__)
    # What a damaged file makes of a parser that expects sound ones; cantools promises no list of its own.
    except (
        cantools.Error, ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError,
        RecursionError, SyntaxError, TypeError, ValueError,
    ) as error:  # fmt: skip
        return _refuse(str(error) or type(error).__name__)
    return 0


def _refuse(reason: str) -> int:
    sys.stderr.write(" ".join(reason.split())[:200] + "\n")
    return 2


def _message(message: Message) -> dict[str, Any]:
    return {
        "name": message.name,
        "size": message.length,
        "description": str(message.comment or ""),
        "container": message.is_container,
        "signals": [_signal(signal) for signal in message.signals],
    }


def _signal(signal: Signal) -> dict[str, Any]:
    conversion = signal.conversion
    return {
        "name": signal.name,
        "start": signal.start,
        "length": signal.length,
        "order": signal.byte_order,
        "signed": signal.is_signed,
        "float": conversion.is_float,
        "linear": type(conversion).__name__ in _LINEAR,
        "scale": conversion.scale,
        "offset": conversion.offset,
        "unit": signal.unit or "",
        "values": [[int(code), str(name)] for code, name in (conversion.choices or {}).items()],
        "minimum": signal.minimum,
        "maximum": signal.maximum,
        "selector": signal.multiplexer_signal,
        "selected_by": list(signal.multiplexer_ids or ()),
        "description": str(signal.comment or ""),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
