# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a restart module is asked for, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .._signs.offline_budget import OfflineBudget
from .._signs.sign_rules import Watch
from .._waiting.poll import PollPolicy
from .decision import InFlight


@dataclass(frozen=True)
class Safety:
    """What must not be lost by a restart: the majority of any tenant that is not ``tolerated``.

    ``timeout`` is how many seconds to wait until it is safe.
    """

    tolerated: frozenset[str] = frozenset()
    timeout: float = 0.0


@dataclass(frozen=True)
class RestartRequest:
    """The options of a restart module. ``started_before`` is by the clock of this machine; None always restarts.

    ``policy`` limits all waiting: with ``in_flight`` queue for other tasks, with ``wait`` for the restart. Without
    ``safety`` nothing is too much to lose. ``watch`` are signs of trouble that stop it, after ``signs_timeout`` seconds
    of waiting for those to end that may. ``offline_time`` is how many seconds a server may be away, None to read it.
    """

    check_mode: bool
    wait: bool
    policy: PollPolicy
    started_before: datetime | None = None
    in_flight: InFlight = InFlight.ATTACH
    safety: Safety | None = None
    watch: Watch | None = None
    signs_timeout: float = 0.0
    offline_budget: OfflineBudget = OfflineBudget.IGNORE
    offline_time: float | None = None
