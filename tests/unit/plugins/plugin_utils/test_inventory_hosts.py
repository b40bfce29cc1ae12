# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Servers as hosts: names, variables, groups, and ambiguous groups."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.facts import server_facts
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._inventory_hosts import (
    check_names,
    groups_of,
    host_of,
    usable_servers,
    variables_of,
)

URL = "http://ocp.test:8080"


def server(last=1, cluster="orders", cluster_id=31, zone="zone1", **more):
    record = {"id": 40 + last, "ip": f"10.1.0.{last}", "port": 2882, "zoneName": zone, "status": "RUNNING", **more}
    return server_facts(record, {"id": cluster_id, "name": cluster})


@pytest.mark.parametrize(
    ("ip", "name"), [("10.1.0.1", "10.1.0.1_2882"), ("2001:db8::1", "2001_db8__1_2882")], ids=["IPv4", "IPv6"]
)
def test_host_names_have_no_pattern_separators(ip, name):
    assert host_of(server(ip=ip)) == name


@pytest.mark.parametrize("ip", ["10.1.0.1", "2001:db8::1", "observer-1.example.com", "_a"])
def test_address_and_host_name_become_hosts(ip):
    assert usable_servers([server(ip=ip)]) == ([server(ip=ip)], [])


@pytest.mark.parametrize(
    "wrong",
    [
        *({"ip": ip} for ip in ("../evilhost", "-oProxyCommand=x", ".x", "a/b", "a b", "a\n", "ä", "", None, 7, ["a"])),
        *({"port": port} for port in ("2882/..", "-1", None, ["1"], "2882\n", 123456, 1.5)),
    ],
    ids=repr,
)
def test_server_whose_address_is_no_address_is_left_out_with_a_warning(wrong):
    good, bad = server(1), server(2, **wrong)
    usable, [warning] = usable_servers([bad, good])
    assert usable == [good]
    assert warning.startswith("Server ")
    assert " of cluster orders (id 31) is left out of the inventory: its address is not an IP address" in warning
    assert warning.isprintable()


@pytest.mark.parametrize("value", [["x"], {"x": 1}, 7])
def test_value_of_another_type_makes_a_safe_group(value):
    record = server(cluster=value, zone=value, regionName=value, status=value, version=value)
    assert all(name.isidentifier() for name in groups_of([record]).members)


def test_servers_with_the_same_address_are_refused():
    check_names([server(1), server(2), server(1, port=2982)])
    with pytest.raises(OptionError) as raised:
        check_names([server(1), server(2), server(1, "stock", 32)])
    assert str(raised.value) == (
        "filters: cluster orders (id 31) and cluster stock (id 32) both have a server 10.1.0.1:2882, and hosts are "
        "named by their addresses; give filters that pass only one of the two."
    )


def test_every_server_has_the_same_variables():
    full = server(regionName="north", startTime="2026-05-04T03:02:01+08:00", withRootserver=True)
    bare = server_facts({}, {})
    shown, hidden = variables_of(full, URL), variables_of(bare, URL)
    assert shown.keys() == hidden.keys()
    assert (shown["ocp_start_time"], shown["ocp_url"]) == ("2026-05-04T03:02:01+08:00", URL)
    assert (shown["ocp_with_rootserver"], hidden["ocp_with_rootserver"]) == (True, False)


def test_servers_are_grouped_by_their_properties():
    found = groups_of(
        [
            server(1, regionName="north-1", version="4.3.5.2-(May 4 2026)"),
            server(2, zone="zone2", regionName="north-1", version="4.3.5.2", status="STOPPED"),
            server(3, "stock", 32, version="unknown"),
        ]
    )
    first, second, third = (f"10.1.0.{last}_2882" for last in (1, 2, 3))
    assert found.members == {
        "ocp_servers": [first, second, third],
        "ocp_cluster_orders": [first, second],
        "ocp_cluster_stock": [third],
        "ocp_zone_orders_zone1": [first],
        "ocp_zone_orders_zone2": [second],
        "ocp_zone_stock_zone1": [third],
        "ocp_region_north_1": [first, second],
        "ocp_status_RUNNING": [first, third],
        "ocp_status_STOPPED": [second],
        "ocp_version_4_3_5_2": [first, second],
    }
    assert found.parents == {
        "ocp_zone_orders_zone1": "ocp_cluster_orders",
        "ocp_zone_orders_zone2": "ocp_cluster_orders",
        "ocp_zone_stock_zone1": "ocp_cluster_stock",
    }
    assert found.warnings == []


def test_missing_value_makes_no_group():
    assert groups_of([server(status=None)]).members.keys() == {
        "ocp_servers",
        "ocp_cluster_orders",
        "ocp_zone_orders_zone1",
    }


def test_no_servers_give_an_empty_group():
    assert groups_of([]).members == {"ocp_servers": []}


@pytest.mark.parametrize(
    ("one", "other", "missing", "labels"),
    [
        (
            server(1, "a-b", 31),
            server(2, "a_b", 32),
            {"ocp_cluster_a_b", "ocp_zone_a_b_zone1"},
            "cluster a-b (id 31) and cluster a_b (id 32)",
        ),
        (
            server(1, "a", 31, "b_c"),
            server(2, "a_b", 32, "c"),
            {"ocp_zone_a_b_c"},
            "zone b_c of cluster a (id 31) and zone c of cluster a_b (id 32)",
        ),
        (
            server(1, "a", 31),
            server(2, "a", 32),
            {"ocp_cluster_a", "ocp_zone_a_zone1"},
            "cluster a (id 31) and cluster a (id 32)",
        ),
        (
            server(1, regionName="n 1"),
            server(2, regionName="n-1"),
            {"ocp_region_n_1"},
            "region n 1 and region n-1",
        ),
    ],
    ids=["clusters", "zones", "one name", "regions"],
)
def test_ambiguous_group_is_skipped_with_a_warning(one, other, missing, labels):
    found = groups_of([one, other])
    assert missing & found.members.keys() == set()
    assert {*found.parents, *found.parents.values()} <= found.members.keys()
    assert found.members["ocp_servers"] == ["10.1.0.1_2882", "10.1.0.2_2882"]
    assert len(found.warnings) == len(missing)
    assert f"it would mean both {labels}" in found.warnings[0]
    assert all(any(group in warning for warning in found.warnings) for group in missing)
