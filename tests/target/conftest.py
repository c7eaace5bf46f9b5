# SPDX-License-Identifier: Apache-2.0
"""A simulated target, and a host that controls it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.hosting import HZ
from tests.support.sim import SimHost, Simulation
from vxmon.wire.types import Result


@pytest.fixture(name="sim")
def simulation() -> Iterator[Simulation]:
    with Simulation() as sim:
        assert sim.init(hz=HZ, clock=5 * HZ, cost=0) == 0
        yield sim


@pytest.fixture(name="host")
def controlling_host(sim: Simulation) -> SimHost:
    host = SimHost(sim)
    assert host.hello().result == Result.OK
    return host
