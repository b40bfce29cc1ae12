# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The request to a restart module, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from .._base.cli_hints import BY_OPTIONS, Hints
from .._safety.caps import Caps
from .._signs.offline_budget import OfflineBudget
from .._signs.sign_rules import Watch
from .._waiting.poll_pauses import PollPolicy
from .failure_limit import FailureLimit
from .knowledge import InFlight

if TYPE_CHECKING:
    from .._base.windows import Calendar


@dataclass(frozen=True)
class Safety:
    """The demands on a cluster right before the restart of a part of it.

    With ``majority`` no tenant that is not ``tolerated`` may lose its own. With ``healthy`` the cluster has to be
    healthy, apart from what this controller restarts in the same zone. The target has to be in the ``zone``, if given.
    """

    tolerated: frozenset[str] = frozenset()
    majority: bool = True
    healthy: bool = False
    zone: str | None = None


@dataclass(frozen=True)
class RestartRequest:
    """The options of a restart module. ``started_before`` is by the clock of this machine; ``change`` is a name.

    Without both, and without wanted values, it always restarts.
    ``policy`` limits all waiting: with ``in_flight`` queue for other tasks, with ``wait`` for the restart; that its
    task ends and its start shows is awaited elsewhere if it is one of many that are ``awaited_together``. Without
    ``safety`` there are no demands. A restart that would not end before ``finish_before``, by the same clock, is not
    begun, nor is one that would not end in one of the ``windows``. ``watch`` are signs of trouble that
    stop it. ``safety_timeout`` is how many seconds it waits for its safety, and for those signs to end that may.
    ``offline_time`` is how many seconds a server may be offline, None to read it.
    ``until_effective`` are the values of parameters that the restart is for; a server that shows them needs no restart.
    ``failures`` limits how many restarts of the change may have failed elsewhere. ``journal_url`` names the journal,
    None for that of this controller. ``caps`` limit how many servers this journal's restarts take down at a time.
    ``hints`` is how the caller gives an option that a message proposes. ``foretells``: in check mode the reason says
    what would be done.
    """

    check_mode: bool
    wait: bool
    policy: PollPolicy
    started_before: datetime | None = None
    change: str | None = None
    in_flight: InFlight = InFlight.ATTACH
    safety: Safety | None = None
    finish_before: datetime | None = None
    windows: Calendar | None = None
    watch: Watch | None = None
    safety_timeout: float = 0.0
    offline_budget: OfflineBudget = OfflineBudget.IGNORE
    offline_time: float | None = None
    until_effective: Mapping[str, str] = field(default_factory=dict)
    failures: FailureLimit | None = None
    journal_url: str | None = None
    caps: Caps | None = None
    hints: Hints = BY_OPTIONS
    foretells: bool = True
    awaited_together: bool = False

    @property
    def awaits_end(self) -> bool:
        """Whether it waits itself for the end of its task and for its start."""
        return self.wait and not self.check_mode and not self.awaited_together

    @property
    def is_dated(self) -> bool:
        """Whether an instant or a name says when the change was made."""
        return self.started_before is not None or self.change is not None

    @property
    def is_at_most_once(self) -> bool:
        """Whether the same request leaves alone what has restarted meanwhile."""
        return self.is_dated or bool(self.until_effective)
