# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a recording reads beyond the check: all clusters and hosts, only by GET, within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from .._base.clock import Clock
from .._base.errors import AuthenticationFailed, ConnectionFailed, RateLimited, ResponseLost, ServiceError
from .._base.parsing import Record, integer
from .._ocp.service_reads import ServiceReads

Found = TypeVar("Found")

MOST_REQUESTS = 500
MOST_SECONDS = 300.0
ENDING = (AuthenticationFailed, ConnectionFailed, RateLimited, ResponseLost)


class Sweep:
    """Reads until everything is read, or a limit or an error ends it. ``left_out`` counts what was not read."""

    def __init__(self, reads: ServiceReads, clock: Clock) -> None:
        self._reads = reads
        self._clock = clock
        self._end = clock.now() + MOST_SECONDS
        self._sent = 0
        self._is_over = False
        self.left_out: dict[str, int] = {}

    def ask_everything(self) -> None:
        """Read what other modules read first, and large numbers of records last."""
        reads = self._reads
        clusters = self._ids(self._ask("clusters", reads.clusters))
        self._for_each("servers of clusters", clusters, reads.servers)
        hosts = self._ids(self._ask("hosts", reads.hosts))
        self._ask("arbitration services", reads.arbitration_services)
        self._ask("unknown path", reads.unknown_path)
        self._for_each("zones of clusters", clusters, reads.zones)
        self._for_each("details of clusters", clusters, reads.cluster_detail)
        tenants = self._for_each("tenants of clusters", clusters, reads.tenants)
        self._for_each("agents", hosts, reads.host_agent)
        for cluster, found in tenants:
            self._for_each("tenants", self._ids(found), partial(reads.tenant, cluster))

    def _for_each(
        self, things: str, ids: Iterable[int], read: Callable[[int], Found]
    ) -> list[tuple[int, Found | None]]:
        return [(number, self._ask(things, partial(read, number))) for number in ids]

    def _ask(self, things: str, read: Callable[[], Found]) -> Found | None:
        """What ``read`` returns; None if it failed or was left out."""
        used_up = self._sent >= MOST_REQUESTS or self._clock.now() > self._end or self._reads.retry_after > 0
        if self._is_over or used_up:
            self.left_out[things] = self.left_out.get(things, 0) + 1
            return None
        before = self._reads.sent
        try:
            return read()
        except ServiceError as error:
            self._is_over = isinstance(error, ENDING) and things != "unknown path"
            return None
        finally:
            self._sent += self._reads.sent - before

    @staticmethod
    def _ids(found: Any) -> list[int]:
        records: list[Record] = found or []
        return [number for each in records if (number := integer(each.get("id"))) is not None]
