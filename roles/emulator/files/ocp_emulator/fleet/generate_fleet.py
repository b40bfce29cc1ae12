# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The default fleet, and generated ones of any size: names, addresses, numbers."""

from collections.abc import Iterator
from itertools import count

from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.fleet.fleet_file import (
    ArbitrationEntry,
    ClusterEntry,
    FleetError,
    FleetFile,
    ObProxyClusterEntry,
    ObProxyEntry,
    ServerEntry,
    ZoneEntry,
)
from ocp_emulator.fleet.resolve_fleet import resolve

_LARGEST_FLEET = 100_000


def default_fleet() -> Fleet:
    """Clusters 1 `orders` (3 zones of 2 servers) and 2 `payments` (3 of 1), arbitration service 1 on host 10.

    The OBProxy cluster 1 `entry` has two OBProxies, on the hosts 8 and 9.
    """
    addresses = _addresses()
    clusters = [_cluster("orders", 3, 2, addresses), _cluster("payments", 3, 1, addresses)]
    services = [ArbitrationEntry(ip=next(addresses))]
    entry = ObProxyClusterEntry(name="entry", obproxies=[ObProxyEntry(ip="10.0.0.8"), ObProxyEntry(ip="10.0.0.9")])
    return resolve(FleetFile(clusters=clusters, arbitration_services=services, obproxy_clusters=[entry]))


def generated_fleet(clusters: int, zones: int, servers_per_zone: int) -> Fleet:
    """`clusters` clusters named cluster1.. of the same size, and one arbitration service. All numbers from 1."""
    if min(clusters, zones, servers_per_zone) < 1 or clusters * zones * servers_per_zone > _LARGEST_FLEET:
        raise FleetError(f"a fleet has 1 to {_LARGEST_FLEET} servers")
    addresses = _addresses()
    entries = [_cluster(f"cluster{number}", zones, servers_per_zone, addresses) for number in range(1, clusters + 1)]
    return resolve(FleetFile(clusters=entries, arbitration_services=[ArbitrationEntry(ip=next(addresses))]))


def _addresses() -> Iterator[str]:
    for number in count():
        yield f"10.{number // 62_500}.{number // 250 % 250}.{number % 250 + 1}"


def _cluster(name: str, zones: int, servers_per_zone: int, addresses: Iterator[str]) -> ClusterEntry:
    return ClusterEntry(
        name=name,
        zones=[
            ZoneEntry(
                name=f"zone{number}", servers=[ServerEntry(ip=next(addresses)) for _server in range(servers_per_zone)]
            )
            for number in range(1, zones + 1)
        ],
    )
