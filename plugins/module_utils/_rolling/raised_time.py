# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The offline time of the clusters of a run: which are raised for it, and which only put back what was left raised."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from .._base.clock import Clock
from .._ocp.endpoints import OcpApi
from .._ocp.side_by_side import Crew
from .._parameters.offline_time import OPTION, OfflineTime, offline_time_journal
from .._restart.restart_request import RestartRequest
from .._waiting.progress_lines import progress_line


def offline_time_of(
    api: OcpApi, request: RestartRequest, cluster: int, value: str | None, clock: Clock
) -> OfflineTime | None:
    """What raises the offline time of the cluster to this value, and puts it back; None if there is nothing to do.

    Without a value, only what an earlier run left raised is put back. Raises OptionError and JournalError.
    """
    option = request.hints.named(OPTION)
    journal = offline_time_journal(
        request.journal_url, raises=value is not None, read_only=request.check_mode, option=option, clock=clock
    )

    def say(words: str) -> None:
        request.policy.announce(progress_line(words), False)

    found = OfflineTime(api, journal, cluster, value, say, clock, option)
    return found if value is not None or found.is_noted else None


def foretell(api: OcpApi, request: RestartRequest, cluster: int, value: str | None, clock: Clock) -> None:
    """Say in check mode what the run would do with it. Raises OptionError, JournalError and ServiceError."""
    held = offline_time_of(api, request, cluster, value, clock)
    words = held.foretold() if held is not None else ""
    if words:
        request.policy.announce(progress_line(words), False)


class OfflineTimes:
    """Those of many clusters, handled side by side; only the ``planned`` ones are raised to the ``value``."""

    def __init__(
        self, crew: Crew, request: RestartRequest, clusters: Sequence[int], planned: Collection[int], value: str | None
    ) -> None:
        self._crew = crew
        self._request = request
        self._clusters = clusters
        self._planned = planned
        self._value = value

    def keep(self) -> None:
        """Raise them. Raises what OfflineTime.keep raises."""
        self._each(OfflineTime.keep)

    def restore(self) -> None:
        """Put them back. Raises what OfflineTime.restore raises, once all were tried."""
        self._each(OfflineTime.restore)

    def foretell(self) -> None:
        """Say in check mode what the run would do. Raises OptionError, JournalError and ServiceError."""
        self._crew.each(
            self._clusters,
            lambda api, cluster, clock: foretell(api, self._request, cluster, self._of(cluster), clock),
        )

    def _each(self, act: Callable[[OfflineTime], object]) -> None:
        def job(api: OcpApi, cluster: int, clock: Clock) -> None:
            held = offline_time_of(api, self._request, cluster, self._of(cluster), clock)
            if held is not None:
                act(held)

        self._crew.each(self._clusters, job)

    def _of(self, cluster: int) -> str | None:
        return self._value if cluster in self._planned else None
