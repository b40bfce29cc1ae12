# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which tenants a restart would leave without the voters that they need.

A tenant needs more than half of its voters, with an arbitration service half of them. It is an outage if the tenant may
have enough voters before the restart, loses one that may serve, and may have too few after it. So a majority that is
already lost does not count, and a dead server cannot be taken away. See docs/safety.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ServerState:
    """A server of a cluster: ``dead`` is down and nothing brings it back; ``in_flight`` is restarted or moved now.

    ``taken`` would be taken away by the restart. ``zone`` is None if it is not known: it may be any. ``words`` say what
    is shown of a server that is dead or in flight.
    """

    zone: str | None
    dead: bool = False
    in_flight: bool = False
    taken: bool = False
    words: str = ""

    @property
    def may_serve(self) -> bool:
        """Whether it may serve before the restart."""
        return not self.dead

    @property
    def stays(self) -> bool:
        """Whether it serves while the restart runs."""
        return not (self.dead or self.in_flight or self.taken)


@dataclass(frozen=True)
class Arbiter:
    """An arbitration service that a tenant uses: whether it may serve, stays, and would be taken away.

    ``degraded``: a log stream of the tenant has lost half of its replicas already, which the service has made up for.
    """

    may_serve: bool = True
    stays: bool = True
    taken: bool = False
    degraded: bool = False
    words: str = ""

    @property
    def helped(self) -> bool:
        """Whether half of the voters may be enough before the restart."""
        return self.may_serve or self.degraded

    @property
    def helps(self) -> bool:
        """Whether half of the voters are enough while the restart runs."""
        return self.stays and not self.taken and not self.degraded


@dataclass(frozen=True)
class Replica:
    """The replica of a tenant in a zone. ``votes`` is None if its type is not known.

    ``servers`` are the names of those that have a part of it; None if they are not known: it may be any of the zone.
    """

    zone: str
    votes: bool | None = True
    servers: frozenset[str] | None = None


@dataclass(frozen=True)
class Tenant:
    """A tenant of a cluster, or one that ``stands_for_all`` tenants if these cannot be read: a voter in each zone."""

    name: str
    replicas: tuple[Replica, ...]
    arbiter: Arbiter | None = None
    stands_for_all: bool = False


@dataclass(frozen=True)
class Outage:
    """A tenant that a restart would leave without enough voters: how many it has and needs, and the zones of those.

    ``remaining`` are the zones whose voters stay, ``taken`` those whose voters the restart takes away.
    ``others_down`` is what is shown of others that are down or in flight, in words.
    """

    tenant: Tenant
    voters: int
    needed: int
    remaining: tuple[str, ...]
    taken: tuple[str, ...]
    others_down: tuple[str, ...]


@dataclass(frozen=True)
class _Placed:
    """A replica that votes, or may, and what the servers that may have a part of it do."""

    replica: Replica
    may_serve: bool
    may_stay: bool
    stays: bool
    taken: bool


def outages(tenants: Iterable[Tenant], servers: Mapping[str, ServerState]) -> list[Outage]:
    """The outages that the restart of the ``taken`` servers and services would cause; ``servers`` are by name."""
    found = (_outage(tenant, servers) for tenant in tenants)
    return [outage for outage in found if outage is not None]


def _outage(tenant: Tenant, servers: Mapping[str, ServerState]) -> Outage | None:
    placed = [_placed(replica, servers) for replica in tenant.replicas if replica.votes is not False]
    arbiter = tenant.arbiter
    is_taken = any(each.taken for each in placed)
    degraded = arbiter is not None and arbiter.degraded
    is_taken = is_taken or (arbiter is not None and arbiter.taken and (degraded or _half_may_remain(placed)))
    before = [each for each in placed if each.replica.votes or each.may_serve]
    had = _is_enough(sum(each.may_serve for each in before), len(before), arbiter is not None and arbiter.helped)
    after = [each for each in placed if each.replica.votes or not each.stays]
    remaining = [each for each in after if each.stays]
    helps = arbiter is not None and arbiter.helps
    counted = min(len(remaining), len(after) // 2) if degraded else len(remaining)
    if not is_taken or not had or _is_enough(counted, len(after), helps):
        return None
    return Outage(
        tenant,
        voters=len(after),
        needed=(len(after) + 1) // 2 if helps else len(after) // 2 + 1,
        remaining=tuple(each.replica.zone for each in remaining),
        taken=tuple(each.replica.zone for each in after if each.taken),
        others_down=_others_down(after, arbiter, servers),
    )


def _is_enough(there: int, voters: int, half_will_do: bool) -> bool:
    """Whether this many of the voters can elect a leader and commit."""
    return 2 * there > voters or (half_will_do and 2 * there == voters)


def _half_may_remain(placed: Iterable[_Placed]) -> bool:
    """Whether there may be a tie, which an arbitration service is needed for."""
    known = [each for each in placed if each.replica.votes]
    unknown = [each for each in placed if each.replica.votes is None]
    fewest = sum(1 if each.stays else -1 for each in known) - sum(not each.stays for each in unknown)
    most = sum(1 if each.may_stay else -1 for each in known) + sum(each.may_stay for each in unknown)
    return fewest <= 0 <= most and (bool(unknown) or len(known) % 2 == 0)


def _placed(replica: Replica, servers: Mapping[str, ServerState]) -> _Placed:
    states = list(_servers_of(replica, servers).values())
    return _Placed(
        replica,
        may_serve=any(state.may_serve for state in states),
        may_stay=any(state.stays for state in states),
        stays=all(state.stays for state in states),
        taken=any(state.taken for state in states),
    )


def _servers_of(replica: Replica, servers: Mapping[str, ServerState]) -> Mapping[str, ServerState]:
    """The servers that may have a part of a replica. A server that the cluster does not show may or may not serve."""
    hidden = ServerState(replica.zone, in_flight=True, words="no server is shown")
    if replica.servers is not None:
        return {name: servers.get(name, replace(hidden, words=f"{name} is not shown")) for name in replica.servers}
    zone = replica.zone.casefold()
    found = {name: state for name, state in servers.items() if state.zone is None or state.zone.casefold() == zone}
    return found or {"": hidden}


def _others_down(
    after: Iterable[_Placed], arbiter: Arbiter | None, servers: Mapping[str, ServerState]
) -> tuple[str, ...]:
    words = []
    for each in after:
        states = _servers_of(each.replica, servers).values()
        down = [state for state in states if (state.dead or state.in_flight) and not state.taken]
        words += [f"{state.words} in {each.replica.zone}" for state in down]
    words += [arbiter.words] if arbiter is not None and arbiter.words else []
    return tuple(dict.fromkeys(words))
