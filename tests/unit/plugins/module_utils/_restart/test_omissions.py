# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each field of each documented answer is missing or changed: done right or an error that names it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ModuleCrashed, OcpError, TaskFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.fleet_queries import (
    read_arbitration_services,
    read_clusters,
    read_hosts,
    read_obproxy_clusters,
    read_servers,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_gate import await_health
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.read_health import Demands
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session, transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.obproxies import ObProxies
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.allowed_actions import DesiredState, State
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.task_actions import act_on_task
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.await_tasks import await_tasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.fuzz.whole_ocp import FAILED_TASK, RUNNING_TASKS, WholeOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller
from ansible_collections.oceanbase.ocp.tests.unit.support.documented_ocp import ADDRESS, DocumentedOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, FakeClock

pytestmark = pytest.mark.slow

GONE = object()
VALUES = (GONE, "text")
MORE_VALUES = (None, ["UNKNOWN_WORD"], 0, {"a": 1}, "0001-01-01T00:00:00Z")
RESTARTS = {
    "server": Selector(
        Server, {"cluster": "billing", "server": "172.20.1.43:2882", "freeze_server": False, "force": False}
    ),
    "zone": Selector(Zone, {"cluster": "billing", "zone": "east"}),
    "cluster": Selector(Cluster, {"cluster": "billing"}),
    "agents": Selector(Agents, {"hosts": ["172.20.1.51"]}),
    "arbitration service": Selector(ArbitrationService, {"arbitration_service": "172.20.1.61:2888"}),
    "obproxies": Selector(ObProxies, {"obproxy_cluster": "entry", "obproxies": ["172.20.1.71:2883"]}),
}
DATABASES_AND_AGENTS = ["server", "zone", "cluster", "agents"]
NEWEST = partial(WholeOcp, newest=True)
READS = {
    "clusters": lambda api, _clock: read_clusters(api, {}),
    "servers": lambda api, _clock: read_servers(api, {}),
    "hosts": lambda api, _clock: read_hosts(api, {}),
    "arbitration services": lambda api, _clock: read_arbitration_services(api, {}),
    "obproxies": lambda api, _clock: read_obproxy_clusters(api, {}),
    "health": lambda api, clock: await_health(api, "billing", Demands(2), PollPolicy(1, 1), clock=clock),
}
POLICY = PollPolicy(20, 10)
# Whether the tasks of the service fail, and which ones are waited for.
WAITS = {
    "tasks that succeed": (False, RUNNING_TASKS[:2]),
    "tasks that fail": (True, [FAILED_TASK, RUNNING_TASKS[0]]),
}
ACTIONS = {
    "retried": (FAILED_TASK, DesiredState(State.RETRIED)),
    "rolled back": (FAILED_TASK, DesiredState(State.ROLLED_BACK)),
    "skipped": (FAILED_TASK, DesiredState(State.SKIPPED, status="FAILED")),
    "canceled": (RUNNING_TASKS[0], DesiredState(State.CANCELED, status="RUNNING")),
}
# How an error names a field that it lacks, besides by a wrong value of it.
NAMED = {
    "contents": "a list of objects",
    "id": r"different entries|shows no ids?|names no task|names task 0 instead|no field of a task|id is not shown|"
    r"the service no longer shows it",
    "name": r"no name or address is shown|not a new restart of|the service no longer shows it",
    "status": r"no status is shown|does not run|without the status of each subtask|zones are up: |FAILED\.$",
    "operation": "no field of a task",
    "innerStatus": "unknown state",
    "ip": r"no name or address is shown|the service no longer shows it",
    "port": r"no name or address is shown|the service no longer shows it",
    "sqlPort": "no name or address is shown",
    "innerIpAddress": "no name or address is shown",
    "svrIp": "no name or address is shown",
    "svrPort": "no name or address is shown",
    "obproxies": "the service no longer shows it",
    "zones": r"zone|the service no longer shows it",
    "zoneName": "zone",
    "alias": "does not run",
    "pid": "does not run",
    "processes": "does not run",
    "subtasks": "without subtasks",
    "tasks": "no field of a task",
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
    """Run one call of a module on a service, a documented one by default; its result or error, and the service."""
    # Each request looks for a proxy in all of it.
    for name in list(os.environ):
        monkeypatch.delenv(name)

    def call(work, change=None, service=DocumentedOcp):
        # Each service begins anew, and so does what its controller has noted: its tasks have the same ids.
        another_controller()
        time = FakeClock()
        ocp = service(time)
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
    request = RestartRequest(check_mode=False, wait=True, policy=POLICY, started_before=since)
    return lambda api, clock: restart_target(api, selector, request, clock)


every_value = pytest.mark.parametrize(
    "values", [VALUES, pytest.param(MORE_VALUES, marks=pytest.mark.nightly)], ids=["values", "more values"]
)


def variants(run, work, values, least, **options):
    """Each template with each of its fields, ``least`` at least, as one whole run of ``work`` shows them."""
    seen: dict[str, set[tuple[str, ...]]] = {}

    def watch(template, data):
        seen.setdefault(template, set()).update(fields(data))
        return data

    undisturbed, _ocp = run(work, watch, **options)
    found = [(template, path) for template in sorted(seen) for path in sorted(seen[template])]
    assert len(found) > least
    return undisturbed, [(template, path, value) for template, path in found for value in values]


def with_value(template, path, value):
    return lambda there, data: changed(data, path, value) if there == template else data


def told(template, path, value):
    return f"{template}: {'.'.join(path)} = {'left out' if value is GONE else json.dumps(value)}"


def is_clear(error, undisturbed, path, value):
    """Whether it names what is missing or wrong, if that is why it is raised, in words of its own."""
    message = str(error)
    if isinstance(error, ModuleCrashed) or re.search(r"\b(None|null)\b", message):
        return False
    if isinstance(error, TaskFailed) and isinstance(undisturbed, TaskFailed) and "FAILED" in message:
        return True
    shown = re.search(rf"(?<![\w.]){value}(?!\w|\.\w)", message) if isinstance(value, (str, int)) else None
    return bool(shown or re.search(NAMED.get(path[-1], "(?!)"), message, re.MULTILINE))


@pytest.mark.parametrize(
    ("since", "values"),
    [
        pytest.param(None, VALUES, id="always", marks=pytest.mark.nightly),
        pytest.param(None, MORE_VALUES, id="always, more values", marks=pytest.mark.nightly),
        pytest.param(BEGINNING, VALUES, id="started_before"),
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("server", "agents") else pytest.mark.nightly)
        for name in DATABASES_AND_AGENTS
    ],
)
def test_restart_with_any_field_missing_or_changed(name, since, values, run):
    check_restart(run, restart(RESTARTS[name], since), values, 65, DocumentedOcp)


@pytest.mark.nightly
@pytest.mark.parametrize("name", DATABASES_AND_AGENTS)
def test_restart_with_any_field_of_newer_documents_missing_or_changed(name, run):
    check_restart(run, restart(RESTARTS[name], BEGINNING), VALUES, 65, NEWEST)


@pytest.mark.nightly
@every_value
@pytest.mark.parametrize("name", ["arbitration service", pytest.param("obproxies", marks=pytest.mark.nightly)])
def test_restart_of_what_shows_no_start_with_any_field_missing_or_changed(name, values, run):
    check_restart(run, restart(RESTARTS[name], None), values, 18, NEWEST)


def check_restart(run, work, values, least, service):
    undisturbed, found = variants(run, work, values, least, service=service)
    for template, path, value in found:
        outcome, ocp = run(work, with_value(template, path, value), service=service)
        case = told(template, path, value)
        assert len(ocp.posts) <= 1, case
        if isinstance(outcome, OcpError):
            assert is_clear(outcome, undisturbed, path, value), f"{case}: {outcome}"
            continue
        assert ocp.posts, f"{case}: green, though nothing was restarted: {outcome['reason']}"
        assert max(ocp.starts.values()) == 1, case


@every_value
@pytest.mark.parametrize("name", READS)
def test_read_with_any_field_missing_or_changed(name, values, run):
    service = NEWEST if name in ("arbitration services", "obproxies") else DocumentedOcp
    undisturbed, found = variants(run, READS[name], values, 7, service=service)
    for template, path, value in found:
        outcome, ocp = run(READS[name], with_value(template, path, value), service=service)
        assert ocp.posts == []
        if isinstance(outcome, OcpError):
            assert is_clear(outcome, undisturbed, path, value), f"{told(template, path, value)}: {outcome}"
        else:
            assert isinstance(outcome, (dict, list)), told(template, path, value)


@pytest.mark.nightly
@every_value
@pytest.mark.parametrize("name", WAITS)
def test_wait_with_any_field_missing_or_changed(name, values, run):
    fails, task_ids = WAITS[name]

    def work(api, clock):
        return await_tasks(api, task_ids, POLICY, clock=clock)

    options = {"service": partial(WholeOcp, fails=fails)}
    undisturbed, found = variants(run, work, values, 21, **options)
    assert isinstance(undisturbed, OcpError) is fails
    for template, path, value in found:
        outcome, ocp = run(work, with_value(template, path, value), **options)
        case = told(template, path, value)
        assert ocp.posts == []
        if isinstance(outcome, OcpError):
            assert is_clear(outcome, undisturbed, path, value), f"{case}: {outcome}"
        else:
            assert all(ocp.status_of(task_id) == "SUCCESSFUL" for task_id in task_ids), f"{case}: green"


@pytest.mark.nightly
@every_value
@pytest.mark.parametrize("name", ACTIONS)
def test_task_action_with_any_field_missing_or_changed(name, values, run):
    task_id, desired = ACTIONS[name]

    def work(api, clock):
        return act_on_task(api, task_id, desired, POLICY, wait=True, check_mode=False, clock=clock)

    undisturbed, found = variants(run, work, values, 21, service=WholeOcp)
    assert undisturbed["changed"] is True
    for template, path, value in found:
        outcome, ocp = run(work, with_value(template, path, value), service=WholeOcp)
        case = told(template, path, value)
        assert len(ocp.posts) <= 1, case
        if isinstance(outcome, OcpError):
            assert is_clear(outcome, undisturbed, path, value), f"{case}: {outcome}"
        else:
            assert outcome["changed"] is bool(ocp.posts), case
            # By its own word each subtask is in another status.
            others = path == ("subtasks", "status") and isinstance(value, (str, int))
            assert ocp.posts or others, f"{case}: green, though nothing was done"
            assert ocp.status_of(task_id) == "SUCCESSFUL", case
