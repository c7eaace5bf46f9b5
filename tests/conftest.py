# SPDX-License-Identifier: Apache-2.0
"""Property tests draw the same examples in each run, so that a change is judged by what it changed.

``VXMON_EXPLORE=1 make test-unit`` draws other examples each time and keeps the ones that failed. No example has a time
limit: how long one takes depends on what else the machine does.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", print_blob=True, deadline=None)
settings.load_profile("explore" if os.environ.get("VXMON_EXPLORE") else "repeatable")

# A shell ignores SIGINT for what runs in its background, and nohup SIGHUP; what tests start would inherit that.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.fixture(autouse=True)
def _pipes_of_the_tests_own() -> Iterator[None]:
    """A command that runs inside a test ends with SIGPIPE from then on; the tests behind it shall not."""
    before = signal.getsignal(signal.SIGPIPE)
    yield
    signal.signal(signal.SIGPIPE, before)
