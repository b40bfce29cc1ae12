# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What reads of tenants and their units show."""

import pytest
from ocp_emulator.base.compatibility import PROFILES, Switches
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

# Names and types as the documented responses have them.
UNIT = {
    "id": int,
    "resourcePoolId": int,
    "serverId": int,
    "serverIp": str,
    "serverPort": int,
    "status": str,
    "zoneName": str,
}
LISTED = {
    "clusterId": int,
    "clusterName": str,
    "clusterType": str,
    "createTime": str,
    "id": int,
    "locality": str,
    "locked": bool,
    "mode": str,
    "name": str,
    "obClusterId": int,
    "obVersion": str,
    "primaryZone": str,
    "readonly": bool,
    "status": str,
    "zoneList": str,
}
CONFIG = {"maxCpuCoreCount": float, "maxMemorySize": int, "minCpuCoreCount": float, "minMemorySize": int}
DETAIL = {
    **LISTED,
    "charset": str,
    "clusterStatus": str,
    "collation": str,
    "obTenantId": int,
    "sqlAuditEnabled": bool,
    "whitelist": str,
    "zones": [
        {
            "name": str,
            "replicaType": str,
            "resourcePool": {"id": int, "name": str, "unitConfig": CONFIG, "unitCount": int},
            "units": [UNIT],
        }
    ],
}


def form(value):
    if isinstance(value, dict):
        return {key: form(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [form(value[0])]
    return type(value)


@pytest.fixture
def mixed(start):
    zones = [{"name": f"zone{number}", "servers": [{"ip": f"10.0.0.{number}"}]} for number in (1, 2, 3)]
    tenants = [
        {"name": "shop", "locality": "FULL{1},READONLY{1}@zone1, LOGONLY{1}@zone2", "primary_zone": "zone1,zone2"},
        {"name": "ledger", "mode": "ORACLE", "locked": True, "units": ["10.0.0.1", "10.0.0.2", "10.0.0.3"]},
        {"name": "workshop", "status": "CREATING", "readonly": True},
    ]
    clusters = [
        {"name": "first", "zones": zones, "tenants": tenants},
        {"name": "second", "type": "STANDBY", "zones": [{"name": "z", "servers": [{"ip": "10.0.0.9"}]}], "tenants": []},
    ]
    return start(fleet=resolve(FleetFile.model_validate({"clusters": clusters})))


@pytest.mark.parametrize("profile", PROFILES)
def test_tenants_have_the_documented_fields(start, profile):
    emulated = start(switches=PROFILES[profile])
    listed = emulated.get("/api/v2/ob/clusters/1/tenants")
    assert form(listed["contents"]) == [LISTED]
    assert listed["page"] == {"number": 1, "size": 10, "totalElements": 2, "totalPages": 1}
    assert form(emulated.get("/api/v2/ob/clusters/1/tenants/5002")) == DETAIL
    units = emulated.get("/api/v2/ob/clusters/1/tenants/5002/units")
    assert form(units) == {"contents": [UNIT]}


def test_tenant_shows_what_the_fleet_file_says(mixed):
    sys, shop, ledger, workshop = mixed.get("/api/v2/ob/clusters/1/tenants")["contents"]
    assert (sys["name"], sys["locality"]) == ("sys", "FULL{1}@zone1, FULL{1}@zone2, FULL{1}@zone3")
    assert shop["locality"] == "FULL{1},READONLY{1}@zone1, LOGONLY{1}@zone2"
    assert (shop["primaryZone"], shop["zoneList"]) == ("zone1,zone2", "zone1;zone2")
    assert (ledger["mode"], ledger["locked"], ledger["readonly"]) == ("ORACLE", True, False)
    assert (workshop["status"], workshop["readonly"]) == ("CREATING", True)
    [other] = mixed.get("/api/v2/ob/clusters/2/tenants")["contents"]
    assert (other["name"], other["clusterName"], other["clusterType"]) == ("sys", "second", "STANDBY")


def test_tenant_detail_shows_units_by_zone(mixed):
    shop = mixed.get("/api/v2/ob/clusters/1/tenants/5002")
    assert (shop["name"], shop["obTenantId"], shop["clusterStatus"]) == ("shop", 1002, "RUNNING")
    assert [(zone["name"], zone["replicaType"]) for zone in shop["zones"]] == [("zone1", "FULL"), ("zone2", "LOGONLY")]
    units = [unit for zone in shop["zones"] for unit in zone["units"]]
    assert [(unit["serverId"], unit["serverIp"], unit["zoneName"]) for unit in units] == [
        (1, "10.0.0.1", "zone1"),
        (2, "10.0.0.2", "zone2"),
    ]
    assert mixed.get("/api/v2/ob/clusters/1/tenants/5002/units")["contents"] == units
    chosen = mixed.get("/api/v2/ob/clusters/1/tenants/5002/units", params={"zoneName": "zone2"})["contents"]
    assert chosen == units[1:]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [5001, 5002, 5003, 5004]),
        ({"name": "SHOP"}, [5002, 5004]),
        ({"mode": "ORACLE"}, [5003]),
        ({"mode": "ORACLE,MYSQL"}, [5001, 5002, 5003, 5004]),
        ({"locked": "true"}, [5003]),
        ({"locked": "false", "readonly": "false"}, [5001, 5002]),
        ({"readonly": "true"}, [5004]),
        ({"status": "CREATING,DELETING"}, [5004]),
        ({"size": 3, "page": 2}, [5004]),
        ({"sort": "id,desc", "size": 1}, [5004]),
        ({"sort": "name,asc", "size": 1}, [5003]),
        ({"sort": "asc,name", "size": 1}, [5003]),
        ({"sort": "desc,name", "size": 1}, [5004]),
    ],
)
def test_tenants_can_be_filtered_and_paged(mixed, filters, found):
    contents = mixed.get("/api/v2/ob/clusters/1/tenants", params=filters)["contents"]
    assert [each["id"] for each in contents] == found


def test_all_tenants_can_be_listed_at_once(mixed):
    found = mixed.get("/api/v2/ob/tenants", params={"name": "sys"})["contents"]
    assert [(each["id"], each["clusterName"]) for each in found] == [(5001, "first"), (5005, "second")]


@pytest.mark.parametrize("filters", [{"locked": "1"}, {"status": "GONE"}, {"mode": "Oracle"}])
def test_invalid_filter_is_refused(emulated, filters):
    emulated.error(400, "GET", "/api/v2/ob/clusters/1/tenants", params=filters)


@pytest.mark.parametrize(
    "path",
    ["/clusters/9/tenants", "/clusters/9/tenants/5001", "/clusters/2/tenants/5001", "/clusters/2/tenants/5001/units"],
)
def test_tenant_of_another_cluster_is_not_found(emulated, path):
    emulated.error(404, "GET", f"/api/v2/ob{path}")


@pytest.mark.parametrize(
    ("paths", "served"), [("both", {"cluster", "clusters"}), ("cluster", {"cluster"}), ("clusters", {"clusters"})]
)
def test_a_tenant_is_served_only_below_the_configured_paths(start, paths, served):
    emulated = start(switches=Switches(tenant_paths=paths))
    for below in ("cluster", "clusters"):
        for units in ("", "/units"):
            answer = emulated.request("GET", f"/api/v2/ob/{below}/1/tenants/5001{units}")
            assert answer.status_code == (200 if below in served else 400)
    assert emulated.get("/api/v2/ob/clusters/1/tenants")["page"]["totalElements"] == 2


def test_an_arbitration_service_shows_the_tenants_that_have_arbitration(start):
    zones = [{"name": f"zone{number}", "servers": [{"ip": f"10.0.0.{number}"}]} for number in (1, 2)]
    entry = {"name": "pair", "zones": zones, "arbitration_service": "10.0.0.9", "tenants": [{"name": "shop"}]}
    services = [{"ip": "10.0.0.8"}, {"ip": "10.0.0.9"}]
    emulated = start(fleet=resolve(FleetFile.model_validate({"clusters": [entry], "arbitration_services": services})))
    degraded = {"cluster": "pair", "tenant": "shop", "logStreams": [1001, 1002]}
    other = {"cluster": "pair", "tenant": "unknown", "logStreams": [1]}
    assert emulated.get("/api/v2/arbitration/services/1")["clusters"] == []
    for planted, shop, rest in (([], [], []), ([degraded], [1001, 1002], []), ([other], [], [("unknown", [1])])):
        emulated.request("PUT", "/emulator/arbitration-services/2", json={"degraded": planted})
        [cluster] = emulated.get("/api/v2/arbitration/services/2")["clusters"]
        assert (cluster["id"], cluster["name"]) == (1, "pair")
        tenants = [(each["name"], each["degradedLsIdList"]) for each in cluster["tenants"]]
        assert tenants == [("shop", shop), ("sys", []), *rest]
        assert [each["id"] for each in cluster["tenants"]][:2] == [5002, 5001]
