# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart whose start has to show: its task, its members before it, and how often that is looked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .._ocp.task_model import Task
from .._targets.target import Member, Target
from .._waiting.poll_pauses import PollPolicy
from .change import Begin, Span, relative_to_task, started_span
from .evidence import PROOF_TIMEOUT
from .knowledge import Relative
from .look import age_order

PAUSES = PollPolicy(PROOF_TIMEOUT, 5.0)


@dataclass(frozen=True)
class RestartTask:
    """What is known of the task whose restart is to be proven.

    It has this ``number`` and ``began`` then. ``attached``: it may have run already when the target was seen before,
    and have started it by then. ``change``: what it is for; a start since that is enough. ``late``: the members of
    which the start of an earlier restart may have been shown late. ``skipped``: a step of it was skipped that may have
    stopped or started it, so that only a start that has moved proves a restart. ``apart``: the clocks of the service
    differ by so many seconds.
    """

    number: int
    began: datetime | None
    attached: bool = False
    change: Begin = field(default_factory=Begin)
    late: frozenset[str] = frozenset()
    skipped: bool = False
    apart: float = 0.0

    def start_after(self, member: Member) -> Relative:
        """The start of a member relative to the begin of the task; HIDDEN if no clock decides that."""
        span = None if self.change.sights is not None else started_span(member)
        if span is None or self.began is None:
            return Relative.HIDDEN
        return relative_to_task(span, Span.of(self.began), self.apart)

    def is_before(self, other: Task) -> bool:
        """Whether another task is later than this one."""
        return self.began is None or age_order(other) > (self.began, self.number)


@dataclass(frozen=True)
class Awaited:
    """A restart whose start has to show: the members of its target ``before`` it, and what it was for.

    Of ``late`` members the start of an earlier restart may show late.
    """

    target: Target
    before: tuple[Member, ...]
    change: Begin
    late: frozenset[str]
