# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The endpoints of OBProxies: how their clusters are read, and how several are restarted by one request."""

from __future__ import annotations

from typing import Protocol

from .._base.parsing import Record
from .envelope import ApiResponse
from .records import obproxy_cluster_record, obproxy_parameter_record


class ObProxyCalls(Protocol):
    """Calls of one service. Every method raises ServiceError."""

    def _list(self, path: str, *, complete: bool = False) -> list[Record]:
        """All elements of a list."""

    def _record(self, path: str) -> Record:
        """One object."""

    def _start(self, path: str) -> ApiResponse:
        """Start a task."""

    def obproxy_clusters(self) -> list[Record]:
        """All OBProxy clusters, with their OBProxies."""
        return [obproxy_cluster_record(one) for one in self._list("/api/v2/obproxy/clusters", complete=True)]

    def obproxy_cluster(self, cluster_id: int) -> Record:
        """One OBProxy cluster, with its OBProxies."""
        return obproxy_cluster_record(self._record(f"/api/v2/obproxy/clusters/{cluster_id}"))

    def obproxy_parameters(self, cluster_id: int) -> list[Record]:
        """All parameters of the OBProxies of one OBProxy cluster."""
        found = self._list(f"/api/v2/obproxy/clusters/{cluster_id}/parameters")
        return [obproxy_parameter_record(one) for one in found]

    def restart_obproxies(self, cluster_id: int, obproxy_ids: list[int]) -> ApiResponse:
        """Restart OBProxies of one OBProxy cluster in one task."""
        numbers = ",".join(map(str, obproxy_ids))
        return self._start(f"/api/v2/obproxy/clusters/{cluster_id}/obproxies/{numbers}/restart")
