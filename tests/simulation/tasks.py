# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The tasks of the service: graphs of subtasks in which processes really stop and start, at a point in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .choices import Stream
from .fleet import Fleet, Key, Start, Versioned
from .profile import Profile
from .scheduler import Scheduler
from .task_graph import CHINESE, LEVELS, Step, Task

DURATIONS = ((0.6, 0.2, 1.5, 6.0, 45.0, 400.0), (45, 20, 20, 12, 2.5, 0.5))


class Tasks:
    """All tasks of the service, and what they do to the fleet."""

    def __init__(
        self, scheduler: Scheduler, fleet: Fleet, profile: Profile, choices: Stream, failures: float,
        story: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._scheduler = scheduler
        self._fleet = fleet
        self._profile = profile
        self._choices = choices
        self._failures = failures
        self._story = story
        self.all: dict[int, Task] = {}
        self._next_id = {"rise": 1001, "fall": 90_001, "mixed": 40_001}[profile.ids]
        self._next_step = 50_001
        # The starts that show otherwise since a task that did nothing: by one jitter in all, and not by one each time.
        self._moved: set[tuple[Key, int]] = set()

    # Submission

    def submit(
        self, kind: str, work: str, own: Key | None, members: Iterable[Key], cluster: int | None, creator: str,
        request: object, *, fails_at_once: bool = False,
    ) -> Task:  # fmt: skip
        """Begin a task; it works on ``own``, if that is a thing, and on its members."""
        now = self._scheduler.now
        task = self._new(kind, work, own, tuple(members), cluster, creator, request, now)
        task.steps[0].status = "READY"
        task.duration = self._choices.pick(*DURATIONS)
        self._draw_failure(task, fails_at_once)
        may_be_idle = self._profile.idle_moves is not None and self._profile.starts
        if may_be_idle and work == "restart" and kind in ("server", "zone", "cluster"):
            task.idle = task.fails_at is None and self._choices.chance(0.5)
        task.record = Versioned(("task", task.id), now, **self._snapshot(task, self._profile.first_word, "EXECUTE"))
        self.all[task.id] = task
        if not fails_at_once:  # since another task has the target
            for key in self._worked_on(task):
                self._fleet.things[key].set(now, operation=task.id, work=work)
        self._story(f"task {task.id} ({task.name}, by {task.creator}) begins: {_named(task.members)}")
        self._scheduler.at(now + 0.2, lambda: self._begin_level(task, 0))
        return task

    def _new(
        self, kind: str, work: str, own: Key | None, members: tuple[Key, ...], cluster: int | None, creator: str,
        request: object, created: float,
    ) -> Task:  # fmt: skip
        task = Task(self._new_id(), kind, work, own, members, cluster, creator, request, created)
        if len(self._profile.servers) > 1:
            task.clock = self._choices.pick(self._profile.servers)
        for level, (description, effect, split) in enumerate(LEVELS[work]):
            parts = [(member,) for member in task.members] if split else [task.members]
            for place, part in enumerate(parts):
                parallel = place if split else -1
                words = CHINESE[description] if self._profile.chinese_steps else description
                task.steps.append(Step(self._next_step, level, words, effect, part, parallel))
                self._next_step += 1
        return task

    def _new_id(self) -> int:
        number = self._next_id
        step = self._choices.pick((1, 2, 9), (8, 1, 1))
        if self._profile.ids == "mixed":
            step = self._choices.pick((1, -700, 600, -20_000, 15_000))
        self._next_id += -step if self._profile.ids == "fall" else step
        while self._next_id in self.all or self._next_id < 1 or self._next_id == number:
            self._next_id += 17 if self._next_id > 0 else 60_000
        return number

    def past(
        self, kind: str, work: str, own: Key | None, members: Iterable[Key], cluster: int | None, created: float
    ) -> Task:  # fmt: skip
        """A task that has ended well, ``created`` no later than now."""
        task = self._new(kind, work, own, tuple(members), cluster, "alice", None, created)
        for step in task.steps:
            step.status, step.attempts, step.began, step.ended = "SUCCESSFUL", 1, created, created + 1.0
            for key in step.members if step.effect == "start" else ():
                thing, shown = self._fleet.things[key], self._profile.wall(created + 1.0) + self._fleet.clock_of(key)
                self._fleet.starts[key].append(Start(created + 1.0, task.id))
                thing.set(created + 1.0, shown=shown)
        snapshot = self._snapshot(task, "SUCCESSFUL", "EXECUTE")
        snapshot["finish"] = self._profile.wall(created + 2.0) + task.clock
        task.record = Versioned(("task", task.id), created, **snapshot)
        self.all[task.id] = task
        return task

    def _draw_failure(self, task: Task, at_once: bool) -> None:
        if not at_once and not self._choices.chance(self._failures):
            return
        task.fails_at = 0 if at_once else self._choices.pick((3, 2, 1, 0), (4, 3, 2, 2))
        task.fails_at = min(task.fails_at, len(LEVELS[task.work]) - 1)
        task.fails_after_effect = self._choices.chance(0.4)
        task.heals_after = self._choices.pick((1, 2, 99), (7, 2, 2))
        self._choices.counted("task fails")

    def _worked_on(self, task: Task) -> list[Key]:
        return [*([task.own] if task.own else []), *(key for key in task.members if key != task.own)]

    def occupied(self, own: Key | None, members: Iterable[Key], cluster: int | None) -> bool:
        """Whether a task works on any of these, or holds it."""
        keys = {*members, *([own] if own else []), *([("cluster", cluster)] if cluster else [])}
        zones = {
            zone.key
            for zone in self._fleet.of("zone")
            for key in keys
            if key[0] == "server" and (zone.now["cluster"], zone.now["name"]) == _place(self._fleet.things[key].now)
        }
        return any(self._fleet.things[key].now["operation"] is not None for key in keys | zones)

    # Execution

    def _snapshot(self, task: Task, status: str, operation: str) -> dict[str, Any]:
        steps = tuple((step.status, step.operation, step.attempts, step.began, step.ended) for step in task.steps)
        ended = status not in ("RUNNING", self._profile.first_word)
        finish = self._profile.wall(self._scheduler.now) + task.clock if ended else None
        return {"status": status, "operation": operation, "steps": steps, "finish": finish}

    def _change(self, task: Task, status: str | None = None, operation: str | None = None) -> None:
        old = task.record.now
        if task.level < 0 and status is None and old["status"] != "RUNNING":
            status = "RUNNING"
        state = self._snapshot(task, status or old["status"], operation or old["operation"])
        task.record.set(self._scheduler.now, **state)
        if status and status != old["status"]:
            self._story(f"task {task.id} is {status}{' (rolled back)' if task.rolls_back else ''}")

    def _begin_level(self, task: Task, level: int) -> None:
        first = task.level < 0
        task.level = level
        begun = [step for step in task.steps if step.level == level and step.status in ("PENDING", "READY")]
        for step in begun:
            step.status, step.began, step.ended = "RUNNING", self._scheduler.now, None
            step.attempts += 1
            self._run_step(task, step)
        self._change(task, "RUNNING" if first else None)
        if not begun:
            self._go_on(task)  # a zone whose servers were moved

    def _run_step(self, task: Task, step: Step) -> None:
        generation = task.generation
        end = self._scheduler.now + task.duration
        self._scheduler.at(end, lambda: task.generation == generation and self._end_step(task, step))

    def _end_step(self, task: Task, step: Step) -> None:
        if step.status != "RUNNING":
            return
        fails = task.fails_at == step.level and step.attempts <= task.heals_after and step.parallel <= 0
        if step.effect and (not fails or task.fails_after_effect):
            self._happen(step.effect, step.members, task)
        step.status, step.ended = ("FAILED" if fails else "SUCCESSFUL"), self._scheduler.now
        if fails:
            self._story(f"task {task.id}: subtask {step.id} ({step.description}) fails")
        self._go_on(task)

    def _go_on(self, task: Task) -> None:
        """Go on when the current level has ended."""
        here = [step.status for step in task.steps if step.level == task.level]
        if "RUNNING" in here or "CANCELING" in here:
            self._change(task)
        elif "FAILED" in here:
            self._change(task, "FAILED")
        elif task.level + 1 == len(LEVELS[task.work]):
            self._change(task, "SUCCESSFUL")
            self._release(task)
        else:
            self._change(task)
            self._begin_level(task, task.level + 1)

    def _release(self, task: Task) -> None:
        for key in self._worked_on(task):
            thing = self._fleet.things[key]
            if thing.now["operation"] == task.id:
                thing.set(self._scheduler.now, operation=None, work=None)

    # What happens to processes

    def _happen(self, effect: str, members: Iterable[Key], task: Task, *, undoing: bool = False) -> None:
        if task.idle:
            self._pretend(effect, members)
            return
        for key in members:
            {"stop": self.stop, "start": self.start, "activate": self.activate}[effect](key, task, undoing=undoing)

    def _pretend(self, effect: str, members: Iterable[Key]) -> None:
        for key in members if effect == "start" else ():
            thing = self._fleet.things[key]
            start = (key, len(self._fleet.starts[key]))
            if thing.now["shown"] is not None and start not in self._moved:
                self._moved.add(start)
                thing.set(self._scheduler.now, shown=thing.now["shown"] + (self._profile.idle_moves or 0.0))
            self._story(f"{_named([key])} does not start, and the start that is shown moves")

    def stop(self, key: Key, task: Task | None = None, *, undoing: bool = False) -> None:  # noqa: ARG002
        """Stop a process."""
        thing = self._fleet.things[key]
        if thing.now["up"]:
            by_person = task is None or task.work == "stop"
            thing.set(self._scheduler.now, up=False, active=False, stopped=by_person)
            self._story(f"{_named([key])} stops")

    def start(self, key: Key, task: Task | None = None, *, undoing: bool = False) -> None:
        """Start a process that does not run; the service shows it when its time has come."""
        thing, now = self._fleet.things[key], self._scheduler.now
        if thing.now["up"]:
            return
        started = Start(now, task.id if task else None, undoing)
        self._fleet.starts[key].append(started)
        thing.set(now, up=True, active=False, stopped=False)
        self._story(f"{_named([key])} STARTS{f' by task {task.id}' if task else ''}")

        def show() -> None:
            wall = self._profile.wall(started.time) + self._fleet.clock_of(key)
            shown = {"shown": wall, "born": started.time}
            thing.set(self._scheduler.now, **shown, pid=int(started.time * 10) + 5000)

        self._scheduler.at(now + self._profile.start_late, show)

    def show_start(self, thing: Versioned) -> None:
        """What is added anew shows at once when it started."""
        if thing.now["shown"] is None or self._profile.start_late:
            started = self._fleet.starts[thing.key][-1].time
            thing.set(self._scheduler.now, shown=self._profile.wall(started) + self._fleet.clock_of(thing.key))

    def activate(self, key: Key, task: Task | None = None, *, undoing: bool = False) -> None:  # noqa: ARG002
        """Let a running process serve."""
        thing = self._fleet.things[key]
        if thing.now["up"]:
            thing.set(self._scheduler.now, active=True)

    # Actions: they return whether the state of the task allowed it

    def retry(self, task: Task, step: Step | None, request: object) -> bool:
        """Run again what FAILED."""
        failed = [each for each in task.steps if each.status == "FAILED" and step in (None, each)]
        if not failed or (task.status != "FAILED" and step is None) or task.rolls_back:
            return False
        task.accepted_actions.append((self._scheduler.now, "retry", request))
        self._story(f"task {task.id} is retried")
        for each in failed:
            each.status, each.operation, each.ended = "READY", "RETRY", None
        self._change(task, "RUNNING", "RETRY")
        self._begin_level(task, task.level)
        return True

    def skip(self, task: Task, step: Step, request: object) -> bool:
        """Count a FAILED subtask as done."""
        if step.status != "FAILED":
            return False
        task.accepted_actions.append((self._scheduler.now, "skip", request))
        self._story(f"subtask {step.id} ({step.description}) of task {task.id} is skipped")
        step.status, step.operation, step.ended = "SUCCESSFUL", "SKIP", self._scheduler.now
        if self._profile.chinese_steps:
            self._choices.counted("task step with a Chinese name skipped")
        self._change(task, "RUNNING")
        self._scheduler.at(self._scheduler.now + 0.2, lambda: self._go_on(task))
        return True

    def cancel(self, task: Task, step: Step, request: object) -> bool:
        """End a RUNNING subtask; it FAILS."""
        if step.status != "RUNNING":
            return False
        task.accepted_actions.append((self._scheduler.now, "cancel", request))
        self._story(f"subtask {step.id} ({step.description}) of task {task.id} is cancelled")
        step.status, step.operation = "CANCELING", "CANCEL"
        self._change(task)

        def end() -> None:
            step.status, step.ended = "FAILED", self._scheduler.now
            self._go_on(task)

        self._scheduler.at(self._scheduler.now + 0.3, end)
        return True

    def abort(self, task: Task) -> bool:
        """End a FAILED task for good, as a person may in the console."""
        if task.status != "FAILED":
            return False
        self._change(task, self._profile.abort_word)
        self._release(task)
        return True

    def roll_back(self, task: Task, request: object) -> bool:
        """Undo the work of a FAILED task, level by level."""
        if task.status != "FAILED":
            return False
        task.accepted_actions.append((self._scheduler.now, "rollback", request))
        self._story(f"task {task.id} is rolled back")
        task.generation += 1
        for step in task.steps:
            if step.status != "PENDING":
                step.operation = "ROLLBACK"
        self._change(task, "RUNNING", "ROLLBACK")
        self._scheduler.at(self._scheduler.now + task.duration, lambda: self._undo_level(task))
        return True

    def _undo_level(self, task: Task) -> None:
        for step in task.steps:
            if step.level == task.level and step.status != "PENDING":
                if step.effect == "stop":
                    self._happen("start", step.members, task, undoing=True)
                    self._happen("activate", step.members, task, undoing=True)
                elif step.effect == "start":
                    self._happen("stop", step.members, task, undoing=True)
                step.status = "PENDING"
        if task.level:
            task.level -= 1
            self._change(task)
            self._scheduler.at(self._scheduler.now + task.duration, lambda: self._undo_level(task))
        else:
            self._change(task, "SUCCESSFUL", "ROLLBACK")
            self._release(task)


def _place(server: dict[str, Any]) -> tuple[int, str]:
    return server["cluster"], server["zone"]


def _named(keys: Iterable[Key]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in keys)
