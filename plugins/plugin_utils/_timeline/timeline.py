# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The state, sign and colour of a step, its times, and how the task is found in a registered result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from ...module_utils._base.parsing import Record, instant, integer, record, records
from ...module_utils._base.text import LogTail, log_tail, one_line
from ...module_utils._ocp.task_model import Task
from ...module_utils._waiting.failure_report import remedy_commands
from .._ansible_core import FilterError
from .durations import duration


@dataclass(frozen=True)
class State:
    """A display state: ``key`` for machines, ``sign`` for people, ``ansi`` the terminal colour."""

    key: str
    sign: str
    ansi: int


SUCCESSFUL = State("successful", "✓", 32)
FAILED = State("failed", "✗", 31)
RUNNING = State("running", "…", 34)
PENDING = State("pending", "○", 90)
SKIPPED = State("skipped", "⊘", 36)
ROLLED_BACK = State("rolled-back", "↺", 33)
UNKNOWN = State("unknown", "?", 35)
STATES = (SUCCESSFUL, FAILED, RUNNING, PENDING, SKIPPED, ROLLED_BACK, UNKNOWN)

_BY_STATUS = {
    "SUCCESSFUL": SUCCESSFUL,
    "FAILED": FAILED,
    "RUNNING": RUNNING,
    "READY": PENDING,
    "PENDING": PENDING,
}
_BY_OPERATION = {"SKIP": SKIPPED, "ROLLBACK": ROLLED_BACK}
# Years that every time zone can represent.
_YEARS = range(1970, 9999)


@dataclass(frozen=True)
class Step:
    """A subtask, or a task among others, as row ``number`` (from 1). None means unknown.

    ``end`` is the end of its bar: the finish, or for a running step the newest time seen.
    """

    number: int
    name: str
    id: str | None
    state: State
    status: str
    operation: str | None
    attempt: int | None
    executor: str | None
    start: datetime | None
    finish: datetime | None
    end: datetime | None
    log: LogTail | None

    @property
    def duration(self) -> str | None:
        """How long it took, or has taken at least; None if unknown."""
        if self.start is None or self.end is None:
            return None
        seconds = (self.end - self.start).total_seconds()
        if self.finish:
            return duration(seconds) if seconds >= 0 else None
        return f"≥ {duration(seconds)}" if seconds > 0 else None

    @property
    def note(self) -> str:
        """The note beside its name: an operation other than EXECUTE, and an attempt after the first."""
        attempts = f"attempt {self.attempt}" if self.attempt and self.attempt > 1 else None
        return ", ".join(filter(None, (self.operation, attempts)))


@dataclass(frozen=True)
class TaskView:
    """A task: its own row, its facts as (name, value), and its steps in the given order.

    If it FAILED, ``next_steps`` are what a person can do about it, each with its command.
    """

    row: Step
    facts: list[tuple[str, str]]
    steps: list[Step] = field(default_factory=list)
    next_steps: list[tuple[str, str]] = field(default_factory=list)

    @property
    def failed(self) -> list[Step]:
        """The FAILED steps."""
        return [step for step in self.steps if step.state is FAILED]


@dataclass(frozen=True)
class _Found:
    """A task in the value of a filter, with the target and failed subtasks of the result around it."""

    task: Record
    target: Record
    failed_subtasks: list[Record]


def read_tasks(filter_name: str, value: object) -> list[TaskView]:
    """The tasks in ``value``: a task, a registered result with its task or tasks, null for none, or a list of these.

    Raises FilterError for anything else.
    """
    found = list(_find(filter_name, value))
    newest = max((time for item in found for time in _times(item.task)), default=None)
    return [_view(number, item, newest) for number, item in enumerate(found, 1)]


def _find(filter_name: str, value: object) -> Iterator[_Found]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _find(filter_name, item)
    elif isinstance(value, dict):
        yield from _find_in_record(filter_name, value)
    elif value is not None:
        raise _no_task(filter_name, f"a value of type {_type_name(value)}")


def _find_in_record(filter_name: str, value: Record) -> Iterator[_Found]:
    if "subtasks" in value or {"id", "status"} <= value.keys():
        yield _Found(value, {}, records(value.get("failed_subtasks")))
    elif "results" in value:
        yield from _find(filter_name, value["results"])
    elif "tasks" in value or "task" in value:
        failed, target = records(value.get("failed_subtasks")), record(value.get("target"))
        inner = value["tasks"] if "tasks" in value else value["task"]
        for found in _find(filter_name, inner):
            yield _Found(found.task, found.target or target, [*found.failed_subtasks, *failed])
    elif not {"skipped", "failed"} & value.keys():
        raise _no_task(filter_name, "a dict that has neither subtasks nor id and status")


def _no_task(filter_name: str, what: str) -> FilterError:
    return FilterError(
        f"oceanbase.ocp.{filter_name}: {what} is not a task; give a task, a registered result of a module of "
        "oceanbase.ocp, or a list of these."
    )


def _type_name(value: object) -> str:
    names = (base.__name__ for base in type(value).__mro__)
    # Users know Ansible's subclasses of str and int by the names of the base types.
    return next((name for name in names if name in ("bool", "str", "int", "float")), type(value).__name__)


def _view(number: int, found: _Found, newest: datetime | None) -> TaskView:
    task = found.task
    task_id = integer(task.get("id"))
    logs = {
        step_id: entry.get("log_tail")
        for entry in found.failed_subtasks
        if (step_id := integer(entry.get("id", entry.get("subtask_id")))) and entry.get("task_id") in (None, task_id)
    }
    zone = next((time.tzinfo for time in _times(task)), None) or UTC
    reader = _Reader(zone, newest, logs)
    targets = _target_names(found)
    row = reader.task(number, task, targets)
    steps = [reader.subtask(place, raw) for place, raw in enumerate(records(task.get("subtasks")), 1)]
    return TaskView(row, list(_facts(row, task, targets)), steps, list(_next_steps(row, task)))


def _target_names(found: _Found) -> list[str]:
    """The names of what it works on, as the result around it or else the task itself shows them."""
    hosts = [host.get("name") for host in records(found.target.get("hosts"))]
    shown = found.task.get("targets")
    names = hosts or [found.target.get("name")] if found.target else shown if isinstance(shown, list) else []
    return [name for name in map(one_line, names) if name]


def _next_steps(row: Step, task: Record) -> Iterator[tuple[str, str]]:
    if row.state is FAILED and integer(task.get("id")):
        yield from remedy_commands(Task.from_result(task))


@dataclass(frozen=True)
class _Reader:
    """Read the rows of a task; times are in ``zone``, ``newest`` is the newest time, ``logs`` are by subtask id."""

    zone: tzinfo
    newest: datetime | None
    logs: dict[int, object]

    def task(self, number: int, raw: Record, targets: list[str]) -> Step:
        state = ROLLED_BACK if raw.get("rolled_back") is True else _state(raw)
        status = "ROLLED BACK" if state is ROLLED_BACK else None
        more = f" and {len(targets) - 1} more" if len(targets) > 1 else ""
        named = filter(None, (one_line(raw.get("name")), *targets[:1]))
        return self._step(number, raw, state, f"{' '.join(named)}{more}" if raw.get("name") else None, "Task", status)

    def subtask(self, number: int, raw: Record) -> Step:
        return self._step(number, raw, _state(raw), raw.get("description") or raw.get("name"), "Subtask", None)

    def _step(self, number: int, raw: Record, state: State, name: object, kind: str, status: str | None) -> Step:
        start, finish = (_moment(raw.get(key), self.zone) for key in ("start_time", "finish_time"))
        operation = str(raw.get("operation") or "").upper()
        identifier = one_line(raw.get("id"))
        log = raw.get("log_tail") or self.logs.get(integer(raw.get("id")) or 0)
        return Step(
            number=number,
            name=one_line(name) or f"{kind} {identifier or 'without a name'}",
            id=identifier,
            state=state,
            status=status or one_line(raw.get("status")) or "UNKNOWN",
            operation=one_line(operation) if operation not in ("", "EXECUTE") else None,
            attempt=integer(raw.get("run_time")),
            executor=one_line(raw.get("executor")),
            start=start,
            finish=finish,
            end=finish or (self.newest.astimezone(self.zone) if self.newest and state is RUNNING else None),
            log=log_tail(log) if state is FAILED else None,
        )


def _state(raw: Record) -> State:
    state = _BY_STATUS.get(str(raw.get("status")).upper(), UNKNOWN)
    return _BY_OPERATION.get(str(raw.get("operation")).upper(), state) if state is SUCCESSFUL else state


def _facts(row: Step, task: Record, targets: list[str]) -> Iterator[tuple[str, str]]:
    progress = record(task.get("progress"))
    done, total = integer(progress.get("done")), integer(progress.get("total"))
    given = len(records(task.get("subtasks")))
    shown = f", {given} shown" if total and given < total else ""
    facts: Iterable[tuple[str, object]] = (
        ("Task", row.id),
        ("Operation", row.operation),
        ("Target", ", ".join(targets)),
        ("Cluster", _named(task.get("cluster_name"), task.get("cluster_id"))),
        ("Host", None if targets else _named(None, task.get("host_id"))),
        ("Creator", task.get("creator")),
        ("Started", row.start.isoformat(" ", "seconds") if row.start else None),
        ("Duration", row.duration),
        ("Subtasks", f"{done} of {total} done{shown}" if done is not None and total else None),
    )
    for name, value in facts:
        readable = one_line(value)
        if readable is not None:
            yield name, readable


def _named(name: object, number: object) -> object:
    if number is None:
        return name
    return f"{name} (id {number})" if name else f"id {number}"


def _times(task: Record) -> Iterator[datetime]:
    for raw in (task, *records(task.get("subtasks"))):
        for key in ("start_time", "finish_time"):
            time = _moment(raw.get(key))
            if time is not None:
                yield time


def _moment(value: object, zone: tzinfo | None = None) -> datetime | None:
    time = instant(value)
    if time is None or time.year not in _YEARS:
        return None
    return time.astimezone(zone) if zone else time
