# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which optional facts a service shows, by the records that were read; each function here is pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from .._base.parsing import Record, record, records, time_text
from .._ocp.task_model import Task
from .._targets.agents import agent_member
from .._targets.operating_tasks import shown_cluster, tag_values
from .._targets.task_names import (
    AGENT_RESTART,
    ARBITRATION_RESTART,
    DATABASE_RESTARTS,
    SERVER_RESTART,
    SINGLE_AGENT_RESTART,
    ZONE_RESTART,
    kind_of,
)
from .findings import Answer, Fact, Findings, Shown

OPERATING = "operatingTaskInstanceId"
# The tag with the target of a restart. A cluster restart needs none: the task itself names the cluster.
TAGS = {
    SERVER_RESTART: "serverId",
    ZONE_RESTART: "zoneName",
    AGENT_RESTART: "hostId",
    SINGLE_AGENT_RESTART: "hostId",
    ARBITRATION_RESTART: "arbitrationServiceId",
}


def shown_facts(found: Findings) -> list[Fact]:
    """All facts, in the order in which they are listed."""
    return [
        _operating_task(found),
        _task_tags(found),
        _counted("server_start", "servers", found.servers, _shows_start),
        _counted("zone_start", "zones, by their servers", *_zones(found)),
        *_agent_facts(found),
        _counted("root_server", "servers", found.servers, lambda server: server.get("withRootserver") is not None),
        _listed(found, "tenants", found.tenants, lambda tenant: tenant.get("locality") is not None),
        _listed(found, "parameters", found.parameters, _shows_value_per_server),
        _listed(found, "alarms", found.alarms, lambda alarm: alarm.get("alarmType") is not None),
    ]


def _counted(name: str, things: str, every: Sequence[Record], shows: Callable[[Record], bool]) -> Fact:
    shown, total = sum(map(shows, every)), len(every)
    if not total:
        return Fact(name, Shown.UNKNOWN, f"no {things.partition(',')[0]} were read")
    state = Shown.SHOWN if shown == total else Shown.PARTLY if shown else Shown.ABSENT
    return Fact(name, state, f"{shown} of {total} {things}")


def _shows_start(server: Record) -> bool:
    return time_text(server.get("startTime")) is not None


def _zones(found: Findings) -> tuple[Sequence[Record], Callable[[Record], bool]]:
    """The zones, and whether all servers of one show a start."""

    def shows(zone: Record) -> bool:
        own = [server for server in found.servers if server.get("zoneName") == zone.get("name")]
        return bool(own) and all(map(_shows_start, own))

    return found.zones if found.servers else (), shows


def _operating_task(found: Findings) -> Fact:
    name = "operating_task"
    read = [*_with_parts(found.clusters or ()), *_with_parts([found.cluster or {}])]
    read += [*found.zones, *found.servers, *(found.services or ())]
    showing = sum(OPERATING in each for each in read)
    if showing:
        return Fact(name, Shown.SHOWN, "clusters, zones, servers or services name the task that works on them")
    if not any(read):
        return Fact(name, Shown.UNKNOWN, "no clusters were read")
    number = (found.cluster or {}).get("id")
    restarts = [task for task in found.restarts or () if kind_of(task.get("name")) in DATABASE_RESTARTS]
    of_cluster = [Task.from_api(task) for task in restarts if shown_cluster(task) == number]
    at_work = [task for task in of_cluster if not task.finished]
    if at_work:
        return Fact(name, Shown.ABSENT, f"task {at_work[0].label} runs, and nothing names it")
    return Fact(name, Shown.UNKNOWN, "no restart runs in the cluster now; an OCP may show it only then")


def _with_parts(clusters: Iterable[Record]) -> Iterator[Record]:
    for cluster in clusters:
        yield cluster
        for zone in records(cluster.get("zones")):
            yield zone
            yield from records(zone.get("servers"))


def _task_tags(found: Findings) -> Fact:
    name = "task_tags"
    tagged = [(task, TAGS[kind]) for task in found.restarts or () if (kind := kind_of(task.get("name"))) in TAGS]
    shown = sum(bool(tag_values(task, key)) for task, key in tagged)
    if tagged:
        state = Shown.SHOWN if shown == len(tagged) else Shown.PARTLY if shown else Shown.ABSENT
        return Fact(name, state, f"{shown} of {len(tagged)} restart tasks name what they restart")
    if any(records(task.get("tags")) for task in found.tasks or ()):
        return Fact(name, Shown.SHOWN, "other tasks have them; no restart of a server, zone or agent is listed")
    return Fact(name, Shown.UNKNOWN, "no restart of a server, zone or agent is listed")


def _agent_facts(found: Findings) -> Iterator[Fact]:
    if found.agent is None:
        yield Fact("agent_start", Shown.UNKNOWN, "no agent was read")
        yield Fact("agent_pids", Shown.UNKNOWN, "no agent was read")
        return
    member = agent_member("agent", found.agent, None)
    start = Shown.ABSENT if member.started is None else Shown.SHOWN
    yield Fact("agent_start", start, "from the uptime of its processes")
    running = len(member.pids or {})
    pids = Shown.SHOWN if running else Shown.ABSENT
    yield Fact("agent_pids", pids, f"{running} processes run" if running else "no process with a pid runs")


def _listed(found: Findings, name: str, every: list[Record] | None, shows: Callable[[Record], bool]) -> Fact:
    """A list that OCP may not have."""
    read = found.reads[name]
    if every is None:
        state = Shown.ABSENT if read.answer is Answer.ABSENT else Shown.UNKNOWN
        return Fact(name, state, str(read.why))
    if not every:
        return Fact(name, Shown.SHOWN, "the call answers; there are none now")
    return _counted(name, f"{name} that were read", every, shows)


def _shows_value_per_server(parameter: Record) -> bool:
    current = record(parameter.get("currentValue"))
    return bool(record(current.get("valueToServers")) or records(current.get("obParameters")))
