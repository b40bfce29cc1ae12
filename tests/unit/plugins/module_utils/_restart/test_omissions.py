# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each field of each documented answer is missing or changed: done right or refused, never twice, no false green."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ModuleCrashed, OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.fleet_queries import (
    read_clusters,
    read_hosts,
    read_servers,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.cluster_health import Demands
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_gate import await_health
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session, transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.open_outcomes import forget_all
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.documented_ocp import ADDRESS, DocumentedOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, FakeClock

pytestmark = pytest.mark.slow

GONE = object()
VALUES = [GONE, None, 0, "text", ["UNKNOWN_WORD"], {"a": 1}, "0001-01-01T00:00:00Z"]
RESTARTS = {
    "server": Selector(
        Server, {"cluster": "billing", "server": "172.20.1.43:2882", "freeze_server": False, "force": False}
    ),
    "zone": Selector(Zone, {"cluster": "billing", "zone": "east"}),
    "cluster": Selector(Cluster, {"cluster": "billing"}),
    "agents": Selector(Agents, {"hosts": ["172.20.1.51"]}),
}
READS = {
    "clusters": lambda api, _clock: read_clusters(api, {}),
    "servers": lambda api, _clock: read_servers(api, {}),
    "hosts": lambda api, _clock: read_hosts(api, {}),
    "health": lambda api, clock: await_health(api, "billing", Demands(2), PollPolicy(1, 1), clock=clock),
}


def fields(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each field in an answer; the elements of a list are one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from fields(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner, path)


def changed(value: Any, path: tuple[str, ...], to: Any) -> Any:
    """``value`` with another value at ``path``, in all elements of lists on the way."""
    if isinstance(value, list):
        return [changed(inner, path, to) for inner in value]
    if not isinstance(value, dict) or path[0] not in value:
        return value
    if len(path) > 1:
        return {**value, path[0]: changed(value[path[0]], path[1:], to)}
    others = {key: inner for key, inner in value.items() if key != path[0]}
    return others if to is GONE else {**value, path[0]: to}


@pytest.fixture
def run(monkeypatch):
    """Run one call of a module on a documented service; its result or error, and the service."""

    def call(work, change=None):
        forget_all()
        time = FakeClock()
        ocp = DocumentedOcp(time)
        if change is not None:
            ocp.change = change
        monkeypatch.setattr(transport.Adapter, "send", lambda _self, request, **options: ocp.send(request, **options))
        clock = SimpleNamespace(time=time.clock.wall, monotonic=time.clock.now)
        monkeypatch.setattr(session, "time", clock)
        api = OcpApi(HttpClient(ADDRESS, basic_auth("admin", "pass-word-9"), verify=True, timeout=5.0))
        try:
            return work(api, time.clock), ocp
        except OcpError as error:
            return error, ocp

    return call


def restart(selector, since):
    request = RestartRequest(check_mode=False, wait=True, policy=PollPolicy(60, 10), started_before=since)
    return lambda api, clock: restart_target(api, selector, request, clock)


def variants(run, work):
    """Each template with each of its fields, as one whole run of ``work`` shows them."""
    seen: dict[str, set[tuple[str, ...]]] = {}

    def watch(template, data):
        seen.setdefault(template, set()).update(fields(data))
        return data

    run(work, watch)
    return [(template, path, value) for template in sorted(seen) for path in sorted(seen[template]) for value in VALUES]


def with_value(template, path, value):
    return lambda there, data: changed(data, path, value) if there == template else data


def told(template, path, value):
    return f"{template}: {'.'.join(path)} = {'left out' if value is GONE else json.dumps(value)}"


@pytest.mark.parametrize("since", [None, BEGINNING], ids=["always", "started_before"])
@pytest.mark.parametrize("name", RESTARTS)
def test_restart_with_any_field_missing_or_changed(name, since, run):
    work = restart(RESTARTS[name], since)
    found = variants(run, work)
    for template, path, value in found:
        outcome, ocp = run(work, with_value(template, path, value))
        case = told(template, path, value)
        assert len(ocp.posts) <= 1, case
        assert not isinstance(outcome, ModuleCrashed), f"{case}: {outcome}"
        if isinstance(outcome, OcpError):
            assert len(str(outcome)) > 20, case
            continue
        assert ocp.posts, f"{case}: green, though nothing was restarted: {outcome['reason']}"
        assert max(ocp.starts.values()) == 1, case
    assert len(found) > 400


@pytest.mark.parametrize("name", READS)
def test_read_with_any_field_missing_or_changed(name, run):
    found = variants(run, READS[name])
    for template, path, value in found:
        outcome, ocp = run(READS[name], with_value(template, path, value))
        assert isinstance(outcome, (OcpError, dict, list)), told(template, path, value)
        assert ocp.posts == []
    assert len(found) > 50
