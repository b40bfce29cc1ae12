# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Random clusters with tenants, and by brute force which of them a restart takes the majority from.

Every way in which what is not known may be is tried: which server of a zone has the replica, and whether it votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.voters import (
    Arbiter,
    Replica,
    ServerState,
    Tenant,
)

Servers = dict[str, ServerState]
# It may be there or not.
HIDDEN = ServerState(None, in_flight=True)


def random_cluster(random: Random) -> tuple[list[Tenant], Servers]:
    """1 to 7 zones of 1 to 3 servers, 1 to 20 tenants; a server, a zone, some servers or nothing is restarted."""
    zones = [f"z{number}" for number in range(random.randint(1, 7))]
    placed = [(zone, f"{zone}s{number}") for zone in zones for number in range(random.choice((1, 1, 2, 3)))]
    ill = random.choice((0.0, 0.1, 0.3, 0.6))
    zone, server = random.choice(placed)
    many = [name for _zone, name in placed if random.random() < 0.4]
    taken = random.choice(([server], [server], [name for its, name in placed if its == zone], many, []))
    states = {}
    for zone, name in placed:
        dead = random.random() < ill / 2
        in_flight = not dead and random.random() < ill / 2
        shown = None if random.random() < 0.01 else zone
        states[name] = ServerState(shown, dead, in_flight, name in taken and not dead, f"{name} is ill")
    return [_random_tenant(random, number, zones, states) for number in range(random.randint(1, 20))], states


def _random_tenant(random: Random, number: int, zones: list[str], states: Servers) -> Tenant:
    known = random.choice((1.0, 0.9, 0.5))
    there = random.sample(zones, random.randint(1, len(zones)))
    replicas = [_random_replica(random, zone, states, known) for zone in there]
    if random.random() < 0.02:
        replicas.append(Replica("elsewhere"))
    return Tenant(f"t{number}", tuple(replicas), _random_arbiter(random) if random.random() < 0.4 else None)


def _random_replica(random: Random, zone: str, states: Servers, known: float) -> Replica:
    votes = random.choice((True, True, True, False)) if random.random() < known else None
    own = [name for name in states if name.startswith(zone)]
    units = frozenset(random.sample(own, random.randint(1, len(own)))) if random.random() < 0.6 else None
    if units and random.random() < 0.02:
        units |= {"gone"}
    return Replica(random.choice((zone, zone.upper())), votes, units)


def _random_arbiter(random: Random) -> Arbiter:
    may_serve = random.random() < 0.85
    stays = may_serve and random.random() < 0.9
    return Arbiter(may_serve, stays, may_serve and random.random() < 0.2, random.random() < 0.1, "arbiter")


def is_lost(tenant: Tenant, servers: Servers) -> bool:
    """Whether in any case that the facts allow the tenant had its voters, loses one by the restart, and lacks them."""
    return any(_is_lost_in(case, tenant.arbiter) for case in _cases(tenant, servers))


def _cases(tenant: Tenant, servers: Servers) -> Iterator[list[ServerState]]:
    """The states of the servers that have the voters: one list for each case."""
    ways = []
    for replica in tenant.replicas:
        if replica.votes is False:
            continue
        holders = _holders(replica, servers)
        ways.append(holders if replica.votes else [*holders, None])
    for case in product(*ways):
        yield [state for state in case if state is not None]


def _holders(replica: Replica, servers: Servers) -> list[ServerState]:
    if replica.servers is not None:
        return [servers.get(name, HIDDEN) for name in replica.servers]
    found = [state for state in servers.values() if state.zone is None or state.zone.lower() == replica.zone.lower()]
    return found or [HIDDEN]


def _is_lost_in(voters: list[ServerState], arbiter: Arbiter | None) -> bool:
    there = ["before" for state in voters if not state.dead]
    remaining = ["after" for state in voters if not (state.dead or state.in_flight or state.taken)]
    may_decide = arbiter is not None and (arbiter.may_serve or arbiter.degraded)
    decides = arbiter is not None and arbiter.stays and not arbiter.taken and not arbiter.degraded
    if arbiter is not None and arbiter.degraded:
        # Half of them are out, whatever their servers do.
        remaining = remaining[: len(voters) // 2]
    is_tie = 2 * len(remaining) == len(voters) or (arbiter is not None and arbiter.degraded)
    takes = any(state.taken for state in voters) or (arbiter is not None and arbiter.taken and is_tie)
    return (
        takes and _outvotes(there, len(voters), tie=may_decide) and not _outvotes(remaining, len(voters), tie=decides)
    )


def _outvotes(there: list[str], voters: int, *, tie: bool) -> bool:
    missing = voters - len(there)
    return len(there) > missing or (tie and len(there) == missing)
