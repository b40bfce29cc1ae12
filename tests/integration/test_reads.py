# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The modules that read the fleet, by real commands against a running emulator."""

from __future__ import annotations

import pytest
import yaml
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from execution_path import ORDINARY

# What each reads of the default fleet: the key of its result, and what is in it.
READS = {
    "cluster_info": ("clusters", ["orders", "payments"]),
    "server_info": ("servers", [f"10.0.0.{last}:2882" for last in range(1, 10)]),
    "host_info": ("hosts", [f"host{number}" for number in range(1, 11)]),
    "arbitration_service_info": ("arbitration_services", ["10.0.0.10:2888"]),
    "obproxy_info": ("obproxy_clusters", ["entry"]),
}


def read(ansible, emulator, module, **options):
    """What an ad-hoc command reads."""
    result = ansible.module(module, url=emulator.url, **BASIC, **options)
    assert (result["rc"], result["changed"]) == (0, False), result
    return result[READS[module][0]]


def names(found):
    return [one["name"] for one in found]


@pytest.mark.smoke
def test_info_modules_read_every_object_of_their_kind(ansible, emulator):
    results = in_one_play(ansible, emulator, [(module, {}, found) for module, (_key, found) in READS.items()])
    for (key, found), result in zip(READS.values(), results, strict=True):
        assert names(result[key]) == found
        assert result["changed"] is False
    assert emulator.requests("POST") == []


FILTERS = [
    ("cluster_info", {"cluster": "payments"}, ["payments"]),
    ("cluster_info", {"cluster": 1, "zone": "zone1", "status": "RUNNING"}, ["orders"]),
    ("cluster_info", {"cluster": "order"}, []),
    ("server_info", {"cluster": "payments", "zone": ["zone1", "zone3"]}, ["10.0.0.7:2882", "10.0.0.9:2882"]),
    ("server_info", {"server": [2, "10.0.0.4:2882"]}, ["10.0.0.2:2882", "10.0.0.4:2882"]),
    ("server_info", {"cluster": "nothing"}, []),
    ("server_info", {"status": "UNAVAILABLE"}, []),
    ("server_info", {"region": "default_region", "idc": "elsewhere"}, []),
    ("host_info", {"host": ["10.0.0.10", "host3"], "agent_status": "AVAILABLE"}, ["host3", "host10"]),
    ("host_info", {"status": "OFFLINE"}, []),
    ("arbitration_service_info", {"arbitration_service": 1, "status": "RUNNING"}, ["10.0.0.10:2888"]),
    ("arbitration_service_info", {"arbitration_service": 99}, []),
    ("obproxy_info", {"obproxy_cluster": 1, "obproxy": "10.0.0.9:2883", "status": "RUNNING"}, ["entry"]),
    ("obproxy_info", {"status": "UNAVAILABLE", "with_parameters": True}, []),
]
REFUSED = [
    ("cluster_info", {"status": "RUNING"}, ["status", "RUNING"]),
    ("server_info", {"status": "ONLINE"}, ["status", "ONLINE"]),
    ("server_info", {"zone": ""}, ["zone", "empty"]),
    ("host_info", {"agent_status": "WELL"}, ["agent_status", "WELL"]),
    ("arbitration_service_info", {"region": "north"}, ["region"]),
    ("obproxy_info", {"obproxy": ""}, ["obproxy", "empty"]),
]


def in_one_play(ansible, emulator, cases):
    """Read by the first two of each case, one task for each; returns the results in this order."""
    tasks = [
        {"name": str(number), f"oceanbase.ocp.{module}": options, "ignore_errors": True}
        for number, (module, options, _expected) in enumerate(cases)
    ]
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    return list(ansible.tasks(*tasks, module_defaults=defaults).results.values())


def test_filters_select_objects(ansible, emulator):
    results = in_one_play(ansible, emulator, FILTERS)
    for (module, options, found), result in zip(FILTERS, results, strict=True):
        assert names(result[READS[module][0]]) == found, (module, options)


def test_error_names_the_bad_filter_before_any_request(ansible, emulator):
    results = in_one_play(ansible, emulator, REFUSED)
    for (module, _options, named), result in zip(REFUSED, results, strict=True):
        assert READS[module][0] not in result
        assert [word for word in named if word not in result["msg"]] == [], result["msg"]
    assert "/api/" not in emulator.log


def test_server_info_shows_a_running_restart(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    task = ansible.module("server_restart", url=emulator.url, cluster=1, server=2, freeze_server=True, **BASIC)
    [server] = read(ansible, emulator, "server_info", status="RESTARTING")
    assert (server["name"], server["task_id"]) == ("10.0.0.2:2882", task["task_id"])
    assert (server["cluster_name"], server["zone"], server["with_rootserver"]) == ("orders", "zone1", False)


@pytest.mark.nightly
def test_every_page_is_read(ansible, start_emulator):
    emulator = start_emulator("--clusters", "2001", "--zones", "1", "--servers-per-zone", "1")
    assert names(read(ansible, emulator, "server_info", cluster=2001)) == ["10.0.8.1:2882"]
    # The result of so many is too long for an event of ansible-runner.
    every = {"oceanbase.ocp.cluster_info": {"url": emulator.url, **BASIC}, "register": "found", "no_log": True}
    outcome = ansible.tasks(every, {"ansible.builtin.assert": {"that": "found.clusters | length == 2001"}})
    assert outcome.rc == 0, outcome.output
    pages = [line for line in emulator.requests("GET") if " /api/v2/ob/clusters?" in line]
    # Both look at the whole list: no document has a read of one cluster.
    assert len(pages) == 2 * 2


def test_the_ordinary_module_reads_the_same(ansible, emulator):
    task = {"oceanbase.ocp.server_info": {"url": emulator.url, "zone": "zone2", **BASIC}}
    results = ansible.each({"here": task, "ordinary": {**task, **ORDINARY}}).results
    assert results["here"]["servers"] == results["ordinary"]["servers"]
    assert len(results["here"]["servers"]) == 3


def test_reads_page_playbooks_run(ansible, emulator):
    plays = [
        {**play, "vars": SECRETS}
        for playbook in blocks("docs/reads.md", "yaml")
        for play in yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    ]
    outcome = ansible.playbook(plays)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_ZONE") == {"orders/zone2": 1}
    assert emulator.restarts("HOST") == {"10.0.0.1": 1, "10.0.0.2": 1}
