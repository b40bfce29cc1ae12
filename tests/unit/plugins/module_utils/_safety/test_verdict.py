# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How deep a restart is judged, which outages are tolerated, and whether a wait may help; by a layout of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.verdict import Taken, Verdict, combined, judge
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.voters import (
    Arbiter,
    Replica,
    ServerState,
    Tenant,
    outages,
)

THREE = Tenant("shop", tuple(Replica(f"z{number}") for number in (1, 2, 3)))
TWO = replace(THREE, replicas=THREE.replicas[:2])
# What stands for tenants that cannot be read.
ZONES = replace(TWO, stands_for_all=True)
ELSEWHERE = replace(TWO, replicas=(Replica("z1", servers=frozenset({"other"})), Replica("z2")))
OWN = frozenset({8})


@dataclass
class FakeLayout:
    """Gives these tenants, the arbitration service of each, and their units; notes what is asked."""

    there: list[Tenant]
    arbiter: Arbiter | None = None
    units: dict[str, Tenant] = field(default_factory=dict)
    asked: list[tuple] = field(default_factory=list)

    def tenants(self, _placed):
        return self.there

    def with_arbiters(self, tenants, number, own):
        self.asked.append(("arbiters", number, own, *(tenant.name for tenant in tenants)))
        return [replace(tenant, arbiter=self.arbiter) for tenant in tenants]

    def with_units(self, tenants, _placed):
        self.asked.append(("units", *(tenant.name for tenant in tenants)))
        return [self.units.get(tenant.name, tenant) for tenant in tenants]


def servers(**changed):
    """A server in each of three zones, the first of which is taken, and one in a zone of no tenant."""
    there = {"a": {"taken": True}, "b": {}, "c": {}, "other": {}}
    return {
        name: ServerState(f"z{number}", **{**of, **changed.get(name, {})})
        for number, (name, of) in enumerate(there.items(), 1)
    }


def judged(layout, tolerated=(), *, arbiter=None, **changed):
    return judge(layout, Taken([], servers(**changed), arbiter, OWN), frozenset(tolerated))


def names(found):
    return [outage.tenant.name for outage in found]


ASKS = ("arbiters", None, OWN, "shop")


@pytest.mark.parametrize(
    ("layout", "refused", "evidence", "asked"),
    [
        pytest.param(FakeLayout([THREE]), [], "tenants", [], id="its zones leave enough"),
        pytest.param(FakeLayout([TWO]), ["shop"], "units", [ASKS, ("units", "shop")], id="they do not, nor its units"),
        pytest.param(FakeLayout([TWO], Arbiter()), [], "tenants", [ASKS], id="its arbitration service helps"),
        pytest.param(
            FakeLayout([TWO], units={"shop": ELSEWHERE}),
            [],
            "units",
            [ASKS, ("units", "shop")],
            id="its units are elsewhere",
        ),
        pytest.param(FakeLayout([ZONES]), ["shop"], "zones", [ASKS], id="units of what stands for all are not read"),
        pytest.param(
            FakeLayout([ZONES, replace(TWO, name="other")]),
            ["shop", "other"],
            "units",
            [("arbiters", None, OWN, "shop", "other"), ("units", "shop", "other")],
            id="some can be read",
        ),
        pytest.param(
            FakeLayout([replace(THREE, name="large"), TWO], Arbiter()),
            [],
            "tenants",
            [ASKS],
            id="only of what needs it",
        ),
    ],
)
def test_it_is_read_only_as_deep_as_that_decides(layout, refused, evidence, asked):
    found = judged(layout)
    assert (names(found.refused), found.evidence, layout.asked) == (refused, evidence, asked)
    assert found.tenants == [tenant.name for tenant in layout.there if not tenant.stands_for_all]


def test_by_zones_alone_nothing_more_is_read():
    layout = FakeLayout([TWO], Arbiter())
    found = judge(layout, Taken([], servers()), (), deeper=False)
    assert (names(found.refused), found.evidence, layout.asked) == (["shop"], "tenants", [])
    assert names(judge(layout, Taken([], servers(a={"taken": False})), (), deeper=False).refused) == []


def test_tenants_are_judged_with_an_arbitration_service_that_is_taken():
    layout = FakeLayout([TWO, THREE], Arbiter(taken=True))
    found = judged(layout, arbiter=0, a={"taken": False}, b={"dead": True})
    assert layout.asked[0] == ("arbiters", 0, OWN, "shop", "shop")
    assert names(found.refused) == ["shop"]


def test_tolerated_tenant_is_an_outage_that_refuses_nothing_and_is_not_read_further():
    layout = FakeLayout([TWO, THREE])
    found = judged(layout, ["shop", "unknown"])
    assert (names(found.found), found.refused, layout.asked) == (["shop"], [], [])
    assert [outage["tolerated"] for outage in found.result()["outages"]] == [True]


def test_what_stands_for_all_tenants_is_not_tolerated_by_its_name():
    found = judged(FakeLayout([ZONES]), ["shop"])
    assert names(found.refused) == ["shop"]
    assert found.result() == {
        "evidence": "zones",
        "tenants": [],
        "outages": [
            {
                "tenant": None,
                "voters": 2,
                "needed": 2,
                "remaining_zones": ["z2"],
                "restarted_zones": ["z1"],
                "others_down": [],
                "tolerated": False,
            }
        ],
    }


@pytest.mark.parametrize(
    ("layout", "changed", "refuses", "passes"),
    [
        pytest.param(FakeLayout([THREE]), {}, False, True, id="nothing is lost"),
        pytest.param(FakeLayout([TWO]), {}, True, False, id="it has no more voters"),
        pytest.param(FakeLayout([THREE]), {"b": {"in_flight": True}}, True, True, id="another one restarts"),
        pytest.param(FakeLayout([THREE]), {"b": {"unclear": True}}, True, True, id="another one may serve or not"),
        pytest.param(FakeLayout([THREE]), {"b": {"dead": True}}, True, True, id="another one is dead"),
        pytest.param(FakeLayout([TWO], Arbiter(stays=False)), {}, True, True, id="its arbitration service restarts"),
        pytest.param(FakeLayout([TWO], Arbiter(degraded=True)), {}, True, True, id="it is degraded"),
        pytest.param(
            FakeLayout([TWO], Arbiter(may_serve=False, stays=False, words="down")), {}, True, True, id="it is down"
        ),
    ],
)
def test_wait_may_help_where_enough_would_remain_if_all_else_were_up(layout, changed, refuses, passes):
    found = judged(layout, **changed)
    assert (bool(found.refused), found.passes) == (refuses, passes)


def test_verdicts_of_several_clusters_are_one():
    [lost] = outages([TWO], servers())
    refuses = Verdict("units", ["shop"], [lost], passes=False)
    waits = Verdict("tenants", ["other"], [lost], passes=True)
    fine = Verdict("tenants", ["more"], [], {"tolerated"}, passes=False)
    found = combined([refuses, waits, fine])
    assert (found.evidence, found.tenants, found.tolerated) == (
        "units, tenants",
        ["shop", "other", "more"],
        {"tolerated"},
    )
    assert (len(found.found), found.passes, combined([waits, fine]).passes) == (2, False, True)
    assert combined([]).result() == {"evidence": None, "tenants": [], "outages": []}
