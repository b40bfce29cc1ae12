# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Judge the health of a cluster from facts alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._base.text import join_names
from .._fleet.facts import Facts
from .._ocp.task_model import FAILED, RUNNING, Task

# The inner status of a server in service (docs/contract.md, "Status words").
ACTIVE = "ACTIVE"


def health_problems(cluster: Facts, servers: Sequence[Facts], tasks: Iterable[Task], min_zones: int) -> list[str]:
    """The reasons why a cluster is not healthy, each with what it concerns; empty if it is healthy.

    A healthy cluster is RUNNING, each server is RUNNING and ACTIVE, no task works on it or holds a part of it, and at
    least ``min_zones`` zones are up. ``tasks`` run on the cluster or are named by it. A server without an inner status
    counts as ACTIVE.
    """
    found = [_task_problem(task, cluster, servers) for task in tasks]
    found += [
        f"server {server['name']} of {server['zone']} is {_status_words(server)}"
        for server in servers
        if _is_unhealthy(server)
    ]
    if cluster["status"] != RUNNING:
        found.append(f"cluster {cluster['name']} is {cluster['status']}")
    if not servers:
        found.append(f"the service shows no server of cluster {cluster['name']}")
    return found + _zone_problems(cluster, servers, min_zones)


def _task_problem(task: Task, cluster: Facts, servers: Sequence[Facts]) -> str:
    held = [f"server {server['name']}" for server in servers if server["task_id"] == task.id]
    held = [f"cluster {cluster['name']}"] if cluster["task_id"] == task.id or not held else held
    if task.status == FAILED:
        return f"task {task.label} FAILED and still holds {join_names(held)}: retry it or roll it back"
    return f"task {task.label} is {task.status} on {join_names(held)}"


def _is_unhealthy(server: Facts) -> bool:
    return server["status"] != RUNNING or server["inner_status"] not in (ACTIVE, None)


def _status_words(server: Facts) -> str:
    inner = server["inner_status"]
    return f"{server['status']}" if inner in (ACTIVE, None) else f"{server['status']} and {inner}"


def _zone_problems(cluster: Facts, servers: Sequence[Facts], min_zones: int) -> list[str]:
    """The problem of too few zones. A zone is up when it is RUNNING and all its servers are healthy."""
    unhealthy = {server["zone"] for server in servers if _is_unhealthy(server)}
    up = [zone["name"] for zone in cluster["zones"] if zone["status"] == RUNNING and zone["name"] not in unhealthy]
    if len(up) >= min_zones:
        return []
    named = f" ({join_names(up)})" if up else ""
    return [f"{len(up)} of {len(cluster['zones'])} zones are up{named}, fewer than min_zones={min_zones}"]
