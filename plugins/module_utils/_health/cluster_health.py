# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Read a cluster, the tasks that work on it or hold it, and its health problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from .._base.errors import NotFound
from .._base.parsing import Record
from .._fleet.facts import Facts, cluster_facts, server_facts
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, RUNNING, SUCCESSFUL, Task
from .._targets.cluster import Cluster, servers_of
from .._targets.operating_tasks import tag_values
from .health_problems import IN_FLIGHT, Apart, Kind, Problem, health_problems, misplaced


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

    ``tasks`` work on it, or have ended without success and hold a part of it.
    """

    cluster: Facts
    servers: list[Facts]
    tasks: list[Task]
    problems: list[Problem]

    @property
    def held(self) -> list[Problem]:
        """The problems that only a person can clear."""
        return [problem for problem in self.problems if problem.kind is Kind.HELD]


def read_health(api: OcpApi, record: Record, demands: Demands) -> ClusterHealth:
    """The health of the cluster with this record, which was just read."""
    cluster = cluster_facts(record)
    servers = [server_facts(server, record) for server in servers_of(api, record, cluster["id"])]
    tasks = _unfinished_and_named(api, cluster, servers)
    judged = servers
    if not tasks:
        tasks, judged = _unnamed_holders(api, Cluster.from_api(record), servers)
    problems = [
        *misplaced(servers, demands.servers, str(demands.zone)),
        *health_problems(cluster, judged, tasks, demands.min_zones, demands.apart),
    ]
    problems.sort(key=lambda problem: problem.kind is not Kind.HELD)
    return ClusterHealth(cluster, servers, tasks, problems)


def _unfinished_and_named(api: OcpApi, cluster: Facts, servers: Sequence[Facts]) -> list[Task]:
    """The tasks that work on the cluster, or that it or a server names.

    SUCCESSFUL and deleted tasks hold nothing, though the service may name them for a while.
    """
    tasks = {task["id"]: task for task in api.tasks(clusterId=cluster["id"], status=RUNNING)}
    for task_id in [cluster["task_id"], *(server["task_id"] for server in servers)]:
        if task_id is not None and task_id not in tasks:
            with suppress(NotFound):
                tasks[task_id] = api.task(task_id)
    return [task for task in map(Task.from_api, tasks.values()) if task.status != SUCCESSFUL]


def _unnamed_holders(api: OcpApi, cluster: Cluster, servers: list[Facts]) -> tuple[list[Task], list[Facts]]:
    """The FAILED restarts that hold servers whose status is in flight, and the servers, each with the id of its holder.

    For services that name no task. The newest restart of a server decides.
    """
    if not any(server["status"] in IN_FLIGHT for server in servers):
        return [], servers
    restarts = [entry.record for entry in cluster.tasks(api)]
    judged, failed = [], {}
    for server in servers:
        newest = next(_restarts_of(server, restarts), {}) if server["status"] in IN_FLIGHT else {}
        holds = newest.get("status") == FAILED
        judged.append({**server, "task_id": newest["id"]} if holds else server)
        if holds:
            failed[newest["id"]] = newest
    return [Task.from_api(api.task(task_id)) for task_id in failed], judged


def _restarts_of(server: Facts, restarts: Sequence[Record]) -> Iterator[Record]:
    """Those of ``restarts``, the newest first, that may be of this server: all whose tags name no other."""
    for task in restarts:
        ids, zones = tag_values(task, "serverId"), tag_values(task, "zoneName")
        if (not ids or server["id"] in ids) and (not zones or server["zone"] in zones):
            yield task
