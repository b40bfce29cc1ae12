# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One shape of facts for every form of a thing."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.facts import (
    arbitration_service_facts,
    bounded,
    cluster_facts,
    host_facts,
    obproxy_cluster_facts,
    server_facts,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.paging import MOST_ITEMS

NEVER = "1970-01-01T08:00:00+08:00"
STARTED = "2026-05-04T03:02:01.5+08:00"
ORDERS = {
    "id": 31,
    "name": "orders",
    "obClusterId": 101,
    "obVersion": "4.3.5.2",
    "type": "PRIMARY",
    "status": "RUNNING",
    "operatingTaskInstanceId": 90,
    "obStartTime": STARTED,
    "serverCount": 3,
    "tenantCount": 2,
    "zones": [
        {
            "name": "zone1",
            "regionName": "north",
            "idcName": "n1",
            "status": "RUNNING",
            "serverCount": 2,
            "servers": [{"withRootserver": False}, {"withRootserver": True}],
        },
        {"name": "zone2", "status": "STOPPED", "serverCount": 1},
        "no zone",
    ],
}
SERVER = {
    "id": 41,
    "ip": "10.1.0.1",
    "port": 2882,
    "sqlPort": 2881,
    "hostId": 51,
    "clusterId": 101,
    "zoneName": "zone1",
    "regionName": "south",
    "idcName": "s1",
    "status": "RUNNING",
    "innerStatus": "ACTIVE",
    "withRootserver": True,
    "startTime": STARTED,
    "stopTime": NEVER,
    "version": "4.3.5.2-1",
    "operatingTaskInstanceId": 90,
}


def test_cluster_facts_map_the_api_record():
    zone1 = {"name": "zone1", "region": "north", "idc": "n1", "status": "RUNNING", "servers": 2}
    zone2 = {"name": "zone2", "region": None, "idc": None, "status": "STOPPED", "servers": 1}
    assert cluster_facts(ORDERS) == {
        "id": 31,
        "name": "orders",
        "ob_cluster_id": 101,
        "type": "PRIMARY",
        "status": "RUNNING",
        "version": "4.3.5.2",
        "start_time": STARTED,
        "task_id": 90,
        "server_count": 3,
        "tenant_count": 2,
        "server_names": None,
        "zones": [{**zone1, "with_rootserver": True}, {**zone2, "with_rootserver": None}],
    }


def test_cluster_names_its_servers_only_if_its_record_has_all_of_them():
    servers = [{"ip": "10.1.0.1", "port": 2882}, {"ip": "2001:db8::1", "port": 2882}]
    record = {"zones": [{"name": "zone1", "servers": servers}], "serverCount": 2}
    assert cluster_facts(record)["server_names"] == ["10.1.0.1:2882", "[2001:db8::1]:2882"]
    assert cluster_facts({**record, "serverCount": 3})["server_names"] is None


def test_server_facts_map_the_api_record():
    """``cluster_id`` is the id in OCP, not the database's own id, which some services send instead."""
    assert server_facts(SERVER, ORDERS) == {
        "id": 41,
        "name": "10.1.0.1:2882",
        "ip": "10.1.0.1",
        "port": 2882,
        "sql_port": 2881,
        "host_id": 51,
        "cluster_id": 31,
        "cluster_name": "orders",
        "zone": "zone1",
        "region": "south",
        "idc": "s1",
        "status": "RUNNING",
        "inner_status": "ACTIVE",
        "with_rootserver": True,
        "start_time": STARTED,
        "stop_time": None,
        "version": "4.3.5.2-1",
        "task_id": 90,
    }


def test_missing_region_is_taken_from_the_zone():
    older = {key: value for key, value in SERVER.items() if key not in ("regionName", "idcName")}
    facts = server_facts(older, ORDERS)
    assert (facts["region"], facts["idc"]) == ("north", "n1")


def test_ipv6_address_is_bracketed_in_the_name():
    assert server_facts({**SERVER, "ip": "2001:db8::1"}, ORDERS)["name"] == "[2001:db8::1]:2882"


@pytest.mark.parametrize("time", [NEVER, "1970-01-01T00:00:00Z", None, "", "soon", 5, "2026-05-04T03:02:01"], ids=repr)
def test_invalid_or_epoch_time_is_null(time):
    facts = server_facts({**SERVER, "startTime": time, "stopTime": time}, ORDERS)
    assert (facts["start_time"], facts["stop_time"]) == (None, None)


def test_host_facts_map_the_api_record():
    host = {
        "id": 51,
        "name": "host51",
        "innerIpAddress": "10.1.0.1",
        "status": "ONLINE",
        "regionName": "north",
        "idcName": "n1",
        "hostAgentId": 61,
        "hostAgentStatus": "AVAILABLE",
        "hostAgentVersion": "4.3.5",
        "services": [{"name": "orders:101", "type": "OB_CLUSTER", "version": "4.3.5.2", "softwarePackageId": None}],
    }
    assert host_facts(host) == {
        "id": 51,
        "name": "host51",
        "ip": "10.1.0.1",
        "status": "ONLINE",
        "region": "north",
        "idc": "n1",
        "agent_id": 61,
        "agent_status": "AVAILABLE",
        "agent_version": "4.3.5",
        "services": [{"name": "orders:101", "type": "OB_CLUSTER", "version": "4.3.5.2"}],
    }


@pytest.mark.parametrize(
    ("cluster", "tenant"),
    [
        ({"id": 31, "name": "orders"}, {"id": 7, "name": "shop"}),
        ({"clusterId": 31, "clusterName": "orders"}, {"tenantId": 7, "tenantName": "shop"}),
    ],
    ids=["id and name", "with the kind in front"],
)
def test_arbitration_service_facts_include_degraded_tenants(cluster, tenant):
    tenants = [{**tenant, "degradedLsIdList": [1, 1001]}, {"id": 8, "degradedLsIdList": []}, {"id": 9}]
    service = {
        "id": 61,
        "svrIp": "10.1.0.8",
        "svrPort": 2888,
        "hostId": 51,
        "status": "RUNNING",
        "version": "4.3.3.1",
        "description": "for all",
        "updateTime": STARTED,
        "clusters": [{**cluster, "tenants": tenants}],
    }
    assert arbitration_service_facts(service) == {
        "id": 61,
        "name": "10.1.0.8:2888",
        "ip": "10.1.0.8",
        "port": 2888,
        "host_id": 51,
        "status": "RUNNING",
        "version": "4.3.3.1",
        "description": "for all",
        "update_time": STARTED,
        "task_id": None,
        "clusters": [
            {"id": 31, "name": "orders", "degraded_tenants": [{"id": 7, "name": "shop", "log_streams": [1, 1001]}]}
        ],
    }


def test_obproxy_cluster_facts_include_its_obproxies():
    proxy = {
        "id": 81,
        "ip": "10.1.0.1",
        "sqlPort": 2883,
        "exporterPort": 2884,
        "hostId": 51,
        "status": "RUNNING",
        "operateStatus": "NORMAL",
        "version": "4.3.3.0-5",
        "idcName": "n1",
        "lastActiveTime": STARTED,
    }
    cluster = {"id": 91, "name": "entry", "address": "10.1.0.99", "port": 2883, "workMode": "CONFIG_URL"}
    assert obproxy_cluster_facts({**cluster, "obproxies": [proxy]}) == {
        "id": 91,
        "name": "entry",
        "address": "10.1.0.99",
        "port": 2883,
        "work_mode": "CONFIG_URL",
        "obproxies": [
            {
                "id": 81,
                "name": "10.1.0.1:2883",
                "ip": "10.1.0.1",
                "sql_port": 2883,
                "exporter_port": 2884,
                "host_id": 51,
                "idc": "n1",
                "status": "RUNNING",
                "operate_status": "NORMAL",
                "version": "4.3.3.0-5",
                "last_active_time": STARTED,
            }
        ],
    }
    unshown = obproxy_cluster_facts({"obproxies": [{"lastActiveTime": NEVER}]})
    assert (unshown["name"], unshown["obproxies"][0]["last_active_time"]) == (None, None)


def test_degraded_tenant_is_shown_despite_malformed_log_streams():
    service = {"clusters": [{"tenants": [{"id": 7, "degradedLsIdList": "1,1001"}]}]}
    [cluster] = arbitration_service_facts(service)["clusters"]
    assert cluster["degraded_tenants"] == [{"id": 7, "name": None, "log_streams": []}]


@pytest.mark.parametrize(
    ("full", "bare"),
    [
        (cluster_facts(ORDERS), cluster_facts({})),
        (server_facts(SERVER, ORDERS), server_facts({}, {})),
        (host_facts({"id": 51}), host_facts({"services": None})),
        (arbitration_service_facts({"id": 61}), arbitration_service_facts({"clusters": 5})),
    ],
    ids=["cluster", "server", "host", "arbitration service"],
)
def test_facts_always_have_every_key(full, bare):
    assert full.keys() == bare.keys()
    assert all(value in (None, [], False, "None:None") for value in bare.values())


def test_result_of_too_many_things_is_refused():
    """Many small answers may add up to more than memory holds, also by what is in the things."""
    many = [{"id": number, "subtasks": [1, 2, 3]} for number in range(MOST_ITEMS // 4)]
    assert bounded(many, "subtasks") == many
    with pytest.raises(OcpError, match="has more than 50,000 entries and subtasks, so reading stopped"):
        bounded([*many, {"subtasks": [1]}], "subtasks")
    endless = ({"id": number} for number in itertools.count())
    with pytest.raises(OcpError, match="has more than 50,000 entries, so"):
        bounded(endless)
