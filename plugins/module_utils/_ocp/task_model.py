# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The one model of a task and its subtasks: when it has ended, succeeded, failed or was rolled back.

See docs/dev/contract.md, "Task".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from .._base.parsing import instant, integer, integers, record, records
from .._base.text import one_line, shorten, truncate

RUNNING = "RUNNING"
SUCCESSFUL = "SUCCESSFUL"
FAILED = "FAILED"
ROLLBACK = "ROLLBACK"
EXECUTE = "EXECUTE"
SKIPPED_BY = ("SKIP", "ROLLBACK_SKIP")
# Also with a finish time: no document says that a retry removes the one of the attempt before.
UNFINISHED = (RUNNING, "READY", "PENDING", "CANCELING")
# Fields hold names and addresses; longer values would only fill results.
LONGEST_VALUE = 1000
# The width of a target, so that a progress line has room for the outcome of the task.
_NAME_WIDTH = 40


@dataclass(frozen=True)
class Subtask:
    """A step of a task. ``timeout`` and ``duration`` are seconds; a value that a form lacks is None."""

    id: int
    name: str | None
    description: str | None
    status: str | None
    operation: str | None
    upstreams: list[int]
    downstreams: list[int]
    timeout: int | None
    duration: float | None
    start_time: str | None
    finish_time: str | None
    executor: str | None
    run_time: int | None
    parallel_idx: int | None
    series_id: int | None
    node_type: str | None
    class_name: str | None
    prohibit_rollback: bool | None
    prohibit_skip: bool | None

    @property
    def label(self) -> str:
        """Its name for people, as one printable line."""
        return one_line(self.description) or one_line(self.name) or f"subtask {self.id}"

    @property
    def is_skipped(self) -> bool:
        """Whether it counts as done, and somebody left its work undone."""
        return self.status == SUCCESSFUL and str(self.operation).upper() in SKIPPED_BY


@dataclass(frozen=True)
class Task:
    """A task with its subtasks in execution order. ``duration`` is seconds; a value that a form lacks is None.

    ``targets`` are the names of what it works on; empty if the form does not show them.
    """

    id: int
    name: str | None
    status: str | None
    operation: str | None
    type: str | None
    creator: str | None
    executor: str | None
    create_time: str | None
    start_time: str | None
    finish_time: str | None
    duration: float | None
    cluster_id: int | None
    cluster_name: str | None
    host_id: int | None
    prohibit_rollback: bool | None
    task_definition_id: int | None
    targets: list[str]
    subtasks: list[Subtask]

    @classmethod
    def from_api(cls, data: dict[str, Any]) -> Task:
        """Read the response to a start, a task detail or an entry of the task list."""
        creator = data.get("creator")
        cluster = record(data.get("cluster"))
        raw_subtasks = records(data.get("subtasks")) or records(data.get("tasks"))
        return cls(
            **_same_named(cls, data),
            creator=_truncated(creator.get("name") if isinstance(creator, dict) else creator),
            cluster_id=_first_not_none(data.get("clusterId"), cluster.get("id")),
            cluster_name=_truncated(cluster.get("name")),
            host_id=_first_not_none(data.get("hostId"), _common_tag(data, "hostId")),
            duration=_seconds(data),
            targets=target_names(data),
            subtasks=_execution_order([_subtask(raw) for raw in raw_subtasks]),
        )

    @classmethod
    def from_result(cls, facts: dict[str, Any]) -> Task:
        """Read a result of ``result``, wherever it was kept meanwhile."""
        subtasks = [Subtask(**_fields_of(Subtask, raw)) for raw in records(facts.get("subtasks"))]
        known = _fields_of(cls, facts)
        return cls(**{**known, "targets": _texts(known["targets"]), "subtasks": subtasks})

    @property
    def label(self) -> str:
        """As in ``1001 (Restart OB server 10.0.0.1)``."""
        return task_label(self.id, self.title)

    @property
    def title(self) -> str | None:
        """Its name with what it works on, as in ``Restart OB server 10.0.0.1``."""
        name = one_line(self.name)
        return f"{name}{_of_targets(self.targets, self.cluster_name)}" if name else None

    @property
    def is_rolling_back(self) -> bool:
        """Whether it is undoing its work, as far as the form shows."""
        return _is_rollback(self)

    @property
    def words(self) -> str:
        """As in ``task 1001 (Restart OB server)``, or ``rollback of task 1001 (Restart OB server)``."""
        return f"{'rollback of ' if self.is_rolling_back else ''}task {self.label}"

    @property
    def rolled_back(self) -> bool:
        """Whether it ended SUCCESSFUL by undoing its work."""
        return self.status == SUCCESSFUL and (
            _is_rollback(self) or any(_is_rollback(step) or step.status == "PENDING" for step in self.subtasks)
        )

    @property
    def is_undone(self) -> bool:
        """Whether its work is undone, or is being undone."""
        return self.is_rolling_back or self.rolled_back

    @property
    def finished(self) -> bool:
        """Whether it has ended; with an undocumented status and a finish time it has ended without success."""
        return _has_ended(self.status, self.finish_time)

    @property
    def succeeded(self) -> bool:
        """Whether it did its work."""
        return self.status == SUCCESSFUL and not self.rolled_back

    @property
    def is_plain(self) -> bool:
        """Whether it did its work at the first attempt, and how long that took is shown."""
        return self.succeeded and self.duration is not None and str(self.operation or EXECUTE).upper() == EXECUTE

    @property
    def failed_subtasks(self) -> list[Subtask]:
        """The subtasks that FAILED, in execution order."""
        return [step for step in self.subtasks if step.status == FAILED]

    @property
    def failed_at_first_step(self) -> bool:
        """Whether it FAILED before it changed anything, like a task that finds its target busy.

        What has run before a rollback, or without steps that are shown, may have changed something.
        """
        if self.status != FAILED or not self.subtasks or _is_rollback(self):
            return False
        begun = [step for step in self.subtasks if step.status != "PENDING"]
        return all(step.status == FAILED and not step.upstreams and not _is_rollback(step) for step in begun)

    def position(self, step: Subtask) -> str:
        """The place of ``step``, as in ``4 of 13``."""
        return f"{self.subtasks.index(step) + 1} of {len(self.subtasks)}"

    def result(self, *, full: bool = True) -> dict[str, Any]:
        """The task as registered facts with every key; if not ``full``, with the FAILED subtasks only."""
        return {
            **asdict(self if full else replace(self, subtasks=self.failed_subtasks)),
            "finished": self.finished,
            "succeeded": self.succeeded,
            "rolled_back": self.rolled_back,
            "progress": {
                "done": sum(step.status == SUCCESSFUL for step in self.subtasks),
                "total": len(self.subtasks),
                "running": [step.label for step in self.subtasks if step.status == RUNNING],
            },
        }


def is_finished(data: dict[str, Any]) -> bool:
    """The same as ``finished`` of the task with this record, without reading its subtasks."""
    return _has_ended(_truncated(data.get("status")), data.get("finishTime"))


def _has_ended(status: str | None, finish_time: str | None) -> bool:
    if status in (SUCCESSFUL, FAILED):
        return True
    return bool(status) and status not in UNFINISHED and instant(finish_time) is not None


def task_label(task_id: int, name: str | None) -> str:
    """The name of a task for people: its id and, if known, its name, as one printable line."""
    known = one_line(name)
    return f"{task_id} ({known})" if known else str(task_id)


def _fields_of(cls: type, facts: dict[str, Any]) -> dict[str, Any]:
    return {**{field.name: facts.get(field.name) for field in fields(cls)}, "id": integer(facts.get("id"))}


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def target_names(data: dict[str, Any]) -> list[str]:
    """The names of what a task works on, as its tags show them; empty for versions without tags."""
    names = (_tag_name(tag) for tag in records(data.get("tags")))
    return list(dict.fromkeys(name for name in names if name))


def _tag_name(tag: dict[str, Any]) -> str | None:
    """The address of a server, host or service, else the name of a zone or cluster."""
    address, port, cluster, zone = (
        _truncated(one_line(tag.get(key))) for key in ("svrIp", "arbitrationServiceSvrPort", "clusterName", "zoneName")
    )
    if address:
        return f"{address}:{port}" if port else str(address)
    if any(integer(tag.get(key)) is not None for key in ("serverId", "hostId", "arbitrationServiceId", "obproxyId")):
        return None
    return " ".join(filter(None, (cluster, zone))) or None


def _of_targets(targets: list[str], cluster: str | None) -> str:
    """As in `` 10.0.0.1``, `` 10.0.0.1 and 29 more``, or `` in cluster orders`` where only that is known."""
    if targets:
        more = f" and {len(targets) - 1} more" if len(targets) > 1 else ""
        return f" {shorten(targets[0], _NAME_WIDTH)}{more}"
    name = one_line(cluster)
    return f" in cluster {shorten(name, _NAME_WIDTH)}" if name else ""


def _subtask(data: dict[str, Any]) -> Subtask:
    return Subtask(
        **_same_named(Subtask, data),
        upstreams=integers(data.get("upstreams")),
        downstreams=integers(data.get("downstreams")),
        duration=_seconds(data),
    )


_MAPPED_BY_HAND = {
    "creator",
    "cluster_id",
    "cluster_name",
    "host_id",
    "duration",
    "targets",
    "subtasks",
    "upstreams",
    "downstreams",
}


def _same_named(cls: type, data: dict[str, Any]) -> dict[str, Any]:
    """The fields of ``cls`` whose camelCase name is the service's."""
    return {name: _truncated(data.get(theirs)) for name, theirs in _api_names(cls)}


@cache
def _api_names(cls: type) -> list[tuple[str, str]]:
    """Pairs of our name and the service's name of these fields."""
    return [(field.name, _camel(field.name)) for field in fields(cls) if field.name not in _MAPPED_BY_HAND]


def _truncated(value: Any) -> Any:
    return truncate(value, LONGEST_VALUE) if isinstance(value, str) else value


def _common_tag(data: dict[str, Any], key: str) -> Any:
    """The value that all tags have under ``key``, else None. A task detail has its host only there."""
    values = {integer(tag.get(key)) for tag in records(data.get("tags"))}
    return values.pop() if len(values) == 1 else None


def _first_not_none(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _is_rollback(item: Task | Subtask) -> bool:
    # Newer versions write operations in lower case in the task list.
    return str(item.operation).upper() == ROLLBACK


def _execution_order(steps: list[Subtask]) -> list[Subtask]:
    """Follow the links; neither the array nor ``seriesId`` is in order.

    Parallel steps are ordered by ``parallelIdx``. A form without links and ``parallelIdx`` keeps its order.
    """
    by_id = {step.id: step for step in steps if integer(step.id) is not None}
    ordered = any(step.upstreams or step.downstreams or step.parallel_idx is not None for step in steps)
    if not ordered or len(by_id) < len(steps):
        return steps
    place = {step.id: (integer(step.parallel_idx) or 0, step.id) for step in steps}
    graph: TopologicalSorter[int] = TopologicalSorter({step.id: () for step in steps})
    for step in steps:
        for upstream in by_id.keys() & set(step.upstreams):
            graph.add(step.id, upstream)
        for downstream in by_id.keys() & set(step.downstreams):
            graph.add(downstream, step.id)
    try:
        graph.prepare()
    except CycleError:
        return steps
    in_order: list[Subtask] = []
    while graph.is_active():
        level = sorted(graph.get_ready(), key=place.__getitem__)
        in_order += (by_id[number] for number in level)
        graph.done(*level)
    return in_order


def _seconds(data: dict[str, Any]) -> float | None:
    start, finish = instant(data.get("startTime")), instant(data.get("finishTime"))
    return round((finish - start).total_seconds(), 3) if start and finish else None


def longest(tasks: Iterable[Task]) -> Task | None:
    """The plain task that took longest; a task that somebody retried does not show how long a task takes."""
    return max((task for task in tasks if task.is_plain), key=lambda task: task.duration or 0.0, default=None)
