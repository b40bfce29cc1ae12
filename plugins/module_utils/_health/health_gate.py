# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Wait until a cluster is healthy."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .._base.checks import check_range
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import CredentialsRefused, NotFound, NotHealthy, ServiceError
from .._base.parsing import Record
from .._base.text import NAMED_AT_MOST
from .._fleet.facts import Facts, cluster_facts, server_facts
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, RUNNING, Task
from .._targets.cluster import servers_of
from .._targets.lookup import clusters_named, exactly_one
from .._waiting.poll import PollPolicy, poll_until_done, transient_error_warnings
from .._waiting.progress import HEARTBEAT_SECONDS, Show, progress_line
from .health_problems import health_problems

Result = dict[str, Any]


def await_health(
    api: OcpApi, cluster: str, min_zones: int, policy: PollPolicy, *, clock: Clock = SYSTEM_CLOCK
) -> Result:
    """Poll until the ``cluster`` with this name or id is healthy (see ``health_problems``); returns its facts.

    Temporary polling errors do not end the wait. Raises NotHealthy after one last poll, whose facts hold the
    result with the ``problems``, and TargetError if the cluster does not exist.
    """
    check_range("min_zones", min_zones, 1)
    poller = _PolledCluster(api, cluster, min_zones, policy.show)
    waited = poll_until_done(poller, api, policy, clock)
    result = {
        "changed": False,
        "cluster": poller.cluster,
        "servers": poller.servers,
        "problems": poller.problems,
        "elapsed": round(waited, 3),
        "warnings": transient_error_warnings("the cluster", poller.failures),
    }
    if poller.done:
        return result
    raise NotHealthy(
        f"Cluster {poller.name} is not healthy after {waited:.0f} seconds: {_first_problems(poller.problems)}. "
        "Look there first; then wait again, or with a larger wait_timeout.",
        **result,
    )


def _first_problems(problems: list[str]) -> str:
    more = f"; and {len(problems) - NAMED_AT_MOST} more" if len(problems) > NAMED_AT_MOST else ""
    return "; ".join(problems[:NAMED_AT_MOST]) + more


class _PolledCluster:
    """A cluster as last read, with its health problems."""

    def __init__(self, api: OcpApi, cluster_option: str, min_zones: int, show: Show) -> None:
        self.cluster: Facts | None = None
        self.servers: list[Facts] = []
        self.problems: list[str] = []
        self.failures: list[ServiceError] = []
        self._api = api
        self._cluster_option = cluster_option
        self._min_zones = min_zones
        self._show = show
        self._reported: list[str] = []
        self._last_report = 0.0

    @property
    def done(self) -> bool:
        """Whether it is healthy."""
        return not self.problems

    @property
    def name(self) -> str:
        """As in ``orders (id 1)``; the option until the cluster is found."""
        return f"{self.cluster['name']} (id {self.cluster['id']})" if self.cluster else self._cluster_option

    @property
    def heartbeat_due(self) -> float:
        """Seconds into the wait at which ``heartbeat`` is due."""
        return self._last_report + HEARTBEAT_SECONDS

    def poll(self) -> None:
        """Read the cluster again."""
        try:
            self._read()
        except (CredentialsRefused, NotFound):
            raise
        except ServiceError as error:
            self.failures.append(error)
            self.problems = [f"it cannot be read: {str(error).rstrip('.')}"]

    def _read(self) -> None:
        record = self._record()
        cluster = cluster_facts(record)
        self.servers = [server_facts(server, record) for server in servers_of(self._api, record, cluster["id"])]
        self.cluster = cluster
        self.problems = health_problems(cluster, self.servers, self._tasks(cluster), self._min_zones)

    def _record(self) -> Record:
        if self.cluster is None:
            return exactly_one("cluster", self._cluster_option, *clusters_named(self._api, self._cluster_option))
        return self._api.cluster(self.cluster["id"])

    def _tasks(self, cluster: Facts) -> list[Task]:
        """The tasks that run on it, and the FAILED ones that still hold a part of it.

        Other tasks that have ended and deleted ones hold nothing, though the service may name them for a while.
        """
        tasks = {task["id"]: task for task in self._api.tasks(clusterId=cluster["id"], status=RUNNING)}
        for task_id in [cluster["task_id"], *(server["task_id"] for server in self.servers)]:
            if task_id is not None and task_id not in tasks:
                with suppress(NotFound):
                    tasks[task_id] = self._api.task(task_id)
        found = map(Task.from_api, tasks.values())
        return [task for task in found if task.status == FAILED or not task.finished]

    def report(self, waited: float) -> None:
        """Show each problem once while it persists, and the recovery."""
        for problem in self.problems:
            if problem not in self._reported:
                self._say(f": {problem}", waited, failed=True)
        if self._reported and self.done:
            self._say(f": healthy after {waited:.0f} s", waited)
        self._reported = self.problems

    def heartbeat(self, waited: float) -> None:
        """Show that the first problem persists."""
        self._say(f" not healthy after {waited:.0f} s: {self.problems[0]}", waited, failed=True)

    def _say(self, text: str, waited: float, *, failed: bool = False) -> None:
        self._last_report = waited
        name = self.cluster["name"] if self.cluster else self._cluster_option
        self._show(progress_line(f"{name}{text}"), failed)
