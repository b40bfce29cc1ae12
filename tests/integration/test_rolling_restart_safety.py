# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which clusters a rolling restart takes by their tenants, and what tenants lose by it: the ledger of the emulator."""

from __future__ import annotations

from itertools import pairwise

import pytest
import yaml
from credentials import BASIC
from rolling import QUICK, message, names, plan, plan_lines, posts, tasks

FULL2 = "FULL{1}@zone1, FULL{1}@zone2"
ZONES2 = [
    {"name": "zone1", "servers": [{"ip": "10.1.0.1"}, {"ip": "10.1.0.2"}]},
    {"name": "zone2", "servers": [{"ip": "10.1.0.3"}, {"ip": "10.1.0.4"}]},
]
ARBITER = {"arbitration_service": "10.1.0.9"}
SINGLE = {"name": "report", "locality": "FULL{1}@zone1", "units": ["10.1.0.2"]}


@pytest.fixture
def fleet(start_emulator, tmp_path):
    """Start an emulator with a cluster called shop."""

    def start(zones, tenants, *options, **more):
        content = {"clusters": [{"name": "shop", "zones": zones, "tenants": tenants, **more}]}
        if "arbitration_service" in more:
            content["arbitration_services"] = [{"ip": more["arbitration_service"]}]
        (tmp_path / "fleet.yml").write_text(yaml.safe_dump(content))
        return start_emulator("--fleet", str(tmp_path / "fleet.yml"), *(options or QUICK))

    return start


def outages(emulator):
    return {outage["tenantName"] for outage in emulator.get("/emulator/outages")["contents"]}


def zones3(servers):
    return [
        {"name": f"zone{zone}", "servers": [{"ip": f"10.1.{zone}.{server}"} for server in range(1, servers + 1)]}
        for zone in (1, 2, 3)
    ]


@pytest.mark.smoke
@pytest.mark.parametrize("batch", [pytest.param(1, marks=pytest.mark.nightly), "auto"])
def test_two_full_replicas_with_an_arbiter_are_rolled(roll, fleet, batch):
    emulator = fleet(ZONES2, [{"name": "cart"}], "--step-seconds", "0.02", **ARBITER)
    outcome = roll(emulator, ["shop"], batch=batch, gate_timeout=60)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(names(emulator).values(), 1)
    assert outages(emulator) == set()
    assert posts(emulator) == [3, 4, 2, 1]


def test_two_full_replicas_without_an_arbiter_are_refused(roll, fleet):
    emulator = fleet(ZONES2, [{"name": "cart"}])
    for check in (True, False):
        outcome = roll(emulator, ["shop"], check=check)
        assert outcome.rc == 2
        for said in [message(outcome), *(["\n".join(plan_lines(outcome))] if check else [])]:
            assert "Tenant sys would lose its majority: 1 of 2 voters would remain (zone1), and it needs 2." in said
            assert "Tenant cart would lose its majority" in said
    assert "Cluster shop (id 1) is not safe to restart: With 10.1.0.3:2882" in message(outcome)
    assert posts(emulator) == []


@pytest.mark.nightly
def test_single_replica_is_refused_and_named_and_rolled_where_it_is_tolerated(roll, fleet):
    emulator = fleet(zones3(2), [{"name": "cart"}, {**SINGLE, "units": ["10.1.1.2"]}])
    refused = roll(emulator, ["shop"])
    assert refused.rc == 2
    assert "With 10.1.1.2:2882 down: Tenant report would lose its majority: 0 of 1 voters" in message(refused)
    assert "-e rolling_restart_tolerate_outage_of=report or ask for -e rolling_restart_safety=none" in message(refused)
    assert (posts(emulator), outages(emulator)) == ([], set())
    others = roll(emulator, ["shop"], zones=["zone2"])
    assert others.rc == 0, others.output
    outcome = roll(emulator, ["shop"], tolerate_outage_of=["report"], batch="auto")
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(names(emulator).values(), 1)
    assert outages(emulator) <= {"report"}


@pytest.mark.nightly
def test_largest_batches_take_a_whole_zone_at_once_and_no_tenant(roll, fleet):
    emulator = fleet(zones3(3), [{"name": "cart"}], "--step-seconds", "0.5")
    outcome = roll(emulator, ["shop"], batch="auto", gate_timeout=60)
    assert outcome.rc == 0, outcome.output
    assert posts(emulator) == [4, 5, 6, 7, 8, 9, 2, 3, 1]
    spans = [(start, finish) for _id, _name, _status, start, finish in tasks(emulator)]
    # The root server is by itself.
    together = [spans[:3], spans[3:6], spans[6:8], spans[8:]]
    for part in together:
        assert max(start for start, _finish in part) < min(finish for _start, finish in part)
    for earlier, later in pairwise(together):
        assert max(finish for _start, finish in earlier) <= min(start for start, _finish in later)
    assert outages(emulator) == set()


@pytest.mark.parametrize("canary", [1, pytest.param(0, marks=pytest.mark.nightly)])
def test_primary_zones_come_last_and_leaders_move_at_most_twice(roll, fleet, canary):
    emulator = fleet(zones3(1), [{"name": name, "primary_zone": "zone2;zone3;zone1"} for name in ("shop", "cart")])
    outcome = roll(emulator, ["shop"], canary=canary, soak=1, gate_timeout=60)
    assert outcome.rc == 0, outcome.output
    # The root server is in zone1, the primary zone of sys.
    assert posts(emulator) == [3, 1, 2]
    batches = plan(outcome)["batches"]
    assert [batch["canary"] for batch in batches] == [bool(canary), False, False]
    assert batches[2]["reason"] == "zone2 comes last, since it is the primary zone of tenants shop and cart"
    for seconds in (0, 86_400):
        moves = emulator.get(f"/emulator/leader-moves?catchUpSeconds={seconds}")["contents"]
        assert max(each["moves"] for each in moves) <= 2
        assert {each["tenantName"] for each in moves} == {"sys", "shop", "cart"}


@pytest.mark.nightly
def test_dead_server_of_a_cluster_without_its_majority_is_restarted_by_itself_but_never_rolled(ansible, roll, fleet):
    emulator = fleet(zones3(1), [{"name": "cart"}])
    for server in (2, 3):
        emulator.put(f"/emulator/servers/{server}", {"available": False})
    rolled = roll(emulator, ["shop"])
    assert rolled.rc == 2
    assert "server 10.1.2.1:2882 of zone2 is UNAVAILABLE" in message(rolled)
    place = {"url": emulator.url, "cluster": "shop", "server": "10.1.2.1:2882", "freeze_server": False, **BASIC}
    refused = ansible.module("server_restart", force=True, require_healthy=True, **place)
    assert "server 10.1.3.1:2882 of zone3 is UNAVAILABLE" in refused["msg"]
    assert posts(emulator) == []
    assert ansible.module("server_restart", force=True, **place)["action"] == "submitted"
    assert posts(emulator) == [2]
