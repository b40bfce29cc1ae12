# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What was true at an instant, and what the service would have shown of it to whoever asked then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .fleet import Key, Start, is_gone, process_status
from .history import Change, Run
from .profile import HOST_UNCERTAINTY, NEVER
from .simulation import Simulation
from .task_graph import Task

# A start this near to the change is counted neither as before nor as after it.
BLUR = 3.0
# A task works on its target from the instant of the request on.
SAME_INSTANT = 1e-6
# The last subtask may have ended this long before the start is shown: docs/at-most-once-reference.md.
PROOF_TIMEOUT = 180.0
# A start that is computed from an uptime varies by less between two answers.
MOVED = 2.5


@dataclass(frozen=True)
class Use:
    """The first use of a name for a thing, no earlier than ``first`` and no later than ``last``.

    ``shown`` is the start that was shown all that time; None if there was none, or another one later. ``is_hidden``:
    there was none all that time. ``is_late``: by the clocks of the service the start of an earlier restart might show
    later.
    """

    first: float
    last: float
    shown: float | None
    is_hidden: bool
    is_late: bool = False


@dataclass(frozen=True)
class Since:
    """When a change began for each thing: an instant in true time, the first use of its name, or both.

    What has started since either has started since. ``spread``: the clocks of the service differ by so many seconds.
    """

    instant: float | None = None
    uses: Mapping[Key, Use] = field(default_factory=dict)
    spread: float = 0.0

    def earliest(self, key: Key) -> float | None:
        """Nothing before this was since."""
        return self._first(self.instant, self.uses[key].first if key in self.uses else None)

    def latest(self, key: Key) -> float | None:
        """All after this was since."""
        instant = None if self.instant is None else self.instant + BLUR
        return self._first(instant, self.uses[key].last if key in self.uses else None)

    def covers(self, key: Key, task: Task) -> bool:
        """Whether every clock shows that a task on a thing began since."""
        by_instant = self.instant is not None and task.created > self.instant + BLUR + self.spread
        return by_instant or (key in self.uses and task.created >= self.uses[key].last)

    @staticmethod
    def _first(*times: float | None) -> float | None:
        return min((each for each in times if each is not None), default=None)


class Evidence:
    """The true history of one simulation, with questions about it."""

    def __init__(self, simulation: Simulation) -> None:
        self._fleet = simulation.fleet
        self._profile = simulation.profile
        self._runs = simulation.history.runs
        self.tasks = simulation.tasks.all

    # The truth

    def state(self, key: Key, when: float) -> dict[str, Any] | None:
        """The state of a thing at a time; None if it was not there."""
        state = self._fleet.things[key].at(when)
        return None if state is None or is_gone(state) else state

    def clock_of(self, key: Key) -> float:
        """Seconds by which the clock is ahead that shows the start of a thing."""
        return self._fleet.clock_of(key)

    def host_of(self, key: Key) -> int:
        """The number of the host that a thing is on, or is the agent of."""
        return int(self._fleet.things[key].now.get("host", key[1]))

    def cluster_of(self, key: Key) -> int | None:
        """The cluster that a thing is a part of."""
        number: int | None = self._fleet.things[key].now.get("cluster")
        return number

    def task(self, number: object) -> Task | None:
        """The task with this id."""
        return self.tasks.get(number) if isinstance(number, int) else None

    def starts(self, key: Key, after: float, until: float = 1e12) -> list[Start]:
        """The starts of a process in a time."""
        return [start for start in self._fleet.starts.get(key, ()) if after < start.time <= until]

    def serves(self, state: dict[str, Any]) -> bool:
        """Whether a process serves, by what the service can tell of it."""
        shows_active = self._profile.inner_status and "zone" in state  # as only servers have
        return process_status(state) == "RUNNING" and bool(state["active"] or not shows_active)

    def served(self, key: Key, begin: float, end: float) -> bool:
        """Whether a process served at any moment of a time."""
        return any(self.serves(state) for state in self._fleet.things[key].between(begin, end))

    def address_changes(self, key: Key, until: float) -> float | None:
        """When a server got its address of a time; None if it has had no other."""
        thing = self._fleet.things[key]
        return thing.last_change("ip", until)

    def taken_out(self, key: Key, until: float) -> float | None:
        """When a server was taken out of the service; None if it was there until then."""
        return self._fleet.things[key].last_change("gone", until)

    def was_added_again(self, key: Key, until: float) -> bool:
        """Whether a server came by a time in place of one that was taken out."""
        return key in self._fleet.successors.values() and self._fleet.things[key].at(until) is not None

    def present(self, keys: Iterable[Key], when: float) -> list[Key]:
        """What has the addresses of these things at a time, whatever its id."""
        found = []
        for key in keys:
            newest: Key | None = key
            while newest is not None and self.state(newest, when) is None:
                newest = self._fleet.successors.get(newest)
            found += [] if newest is None else [newest]
        return found

    def parts_of(self, change: Change, when: float) -> list[Key]:
        """What a change is for at a time: servers may have been moved."""
        if change.own is None or change.cluster is None:
            return self.present(change.members, when)
        return [thing.key for thing in self._fleet.servers(change.cluster, change.args.get("zone"), when)]

    def is_in(self, key: Key, whole: Key | None, when: float) -> bool:
        """Whether a server is shown in this zone at a time."""
        server, zone = self.state(key, when), None if whole is None else self.state(whole, when)
        if key[0] != "server" or whole is None or whole[0] != "zone" or server is None or zone is None:
            return False
        return (server["cluster"], server["zone"]) == (zone["cluster"], zone["name"])

    def is_part_of(self, key: Key, change: Change, begin: float, end: float) -> bool:
        """Whether a thing was a part of what a change is for, at the begin and at the end of a time."""
        zone = change.args.get("zone")
        states = [self.state(key, begin), self.state(key, end)]
        if None in states:
            return False
        return zone is None or all(state is not None and state["zone"] == zone for state in states)

    def is_worked_on(self, change: Change, begin: float, end: float) -> bool:
        """Whether something worked on the zone or cluster of a change at any moment of a time."""
        states = [] if change.own is None else self._fleet.things[change.own].between(begin, end)
        return any(state["work"] is not None for state in states)

    def was_pretended(self, key: Key, since: float, until: float) -> bool:
        """Whether a task has ended well that did nothing, and whose start may still show."""
        tasks = [task for task in self._tasks_of(key) if task.idle and since <= task.created <= until]
        for task in tasks:
            earlier, later = task.record.at(until - PROOF_TIMEOUT), task.record.at(until)
            if later and task.ended_well(later) and not (earlier and task.ended_well(earlier)):
                return True
        return False

    def was_held_by(self, key: Key, task: Task, begin: float, end: float) -> bool:
        """Whether a task was the one that has a thing, or its zone or cluster, at any moment of a time."""
        keys = {key, *([task.own] if task.own else [])}
        holders = {state["operation"] for each in keys for state in self._fleet.things[each].between(begin, end)}
        is_named = self._profile.operating != "none" and key[0] != "host"
        return task.id in holders or (not is_named and holders != {None})

    def serves_throughout(self, key: Key, begin: float, end: float) -> bool:
        """Whether a process served during a whole time, as every replica knows."""
        states = self._fleet.things[key].between(begin - self._profile.latest - self._profile.agent_refresh, end)
        return all(self.serves(state) for state in states)

    def is_down_throughout(self, key: Key, begin: float, end: float) -> bool:
        """Whether a process did not serve during a whole time, as every replica knows."""
        states = self._fleet.things[key].between(begin - self._profile.latest, end)
        return not any(self.serves(state) for state in states)

    def servers_of(self, cluster: int | None) -> list[Key]:
        """The servers that a cluster has had."""
        return [thing.key for thing in self._fleet.of("server") if thing.now["cluster"] == cluster]

    def held_throughout(self, key: Key, begin: float, end: float) -> Task | None:
        """The FAILED task that held a thing during a whole time."""
        holders = {state["operation"] for state in self._fleet.things[key].between(begin, end)}
        task = self.task(next(iter(holders))) if len(holders) == 1 else None
        if task is None:
            return None
        states = task.record.between(begin, end)
        first = task.record.at(begin)
        return task if first and all(state["status"] == "FAILED" for state in states) else None

    def is_newest_restart(self, task: Task, until: float) -> bool:
        """Whether a task is shown to be a restart, and no other restart of what it restarts to have begun later."""
        same = [
            other for other in self.tasks.values() if other.work == "restart" and set(other.members) & set(task.members)
        ]
        begun = [other for other in same if other.record.at(until) is not None]
        others = [other for other in begun if other is not task]
        # Each may show its begin by the clock of another application server.
        return task in begun and all(other.created + self._profile.spread < task.created for other in others)

    def is_cause(self, task: Task, until: float) -> bool:
        """Whether a task that failed at its first step explains what its target shows: nothing else ran since."""
        states = [(other, other.record.at(until)) for other in self.tasks.values() if other is not task]
        begun = [(other, state) for other, state in states if state is not None]
        return all(
            other.created < task.created and state["finish"] is not None and state["finish"] < task.created
            for other, state in begun
        )

    def is_archived(self, task: Task, at: float) -> bool:
        """Whether the service may show a task no more."""
        return task.is_archived(at, self._profile.archives_after)

    def is_running(self, task: Task, at: float) -> bool:
        """Whether a task has begun by a time and not ended."""
        state = task.record.at(at)
        return state is not None and state["finish"] is None

    def worked(self, task: Task, until: float) -> bool:
        """Whether a task has touched a process, or may still do so."""
        if task.fails_at == 0 and task.accepted_actions:
            return False  # it did nothing, until somebody wanted it to go on
        begun = any(step.level > 0 and step.began is not None and step.began <= until for step in task.steps)
        return begun or task.record.now["finish"] is None

    def since(self, run: Run) -> Since:
        """When the change of a run began."""
        instant = run.since if self._profile.clock_is_sane else None
        return Since(instant, self._uses(run), self._profile.spread)

    def true_since(self, run: Run) -> Since:
        """The same, whatever the clocks of the service show."""
        return Since(run.since, self._uses(run))

    def is_noted(self, run: Run, task: Task, when: float, reader: Run) -> bool:
        """Whether a reader of its journal found the id of a task that a run got there at a time."""
        return not run.forgets and run.memory.task_ids.has(task.id, when, reader.machine.name)

    def _uses(self, run: Run) -> dict[Key, Use]:
        if run.name is None:
            return {}
        same = [each for each in self._runs if run.shares_journal(each) and each.name == run.name]
        # What is first used after its end may be the name anew, once it was cleared.
        cleared, ended = run.memory.cleared_at(run.name, run.began), run.ended or NEVER
        same = [each for each in same if not each.only_looks and cleared < each.began <= ended]
        found: dict[Key, float] = {}
        for noted in run.memory.noted:
            for key in noted.things if noted.name == run.name and cleared < noted.time <= ended else ():
                found.setdefault(key, noted.time)
        # Whoever has not noted a name has used it all the same.
        for earlier in same:
            for post in (each for each in earlier.posts if each.sent <= ended):
                for key in earlier.change.members:
                    found[key] = min(post.sent, found.get(key, post.sent))
        # A cluster or a zone is used itself, too, and has no start.
        members = {key: last for key, last in found.items() if key[0] not in ("cluster", "zone")}
        return {key: self._use(key, same, last) for key, last in members.items() if key in self._fleet.things}

    def since_as_renamed(self, run: Run, key: Key, when: float) -> float:
        """Nothing before this was since, for a server that got another address then."""
        if run.name is None:
            return when
        later = [each.time for each in run.memory.noted if each.name == run.name and key in each.things]
        return min((each for each in later if each > when), default=1e12)

    def _use(self, key: Key, same: list[Run], last: float) -> Use:
        users = [each for each in same if each.began <= last <= (each.ended or last)]
        looked = min((self.window(each, last) for each in users), default=last)
        first = looked - self._profile.latest - self._profile.agent_refresh
        states = self._fleet.things[key].between(first, last)
        # Agents that do not run show no start.
        shown = {state["shown"] if key[0] != "host" or state["up"] else None for state in states}
        is_hidden = shown == {None}
        # The end of such a restart may be shown by a clock that is ahead of another.
        recent = last - PROOF_TIMEOUT - self._profile.spread
        begun = [task for task in (*self._tasks_of(key), *self._untold_zones(key)) if task.created <= last]
        is_late = any(task.created > recent or self.is_running(task, recent) for task in begun)
        shown_then = shown.pop() if len(shown) == 1 else None
        return Use(first - self._profile.start_late, last, shown_then, is_hidden, is_late)

    # What is shown

    def window(self, run: Run, until: float) -> float:
        """The begin of what the last look of a run can have seen: its first read after its last pause."""
        reads = [each for each in run.exchanges if each.reads and each.sent <= until]
        if not reads:
            return until
        last = reads[-1].pause_ended
        return min(each.sent for each in reads if each.pause_ended == last)

    def shows(self, key: Key, since: Since, at: float, own: Task | None = None) -> bool:
        """Whether every answer at an instant holds evidence that a restart has happened since, or is in flight."""
        if self._states_show(key, since, at):
            return True
        return any(self._task_shows(task, key, since, at) for task in self._tasks_of(key) if task is not own)

    def shows_by_itself(self, key: Key, since: Since, at: float) -> bool:
        """The same; if the service shows the start of such a target, only the start counts, not a task."""
        shows_start = key[0] == "host" or (key[0] == "server" and self._profile.starts)
        return self._states_show(key, since, at) if shows_start else self.shows(key, since, at)

    def _states_show(self, key: Key, since: Since, at: float) -> bool:
        oldest = at - self._profile.latest - self._profile.agent_refresh * (key[0] == "host")
        return all(self.state_shows(state, key, since) for state in self._fleet.things[key].between(oldest, at))

    def in_flight(self, task: Task, at: float) -> bool:
        """Whether every answer at an instant shows that this task is unfinished."""
        states = self._listed(task, at)
        return bool(states) and all(state["finish"] is None for state in states)

    def state_shows(self, state: dict[str, Any], key: Key, since: Since) -> bool:
        """Whether a state, where it is shown, shows work in progress or a start since."""
        if state["work"] is not None:
            return True
        # Of processes that do not run nothing shows when they started.
        shows_start = state["up"] if key[0] == "host" else key[0] == "server" and self._profile.starts
        shown = state["shown"]
        if not shows_start or shown is None:
            return False
        use = since.uses.get(key)
        if use is not None and use.shown is not None and not use.is_late and shown > use.shown + MOVED:
            return True
        if since.instant is None:
            return False
        return bool(shown > self._profile.wall(since.instant) + HOST_UNCERTAINTY + since.spread + BLUR)

    def _task_shows(self, task: Task, key: Key, since: Since, at: float) -> bool:
        if self.in_flight(task, at):
            return True
        states = self._listed(task, at)
        if not states or task.skipped_effect or not since.covers(key, task):
            return False
        told = self._profile.tags or task.kind == "cluster"
        return told and all(state["finish"] is None or task.ended_well(state) for state in states)

    def _listed(self, task: Task, at: float) -> list[dict[str, Any]]:
        """The states of a task that any replica may list at an instant; none if one may not list it at all."""
        oldest = at - self._profile.latest - self._profile.list_lag
        if not self._profile.reads_tasks or task.record.at(oldest) is None or self.is_archived(task, at):
            return []
        return task.record.between(oldest, at)

    def _untold_zones(self, key: Key) -> list[Task]:
        """The restarts of zones in the cluster of a server, if the service does not show the zone of a task."""
        is_told = self._profile.tags or key[0] != "server"
        return [
            task
            for task in self.tasks.values()
            if not is_told and (task.kind, task.work) == ("zone", "restart") and task.cluster == self.cluster_of(key)
        ]

    def _tasks_of(self, key: Key) -> Iterable[Task]:
        return [task for task in self.tasks.values() if key in task.members and task.work == "restart"]
