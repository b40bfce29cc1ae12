# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The inspections of a run: its clusters before the first restart and after the last, unless no restart begins now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from .._base.clock import Clock
from .._base.errors import OcpError
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._restart.restart_request import RestartRequest
from .._waiting.progress_lines import progress_line

Result = dict[str, Any]

BEFORE, AFTER = "before", "after"


class RunInspections:
    """The inspections of this ``scenario`` around the restarts of ``request``; without a scenario there are none.

    ``found`` are their results, with their ``moment``.
    """

    def __init__(self, api: OcpApi, scenario: str | None, request: RestartRequest, clock: Clock) -> None:
        self._api = api
        self._scenario = scenario
        self._request = request
        self._clock = clock
        self.found: list[Result] = []

    @contextmanager
    def around(self, clusters: Mapping[int, str]) -> Iterator[None]:
        """Inspect ``clusters``, names by id, before the body and after it, also after one that has failed."""
        wanted = clusters if self._scenario is not None and self._is_time() else {}
        self._inspect(wanted, BEFORE)
        try:
            yield
        except OcpError:
            self._inspect(wanted, AFTER)
            raise
        self._inspect(wanted, AFTER)

    def warnings(self) -> list[str]:
        """Which clusters have no report, and the high risks that came with the run."""
        if not self.found:
            return []
        from .._health.inspection import new_risks

        moments: dict[tuple[str, str], list[str]] = {}
        for one in self.found:
            if one["reason"]:
                moments.setdefault((one["cluster"], one["reason"]), []).append(one["moment"])
        before, after = ([one for one in self.found if one["moment"] == moment] for moment in (BEFORE, AFTER))
        return [
            *(
                f"Cluster {cluster} was not inspected {' and '.join(when)} the run, since {reason}."
                for (cluster, reason), when in moments.items()
            ),
            *new_risks(after, before),
        ]

    def _is_time(self) -> bool:
        asked, now = self._request, datetime.fromtimestamp(self._clock.wall(), UTC)
        is_late = asked.finish_before is not None and now >= asked.finish_before
        return not is_late and (asked.windows is None or not asked.windows.outside_words(now, 0.0))

    def _inspect(self, clusters: Mapping[int, str], moment: str) -> None:
        if self._scenario is None or not clusters:
            return
        from .._health.inspection import inspect_clusters, inspection_words

        policy = self._request.policy
        names = join_names(clusters.values())
        policy.announce(progress_line(f"inspecting {names} {moment} the run ({self._scenario})"), False)
        for one in inspect_clusters(self._api, clusters, self._scenario, policy, self._clock):
            self.found.append({**one, "moment": moment})
            policy.note({"inspected": self.found[-1]})
            policy.announce(progress_line(f"inspected {moment} the run: {inspection_words(one)}"), False)
