# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the result of a restart says of each server of a rolling restart, in the result, in a line and in the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._base.errors import OcpError, TaskFailed
from .._restart.fleet_outcome import is_refusal
from .._restart.observed_starts import start_shown

Result = dict[str, Any]

FAILED = "failed"
# Keys of a failed restart that are shown; only the record has the whole task.
SHOWN_OF_FAILURE = ("failed_task_ids", "unfinished_task_ids", "failed_subtasks", "signs", "url", "trace_id")


def failed_restart(error: OcpError) -> Result | None:
    """The result of a restart that failed; None if it was refused before it began."""
    if is_refusal(error):
        return None
    # Before the target was found there are no facts.
    unknown = dict.fromkeys(("task_id", "reason", "verified"))
    return {"changed": False, **unknown, "warnings": [], **error.facts, "action": FAILED}


def server_outcomes(batch: Result, found: Mapping[str, Any], elapsed: float) -> list[Result]:
    """The outcome of each server of a batch that one request has restarted, after these seconds."""
    starts = ({when: found.get(when) for when in ("before", "after")} for _server in batch["servers"])
    return [
        {
            **_named(batch, server),
            **_course(found, elapsed),
            **{f"start_{when}": start_shown(there, server["name"]) for when, there in shown.items()},
        }
        for server, shown in zip(batch["servers"], starts, strict=True)
    ]


def outcomes_of_many(batch: Result, found: Sequence[Mapping[str, Any]], elapsed: float) -> list[Result]:
    """The outcome of each server of a batch that was begun, each restarted by a request of its own."""
    return [
        {
            **_named(batch, server),
            **_course({**one, "action": FAILED if one["failed"] else one["action"]}, one["duration"] or elapsed),
            **{key: one[key] for key in ("start_before", "start_after")},
        }
        for server, one in zip(batch["servers"], found, strict=True)
        if one["action"] != "postponed" and not one["refused"]
    ]


def _named(batch: Result, server: Result) -> Result:
    return {"cluster": batch["cluster"], "zone": batch["zone"], "id": server["id"], "name": server["name"]}


def _course(found: Mapping[str, Any], elapsed: float) -> Result:
    known = {key: found[key] for key in ("task_id", "verified", "reason")}
    return {"outcome": found["action"], **known, "elapsed": round(elapsed, 3)}


def outcome_words(outcome: Result) -> str:
    """The same in words, as in ``10.0.0.1:2882 (zone1) restarted in 5.2 s``."""
    took = f"restarted in {outcome['elapsed']:.1f} s"
    words = {FAILED: "FAILED", "skipped": f"left alone: {outcome['reason']}"}.get(outcome["outcome"], took)
    return f"{outcome['name']} ({outcome['zone']}) {words}"


def shown_failure(error: OcpError) -> Result:
    """The facts of a failure that are shown."""
    return {name: error.facts[name] for name in SHOWN_OF_FAILURE if name in error.facts}


def tasks_of_failure(error: OcpError) -> list[Result]:
    """The tasks of a failure, for the record."""
    whole = error.whole_tasks if isinstance(error, TaskFailed) else []
    return [task for task in (error.facts.get("task"), *error.facts.get("tasks", ()), *whole) if task]
