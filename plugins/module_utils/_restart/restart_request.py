# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a restart module is asked for, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

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
    ``safety`` nothing is too much to lose.
    """

    check_mode: bool
    wait: bool
    policy: PollPolicy
    started_before: datetime | None = None
    in_flight: InFlight = InFlight.ATTACH
    safety: Safety | None = None
