# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which outages restarts of ours began, by the ledger of the emulator, and whether that was to be seen before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ansible_collections.oceanbase.ocp.tests.outages.emulated import Emulated
from ansible_collections.oceanbase.ocp.tests.outages.wiring import Sent
from ocp_emulator.fleet.voters import TenantVoters
from ocp_emulator.store.tenant_voters import read_tenant_voters

# Kinds: nobody allowed it and what the look showed told of it; the tenant was named; what took part came after the
# look, by other controllers, people or incidents; the tenant was lost already when the request was sent.
CAUSED, TOLERATED, CROSSED, LOST_BEFORE = "caused", "tolerated", "not shown before the request", "lost before"

# Milliseconds.
READ_BEFORE = 1000


@dataclass(frozen=True)
class Found:
    """An outage of a tenant that a restart of ours began."""

    kind: str
    tenant: str
    text: str


def classify(emulated: Emulated, sent: Sequence[Sent], *, shared: bool = False) -> list[Found]:
    """The outages whose first moment is the stop of a server by one of these restarts.

    With ``shared`` each controller knows of all that any of them has sent.
    """
    outages = emulated.call("GET", "/emulator/outages")["contents"]
    ours = {each.task_id: each for each in sent}
    created = {
        row["id"]: row["create_time"] for row in emulated.service.store.db.execute("SELECT id, create_time FROM tasks")
    }
    voters = {tenant.id: tenant for tenant in read_tenant_voters(emulated.service.store.db)}
    found = []
    for outage in outages:
        tip = _tip(outage, ours)
        if tip is not None:
            others = [other for other in outages if other["tenantId"] == outage["tenantId"]]
            kind = _kind(outage, tip, others, _shown_at(tip, ours, created, shared=shared), voters[outage["tenantId"]])
            found.append(Found(kind, outage["tenantName"], _text(outage, tip)))
    return found


def _tip(outage: Mapping[str, Any], ours: Mapping[int, Sent]) -> Sent | None:
    """The restart of ours that took the last voter."""
    last = [each for each in outage["down"] if each["from"] == outage["from"]]
    return next((ours[each["taskId"]] for each in last if each["taskId"] in ours), None)


def _shown_at(
    tip: Sent, ours: Mapping[int, Sent], created: Mapping[int, int], *, shared: bool
) -> Callable[[Mapping[str, Any]], bool]:
    """Whether the look before a request could know of an absence. A controller knows of all that it has sent itself."""

    def shown(absence: Mapping[str, Any]) -> bool:
        number = absence["taskId"]
        own = ours.get(number)
        if own is not None and (shared or own.user == tip.user):
            return own.arrived <= tip.arrived
        # Arbitration services are read right before the look.
        margin = 0 if absence["objectType"] == "OB_SERVER" else READ_BEFORE
        return (_instant(absence["from"]) if number is None else created[number]) < tip.look_began - margin

    return shown


def _kind(
    outage: Mapping[str, Any],
    tip: Sent,
    others: Sequence[Mapping[str, Any]],
    shown: Callable[[Mapping[str, Any]], bool],
    tenant: TenantVoters,
) -> str:
    if outage["tenantName"] in tip.tolerated:
        return TOLERATED
    if any(_lasted_at(other, tip) for other in others):
        return LOST_BEFORE
    began = _instant(outage["from"])
    there = [each for each in outage["down"] if _instant(each["from"]) <= began and not _ended_by(each, began)]
    known = [each for each in there if shown(each)]
    down = {each["id"] for each in known if each["objectType"] == "OB_SERVER"}
    if any(each["objectType"] == "TENANT" for each in known):
        return CAUSED
    spoilt = any(each["objectType"] != "OB_SERVER" for each in known)
    arbitrated = tenant.arbitration_service_id is not None and not spoilt
    return CAUSED if tenant.remaining(down) < tenant.needed(arbitrated=arbitrated) else CROSSED


def _lasted_at(outage: Mapping[str, Any], sent: Sent) -> bool:
    """Whether the tenant had no majority while the look and the request were on their way."""
    return _instant(outage["from"]) <= sent.arrived and not _ended_by(outage, sent.look_began)


def _ended_by(lasting: Mapping[str, Any], instant: int) -> bool:
    return lasting["to"] is not None and _instant(lasting["to"]) <= instant


def _instant(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def _text(outage: Mapping[str, Any], tip: Sent) -> str:
    return " ".join(_words(outage, tip))


def _words(outage: Mapping[str, Any], tip: Sent) -> Iterator[str]:
    yield f"tenant {outage['tenantName']} of {outage['clusterName']} from {outage['from']} on:"
    yield f"{outage['remaining']} of {outage['voters']} remained, {outage['needed']} were needed;"
    yield f"task {tip.task_id} of {tip.user}, look {tip.look_began}, arrived {tip.arrived}; down:"
    for each in outage["down"]:
        yield f"{each['name']} in {each['zoneName']} from {each['from']} by {each['taskId'] or 'an incident'};"
