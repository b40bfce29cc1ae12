# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The evidence of a run: which results belong to it, how later ones add to earlier ones, what stays open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from ...module_utils._base.parsing import Record, integer, integers, record, records
from ...module_utils._base.text import one_line
from .restart_entries import (
    failure_entry,
    has_failed,
    plan_entry,
    restart_entries,
    task_entry,
)

VERSION = 1
RUNNING, SUCCEEDED, FAILED, INTERRUPTED = "running", "succeeded", "failed", "interrupted"
# The keys in which a task must equal the one that a restart has started.
SAME_TASK = ("name", "start_time")


@dataclass(frozen=True)
class Place:
    """Where a result comes from: host of the inventory, task of the playbook, module, and for what change."""

    host: str
    step: str
    module: str
    check_mode: bool = False
    change: str | None = None
    started_before: str | None = None

    def entry(self, at: str) -> Record:
        """As it stands in each entry."""
        names = {"host": one_line(self.host), "step": one_line(self.step), "module": one_line(self.module)}
        return {"at": at, **names, "check_mode": self.check_mode}


class EvidenceDocument:
    """The evidence of one run, as it grows. ``facts`` is what is known of the run from the start."""

    def __init__(self, facts: Record, ticket: str | None) -> None:
        self._began = datetime.now(UTC)
        self._state = RUNNING
        self._ended: datetime | None = None
        self._facts = facts
        self._ticket = ticket
        self._identity = str(uuid4())
        self._services: dict[str, None] = {}
        self._plans: list[Record] = []
        self._targets: list[Record] = []
        self._parameters: list[Record] = []
        self._actions: list[Record] = []
        self._failures: list[Record] = []
        self._unfinished: dict[tuple[str, str], Record] = {}
        self._hidden = 0

    @property
    def is_running(self) -> bool:
        """Whether the end of the run is not known."""
        return self._ended is None

    def started(self, place: Place, key: tuple[str, str]) -> None:
        """A module begins that may change something."""
        self._unfinished[key] = place.entry(_now())

    def ended(self, key: tuple[str, str]) -> None:
        """The same has given its result."""
        self._unfinished.pop(key, None)

    def used(self, service: str | None, user: str | None) -> None:
        """A module has asked this service as this user."""
        if service is not None:
            self._services.setdefault(service)
        users: list[str] = self._facts["requested_by"]["ocp_users"]
        if user is not None and user not in users:
            users.append(user)

    def hidden(self) -> None:
        """A result is hidden by no_log."""
        self._hidden += 1

    def note(self, place: Place, result: Record) -> None:
        """Add a result of a module of this collection."""
        head = place.entry(_now())
        self._note_plan(head, place.module, result)
        first = len(self._targets) + 1
        entries = restart_entries(place.module, result, place.check_mode)
        head_of_target = {**head, "change": place.change, "started_before": place.started_before}
        self._targets += [{"number": number, **head_of_target, **entry} for number, entry in enumerate(entries, first)]
        if place.module == "task":
            self._actions.append({**head, **_action(result)})
        if place.module == "cluster_parameter":
            self._parameters += [{**head, **entry} for entry in _parameters(result)]
        for task in (*records(result.get("tasks")), record(result.get("task"))):
            self._update(task_entry(task))

    def failed(self, place: Place, result: Record, *, ignored: bool, unreachable: bool = False) -> None:
        """Add why a task of the playbook failed; for other modules only that."""
        flags = {"ignored": ignored, "unreachable": unreachable}
        self._failures.append({**place.entry(_now()), **flags, **failure_entry(result)})

    def resume(self) -> None:
        """Another playbook of the same command begins."""
        self._state = RUNNING if self._state == SUCCEEDED else self._state
        self._ended = None

    def close(self, state: str) -> None:
        """The run is at its end; a failure of an earlier playbook stays."""
        self._state = FAILED if self._state == FAILED else state
        self._ended = datetime.now(UTC)

    def as_record(self) -> Record:
        """The document; its schema is docs/evidence.schema.json."""
        outcomes = Counter(entry["outcome"] for entry in self._targets)
        return {
            "evidence_version": VERSION,
            "ticket": self._ticket,
            "state": self._state,
            "run": {
                "id": self._identity,
                "started_at": _text(self._began),
                "written_at": _now(),
                "ended_at": _text(self._ended) if self._ended else None,
                "duration": round((self._ended - self._began).total_seconds(), 3) if self._ended else None,
                **self._facts["run"],
            },
            "requested_by": self._facts["requested_by"],
            "requested_from": self._facts["requested_from"],
            "services": list(self._services),
            "totals": dict(sorted(outcomes.items())),
            "plans": self._plans,
            "targets": self._targets,
            "parameters": self._parameters,
            "task_actions": self._actions,
            "failures": self._failures,
            "unfinished": list(self._unfinished.values()),
            "hidden_results": self._hidden,
        }

    def _note_plan(self, head: Record, module: str, result: Record) -> None:
        """Add a plan, unless an earlier plan already has all of it: then it only shows what is left."""
        plan = None if has_failed(result) else plan_entry(module, result)
        if plan is None:
            return
        known = {_named(one) for earlier in self._plans for step in earlier["steps"] for one in step}
        planned = {_named(one) for step in plan["steps"] for one in step}
        if not self._plans or planned - known or plan["refused"]:
            self._plans.append({**head, **plan})

    def _update(self, task: Record) -> None:
        """A task that was waited for may belong to a restart that was not."""
        for entry in self._targets:
            known = entry["task"]
            if known is None or task["id"] is None or known["id"] != task["id"]:
                continue
            if all(None in (known[key], task[key]) or known[key] == task[key] for key in SAME_TASK):
                entry["task"] = {key: known[key] if told is None else told for key, told in task.items()}


def _action(result: Record) -> Record:
    return {
        "action": one_line(result.get("action")),
        "reason": one_line(result.get("reason")),
        "task_id": integer(result.get("task_id")),
        "subtask_ids": integers(result.get("subtask_ids")),
        "status_before": one_line(record(result.get("before")).get("status")),
        "failed": has_failed(result),
    }


def _parameters(result: Record) -> list[Record]:
    """The names of those that were set; their values may be secrets."""
    return [
        {
            "cluster": one_line(record(result.get("cluster")).get("name")),
            "name": one_line(one.get("name")),
            "changed": bool(result.get("changed")),
            "needs_restart": one.get("needs_restart") is True,
            "in_effect": one.get("in_effect") if isinstance(one.get("in_effect"), bool) else None,
            "set_at": one_line(result.get("set_at")),
        }
        for one in records(result.get("parameters"))
    ]


def _named(server: Record) -> tuple[Any, Any]:
    return server["cluster"], server["name"]


def _now() -> str:
    return _text(datetime.now(UTC))


def _text(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")
