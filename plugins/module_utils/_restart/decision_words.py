# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The common words of decisions: starts, instants and what is at work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from .._base.text import join_names
from .._targets.serving import is_in_flight
from .._targets.target import Member, Observation
from .task_evidence import FinishedRestart


def moving_words(observed: Observation) -> str:
    """As in ``10.0.0.1:2882 is RESTARTING``."""
    moving = [member.state for member in observed.members if is_in_flight(member.status)]
    return join_names(moving) or f"it is {observed.status}"


def start_words(members: Iterable[Member], finished: Sequence[FinishedRestart] = ()) -> str:
    """When each of the members started, or which of the ``finished`` tasks restarted it where no start is shown."""
    return join_names(_start_of(member, finished) for member in members)


def _start_of(member: Member, finished: Sequence[FinishedRestart]) -> str:
    if member.started is not None or not finished:
        return f"{member.name} started at {instant_words(member.started)}"
    task = next(task for task in finished if task.restarted(member.name))
    return f"{member.name} was restarted by task {task.label}, begun at {instant_words(task.started_at)}"


def condition_words(since: datetime | None, observed: Observation) -> str:
    """``since`` in the time zone of the service, so that a reader can compare."""
    zone = next((member.started.tzinfo for member in observed.members if member.started), None)
    return instant_words(since.astimezone(zone) if since and zone else since)


def instant_words(instant: datetime | None) -> str:
    """In ISO 8601, with milliseconds where there are any."""
    if instant is None:
        return "an unknown time"
    return instant.isoformat(timespec="milliseconds" if instant.microsecond else "seconds")
