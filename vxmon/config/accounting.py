# SPDX-License-Identifier: Apache-2.0
"""Accounting rules: what an operation costs on an OS release, as a TOML file.

Memory that nobody measured can so be estimated from how often what was done. Every error names the file, the line, the
key and what is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from vxmon.config.entries import Entry
from vxmon.config.tomlfile import read_toml
from vxmon.errors import InputError

__all__ = ["ACCOUNTING_TEMPLATE", "AccountingRule", "AccountingRules", "HeapKind", "read_accounting"]

_FORMAT: Final = 1
_MOST_RULES: Final = 1024
_LARGEST: Final = 1 << 32
_KEYS: Final = ("operation", "release", "heap", "per_operation", "per_byte", "granule", "note")

HeapKind = Literal["partition", "kernel"]

ACCOUNTING_TEMPLATE: Final = """\
# Accounting rules of vxmon: what operations cost. Use them with: vxmon analyze memory SESSION --rules FILE
#
# A target that counts operations (OP_COUNT) tells for each partition how often it did what, of how many bytes. Each
# rule says what that takes from a heap:
#
#     count * per_operation + per_byte * (bytes, each size rounded up to a multiple of granule)
#
# What gives memory back has negative costs. The sum over all operations since the partition started stands beside what
# the allocator says. Of sizes only the sum of each power of two is known; where they differ, the estimate is a range.
# What is left out has no cost. The values below are those of the demo kernel; put in those of your release.
format = 1

[[rule]]
# task_create, task_delete, io_open, io_close, allocate, free, object_create or object_delete:
operation = "allocate"
release = "*"                 # an OS release as the target says it, "2.4", or all of them
heap = "partition"            # who pays: the heap of the "partition" that did it, or the "kernel"'s
per_operation = 0             # bytes for each operation; may be negative
per_byte = 1                  # bytes for each byte asked for; may be negative, or a fraction
granule = 32                  # sizes are rounded up to a multiple of this
note = "blocks are whole granules of 32 bytes, without a header"

[[rule]]
operation = "free"            # the demo kernel counts the size of the block, a multiple of its granule
heap = "partition"
per_byte = -1

[[rule]]
operation = "io_open"
heap = "kernel"
per_byte = 1
note = "a buffer of 512 bytes for each open file"

[[rule]]
operation = "io_close"
heap = "kernel"
per_byte = -1

[[rule]]
operation = "object_create"
heap = "kernel"
per_byte = 1
granule = 32
note = "room for the messages; objects without messages take none"
"""


@dataclass(frozen=True, slots=True)
class AccountingRule:
    """The cost of one operation: ``per_operation`` bytes each, and ``per_byte`` for sizes in whole ``granule``."""

    operation: str
    release: str
    heap: HeapKind
    per_operation: int
    per_byte: Fraction
    granule: int

    def cost(self, count: int, total: int, *, equal: bool = False) -> tuple[int, int, int]:
        """Return (estimate, least, most) bytes of operations of which only number and sum of sizes are known.

        The estimate takes all sizes to be the mean. Rounded up to a granule g, n sizes with the sum T take at least T
        rounded up and at most T + n * (g - 1) rounded down to one. ``equal``: the sizes are known to be one.
        """
        granule = self.granule
        rounded = count * _up(-(-total // max(count, 1)), granule)
        least = rounded if equal else _up(total, granule)
        most = rounded if equal else max((total + count * (granule - 1)) // granule * granule, least)
        sizes = (min(max(rounded, least), most), least, most)
        costs = [self.per_operation * count + round(self.per_byte * size) for size in sizes]
        return costs[0], min(costs), max(costs)


def _up(size: int, granule: int) -> int:
    return -(-size // granule) * granule


@dataclass(frozen=True, slots=True)
class AccountingRules:
    """All rules of a file."""

    path: str
    rules: tuple[AccountingRule, ...]

    def of_release(self, release: str) -> Mapping[str, AccountingRule]:
        """Return the rules of an OS release by operation; one that names it goes before one for all."""
        chosen = {rule.operation: rule for rule in self.rules if rule.release == "*"}
        return chosen | {rule.operation: rule for rule in self.rules if rule.release == release}


def read_accounting(path: str) -> AccountingRules:
    """Read and check a file of rules.

    Raises:
        InputError: it cannot be read or is no such file.

    """
    file = read_toml(path)
    top = Entry("file", file.data, file.place)
    top.only(("format", "rule"))
    top.version("format", _FORMAT)
    tables = top.tables("rule", _MOST_RULES)
    rules: list[AccountingRule] = []
    for number, table in enumerate(tables):
        entry = top.inner("rule", table, "rule", number)
        rule = _rule(entry)
        if any((rule.operation, rule.release) == (other.operation, other.release) for other in rules):
            raise InputError(f"{entry.place}: there is a rule for {rule.operation} of release {rule.release} already")
        rules.append(rule)
    if not rules:
        raise InputError(f"{path}: no [[rule]]; --rules-init writes an example")
    return AccountingRules(path, tuple(rules))


def _rule(entry: Entry) -> AccountingRule:
    entry.only(_KEYS)
    heap: HeapKind = "kernel" if entry.choice("heap", ("partition", "kernel"), "partition") == "kernel" else "partition"
    per_byte = entry.number("per_byte", 0)
    if abs(per_byte) > _LARGEST:
        raise entry.wrong("per_byte", f"a number from {-_LARGEST:,} to {_LARGEST:,}")
    entry.text("note", "")
    return AccountingRule(
        operation=entry.name("operation"),
        release=entry.text("release", "*"),
        heap=heap,
        per_operation=entry.integer("per_operation", -_LARGEST, _LARGEST, 0),
        per_byte=Fraction(str(per_byte)),
        granule=entry.integer("granule", 1, 1 << 20, 1),
    )
