# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The reads of ``ocp_info``: one path each, without a fallback to another.

See docs/dev/contract.md, "Check of a service".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.parsing import Record, record, records, text
from .endpoints import PLAIN, VERSIONED, OcpApi
from .records import agent_record, cluster_record, task_record
from .session import Answered
from .task_list import NEWEST_FIRST

# Only whether there are any matters.
FEW = 10
ACTIVE_ALARMS = "Active"
# No document has it.
NO_CALL = "/api/v2/no/such/call"


class ServiceReads(OcpApi):
    """Reads that show what a service has. Every method raises ServiceError."""

    @property
    def last_path(self) -> str | None:
        """The path of the last request."""
        return self._client.last_path

    def observe(self, take: Callable[[Answered], None] | None) -> None:
        """Pass each answer from now on to ``take``; None for nobody."""
        self._client.observe = take

    @property
    def sent(self) -> int:
        """How many requests there were, without repetitions."""
        return self._client.sent

    def time(self) -> None:
        """Check that a service is there; without credentials."""
        self._client.get_time("/api/v2/time")

    def version(self) -> str | None:
        """The version of the service."""
        return text(record(self._client.get_without_envelope("/api/v2/info").data).get("buildVersion"))

    def cluster_detail(self, cluster_id: int) -> Record:
        """One cluster, by its own path."""
        return cluster_record(self._record(f"/api/v2/ob/clusters/{cluster_id}"))

    def agent_below(self, prefix: str, host_id: int) -> Record:
        """The agent of a host below this prefix, VERSIONED or PLAIN."""
        paths = {VERSIONED: f"/api/v2/compute/hosts/{host_id}/agent", PLAIN: f"/compute/hosts/{host_id}/agent"}
        return agent_record(self._record(paths[prefix]))

    def parameters(self, cluster_id: int) -> list[Record]:
        """Some parameters of a cluster, as the service sends them."""
        return self._first(f"/api/v2/ob/clusters/{cluster_id}/parameters")

    def alarms(self) -> list[Record]:
        """Some active alarms, as the service sends them."""
        return self._first("/api/v2/alarm/alarms", {"status": ACTIVE_ALARMS})

    def first_tasks(self, count: int, **filters: Any) -> list[Record]:
        """The first tasks that the service lists when it is asked for the newest ones that pass the filters."""
        found = self._first("/api/v2/tasks/instances", {**filters, "sort": NEWEST_FIRST}, count)
        return [task_record(task) for task in found]

    def unknown_path(self) -> None:
        """Request a path that no OCP has, to see how this one answers."""
        self._client.get(NO_CALL)

    def _first(self, path: str, params: Record | None = None, size: int = FEW) -> list[Record]:
        """The first page of a list."""
        return records(next(self._pages(path, params or {}, size)))
