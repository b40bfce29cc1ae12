# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The page of the evidence: the sign and the words of each outcome, the facts of the run, its chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import Any

from ...module_utils._base.parsing import Record, instant
from ...module_utils._base.text import LogTail
from .._timeline.durations import duration
from .._timeline.html_page import page_template
from .._timeline.timeline import FAILED, PENDING, RUNNING, SKIPPED, SUCCESSFUL, UNKNOWN, Step

# The sign of an outcome, and what it means.
OUTCOMES = {
    "proven": (SUCCESSFUL, "proven"),
    "failed": (FAILED, "failed"),
    "unproven": (UNKNOWN, "not proven"),
    "skipped": (SKIPPED, "no restart needed"),
    "postponed": (PENDING, "postponed"),
    "planned": (PENDING, "would restart"),
    "not_begun": (PENDING, "not begun"),
    "unknown": (UNKNOWN, "not known"),
}
# The keys of times that are the controller's, in UTC in the document; all others are OCP's, or a user's.
CONTROLLER_TIMES = ("at", "started_at", "written_at", "ended_at", "set_at")
STATES = {"succeeded": SUCCESSFUL, "failed": FAILED, "interrupted": UNKNOWN, "running": RUNNING}


@dataclass(frozen=True)
class Row:
    """A target: its entry in the document, its mark in the chart, its words."""

    entry: Record
    mark: Step
    words: str
    took: str | None


@dataclass(frozen=True)
class Failure:
    """A failure: its entry, and the failed subtasks whose logs are to be shown."""

    entry: Record
    subtasks: list[tuple[Record, str, LogTail | None]]


def render_evidence(document: Record) -> str:
    """The page of a document of the evidence; it has no more than that."""
    document = _with_times_in(_zone_of(document), document)
    rows = [_row(entry) for entry in document["targets"]]
    return page_template(Path(__file__).parent / "evidence.html.j2").render(
        title=f"Evidence for {document['ticket']}" if document["ticket"] else "Evidence of a run",
        document=document,
        state=STATES[document["state"]],
        failed_state=FAILED,
        facts=list(_facts(document)),
        totals=[(*OUTCOMES[name], count) for name, count in document["totals"].items()],
        rows=rows,
        no_rows=_no_rows(document),
        marks=[row.mark for row in rows if row.mark.start],
        failures=[_failure(entry) for entry in document["failures"]],
        outcomes=[OUTCOMES[name] for name in OUTCOMES if name in document["totals"]],
    )


def _zone_of(document: Record) -> tzinfo | None:
    """The time zone in which OCP shows starts."""
    members = chain.from_iterable(target["members"] for target in document["targets"])
    shown = (instant(member[key]) for member in members for key in ("start_before", "start_after"))
    return next((time.tzinfo for time in shown if time is not None), None)


def _with_times_in(zone: tzinfo | None, found: Any) -> Any:
    """The same with the times of the controller in this zone: a page has one."""
    if isinstance(found, list):
        return [_with_times_in(zone, one) for one in found]
    if isinstance(found, dict):
        return {
            key: time.astimezone(zone).isoformat(timespec="milliseconds")
            if zone is not None and key in CONTROLLER_TIMES and (time := instant(one)) is not None
            else _with_times_in(zone, one)
            for key, one in found.items()
        }
    return found


def _row(entry: Record) -> Row:
    state, words = OUTCOMES[entry["outcome"]]
    task = entry["task"] or {}
    start, finish = (instant(task.get(key)) for key in ("start_time", "finish_time"))
    zone = start.tzinfo if start else None
    name = entry["name"] if entry["kind"] == "cluster" else " ".join(filter(None, (entry["cluster"], entry["name"])))
    mark = Step(
        number=entry["number"],
        name=name or entry["step"] or "A target without a name",
        id=None,
        state=state,
        status=words,
        operation=None,
        attempt=None,
        executor=None,
        start=start,
        finish=finish.astimezone(zone) if finish else None,
        end=finish.astimezone(zone) if finish else None,
        log=None,
    )
    seconds = task.get("duration") if task.get("duration") is not None else entry["elapsed"]
    return Row(entry, mark, words, None if seconds is None else duration(max(seconds, 0.0)))


def _no_rows(document: Record) -> str:
    """What it means that no target is known."""
    if document["state"] == "running" or document["unfinished"] or document["hidden_results"]:
        return "It is not known which targets were restarted. Look at the newest tasks in OCP."
    return "No target was restarted."


def _failure(entry: Record) -> Failure:
    """Without the logs that its message has."""
    lines = {line.strip() for line in (entry["message"] or "").split("\n")}
    steps = [
        step for step in entry["failed_subtasks"] if not {line.strip() for line in step["log_tail"] or [""]} <= lines
    ]
    return Failure(entry, [_subtask(step) for step in steps])


def _subtask(step: Record) -> tuple[Record, str, LogTail | None]:
    log = step["log_tail"]
    return step, step["description"] or step["name"] or "A subtask", LogTail(log, None) if log else None


def _facts(document: Record) -> Iterator[tuple[str, str]]:
    run, by, origin = document["run"], document["requested_by"], document["requested_from"]
    awx = origin["awx"] or {}
    sudo = f" (by sudo from {by['sudo_user']})" if by["sudo_user"] else ""
    client = f", by SSH from {origin['ssh_client']}" if origin["ssh_client"] else ""
    told: dict[str, object] = {
        "Asked by": awx.get("user_name") or (f"{by['user']}{sudo}" if by["user"] else None),
        "OCP user": ", ".join(by["ocp_users"]),
        "From": f"{origin['host']}{client}" if origin["host"] else None,
        "Job of AWX": " ".join(filter(None, (awx.get("job_id"), awx.get("job_template_name")))),
        "OCP": ", ".join(document["services"]),
        "Playbook": ", ".join(run["playbooks"]) or run["command"],
        "Limit": run["limit"],
        "Check mode": "yes, nothing was changed" if run["check_mode"] else None,
        "Began": run["started_at"],
        "Ended": run["ended_at"],
        "Took": None if run["duration"] is None else duration(run["duration"]),
    }
    yield from ((name, str(value)) for name, value in told.items() if value)
