# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The endpoints, one method each. Parameters and results are the service's own: camelCase, ids, paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import quote

from .._base.errors import RequestRefused, ResponseUnreadable
from .._base.parsing import Record, integer, record, records
from .envelope import ApiResponse
from .paging import PagedRead
from .session import HttpClient

Found = TypeVar("Found")

PAGE_SIZE = 2000  # the largest the service documents
RECENT_TASKS = 100
# RFC 3986 and Java's URLEncoder encode these differently, so a signature over them may be refused.
ENCODED_DIFFERENTLY = r"[\s~*]+"


class OcpApi:
    """The endpoints of one service. Every method raises ServiceError."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client

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
        """Restart the agents of hosts in one task. The path is uncertain, see docs/contract.md, "Restart agents"."""
        path = "/compute/hosts/batchRestartAgents"
        return _first_known_path(path, f"/api/v2{path}", lambda there: self._start(there, body={"hostIds": host_ids}))

    def restart_arbitration_service(self, service_id: int) -> ApiResponse:
        """Restart a whole arbitration service."""
        return self._start(f"/api/v2/arbitration/services/{service_id}/restart")

    def retry_task(self, task_id: int) -> ApiResponse:
        """Run the FAILED subtasks of a task again. These five are in docs/contract.md, "Task actions"."""
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
        """One task, with its subtasks and their links."""
        return self._record(f"/api/v2/tasks/instances/{task_id}")

    def tasks(self, limit: int | None = None, above: int = 0, **filters: Any) -> list[Record]:
        """The newest ``limit`` tasks with an id ``above`` this that pass the filters, newest first.

        The filters are the service's: clusterId, hostId, status and name. A name that services encode in different
        ways is compared here.
        """
        text = filters.get("name") or ""
        word = max(re.split(ENCODED_DIFFERENTLY, text), key=len)
        query = {name: value for name, value in {**filters, "name": word or None}.items() if value is not None}
        wanted = limit if word == text else None
        size = min(wanted or PAGE_SIZE, RECENT_TASKS if above else PAGE_SIZE)
        found: dict[int, Record] = {}
        for page in self._pages("/api/v2/tasks/instances", {**query, "sort": "id,desc"}, size):
            newer = [task for task in page if (integer(task.get("id")) or 0) > above]
            # A task that starts meanwhile moves the last entry of a page to the next page.
            found.update((task["id"], task) for task in newer if word == text or _holds(task.get("name"), text))
            if (above and len(newer) < len(page)) or (limit and len(found) >= limit):
                break
        return list(found.values())[:limit]

    @property
    def clock_offset(self) -> float:
        """Seconds by which the clock of the service is ahead of this machine's."""
        return self._client.service_clock.offset

    @property
    def retry_after(self) -> float:
        """Seconds until the next request is allowed; 0 unless the request limit is used up."""
        return self._client.retry_after

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
        return str(self._record(f"/api/v2/tasks/instances/{task_id}/subtasks/{subtask_id}/log").get("log") or "")

    def cluster(self, cluster_id: int) -> Record:
        """One cluster."""
        return self._record(f"/api/v2/ob/clusters/{cluster_id}")

    def clusters(self, name: str | None = None) -> list[Record]:
        """The clusters whose name contains ``name``, or all of them."""
        return self._list("/api/v2/ob/clusters", {} if name is None else {"name": name})

    def servers(self, cluster_id: int) -> list[Record]:
        """All servers of a cluster."""
        return self._list(f"/api/v2/ob/clusters/{cluster_id}/servers")

    def hosts(self) -> list[Record]:
        """All hosts."""
        return self._list("/api/v2/compute/hosts")

    def host_agent(self, host_id: int) -> Record:
        """The agent of a host, with its processes."""
        path = f"/compute/hosts/{host_id}/agent"
        return _first_known_path(f"/api/v2{path}", path, self._record)

    def arbitration_services(self) -> list[Record]:
        """All arbitration services."""
        return self._list("/api/v2/arbitration/services")

    def arbitration_service(self, service_id: int) -> Record:
        """One arbitration service."""
        return self._record(f"/api/v2/arbitration/services/{service_id}")

    def _start(self, path: str, params: Record | None = None, body: Record | None = None) -> ApiResponse:
        answer = self._client.post(quote(path), params, body)
        if integer(record(answer.data).get("id")) is None:
            raise ResponseUnreadable(
                f"The answer to POST {answer.url} names no task. It is not known whether the restart was started: "
                "look at the newest tasks (oceanbase.ocp.task_info) before sending it again.",
                url=answer.url,
                trace_id=answer.trace_id,
                may_have_run=True,
            )
        return answer

    def _record(self, path: str) -> Record:
        answer = self._client.get(quote(path))
        if not isinstance(answer.data, dict):
            raise _unreadable(answer, "one object")
        return answer.data

    def _list(self, path: str, params: Record | None = None) -> list[Record]:
        return [found for page in self._pages(path, params or {}, PAGE_SIZE) for found in page]

    def _pages(self, path: str, params: Record, size: int) -> Iterator[list[Record]]:
        page = pages = 1
        read = PagedRead(self._client.timeout)
        while page <= pages:
            answer = self._client.get(path, {**params, "page": page, "size": size})
            contents = record(answer.data).get("contents")
            if not isinstance(contents, list) or records(contents) != contents:
                raise _unreadable(answer, "a list of objects")
            read.count(answer, len(contents))
            yield contents
            # The server list of a cluster has no page.
            pages = integer(record(answer.data.get("page")).get("totalPages")) or 1
            page += 1
            if not contents:
                break
            if page <= pages:
                read.go_on(answer)


def _first_known_path(path: str, other: str, call: Callable[[str], Found]) -> Found:
    """The result of ``call`` for ``path``, or for ``other`` if the service does not know ``path``.

    The documented paths of agents have no version; most services use one. An unknown path had no effect, so calling
    the other one repeats nothing.
    """
    try:
        return call(path)
    except RequestRefused as first:
        if first.status not in (400, 404):
            raise
        try:
            return call(other)
        except RequestRefused as second:
            # Only one of the paths exists, and its refusal counts. The refusal of an unknown path names it.
            raise (second if second.status not in (400, 404) or path in first.reason else first) from None


def _holds(name: object, text: str) -> bool:
    """Whether ``name`` contains ``text``, without regard to case."""
    return text.casefold() in str(name).casefold()


def _unreadable(answer: ApiResponse, wanted: str) -> ResponseUnreadable:
    return ResponseUnreadable(
        f"The answer of {answer.url} holds no data of the documented form ({wanted}). "
        "Check that url is the address of an OCP, and its version.",
        url=answer.url,
        trace_id=answer.trace_id,
    )
