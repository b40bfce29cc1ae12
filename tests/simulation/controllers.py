# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Controllers: processes that run modules, again after a failure, and are killed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from .history import Change, History, Run
from .machines import Machine
from .profile import EPOCH
from .records import BEGIN_1970
from .scheduler import Actor, Killed, Scheduler

COLLECTION = "ansible_collections.oceanbase.ocp.plugins"
MODULES = {
    "server": "server_restart",
    "zone": "zone_restart",
    "cluster": "cluster_restart",
    "host": "agent_restart",
    "arbitration": "arbitration_service_restart",
}
PLAN = "cluster_rolling_restart_info"


class TaskTimeout(BaseException):
    """What Ansible's keyword ``timeout`` raises in the process of the controller."""


@dataclass
class Plan:
    """What one controller does: the changes that it carries out one after the other, and how."""

    name: str
    starts: float
    changes: list[Change]
    args: dict[str, Any]
    by_instant: bool
    by_name: bool
    change_clock: float = 0.0  # of the machine that noted the instant of the change, seconds ahead
    user: str = "ops"
    retries: int = 0  # in the same process, as with retries/until
    reruns: int = 2  # in a new process
    pause: float = 5.0
    looks_first: str | None = None  # what is run before each restart that must change nothing: a check or a plan
    clears_name: bool = False  # a person clears the name after its first restart, since the change came later
    mend: str | None = None  # the state that the module task brings a failed task into, before it is run again
    killed_at: list[float] = field(default_factory=list)
    interrupted_at: float | None = None


class Controller:
    """One controller of a run."""

    def __init__(
        self, plan: Plan, machine: Machine, scheduler: Scheduler, history: History, story: Callable[[str], None]
    ) -> None:  # fmt: skip
        self.plan = plan
        self.machine = machine
        self.sent_here: set[str] = set()
        self.run: Run = None  # type: ignore[assignment]
        self._scheduler = scheduler
        self._history = history
        self._story = story
        self._process = 0
        self._done = 0
        self._runs_left = 1 + plan.reruns

    def begin(self) -> None:
        """Start its first process, and plan its kills."""
        self._start(self.plan.starts)
        for when in self.plan.killed_at:
            self._scheduler.at(when, self._kill)
        if self.plan.interrupted_at is not None:
            self._scheduler.at(self.plan.interrupted_at, self._interrupt)

    def _start(self, when: float) -> None:
        self._process += 1
        self.sent_here = set()
        self._actor = self._scheduler.start(when, f"{self.plan.name}.{self._process}", self._work)
        self._actor.data = self

    def _kill(self) -> None:
        if self._actor.alive and self.run is not None and self.run.end == "running":
            self.run.end, self.run.ended = "killed", self._scheduler.now
            self._story(f"{self.run.label} is KILLED")
            self._scheduler.interrupt(self._actor, Killed())
            self._start(self._scheduler.now + self.plan.pause)

    def _interrupt(self) -> None:
        if self._actor.alive and self.run is not None and self.run.end == "running":
            self._scheduler.interrupt(self._actor, TaskTimeout())

    def _work(self, _actor: Actor) -> None:
        while self._done < len(self.plan.changes):
            change = self.plan.changes[self._done]
            if self._carry_out(change):
                self._done += 1
                continue
            self._runs_left -= 1
            if self._runs_left > 0:
                self._start(self._scheduler.now + self.plan.pause)
            return

    def _carry_out(self, change: Change) -> bool:
        """Run the module as a task with retries; returns whether it was green."""
        if self.plan.looks_first:
            self._only_look(change)
        for attempt in range(1 + self.plan.retries):
            if attempt:
                self._sleep(self.plan.pause)
            run = self._run_module(MODULES[change.kind], change, {**self.plan.args, **change.args})
            if run.green:
                return not self._clears(change)
            if run.end == "result" and self.plan.mend and run.result.get("task_id"):
                args = {"task_id": run.result["task_id"], "state": self.plan.mend, "wait": True, "wait_timeout": 120}
                if self.plan.mend == "skipped":
                    args["subtask"] = "failed"
                self._run_module("task", change, args)
        return False

    def _only_look(self, change: Change) -> None:
        """Run the module in check mode, or plan a rolling restart of the cluster."""
        if self.plan.looks_first == "check":
            self._run_module(MODULES[change.kind], change, {**self.plan.args, **change.args}, only_looks=True)
        elif change.cluster is not None and (self.plan.by_name or self.plan.by_instant):
            args = {"clusters": [f"c{change.cluster}"], "safety": "none", "timeout": self.plan.args["timeout"]}
            self._run_module(PLAN, change, args, only_looks=True)

    def _clears(self, change: Change) -> bool:
        """Whether a person clears the name of a change, so that it is used as if it were new."""
        if not (self.plan.clears_name and self.plan.by_name) or self.machine.is_in_use(self._history.runs):
            return False
        self.plan.clears_name = False
        self.machine.clear(change.name)
        self._story(f"a person clears {change.name} on {self.machine.name}")
        return True

    def _sleep(self, seconds: float) -> None:
        self._scheduler.sleep_until(self._scheduler.now + seconds)

    def _run_module(self, module: str, change: Change, args: dict[str, Any], *, only_looks: bool = False) -> Run:
        since = None
        name = change.name if self.plan.by_name and module != "task" else None
        if name is not None:
            args = {**args, "change": name}
        if self.plan.by_instant and module != "task":
            noted = EPOCH + change.at + self.plan.change_clock
            since = noted - self.machine.ahead - EPOCH
            moment = BEGIN_1970 + timedelta(seconds=noted)
            args = {**args, "started_before": _text(moment)}
        number = len(self._history.runs) + 1
        process = f"{self.plan.name}-{self._process}"
        connection = {"url": self.machine.url, "username": self.plan.user, "password": "pass-word-9"}
        run = Run(
            number, self.plan.name, process, module, args, change, since, self._scheduler.now, self.plan.user,
            self.machine, name, only_looks,
        )  # fmt: skip
        run.pause_ended = run.began
        self._history.runs.append(run)
        self.run = run
        words = " in check mode" if only_looks and module != PLAN else ""
        self._story(f"{run.label} begins: {module}{words} {_shown(args)}")
        try:
            run.result = run_action(module, {**connection, **args}, check_mode=only_looks)
            run.end = "result"
        except TaskTimeout:
            run.end = "timeout"
        run.ended = self._scheduler.now
        self._story(f"{run.label} ends: {_outcome(run)}")
        return run


_ACTIONS: dict[str, Any] = {}


def run_action(name: str, args: dict[str, Any], *, check_mode: bool = False) -> dict[str, Any]:
    """The result of a module, by its action plugin."""
    if name not in _ACTIONS:
        _ACTIONS[name] = importlib.import_module(f"{COLLECTION}.action.{name}").ActionModule
    action = _ACTIONS[name].__new__(_ACTIONS[name])
    action._task = SimpleNamespace(
        _uuid="task",
        args=args, action=f"oceanbase.ocp.{name}", check_mode=check_mode, diff=False, no_log=False, async_val=0,
        environment=[], delegate_to=None, timeout=0,
    )  # fmt: skip
    action._connection = SimpleNamespace(transport="local", become=None)
    action._play_context = SimpleNamespace(remote_addr="localhost")
    found: dict[str, Any] = action.run(None, {"inventory_hostname": "localhost"})
    return found


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _shown(args: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in args.items())


def _outcome(run: Run) -> str:
    if run.end != "result":
        return run.end
    told = {name: run.result.get(name) for name in ("changed", "action", "verified", "task_id")}
    words = " ".join(f"{name}={value}" for name, value in told.items())
    text = str(run.result.get("msg") or run.result.get("reason")).split("\n", 1)[0]
    return f"{'FAILED' if run.failed else 'ok'} {words}: {text}"
