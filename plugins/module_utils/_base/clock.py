# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The clock of this machine, passed to everything that waits: monotonic and wall time, sleep and jitter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

# The service truncates its times: often to the second, at best to hundredths.
SECOND, HUNDREDTH = 1.0, 0.01


@dataclass(frozen=True)
class Clock:
    """The time of this machine: ``now`` in monotonic seconds, ``sleep``, and ``wall`` in seconds since 1970.

    ``jitter`` is a random number from 0 to 1.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random


SYSTEM_CLOCK = Clock()
