# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which tenants a restart would leave without the voters that they need.

A tenant needs more than half of its voters, with an arbitration service half of them, and one of those that can lead.
The worst case counts both ways: what may serve (``may_serve``) counts before the restart and when it is taken away, and
only what serves for sure and is not taken (``stays``) counts after it. It is an outage if the tenant may have enough
before, loses something that may have mattered, and may have too few after. So a majority that is lost for sure does not
count, and a dead server cannot be taken away. See docs/safety-reference.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .._base.parsing import Record


@dataclass(frozen=True)
class ServerState:
    """A server of a cluster: ``dead`` is down and nothing brings it back; ``in_flight`` is restarted or moved now.

    ``unclear``: what is shown of it does not agree, so it may serve or not. ``taken`` would be taken away by the
    restart. ``zone`` is None if it is not known: it may be any. ``words`` say what is shown of a server that is not up.
    ``holder`` is the record of the FAILED task that holds it. ``is_left``: it is in flight only since a restart of this
    controller may just have left it as it is.
    """

    zone: str | None
    dead: bool = False
    in_flight: bool = False
    taken: bool = False
    words: str = ""
    unclear: bool = False
    holder: Record | None = field(default=None, compare=False)
    is_left: bool = field(default=False, compare=False)

    @property
    def may_serve(self) -> bool:
        """Whether it may serve before the restart."""
        return not self.dead

    @property
    def is_up(self) -> bool:
        """Whether it serves for sure before the restart."""
        return not (self.dead or self.in_flight or self.unclear)

    @property
    def stays(self) -> bool:
        """Whether it serves for sure while the restart runs."""
        return self.is_up and not self.taken


@dataclass(frozen=True)
class Arbiter:
    """An arbitration service that a tenant uses: whether it may serve, stays, and would be taken away.

    ``degraded``: a log stream of the tenant has lost half of its replicas already, which the service has made up for;
    they count as down until they have caught up. ``uncertain``: whether the tenant uses it at all is not known.
    ``stopped`` is the address of one that is stopped and that nothing starts.
    """

    may_serve: bool = True
    stays: bool = True
    taken: bool = False
    degraded: bool = False
    words: str = ""
    uncertain: bool = False
    stopped: str = ""

    @property
    def helped(self) -> bool:
        """Whether half of the voters may be enough before the restart."""
        return self.may_serve or self.degraded

    @property
    def helps(self) -> bool:
        """Whether half of the voters are enough while the restart runs."""
        return self.stays and not (self.taken or self.degraded or self.uncertain)


# That of tenants whose arbitration services are not known.
UNKNOWN_ARBITER = Arbiter(stays=False, uncertain=True)


@dataclass(frozen=True)
class Replica:
    """The replica of a tenant in a zone: whether it ``votes`` and can lead; None if its type is not known.

    ``servers`` are the names of those that have a part of it; None if they are not known: it may be any of the zone.
    """

    zone: str
    votes: bool | None = True
    servers: frozenset[str] | None = None
    leads: bool | None = True


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
    ``others_down`` is what is shown of others that are not up, in words, ``may_serve`` what is shown of those that the
    restart takes away and that may not serve. ``leaderless``: enough would remain, but none of them can lead.
    """

    tenant: Tenant
    voters: int
    needed: int
    remaining: tuple[str, ...]
    taken: tuple[str, ...]
    others_down: tuple[str, ...]
    may_serve: tuple[str, ...] = ()
    leaderless: bool = False


@dataclass(frozen=True)
class _Placed:
    """A replica that votes, or may, and what the servers that may have a part of it do."""

    replica: Replica
    may_serve: bool
    stays: bool
    taken: bool


def outages(tenants: Iterable[Tenant], servers: Mapping[str, ServerState]) -> list[Outage]:
    """The outages that the restart of the ``taken`` servers and services would cause; ``servers`` are by name."""
    found = (_outage(tenant, servers) for tenant in tenants)
    return [outage for outage in found if outage is not None]


def asks_for_arbiter(tenant: Tenant, servers: Mapping[str, ServerState]) -> bool:
    """Whether half of its voters or fewer would remain, so that an arbitration service matters.

    Half of an even number may be degraded, and count as down then, whatever their servers show.
    """
    placed = _voters(tenant, servers)
    after = _counted_after(placed)
    may_be_even = len(after) % 2 == 0 or any(each.replica.votes is None for each in placed)
    few = 2 * sum(each.stays for each in after) <= len(after)
    return any(each.taken for each in placed) and (few or may_be_even)


def has_lost_majority(tenant: Tenant, servers: Mapping[str, ServerState]) -> bool:
    """Whether it has lost its majority for sure, even if an arbitration service helps it."""
    placed = _voters(tenant, servers)
    return any(each.replica.votes for each in placed) and not _serves_before(placed, UNKNOWN_ARBITER)


def _outage(tenant: Tenant, servers: Mapping[str, ServerState]) -> Outage | None:
    placed, arbiter = _voters(tenant, servers), tenant.arbiter
    if not _serves_before(placed, arbiter):
        return None
    after = _counted_after(placed)
    remaining = [each for each in after if each.stays]
    helps = arbiter is not None and arbiter.helps
    is_degraded = arbiter is not None and arbiter.degraded
    votes_lost = is_degraded or not _is_enough(len(remaining), len(after), helps)
    leaderless = not any(each.replica.leads for each in remaining)
    if not (votes_lost and _takes_vote(placed, arbiter)) and not (leaderless and _takes_leader(placed)):
        return None
    return Outage(
        tenant,
        voters=len(after),
        needed=(len(after) + 1) // 2 if helps else len(after) // 2 + 1,
        remaining=tuple(each.replica.zone for each in remaining),
        taken=tuple(each.replica.zone for each in after if each.taken),
        others_down=_others_down(after, arbiter, servers),
        may_serve=tuple(dict.fromkeys(state.words for state in servers.values() if state.unclear and state.taken)),
        leaderless=not votes_lost,
    )


def _voters(tenant: Tenant, servers: Mapping[str, ServerState]) -> list[_Placed]:
    """The replicas that vote, or may."""
    return [_placed(replica, servers) for replica in tenant.replicas if replica.votes is not False]


def _serves_before(placed: Sequence[_Placed], arbiter: Arbiter | None) -> bool:
    """Whether the tenant may have what it needs before the restart."""
    counted = [each for each in placed if each.replica.votes or each.may_serve]
    there = [each for each in counted if each.may_serve]
    helped = arbiter is not None and arbiter.helped
    return _is_enough(len(there), len(counted), helped) and any(each.replica.leads is not False for each in there)


def _counted_after(placed: Iterable[_Placed]) -> list[_Placed]:
    """The voters that count after the restart: what may be none counts if it is missing."""
    return [each for each in placed if each.replica.votes or not each.stays]


def _takes_vote(placed: Sequence[_Placed], arbiter: Arbiter | None) -> bool:
    """Whether the restart takes away a voter, or an arbitration service that may be needed."""
    is_needed = arbiter is not None and arbiter.taken and (arbiter.degraded or _may_tie(placed))
    return is_needed or any(each.taken for each in placed)


def _takes_leader(placed: Iterable[_Placed]) -> bool:
    return any(each.taken and each.replica.leads is not False for each in placed)


def _is_enough(there: int, voters: int, half_will_do: bool) -> bool:
    """Whether this many of the voters can elect a leader and commit."""
    return 2 * there > voters or (half_will_do and 2 * there == voters)


def _may_tie(placed: Sequence[_Placed]) -> bool:
    """Whether exactly half of the voters may be there now or soon, which an arbitration service is needed for."""
    known = [each for each in placed if each.replica.votes]
    unknown = [each for each in placed if each.replica.votes is None]
    fewest = sum(1 if each.stays else -1 for each in known) - sum(not each.stays for each in unknown)
    most = sum(1 if each.may_serve else -1 for each in known) + sum(each.may_serve for each in unknown)
    may_miss = len(placed) > 1 and any(not each.stays for each in placed)
    return may_miss and fewest <= 0 <= most and (bool(unknown) or len(known) % 2 == 0)


def _placed(replica: Replica, servers: Mapping[str, ServerState]) -> _Placed:
    states = list(_servers_of(replica, servers).values())
    return _Placed(
        replica,
        may_serve=any(state.may_serve for state in states),
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
        down = [state for state in states if not (state.is_up or state.taken)]
        words += [f"{state.words} in {each.replica.zone}" for state in down]
    words += [arbiter.words] if arbiter is not None and arbiter.words else []
    return tuple(dict.fromkeys(words))
