# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What restarts take down on the emulator, by its own ledger of tenants without their voters."""

from __future__ import annotations

import pytest
import yaml
from credentials import BASIC

SERVERS = [f"10.0.0.{last}:2882" for last in range(1, 7)]


FLEET = """
clusters:
  - name: shop
    zones:
      - {name: zone1, servers: [{ip: 10.1.0.1}, {ip: 10.1.0.2}]}
      - {name: zone2, servers: [{ip: 10.1.0.3}]}
    arbitration_service: 10.1.0.9
    tenants:
      - {name: cart}
      - {name: report, locality: "FULL{1}@zone1, READONLY{1}@zone2", units: [10.1.0.2, 10.1.0.3], arbitration: false}
arbitration_services: [{ip: 10.1.0.9}]
"""


@pytest.fixture
def shop(start_emulator, tmp_path):
    """Two zones and an arbitration service; a tenant has one replica, on the second server of the first zone."""
    (tmp_path / "fleet.yml").write_text(FLEET)
    return start_emulator("--fleet", str(tmp_path / "fleet.yml"), "--step-seconds", "0.1")


def outages(emulator):
    return {outage["tenantName"] for outage in emulator.get("/emulator/outages")["contents"]}


def restart(ansible, emulator, server, **options):
    place = {"cluster": "shop", "server": server, "freeze_server": False}
    return ansible.module("server_restart", url=emulator.url, **BASIC, **place, **options)


@pytest.mark.nightly
def test_two_full_replicas_with_an_arbiter_are_restarted_and_the_only_replica_is_not(ansible, shop):
    first = restart(ansible, shop, "10.1.0.1:2882", wait=True)
    assert (first["verified"], first["safety"]["evidence"]) == (True, "units")
    refused = restart(ansible, shop, "10.1.0.2:2882", wait=True)
    assert (refused["rc"], refused["changed"], refused["task_id"]) == (2, False, None)
    assert "Tenant report would lose its majority: 0 of 1 voters would remain, and it needs 1." in refused["msg"]
    checked = ansible.module(
        "zone_restart", "--check", url=shop.url, **BASIC, cluster="shop", zone="zone1"
    )  # fmt: skip
    assert "Tenant report would lose its majority" in checked["msg"]
    assert outages(shop) == set()
    tolerated = restart(ansible, shop, "10.1.0.2:2882", tolerate_outage_of="report", wait=True)
    assert tolerated["verified"] is True
    assert outages(shop) == {"report"}


def test_dead_server_of_a_cluster_without_its_majority_is_restarted_with_force(ansible, start_emulator):
    """OCP's own pre-check refuses it without force; ours sees that nothing is left to lose."""
    emulator = start_emulator("--step-seconds", "0.1", "--pre-check", "refuse")
    for server in (1, 2, 3, 4):
        emulator.put(f"/emulator/servers/{server}", {"available": False})
    place = {"cluster": "orders", "server": SERVERS[0], "freeze_server": False, "wait": True}
    refused = ansible.module("server_restart", url=emulator.url, **BASIC, **place, detail="full")
    assert refused["rc"] == 2
    assert "voting replicas left, and needs 2" in refused["msg"]
    assert refused["safety"]["outages"] == []
    forced = ansible.module("server_restart", url=emulator.url, **BASIC, **place, force=True)
    assert (forced["rc"], forced["verified"], forced["safety"]["outages"]) == (0, True, [])


def test_arbiter_that_is_needed_is_not_restarted(ansible, shop):
    arbiter = {"arbitration_service": "10.1.0.9:2888", "url": shop.url, **BASIC}
    assert ansible.module("arbitration_service_restart", wait=True, **arbiter)["rc"] == 0
    shop.put("/emulator/servers/3", {"available": False})
    refused = ansible.module("arbitration_service_restart", **arbiter)
    assert refused["rc"] == 2
    assert "would lose its majority: 1 of 2 voters would remain (zone1), and it needs 2" in refused["msg"]


def hosts_play(emulator, **options):
    """Each host restarts its server, as many at the same time as there are forks."""
    task = {
        "name": "restart",
        "oceanbase.ocp.server_restart": {
            "cluster": "orders", "server": "{{ ocp_server }}", "freeze_server": False, **options
        },
    }  # fmt: skip
    return {
        "hosts": "observers", "gather_facts": False, "connection": "local", "tasks": [task],
        "module_defaults": {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}},
    }  # fmt: skip


@pytest.fixture
def forks(tmp_path):
    hosts = {f"node{number}": {"ocp_server": server} for number, server in enumerate(SERVERS)}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"observers": {"hosts": hosts}}))
    return f"-i {tmp_path / 'hosts.yml'} --forks 6"


@pytest.mark.nightly
def test_forks_take_one_zone_at_once_and_no_tenant_is_lost(ansible, start_emulator, forks):
    emulator = start_emulator("--step-seconds", "0.6")
    outcome = ansible.playbook([hosts_play(emulator, wait=True)], arguments=forks)
    assert outcome.rc == 2
    assert "would lose its majority" in outcome.output
    zones = {(int(server.split(".")[3].split(":")[0]) - 1) // 2 for server in emulator.restarts("OB_SERVER")}
    assert len(zones) == 1
    assert outages(emulator) == set()


@pytest.mark.nightly
def test_forks_that_wait_for_safety_restart_all_and_no_tenant_is_lost(ansible, start_emulator, forks):
    emulator = start_emulator("--step-seconds", "0.1")
    play = hosts_play(emulator, safety_timeout=120, wait=True, wait_interval=1)
    outcome = ansible.playbook([play], arguments=forks)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS, 1)
    assert outages(emulator) == set()


@pytest.mark.nightly
def test_ledger_sees_what_is_lost_without_safety(ansible, start_emulator, forks):
    # So slow that a busy machine has sent all requests before the first restart has ended.
    emulator = start_emulator("--step-seconds", "1")
    outcome = ansible.playbook([hosts_play(emulator, safety="none", wait=True)], arguments=forks)
    assert outcome.rc == 0, outcome.output
    assert outages(emulator) >= {"sys", "app"}
