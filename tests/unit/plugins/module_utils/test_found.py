# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Tests that show a defect; each moves to its subject's file when the defect is gone."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils import _module
from ansible_collections.oceanbase.ocp.plugins.module_utils._api import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._errors import (
    AnswerUnreadable,
    NotFound,
    NotVerified,
    OcpError,
    OptionError,
    PermissionDenied,
    RequestRefused,
    ServiceError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._http import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import Options, perform
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets import Agents, Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._tasks import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting import Patience, await_tasks, wait_for_tasks
from ansible_collections.oceanbase.ocp.tests.unit.plugins.module_utils._doubles import URL, answer, raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.plugins.module_utils._server import (
    SILENCE,
    Reply,
    envelope,
    refusal,
)

AGENTS_PATH = "/compute/hosts/batchRestartAgents"
EARLIER, BETWEEN = "2026-05-04T03:02:01+08:00", "2026-05-04T03:02:09+08:00"
LATER, LAST = "2026-05-04T03:12:01+08:00", "2026-05-04T03:12:09+08:00"
WAIT = Options(check_mode=False, patience=Patience(60, 10))
DONE = raw_task(81, "SUCCESSFUL", subtasks=[step(1, "Only step", "SUCCESSFUL")])


def connect(url, *, verify=True, timeout=5.0, auth=None):
    return HttpClient(url, auth or basic_auth("admin", "secret"), verify=verify, timeout=timeout)


def server_record(number, start_time):
    return {"id": number, "ip": f"10.1.0.{number}", "port": 2882, "status": "RUNNING", "startTime": start_time}


# _restart: the proof


def restart_cluster(api, time_passes, before, after):
    api.expect("servers", 31, gives=before).expect("cluster", 31, gives={"status": "RUNNING"})
    api.expect("restart_cluster", 31, gives=answer(raw_task(81)))
    api.expect("task", 81, gives=DONE)
    api.expect("servers", 31, gives=after).expect("cluster", 31, gives={"status": "RUNNING"})
    return perform(api.double, Cluster(31, "orders"), WAIT, time_passes.clock)


def test_servers_are_compared_by_name_not_by_place(api, time_passes):
    """Nothing has restarted; the list only came in another order."""
    before = [server_record(1, EARLIER), server_record(2, BETWEEN)]
    with pytest.raises(NotVerified):
        restart_cluster(api, time_passes, before, before[::-1])


def test_server_that_moved_is_not_blamed_for_one_that_did_not(api, time_passes):
    before = [server_record(1, EARLIER), server_record(2, EARLIER)]
    with pytest.raises(NotVerified, match=r"but 10\.1\.0\.1:2882 has not"):
        restart_cluster(api, time_passes, before, [server_record(2, LATER), server_record(1, EARLIER)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([server_record(1, EARLIER)], [], id="no server afterwards"),
        pytest.param([], [], id="no server at all"),
        pytest.param(
            [server_record(1, EARLIER), server_record(2, EARLIER)], [server_record(1, LATER)], id="one server less"
        ),
    ],
)
def test_what_is_not_shown_is_not_verified(before, after, api, time_passes):
    result = restart_cluster(api, time_passes, before, after)
    assert result["verified"] is None
    assert "not verified" in result["reason"]


def test_processes_of_other_names_prove_nothing_and_disprove_nothing(api, time_passes):
    api.expect("host_agent", 51, gives={"processes": [{"alias": "agentd", "pid": 1}]})
    api.expect("restart_agents", [51], gives=answer(raw_task(81))).expect("task", 81, gives=DONE)
    api.expect("host_agent", 51, gives={"processes": [{"alias": "agentd-2", "pid": 2}]})
    result = perform(api.double, Agents(((51, "10.1.0.1"),)), WAIT, time_passes.clock)
    assert result["verified"] is None


def test_same_instant_written_otherwise_is_no_restart(api, time_passes):
    with pytest.raises(NotVerified):
        restart_cluster(api, time_passes, [server_record(1, EARLIER)], [server_record(1, "2026-05-03T19:02:01.000Z")])


# _restart: no task that was started is lost


@pytest.mark.parametrize(
    "odd",
    [
        {"cluster": "orders"},
        {"subtasks": ["first"]},
        {"subtasks": {"first": 1}},
        {"subtasks": [{"id": 1, "upstreams": 5}]},
        {"tags": ["x"]},
    ],
    ids=json.dumps,
)
def test_started_task_of_an_odd_form_is_not_lost(odd, api, time_passes):
    api.expect("servers", 31, gives=[]).expect("cluster", 31, gives={})
    api.expect("restart_cluster", 31, gives=answer(raw_task(81, **odd)))
    try:
        facts = perform(api.double, Cluster(31, "orders"), Options(False, None), time_passes.clock)
    except OcpError as error:
        facts = error.facts
    assert (facts["task_id"], facts["changed"]) == (81, True)


def test_trace_id_stays_the_one_of_the_post(api, time_passes):
    """RETURN says: trace id of the request that started the restart."""
    api.expect("servers", 31, gives=[]).expect("cluster", 31, gives={})
    api.expect("restart_cluster", 31, gives=answer(raw_task(81), "trace-post"))
    refused = PermissionDenied("No.", status=403, reason="", url=URL, trace_id="trace-poll")
    api.expect("task", 81, gives=refused)
    with pytest.raises(PermissionDenied) as raised:
        perform(api.double, Cluster(31, "orders"), WAIT, time_passes.clock)
    assert raised.value.facts["trace_id"] == "trace-post"


def test_task_still_running_is_not_said_to_have_failed(api, time_passes):
    api.expect("servers", 31, gives=[]).expect("cluster", 31, gives={})
    api.expect("restart_cluster", 31, gives=answer(raw_task(81)))
    for _look in range(3):
        api.expect("task", 81, gives=raw_task(81))
    with pytest.raises(OcpError) as raised:
        perform(api.double, Cluster(31, "orders"), Options(False, Patience(1, 10)), time_passes.clock)
    assert "did not succeed" not in str(raised.value)


# _api


@pytest.mark.parametrize("status", [401, 403, 409, 429, 500, 502, 503])
@pytest.mark.parametrize("reason", ["", "Not Found"], ids=["HTML", "without the path"])
def test_refusal_of_the_path_that_exists_is_reported(reason, status, client):
    """A 401, 403, 409, or 5xx can only come from the path that is there; a 5xx may have restarted the agents."""
    first = NotFound("no", status=404, reason=reason, url=URL)
    second = RequestRefused("refused", status=status, reason="", url=URL, maybe_done=status >= 500)
    client.expect("post", AGENTS_PATH, None, {"hostIds": [4]}, gives=first)
    client.expect("post", f"/api/v2{AGENTS_PATH}", None, {"hostIds": [4]}, gives=second)
    with pytest.raises(RequestRefused) as raised:
        OcpApi(client.double).restart_agents([4])
    assert raised.value is second


@pytest.mark.parametrize("page", [1, "1", [], ["x"], {"totalPages": "many"}, {"totalPages": [1]}], ids=repr)
def test_page_of_another_form(page, client):
    query = {"page": 1, "size": 2000}
    client.expect("get", "/api/v2/compute/hosts", query, gives=answer({"contents": [{"id": 1}], "page": page}))
    with suppress(AnswerUnreadable):
        assert OcpApi(client.double).hosts() == [{"id": 1}]


@pytest.mark.parametrize("record", [{"name": "orders"}, {"name": "orders", "id": None}], ids=repr)
def test_record_without_an_id(record, api):
    api.expect("clusters", "orders", gives=[record])
    with pytest.raises(OcpError):
        Cluster.find(api.double, "orders")


@pytest.mark.parametrize("processes", [{"agentd": 1}, ["agentd"], 5], ids=repr)
def test_agent_with_processes_of_another_form(processes, api):
    api.expect("host_agent", 51, gives={"status": "AVAILABLE", "processes": processes})
    try:
        observed = Agents(((51, "10.1.0.1"),)).observe(api.double)
    except OcpError:
        return
    assert observed.members[0].pids is None


# _tasks


def test_null_is_the_same_as_absent():
    assert Task.from_api(raw_task(1, clusterId=None, cluster={"id": 31, "name": "orders"})).cluster_id == 31
    assert Task.from_api(raw_task(1, hostId=None, tags=[{"hostId": 9}])).host_id == 9


def test_steps_without_ids_are_all_shown():
    steps = [{"description": "a"}, {"description": "b"}]
    assert [step.description for step in Task.from_api(raw_task(1, subtasks=steps)).subtasks] == ["a", "b"]


def test_steps_side_by_side_without_an_index_do_not_follow_the_array():
    steps = [step(1, "first", downstreams=[2, 3]), step(2, "b", upstreams=[1]), step(3, "c", upstreams=[1])]
    orders = {
        tuple(step.id for step in Task.from_api(raw_task(1, subtasks=array)).subtasks) for array in (steps, steps[::-1])
    }
    assert len(orders) == 1


# _waiting


@pytest.mark.parametrize("kind", [PermissionDenied, NotFound])
def test_refused_look_carries_the_tasks_seen(kind, api, time_passes):
    """RETURN of task_wait says of tasks: returned always, a failure has them too."""
    api.expect("task", 1, gives=raw_task(1, "SUCCESSFUL"))
    api.expect("task", 2, gives=kind("No.", status=403, reason="", url=URL))
    with pytest.raises(kind) as raised:
        await_tasks(api.double, [1, 2], Patience(60, 10), time_passes.clock)
    assert [task["id"] for task in raised.value.facts["tasks"]] == [1]


def test_slow_looks_do_not_stretch_the_wait(api, time_passes):
    """Each look takes 4 s: what is left of the budget counts from the end of a look, not from its beginning."""

    def task(number):
        time_passes.time += 4
        return raw_task(number)

    started = time_passes.time
    api.double.task.side_effect = task
    with pytest.raises(OcpError, match=r"not finished after 1[0-4] seconds"):
        wait_for_tasks(api.double, [1], Patience(10, 10), time_passes.clock)
    assert time_passes.time - started <= 14


# _http


def failure_of(client, method="GET") -> ServiceError:
    with pytest.raises(ServiceError) as raised:
        client.get("/api/v2/x") if method == "GET" else client.post("/api/v2/x")
    return raised.value


@pytest.mark.parametrize("location", ["/login", "login", "", "http://[broken"], ids=repr)
def test_redirect_without_a_host(location, server):
    server.expect("GET", "/api/v2/x", Reply(302, b"", {"Location": location} if location else {}))
    error = failure_of(connect(server.url))
    assert "://;" not in str(error)
    assert server.url in str(error)


def test_message_of_a_read_ends_with_a_sentence(server, pauses):
    server.expect("GET", "/api/v2/x", *[SILENCE] * 3)
    message = str(failure_of(connect(server.url, timeout=0.03)))
    assert message == message.strip()
    assert message.endswith(".")
    assert len(pauses) <= 2


@pytest.mark.parametrize("status", [502, 503, 504])
def test_rate_limit_header_counts_after_a_429_alone(status, server, pauses):
    """The service sends the header with every answer when limits are on."""
    server.expect("GET", "/api/v2/x", refusal(status, RateLimit_Reset="25"), envelope("good"))
    connect(server.url, timeout=30).get("/api/v2/x")
    assert sum(pauses) < 5


def test_bundle_of_the_environment_that_does_not_exist(tls_server, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/no/such/bundle.pem")
    assert "/no/such/bundle.pem" in str(failure_of(connect(tls_server.url)))


def test_ca_path_that_holds_no_certificate(tmp_path):
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate\n")
    params = {"url": URL, "username": "a", "password": "b", "access_key_id": None, "access_key_secret": None}
    with pytest.raises(OptionError, match="ca_path"):
        _module.connect({**params, "validate_certs": True, "ca_path": str(empty), "timeout": 30})


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".invalid", ".ocp.test"])
def test_host_name_that_cannot_be_encoded(host):
    assert host in str(failure_of(connect(f"http://{host}:8080")))


def test_wrong_host_in_the_certificate_is_not_blamed_on_the_authority(tls_server, ca_path):
    url = tls_server.url.replace("127.0.0.1", "localhost")
    message = str(failure_of(connect(url, verify=ca_path)))
    assert ".." not in message
    assert "Give the authority's certificate" not in message


def test_repetitions_do_not_depend_on_how_the_address_is_written(server, pauses):
    server.expect("GET", "/a%20b/api/v2/x", refusal(503), envelope("good"))
    # Fails at the end of the test too, since one scripted request does not come.
    assert connect(f"{server.url}/a b").get("/api/v2/x").data == "good"
    assert len(pauses) <= 1


@pytest.mark.parametrize("key_id", ["key\n", "key\r\nX-Other: 1", "ключ"], ids=repr)
def test_access_key_id_that_no_header_can_hold(key_id):
    params = {"url": URL, "username": None, "password": None, "access_key_id": key_id, "access_key_secret": "s"}
    with pytest.raises(OptionError, match="access_key_id"):
        _module.connect({**params, "validate_certs": True, "ca_path": None, "timeout": 30})


def test_access_key_id_that_no_header_can_hold_is_no_traceback(server):
    with pytest.raises(OcpError):
        connect(server.url, auth=AccessKeyAuth("key\n", "secret")).get("/api/v2/x")


def test_signature_is_not_shown_when_it_cannot_be_sent(server):
    with pytest.raises(OcpError) as raised:
        connect(server.url, auth=AccessKeyAuth("key\n", "secret")).get("/api/v2/x")
    assert "OCP-ACCESS-KEY-HMACSHA1" not in str(raised.value)


def test_post_whose_answer_has_a_broken_header_may_have_been_carried_out(server):
    """An InvalidHeader of requests is a ValueError too, but this one is about the answer."""
    server.expect("POST", "/api/v2/x", Reply(200, b"{}", {"Content-Length": "2, 3"}))
    error = failure_of(connect(server.url), "POST")
    assert error.maybe_done


# _module


@pytest.mark.parametrize("url", ["ftp://admin:hidden-9@ocp.test", "https://admin:hidden-9@ocp.test:99999"])
def test_password_in_a_bad_url_is_not_repeated(url):
    with pytest.raises(OptionError) as raised:
        _module._address(url)
    assert "hidden-9" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://ocp.test:8080/?", "http://ocp.test:8080/#"])
def test_empty_query_or_fragment_in_the_url(url):
    with pytest.raises(OptionError):
        _module._address(url)


def test_seconds_out_of_range_are_shown_as_given():
    with pytest.raises(OptionError, match="wait_timeout: 9999999 is out of range"):
        _module.patience({"wait_timeout": 9999999, "wait_interval": 10})
