# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The endpoints of the parameters of a cluster: how all are read, and how some are set by one request.

See docs/dev/contract.md, "Parameters".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Protocol

from .._base.parsing import Record
from .envelope import ApiResponse
from .records import parameter_record
from .session import HttpClient

PARAMETERS_A_PAGE = 2000


class ParameterCalls(Protocol):
    """Calls of one service. Every method raises ServiceError."""

    _client: HttpClient

    def _list(self, path: str, params: Record | None = None, size: int = PARAMETERS_A_PAGE) -> list[Record]:
        """All elements of a list."""

    def _shared(self, key: Hashable, read: Callable[[], list[Record]]) -> list[Record]:
        """What ``read`` reads, or what somebody else has read of this kind."""

    def cluster_parameters(self, cluster_id: int) -> list[Record]:
        """All parameters of a cluster, with the value of each server."""
        path = f"/api/v2/ob/clusters/{cluster_id}/parameters"
        return self._shared(
            ("parameters", cluster_id),
            lambda: [parameter_record(one) for one in self._list(path, {}, PARAMETERS_A_PAGE)],
        )

    def set_cluster_parameters(self, cluster_id: int, wanted: Mapping[str, str]) -> ApiResponse:
        """Set the value of each name on all servers. It may be repeated, so a lost answer costs nothing."""
        body = [{"name": name, "value": value} for name, value in wanted.items()]
        return self._client.put(f"/api/v2/ob/clusters/{cluster_id}/parameters", body)
