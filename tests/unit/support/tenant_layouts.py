# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Random clusters with tenants, and by brute force which of them a restart takes the majority from.

Every way in which what is not known may be is tried: which server of a zone has the replica, and whether it votes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
        unclear = not dead and not in_flight and random.random() < ill / 3
        shown = None if random.random() < 0.01 else zone
        states[name] = ServerState(shown, dead, in_flight, name in taken and not dead, f"{name} is ill", unclear)
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
    leads = votes if not votes else random.choice((True, True, True, False))
    return Replica(random.choice((zone, zone.upper())), votes, units, leads)


def _random_arbiter(random: Random) -> Arbiter:
    may_serve = random.random() < 0.85
    stays = may_serve and random.random() < 0.9
    taken, degraded, uncertain = may_serve and random.random() < 0.2, random.random() < 0.1, random.random() < 0.1
    return Arbiter(may_serve, stays, taken, degraded, "arbiter", uncertain)


def is_lost(tenant: Tenant, servers: Servers) -> bool:
    """Whether in any case that the facts allow the tenant had what it needs, loses some of it, and lacks it then.

    A tenant with log-only replicas may be refused also where none of the cases has a leader to lose.
    """
    return any(_is_lost_in(case, tenant.arbiter) for case in _cases(tenant, servers))


# A server with a voter, and whether this one can lead.
_Voter = tuple[ServerState, bool]


def _cases(tenant: Tenant, servers: Servers) -> Iterator[list[_Voter]]:
    """The voters: one list for each case."""
    ways = []
    for replica in tenant.replicas:
        if replica.votes is False:
            continue
        leads = [True, False] if replica.leads is None else [replica.leads]
        holders = [(state, can) for state in _holders(replica, servers) for can in leads]
        ways.append(holders if replica.votes else [*holders, None])
    for case in product(*ways):
        yield [voter for voter in case if voter is not None]


def _holders(replica: Replica, servers: Servers) -> list[ServerState]:
    if replica.servers is not None:
        return [servers.get(name, HIDDEN) for name in replica.servers]
    found = [state for state in servers.values() if state.zone is None or state.zone.lower() == replica.zone.lower()]
    return found or [HIDDEN]


def _is_lost_in(voters: list[_Voter], arbiter: Arbiter | None) -> bool:
    """With each choice of what those do that may be up or not, and of the arbitration service."""
    unsure = [place for place, (state, _can) in enumerate(voters) if not state.dead and not _is_sure(state)]
    sure = [place for place, (state, _can) in enumerate(voters) if not state.dead and _is_sure(state)]
    for up in product((True, False), repeat=len(unsure)):
        there = {*sure, *(place for place, is_up in zip(unsure, up, strict=True) if is_up)}
        left = {place for place in there if not voters[place][0].taken}
        for helps in _helps(arbiter):
            still_helps = helps and not (arbiter is not None and arbiter.taken)
            if arbiter is not None and arbiter.degraded:
                # One half is out, it may be any; the other one needs all of its members, and the service.
                if (len(left) < len(there) or arbiter.taken) and _works(voters, there, tie=True):
                    return True
            elif _works(voters, there, tie=helps) and not _works(voters, left, tie=still_helps):
                return True
    return False


def _is_sure(state: ServerState) -> bool:
    return not (state.in_flight or state.unclear)


def _helps(arbiter: Arbiter | None) -> list[bool]:
    if arbiter is None or not (arbiter.may_serve or arbiter.degraded):
        return [False]
    return [True] if arbiter.stays and not arbiter.uncertain else [True, False]


def _works(voters: list[_Voter], there: Collection[int], *, tie: bool) -> bool:
    missing = len(voters) - len(there)
    return any(voters[place][1] for place in there) and (len(there) > missing or (tie and len(there) == missing))
