# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The tenants of a fleet: defaults, what a file says, and its errors."""

import pytest
from ocp_emulator.fleet.fleet_file import FleetError, FleetFile
from ocp_emulator.fleet.generate_fleet import generated_fleet
from ocp_emulator.fleet.resolve_fleet import resolve

ZONES = [
    {"name": "zone1", "servers": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]},
    {"name": "zone2", "servers": [{"ip": "10.0.0.3"}, {"ip": "10.0.0.3", "port": 3882}]},
]


def fleet(tenants=None, services=(), **cluster):
    entry = {"name": "orders", "zones": ZONES, **cluster, **({} if tenants is None else {"tenants": tenants})}
    return resolve(FleetFile.model_validate({"clusters": [entry], "arbitration_services": list(services)}))


def units(made, name):
    [tenant] = [each for each in made.tenants if each.name == name]
    return [(unit.zone, unit.server_id) for unit in made.units if unit.tenant_id == tenant.id]


def test_every_cluster_has_sys_and_app_by_default():
    for made in (fleet(), generated_fleet(2, 2, 2)):
        names = [(each.cluster_id, each.name, each.ob_tenant_id) for each in made.tenants]
        assert names[:2] == [(1, "sys", 1), (1, "app", 1002)]
        assert {each.locality for each in made.tenants} == {"FULL{1}@zone1, FULL{1}@zone2"}
        assert {each.primary_zone for each in made.tenants} == {"zone1;zone2"}
        assert {each.arbitration_service_id for each in made.tenants} == {None}
    assert [each.id for each in made.tenants] == [5001, 5002, 5003, 5004]


def test_sys_has_a_unit_in_each_zone_and_other_tenants_on_each_server():
    made = fleet()
    assert units(made, "sys") == [("zone1", 1), ("zone2", 3)]
    assert units(made, "app") == [("zone1", 1), ("zone1", 2), ("zone2", 3), ("zone2", 4)]
    assert [unit.id for unit in made.units] == [1, 2, 3, 4, 5, 6]


def test_a_file_may_say_everything_about_a_tenant():
    made = fleet(
        [
            {
                "id": 77,
                "name": "shop",
                "mode": "ORACLE",
                "locality": "F@zone2,R@zone1",
                "primary_zone": "zone2",
                "status": "MODIFYING",
                "locked": True,
                "readonly": True,
                "units": ["10.0.0.2", "10.0.0.3:3882"],
            }
        ]
    )
    sys, shop = made.tenants
    assert (sys.name, sys.id) == ("sys", 5001)
    assert (shop.id, shop.mode, shop.status, shop.locked, shop.readonly) == (77, "ORACLE", "MODIFYING", True, True)
    assert (shop.locality, shop.primary_zone) == ("F@zone2,R@zone1", "zone2")
    assert [(each.zone, each.type) for each in shop.replicas] == [("zone2", "FULL"), ("zone1", "READONLY")]
    assert units(made, "shop") == [("zone1", 2), ("zone2", 4)]


def test_sys_may_be_described_too_and_be_alone():
    [sys] = fleet([{"name": "sys", "locality": "FULL{1}@zone1"}]).tenants
    assert (sys.locality, sys.ob_tenant_id) == ("FULL{1}@zone1", 1)
    assert [each.name for each in fleet([]).tenants] == ["sys"]


def test_tenants_of_a_cluster_with_an_arbitration_service_have_arbitration():
    services = [{"ip": "10.0.0.8"}, {"ip": "10.0.0.9"}]
    tenants = [{"name": "a"}, {"name": "b", "arbitration": False}]
    made = fleet(tenants, services, arbitration_service="10.0.0.9")
    assert [(each.name, each.arbitration_service_id) for each in made.tenants] == [("sys", 2), ("a", 2), ("b", None)]
    made = fleet([{"name": "a", "arbitration": True}], services)
    assert [(each.name, each.arbitration_service_id) for each in made.tenants] == [("sys", None), ("a", 1)]


@pytest.mark.parametrize(
    ("tenants", "reason"),
    [
        ([{"name": "a"}, {"name": "a"}], "tenant name of cluster orders 'a' occurs twice"),
        ([{"name": "a", "id": 5}, {"name": "b", "id": 5}], "tenants: id 5 occurs twice"),
        ([{"name": "a", "locality": "FULL{1}"}], "tenant a of cluster orders: 'FULL{1}' ends without a zone"),
        ([{"name": "a", "locality": "F@zone9"}], "has replicas in 'zone9'"),
        ([{"name": "a", "units": ["10.0.0.1"]}], "tenant a of cluster orders has no unit in zone2"),
        ([{"name": "a", "units": ["10.0.0.7"]}], "has a unit on '10.0.0.7'"),
        ([{"name": "a", "locality": "F@zone1", "units": ["10.0.0.3"]}], "has a unit on '10.0.0.3'"),
        ([{"name": "a", "arbitration": True}], "there is no arbitration service in the fleet"),
    ],
)
def test_a_tenant_that_does_not_fit_is_refused(tenants, reason):
    with pytest.raises(FleetError) as caught:
        fleet(tenants)
    assert reason in str(caught.value)


def test_an_arbitration_service_that_is_not_there_is_refused():
    with pytest.raises(FleetError, match=r"no arbitration service at 10\.0\.0\.7"):
        fleet(None, [{"ip": "10.0.0.8"}], arbitration_service="10.0.0.7")
