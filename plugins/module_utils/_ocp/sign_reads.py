# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The reads that show signs of trouble: alarms, how far replicas lag, backups, restores.

See docs/dev/contract.md, "Alarms", "Metrics" and "Backups".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from .._base.parsing import Record
from .records import alarm_record, backup_record, restore_record

# As many as documents allow in one page.
ALARMS_A_PAGE = 200
OTHERS_A_PAGE = 2000

LAG = "max_full_clog_sync_delay_second"
SECONDS_BETWEEN_SAMPLES = 5


class SignReads(Protocol):
    """Reads of one service. Every method raises ServiceError."""

    def _list(self, path: str, params: Record | None = None, size: int = OTHERS_A_PAGE) -> list[Record]:
        """All elements of a list."""

    def _shared(self, key: Hashable, read: Callable[[], list[Record]]) -> list[Record]:
        """What ``read`` reads, or what somebody else has read of this kind."""

    def active_alarms(self) -> list[Record]:
        """All active alarms, of every cluster and host."""
        query = {"status": "Active"}
        return self._shared(
            ("alarms",),
            lambda: [alarm_record(one) for one in self._list("/api/v2/alarm/alarms", query, ALARMS_A_PAGE)],
        )

    def lag_samples(self, cluster: str, since: datetime, until: datetime) -> list[Record]:
        """How far the replicas of a cluster lag, in seconds by the name LAG; see metric_samples."""
        return self._shared(("lag", cluster), lambda: self.metric_samples(cluster, [LAG], since, until))

    def newest_metrics(self, cluster: str, names: Sequence[str], since: datetime, until: datetime) -> list[Record]:
        """Samples of now; see metric_samples."""
        key = ("metrics", cluster, *names)
        return self._shared(key, lambda: self.metric_samples(cluster, names, since, until))

    def metric_samples(self, cluster: str, names: Sequence[str], since: datetime, until: datetime) -> list[Record]:
        """Samples of metrics of a cluster: ``timestamp`` in seconds, and the values by the names of the metrics.

        Documents of different versions spell the parameters of the time in two ways.
        """
        begin, end = _utc(since), _utc(until)
        query = {
            "metrics": ",".join(names),
            "labels": f"app:OB,ob_cluster_name:{cluster}",
            "groupBy": "ob_cluster_name",
            "interval": SECONDS_BETWEEN_SAMPLES,
            "startTime": begin,
            "endTime": end,
            "start_time": begin,
            "end_time": end,
        }
        return self._list("/api/v2/monitor/metric", query, OTHERS_A_PAGE)

    def data_backups(self, cluster_id: int, since: datetime) -> list[Record]:
        """The data backups of a cluster and its tenants that began since then."""
        path = f"/api/v2/ob/clusters/{cluster_id}/backup/task/dataBackupTasks"
        query = {"startTime": _utc(since)}
        return self._shared(
            ("backups", cluster_id), lambda: [backup_record(one) for one in self._list(path, query, OTHERS_A_PAGE)]
        )

    def tenant_restores(self, cluster_id: int, since: datetime) -> list[Record]:
        """The restores of tenants into a cluster that began since then."""
        path = f"/api/v2/ob/clusters/{cluster_id}/backup/task/restoreTasks"
        query = {"startTime": _utc(since)}
        found = self._shared(
            ("restores", cluster_id), lambda: [restore_record(one) for one in self._list(path, query, OTHERS_A_PAGE)]
        )
        return [one for one in found if one.get("restoreClusterId") in (None, cluster_id)]


def _utc(instant: datetime) -> str:
    """As ``2026-05-04T03:00:00Z``."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
