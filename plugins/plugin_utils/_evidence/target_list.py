# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What was planned and what became of it: which targets have an outcome, and what those are that have none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...module_utils._base.parsing import Record
from ...module_utils._base.text import one_line
from .place import Place
from .restart_entries import PARTS, PLANS, has_failed, plan_entry, unreached_entry

# The keys in which a task must equal the one that a restart has started.
SAME_TASK = ("name", "start_time")


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
    """The targets of a run that restarts them by several calls of a module, and those that a call has begun."""

    place: Place
    planned: tuple[str, ...]
    begun: frozenset[str]


class TargetList:
    """The plans of a run, and its targets in the order of their outcomes."""

    def __init__(self) -> None:
        self._plans: list[_Plan] = []
        self._parts: dict[tuple[str, str, tuple[str, ...]], _Parts] = {}
        self.targets: list[Record] = []

    def copy(self) -> TargetList:
        """The same, to add what is not for good."""
        new = TargetList()
        new._plans, new._parts, new.targets = [*self._plans], {**self._parts}, [*self.targets]
        return new

    @property
    def plans(self) -> list[Record]:
        """The entries of the plans."""
        return [plan.entry for plan in self._plans]

    def add_targets(self, place: Place, entries: list[Record]) -> None:
        """Add outcomes that are known now."""
        self.targets += [{**place.head(), **entry} for entry in entries]

    def add_plan(self, place: Place, result: Record, at: str | None = None) -> None:
        """Add a plan, unless an earlier plan for the same already has all of it: then it only shows what is left.

        ``at`` is when it was made, now if it is not given.
        """
        # A restart has its plan also if it fails.
        plan = None if has_failed(result) and place.module not in PLANS else plan_entry(place.module, result)
        if plan is None:
            return
        earlier = [plan for plan in self._plans if plan.is_for(place)]
        if any(one.entry.items() >= plan.items() for one in earlier):
            return
        known = {server for one in earlier for server in one.servers}
        new = _Plan(place, {**place.entry(), **({"at": at} if at else {}), **plan}, len(self.targets))
        if not self._plans or new.servers.keys() - known or plan["refused"]:
            self._plans.append(new)

    def add_part(self, place: Place, planned: Iterable[str], begun: Iterable[str]) -> None:
        """Add all targets of a run that several calls of a module restart, and those that one of them has begun."""
        every = tuple(str(one_line(name)) for name in planned)
        key = place.host, place.module, every
        run = self._parts.get(key) or _Parts(place, every, frozenset())
        self._parts[key] = replace(run, begun=run.begun | {str(one_line(name)) for name in begun})

    def unreached(self, in_flight: Collection[str], *, is_open: bool) -> Iterator[Record]:
        """What was planned and has no outcome, but for members ``in_flight``; ``is_open``: see unreached_entry."""
        told: set[tuple[Any, Any]] = set()
        for plan in self._plans:
            reached = {name for entry in self.targets[plan.first :] for name in _names(entry)}
            for name, server in plan.servers.items():
                if name not in reached | told and server["name"] not in in_flight:
                    told.add(name)
                    yield {**plan.place.head(), **unreached_entry(server, plan.place.check_mode, is_open=is_open)}
        for run in self._parts.values():
            for target in run.planned:
                if target not in run.begun:
                    named = {"name": target, "cluster": None, "reason": None}
                    kind = PARTS[run.place.module]
                    entry = unreached_entry(named, run.place.check_mode, kind, is_open=is_open)
                    yield {**run.place.head(), **entry}

    def update(self, task: Record) -> None:
        """A task that was waited for may belong to a restart that was not."""
        for entry in self.targets:
            known = entry["task"]
            if known is None or task["id"] is None or known["id"] != task["id"]:
                continue
            if all(None in (known[key], task[key]) or known[key] == task[key] for key in SAME_TASK):
                entry["task"] = {key: known[key] if told is None else told for key, told in task.items()}


def _names(entry: Record) -> Iterator[tuple[Any, Any]]:
    """A target, and its members: a zone has those of its servers."""
    yield entry["cluster"], entry["name"]
    yield from ((entry["cluster"], member["name"]) for member in entry["members"])


def _named(server: Record) -> tuple[Any, Any]:
    return server["cluster"], server["name"]
