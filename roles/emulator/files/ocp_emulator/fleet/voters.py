# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""When a tenant has lost its voters: the rule of the ledger and of the pre-check.

Full and log replicas vote, read-only replicas do not. The voters of a zone are on the servers that have a unit of the
tenant there. A server that does not serve takes one voter of that zone with it, until the zone has none left: it is not
visible which log stream is on which unit, so any unit may have the replica that counts.

More than half of the voters are needed. With an arbitration service that runs, and while no log stream of the tenant is
degraded, half of them are. Log streams are degraded when half of the voters have failed: while the service runs, only
the other half counts then, and more than half of that is needed. The failed half has no vote until nothing is degraded.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ZoneVoters:
    """The voters of a tenant in one zone, and the ids of the servers that have its units there."""

    zone: str
    voters: int
    servers: frozenset[int]

    def remaining(self, down: Collection[int]) -> int:
        """The voters that are left while these servers do not serve."""
        return max(0, self.voters - sum(server in down for server in self.servers))


@dataclass(frozen=True)
class TenantVoters:
    """The voters of a tenant, by zone; `arbitration_service_id` is None where it has no arbitration."""

    id: int
    cluster_id: int
    name: str
    arbitration_service_id: int | None
    zones: tuple[ZoneVoters, ...]

    def voters(self) -> int:
        """All of its voters."""
        return sum(zone.voters for zone in self.zones)

    def remaining(self, down: Collection[int]) -> int:
        """The voters that are left while these servers do not serve."""
        return sum(zone.remaining(down) for zone in self.zones)

    def needed(self, *, arbitrated: bool) -> int:
        """The voters that it needs; `arbitrated`: its arbitration service can stand in for the missing half."""
        return (self.voters() + 1) // 2 if arbitrated else self.voters() // 2 + 1

    def failed_half(self, down: Collection[int]) -> frozenset[str]:
        """The zones that have lost their voters while these servers do not serve; empty unless they are one half."""
        failed = [zone for zone in self.zones if zone.remaining(down) == 0]
        is_half = 2 * sum(zone.voters for zone in failed) == self.voters() and 2 * self.remaining(down) == self.voters()
        return frozenset(zone.zone for zone in failed) if is_half else frozenset()

    def without(self, zones: Collection[str]) -> "TenantVoters":
        """The same without the voters of these zones."""
        return replace(self, zones=tuple(zone for zone in self.zones if zone.zone not in zones))

    def servers(self) -> frozenset[int]:
        """The servers that have voters of it."""
        return frozenset().union(*(zone.servers for zone in self.zones))


def with_voters_on(tenants: Iterable[TenantVoters], servers: Collection[int]) -> list[TenantVoters]:
    """The tenants that have a voter on one of these servers."""
    return [tenant for tenant in tenants if not tenant.servers().isdisjoint(servers)]
