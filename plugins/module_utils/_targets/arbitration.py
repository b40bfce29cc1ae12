# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""An arbitration service as a target: how it is found, its status, which tasks restart it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._base.cli_hints import adhoc_command
from .._base.parsing import Record, integer, records
from .._journal.rows import MemberKey
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .lookup import address_of, clusters_named, exactly_one, shown_address
from .operating_tasks import (
    names_every_operation,
    names_parts_of_clusters,
    operated_by,
    shown_hosts,
    tag_values,
    tasks_named,
)
from .serving import database_serves
from .target import Member, Observation, Target, TaskOnTarget, check_identity
from .task_names import ARBITRATION_FILTER, ARBITRATION_RESTART, is_foreign, is_named, is_other_kind


@dataclass(frozen=True)
class ArbitrationService(Target):
    """An arbitration service; ``serves`` are the ids of the clusters that it serves."""

    id: int
    address: str
    serves: tuple[int, ...] = ()

    first_observation: Observation | None = field(default=None, compare=False)

    kind = "arbitration_service"
    task_name = ARBITRATION_RESTART
    cluster_id = None
    shows_start = False

    @classmethod
    def find(cls, api: OcpApi, arbitration_service: str) -> ArbitrationService:
        """Find it by id (digits) or ``ip:port``; raises TargetError."""
        services = api.arbitration_services()
        known = [shown_address(found, "svrIp", "svrPort") for found in services]
        matches = [
            found
            for found, where in zip(services, known, strict=True)
            if arbitration_service in (str(found.get("id")), where)
        ]
        found = exactly_one("arbitration_service", arbitration_service, matches, known)
        name, (serves, _is_whole) = address_of(found, "svrIp", "svrPort"), _served_clusters(api, found)
        return cls(found["id"], name, serves, _observe_service(name, found, services))

    @property
    def label(self) -> str:
        """As in ``arbitration service 10.0.0.10:2888 (id 1)``."""
        return f"arbitration service {self.address} (id {self.id})"

    def result(self) -> dict[str, Any]:
        """Kind, id and name (its address)."""
        return {"kind": self.kind, "id": self.id, "name": self.address}

    def observe(self, api: OcpApi) -> Observation:
        """Its status; the service shows no start time."""
        found = api.arbitration_service(self.id)
        check_identity("arbitration service", self.label, self.address, shown_address(found, "svrIp", "svrPort"))
        return _observe_service(self.address, found, [found])

    def served_now(self, api: OcpApi) -> tuple[tuple[int, ...], bool]:
        """The ids of the clusters that it serves now, and whether the service shows all of them."""
        return _served_clusters(api, api.arbitration_service(self.id))

    @property
    def arbiter_id(self) -> int:
        """Its own id."""
        return self.id

    @property
    def endangers(self) -> Sequence[int]:
        """The clusters that it serves."""
        return self.serves

    @property
    def locks(self) -> Sequence[str]:
        """Itself, and the clusters that it serves, by their ids: nothing shows their names for sure."""
        return [f"arbitration service {self.address} {self.id}", *(f"cluster {number}" for number in self.serves)]

    def member_keys(self, _observed: Observation) -> dict[str, MemberKey]:
        """Itself."""
        return {self.address: arbiter_key(self.id, self.address)}

    def command_for(self, member: str) -> str:
        """That of the service."""
        return adhoc_command("arbitration_service_restart", arbitration_service=member)

    def may_be_of(self, task: Record) -> bool:
        """Whether a task may be a restart of this service."""
        return not is_other_kind(task, self.task_name) and self._is_named_by(task) is not False

    def listed(self, api: OcpApi, **query: Any) -> list[Record]:
        """The tasks on arbitration services."""
        return tasks_named(api, ARBITRATION_FILTER, **query)

    def touching(self, api: OcpApi, listed: list[Record], **_query: Any) -> list[TaskOnTarget]:  # noqa: ARG002
        """Its restarts, and those that may be: without a service in their tags, or with a name in another language."""
        named = [(task, self._is_named_by(task)) for task in listed]
        return [
            TaskOnTarget(task, None if is_mine and not is_foreign(task) else frozenset())
            for task, is_mine in named
            if is_mine is not False and (is_named(task, ARBITRATION_RESTART) or _may_be_foreign_restart(task, is_mine))
        ]

    def _is_named_by(self, task: Record) -> bool | None:
        """Whether the tags of a task name this service, by its id or else its address; None if they name none."""
        if services := tag_values(task, "arbitrationServiceId"):
            return self.id in services
        tags = records(task.get("tags"))
        addresses = [address_of(tag, "svrIp", "arbitrationServiceSvrPort") for tag in tags if _has_address(tag)]
        return self.address in addresses if addresses else None

    def restart(self, api: OcpApi, _members: frozenset[str]) -> ApiResponse:
        """Restart the whole service."""
        return api.restart_arbitration_service(self.id)


def _may_be_foreign_restart(task: Record, is_mine: bool | None) -> bool:
    return is_foreign(task) and (is_mine or not (names_parts_of_clusters(task) or shown_hosts(task)))


def _has_address(tag: Record) -> bool:
    return tag.get("svrIp") is not None and tag.get("arbitrationServiceSvrPort") is not None


def arbiter_key(number: int | None, address: str) -> MemberKey:
    """What the arbitration service with this id and address is called in the journal."""
    return MemberKey("", ArbitrationService.kind, number, address)


def _served_clusters(api: OcpApi, service: Record) -> tuple[tuple[int, ...], bool]:
    """By their ids or, where these are not shown, by their names."""
    found: set[int] = set()
    clusters = service.get("clusters")
    is_whole = clusters is not None
    for one in records(clusters):
        number = integer(one.get("clusterId")) or integer(one.get("id"))
        name = one.get("clusterName") or one.get("name")
        named = [] if number is not None or name is None else clusters_named(api, name)[0]
        numbers = [number] if number is not None else [integer(each.get("id")) for each in named]
        is_whole = is_whole and bool(numbers)
        found.update(each for each in numbers if each is not None)
    return tuple(sorted(found)), is_whole


def _observe_service(name: str, service: Record, all_services: list[Record]) -> Observation:
    status = service.get("status")
    member = Member(name, status, operated_by=operated_by(service), serves=database_serves(status))
    return Observation(
        member.status, (member,), names_operations=names_every_operation([service], siblings=all_services)
    )
