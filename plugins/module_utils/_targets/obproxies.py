# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""OBProxies of one OBProxy cluster as a target: how they are found, their status, which tasks the service ties to them.

No document names the task of their restart, so no name decides: see docs/dev/contract.md, "OBProxies".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._base.cli_hints import adhoc_command
from .._base.parsing import Record, integer, record, records
from .._journal.rows import MemberKey
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .._ocp.task_model import SUCCESSFUL
from .lookup import address_of, exactly_one, shown_address
from .operating_tasks import shown_cluster, shown_hosts, tag_values, tasks_by_host, unlisted
from .serving import database_serves, is_in_flight
from .target import Member, Observation, Target, TaskOnTarget, check_identity
from .task_names import is_known

# Tags of objects other than OBProxies.
_TAGS_OF_OTHERS = ("serverId", "zoneName", "arbitrationServiceId")


@dataclass(frozen=True)
class ObProxy:
    """One of them; ``address`` is ``ip:port`` with the port for SQL."""

    id: int
    address: str
    host_id: int | None


@dataclass(frozen=True)
class ObProxies(Target):
    """Some OBProxies of the OBProxy cluster with the id ``proxy_cluster``."""

    proxy_cluster: int
    cluster_name: str
    proxies: tuple[ObProxy, ...]
    first_observation: Observation | None = field(default=None, compare=False)

    kind = "obproxies"
    task_name = None
    cluster_id = None
    shows_start = False

    @classmethod
    def find(cls, api: OcpApi, obproxy_cluster: str, obproxies: Sequence[str]) -> ObProxies:
        """Find them by id (digits) or ``ip:port`` in a cluster by name or id, each once; raises TargetError."""
        cluster = find_obproxy_cluster(api, obproxy_cluster)
        number, name = cluster["id"], str(cluster.get("name"))
        if not records(cluster.get("obproxies")):
            cluster = api.obproxy_cluster(number)
        where = f" in OBProxy cluster {name} (id {number})"
        found = {one.id: one for wanted in obproxies for one in [_find_one(cluster, wanted, where)]}
        there = tuple(found.values())
        return cls(number, name, there, _observe(cluster, there))

    @property
    def label(self) -> str:
        """As in ``OBProxy 10.0.0.1:2883 (id 3) of OBProxy cluster entry (id 1)``."""
        one = f"OBProxy {self.proxies[0].address} (id {self.proxies[0].id})"
        several = f"{len(self.proxies)} OBProxies ({', '.join(each.address for each in self.proxies)})"
        which = one if len(self.proxies) == 1 else several
        return f"{which} of OBProxy cluster {self.cluster_name} (id {self.proxy_cluster})"

    def result(self) -> dict[str, Any]:
        """Kind, id and name of their cluster, id and name (address) of each."""
        return {
            "kind": self.kind,
            "obproxy_cluster_id": self.proxy_cluster,
            "obproxy_cluster_name": self.cluster_name,
            "obproxies": [_identity(each) for each in self.proxies],
        }

    def unchanged_facts(self, members: frozenset[str] | None, /) -> dict[str, Any]:
        """``skipped_obproxies``: id and name of those that need no restart; None while undecided."""
        skipped = [_identity(each) for each in self.proxies if members is not None and each.address not in members]
        return {"skipped_obproxies": None if members is None else skipped}

    def observe(self, api: OcpApi) -> Observation:
        """Each with its status; the status that all share, else None. The service shows no start."""
        return _observe(api.obproxy_cluster(self.proxy_cluster), self.proxies)

    @property
    def locks(self) -> Sequence[str]:
        """Their OBProxy cluster."""
        return [f"obproxy cluster {self._identity}"]

    @property
    def _identity(self) -> str:
        return f"{self.cluster_name} {self.proxy_cluster}"

    def member_keys(self, _observed: Observation) -> dict[str, MemberKey]:
        """Each OBProxy."""
        return {each.address: MemberKey(self._identity, "obproxy", each.id, each.address) for each in self.proxies}

    def command_for(self, member: str) -> str:
        """That of the OBProxy."""
        return adhoc_command("obproxy_restart", obproxy_cluster=self.proxy_cluster, obproxies=member)

    def may_be_of(self, task: Record) -> bool:
        """Whether a task may be a restart of some of these, and of no other."""
        return not is_known(task.get("name")) and tied_obproxies(task) <= {each.id for each in self.proxies}

    def listed(self, api: OcpApi, **query: Any) -> list[Record]:
        """The tasks of the service. Those that have ended are read by host, because there may be too many."""
        hosts = self._hosts if query.get("status") == SUCCESSFUL else ()
        if not hosts:
            return api.tasks(**query)
        found = {task["id"]: task for host in hosts for task in api.tasks(hostId=host, **query)}
        return [found[number] for number in sorted(found, reverse=True)]

    def touching(self, api: OcpApi, listed: list[Record], **query: Any) -> list[TaskOnTarget]:
        """The tasks that the service ties to any of them, which count as restarts, and those without a shown target.

        Of the latter those are denied that the service's filter does not find on their hosts: it need not know the host
        of an OBProxy's task. What the filter alone finds counts, since the list may be behind.
        """
        asks_for_hosts = self._hosts and any(not tied_obproxies(task) and self._may_be_here(task) for task in listed)
        by_host = tasks_by_host(api, self._hosts if asks_for_hosts else (), **query) or {}
        on_hosts = set().union(*by_host.values())
        touching = []
        for task in (*unlisted(by_host, listed), *listed):
            numbers = tied_obproxies(task)
            touched = frozenset(each.address for each in self.proxies if each.id in numbers)
            if not numbers and self._may_be_here(task):
                is_denied = bool(by_host) and task["id"] not in on_hosts
                touching.append(TaskOnTarget(task, frozenset(), is_denied=is_denied))
            elif touched and not is_known(task.get("name")):
                touching.append(TaskOnTarget(task, touched))
        return touching

    def _may_be_here(self, task: Record) -> bool:
        """Whether nothing that a task shows is something else, or another host."""
        shown = shown_hosts(task)
        return _may_be_of_obproxies(task) and not (shown and self._hosts and shown.isdisjoint(self._hosts))

    def may_be_kind(self, task: Record) -> bool:
        """Whether a task may be a restart of OBProxies, whatever its name is."""
        return bool(tied_obproxies(task)) or _may_be_of_obproxies(task)

    def restart(self, api: OcpApi, members: frozenset[str]) -> ApiResponse:
        """Restart these in one task."""
        return api.restart_obproxies(self.proxy_cluster, [each.id for each in self.proxies if each.address in members])

    @property
    def _hosts(self) -> tuple[int, ...]:
        """The ids of their hosts; empty if one is not shown."""
        hosts = {each.host_id for each in self.proxies}
        return tuple(sorted(host for host in hosts if host is not None)) if None not in hosts else ()


def find_obproxy_cluster(api: OcpApi, wanted: str) -> Record:
    """The record of the OBProxy cluster with this id or name; raises TargetError."""
    clusters = api.obproxy_clusters()
    with_id = [found for found in clusters if wanted == str(found.get("id"))]
    matches = with_id or [found for found in clusters if wanted == found.get("name")]
    return exactly_one("obproxy_cluster", wanted, matches, [found.get("name") for found in clusters])


def tied_obproxies(task: Record) -> set[Any]:
    """The ids of the OBProxies that a task names, in its tags or in its context; empty if unknown."""
    listed = record(record(task.get("context")).get("listMap")).get("obproxy_server_ids")
    return tag_values(task, "obproxyId") | set(listed or ())


def _may_be_of_obproxies(task: Record) -> bool:
    """Whether nothing shows that a task is for something else."""
    of_others = any(tag_values(task, key) for key in _TAGS_OF_OTHERS) or shown_cluster(task) is not None
    return not of_others and not is_known(task.get("name"))


def _find_one(cluster: Record, wanted: str, where: str) -> ObProxy:
    there = records(cluster.get("obproxies"))
    known = [shown_address(found, "ip", "sqlPort") for found in there]
    matches = [found for found, address in zip(there, known, strict=True) if wanted in (str(found.get("id")), address)]
    found = exactly_one("obproxies", wanted, matches, known, where)
    return ObProxy(found["id"], address_of(found, "ip", "sqlPort"), integer(found.get("hostId")))


def _identity(proxy: ObProxy) -> dict[str, Any]:
    return {"id": proxy.id, "name": proxy.address}


def _observe(cluster: Record, proxies: Sequence[ObProxy]) -> Observation:
    shown = {found.get("id"): found for found in records(cluster.get("obproxies"))}
    for each in proxies:
        found = shown.get(each.id, {})
        check_identity("OBProxy", f"OBProxy {each.address} (id {each.id})", each.address, _address(found))
    members = tuple(_member(each.address, shown.get(each.id, {})) for each in proxies)
    statuses = {member.status for member in members}
    is_there = all(each.id in shown for each in proxies)
    return Observation(statuses.pop() if len(statuses) == 1 else None, members, is_there=is_there)


def _address(found: Record) -> str | None:
    return shown_address(found, "ip", "sqlPort")


def _member(name: str, found: Record) -> Member:
    """One of them; a task that works on it shows in its ``operateStatus``."""
    status, operating = found.get("status"), found.get("operateStatus")
    shown = operating if is_in_flight(operating) else status
    return Member(name, shown, serves=database_serves(shown))
