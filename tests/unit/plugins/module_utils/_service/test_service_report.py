# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A check of the documented 4.2.2 service, down to the HTTP client: GET alone, stable keys, what each lack means."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session, transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.service_reads import ServiceReads
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.ask_service import Samples
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.service_report import service_report
from ansible_collections.oceanbase.ocp.tests.unit.support.documented_ocp import (
    ADDRESS,
    CLUSTER,
    UNKNOWN,
    DocumentedOcp,
)

RESTARTS = ["server_restart", "zone_restart", "cluster_restart", "agent_restart"]
LISTS = ("reads", "filters", "facts")


@pytest.fixture(autouse=True)
def ocp(time_passes, monkeypatch):
    """A service below the client, whose clock is the test's, with a restart of a server that has ended."""
    service = DocumentedOcp(time_passes)
    monkeypatch.setattr(transport.Adapter, "send", lambda _self, request, **options: service.send(request, **options))
    clock = SimpleNamespace(time=time_passes.clock.wall, monotonic=time_passes.clock.now)
    monkeypatch.setattr(session, "time", clock)
    service.answer("POST", f"/api/v2/ob/clusters/{CLUSTER}/servers/7000043/restart", "{}")
    service.answer("POST", "/api/v2/compute/hosts/batchRestartAgents", '{"hostIds": [51]}')
    time_passes.time += 10
    service.posts.clear()
    return service


def check(auth=None, samples=Samples()):  # noqa: B008 - it is frozen
    client = HttpClient(ADDRESS, auth or basic_auth("admin", "pass-word-9"), verify=True, timeout=5.0)
    return service_report(ServiceReads(client), samples)


def works(report):
    return {each["name"]: each["works"] for each in report["modules"]}


def state(report, part, name):
    [found] = [each for each in report[part] if each["name"] == name]
    return found["answer" if part == "reads" else "state"]


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("below", ["/api/v2", ""], ids=["prefixed", "plain"])
def test_documented_service_is_checked_by_get_alone(ocp, unknown, below):
    ocp.unknown, ocp.agents_below = unknown, below
    ocp.requests = 0
    report = check()
    assert (report["verdict"], report["restarts_work"], ocp.posts) == ("checked", unknown not in ("403", "500"), [])
    assert report["requests"] == ocp.requests <= 30
    known, other = ("agent", "agent_plain") if below else ("agent_plain", "agent")
    assert state(report, "reads", known) == "ok"
    absent = {"403": "forbidden", "500": "failed"}.get(unknown, "absent")
    assert {state(report, "reads", name) for name in (other, "cluster_detail", "arbitration_services")} == {absent}
    assert state(report, "facts", "task_tags") == "absent"
    assert {state(report, "facts", name) for name in ("server_start", "agent_start", "agent_pids")} == {"shown"}
    # Tasks without tags: only the host tells of which server or agent one is. No cluster needs that.
    assert [works(report)[name] for name in RESTARTS] == ["less", "less", "full", "less"]


def test_keys_are_the_same_whatever_happens(ocp, monkeypatch):
    good = check()
    monkeypatch.setattr(ocp, "answer", lambda *_args: (401, b"{}"))
    bad = check()
    assert bad["verdict"] == "credentials_refused"
    assert good.keys() == bad.keys()
    for part in (*LISTS, "modules"):
        assert [each["name"] for each in good[part]] == [each["name"] for each in bad[part]]
        assert {frozenset(each) for each in good[part]} == {frozenset(each) for each in bad[part]}
    assert set(works(bad).values()) == {"no"}
    assert (bad["requests"], bad["restarts_work"]) == (2, False)
    assert "Check username and password." in bad["message"]


@pytest.mark.parametrize(
    ("auth", "credentials"),
    [
        (basic_auth("admin", "pass-word-9"), {"kind": "password", "user": "admin", "state": "accepted"}),
        (AccessKeyAuth("key", "key-secret-9"), {"kind": "access_key", "user": None, "state": "accepted"}),
    ],
)
def test_credentials_are_told_without_the_secret(auth, credentials):
    report = check(auth)
    assert report["credentials"] == credentials
    assert "secret-9" not in str(report)


def test_rights_are_those_of_the_reads(ocp):
    ocp.change = lambda template, data: None if template.endswith("/tasks/instances") else data
    answer = ocp.answer

    def refusing(method, url, body):
        return (403, b'{"successful": false}') if "/compute/hosts" in url else answer(method, url, body)

    ocp.answer = refusing
    assert check()["rights"] == {
        "read_clusters": "granted",
        "read_hosts": "refused",
        "read_arbitration_services": "unknown",
        "read_obproxies": "unknown",
        "read_tasks": "unknown",
        "restart": "unknown until tried",
    }


def without(*names):
    """Leave fields out of every record."""

    def strip(value):
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items() if key not in names}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return lambda _template, data: strip(data)


@pytest.mark.parametrize(
    ("names", "fact", "module", "words"),
    [
        (["startTime"], "server_start", "cluster_restart", "a start is shown for 0 of 3 servers"),
        (["pid"], "agent_pids", "agent_restart", "no process with a pid"),
        (["elapsedTime"], "agent_start", "agent_restart", "no uptime"),
        (["withRootserver"], "root_server", "rolling_restart", "the root server is not shown"),
    ],
)
def test_fact_that_is_not_shown_costs_proof(ocp, names, fact, module, words):
    assert state(check(), "facts", fact) == "shown"
    ocp.change = without(*names)
    report = check()
    assert state(report, "facts", fact) == "absent"
    [found] = [each for each in report["modules"] if each["name"] == module]
    assert found["works"] == "less"
    assert words in " ".join(found["why"])


@pytest.mark.parametrize(
    ("path", "modules"),
    [
        ("/api/v2/ob/clusters", ["server_restart", "zone_restart", "cluster_restart", "rolling_restart"]),
        ("/servers", ["server_restart", "zone_restart", "cluster_restart", "cluster_wait", "server_info"]),
        ("/api/v2/compute/hosts", ["agent_restart", "agent_rolling_restart", "host_info"]),
        ("/agent", ["agent_restart", "agent_rolling_restart"]),
        ("/api/v2/tasks/instances", ["server_restart", "agent_restart", "task_wait", "cluster_wait"]),
    ],
)
def test_read_that_fails_stops_what_needs_it(ocp, path, modules):
    answer = ocp.answer
    ocp.answer = lambda method, url, body: (
        (500, b'{"successful": false}') if url.partition("?")[0].endswith(path) else answer(method, url, body)
    )
    found = works(check())
    assert {name: found[name] for name in modules} == dict.fromkeys(modules, "no")


def test_forbidden_task_list_leaves_restarts_with_less_proof(ocp):
    answer = ocp.answer
    ocp.answer = lambda method, url, body: (
        (403, b'{"successful": false}') if "/tasks/instances" in url else answer(method, url, body)
    )
    found = works(check())
    assert {found[name] for name in RESTARTS} == {"less"}
    assert {found[name] for name in ("task_wait", "cluster_wait", "rolling_restart")} == {"no"}


def test_no_arbitration_service_is_no_failure():
    report = check()
    assert works(report)["arbitration_service_restart"] == "absent"
    assert report["restarts_work"] is True


def test_no_cluster_is_a_failure(ocp):
    ocp.change = lambda template, data: {"contents": []} if template == "/api/v2/ob/clusters" else data
    report = check()
    assert (works(report)["server_restart"], report["restarts_work"]) == ("no", False)
    assert state(report, "reads", "servers") == "skipped"


def test_used_up_request_limit_leaves_the_rest_unknown(ocp):
    answer = ocp.answer
    ocp.answer = lambda method, url, body: (
        (429, b'{"successful": false}') if "/compute/hosts" in url else answer(method, url, body)
    )
    report = check()
    assert (report["verdict"], report["restarts_work"]) == ("rate_limited", False)
    assert {each["works"] for each in report["modules"] if each["restarts"]} == {"unknown"}
    assert works(report)["server_info"] == "full"
    assert state(report, "reads", "alarms") == "skipped"
    assert "run this again" in report["message"]


@pytest.mark.parametrize("samples", [Samples("billing-archive", "52"), Samples("7000032", "172.20.1.52")])
def test_samples_are_found_by_name_or_id(samples):
    paths = {each["path"] for each in check(samples=samples)["reads"]}
    assert {"/api/v2/ob/clusters/7000032/servers", "/api/v2/compute/hosts/52/agent"} <= paths


@pytest.mark.parametrize(
    ("samples", "error"),
    [(Samples("bill"), TargetError), (Samples(None, "53"), TargetError), (Samples(""), OptionError)],
)
def test_sample_that_cannot_be_is_refused(samples, error):
    with pytest.raises(error):
        check(samples=samples)


def test_tenants_parameters_and_alarms_are_seen(ocp, monkeypatch):
    routes = ocp._routes()
    for path, record in {
        "/api/v2/ob/clusters/{id}/tenants": {"name": "sys", "locality": "FULL{1}@east"},
        "/api/v2/ob/clusters/{id}/parameters": {"currentValue": {"valueToServers": {"10": ["172.20.1.41:2882"]}}},
        "/api/v2/alarm/alarms": {"alarmType": "observer_process_stop"},
    }.items():
        routes["GET", path] = lambda *_ids, found=record, **_: {"contents": [found]}
    monkeypatch.setattr(ocp, "_routes", lambda: routes)
    report = check()
    assert {state(report, "facts", name) for name in ("tenants", "parameters", "alarms")} == {"shown"}
