# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""For which of the states that OCP shows the database refuses to stop a server, which is a step of its restart.

See docs/dev/contract.md, "Stop of a server by the database". A state that is not shown, or not known, is none of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from .._base.cli_hints import Hints, waiting, ways_on
from .._base.parsing import Record
from .._base.service_clock import HOST_UNCERTAINTY
from .._base.text import in_seconds, join_names
from .._targets.serving import INACTIVE, ZONE_STOPPED, is_stopped
from .._targets.target import PlacedServer
from .._waiting.stop_refusals import MOST_LAG, Code
from .layout import Layout, by_locality
from .voters import UNKNOWN_ARBITER, Outage, ServerState, Tenant, has_lost_majority, outages

NORMAL = "NORMAL"
CHANGING = frozenset({"CREATING", "MODIFYING", "DELETING"})
# An arbitration service stands in for a voter of a tenant that has so many, and of no other.
ARBITRATED_VOTERS = 2
# More would hide the first ones.
MOST_NAMED = 5


@dataclass(frozen=True)
class Obstacle:
    """A state for which the database refuses, in words. ``locked`` is the tenant that is locked, if that is it."""

    text: str
    locked: str = ""

    @property
    def passes(self) -> bool:
        """Whether a wait may end it."""
        return not self.locked


def obstacles(
    placed: Sequence[PlacedServer],
    states: Mapping[str, ServerState],
    records: Iterable[Record],
    tolerated: Collection[str],
    lag: float | None = None,
) -> list[Obstacle]:
    """The obstacles to a stop of the servers that are taken away; none if these are down or stopped already.

    ``records`` are those of the tenants. ``lag`` is how many seconds replicas of the cluster lag, if that counts.
    """
    taken = _to_stop(placed, states)
    if not taken:
        return []
    counted = [one for one in records if one.get("name") not in tolerated]
    found = [
        *_stopped_elsewhere(placed, states, {server.zone for server in taken}),
        *_of_records(counted),
        *(
            Obstacle(_coded(f"tenant {one.name} has lost its majority and so its leader", Code.NOT_ALLOWED))
            for one in map(by_locality, counted)
            if has_lost_majority(one, states)
        ),
        *_lagging(lag),
    ]
    return list(dict.fromkeys(found))


def unaided(
    layout: Layout, placed: Sequence[PlacedServer], states: Mapping[str, ServerState], tolerated: Collection[str]
) -> list[Obstacle]:
    """The obstacles by tenants that only an arbitration service would leave enough voters, which does not count.

    Where their zones alone show some, it reads their units. Raises a ServiceError.
    """
    if not _to_stop(placed, states):
        return []
    tenants = [one for one in map(by_locality, layout.read()) if one.name not in tolerated]
    lost = _lost_unaided(tenants, states)
    if lost:
        lost = _lost_unaided(layout.with_units([outage.tenant for outage in lost], placed), states)
    return [Obstacle(_coded(_unaided_words(outage), Code.NOT_ALLOWED)) for outage in lost]


def _unaided_words(outage: Outage) -> str:
    return (
        f"tenant {outage.tenant.name} would keep {len(outage.remaining)} of {outage.voters} voters, which is no "
        f"majority, and the database counts an arbitration service for {ARBITRATED_VOTERS} voters only"
    )


def _lost_unaided(tenants: Iterable[Tenant], states: Mapping[str, ServerState]) -> list[Outage]:
    """The outages if an arbitration service helps before the stop, but not after it."""
    found = outages((replace(one, arbiter=UNKNOWN_ARBITER) for one in tenants), states)
    return [outage for outage in found if outage.voters > ARBITRATED_VOTERS and not outage.leaderless]


def lag_counts(placed: Sequence[PlacedServer], states: Mapping[str, ServerState]) -> bool:
    """Whether it matters how far replicas lag. While a server restarts, its replicas do."""
    return bool(_to_stop(placed, states)) and not any(state.in_flight for state in states.values())


def status_doubts(records: Iterable[Record], tolerated: Collection[str]) -> list[str]:
    """A warning for each tenant with a status that is not known."""
    shown = ((one.get("name"), one.get("status")) for one in records if one.get("name") not in tolerated)
    return [
        f"Tenant {name} has the status {status}, which is not known. If it is changed now, the database may refuse to "
        "stop a server."
        for name, status in shown
        if status is not None and status.upper() not in {NORMAL, *CHANGING}
    ]


def obstacle_words(found: Sequence[Obstacle]) -> str:
    """The obstacles as a part of a sentence."""
    more = len(found) - MOST_NAMED
    return "; ".join(one.text for one in found[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def ways_past(found: Sequence[Obstacle], tolerated: Collection[str], hints: Hints, timeout: float) -> str:
    """How to go on, as a sentence, with the options as the caller gives them.

    ``tolerated`` are the tenants that are left out already, ``timeout`` is how many seconds a gate waits. Without
    safety a restart would fail at its stop, and hold the server: that is proposed only where nothing but a lock speaks
    against it, which ``STOP SERVER`` is not known to mind.
    """
    locked = [obstacle.locked for obstacle in found if obstacle.locked]
    if not locked:
        return ways_on(waiting("that has ended", hints, timeout))
    left_out = hints.given("tolerate_outage_of", ",".join([*sorted(tolerated), *locked]))
    unchecked = hints.given("safety", "none") if len(locked) == len(found) else ""
    return ways_on(
        f"unlock tenant {join_names(locked)}",
        f"leave it out with {left_out}" if left_out else "",
        f"ask for {unchecked}" if unchecked else "",
    )


def _to_stop(placed: Iterable[PlacedServer], states: Mapping[str, ServerState]) -> list[PlacedServer]:
    """The servers that are taken away; empty if all of them are down or stopped already."""
    taken = [server for server in placed if states[server.member.name].taken]
    return [] if all(_is_stopped(server) for server in taken) else taken


def _lagging(lag: float | None) -> Iterator[Obstacle]:
    if lag is not None and lag > MOST_LAG:
        words = f"replicas lag {in_seconds(lag)} behind, more than {MOST_LAG}"
        yield Obstacle(_coded(words, Code.NOT_ALLOWED))


def _stopped_elsewhere(
    placed: Iterable[PlacedServer], states: Mapping[str, ServerState], own: Collection[str | None]
) -> Iterator[Obstacle]:
    """What is stopped in other zones, or is being restarted there; a zone that is not known may be the same one."""
    if None in own:
        return
    for server in placed:
        zone, state = server.zone, states[server.member.name]
        if zone is None or zone in own:
            continue
        words = _zone_words(server)
        if words is None and (state.in_flight or _is_stopped(server)):
            words = f"{state.words or server.member.state} in {zone}"
            if not state.in_flight and not is_stopped(server.member.status):
                words += f" and was stopped at {server.stopped_at}"
        if words is not None:
            yield Obstacle(_coded(words, Code.OTHER_ZONE_STOPPED))


def _zone_words(server: PlacedServer) -> str | None:
    """As in ``zone zone2 is STOPPED``; None if the zone is not stopped."""
    status, inner = server.zone_status, server.zone_inner_status
    if str(status).upper() not in ZONE_STOPPED and str(inner).upper() != INACTIVE:
        return None
    return f"zone {server.zone} is {' and '.join(word for word in (status, inner) if word)}"


def _is_stopped(server: PlacedServer) -> bool:
    """Whether it is stopped in the database. A stop before its last start has ended; each has the clock of a host."""
    started, stopped = server.member.started, server.stopped_at
    if started is None or stopped is None:
        return is_stopped(server.member.status)
    return is_stopped(server.member.status) or stopped - started > timedelta(seconds=HOST_UNCERTAINTY)


def _of_records(records: Iterable[Record]) -> Iterator[Obstacle]:
    for one in records:
        if str(one.get("status")).upper() in CHANGING:
            yield Obstacle(_coded(f"tenant {one.get('name')} is {one.get('status')}", Code.NOT_ALLOWED))
        if one.get("locked") is True:
            yield Obstacle(f"tenant {one.get('name')} is locked", locked=str(one.get("name")))


def _coded(words: str, code: Code) -> str:
    return f"{words} ({code.value})"
