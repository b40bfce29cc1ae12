# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which log streams a restart stops: the truth about a layout, replica by replica, without zones or tenants.

A log stream needs more than half of its members, with an arbitration service half of them, and among these one with the
data, a full replica. When half has failed, the service makes the others the only members: the log stream is degraded,
and the half that has failed takes no part until it has caught up. See "Arbitration service" in OceanBase's documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product


@dataclass(frozen=True)
class Server:
    """A server in truth: whether it is up, and ``moves``: something works on it, so that may change at any moment.

    ``vague``: what is shown of it fits with the opposite of ``up``, too.
    """

    name: str
    up: bool = True
    moves: bool = False
    vague: bool = False


@dataclass(frozen=True)
class Voter:
    """A member of a log stream: its server, and whether it has the data. ``others`` are where it might be instead.

    ``named`` is whether the type of its replica is one that is known.
    """

    server: str
    full: bool = True
    others: tuple[str, ...] = ()
    named: bool = True


@dataclass(frozen=True)
class Arbitration:
    """The arbitration service of a log stream. ``vague``: it does not follow from what is shown."""

    up: bool = True
    moves: bool = False
    taken: bool = False
    vague: bool = False


@dataclass(frozen=True)
class LogStream:
    """A log stream: its members, and those that are degraded, by their places."""

    tenant: str
    voters: tuple[Voter, ...]
    degraded: frozenset[int] = frozenset()
    arbitration: Arbitration | None = None
    # Voters that do not exist, but that would fit with what is shown.
    imagined: tuple[Voter, ...] = ()


def works(stream: LogStream, up: Collection[str], *, arbitrated: bool) -> bool:
    """Whether it has a leader and can commit while these servers are up."""
    members = [voter for place, voter in enumerate(stream.voters) if place not in stream.degraded]
    there = [voter for voter in members if voter.server in up]
    if not any(voter.full for voter in there):
        return False
    if stream.degraded:
        return arbitrated and 2 * len(there) > len(members)
    return 2 * len(there) > len(members) or (arbitrated and 2 * len(there) == len(members))


def is_stopped(stream: LogStream, servers: Mapping[str, Server], taken: Collection[str]) -> bool:
    """Whether the restart stops it, whatever those that move do meanwhile."""
    holders = {voter.server for voter in stream.voters}
    moving = [name for name in holders if servers[name].moves]
    sure = {name for name in holders if servers[name].up and not servers[name].moves}
    service = stream.arbitration
    chances = [False] if service is None else [True, False] if service.moves else [service.up]
    for number in range(len(moving) + 1):
        for back in combinations(moving, number):
            up = sure.union(back)
            for arbitrated in chances:
                after = arbitrated and not (service is not None and service.taken)
                if works(stream, up, arbitrated=arbitrated) and not works(stream, up - set(taken), arbitrated=after):
                    return True
    return False


# What is not known of a layout, each with the log streams and servers that would fit with what is shown.

# The last is no doubt: the rule counts log-only replicas also where no full one is left to lead them.
DOUBTS = (
    "states of servers",
    "place of the replicas",
    "degraded half",
    "types of replicas",
    "arbitration service",
    "log-only replicas",
)


def reason(streams: Sequence[LogStream], servers: Mapping[str, Server], taken: Collection[str]) -> str:
    """Why the restart of a tenant with these log streams, which is safe, cannot be known to be so."""
    for doubt in DOUBTS:
        if _may_be_stopped(streams, servers, taken, [doubt]):
            return doubt
    several = any(_may_be_stopped(streams, servers, taken, doubts) for doubts in (DOUBTS[:-1], DOUBTS))
    return "several of these" if several else "none of these"


def _may_be_stopped(
    streams: Iterable[LogStream], servers: Mapping[str, Server], taken: Collection[str], doubts: Collection[str]
) -> bool:
    if "states of servers" in doubts:
        servers = {name: replace(server, moves=server.moves or server.vague) for name, server in servers.items()}
    return any(is_stopped(each, servers, taken) for stream in streams for each in _variants(stream, doubts))


def _variants(stream: LogStream, doubts: Collection[str]) -> Iterator[LogStream]:
    """The log streams that it might be instead."""
    service = stream.arbitration
    # Where log streams are degraded, the service did work, and it may do so again.
    if "arbitration service" in doubts and service is not None and (service.vague or stream.degraded):
        stream = replace(stream, arbitration=replace(service, moves=True))
    if "log-only replicas" in doubts:
        stream = replace(stream, voters=tuple(replace(voter, full=True) for voter in stream.voters))
    for voters in _types(stream, doubts):
        places = [(voter.server, *(voter.others if "place of the replicas" in doubts else ())) for voter in voters]
        for chosen in product(*places):
            placed = tuple(replace(voter, server=name) for voter, name in zip(voters, chosen, strict=True))
            for half in _halves(stream, len(voters), doubts):
                yield replace(stream, voters=placed, degraded=half)


def _types(stream: LogStream, doubts: Collection[str]) -> Iterator[tuple[Voter, ...]]:
    if "types of replicas" not in doubts:
        yield stream.voters
        return
    known = [voter for voter in stream.voters if voter.named]
    unknown = [voter for voter in (*stream.voters, *stream.imagined) if not voter.named]
    for ways in product((None, True, False), repeat=len(unknown)):
        there = (replace(voter, full=way) for voter, way in zip(unknown, ways, strict=True) if way is not None)
        yield (*known, *there)


def _halves(stream: LogStream, count: int, doubts: Collection[str]) -> Iterable[frozenset[int]]:
    if not stream.degraded or "degraded half" not in doubts:
        return [stream.degraded]
    return map(frozenset, combinations(range(count), count // 2))
