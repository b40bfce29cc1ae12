# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the answers that a run had really held: the evidence that was there before it asked for a restart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .evidence import SAME_INSTANT, Evidence, Since
from .fleet import Key
from .history import Exchange, Run
from .profile import Profile
from .task_graph import Task

TASKS, CLUSTERS = "/tasks/instances", "/api/v2/ob/clusters"


class Answers:
    """Questions about the reads of runs. An answer that a proxy changed or replaced holds nothing."""

    def __init__(self, profile: Profile, evidence: Evidence) -> None:
        self._profile = profile
        self._evidence = evidence

    def before(self, run: Run, post: Exchange) -> Iterator[Exchange]:
        """The reads of a run whose answers came whole before one of its requests was sent."""
        for each in run.exchanges:
            if each.reads and each.answer is not None and (each.came_back or 0.0) <= post.sent:
                yield each

    def last_look(self, run: Run, post: Exchange) -> list[Exchange]:
        """Those after the last pause before the request."""
        return [each for each in self.before(run, post) if each.pause_ended == post.pause_ended]

    def show_restart(self, run: Run, post: Exchange, key: Key, since: Since, others: Iterable[Task]) -> bool:
        """Whether an answer before a request showed that a thing has started since, or that a task restarts it or has.

        Work in progress counts if the last look showed it, or if an answer told that it is on the thing.
        """
        look, others = self.last_look(run, post), list(others)
        at_work = [task.id for task in others if not (self.deny(look, task, key) or self._have_ended(look, task))]
        ids = [task.id for task in others]
        named = ids if self._profile.operating != "none" else []
        return any(
            self._shows_thing(read, key, since, ids if read in look else named)
            or any(
                self.shows_task(read, task, key, since)
                for task in others
                if (read in look and task.id in at_work) or self.tells_in_list(task)
            )
            for read in self.before(run, post)
        )

    def _have_ended(self, look: list[Exchange], task: Task) -> bool:
        """Whether an answer of a look shows that a task is SUCCESSFUL: others that show it at work are behind."""
        shown = [self._shown_task(read, task) for read in look]
        return any(record is not None and record["status"] == "SUCCESSFUL" for record in shown)

    def shows_success(self, read: Exchange, task: Task) -> bool:
        """Whether an answer shows a task as SUCCESSFUL that was not undone, by the truth where a list does not tell."""
        shown = self._shown_task(read, task)
        if shown is None:
            return False
        state = task.record.at(self._seen_at(read)) or task.record.now
        return shown["status"] == "SUCCESSFUL" and shown.get("operation", state["operation"]) != "ROLLBACK"

    def is_unfinished(self, read: Exchange, task: Task) -> bool | None:
        """Whether an answer shows a task as unfinished; None if it does not hold the task."""
        shown = self._shown_task(read, task)
        return None if shown is None else _is_unfinished(shown)

    def shows_task(self, read: Exchange, task: Task, key: Key, since: Since) -> bool:
        """Whether an answer shows that a task restarts what it is for, or that it has done so since."""
        shown = self._shown_task(read, task)
        if shown is None:
            return False
        if _is_unfinished(shown):
            return True
        if not self.tells_in_list(task) or task.skipped_effect or not since.covers(key, task):
            return False
        return task.ended_well(task.record.at(self._seen_at(read)) or task.record.now)

    def tells_target(self, task: Task) -> bool:
        """Whether the service tells which target a task is of."""
        return self.names(task) or self.tells_in_list(task)

    def names(self, task: Task) -> bool:
        """Whether what a task works on names it."""
        return self._profile.operating != "none" and task.kind != "host"

    def deny(self, look: list[Exchange], task: Task, key: Key) -> bool:
        """Whether a list was of the tasks of one host, and so lacks a task that does not tell its target."""
        if self.tells_target(task) or key[0] not in ("host", "server"):
            return False
        lists: list[list[Exchange]] = []
        for read in look:
            if str(read.request.query.get("hostId")) != str(self._evidence.host_of(key)):
                continue
            if read.request.query.get("page", "1") == "1" or not lists:
                lists.append([])
            lists[-1].append(read)
        return any(all(self._shown_task(page, task) is None for page in pages) for pages in lists)

    def tells_in_list(self, task: Task) -> bool:
        """Whether the record of a task tells it, also after its end."""
        return self._profile.tags or task.kind == "cluster"

    def _shown_task(self, read: Exchange, task: Task) -> dict[str, Any] | None:
        """The record of a task in an answer."""
        if TASKS not in read.request.path or read.answer is None or read.answer.status != 200:
            return None
        data = read.answer.data
        found = data.get("contents", [data])
        return next((each for each in found if str(each.get("id")) == str(task.id)), None)

    def may_show(self, run: Run, key: Key, since: float) -> bool:
        """Whether an answer of a run can have shown a start of a thing that came after a time."""
        clock = self._evidence.clock_of(key)
        starts = {self._profile.wall(start.time) + clock for start in self._evidence.starts(key, since)}
        reads = [each for each in run.exchanges if each.reads and each.commits]
        states = [
            self._evidence.state(key, self._seen_at(read)) for read in reads if self._is_about(read.request.path, key)
        ]
        return any(state is not None and state["shown"] in starts for state in states)

    def _seen_at(self, read: Exchange) -> float:
        # What happens at the same instant is not shown.
        when = read.commits[-1][0] - read.lag - SAME_INSTANT
        if read.request.path.endswith("/agent") and self._profile.agent_refresh:
            return when // self._profile.agent_refresh * self._profile.agent_refresh
        return when - self._profile.list_lag if read.request.path.endswith(TASKS) else when

    def _shows_thing(self, read: Exchange, key: Key, since: Since, tasks: list[int]) -> bool:
        """Whether an answer shows of a thing itself that it has started since, or that one of ``tasks`` works on it."""
        if read.answer is None or read.answer.status != 200 or not self._is_about(read.request.path, key):
            return False
        seen = self._seen_at(read)
        state, next_state = (self._evidence.state(key, when) for when in (seen, seen + 2 * SAME_INSTANT))
        if state is None or next_state is None:
            return False
        at_work = {state["operation"], next_state["operation"]} <= set(tasks)
        return self._evidence.state_shows(state if at_work else {**state, "work": None}, key, since)

    def _is_about(self, path: str, key: Key) -> bool:
        """Whether the answers of a path hold the start and the status of a thing."""
        kind, number = key
        if kind == "host":
            return path.endswith(f"/hosts/{number}/agent")
        if kind == "arbitration":
            return "/arbitration/" in path
        cluster = self._evidence.cluster_of(key)
        if path == f"{CLUSTERS}/{cluster}/servers":
            return True
        return self._profile.servers_in_cluster and path in (CLUSTERS, f"{CLUSTERS}/{cluster}")


def _is_unfinished(shown: dict[str, Any]) -> bool:
    """Whether a record of a task shows that it has not ended: any word may mean that, but for two."""
    return shown["status"] not in ("SUCCESSFUL", "FAILED") and "finishTime" not in shown
