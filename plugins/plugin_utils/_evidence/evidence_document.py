# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The evidence of a run: which results belong to it, how later ones add to earlier ones, what stays open."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from uuid import uuid4

from ...module_utils._base.parsing import Record, integer, integers, record, records
from ...module_utils._base.text import one_line
from .place import Place, instant_text, now_text
from .restart_entries import failure_entry, has_failed, inspection_entry, restart_entries, task_entry
from .running_calls import RunningCalls
from .target_list import TargetList

VERSION = 1
RUNNING, SUCCEEDED, FAILED, INTERRUPTED = "running", "succeeded", "failed", "interrupted"
# The host and the task that runs on it.
Key = tuple[str, str]


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
        self._list = TargetList()
        self._parameters: list[Record] = []
        self._actions: list[Record] = []
        self._inspections: list[Record] = []
        self._failures: list[Record] = []
        self._running: dict[Key, RunningCalls] = {}
        # Those whose result says nothing of what they had in flight.
        self._lost: list[RunningCalls] = []
        self._hidden = 0

    @property
    def is_running(self) -> bool:
        """Whether the end of the run is not known."""
        return self._ended is None

    def started(self, place: Place, key: Key) -> None:
        """A module begins that may change something."""
        self._running[key] = RunningCalls(place)

    def noted(self, key: Key, note: Record) -> None:
        """A module that has no result yet has noted something."""
        if key in self._running:
            self._running[key].note(note)

    def returned(self, key: Key, result: Record) -> None:
        """An item of a loop, or a try of a task, has its result; the task goes on."""
        if key in self._running:
            self._keep(self._running[key].returned(), result)

    def ended(self, key: Key, result: Record) -> None:
        """The module has given its result."""
        calls = self._running.pop(key, None)
        if calls is not None:
            self._keep(calls, result)

    def _keep(self, calls: RunningCalls, result: Record) -> None:
        """Keep what was noted and is not in the result, as that of a worker that has died, or without its details."""
        calls.leave_out(restart_entries(calls.place.module, result, calls.place.check_mode))
        calls.add_to(self._list, have_result=True)
        self._inspections += [] if "inspections" in result else calls.inspections
        if calls.is_in_flight:
            self._lost.append(calls)

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
        head = place.entry()
        self._list.add_plan(place, result)
        self._list.add_targets(place, restart_entries(place.module, result, place.check_mode))
        if place.module == "task":
            self._actions.append({**head, **_action(result)})
        self._inspections += [{**head, **inspection_entry(one)} for one in records(result.get("inspections"))]
        if place.module == "cluster_parameter":
            self._parameters += [{**head, **entry} for entry in _parameters(result)]
        for task in (*records(result.get("tasks")), record(result.get("task"))):
            self._list.update(task_entry(task))

    def failed(self, place: Place, result: Record, *, ignored: bool, unreachable: bool = False) -> None:
        """Add why a task of the playbook failed; for other modules only that."""
        flags = {"ignored": ignored, "unreachable": unreachable}
        self._failures.append({**place.entry(), **flags, **failure_entry(result)})

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
        running, unfinished = self._running.values(), [*self._lost, *self._running.values()]
        found = self._list.copy()
        for calls in running:
            calls.add_to(found, have_result=False)
        in_flight = {name for calls in unfinished for name in calls.members_in_flight}
        # Nobody knows what was restarted after this is written, nor by what notes nothing.
        is_open = self._state == RUNNING or not all(calls.is_known for calls in running)
        every = [*found.targets, *found.unreached(in_flight, is_open=is_open)]
        outcomes = Counter(entry["outcome"] for entry in every)
        return {
            "evidence_version": VERSION,
            "ticket": self._ticket,
            "state": self._state,
            "run": {
                "id": self._identity,
                "started_at": instant_text(self._began),
                "written_at": now_text(),
                "ended_at": instant_text(self._ended) if self._ended else None,
                "duration": round((self._ended - self._began).total_seconds(), 3) if self._ended else None,
                **self._facts["run"],
            },
            "requested_by": self._facts["requested_by"],
            "requested_from": self._facts["requested_from"],
            "services": list(self._services),
            "totals": dict(sorted(outcomes.items())),
            "plans": found.plans,
            "targets": [{"number": number, **entry} for number, entry in enumerate(every, 1)],
            "parameters": self._parameters,
            "task_actions": self._actions,
            "inspections": [*self._inspections, *(one for calls in running for one in calls.inspections)],
            "failures": self._failures,
            "unfinished": [calls.entry() for calls in unfinished],
            "hidden_results": self._hidden,
        }


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
