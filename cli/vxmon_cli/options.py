# SPDX-License-Identifier: Apache-2.0
"""Options of ``vxmon capture``, and what the library makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vxmon.config.plan_resolve import PlanResolver
    from vxmon.wire.types import RunConfig

__all__ = ["CaptureOptions"]


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """The options, as given."""

    address: tuple[str, int] | None
    output: str
    seconds: float
    events: int
    size: int
    ring: bool
    rotate_size: int
    rotate_time: float
    exclude: tuple[str, ...]
    only: tuple[str, ...]
    one_way: bool
    sync: bool
    resume: bool
    timed: tuple[str, ...]
    verbose: int
    unit_slots: int
    units: int
    policy: str
    high_water: int
    flush_ms: int
    datagram: int
    no_upload: bool
    qemu: bool
    deterministic: bool
    scenario: str
    image: str | None
    parameters: tuple[str, ...]
    plan: str | None

    def resolver(self) -> PlanResolver | None:
        """The plan, to be resolved when the target is known; None without one. Raises InputError."""
        if self.plan is None:
            return None
        from vxmon.config.plan import read_plan
        from vxmon.config.plan_resolve import PlanResolver

        return PlanResolver(read_plan(self.plan))

    def run_config(self) -> RunConfig:
        """How the target shall record."""
        from vxmon.wire.types import Policy, RunConfig

        return RunConfig(
            datagram_bytes=self.datagram, unit_slots=self.unit_slots, units=self.units,
            policy=Policy[self.policy.upper()], high_water=self.high_water, flush_ms=self.flush_ms,
            one_way=self.one_way, no_upload=self.no_upload,
        )  # fmt: skip
