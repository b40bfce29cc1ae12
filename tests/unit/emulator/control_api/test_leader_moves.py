# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control call that counts how often leaders moved."""

import pytest
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

TENANTS = [
    {"name": "shop", "primary_zone": "zone2;zone3"},
    {"name": "pool", "primary_zone": "RANDOM"},
    {"name": "logs", "locality": "LOGONLY{1}@zone1, FULL{1}@zone3, READONLY{1}@zone2", "primary_zone": "zone1"},
]


@pytest.fixture
def shop(start):
    zones = [{"name": f"zone{number}", "servers": [{"ip": f"10.0.0.{number}"}]} for number in (1, 2, 3)]
    cluster = {"name": "mall", "zones": zones, "tenants": TENANTS}
    return start(fleet=resolve(FleetFile.model_validate({"clusters": [cluster]})))


def moves(emulated, **chosen):
    found = emulated.get("/emulator/leader-moves", params=chosen)["contents"]
    return {each["tenantName"]: (each["moves"], each["zones"]) for each in found}


def test_each_tenant_has_its_moves_by_its_primary_zone(shop):
    assert {moved for moved, _zones in moves(shop).values()} == {0}
    for server in (1, 2, 3):
        shop.restart_server(server)
        shop.pass_time(20)
    assert moves(shop) == {
        "sys": (2, ["zone1", "zone2", "zone1"]),
        "shop": (2, ["zone2", "zone3", "zone2"]),
        "pool": (2, ["zone1", "zone2", "zone1"]),
        # Only a full replica can have leaders.
        "logs": (0, ["zone3"]),
    }
    [first] = shop.get("/emulator/leader-moves", params={"tenant": "shop"})["contents"]
    assert (first["clusterName"], first["primaryZone"], first["tenantId"]) == ("mall", "zone2;zone3", 5002)


def test_zones_may_have_to_catch_up_first(shop):
    for server in (2, 3, 1):
        shop.restart_server(server)
        shop.pass_time(20)
    assert moves(shop, tenant="shop") == {"shop": (2, ["zone2", "zone3", "zone2"])}
    assert moves(shop, tenant="shop", catchUpSeconds=30) == {"shop": (3, ["zone2", "zone3", "zone1", "zone2"])}
    assert moves(shop, tenant="shop", catchUpSeconds=86_400)["shop"][0] == 3


def test_moves_are_chosen_by_cluster(emulated):
    emulated.restart_cluster(2)
    emulated.pass_time(60)
    assert moves(emulated, cluster="payments").keys() == {"sys", "app"}
    assert {moved for moved, _zones in moves(emulated, cluster="orders").values()} == {0}
    assert moves(emulated, cluster="nowhere") == {}


@pytest.mark.parametrize("seconds", ["-1", "x", "86401"])
def test_invalid_time_to_catch_up_is_refused(emulated, seconds):
    emulated.error(400, "GET", "/emulator/leader-moves", params={"catchUpSeconds": seconds})
