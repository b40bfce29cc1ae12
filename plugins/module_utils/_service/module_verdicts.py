# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which modules and playbooks work with a service, which with less proof, which not at all, and why.

Each function here is pure. What decides is in docs/dev/contract.md, in the columns "without it".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from .._ocp.retries import TOO_MANY_REQUESTS
from .findings import Answer, Fact, Findings, Heed, Shown, Verdict
from .interview import IN_WORDS


class Works(StrEnum):
    """How well a module works, from best to worst. ABSENT: this OCP has no objects of its kind."""

    FULL = "full"
    LESS = "less"
    UNKNOWN = "unknown"
    ABSENT = "absent"
    NO = "no"


SEVERITY = list(Works)


class Loss(NamedTuple):
    """What is missing, and how that affects a module."""

    works: Works
    why: str


class View(NamedTuple):
    """The data that the rules use."""

    found: Findings
    facts: dict[str, Fact]

    def shows(self, fact: str) -> Shown:
        """Whether the service shows a fact."""
        return self.facts[fact].state


Rule = Callable[[View], Iterator[Loss]]


@dataclass(frozen=True)
class ModuleVerdict:
    """A module or playbook, and how well it works with the service; ``why`` are sentences without a full stop.

    ``restarts``: it restarts something, so ``ocp_check`` fails if it does not work.
    """

    name: str
    restarts: bool
    works: Works
    why: list[str] = field(default_factory=list)

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {"name": self.name, "restarts": self.restarts, "works": self.works.value, "why": self.why}


# Reads that a module cannot work without


def _needed(view: View, name: str, things: str) -> Iterator[Loss]:
    """The loss of a read that a module fails without."""
    read = view.found.reads[name]
    if read.answer is Answer.SKIPPED or read.status == TOO_MANY_REQUESTS:
        yield Loss(Works.UNKNOWN, f"{things} not read: {read.why}")
    elif read.answer is not Answer.OK:
        yield Loss(Works.NO, f"{things} not readable: {read.why}")


def _clusters(view: View) -> Iterator[Loss]:
    yield from _needed(view, "clusters", "clusters")
    if view.found.clusters == []:
        yield Loss(Works.NO, "OCP shows this user no cluster")


def _servers(view: View) -> Iterator[Loss]:
    yield from _clusters(view)
    if view.found.clusters and not view.found.servers:
        yield from _needed(view, "servers", "servers")
    if any(server.get("id") is None for server in view.found.servers):
        yield Loss(Works.NO, "servers without ids are shown")


def _zones(view: View) -> Iterator[Loss]:
    yield from _servers(view)
    if view.found.clusters and not view.found.zones:
        yield from _needed(view, "zones", "zones")


def _hosts(view: View) -> Iterator[Loss]:
    yield from _needed(view, "hosts", "hosts")
    if view.found.hosts == []:
        yield Loss(Works.NO, "OCP shows this user no host")


def _arbitration_list(view: View) -> Iterator[Loss]:
    if view.found.reads["arbitration_services"].answer is Answer.ABSENT:
        yield Loss(Works.ABSENT, "this OCP has no calls for arbitration services")
    else:
        yield from _needed(view, "arbitration_services", "arbitration services")


def _arbitration(view: View) -> Iterator[Loss]:
    yield from _arbitration_list(view)
    if view.found.services == []:
        yield Loss(Works.ABSENT, "OCP shows no arbitration service")
    elif view.found.services:
        yield from _needed(view, "arbitration_service", "the arbitration service")


def _obproxy_list(view: View) -> Iterator[Loss]:
    if view.found.reads["obproxy_clusters"].answer is Answer.ABSENT:
        yield Loss(Works.ABSENT, "this OCP has no calls for OBProxies")
    else:
        yield from _needed(view, "obproxy_clusters", "OBProxy clusters")


def _obproxies(view: View) -> Iterator[Loss]:
    yield from _obproxy_list(view)
    if view.found.obproxy_clusters == []:
        yield Loss(Works.ABSENT, "OCP shows no OBProxy cluster")
    elif view.found.obproxy_clusters:
        yield from _needed(view, "obproxy_cluster", "the OBProxy cluster")


def _parameters(view: View) -> Iterator[Loss]:
    yield from _clusters(view)
    if view.found.reads["parameters"].answer is Answer.ABSENT:
        yield Loss(Works.ABSENT, "this OCP has no calls for the parameters of clusters")
    elif view.found.clusters:
        yield from _needed(view, "parameters", "parameters")
    if view.found.ok("parameters") and view.shows("parameters") is Shown.ABSENT:
        yield Loss(Works.LESS, "values of servers are not shown: which servers have to restart is not known")


def _agents(view: View) -> Iterator[Loss]:
    yield from _hosts(view)
    if view.found.hosts and not view.found.ok("agent", "agent_plain"):
        yield from _needed(view, "agent", "the agent of a host")


def _tasks(view: View) -> Iterator[Loss]:
    yield from _needed(view, "tasks", "tasks")


def _task_detail(view: View) -> Iterator[Loss]:
    yield from _tasks(view)
    if view.found.tasks:
        yield from _needed(view, "task", "a single task")


# What a restart can work without, with less proof


def _running_tasks(view: View) -> Iterator[Loss]:
    """Only a 403 for the task list is tolerated."""
    if view.found.reads["tasks"].answer is not Answer.FORBIDDEN:
        yield from _tasks(view)
        return
    yield Loss(
        Works.LESS,
        "without permission to read tasks no running restart is joined, a wait ends with 403, and the outcome of a "
        "lost response stays unknown",
    )
    if view.shows("operating_task") is not Shown.SHOWN:
        yield Loss(Works.LESS, "nothing else shows that a target is being restarted")


def _wait(view: View) -> Iterator[Loss]:
    read = view.found.reads["task"]
    if view.found.tasks and read.answer is not Answer.OK:
        yield Loss(Works.LESS, f"a wait for its task fails: {read.why}")


def _task_list(view: View) -> Iterator[Loss]:
    words = {
        "sort": "the task list is not in order: every look reads all tasks, and fails if there are too many",
        "status": "the task list ignores status: a restart that runs for long may not be found",
    }
    yield from (Loss(Works.LESS, why) for name, why in words.items() if view.found.heeds(name) is Heed.IGNORED)


def _tasks_of_cluster(view: View) -> Iterator[Loss]:
    if view.found.heeds("clusterId") is Heed.IGNORED:
        yield Loss(Works.LESS, "the task list ignores clusterId: a restart among many other tasks may not be found")


def _parts(view: View) -> Iterator[Loss]:
    """Without tags only the host filter shows which part of a cluster, or which agent, a task restarts."""
    if view.shows("task_tags") in (Shown.SHOWN, Shown.UNKNOWN):
        return
    if view.found.heeds("hostId") is Heed.WORKS:
        yield Loss(Works.LESS, "tasks name no target: which one a running restart is of is known by its host alone")
    else:
        yield Loss(Works.LESS, "tasks name no target: any running restart may be of this one, and is never joined")


def _server_start(view: View) -> Iterator[Loss]:
    if view.shows("server_start") in (Shown.ABSENT, Shown.PARTLY):
        shown = view.facts["server_start"].message
        yield Loss(Works.LESS, f"a start is shown for {shown}: without it the task alone is evidence")


def _agent_start(view: View) -> Iterator[Loss]:
    if view.shows("agent_pids") is Shown.ABSENT:
        yield Loss(Works.LESS, "the agent shows no process with a pid: a restart is not proven")
    elif view.shows("agent_start") is Shown.ABSENT:
        yield Loss(Works.LESS, "the agent shows no uptime: with started_before the task alone is evidence")


def _service_start(view: View) -> Iterator[Loss]:
    if view.found.services:
        yield Loss(Works.LESS, "OCP shows no start of an arbitration service: the task alone is evidence")


def _obproxy_start(view: View) -> Iterator[Loss]:
    if not view.found.obproxy_clusters:
        return
    yield Loss(Works.LESS, "OCP shows no start of an OBProxy: a restart is never proven")
    if view.shows("task_tags") in (Shown.ABSENT, Shown.PARTLY):
        yield Loss(Works.LESS, "tasks name no OBProxy: after a task on its host started_before is refused")


def _root_server(view: View) -> Iterator[Loss]:
    if view.shows("root_server") is Shown.ABSENT:
        yield Loss(Works.LESS, "the root server is not shown, so it is not known to be the last")


# The clock


def _clock_words(view: View) -> Iterator[str]:
    clock = view.found.clock
    if clock.disagrees:
        yield "the answers of the service disagree about the time"
    elif clock.is_off:
        yield f"the clocks are {abs(clock.offset):.0f} seconds apart"


def _clock(view: View) -> Iterator[Loss]:
    """For modules that also restart without ``started_before``."""
    yield from (Loss(Works.LESS, f"{words}: started_before is refused") for words in _clock_words(view))
    if not view.found.clock.answers:
        yield Loss(Works.LESS, "the service shows no time: its clock counts as this machine's")


def _needs_clock(view: View) -> Iterator[Loss]:
    """For modules that always have ``started_before``."""
    yield from (Loss(Works.NO, f"{words}: started_before is needed, and refused") for words in _clock_words(view))


SENT = (_running_tasks, _wait, _task_list, _clock)
DATABASE = (*SENT, _tasks_of_cluster, _server_start)
SERVER, ZONE, CLUSTER = (_servers, *DATABASE, _parts), (_zones, *DATABASE, _parts), (_servers, *DATABASE)
AGENT = (_agents, *SENT, _parts, _agent_start)
ARBITRATION = (_arbitration, *SENT, _service_start)
OBPROXY = (_obproxies, *SENT, _obproxy_start)
ROLLING = (_servers, _tasks, _needs_clock, _server_start, _root_server)
RESTARTS: dict[str, tuple[Rule, ...]] = {
    "server_restart": SERVER,
    "zone_restart": ZONE,
    "cluster_restart": CLUSTER,
    "agent_restart": AGENT,
    "arbitration_service_restart": ARBITRATION,
    "obproxy_restart": OBPROXY,
    "rolling_restart": (*ROLLING, *SERVER),
    "cluster_rolling_restart": (*ROLLING, *SERVER),
    "fleet_restart": (*SERVER, _needs_clock),
    "agent_rolling_restart": (*AGENT, _needs_clock),
    "arbitration_service_rolling_restart": (*ARBITRATION, _needs_clock),
}
OTHERS: dict[str, tuple[Rule, ...]] = {
    "cluster_wait": (_servers, _tasks),
    "fleet_restart_info": (_servers, _needs_clock, _server_start),
    "cluster_rolling_restart_info": ROLLING,
    "task_wait": (_task_detail,),
    "task": (_task_detail,),
    "task_info": (_task_detail,),
    "cluster_info": (_clusters,),
    "server_info": (_servers,),
    "host_info": (_hosts,),
    "arbitration_service_info": (_arbitration_list,),
    "obproxy_info": (_obproxy_list,),
    "cluster_parameter_info": (_parameters,),
    "cluster_parameter": (_parameters,),
    "cluster_offline_time": (_parameters,),
}


def module_verdicts(found: Findings, facts: Iterable[Fact]) -> list[ModuleVerdict]:
    """How well each module and playbook works; those that restart something come first."""
    view = View(found, {fact.name: fact for fact in facts})
    return [
        _verdict(view, name, rules, restarts=rulebook is RESTARTS)
        for rulebook in (RESTARTS, OTHERS)
        for name, rules in rulebook.items()
    ]


def _verdict(view: View, name: str, rules: Iterable[Rule], *, restarts: bool) -> ModuleVerdict:
    if view.found.verdict in (Verdict.NO_OCP, Verdict.UNREACHABLE, Verdict.CREDENTIALS_REFUSED):
        return ModuleVerdict(name, restarts, Works.NO, [IN_WORDS[view.found.verdict]])
    losses = list(dict.fromkeys(loss for rule in rules for loss in rule(view)))
    works = max((loss.works for loss in losses), key=SEVERITY.index, default=Works.FULL)
    # A missing necessity says enough.
    shown = [loss.why for loss in losses if works in (Works.LESS, loss.works)]
    return ModuleVerdict(name, restarts, works, shown)
