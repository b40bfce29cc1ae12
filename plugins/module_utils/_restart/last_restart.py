# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The last restart of a target that shows no start time: its tasks are the evidence."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from .._base.parsing import instant
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import SUCCESSFUL, Task
from .._targets.target import Observation, Target


def with_last_restart(api: OcpApi, target: Target, observed: Observation, since: datetime) -> Observation:
    """``observed``, with the begin of its last successful restart as the start if that was not before ``since``.

    This is the evidence for a target that shows no start. The begin of the task counts, not its end: the process may
    have started right after it.
    """
    for entry in target.tasks(api, status=SUCCESSFUL):
        task = Task.from_api(entry.record)
        started_at = instant(task.start_time)
        if started_at is not None and started_at >= since and entry.restarts is None and task.succeeded:
            return replace(observed, members=tuple(replace(member, started=started_at) for member in observed.members))
    return observed
