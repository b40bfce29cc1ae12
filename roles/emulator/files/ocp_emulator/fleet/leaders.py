# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""In which zone the leaders of a tenant are: the rule of the ledger for their moves.

They are in the zone of the highest priority that serves: a zone with a full replica, in which a server with a unit of
the tenant serves. Between zones of one priority they stay where they are. If no zone serves, they have not moved yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LeaderZone:
    """A zone that can have the leaders of a tenant: its priority, 0 is the highest, and its servers with units."""

    zone: str
    priority: int
    servers: frozenset[int]


@dataclass(frozen=True)
class TenantLeaders:
    """A tenant with the zones that can have its leaders, in falling priority; `primary_zone` is as OCP shows it."""

    id: int
    cluster_id: int
    name: str
    primary_zone: str
    zones: tuple[LeaderZone, ...]

    def servers(self) -> frozenset[int]:
        """The servers that can have leaders of it."""
        return frozenset().union(*(zone.servers for zone in self.zones))

    def next_zone(self, current: str, serving: Mapping[str, bool]) -> str:
        """The zone of the leaders, which were in `current`; `serving` zones are True once they have caught up.

        Leaders go to a zone that has not caught up only if theirs does not serve, and no other has caught up.
        """
        ready = [zone for zone in self.zones if serving.get(zone.zone)]
        if current not in serving:
            ready = ready or [zone for zone in self.zones if zone.zone in serving]
            return ready[0].zone if ready else current
        mine = next(zone.priority for zone in self.zones if zone.zone == current)
        return next((zone.zone for zone in ready if zone.priority < mine), current)


def priorities(primary_zone: str, zones: Sequence[str]) -> dict[str, int]:
    """The priority of each of the zones. Those that the primary zone does not name, as with RANDOM, have the lowest."""
    groups = primary_zone.split(";")
    named = {zone.strip(): number for number, group in reversed(list(enumerate(groups))) for zone in group.split(",")}
    return {zone: named.get(zone, len(groups)) for zone in zones}
