# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Clusters as hosts: names that no other host has, variables, groups."""

from __future__ import annotations

import re
from itertools import product

import pytest
from ansible.inventory.data import InventoryData
from ansible.inventory.manager import InventoryManager, split_host_pattern
from ansible.parsing.dataloader import DataLoader
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.facts import cluster_facts, server_facts
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _inventory_hosts
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._cluster_hosts import (
    cluster_hosts,
    groups_of,
    host_of,
    variables_of,
)

URL = "https://ocp.example.com:8080"
# What Ansible, a shell, ssh, a file system or a template would take for something else.
NAMES = ["-l", "--limit", "~a", ".", "..", "../x", "!a", "&a", "@a", "a:b", "a,b", "a b", "a*", "a[1:3]", "a\n"]
NAMES += ["{{ 1 }}"]
NAMES += ["a_b", "a-b", "a.b", "a+1", "a+1+ocp.example.com+8080", "10.0.0.1_2882", "10.0.0.1:2882", "ocp_clusters"]
NAMES += ["all", "%2E", "%", "é", "\udc80", "x" * 300, "", None, 7, ["x"], {"x": 1}]
URLS = ["http://ocp", "https://ocp", "http://ocp:81", "http://ocp/81", "http://ocp/81/a", "http://ocp:81/a"]
URLS += ["http://ocp/a", "http://ocp/a+b", "http://ocp/a/b", "http://ocp/a//b", "http://[::1]:80", "http://o_cp:8080"]
URLS += ["http://10.0.0.1:2882"]


def zone(name, region="north", idc="n1", **more):
    return {"name": name, "regionName": region, "idcName": idc, "status": "RUNNING", **more}


def cluster(number=1, name="orders", zones=None, **more):
    zones = [zone("zone1")] if zones is None else zones
    return cluster_facts({"id": number, "name": name, "zones": zones, "status": "RUNNING", **more})


def named(*clusters):
    return {host_of(one, URL): one for one in clusters}


def test_a_cluster_is_called_by_name_id_and_service():
    assert host_of(cluster(7), URL) == "orders+7+ocp.example.com+8080"
    assert host_of(cluster(7), "http://proxy.example.com/ocp1/") == "orders+7+proxy.example.com+80+ocp1"


def test_a_cluster_is_called_by_its_name_where_nothing_else_is():
    clusters = [
        cluster(number, name)
        for number, name in enumerate(
            ("orders", "stock-2", "pair", "pair", "web", "ocp_clusters", "localhost", "a.b", "10", "é", "x" * 65, None)
        )
    ]
    found = cluster_hosts(clusters, URL, {"web", "all"})
    assert [name for name in found.variables if "+" not in name] == ["orders", "stock-2"]
    assert found.groups.members["ocp_clusters"][:4] == [
        "orders",
        "stock-2",
        *(host_of(one, URL) for one in clusters[2:4]),
    ]
    assert len(found.variables) == len(clusters)
    assert [*cluster_hosts(clusters, URL).variables] == [host_of(one, URL) for one in clusters]


def test_no_two_clusters_of_several_services_have_the_same_host_name():
    """Not even two whose names are equal, odd, missing, too long, or those of other hosts."""
    names = [host_of(cluster(number, name), url) for number, name, url in product((1, 2, 12), NAMES, URLS)]
    by_id_and_url = {host_of(cluster(number), url) for number, url in product((1, 2, 12), URLS)}
    assert len(by_id_and_url) == 3 * len(URLS)
    # Names that are none, or cut, may be alike: what follows them is not.
    assert {name.partition("+")[2] for name in names} == {name.partition("+")[2] for name in by_id_and_url}
    assert all(len(name) < 120 for name in names)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_host_name_is_no_option_no_path_no_pattern_and_no_server(name):
    host = host_of(cluster(1, name), URL)
    assert re.fullmatch(r"[A-Za-z0-9_%][A-Za-z0-9_.~%-]*\+1\+ocp\.example\.com\+8080", host)
    assert split_host_pattern(host) == [host]
    data = InventoryData()
    data.add_host(host)
    manager = InventoryManager(loader=DataLoader(), parse=False)
    manager._inventory = data
    assert [found.name for found in manager.get_hosts(host)] == [host]
    server = {"ip": str(name).partition(":")[0], "port": 2882}
    assert host != _inventory_hosts.host_of(server_facts(server, {}))


@pytest.mark.parametrize(
    ("one", "other"), [("a_b", "a-b"), ("a b", "a_b"), ("a/b", "a b"), ("orders", "orders_eu"), ("%2E", ".")]
)
def test_the_pattern_of_a_name_finds_no_other_name(one, other):
    names = [host_of(cluster(number, name), URL) for number, name in enumerate((one, other), 1)]
    data = InventoryData()
    for name in names:
        data.add_host(name)
    manager = InventoryManager(loader=DataLoader(), parse=False)
    manager._inventory = data
    for name in names:
        assert [found.name for found in manager.get_hosts(f"{name.partition('+')[0]}+*")] == [name]


def test_a_cluster_has_its_facts_as_variables():
    server = {"ip": "10.1.0.1", "port": 2882}
    zones = [zone("zone1", servers=[server], serverCount=1), zone("zone2", None), zone("zone3", "south", "n1")]
    more = {"obClusterId": 101, "type": "PRIMARY", "obVersion": "4.3.5.2", "obStartTime": "2026-05-04T03:02:01+08:00"}
    counted = {"serverCount": 1, "tenantCount": 4, "operatingTaskInstanceId": 90}
    own = variables_of(cluster(31, zones=zones, **more, **counted), f"{URL}/")
    assert [found["name"] for found in own.pop("ocp_zones")] == ["zone1", "zone2", "zone3"]
    assert own == {
        "ocp_url": URL,
        "ocp_cluster": "orders",
        "ocp_cluster_id": 31,
        "ocp_ob_cluster_id": 101,
        "ocp_type": "PRIMARY",
        "ocp_status": "RUNNING",
        "ocp_version": "4.3.5.2",
        "ocp_start_time": "2026-05-04T03:02:01+08:00",
        "ocp_task_id": 90,
        "ocp_regions": ["north", "south"],
        "ocp_idcs": ["n1"],
        "ocp_server_count": 1,
        "ocp_tenant_count": 4,
        "ocp_servers": ["10.1.0.1:2882"],
    }


def test_every_cluster_has_the_same_variables():
    bare = variables_of(cluster_facts({"id": 31}), URL)
    assert bare.keys() == variables_of(cluster(), URL).keys()
    assert {name for name, value in bare.items() if value is not None} == {
        "ocp_url",
        "ocp_cluster_id",
        "ocp_regions",
        "ocp_idcs",
        "ocp_zones",
    }


def test_tasks_for_clusters_run_on_the_controller():
    assert cluster_hosts([], URL).settings == {
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
    }


def test_clusters_are_grouped_by_their_properties():
    found = groups_of(
        named(
            cluster(1, zones=[zone("zone1", "north-1"), zone("zone2", "south")], type="PRIMARY", obVersion="4.3.5.2-1"),
            cluster(2, "stock", [zone("zone1", "south"), zone("zone2", "south")], status="STOPPED", obVersion="none"),
            cluster(3, "bare", [], status=None),
        )
    )
    orders, stock, bare = (f"{name}+ocp.example.com+8080" for name in ("orders+1", "stock+2", "bare+3"))
    assert found.members == {
        "ocp_clusters": [orders, stock, bare],
        "ocp_clusters_region_north_1": [orders],
        "ocp_clusters_region_south": [orders, stock],
        "ocp_clusters_status_RUNNING": [orders],
        "ocp_clusters_status_STOPPED": [stock],
        "ocp_clusters_version_4_3_5_2": [orders],
        "ocp_clusters_type_PRIMARY": [orders],
    }
    assert (found.parents, found.warnings) == ({}, [])


def test_no_group_of_clusters_can_be_one_of_servers():
    tricky = "s", "s_region_north", "sstatus_RUNNING", "_", ""
    servers = [
        server_facts({"ip": f"10.1.0.{number}", "port": 2882, "zoneName": name}, {"id": number, "name": name})
        for number, name in enumerate(tricky)
    ]
    clusters = named(*(cluster(number, name, [zone("zone1", name)], status=name) for number, name in enumerate(tricky)))
    assert groups_of(clusters).members.keys() & _inventory_hosts.groups_of(servers).members.keys() == set()


def test_regions_that_become_one_group_have_none():
    found = groups_of(named(cluster(1, zones=[zone("zone1", "n 1"), zone("zone2", "n-1")])))
    assert "ocp_clusters_region_n_1" not in found.members
    [warning] = found.warnings
    assert "it would mean both region n 1 and region n-1" in warning


@pytest.mark.parametrize("value", [["x"], {"x": 1}, 7, True])
def test_value_of_another_type_makes_a_safe_group(value):
    record = cluster(1, value, [zone("zone1", value, value)], status=value, type=value, obVersion=value)
    assert all(name.isidentifier() for name in groups_of(named(record)).members)
    assert variables_of(record, URL)["ocp_regions"] == [value]
