# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the result of a restart says of each server of a rolling restart, in the result, in a line and in the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._base.errors import ChangeStopped, OcpError
from .._restart.observed_starts import start_shown

Result = dict[str, Any]

FAILED = "failed"
# Keys of a failed restart that are shown; only the record has the whole task.
SHOWN_OF_FAILURE = ("failed_task_ids", "unfinished_task_ids", "signs", "url", "trace_id")


def failed_restart(error: OcpError) -> Result | None:
    """The result of a restart that failed; None if it was refused before it began."""
    safety = {"allowed": True, **(error.facts.get("safety") or {})}
    if isinstance(error, ChangeStopped) or not safety["allowed"]:
        return None
    # Before the target was found there are no facts.
    unknown = dict.fromkeys(("task_id", "reason", "verified"))
    return {"changed": False, **unknown, "warnings": [], **error.facts, "action": FAILED}


def server_outcomes(batch: Result, found: Mapping[str, Any], elapsed: float) -> list[Result]:
    """The outcome of each server of the batch after these seconds."""
    shared = {
        "outcome": found["action"],
        "task_id": found["task_id"],
        "verified": found["verified"],
        "elapsed": round(elapsed, 3),
    }
    return [
        {"id": one["id"], "name": one["name"], "zone": batch["zone"], **shared, **_starts(one["name"], found)}
        for one in batch["servers"]
    ]


def _starts(name: str, found: Mapping[str, Any]) -> Result:
    return {f"start_{when}": start_shown(found.get(when), name) for when in ("before", "after")}


def outcome_words(outcome: Result, reason: str | None) -> str:
    """The same in words, as in ``10.0.0.1:2882 (zone1) restarted in 5.2 s``."""
    took = f"restarted in {outcome['elapsed']:.1f} s"
    words = {FAILED: "FAILED", "skipped": f"left alone: {reason}"}.get(outcome["outcome"], took)
    return f"{outcome['name']} ({outcome['zone']}) {words}"


def shown_failure(error: OcpError) -> Result:
    """The facts of a failure that are shown."""
    return {name: error.facts[name] for name in SHOWN_OF_FAILURE if name in error.facts}


def tasks_of_failure(error: OcpError) -> list[Result]:
    """The tasks in the facts of a failure, for the record."""
    return [task for task in (error.facts.get("task"), *error.facts.get("tasks", ())) if task]
