# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a restart is safe for the tenants of a cluster, and how much is read to decide it; words and facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._base.cli_hints import Hints, waiting, ways_on
from .._base.text import join_names
from .._targets.target import PlacedServer
from .layout import DEGRADED, Layout
from .voters import UNKNOWN_ARBITER, Outage, ServerState, Tenant, asks_for_arbiter, outages

Facts = dict[str, Any]


@dataclass(frozen=True)
class Taken:
    """What a restart takes away: servers by their ``states``, or an arbitration service.

    ``own_arbiters`` are services that this controller restarts already.
    """

    placed: Sequence[PlacedServer]
    states: Mapping[str, ServerState]
    arbiter: int | None = None
    own_arbiters: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Verdict:
    """What was looked at, and the outages that the restart would cause.

    ``evidence`` is zones, tenants (by their zones) or units. ``tolerated`` are names of tenants that may be lost.
    ``passes``: whether it may become safe when others are up again.
    """

    evidence: str
    tenants: Sequence[str]
    found: Sequence[Outage]
    tolerated: Collection[str] = ()
    passes: bool = False

    @property
    def refused(self) -> list[Outage]:
        """The outages that are not tolerated."""
        return [outage for outage in self.found if not _is_tolerated(outage.tenant, self.tolerated)]

    def result(self) -> Facts:
        """As registered facts."""
        return {
            "evidence": self.evidence or None,
            "tenants": list(self.tenants),
            "outages": [_facts(outage, self.tolerated) for outage in self.found],
        }


def judge(layout: Layout, taken: Taken, tolerated: Collection[str], *, deeper: bool = True) -> Verdict:
    """Judge by the zones of the tenants, where these leave few by arbitration services too; if that refuses, by units.

    Without ``deeper``, only by their zones. Raises a ServiceError if they cannot be read for now.
    """
    tenants = layout.tenants(taken.placed)
    evidence = "tenants" if any(not tenant.stands_for_all for tenant in tenants) else "zones"
    lost = _lost(_arbitrated(layout, tenants, taken, tolerated, deeper=deeper), taken, tolerated)
    if deeper and lost and any(not tenant.stands_for_all for tenant in lost):
        lost = _lost(layout.with_units(lost, taken.placed), taken, tolerated)
        evidence = "units"
    tolerable = [tenant for tenant in tenants if _is_tolerated(tenant, tolerated)]
    found = outages([*lost, *tolerable], taken.states)
    names = [tenant.name for tenant in tenants if not tenant.stands_for_all]
    passes = not outages(map(_all_well, lost), _all_up(taken.states))
    return Verdict(evidence, names, found, tolerated, passes)


def stopped_arbiters(refused: Sequence[Outage]) -> list[str]:
    """The addresses of the arbitration services that are stopped, of tenants that would be lost."""
    arbiters = (outage.tenant.arbiter for outage in refused)
    return list(dict.fromkeys(arbiter.stopped for arbiter in arbiters if arbiter is not None and arbiter.stopped))


def combined(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdicts about several clusters as one; without any nothing is lost, and there is no evidence."""
    return Verdict(
        join_names(dict.fromkeys(verdict.evidence for verdict in verdicts)),
        [name for verdict in verdicts for name in verdict.tenants],
        [outage for verdict in verdicts for outage in verdict.found],
        {name for verdict in verdicts for name in verdict.tolerated},
        all(verdict.passes for verdict in verdicts if verdict.refused),
    )


def _arbitrated(
    layout: Layout, tenants: Sequence[Tenant], taken: Taken, tolerated: Collection[str], *, deeper: bool
) -> list[Tenant]:
    """The tenants, those that need it with their arbitration service; what is not read may help before a restart."""
    if taken.arbiter is not None:
        return layout.with_arbiters(tenants, taken.arbiter, taken.own_arbiters)
    asking = [
        tenant for tenant in tenants if not _is_tolerated(tenant, tolerated) and asks_for_arbiter(tenant, taken.states)
    ]
    if not asking:
        return list(tenants)
    arbitrated = (
        layout.with_arbiters(asking, None, taken.own_arbiters)
        if deeper
        else [replace(tenant, arbiter=UNKNOWN_ARBITER) for tenant in asking]
    )
    found = dict(zip(asking, arbitrated, strict=True))
    return [found.get(tenant, tenant) for tenant in tenants]


def _lost(tenants: Sequence[Tenant], taken: Taken, tolerated: Collection[str]) -> list[Tenant]:
    found = [outage.tenant for outage in outages(tenants, taken.states)]
    return [tenant for tenant in found if not _is_tolerated(tenant, tolerated)]


def _is_tolerated(tenant: Tenant, tolerated: Collection[str]) -> bool:
    return not tenant.stands_for_all and tenant.name in tolerated


def _all_up(states: Mapping[str, ServerState]) -> dict[str, ServerState]:
    """The same when nothing else is down or in flight."""
    return {name: replace(state, dead=False, in_flight=False, unclear=False) for name, state in states.items()}


def _all_well(tenant: Tenant) -> Tenant:
    """The same if its arbitration service works."""
    well = tenant.arbiter and replace(tenant.arbiter, may_serve=True, stays=True, degraded=False, words="")
    return replace(tenant, arbiter=well)


def refusal_words(refused: Sequence[Outage]) -> str:
    """Which tenants would be lost, what remains of them, and who else is down, as one sentence for each."""
    return " ".join(f"{_outage_words(outage)}." for outage in refused[:3]) + (
        f" So would {join_names(outage.tenant.name for outage in refused[3:])}." if len(refused) > 3 else ""
    )


# Documents of OCP restart the only replica of a tenant, those of the database refuse to stop it: see
# docs/dev/contract.md, "Stop of a server by the database".
MAY_FAIL = "The database may refuse a stop that takes a tenant away (-4179); its task then FAILS and holds the server."


def allowing_options(refused: Sequence[Outage], tolerated: Collection[str], hints: Hints) -> str:
    """The options that would allow these outages beside those ``tolerated``, as the caller gives them, as sentences."""
    return _with_risk(refused, ways_on(*_allowing(refused, tolerated, hints)))


def ways_out(verdict: Verdict, hints: Hints, timeout: float, *, stoppable: bool) -> str:
    """How to go on, as sentences. ``timeout`` is how many seconds a gate waits.

    Unless the servers are ``stoppable``, nothing is allowed that the database would refuse.
    """
    wait = [waiting("the others are up again", hints, timeout)] if verdict.passes else []
    if not stoppable:
        return ways_on(*wait)
    return _with_risk(verdict.refused, ways_on(*wait, *_allowing(verdict.refused, verdict.tolerated, hints)))


def _with_risk(refused: Sequence[Outage], ways: str) -> str:
    return f"{MAY_FAIL} {ways}" if ways and any(outage.taken for outage in refused) else ways


def _allowing(refused: Sequence[Outage], tolerated: Collection[str], hints: Hints) -> Iterator[str]:
    names = [outage.tenant.name for outage in refused if not outage.tenant.stands_for_all]
    is_named = bool(names) and len(names) == len(refused)
    if is_named and (option := hints.given("tolerate_outage_of", ",".join([*sorted(tolerated), *names]))):
        yield f"allow it with {option}"
    if unchecked := hints.given("safety", "none"):
        yield f"ask for {unchecked}"


def _outage_words(outage: Outage) -> str:
    tenant, there = outage.tenant, len(outage.remaining)
    whom = "The cluster" if tenant.stands_for_all else f"Tenant {tenant.name}"
    what = "zones" if tenant.stands_for_all else "voters"
    remaining = f"{there} of {outage.voters} {what} would remain" + (
        f" ({join_names(outage.remaining)})" if outage.remaining else ""
    )
    others = outage.others_down
    if DEGRADED in others and there >= outage.needed:
        others = tuple(words for words in others if words != DEGRADED)
        remaining = f"at most {outage.voters // 2} of {outage.voters} {what} count, since log streams are degraded"
    down = f"; also, {join_names(others)}" if others else ""
    if outage.may_serve:
        down += f"; {join_names(outage.may_serve)}, so it may serve"
    if outage.leaderless:
        return f"{whom} would be without a leader: {remaining}, none of which is a full replica{down}"
    return f"{whom} would lose its majority: {remaining}, and it needs {outage.needed}{down}"


def _facts(outage: Outage, tolerated: Collection[str]) -> Facts:
    return {
        "tenant": None if outage.tenant.stands_for_all else outage.tenant.name,
        "voters": outage.voters,
        "needed": outage.needed,
        "remaining_zones": list(outage.remaining),
        "restarted_zones": list(outage.taken),
        "others_down": list(outage.others_down),
        "tolerated": _is_tolerated(outage.tenant, tolerated),
    }
