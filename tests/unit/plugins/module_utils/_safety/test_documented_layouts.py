# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Layouts that OceanBase documents, each with what its documents say about the loss of some zones.

The truth is what those pages say of the layout, and not what this code reads in the text of a locality.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.locality import leaders_of, voters_of
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.voters import (
    Arbiter,
    Replica,
    ServerState,
    Tenant,
    outages,
)


@dataclass(frozen=True)
class Layout:
    """A locality, and what the documents say: ``survives`` when ``restarted`` is away and ``down`` was before."""

    source: str
    locality: str
    restarted: str
    survives: bool
    down: str = ""
    arbiter: Arbiter | None = None


LAYOUTS = [
    Layout("Three IDCs in one city: the failure of one IDC is survived without loss", "F@z1,F@z2,F@z3", "z1", True),
    Layout(
        "Paxos: more than half of the full replicas have to agree, so one of three cannot go on",
        "F@z1,F@z2,F@z3", "z1", False, down="z2",
    ),
    Layout(
        "Five IDCs in three regions: the failure of a region with two IDCs is survived",
        "F@z1,F@z2,F@z3,F@z4,F@z5", "z1 z2", True,
    ),
    Layout(
        "Five IDCs in three regions: a third failure is one too many",
        "F@z1,F@z2,F@z3,F@z4,F@z5", "z3", False, down="z1 z2",
    ),
    Layout(
        "Two full replicas and one log-only replica (OceanBase 2 and 3): the log-only one is a member of Paxos",
        "F@z1,F@z2,L@z3", "z1", True,
    ),
    Layout(
        "Two full replicas and one log-only replica: without that one, both full ones are needed",
        "F@z1,F@z2,L@z3", "z1", False, down="z3",
    ),
    Layout(
        "One full replica and two log-only ones: a log-only one has no data, so it cannot become the leader",
        "F@z1,L@z2,L@z3", "z1", False,
    ),
    Layout(
        "Overview of replicas (4.x): a read-only replica is no member of Paxos and takes part in no election",
        "F@z1,F@z2,R@z3", "z1", False,
    ),
    Layout(
        "Overview of replicas (4.x): F{1}@z1,F@z2,R{1}@z3,F@z4,F@z5 has four voters, of which three remain",
        "F{1}@z1,F@z2,R{1}@z3,F@z4,F@z5", "z1", True,
    ),
    Layout(
        "The same: two of four are no majority", "F{1}@z1,F@z2,R{1}@z3,F@z4,F@z5", "z1", False, down="z2",
    ),
    Layout(
        "The same: the read-only zone can go while a full one is down", "F{1}@z1,F@z2,R{1}@z3,F@z4,F@z5", "z3", True,
        down="z1",
    ),
    Layout(
        "Columnstore replicas (4.3.3 and later) are learners, as read-only ones are",
        "F@z1,F@z2,F@z3,C@z4,C@z5", "z1", False, down="z2",
    ),
    Layout("Columnstore replicas: their zones can go at any time", "F@z1,F@z2,F@z3,C@z4", "z4", True, down="z1"),
    Layout("A tenant with one replica is away while its server restarts", "FULL{1}@zone1", "zone1", False),
    Layout("Two full replicas without an arbitration service survive no failure", "F@z1,F@z2", "z1", False),
    Layout(
        "Arbitration service (4.1 and later), 2F1A: when half of the full replicas fail, it lets the others go on",
        "F@z1,F@z2", "z1", True, arbiter=Arbiter(),
    ),
    Layout(
        "2F1A: when the arbitration service has failed, it cannot decide for half of the replicas",
        "F@z1,F@z2", "z1", False, arbiter=Arbiter(may_serve=False, stays=False),
    ),
    Layout(
        "Arbitration service, 4F1A: two of four full replicas are half of them",
        "F@z1,F@z2,F@z3,F@z4", "z2", True, down="z1", arbiter=Arbiter(),
    ),
    Layout(
        "4F1A: a third failure leaves less than half",
        "F@z1,F@z2,F@z3,F@z4", "z3", False, down="z1 z2", arbiter=Arbiter(),
    ),
    Layout(
        "2F1A: the last full replica, for which the arbitration service decides, cannot go",
        "F@z1,F@z2", "z2", False, down="z1", arbiter=Arbiter(),
    ),
    Layout(
        "4F1A with degraded log streams: the two that have failed are no members until they have caught up",
        "F@z1,F@z2,F@z3,F@z4", "z3", False, arbiter=Arbiter(degraded=True),
    ),
    Layout(
        "Enabling the arbitration service: F@z1,F@z2,R@z3 counts as 2F, whatever its read-only replicas",
        "F@z1,F@z2,R@z3", "z2", True, arbiter=Arbiter(),
    ),
    Layout(
        "Restarting an arbitration service: OCP refuses it while log streams are degraded, since those depend on it",
        "F@z1,F@z2", "", False, down="z1", arbiter=Arbiter(taken=True, degraded=True),
    ),
    Layout(
        "Restarting an arbitration service while both replicas are well interrupts nothing",
        "F@z1,F@z2", "", True, arbiter=Arbiter(taken=True),
    ),
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS, ids=[f"{each.source} [{each.restarted or 'A'}]" for each in LAYOUTS])
def test_documented_layout(layout):
    voters = voters_of(layout.locality)
    assert voters is not None
    servers = {
        f"s-{zone}": ServerState(zone, dead=zone in layout.down.split(), taken=zone in layout.restarted.split())
        for zone in voters
    }
    leaders = leaders_of(layout.locality) or {}
    replicas = tuple(Replica(zone, votes, leads=leaders[zone]) for zone, votes in voters.items())
    tenant = Tenant("shop", replicas, layout.arbiter)
    assert (not outages([tenant], servers)) == layout.survives
