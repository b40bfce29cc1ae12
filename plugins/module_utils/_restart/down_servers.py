# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which servers of the service are down by restarts of this journal; a look at those whose run may have ended."""

from __future__ import annotations

from collections.abc import Iterable

from .._base.clock import Clock
from .._base.errors import AuthenticationFailed, NotFound, ServiceError
from .._base.service_clock import earliest_service_time
from .._journal.journal import Journal
from .._journal.rows import RequestRow
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.cluster import identity_of, member_of, servers_of
from .._targets.target import Member
from .back import Ages, has_just_ended, is_back, leaves_undone
from .task_ends import UNDONE, is_known_end, outcome_of

# Seconds after which somebody who waits looks at a cluster again; all who share the journal take turns.
LOOK_AFTER = 10.0
# Clusters of one such look.
CLUSTERS_AT_ONCE = 5


class DownServers:
    """What the journal has of it; the requests of other services do not count."""

    def __init__(self, api: OcpApi, journal: Journal, clock: Clock) -> None:
        self._api = api
        self._journal = journal
        self._clock = clock
        self._ages = Ages(api, clock)
        # Those of the service, as the journal calls them; None if they are not known.
        self._clusters: frozenset[str] | None = None

    def read(self) -> None:
        """Read the clusters of the service, if the journal has requests that went to another address.

        Without an answer all requests count. Raises AuthenticationFailed and JournalError.
        """
        if self._clusters is not None or all(row.url == self._api.url for row in self.rows()):
            return
        try:
            self._clusters = frozenset(identity_of(record) for record in self._api.clusters())
        except AuthenticationFailed:
            raise
        except ServiceError:
            return

    def rows(self) -> list[RequestRow]:
        """The requests by which servers may be down. Raises JournalError."""
        return self.of_service(self._journal.down())

    def of_service(self, rows: Iterable[RequestRow]) -> list[RequestRow]:
        """Those that this service got, or may have got, by any of its addresses."""
        return [row for row in rows if row.url == self._api.url or self._is_here(row)]

    def _is_here(self, row: RequestRow) -> bool:
        is_known = self._clusters is None or row.members[0][0].cluster in self._clusters
        return self._journal.is_shared and is_known

    def look_after(self, rows: Iterable[RequestRow]) -> bool:
        """Look whether the servers of these requests serve again, and note that; whether those of one do.

        A run that was killed, or that did not wait, notes nothing more. What cannot be read goes on to count. Raises
        AuthenticationFailed and JournalError.
        """
        clusters = dict[str, list[RequestRow]]()
        for row in sorted(rows, key=lambda each: each.looked_at or each.at):
            is_surely_here = row.url == self._api.url or self._clusters is not None
            if is_surely_here and self._is_due(row):
                clusters.setdefault(row.members[0][0].cluster, []).append(row)
        are_back = [
            self._is_back(row, servers)
            for cluster, own in list(clusters.items())[:CLUSTERS_AT_ONCE]
            for servers in [self._looked_at(cluster, own)]
            if servers is not None
            for row in own
        ]
        return any(are_back)

    def _is_due(self, row: RequestRow) -> bool:
        """Whether nobody has looked just now; by the clock of the journal, which all have in common."""
        if row.looked_at:
            return abs(self._journal.now() - row.looked_at) >= LOOK_AFTER
        return not self._ages.may_be_within(row, LOOK_AFTER)

    def _looked_at(self, cluster: str, rows: Iterable[RequestRow]) -> list[Member] | None:
        """The servers of a cluster; none if it is gone. None if they cannot be read."""
        for row in rows:
            self._journal.note(row.number or 0, looked_at=self._journal.now())
        number = int(cluster.rpartition(" ")[2])
        try:
            return [member_of(server) for server in servers_of(self._api, self._api.cluster(number), number)]
        except NotFound:
            return []
        except AuthenticationFailed:
            raise
        except ServiceError:
            return None

    def _is_back(self, row: RequestRow, servers: list[Member]) -> bool:
        if not is_back(row, servers, has_ended=True):
            return False
        if not is_back(row, servers, has_ended=False) and not self._has_ended(row):
            return False
        self._journal.note(row.number or 0, back=True)
        return True

    def _has_ended(self, row: RequestRow) -> bool:
        """Whether its task is known to have ended; or, if no task is known, whether it would be shown by now."""
        is_over = self._ages.is_searched(row)
        if row.task_id is None or (is_known_end(row) and row.outcome not in UNDONE):
            return is_over or row.task_id is not None
        try:
            task = Task.from_api(self._api.task(row.task_id))
        except NotFound:
            return is_over
        except AuthenticationFailed:
            raise
        except ServiceError:
            return False
        if task.finished:
            self._journal.note(row.number or 0, outcome=outcome_of(task))
        now = earliest_service_time(self._api.service_clock, self._clock)
        return task.finished and not (leaves_undone(task) and has_just_ended(task, now))
