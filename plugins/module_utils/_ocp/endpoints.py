# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The endpoints of OCP, one method each: path, query, body, which prefix is tried, how lists are paged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar
from urllib.parse import quote

from .._base.clock import Clock
from .._base.errors import NotFound, PermissionDenied, RequestRefused, ResponseUnreadable, ServiceError, WrongRecord
from .._base.parsing import Record, integer, record, records
from .._base.service_clock import ServiceClock
from .envelope import ApiResponse
from .may_have_run import may_have_run, outcome_sentence
from .obproxy_calls import ObProxyCalls
from .paging import MOST_ITEMS, PAGE_SIZE, PagedRead, entries_of
from .parameter_calls import ParameterCalls
from .records import (
    agent_record,
    arbitration_service_record,
    cluster_record,
    host_record,
    is_of_a_task,
    is_of_something_else,
    server_record,
    servers_in_record,
    shows_all,
    task_record,
    tenant_record,
    zone_record,
)
from .session import HttpClient
from .shared_reads import ReadsInOrder
from .sign_reads import SignReads
from .task_list import TaskList
from .unknown_path import may_be_passing, may_be_unknown_path, names_path

Found = TypeVar("Found")

# Documents write the paths of agents without it. All other paths have it, and so do those of agents in most services.
VERSIONED, PLAIN = "/api/v2", ""
# A comma between ids is legal in a path, and documents show it so.
SENT_AS_IT_IS = "/,"


class OcpApi(TaskList, SignReads, ParameterCalls, ObProxyCalls):
    """The endpoints of one service. Every method raises ServiceError."""

    # Whether a list of the tasks of one host has shown those of others.
    ignores_host_filter = False
    finds_by_host = False
    # Whether its tasks have names in another language; None as long as nobody has asked.
    names_in_another_language: bool | None = None
    # With it reads are shared with others: lists, clusters and what belongs to them, but no single task and no agent.
    sharing: ReadsInOrder | None = None

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        # What is known about this service; None until it was checked.
        self._agents_prefix: str | None = None
        self._has_cluster_detail = True

    def restart_server(self, cluster_id: int, server_id: int, *, freeze_server: bool, force: bool) -> ApiResponse:
        """Restart one server. Where the two flags belong is undocumented, so query and body both have them."""
        flags = {"freezeServer": freeze_server, "force": force}
        query = {name: str(value).lower() for name, value in flags.items()}
        path = f"/api/v2/ob/clusters/{cluster_id}/servers/{server_id}/restart"
        return self._start(path, params=query, body=flags)

    def restart_cluster(self, cluster_id: int) -> ApiResponse:
        """Restart all servers of a cluster."""
        return self._start(f"/api/v2/ob/clusters/{cluster_id}/restart")

    def restart_zone(self, cluster_id: int, zone: str) -> ApiResponse:
        """Restart all servers of a zone."""
        return self._start(f"/api/v2/ob/clusters/{cluster_id}/zones/{zone}/restart")

    def restart_agents(self, host_ids: list[int]) -> ApiResponse:
        """Restart the agents of hosts in one task, below the prefix that answers a read of an agent.

        A service that does not know a path may answer a POST with any error, even after it has carried it out.
        """
        if self._agents_prefix is None:
            self.host_agent(host_ids[0])
        paths = {VERSIONED: "/api/v2/compute/hosts/batchRestartAgents", PLAIN: "/compute/hosts/batchRestartAgents"}
        return self._start(paths[str(self._agents_prefix)], body={"hostIds": host_ids})

    def restart_arbitration_service(self, service_id: int) -> ApiResponse:
        """Restart a whole arbitration service."""
        return self._start(f"/api/v2/arbitration/services/{service_id}/restart")

    def retry_task(self, task_id: int) -> ApiResponse:
        """Run the FAILED subtasks of a task again. These five are in docs/dev/contract.md, "Task actions"."""
        return self._client.post(f"/api/v2/tasks/instances/{task_id}/retry")

    def roll_back_task(self, task_id: int) -> ApiResponse:
        """Undo the work of a FAILED task."""
        return self._client.post(f"/api/v2/tasks/instances/{task_id}/rollback")

    def retry_subtask(self, task_id: int, subtask_id: int) -> ApiResponse:
        """Run a FAILED subtask again."""
        return self._client.post(f"/api/v2/tasks/instances/{task_id}/subtasks/{subtask_id}/retry")

    def skip_subtask(self, task_id: int, subtask_id: int) -> ApiResponse:
        """Count a FAILED subtask as done."""
        return self._client.post(f"/api/v2/tasks/instances/{task_id}/subtasks/{subtask_id}/skip")

    def cancel_subtask(self, task_id: int, subtask_id: int) -> ApiResponse:
        """Make a RUNNING subtask fail."""
        return self._client.post(f"/api/v2/tasks/instances/{task_id}/subtasks/{subtask_id}/cancel")

    def task(self, task_id: int) -> Record:
        """One task, with its subtasks and their links. Raises WrongRecord for another task."""
        answer = self._object(f"/api/v2/tasks/instances/{task_id}")
        found = task_record(answer.data)
        number = found.get("id")
        is_other = is_of_something_else(answer.data)
        if number != task_id or is_other:
            named = "no task" if number is None or is_other else f"task {number}"
            raise WrongRecord(
                f"The answer of {answer.url} names {named} instead of task {task_id}, so it was ignored. Check that "
                "url is the address of an OCP, and check the proxies in between.",
                url=answer.url,
                trace_id=answer.trace_id,
            )
        if _steps(found) > MOST_ITEMS:
            raise ResponseUnreadable(
                f"Task {task_id} has more than {MOST_ITEMS:,} subtasks, so it was ignored. Check that url is the "
                "address of an OCP.",
                url=answer.url,
                trace_id=answer.trace_id,
            )
        return found

    @property
    def client(self) -> HttpClient:
        """The connection, for other reads of the same service."""
        return self._client

    @property
    def url(self) -> str:
        """The base address of the service."""
        return self._client.url

    @property
    def user(self) -> str | None:
        """The name of the user whose credentials are used; None if they do not show it."""
        return self._client.user

    @property
    def account(self) -> str:
        """The name of the user, or the id of the access key."""
        return self._client.account

    @property
    def service_clock(self) -> ServiceClock:
        """The clock of the service, as its answers show it."""
        return self._client.service_clock

    @property
    def retry_after(self) -> float:
        """Seconds until the next request is allowed; 0 unless the request limit is used up."""
        return self._client.retry_after

    @property
    def sent(self) -> int:
        """How many requests were sent."""
        return self._client.sent

    @property
    def room(self) -> int | None:
        """How many requests are allowed before the request limit resets; None if that is not known."""
        return self._client.room

    def wait_for_room(self, requests: int, clock: Clock) -> None:
        """Sleep until this many requests are allowed, an hour at most; not at all if the limit is not known."""
        self._client.wait_for_room(requests, clock)

    def wait_to_send(self, clock: Clock) -> None:
        """Sleep until the request after a look is allowed; after a sleep it is time for another look."""
        self._client.wait_to_send(clock)

    @property
    def trace_id(self) -> str | None:
        """The trace id of the last response, for the logs of the service."""
        return self._client.trace_id

    @property
    def timeout(self) -> float:
        """Seconds that one request may wait for its response."""
        return self._client.timeout

    def subtask_log(self, task_id: int, subtask_id: int) -> str:
        """The log of all attempts of one subtask."""
        log = self._record(f"/api/v2/tasks/instances/{task_id}/subtasks/{subtask_id}/log").get("log")
        return log if isinstance(log, str) else ""

    def cluster(self, cluster_id: int) -> Record:
        """One cluster, by its own endpoint. No document has that endpoint: without it, from the list of all clusters.

        Restarts of several clusters share the list instead, if it shows every server and every field that the endpoint
        shows.
        """
        if self.sharing is not None and self.sharing.shared.lists_clusters:
            shared = self.sharing.shared
            found = next((one for one in self.clusters() if one.get("id") == cluster_id), {})
            if servers_in_record(found) and shared.trusts_list(lambda: shows_all(found, self._one_cluster(cluster_id))):
                return found
            shared.lists_clusters = False
        return self._shared(("cluster", cluster_id), lambda: self._one_cluster(cluster_id))

    def _one_cluster(self, cluster_id: int) -> Record:
        if self._has_cluster_detail:
            try:
                return cluster_record(self._record(f"/api/v2/ob/clusters/{cluster_id}"))
            except (RequestRefused, ResponseUnreadable) as error:
                if not may_be_unknown_path(error):
                    raise
                found = self._cluster_in_list(cluster_id, error)
                self._has_cluster_detail = False
                return found
        return self._cluster_in_list(cluster_id)

    def _cluster_in_list(self, cluster_id: int, missing: ServiceError | None = None) -> Record:
        """The cluster of the list, with its zones. Raises NotFound, or ``missing`` if that says more."""
        found = next((cluster for cluster in self.clusters() if cluster.get("id") == cluster_id), None)
        if found is None:
            if isinstance(missing, PermissionDenied) or (missing is not None and may_be_passing(missing)):
                raise missing
            message = f"There is no cluster with the id {cluster_id}."
            raise NotFound(message, status=404, reason="", url=self._client.url) from missing
        return found if found.get("zones") else {**found, "zones": self.zones(cluster_id)}

    def clusters(self, name: str | None = None) -> list[Record]:
        """The clusters whose name contains ``name``, or all of them."""
        if name is not None and self.sharing is not None and self.sharing.shared.lists_clusters:
            return [one for one in self.clusters() if name in str(one.get("name"))]
        query = {} if name is None else {"name": name}
        found = self._shared(
            ("clusters", name),
            lambda: [cluster_record(one) for one in self._list("/api/v2/ob/clusters", query, complete=True)],
            together=name is None,
        )
        if self.sharing is not None and name is None:
            self.sharing.shared.count_clusters(len(found))
        return found

    def zones(self, cluster_id: int) -> list[Record]:
        """All zones of a cluster."""
        path = f"/api/v2/ob/clusters/{cluster_id}/zones"
        return self._shared(
            ("zones", cluster_id), lambda: [zone_record(one) for one in self._list(path, complete=True)]
        )

    def servers(self, cluster_id: int) -> list[Record]:
        """All servers of a cluster."""
        path = f"/api/v2/ob/clusters/{cluster_id}/servers"
        found = self._shared(
            ("servers", cluster_id), lambda: [server_record(one) for one in self._list(path, complete=True)]
        )
        if any(one.get("ip") is None and one.get("zoneName") is None for one in found):
            raise _wrong_list(f"{self.url}{path}", "servers")
        return found

    def tenants(self, cluster_id: int) -> list[Record]:
        """The tenants of a cluster; a service may add those of others."""
        path = f"/api/v2/ob/clusters/{cluster_id}/tenants"
        return self._shared(
            ("tenants", cluster_id), lambda: [tenant_record(one) for one in self._list(path, complete=True)]
        )

    def tenant(self, cluster_id: int, tenant_id: int) -> Record:
        """One tenant, with its units in each zone. Documents have the path in two spellings."""
        paths = {
            "clusters": f"/api/v2/ob/clusters/{cluster_id}/tenants/{tenant_id}",
            "cluster": f"/api/v2/ob/cluster/{cluster_id}/tenants/{tenant_id}",
        }
        key = ("tenant", cluster_id, tenant_id)
        return self._shared(key, lambda: tenant_record(self._first_known(paths)[1]))

    def hosts(self) -> list[Record]:
        """All hosts."""
        return [host_record(one) for one in self._list("/api/v2/compute/hosts", complete=True)]

    def host_agent(self, host_id: int) -> Record:
        """The agent of a host, with its processes, below the prefix that this service knows."""
        paths = {VERSIONED: f"/api/v2/compute/hosts/{host_id}/agent", PLAIN: f"/compute/hosts/{host_id}/agent"}
        if self._agents_prefix is None:
            self._agents_prefix, found = self._first_known(paths)
        else:
            found = self._record(paths[self._agents_prefix])
        return agent_record(found)

    def _first_known(self, paths: Mapping[str, str]) -> tuple[str, Record]:
        """The key of the first of ``paths`` that is answered with an envelope, and the record there."""
        errors: list[ServiceError] = []
        for key, path in paths.items():
            try:
                return key, self._record(path)
            except (RequestRefused, ResponseUnreadable) as error:
                if not may_be_unknown_path(error):
                    raise
                errors.append(error)
        # The refusal of an unknown path names the path, or has no envelope; then the error of the other path says more.
        known = (error for error, path in zip(errors, paths.values(), strict=True) if not names_path(error, path))
        raise next(known, errors[0])

    def arbitration_services(self) -> list[Record]:
        """All arbitration services."""
        path = "/api/v2/arbitration/services"
        return self._shared(
            ("arbitration services",),
            lambda: [arbitration_service_record(one) for one in self._list(path, complete=True)],
        )

    def arbitration_service(self, service_id: int) -> Record:
        """One arbitration service."""
        return arbitration_service_record(self._record(f"/api/v2/arbitration/services/{service_id}"))

    def _start(self, path: str, params: Record | None = None, body: Record | None = None) -> ApiResponse:
        answer = self._client.post(quote(path, safe=SENT_AS_IT_IS), params, body)
        sent = record(answer.data)
        task = task_record(sent)
        if _steps(task) > MOST_ITEMS:
            # Only its id matters; reading the task again reports the error.
            task = {**task, "subtasks": None, "tasks": None}
        number = task.get("id")
        if number is None or not is_of_a_task(sent):
            defect = "names no task" if number is None else f"has the id {number}, but no field of a task"
            raise ResponseUnreadable(
                f"The answer to POST {answer.url} {defect}. {outcome_sentence(unknown=True)}",
                url=answer.url,
                trace_id=answer.trace_id,
                may_have_run=may_have_run("POST"),
            )
        return replace(answer, data=task)

    def _shared(self, key: Hashable, read: Callable[[], Found], *, together: bool = False) -> Found:
        """What ``read`` reads, or what somebody else has read of this kind."""
        return read() if self.sharing is None else self.sharing.read(key, self.service_clock, read, together=together)

    def _record(self, path: str) -> Record:
        found: Record = self._object(path).data
        return found

    def _object(self, path: str) -> ApiResponse:
        """The answer of a read of one object."""
        answer = self._client.get(quote(path))
        if not isinstance(answer.data, dict):
            raise _unreadable(answer, "one object")
        return answer

    def _list(
        self, path: str, params: Record | None = None, size: int = PAGE_SIZE, *, complete: bool = False
    ) -> list[Record]:
        """All entries; in a ``complete`` list the last of one that is on two pages, as pages are read once more."""
        every = [found for page in self._pages(path, params or {}, size, complete=complete) for found in page]
        if not complete:
            return every
        numbers = [integer(found.get("id")) for found in every]
        last = {number: place for place, number in enumerate(numbers)}
        return [found for place, found in enumerate(every) if numbers[place] is None or last[numbers[place]] == place]

    def _pages(
        self, path: str, params: Record, size: int, *, of_tasks: bool = False, complete: bool = False
    ) -> Iterator[list[Record]]:
        """The entries page by page. That all are missing always matters, that one is in a ``complete`` list.

        One ``of_tasks`` is complete. After a page from which entries have moved forward, pages are read once more.
        """
        is_complete = of_tasks or complete
        page = furthest = 1
        read = PagedRead(self._client.timeout, keeps_all=not of_tasks)
        while True:
            answer = self._client.get(path, {**params, "page": page, "size": size})
            contents = entries_of(answer.data)
            if contents is None:
                raise _unreadable(answer, "a list of objects")
            if of_tasks and any(map(is_of_something_else, contents)):
                raise _wrong_list(answer.url, "tasks", answer.trace_id)
            if of_tasks and not all((integer(entry.get("id")) or 0) > 0 for entry in contents):
                # Without an id it cannot be read by itself, nor be told from other tasks.
                raise _unreadable(answer, "tasks with ids")
            read.count(answer, len(contents))
            moved = read.compare(answer, contents)
            furthest = max(furthest, page)
            if is_complete and page > 1 and moved:
                # As many entries have moved to the pages before, where they were not yet.
                page = max(1, page - moved)
                read.go_on(answer)
                continue
            yield contents
            if page >= furthest and not (contents and read.may_have_more(answer, page, size, of_tasks=of_tasks)):
                break
            page += 1
            read.go_on(answer)
        if is_complete or read.is_empty:
            read.complete(answer)


def _steps(task: Record) -> int:
    return len(records(task.get("subtasks") or task.get("tasks")))


def _unreadable(answer: ApiResponse, wanted: str) -> ResponseUnreadable:
    return ResponseUnreadable(
        f"The answer of {answer.url} does not have the documented form ({wanted}). Check that url is the address of an "
        "OCP, and check its version.",
        url=answer.url,
        trace_id=answer.trace_id,
    )


def _wrong_list(url: str, wanted: str, trace_id: str | None = None) -> WrongRecord:
    return WrongRecord(
        f"The answer of {url} lists something other than {wanted}, so it was ignored. Check the proxies in between.",
        url=url,
        trace_id=trace_id,
    )
