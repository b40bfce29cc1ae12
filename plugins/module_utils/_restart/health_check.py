# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a cluster is healthy right before the restart of a part of it, by the look that decides."""

from __future__ import annotations

from .._health.health_rules import Apart, Kind, Problem, misplaced
from .._health.read_health import Demands, TaskReader, judge_health
from .._ocp.endpoints import OcpApi
from .._targets.target import Observation
from .look import Look
from .own_notes import OwnNotes


class HealthCheck:
    """Judges the cluster of one target, again and again. ``zone`` is where the target has to be, if given."""

    def __init__(self, api: OcpApi, notes: OwnNotes, zone: str | None) -> None:
        self._api = api
        self._notes = notes
        self._zone = zone
        self._reader = TaskReader(api)

    @property
    def reads(self) -> int:
        """How many extra reads there were."""
        return self._reader.count

    @property
    def requests(self) -> int:
        """How many requests it takes to read all of it anew."""
        return len(self._reader.task_ids)

    def read_anew(self) -> None:
        """Read the tasks that were needed so far. Raises a ServiceError; then they are read when they are needed."""
        needed, self._reader = self._reader.task_ids, TaskReader(self._api)
        for task_id in needed:
            self._reader.task(task_id)

    def problems(self, look: Look, *, healthy: bool) -> list[Problem]:
        """The problems that prevent a restart of the target; ``healthy``: including all problems of its cluster.

        Raises a ServiceError if a task that would explain it cannot be read.
        """
        observed, found = look.observed, self._misplaced(look.observed)
        if not healthy or observed.records is None:
            return found
        if not look.reads_tasks:
            return [*found, Problem("its tasks cannot be read with these credentials", Kind.HELD)]
        demands = Demands(apart=self._apart(look))
        return [*found, *judge_health(self._reader, observed.records, look.listed, demands).problems]

    def _misplaced(self, observed: Observation) -> list[Problem]:
        if self._zone is None:
            return []
        servers = [{"id": each.id, "name": each.member.name, "zone": each.zone} for each in observed.servers]
        return list(misplaced(servers, [member.name for member in observed.members], self._zone))

    def _apart(self, look: Look) -> Apart | None:
        """What this controller restarts in the zone of the target."""
        names = {member.name for member in look.observed.members}
        zones = {server.zone for server in look.observed.servers if server.member.name in names}
        here = {server.member.name for server in look.observed.servers if zones == {server.zone}}
        own = [
            restart for restart in self._notes.own_restarts(look.listed) if restart.servers and restart.servers <= here
        ]
        if not own:
            return None
        numbers = [restart.task_id for restart in own if restart.task_id is not None]
        return Apart(str(*zones), numbers, frozenset().union(*(restart.servers for restart in own)))
