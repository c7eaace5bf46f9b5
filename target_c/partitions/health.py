# SPDX-License-Identifier: Apache-2.0
"""The health monitor's tables of a module as C tables of the demo kernel.

Names of states, levels and errors are those of VxWorks 653; the actions are the handlers that the demo kernel has. An
error that a table does not name has level partition (in a partition) or module, and the default action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vxmon.config.model import HmEntry, HmTable, ModuleConfig, PartitionConfig
from vxmon.errors import InputError

__all__ = ["log_entries", "module_rows", "partition_row"]

ERRORS = (
    "HME_DEADLINE_MISSED", "HME_APPLICATION_ERROR", "HME_NUMERIC_ERROR", "HME_ILLEGAL_REQUEST",
    "HME_STACK_OVERFLOW", "HME_MEMORY_VIOLATION", "HME_HARDWARE_FAULT", "HME_POWER_FAIL",
)  # fmt: skip
LEVELS = {
    "HM_PROCESS_LVL": "LEVEL_PROCESS",
    "HM_PARTITION_LVL": "LEVEL_PARTITION",
    "HM_MODULE_LVL": "LEVEL_MODULE",
}
STATES = {
    "HM_MODULE_MODE": "LEVEL_MODULE",
    "HM_PARTITION_MODE": "LEVEL_PARTITION",
    "HM_PROCESS_MODE": "LEVEL_PARTITION",
}
"""The states in the kernel's order, and the level of an error that its table does not name."""
MODULE_ACTIONS = {
    "": "ACTION_DEFAULT",
    "hmDefaultHandler": "ACTION_DEFAULT",
    "hmDH_Ignore": "ACTION_IGNORE",
    "hmDH_EventLog": "ACTION_LOG",
    "hmDH_ModuleReset": "ACTION_RESET_MODULE",
}
PARTITION_ACTIONS = MODULE_ACTIONS | {
    "hmDH_ProcessRestart": "ACTION_RESTART_PROCESS",
    "hmDH_ProcessStop": "ACTION_STOP_PROCESS",
    "hmDH_PartitionWarmRestart": "ACTION_WARM_RESTART",
    "hmDH_PartitionColdRestart": "ACTION_COLD_RESTART",
    "hmDH_PartitionIdle": "ACTION_IDLE_PARTITION",
}
DEFAULT_LOG_ENTRIES = 100
MAX_LOG_ENTRIES = 128


def _row(entries: Iterable[tuple[HmEntry, str | None]], known: Mapping[str, str], otherwise: str) -> str:
    """Return one array of the kernel's, in the order of the errors' numbers."""
    row = dict.fromkeys(ERRORS, otherwise)
    for entry, value in entries:
        if entry.error not in row:
            raise InputError(f"{entry.source}: the demo kernel has no error {entry.error}; it has {', '.join(ERRORS)}")
        if value is None or value not in known:
            raise InputError(f"{entry.source}: {value!r} is none of {', '.join(filter(None, known))}")
        row[entry.error] = known[value]
    return "{" + ", ".join(row.values()) + "}"


def _tables(module: ModuleConfig, scope: str) -> list[HmTable]:
    return [table for table in module.hm_tables if table.scope == scope]


def module_rows(module: ModuleConfig) -> str:
    """Return the system table's levels and the module table's actions as C initialisers."""
    system = [entry for table in _tables(module, "system") for entry in table.entries]
    for entry in system:
        if entry.state not in STATES:
            raise InputError(f"{entry.source}: {entry.state!r} is none of {', '.join(STATES)}")
    rows = [_row(((e, e.level) for e in system if e.state == s), LEVELS, level) for s, level in STATES.items()]
    actions = ((e, e.action) for table in _tables(module, "module") for e in table.entries)
    return f"    {{{', '.join(rows)}}},\n    {_row(actions, MODULE_ACTIONS, 'ACTION_DEFAULT')},\n"


def partition_row(module: ModuleConfig, partition: PartitionConfig) -> str:
    """Return the actions of a partition's table as a C initialiser."""
    tables = [table for table in _tables(module, "partition") if table.name == partition.hm_table]
    if partition.hm_table is not None and not tables:
        raise InputError(f"{partition.source}: there is no PartitionHMTable {partition.hm_table}")
    return _row(((e, e.action) for table in tables for e in table.entries), PARTITION_ACTIONS, "ACTION_DEFAULT")


def log_entries(module: ModuleConfig) -> int:
    """Return the capacity of the HM log."""
    for table in _tables(module, "module"):
        text = table.settings.get("maxLogEntries")
        if text is None:
            continue
        if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_LOG_ENTRIES:
            raise InputError(f"{table.source}: maxLogEntries={text} is not 1 to {MAX_LOG_ENTRIES}")
        return int(text)
    return DEFAULT_LOG_ENTRIES
