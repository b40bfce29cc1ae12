# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which machines AWX counts for a job, by the queries of extensions/audit over what the modules return."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import jq
import pytest
import yaml
from repository import REPOSITORY

QUERIES = yaml.safe_load((REPOSITORY / "extensions/audit/event_query.yml").read_text())
HOST = {"infra_type": "PrivateCloud", "infra_bucket": "Compute", "device_type": "Host"}
TASKS = {
    # Before the others, which may leave nothing to restart.
    "cluster_rolling_restart": {
        "cluster": "payments",
        "freeze_server": True,
        "started_before": datetime.now(UTC).isoformat(),
    },
    "server_restart": {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True},
    "agent_restart": {"hosts": ["10.0.0.1", "10.0.0.2"]},
    "arbitration_service_restart": {"arbitration_service": "10.0.0.10:2888"},
    "cluster_restart": {"cluster": "payments"},
    "obproxy_restart": {"obproxy_cluster": "entry", "obproxies": ["10.0.0.8:2883"]},
    "zone_restart": {"cluster": "orders", "zone": "zone2"},
    "fleet_restart": {
        "servers": [{"cluster": "orders", "server": "10.0.0.6:2882"}, {"cluster": "orders", "server": "5"}],
        "freeze_server": True,
        "safety": "none",
    },
    "cluster_parameter": {"cluster": "orders", "parameters": {"memory_limit_percentage": "70"}},
    "cluster_offline_time": {"cluster": "payments", "state": "raised", "raise_to": "4h"},
}
COUNTED = {
    "cluster_rolling_restart": [8, 9, 7],
    "server_restart": [1],
    "agent_restart": [1, 2],
    "arbitration_service_restart": [10],
    "cluster_restart": [7, 8, 9],
    "obproxy_restart": [8],
    "zone_restart": [3, 4],
    "fleet_restart": [6, 5],
    "cluster_parameter": [1, 2, 3, 4, 5, 6],
    "cluster_offline_time": [7, 8, 9],
}


def counted(module: str, result: Any) -> list[dict[str, Any]]:
    """What the query of a module makes of a result, as AWX runs it."""
    return jq.compile(QUERIES[f"oceanbase.ocp.{module}"]["query"]).input_value(result).all()


def nodes(*addresses: str) -> list[dict[str, Any]]:
    return [{"name": each, "canonical_facts": {"ip_address": each}, "facts": HOST} for each in addresses]


def test_each_module_that_changes_something_counts_its_machines(ansible, emulator, connect):
    connect(emulator)
    outcome = ansible.each({name: {f"oceanbase.ocp.{name}": options} for name, options in TASKS.items()})
    assert set(QUERIES) == {f"oceanbase.ocp.{name}" for name in TASKS}
    for name, machines in COUNTED.items():
        result = outcome.results[name]
        assert counted(name, result) == nodes(*(f"10.0.0.{last}" for last in machines)), result


def test_every_restart_module_has_a_query():
    modules = {path.stem for path in (REPOSITORY / "plugins/modules").glob("*.py")}
    changing = {name for name in modules if not name.endswith(("_info", "_wait", "_display"))}
    # A task has no target that every OCP shows, and the journal none at all.
    assert {f"oceanbase.ocp.{name}" for name in changing - {"task", "restart_journal_clear"}} == set(QUERIES)


@pytest.mark.parametrize(
    "result",
    [
        {"failed": True, "msg": "url: is not given"},
        {"before": None, "changed": True},
        {"before": {"members": None}},
        {"results": [{"before": {"members": [{"name": "10.0.0.1:2882"}]}}]},
        {"servers": [None]},
        {"before": {"members": [{"name": 7}]}},
        "a text",
    ],
)
def test_result_without_a_target_counts_nothing(result):
    assert counted("server_restart", result) == []


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("10.0.0.1:2882", "10.0.0.1"),
        ("[fe80::1]:2882", "fe80::1"),
        ("fe80::1:2882", "fe80::1:2882"),
        ("host7", "host7"),
    ],
)
def test_processes_on_a_machine_are_one_node(name, address):
    assert counted("agent_restart", {"before": {"members": [{"name": name}]}}) == nodes(address)
