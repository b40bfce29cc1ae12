# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The evidence of a run: which results belong to it, how later ones add to earlier ones, what stays open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from ...module_utils._base.parsing import Record, integer, integers, record, records
from ...module_utils._base.text import one_line
from .notes_of_workers import OF_CHANGE
from .restart_entries import (
    PARTS,
    PLANS,
    SERVERS,
    failure_entry,
    has_failed,
    plan_entry,
    restart_entries,
    task_entry,
    unreached_entry,
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


@dataclass(frozen=True)
class _Plan:
    """A plan: where it comes from, its ``entry``, and how many targets had an outcome before it."""

    place: Place
    entry: Record
    first: int

    @property
    def servers(self) -> dict[tuple[Any, Any], Record]:
        """What is to be restarted, by cluster and name."""
        return {_named(one): one for step in self.entry["steps"] for one in step}

    def is_for(self, place: Place) -> bool:
        """Whether it is a plan for the same change."""
        return (self.place.change, self.place.started_before) == (place.change, place.started_before)


@dataclass(frozen=True)
class _Parts:
    """The targets of a run that restarts them by several calls of a module, and those that a call was for."""

    place: Place
    planned: tuple[str, ...]
    begun: set[str]


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
        self._plans: list[_Plan] = []
        self._parts: dict[tuple[str, str, tuple[str, ...]], _Parts] = {}
        self._places: dict[tuple[str, str], Place] = {}
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
        self._places[key] = place
        self._unfinished[key] = {**place.entry(_now()), "in_flight": []}

    def ended(self, key: tuple[str, str]) -> None:
        """The same has given its result."""
        self._unfinished.pop(key, None)

    def interrupted(self, notes_of: Callable[[tuple[str, str]], list[Record]]) -> None:
        """Add what modules without a result have noted: their plans, what has ended, and what is in flight."""
        for key, entry in self._unfinished.items():
            place = self._places[key]
            begun: list[Record] = []
            for note in notes_of(key):
                if "for" in note:
                    change, instant = (one_line(note["for"][option]) for option in OF_CHANGE)
                    place = replace(place, change=change, started_before=instant)
                elif "plan" in note:
                    self._note_plan(place, {"plan": note["plan"]}, place.module)
                elif "part" in note:
                    self.note_part(place, note["part"])
                elif "ended" in note:
                    ended = note["ended"]
                    found = restart_entries(place.module, {SERVERS[place.module]: [ended]}, place.check_mode)
                    self._note_targets(place, found)
                    begun = [one for one in begun if one["task_id"] != ended["task_id"]]
                else:
                    begun.append({"target": one_line(note["began"]["target"]), "task_id": note["began"]["task_id"]})
            # An item of a loop has its result, though the loop has none.
            there = {target["task"]["id"] for target in self._targets if target["task"] is not None}
            entry["in_flight"] = [one for one in begun if one["task_id"] not in there]

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
        self._note_plan(place, result, place.module)
        self._note_targets(place, restart_entries(place.module, result, place.check_mode))
        if place.module == "task":
            self._actions.append({**head, **_action(result)})
        if place.module == "cluster_parameter":
            self._parameters += [{**head, **entry} for entry in _parameters(result)]
        for task in (*records(result.get("tasks")), record(result.get("task"))):
            self._update(task_entry(task))

    def note_part(self, place: Place, part: Record) -> None:
        """Add what a call of a module that restarts a part of a run has noted."""
        planned = tuple(str(one_line(name)) for name in part["planned"])
        new = _Parts(place, planned, set())
        run = self._parts.setdefault((place.host, place.module, planned), new)
        run.begun.update(str(one_line(name)) for name in part["targets"])

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
        every = [*self._targets, *self._not_reached()]
        outcomes = Counter(entry["outcome"] for entry in every)
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
            "plans": [plan.entry for plan in self._plans],
            "targets": [{"number": number, **entry} for number, entry in enumerate(every, 1)],
            "parameters": self._parameters,
            "task_actions": self._actions,
            "failures": self._failures,
            "unfinished": list(self._unfinished.values()),
            "hidden_results": self._hidden,
        }

    def _note_targets(self, place: Place, entries: list[Record]) -> None:
        self._targets += [{**_head(place), **entry} for entry in entries]

    def _note_plan(self, place: Place, result: Record, module: str) -> None:
        """Add a plan, unless an earlier plan for the same already has all of it: then it only shows what is left."""
        # A restart has its plan also if it fails.
        plan = None if has_failed(result) and module not in PLANS else plan_entry(module, result)
        if plan is None:
            return
        known = {one for earlier in self._plans if earlier.is_for(place) for one in earlier.servers}
        new = _Plan(place, {**place.entry(_now()), **plan}, len(self._targets))
        if not self._plans or new.servers.keys() - known or plan["refused"]:
            self._plans.append(new)

    def _not_reached(self) -> Iterator[Record]:
        """What was planned and has no outcome, nor is in flight; while modules work, they may have come to it."""
        is_open = self._state == RUNNING and bool(self._unfinished)
        in_flight = [one["target"].split() for entry in self._unfinished.values() for one in entry["in_flight"]]
        told: set[tuple[Any, Any]] = set()
        for plan in self._plans:
            reached = {name for entry in self._targets[plan.first :] for name in _names(entry)}
            for name, server in plan.servers.items():
                if name not in reached | told and not any(server["name"] in words for words in in_flight):
                    told.add(name)
                    yield {**_head(plan.place), **unreached_entry(server, plan.place.check_mode, is_open=is_open)}
        for run in self._parts.values():
            for target in run.planned:
                if target not in run.begun:
                    named = {"name": target, "cluster": None, "reason": None}
                    kind = PARTS[run.place.module]
                    unreached = unreached_entry(named, run.place.check_mode, kind, is_open=is_open)
                    yield {**_head(run.place), **unreached}

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


def _head(place: Place) -> Record:
    return {**place.entry(_now()), "change": place.change, "started_before": place.started_before}


def _names(entry: Record) -> Iterator[tuple[Any, Any]]:
    """A target, and its members: a zone has those of its servers."""
    yield entry["cluster"], entry["name"]
    yield from ((entry["cluster"], member["name"]) for member in entry["members"])


def _named(server: Record) -> tuple[Any, Any]:
    return server["cluster"], server["name"]


def _now() -> str:
    return _text(datetime.now(UTC))


def _text(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")
