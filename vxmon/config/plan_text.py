# SPDX-License-Identifier: Apache-2.0
"""A plan as text: the commented file to begin with, and what a plan says, defaults included."""

from __future__ import annotations

from typing import Any, Final

from vxmon.config.plan import KEYS, CollectionPlan

__all__ = ["PLAN_TEMPLATE", "plan_document"]

PLAN_TEMPLATE: Final = """\
# Collection plan of vxmon: what a target records, and how. What is left out is the target's default.
# Check it with: vxmon plan check FILE [--target HOST]. Use it with: vxmon capture HOST --plan FILE -o SESSION
format = 1

[events]
# Classes and single events to record; without both: all that the target offers. CONTROL always is.
# vxmon plan show lists them.
# classes = ["SCHED", "TASK", "HM"]
# events = ["MEM_SAMPLE"]
# Classes and events to leave out:
# without = ["KER", "STACK_SWITCH"]

[filters]
# Of the others no kernel calls, memory, messages and user events are recorded; switches and errors always are.
# partitions = ["NAV"]            # or: without_partitions = ["MAINT"]
# objects = ["NAV_OUT"]           # or: without_objects = ["LOG_QUEUE"]; those that exist when it begins

[sampling]
# Periods in ms, 10 to 3600000.
# memory_ms = 1000
# stack_ms = 1000
# operations_ms = 1000

[messages]
# "off", "metadata" (that messages were sent and received) or "content".
payload = "metadata"
# content_bytes = 64              # of a message, at most 4096

[buffers]
# "ring" overwrites the oldest unit when all are in use, "linear" keeps them and drops new records.
type = "ring"
# unit_slots = 1024               # slots of 8 bytes a unit, 128 to 4096
# units = 256                     # default: what the target's buffer memory holds
# grow_units = 16                 # units of one growth, when few are free
# max_units = 512                 # growth ends there
# high_water_percent = 70         # of a unit, at which it is sent
# flush_ms = 100                  # age at which it is sent

[upload]
# "acknowledged" (nothing gets lost on the way), "one_way", or "at_stop" (record only, fetch at the end).
mode = "acknowledged"
# datagram_bytes = 1400

[recording]
# Of events that take several slots keep only the header: when, which, of whom.
fast = false

[stop]
# The target stops by itself after this time, so many records, or when a linear buffer is full.
# seconds = 60.0
# records = 1000000
# when_full = true
"""


def plan_document(plan: CollectionPlan) -> dict[str, dict[str, Any]]:
    """All keys of a plan by section; None where the target's default holds."""
    return {section: {key: plan.value(section, key) for key in keys} for section, keys in KEYS.items()}
