# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The agents of hosts as a target: how they are found, when each started, which tasks restart them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .._base.cli_hints import adhoc_command
from .._base.parsing import Record, instant, integer, records
from .._base.text import join_names
from .._journal.rows import MemberKey
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .lookup import find_host
from .operating_tasks import names_parts_of_clusters, shown_hosts, tasks_by_host, tasks_named, unlisted
from .serving import OFFLINE, agent_serves, missing_processes, renewed_processes, worst_agent_status
from .target import Member, Observation, Target, TaskOnTarget, check_identity
from .task_names import (
    AGENT_FILTER,
    AGENT_RESTART,
    AGENT_WORDS,
    SINGLE_AGENT_RESTART,
    is_foreign,
    is_other_kind,
    kind_of,
    may_start,
)

# Uptimes are truncated to whole seconds.
UPTIME_PRECISION = 1
_STARTED = "STARTED"


@dataclass(frozen=True)
class Agents(Target):
    """The management agents of hosts; ``hosts`` are pairs of host id and inner IP address, ``other_hosts`` more ids."""

    hosts: tuple[tuple[int, str], ...]
    first_observation: Observation | None = field(default=None, compare=False)
    other_hosts: tuple[int, ...] = field(default=(), compare=False)

    kind = "agents"
    task_name = AGENT_RESTART
    cluster_id = None
    shows_start = True

    @classmethod
    def find(cls, api: OcpApi, hosts: Sequence[str]) -> Agents:
        """Find them by host ids (digits) or inner IP addresses, each host once; raises TargetError."""
        found = api.hosts()
        there = tuple(dict(find_host("hosts", found, host) for host in hosts).items())
        by_host = _status_by_host(found)
        first = Observation(None, tuple(Member(address, by_host.get(number)) for number, address in there))
        own = {number for number, _address in there}
        others = {integer(host.get("id")) for host in found} - own
        return cls(there, first, tuple(sorted(number for number in others if number is not None)))

    @property
    def label(self) -> str:
        """As in ``the agents of 2 hosts (10.0.0.1, 10.0.0.2)``."""
        number = f"{len(self.hosts)} host" + ("s" if len(self.hosts) > 1 else "")
        return f"the agents of {number} ({join_names(address for _id, address in self.hosts)})"

    def result(self) -> dict[str, Any]:
        """Kind, and id and name (inner IP address) of the hosts."""
        return {"kind": self.kind, "hosts": [_host(number, name) for number, name in self.hosts]}

    def unchanged_facts(self, members: frozenset[str] | None, /) -> dict[str, Any]:
        """``skipped_hosts``: id and name of the hosts that need no restart; None while undecided."""
        skipped = [_host(number, name) for number, name in self.hosts if members is not None and name not in members]
        return {"skipped_hosts": None if members is None else skipped}

    def observe(self, api: OcpApi) -> Observation:
        """Each agent with the pids of its processes; the status that all agents share, else None."""
        hosts = api.hosts()
        addresses = {host.get("id"): host.get("innerIpAddress") for host in hosts}
        for number, address in self.hosts:
            check_identity("host", f"host {address} (id {number})", address, addresses.get(number))
        by_host = _status_by_host(hosts)
        members = tuple(
            agent_member(address, api.host_agent(number), by_host.get(number)) for number, address in self.hosts
        )
        statuses = {member.status for member in members}
        is_there = all(number in addresses for number, _address in self.hosts)
        return Observation(statuses.pop() if len(statuses) == 1 else None, members, is_there=is_there)

    @property
    def locks(self) -> Sequence[str]:
        """Each host."""
        return [f"agent {address} {number}" for number, address in self.hosts]

    def member_keys(self, _observed: Observation) -> dict[str, MemberKey]:
        """The agent of each host."""
        return {address: MemberKey("", "agent", number, address) for number, address in self.hosts}

    def command_for(self, member: str) -> str:
        """That of the host."""
        return adhoc_command("agent_restart", hosts=member)

    def may_restart_part(self, task: Record) -> bool:
        """Whether a task may have restarted agents: of some hosts, of one, or other work that starts them."""
        return kind_of(task.get("name")) in (AGENT_RESTART, SINGLE_AGENT_RESTART) or may_start(task)

    def may_be_of(self, task: Record) -> bool:
        """Whether a task may be a restart of agents on some of these hosts, and on no other."""
        mine = {number for number, _address in self.hosts}
        return not is_other_kind(task, self.task_name) and shown_hosts(task) <= mine

    def listed(self, api: OcpApi, **query: Any) -> list[Record]:
        """The tasks on agents."""
        return [task for task in tasks_named(api, AGENT_FILTER, **query) if _may_be_of_agents(task)]

    def touching(self, api: OcpApi, listed: list[Record], **query: Any) -> list[TaskOnTarget]:
        """Restarts of the agents on any of these hosts, and other work on them."""
        # Without tags, only the filter by host identifies the agents of a task.
        unnamed = any(not shown_hosts(task) for task in listed)
        hosts = {number for number, _address in self.hosts}
        if not any(map(is_foreign, listed)):
            query["name"] = AGENT_FILTER
        by_host = tasks_by_host(api, hosts if unnamed else (), self.other_hosts, **query)
        # What the filter alone finds counts, since the list may be behind.
        found = filter(_may_be_of_agents, unlisted(by_host or {}, listed))
        touching = []
        for task in (*found, *listed):
            on_hosts = shown_hosts(task) or {number for number, own in (by_host or {}).items() if task["id"] in own}
            touched = frozenset(name for number, name in self.hosts if number in on_hosts)
            restarts = kind_of(task.get("name")) in (AGENT_RESTART, SINGLE_AGENT_RESTART)
            # If nothing shows the hosts of a task, it may be on any.
            if touched or (by_host is None and not on_hosts):
                touching.append(TaskOnTarget(task, touched if restarts else frozenset(), bool(on_hosts - hosts)))
        return touching

    def restart(self, api: OcpApi, members: frozenset[str]) -> ApiResponse:
        """Restart the agents of these hosts in one task."""
        return api.restart_agents([number for number, address in self.hosts if address in members])


def _may_be_of_agents(task: Record) -> bool:
    if is_foreign(task):
        return not names_parts_of_clusters(task)
    return AGENT_WORDS in str(task.get("name")).lower()


def _host(number: int, name: str) -> dict[str, Any]:
    return {"id": number, "name": name}


def _status_by_host(hosts: list[Record]) -> dict[Any, str | None]:
    return {host.get("id"): _agent_status(host) for host in hosts}


def _agent_status(host: Record) -> str | None:
    """What a host shows of its agent; an OFFLINE host has none that answers."""
    own, whole = host.get("hostAgentStatus"), host.get("status")
    return worst_agent_status(own, whole) if str(whole).upper() == OFFLINE else own


def agent_member(name: str, agent: Record, host_status: str | None) -> Member:
    """The agent of a host, by its own record and the status that the host shows for it."""
    processes = {alias: process for process in records(agent.get("processes")) if (alias := process.get("alias"))}
    running = {alias: process for alias, process in processes.items() if _is_running(process)}
    stopped = processes.keys() - running.keys()
    renewed = renewed_processes(running)
    starts = [_earliest_start(running[alias]) for alias in renewed]
    known = [start for start in starts if start is not None]
    uptimes = [integer(running[alias].get("elapsedTime")) for alias in renewed]
    status = worst_agent_status(agent.get("status"), host_status)
    return Member(
        name,
        status,
        pids={alias: process["pid"] for alias, process in running.items()} or None,
        started=min(known) if known and len(known) == len(starts) else None,
        serves=agent_serves(status, running, stopped),
        stopped=tuple(sorted(missing_processes(running, stopped))),
        uptime=max((uptime for uptime in uptimes if uptime is not None), default=None),
    )


def _is_running(process: Record) -> bool:
    """Whether a process runs: a stopped one keeps its record, with the pid 0 or none."""
    return str(process.get("status") or _STARTED).upper() == _STARTED and (integer(process.get("pid")) or 0) > 0


def _earliest_start(process: Record) -> datetime | None:
    active, uptime = instant(process.get("lastActiveTime")), integer(process.get("elapsedTime"))
    if active is None or uptime is None:
        return None
    try:
        return active - timedelta(seconds=uptime + UPTIME_PRECISION)
    except OverflowError:  # Some write "never" as an instant at an end of the calendar.
        return None
