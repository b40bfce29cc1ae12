# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The order of the zones of a cluster, in which leaders of tenants move least: primary zones last.

The leaders of a tenant are in its primary zone. They leave it when it restarts, and come back. While they are away,
they should not be in a zone that restarts next. So a zone comes the later, the more tenants have it as their primary
zone; ``sys`` is one of them. Of zones with the same number, those with the root server come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .._base.parsing import Record

_NAMED = 3


@dataclass(frozen=True)
class ZoneOrder:
    """The zones that have the root server, and the names of the tenants by their primary zones, as far as known."""

    root_zones: Sequence[str] = ()
    tenants: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def rank(self, zone: str) -> tuple[int, bool]:
        """The key by which zones are sorted; zones of the same rank keep their order."""
        return len(self.tenants.get(zone, ())), zone in self.root_zones

    def reason(self, zone: str, *, is_last: bool) -> str:
        """Why the zone has its place; ``is_last``: no other one comes later."""
        has_root = zone in self.root_zones
        if zone in self.tenants:
            role = f"the primary zone of {_named(self.tenants[zone])}"
            if is_last:
                return f"{zone} comes last, since it is {role}"
            return f"{zone} is {role}, and no later zone is that of fewer tenants"
        if self.tenants:
            primary = self._primary_zones()
            return f"{zone} has the root server, but comes before {primary}" if has_root else f"before {primary}"
        if has_root:
            return f"{zone} comes last, since it has the root server"
        if self.root_zones:
            return f"before {' and '.join(self.root_zones)}, where the root server is"
        return "as the service lists them"

    def _primary_zones(self) -> str:
        zones = list(self.tenants)
        if len(zones) == 1:
            return f"{zones[0]}, the primary zone of {_named(self.tenants[zones[0]])}"
        return f"{' and '.join(zones)}, the primary zones of tenants"


def zone_order(zones: Iterable[str], root_zones: Sequence[str], tenants: Iterable[Record]) -> ZoneOrder:
    """The order of the ``zones`` of a cluster, by the records of its tenants.

    A tenant without a known primary zone, or to which all zones are equal, says nothing.
    """
    known = {zone.casefold(): zone for zone in zones}
    found: dict[str, list[str]] = {zone: [] for zone in known.values()}
    for tenant in tenants:
        for zone in _primary_zones(tenant.get("primaryZone"), known):
            found[zone].append(str(tenant.get("name")))
    return ZoneOrder(root_zones, {zone: names for zone, names in found.items() if names})


def _primary_zones(shown: str | None, known: Mapping[str, str]) -> set[str]:
    """Of ``zone2,zone3;zone1`` the first two: semicolons separate priorities, the highest first; empty if all equal."""
    for group in (shown or "").split(";"):
        names = (name.strip().casefold() for name in group.split(","))
        zones = {known[name] for name in names if name in known}
        if zones:
            return zones if len(zones) < len(known) else set()
    return set()


def _named(tenants: Sequence[str]) -> str:
    if len(tenants) == 1:
        return f"tenant {tenants[0]}"
    if len(tenants) > _NAMED:
        return f"{len(tenants)} tenants, such as {tenants[0]}"
    return f"tenants {', '.join(tenants[:-1])} and {tenants[-1]}"
