# SPDX-License-Identifier: Apache-2.0
"""Plans and targets: what a plan means for a release, and what a target says to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from vxmon.config.plan import CollectionPlan
from vxmon.config.plan_resolve import PlanResolver, resolve_plan
from vxmon.errors import TargetError
from vxmon.link.client import Client
from vxmon.link.learning import learn_target
from vxmon.link.selection import TargetView
from vxmon.wire.events import TABLES
from vxmon.wire.types import Configure, RunConfig, TargetInfo
from vxmon_cli.keys import given_key

__all__ = ["ask_target", "connected", "offline_config"]

_CONNECT_SECONDS = 4.6


@contextmanager
def connected(address: tuple[str, int]) -> Iterator[Client]:
    """A target under our control, for some commands. Raises TargetError, InputError for a key that is none."""
    client = Client(*address, key=given_key())
    try:
        client.connect(_CONNECT_SECONDS)
        yield client
        client.leave()
    finally:
        client.close()


def offline_config(plan: CollectionPlan, release: str) -> tuple[RunConfig, TargetView]:
    """What a plan means for an OS release; filters are left out, for only a target knows its partitions.

    Raises:
        InputError: the release does not offer what the plan asks for.

    """
    table = TABLES[release]
    info = TargetInfo(os_release=release, offered=frozenset(event.id for event in table.events))
    view = TargetView(info, table)
    sections = {name: keys for name, keys in plan.sections.items() if name != "filters"}
    return resolve_plan(replace(plan, sections=sections), view), view


def ask_target(address: tuple[str, int], plan: CollectionPlan, *, check_only: bool) -> tuple[RunConfig, TargetView]:
    """Give a plan to a target; returns its configuration with the target's defaults filled in.

    Raises:
        InputError: the target does not have what the plan names.
        TargetError: it does not answer, or refuses; the message has its words.

    """
    resolver = PlanResolver(plan)
    with connected(address) as client:
        view = learn_target(client, names=resolver.needs_names)
        body = client.demand(Configure(resolver(view), check_only)).body
    if not isinstance(body, RunConfig):
        raise TargetError(f"{client.name}: no configuration in the reply")
    return body, view
