# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a server may be offline before its replicas are given up, and whether its past restarts took longer."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from .._base.errors import OptionError
from .._base.parsing import Record, record, records
from .._base.text import in_seconds, one_line
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task, longest
from .._ocp.unknown_path import if_shown
from .._parameters.parameter_value import OFFLINE_TIME, microseconds_of
from .._targets.target import TaskOnTarget
from .._targets.task_names import SERVER_RESTART, ZONE_RESTART, kind_of

PARAMETER = OFFLINE_TIME
# The newest ones decide, so that one bad day in the past is forgotten.
RESTARTS_COUNTED = 5


class OfflineBudget(StrEnum):
    """What to do about a restart that may take longer than a server may be offline; the option ``offline_budget``."""

    REFUSE = "refuse"
    WARN = "warn"
    IGNORE = "ignore"


def seconds_of(value: object) -> float | None:
    """A time as a parameter has it, such as ``3600s`` or ``1h``; None for anything else."""
    found = microseconds_of(str(value).strip())
    return None if found is None else found / 1e6


def raised_seconds(value: str | None, option: str = "raise_offline_time") -> float | None:
    """The seconds of the option; None if it is not given. Raises OptionError."""
    if value is None:
        return None
    found = seconds_of(value)
    if not found:
        raise OptionError(f"{option}: {one_line(value) or 'an empty text'} is not a time; give one as in 4h.")
    return found


def read_offline_time(api: OcpApi, cluster_id: int, warnings: list[str]) -> float | None:
    """See ``offline_time``; ``warnings`` gets a sentence if it is not shown. Raises a ServiceError."""
    found = offline_time(if_shown(lambda: api.cluster_parameters(cluster_id), lambda _error: None) or ())
    if found is None:
        warnings.append(f"The service does not show {PARAMETER} of cluster {cluster_id}, so offline_budget is ignored.")
    return found


def offline_time(parameters: Iterable[Record]) -> float | None:
    """Seconds that a server of the cluster may be offline, by the server that allows least; None if it is not shown."""
    own = [record(each.get("currentValue")) for each in parameters if each.get("name") == PARAMETER]
    shown = [
        value
        for current in own
        for value in (
            *(server.get("value") for server in records(current.get("obParameters"))),
            *record(current.get("valueToServers")),
        )
    ]
    return min((seconds for value in shown if (seconds := seconds_of(value))), default=None)


def longest_of_newest(entries: Iterable[TaskOnTarget]) -> Task | None:
    """Of the newest restarts of a target by themselves, the newest first, the one that took longest."""
    tasks = [entry.task for entry in entries if entry.restarts is None or entry.restarts]
    counted = [task for task in tasks if task.is_plain and kind_of(task.name) in (SERVER_RESTART, ZONE_RESTART)]
    return longest(counted[:RESTARTS_COUNTED])


def exceeded_words(task: Task, allowed: float) -> str:
    """Why another restart may take too long."""
    return (
        f"one of its last restarts took {task.duration:.0f} seconds (task {task.label}, {task.start_time}), "
        f"and after {PARAMETER}={in_seconds(allowed)} the cluster gives up the replicas of a server that is down"
    )
