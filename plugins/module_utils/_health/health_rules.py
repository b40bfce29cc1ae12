# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""When a cluster is healthy and a zone is up, which problems a wait may end, and which only a person can clear."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from .._base.cli_hints import report_command, start_line
from .._base.text import join_names, state_words
from .._fleet.facts import Facts
from .._ocp.task_model import FAILED, Task
from .._targets.serving import ACTIVE, RUNNING, database_serves, is_in_flight, is_stopped


class Kind(Enum):
    """The kind of a problem: a task at work, a status that such work explains, a status that nothing explains, or held.

    PASSING is what no work explains, but may pass soon: a sign of trouble that is new, or an answer that did not come.
    HELD is a problem that only a person can clear; waiting does not help.
    """

    AT_WORK = "at work"
    IN_FLIGHT = "in flight"
    PASSING = "passing"
    ILL = "ill"
    HELD = "held"


@dataclass(frozen=True)
class Problem:
    """A reason why a cluster is not healthy, in words, and what a person can do about it, one line for each remedy.

    ``stopped`` is the server that nothing starts, if that is it, with the id of its cluster.
    """

    text: str
    kind: Kind
    remedies: tuple[str, ...] = ()
    stopped: tuple[int, str] | None = None

    def ways(self, changes: Mapping[str, str]) -> tuple[str, ...]:
        """What a person can do. ``changes`` are by servers the names for which a start is to count."""
        if self.stopped is None:
            return self.remedies
        cluster, server = self.stopped
        return (start_line(cluster, server, changes.get(server)),)


@dataclass(frozen=True)
class Apart:
    """What need not be healthy, because it is being restarted: a ``zone``, and the work of these tasks.

    With ``servers``, only the servers with these names in the zone.
    """

    zone: str
    task_ids: Collection[int] = ()
    servers: Collection[str] | None = None

    def covers(self, server: Facts) -> bool:
        """Whether the server need not be healthy."""
        return server["zone"] == self.zone and (self.servers is None or server["name"] in self.servers)


def health_problems(
    cluster: Facts, servers: Sequence[Facts], tasks: Iterable[Task], min_zones: int | None, apart: Apart | None = None
) -> list[Problem]:
    """The reasons why a cluster is not healthy, each with what it concerns; empty if it is healthy.

    A healthy cluster is RUNNING, each server is RUNNING and ACTIVE, no task works on it or holds a part of it, and at
    least ``min_zones`` zones are up; without ``min_zones`` each zone is RUNNING. ``tasks`` run on the cluster, or are
    FAILED and hold a part of it.
    A server without an inner status counts as ACTIVE. With ``apart``, its zone counts as up, and the cluster may be at
    work.
    """
    tasks = list(tasks)
    at_work = [task for task in tasks if not task.finished]
    found = [_task_problem(task, cluster, servers) for task in tasks if not _is_apart(task, servers, apart)]
    found += [
        _server_problem(server, cluster, at_work)
        for server in servers
        if is_unhealthy(server) and not (apart and apart.covers(server))
    ]
    if cluster["status"] != RUNNING and not (apart and is_in_flight(cluster["status"])):
        found.append(Problem(f"cluster {cluster['name']} is {state_words(cluster['status'])}", _kind(cluster, at_work)))
    if not servers:
        found.append(Problem(f"the service shows no server of cluster {cluster['name']}", Kind.ILL))
    if min_zones is None:
        return [*found, *_zones_not_running(cluster, apart)]
    return [*found, *_too_few_zones(cluster, servers, min_zones, apart, at_work)]


def misplaced(servers: Iterable[Facts], wanted: Collection[str], zone: str) -> Iterator[Problem]:
    """A problem for each server of ``wanted`` (ids or names) that is no longer in ``zone``: its plan is void."""
    places = {name: server for server in servers for name in (str(server["id"]), server["name"])}
    for name in wanted:
        server = places.get(name)
        if server is None:
            yield Problem(f"server {name} is no longer in the cluster; run the plan again", Kind.HELD)
        elif server["zone"] != zone:
            yield Problem(
                f"server {server['name']} is in {server['zone']} and no longer in {zone}; run the plan again", Kind.HELD
            )


def is_unhealthy(server: Facts) -> bool:
    """Whether a server does not serve."""
    return not database_serves(server["status"], server["inner_status"])


def _is_apart(task: Task, servers: Sequence[Facts], apart: Apart | None) -> bool:
    """Whether a task works only on what is ``apart``."""
    if apart is None or task.status == FAILED:
        return False
    held = [server for server in servers if server["task_id"] == task.id]
    return task.id in apart.task_ids or (bool(held) and all(map(apart.covers, held)))


def _task_problem(task: Task, cluster: Facts, servers: Sequence[Facts]) -> Problem:
    held = [f"server {server['name']}" for server in servers if server["task_id"] == task.id]
    held = [f"cluster {cluster['name']}"] if cluster["task_id"] == task.id or not held else held
    if task.status == FAILED:
        from .._waiting.failure_report import failed_words, remedies

        words = f"task {task.label} {failed_words(task)}, and still holds {join_names(held)}"
        # The log is not read here: a plan reads as little as it can.
        return Problem(words, Kind.HELD, (f"  Show why: {report_command(task.id)}", *remedies(task)))
    return Problem(f"{task.words} is {task.status} on {join_names(held)}", Kind.AT_WORK)


def _server_problem(server: Facts, cluster: Facts, at_work: Sequence[Task]) -> Problem:
    """That a server does not serve; nothing starts one that is stopped, unless somebody does."""
    kind = _kind(server, at_work)
    words = f"server {server['name']} of {server['zone']} is {_status_words(server)}"
    if kind is not Kind.ILL or not is_stopped(server["status"]):
        return Problem(words, kind)
    return Problem(words, kind, stopped=(cluster["id"], server["name"]))


def _kind(thing: Facts, at_work: Iterable[Task]) -> Kind:
    """Whether work explains the status of a cluster, a zone or a server; work that nothing names may be on it."""
    named = thing.get("task_id")
    explained = is_in_flight(thing["status"]) or any(named in (task.id, None) for task in at_work)
    return Kind.IN_FLIGHT if explained else Kind.ILL


def _status_words(server: Facts) -> str:
    inner = server["inner_status"]
    status = state_words(server["status"])
    return status if inner in (ACTIVE, None) else f"{status} and {inner}"


def _zones_not_running(cluster: Facts, apart: Apart | None) -> Iterator[Problem]:
    for zone in cluster["zones"]:
        status = zone["status"]
        if status != RUNNING and not (apart and zone["name"] == apart.zone):
            kind = Kind.IN_FLIGHT if is_in_flight(status) else Kind.ILL
            yield Problem(f"zone {zone['name']} of cluster {cluster['name']} is {state_words(status)}", kind)


def _too_few_zones(
    cluster: Facts, servers: Sequence[Facts], min_zones: int, apart: Apart | None, at_work: Sequence[Task]
) -> Iterator[Problem]:
    """The problem of too few zones. A zone is up when it is RUNNING and all its servers are healthy."""
    unhealthy = [server for server in servers if is_unhealthy(server)]
    named = [apart.zone] if apart else []
    down = [zone for zone in cluster["zones"] if zone["name"] not in named and _is_down(zone, unhealthy)]
    up = [zone["name"] for zone in cluster["zones"] if zone not in down]
    if len(up) >= min_zones:
        return
    ill = {server["zone"] for server in unhealthy if _kind(server, at_work) is Kind.ILL}
    lost = [zone for zone in down if zone["name"] in ill or not _is_in_flight(zone, unhealthy)]
    kind = Kind.ILL if len(cluster["zones"]) - len(lost) < min_zones else Kind.IN_FLIGHT
    words = f" ({join_names(up)})" if up else ""
    own = [f"{zone['name']} is {state_words(zone['status'])}" for zone in down if zone["status"] != RUNNING]
    counted = f"{len(up)} of {len(cluster['zones'])} zones are up{words}, fewer than min_zones={min_zones}"
    yield Problem(f"{counted}: {join_names(own)}" if own else counted, kind)


def _is_down(zone: Facts, unhealthy: Iterable[Facts]) -> bool:
    return zone["status"] != RUNNING or any(server["zone"] == zone["name"] for server in unhealthy)


def _is_in_flight(zone: Facts, unhealthy: Iterable[Facts]) -> bool:
    of_servers = zone["status"] == RUNNING or any(server["zone"] == zone["name"] for server in unhealthy)
    return of_servers or is_in_flight(zone["status"])
