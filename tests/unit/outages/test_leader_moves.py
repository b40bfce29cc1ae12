# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A whole rolling restart on the emulator moves the leaders of a tenant with one primary zone at most twice."""

from __future__ import annotations

import json
from functools import partial
from unittest import mock

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.zone_order import ZoneOrder
from ansible_collections.oceanbase.ocp.tests.outages import activities
from ansible_collections.oceanbase.ocp.tests.outages.schedule import Run
from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices
from ansible_collections.oceanbase.ocp.tests.simulation.service import Request
from ansible_collections.oceanbase.ocp.tests.simulation.virtual_time import virtual_time

# Leaders are back at once, or only if no other zone can have them.
BACK_AT_ONCE, NEVER_BACK = 0, 86_400
# The root server is in zone1.
TENANTS = [
    {"name": "sys", "primary_zone": "zone1"},
    {"name": "shop", "primary_zone": "zone2;zone3;zone1"},
    {"name": "cart", "primary_zone": "zone2;zone1;zone3"},
    {"name": "pool", "primary_zone": "RANDOM"},
]


class Rolling(Run):
    """One controller restarts a cluster of three zones; at the end ``moves`` are those of each tenant."""

    size = 1

    def draw_fleet(self, draw):
        zones = [
            {"name": f"zone{zone}", "servers": [{"ip": f"10.1.{zone}.{one}"} for one in range(1, self.size + 1)]}
            for zone in (1, 2, 3)
        ]
        cluster = {"name": "mall", "zones": zones, "tenants": TENANTS}
        return {**super().draw_fleet(draw), "clusters": [cluster], "arbitration_services": []}

    def plan(self, controllers):
        controllers[0].start(1.0, "rolling", [], partial(activities.rolling, controllers[0], "mall", "auto"))
        self.scheduler.at(7_000.0, self._look)

    def _look(self):
        self.restarts = {each["restarts"] for each in self.emulated.call("GET", "/emulator/restarts")["contents"]}
        self.moves = {catch_up: self._moves(catch_up) for catch_up in (BACK_AT_ONCE, NEVER_BACK)}

    def _moves(self, catch_up):
        request = Request("GET", "/emulator/leader-moves", {"catchUpSeconds": str(catch_up)}, {})
        found = json.loads(self.emulated.answer(request, "admin").body)["data"]["contents"]
        return {each["tenantName"]: each["zones"] for each in found}


class Large(Rolling):
    """The same with three servers in a zone, which restart together, but for the root server."""

    size = 3


def rolled(kind=Rolling):
    with virtual_time() as current:
        run = kind(Choices(1))
        run.run(current)
    assert run.restarts == {1}
    assert run.counts["rolling restarts that ended early"] == 0
    return run.moves


@pytest.mark.parametrize("kind", [Rolling, Large])
def test_leaders_with_one_primary_zone_move_at_most_twice(kind):
    moves = rolled(kind)
    assert moves[BACK_AT_ONCE] == {
        "sys": ["zone1", "zone2", "zone1"],
        "shop": ["zone2", "zone3", "zone2"],
        "cart": ["zone2", "zone1", "zone2"],
        # Where zones restart in parts, there is always a server of the zone for the leaders of this one.
        "pool": ["zone1", "zone2", "zone1"] if kind is Rolling else ["zone1"],
    }
    assert moves[NEVER_BACK] == {
        "sys": ["zone1", "zone2", "zone1"],
        "shop": ["zone2", "zone3"] if kind is Rolling else ["zone2", "zone1"],
        "cart": ["zone2", "zone1"],
        "pool": ["zone1", "zone2", "zone1"] if kind is Rolling else ["zone1"],
    }


def test_order_by_the_root_server_alone_moves_them_more_often():
    by_root_server = mock.patch.object(ZoneOrder, "rank", lambda order, zone: zone in order.root_zones)
    with by_root_server:
        moves = rolled()
    assert moves[NEVER_BACK]["shop"] == ["zone2", "zone3", "zone1", "zone2"]
