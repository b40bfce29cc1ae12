# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which records and tasks of a cluster are read to judge its health, and which FAILED task holds a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .._base.errors import NotFound
from .._base.parsing import Record
from .._fleet.facts import Facts, cluster_facts, server_facts
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, Task, is_finished
from .._targets.cluster import Cluster, servers_of
from .._targets.operating_tasks import tag_values, tasks_of_cluster
from .._targets.serving import is_in_flight
from .._targets.target import ClusterRecords
from .._targets.task_names import DATABASE_RESTARTS, kind_of
from .health_rules import Apart, Kind, Problem, health_problems, misplaced


@dataclass(frozen=True)
class Demands:
    """The demands on a cluster: this many zones up, or all, and ``servers`` (ids or names) in ``zone``.

    ``apart`` need not be healthy.
    """

    min_zones: int | None = None
    zone: str | None = None
    servers: Sequence[str] = ()
    apart: Apart | None = None


class TaskReader:
    """Reads what explains the state of a cluster, each task once. ``count`` says how much was read so far."""

    def __init__(self, api: OcpApi) -> None:
        self._api = api
        self._tasks: dict[int, Record | None] = {}
        self.count = 0

    def task(self, task_id: int) -> Record | None:
        """The task with this id; None if it was deleted."""
        if task_id not in self._tasks:
            self.count += 1
            self._tasks[task_id] = self._read(task_id)
        return self._tasks[task_id]

    def _read(self, task_id: int) -> Record | None:
        try:
            return self._api.task(task_id)
        except NotFound:
            return None

    @property
    def task_ids(self) -> list[int]:
        """The tasks that were read."""
        return list(self._tasks)

    def all(self, cluster_id: int) -> list[Record]:
        """All tasks of a cluster, newest first."""
        self.count += 1
        return tasks_of_cluster(self._api, cluster_id)


@dataclass(frozen=True)
class ClusterHealth:
    """A cluster and its servers as facts, and its problems; those that only a person can clear come first.

    ``tasks`` work on it, or are FAILED and hold a part of it. ``records`` are the records that it was judged by,
    ``listed`` all its tasks, newest first.
    """

    records: ClusterRecords
    cluster: Facts
    servers: list[Facts]
    tasks: list[Task]
    problems: list[Problem]
    listed: Sequence[Record] = ()


def read_health(api: OcpApi, record: Record, demands: Demands) -> ClusterHealth:
    """The health of the cluster with this record, which was just read."""
    number, reader = Cluster.from_api(record).id, TaskReader(api)
    servers = servers_of(api, record, number)
    return judge_health(reader, ClusterRecords(record, servers), reader.all(number), demands)


def judge_health(
    reader: TaskReader,
    shown: ClusterRecords,
    listed: Sequence[Record],
    demands: Demands,
) -> ClusterHealth:
    """The health of a cluster as it was ``shown``; ``listed`` are all its tasks, newest first."""
    cluster = cluster_facts(shown.cluster)
    servers = [server_facts(server, shown.cluster) for server in shown.servers]
    tasks = _unfinished_and_named(reader, cluster, servers, listed)
    unnamed = list(_unnamed(reader, servers, tasks, listed))
    tasks += {task.id: task for _server_id, task in unnamed}.values()
    held_by = {server_id: task.id for server_id, task in unnamed if task.status == FAILED}
    judged = [{**server, "task_id": held_by.get(server["id"], server["task_id"])} for server in servers]
    problems = [
        *misplaced(servers, demands.servers, str(demands.zone)),
        *health_problems(cluster, judged, tasks, demands.min_zones, demands.apart),
    ]
    problems.sort(key=lambda problem: problem.kind is not Kind.HELD)
    return ClusterHealth(shown, cluster, servers, tasks, problems, listed)


def _unfinished_and_named(
    reader: TaskReader, cluster: Facts, servers: Sequence[Facts], listed: Iterable[Record]
) -> list[Task]:
    """The ``listed`` tasks that run on the cluster, and the FAILED ones that it or a server names.

    Other tasks that have ended and deleted ones hold nothing, though the service may name them for a while.
    """
    records = {task["id"]: task for task in listed}
    found = {number: Task.from_api(task) for number, task in records.items() if not is_finished(task)}
    for task_id in [cluster["task_id"], *(server["task_id"] for server in servers)]:
        if task_id is None or task_id in found or (task_id in records and records[task_id].get("status") != FAILED):
            continue
        record = reader.task(task_id)
        if record is not None:
            found[task_id] = Task.from_api(record)
    return [task for task in found.values() if task.status == FAILED or not task.finished]


def _unnamed(
    reader: TaskReader,
    servers: Iterable[Facts],
    known: Iterable[Task],
    listed: Sequence[Record],
) -> Iterator[tuple[int, Task]]:
    """The ids of servers that are at work by their status alone, each with its newest restart if that explains it.

    That is a restart that is unfinished, though not shown as RUNNING, or is FAILED and holds the server. A restart that
    FAILED before it changed anything holds nothing.
    """
    reasons = {task.id for task in known if task.status == FAILED or kind_of(task.name) in DATABASE_RESTARTS}
    if reasons - {server["task_id"] for server in servers}:
        return  # It may be at work on any of them.
    unexplained = [server for server in servers if is_in_flight(server["status"]) and server["task_id"] not in reasons]
    restarts_listed = [task for task in listed if kind_of(task.get("name")) in DATABASE_RESTARTS]
    for server in unexplained:
        read = (reader.task(task["id"]) for task in _restarts_of(server, restarts_listed))
        restarts = (Task.from_api(task) for task in read if task is not None)
        found = next((task for task in restarts if not task.failed_at_first_step), None)
        if found is not None and (found.status == FAILED or not found.finished):
            yield server["id"], found


def _restarts_of(server: Facts, restarts: Sequence[Record]) -> Iterator[Record]:
    """Those of ``restarts``, the newest first, that may be of this server: all whose tags name no other."""
    for task in restarts:
        ids, zones = tag_values(task, "serverId"), tag_values(task, "zoneName")
        if (not ids or server["id"] in ids) and (not zones or server["zone"] in zones):
            yield task
