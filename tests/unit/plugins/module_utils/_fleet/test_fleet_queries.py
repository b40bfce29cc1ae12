# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fleet queries: which requests they send, and what passes the filters."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotFound, OptionError, PermissionDenied
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.fleet_queries import (
    read_arbitration_services,
    read_clusters,
    read_hosts,
    read_obproxy_clusters,
    read_servers,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL


def server(number, zone):
    return {"id": number, "ip": f"10.1.0.{number}", "port": 2882, "zoneName": zone, "status": "RUNNING"}


def cluster(number, name, *servers, status="RUNNING"):
    """A cluster whose zone1 is in the north and whose other zones are in the south."""
    names = dict.fromkeys(["zone1", "zone2", *(server["zoneName"] for server in servers)])
    zones = [
        {
            "name": zone,
            "regionName": "north" if zone == "zone1" else "south",
            "idcName": f"{name}-{zone}",
            "servers": [server for server in servers if server["zoneName"] == zone],
        }
        for zone in names
    ]
    return {"id": number, "name": name, "status": status, "zones": zones, "serverCount": len(servers)}


ORDERS = cluster(31, "orders", server(41, "zone1"), server(42, "zone2"))
STOCK = cluster(32, "stock", {**server(43, "zone1"), "status": "STOPPED"}, status="STOPPED")
# An older service has no servers in this record.
OLD = {"id": 33, "name": "old", "status": "RUNNING", "zones": [{"name": "zone1"}]}
HOSTS = [
    {"id": 51, "name": "a", "innerIpAddress": "10.1.0.41", "status": "ONLINE", "hostAgentStatus": "OFFLINE"},
    {"id": 52, "name": "b", "innerIpAddress": "10.1.0.42", "status": "OFFLINE", "regionName": "north"},
]
SERVICES = [
    {"id": 61, "svrIp": "10.1.0.8", "svrPort": 2888, "status": "RUNNING"},
    {"id": 62, "svrIp": "10.1.0.9", "svrPort": 2888, "status": "STOPPED"},
]


def names(facts):
    return [one["name"] for one in facts]


def not_found():
    return NotFound("no", status=404, reason="", url=URL)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["orders", "stock"]),
        ({"status": ["STOPPED"]}, ["stock"]),
        ({"status": ["STOPPED", "RUNNING"]}, ["orders", "stock"]),
        ({"status": ["DELETING"]}, []),
        ({"zone": ["zone2"], "region": ["south"]}, ["orders", "stock"]),
        ({"zone": ["zone1"], "region": ["south"]}, []),
        ({"idc": ["stock-zone1"]}, ["stock"]),
        ({"idc": None, "status": None, "another option": "of the module"}, ["orders", "stock"]),
    ],
    ids=str,
)
def test_clusters_are_filtered_by_status_zone_region_and_idc(wanted, found, api):
    api.expect("clusters", gives=[ORDERS, STOCK])
    assert names(read_clusters(api.double, wanted)) == found


def test_clusters_are_found_once_by_exact_name_or_id(api):
    """A name must match as a whole, though the service matches parts of names."""
    api.expect("clusters", "order", gives=[ORDERS])
    api.expect("cluster", 32, gives=STOCK)
    api.expect("cluster", 99, gives=not_found()).expect("clusters", "99", gives=[])
    api.expect("clusters", "stock", gives=[STOCK])
    assert names(read_clusters(api.double, {"cluster": ["order", "32", "99", "stock"]})) == ["stock"]


def test_all_clusters_with_the_same_name_are_returned(api):
    api.expect("clusters", "orders", gives=[ORDERS, {**ORDERS, "id": 39}])
    assert [found["id"] for found in read_clusters(api.double, {"cluster": ["orders"]})] == [31, 39]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, [41, 42, 43]),
        ({"zone": ["zone1"]}, [41, 43]),
        ({"zone": ["zone1"], "status": ["RUNNING"]}, [41]),
        ({"region": ["south"]}, [42]),
        ({"idc": ["orders-zone2", "stock-zone1"]}, [42, 43]),
        ({"server": ["43", "10.1.0.41:2882"]}, [41, 43]),
        ({"server": ["10.1.0.41"]}, []),
    ],
    ids=str,
)
def test_servers_of_all_clusters_are_filtered(wanted, found, api):
    api.expect("clusters", gives=[ORDERS, STOCK])
    assert [one["id"] for one in read_servers(api.double, wanted)] == found


def test_servers_are_limited_to_the_given_cluster(api):
    api.expect("clusters", "orders", gives=[ORDERS])
    assert {one["cluster_name"] for one in read_servers(api.double, {"cluster": ["orders"]})} == {"orders"}


def test_servers_missing_from_a_cluster_record_are_read(api):
    api.expect("clusters", gives=[OLD, ORDERS, {"name": "without an id"}])
    api.expect("servers", 33, gives=[server(44, "zone1")])
    assert [one["id"] for one in read_servers(api.double, {})] == [44, 41, 42]


def test_unknown_cluster_has_no_servers(api):
    api.expect("clusters", "nothing", gives=[])
    assert read_servers(api.double, {"cluster": ["nothing"]}) == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["a", "b"]),
        ({"host": ["51"]}, ["a"]),
        ({"host": ["b"]}, ["b"]),
        ({"host": ["10.1.0.42", "10.1.0.4"]}, ["b"]),
        ({"status": ["ONLINE"]}, ["a"]),
        ({"agent_status": ["OFFLINE"]}, ["a"]),
        ({"region": ["north"]}, ["b"]),
        ({"idc": ["n1"]}, []),
    ],
    ids=str,
)
def test_hosts_are_filtered(wanted, found, api):
    api.expect("hosts", gives=HOSTS)
    assert names(read_hosts(api.double, wanted)) == found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, [61, 62]),
        ({"arbitration_service": ["10.1.0.9:2888"]}, [62]),
        ({"arbitration_service": ["61"], "status": ["STOPPED"]}, []),
    ],
    ids=str,
)
def test_arbitration_services_are_filtered(wanted, found, api):
    api.expect("arbitration_services", gives=SERVICES)
    assert [one["id"] for one in read_arbitration_services(api.double, wanted)] == found


PROXIES = [
    {"id": 81, "ip": "10.1.0.1", "sqlPort": 2883, "status": "RUNNING"},
    {"id": 82, "ip": "10.1.0.2", "sqlPort": 2883, "status": "UNAVAILABLE"},
]
OBPROXY_CLUSTERS = [
    {"id": 91, "name": "entry", "obproxies": PROXIES},
    {"id": 92, "name": "exit", "obproxies": [{"id": 83, "ip": "10.1.0.3", "sqlPort": 2883, "status": "RUNNING"}]},
    {"id": 93, "name": "empty", "obproxies": []},
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {91: [81, 82], 92: [83], 93: []}),
        ({"obproxy_cluster": ["entry", "93"]}, {91: [81, 82], 93: []}),
        ({"obproxy": ["10.1.0.2:2883", "83"]}, {91: [82], 92: [83]}),
        ({"status": ["RUNNING"]}, {91: [81], 92: [83]}),
        ({"status": ["STOPPED"]}, {}),
        ({"obproxy_cluster": ["exit"], "obproxy": ["81"]}, {}),
    ],
    ids=str,
)
def test_obproxies_are_filtered(wanted, found, api):
    api.expect("obproxy_clusters", gives=OBPROXY_CLUSTERS)
    clusters = read_obproxy_clusters(api.double, wanted)
    assert {one["id"]: [proxy["id"] for proxy in one["obproxies"]] for one in clusters} == found


def test_list_without_obproxies_is_completed(api):
    api.expect("obproxy_clusters", gives=[{"id": 91, "name": "entry"}])
    api.expect("obproxy_cluster", 91, gives=OBPROXY_CLUSTERS[0])
    [cluster] = read_obproxy_clusters(api.double, {})
    assert [proxy["name"] for proxy in cluster["obproxies"]] == ["10.1.0.1:2883", "10.1.0.2:2883"]
    assert cluster["parameters"] is None


def test_parameters_of_obproxies_are_read_for_the_clusters_that_are_found(api):
    values = [{"value": "4", "obproxies": ["10.1.0.1"]}, {"obproxies": None}]
    shown = {"name": "work_thread_num", "needReboot": True, "description": "threads, [1, 128]", "values": values}
    api.expect("obproxy_clusters", gives=OBPROXY_CLUSTERS)
    api.expect("obproxy_parameters", 91, gives=[shown, {}])
    [cluster] = read_obproxy_clusters(api.double, {"obproxy_cluster": ["entry"]}, with_parameters=True)
    assert cluster["parameters"] == [
        {
            "name": "work_thread_num",
            "needs_restart": True,
            "description": "threads, [1, 128]",
            "obproxy_values": [{"value": "4", "obproxies": ["10.1.0.1"]}, {"value": None, "obproxies": []}],
        },
        {"name": None, "needs_restart": None, "description": None, "obproxy_values": []},
    ]


OPTIONS = {
    read_clusters: ["cluster", "status", "zone", "region", "idc"],
    read_servers: ["cluster", "server", "status", "zone", "region", "idc"],
    read_hosts: ["host", "status", "agent_status", "region", "idc"],
    read_arbitration_services: ["arbitration_service", "status"],
    read_obproxy_clusters: ["obproxy_cluster", "obproxy", "status"],
}


@pytest.mark.parametrize(
    ("read", "option"), [(read, option) for read, options in OPTIONS.items() for option in options]
)
@pytest.mark.parametrize("value", [[], [""], ["zone1", ""]], ids=repr)
def test_empty_filter_is_refused_before_any_request(value, read, option, api):
    with pytest.raises(OptionError) as raised:
        read(api.double, {option: value})
    assert str(raised.value) == f"{option}: is empty or has an empty entry; leave it out to have all."


@pytest.mark.parametrize(
    ("read", "call"),
    list(zip(OPTIONS, ["clusters", "clusters", "hosts", "arbitration_services", "obproxy_clusters"], strict=True)),
)
def test_refused_request_raises_instead_of_an_empty_list(read, call, api):
    error = PermissionDenied("no", status=403, reason="", url=URL)
    api.expect(call, gives=error)
    with pytest.raises(PermissionDenied) as raised:
        read(api.double, {})
    assert raised.value is error
