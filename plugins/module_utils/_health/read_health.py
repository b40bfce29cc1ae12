# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which records and tasks of a cluster are read to judge its health, and which FAILED task holds a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from .._base.errors import NotFound
from .._base.parsing import Record
from .._fleet.facts import Facts, cluster_facts, server_facts
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, RUNNING, Task
from .._targets.cluster import Cluster, placed_servers, servers_of
from .._targets.operating_tasks import tag_values, tasks_of_cluster
from .._targets.serving import is_in_flight
from .._targets.target import PlacedServer
from .._targets.task_names import DATABASE_RESTARTS, kind_of
from .health_rules import Apart, Kind, Problem, health_problems, misplaced

# More tasks of a cluster than these do not begin while one of them runs.
NEWEST_TASKS = 30


@dataclass(frozen=True)
class Demands:
    """What is asked of a cluster: so many zones up, and ``servers`` (ids or names) to be in ``zone``.

    ``apart`` is not asked to be healthy.
    """

    min_zones: int
    zone: str | None = None
    servers: Sequence[str] = ()
    apart: Apart | None = None


@dataclass(frozen=True)
class ClusterHealth:
    """A cluster and its servers as facts, and its problems, those first that only a person can clear.

    ``tasks`` work on it, or are FAILED and hold a part of it. ``placed`` are its servers as targets have them.
    """

    cluster: Facts
    servers: list[Facts]
    tasks: list[Task]
    problems: list[Problem]
    placed: Sequence[PlacedServer] = ()

    @property
    def held(self) -> list[Problem]:
        """The problems that only a person can clear."""
        return [problem for problem in self.problems if problem.kind is Kind.HELD]


def read_health(api: OcpApi, record: Record, demands: Demands) -> ClusterHealth:
    """The health of the cluster with this record, which was just read."""
    cluster = cluster_facts(record)
    shown = servers_of(api, record, cluster["id"])
    servers = [server_facts(server, record) for server in shown]
    tasks = _unfinished_and_named(api, cluster, servers)
    unnamed = list(_unnamed(api, Cluster.from_api(record), servers, tasks))
    tasks += {task.id: task for _server_id, task in unnamed}.values()
    held_by = {server_id: task.id for server_id, task in unnamed if task.status == FAILED}
    judged = [{**server, "task_id": held_by.get(server["id"], server["task_id"])} for server in servers]
    problems = [
        *misplaced(servers, demands.servers, str(demands.zone)),
        *health_problems(cluster, judged, tasks, demands.min_zones, demands.apart),
    ]
    problems.sort(key=lambda problem: problem.kind is not Kind.HELD)
    return ClusterHealth(cluster, servers, tasks, problems, placed_servers(record, shown))


def _unfinished_and_named(api: OcpApi, cluster: Facts, servers: Sequence[Facts]) -> list[Task]:
    """The tasks that run on the cluster, and the FAILED ones that it or a server names.

    Other tasks that have ended and deleted ones hold nothing, though the service may name them for a while.
    """
    tasks = {task["id"]: task for task in tasks_of_cluster(api, cluster["id"], status=RUNNING)}
    for task_id in [cluster["task_id"], *(server["task_id"] for server in servers)]:
        if task_id is not None and task_id not in tasks:
            with suppress(NotFound):
                tasks[task_id] = api.task(task_id)
    found = map(Task.from_api, tasks.values())
    return [task for task in found if task.status == FAILED or not task.finished]


def _unnamed(
    api: OcpApi, cluster: Cluster, servers: Iterable[Facts], known: Iterable[Task]
) -> Iterator[tuple[int, Task]]:
    """The ids of servers that are at work by their status alone, each with its newest restart if that explains it.

    That is a restart that is unfinished, though not shown as RUNNING, or is FAILED and holds the server. A restart that
    FAILED before it changed anything holds nothing.
    """
    reasons = {task.id for task in known if task.status == FAILED or kind_of(task.name) in DATABASE_RESTARTS}
    if reasons - {server["task_id"] for server in servers}:
        return  # It may be at work on any of them.
    unexplained = [server for server in servers if is_in_flight(server["status"]) and server["task_id"] not in reasons]
    newest_tasks = cluster.listed(api, limit=NEWEST_TASKS) if unexplained else []
    listed = [task for task in newest_tasks if kind_of(task.get("name")) in DATABASE_RESTARTS]
    for server in unexplained:
        restarts = (Task.from_api(api.task(task["id"])) for task in _restarts_of(server, listed))
        newest = next((task for task in restarts if not task.failed_at_first_step), None)
        if newest is not None and (newest.status == FAILED or not newest.finished):
            yield server["id"], newest


def _restarts_of(server: Facts, restarts: Sequence[Record]) -> Iterator[Record]:
    """Those of ``restarts``, the newest first, that may be of this server: all whose tags name no other."""
    for task in restarts:
        ids, zones = tag_values(task, "serverId"), tag_values(task, "zoneName")
        if (not ids or server["id"] in ids) and (not zones or server["zone"] in zones):
            yield task
