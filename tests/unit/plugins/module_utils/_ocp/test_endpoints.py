# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each endpoint: method, path, query, body, and its result."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ResponseLost,
    ResponseUnreadable,
    WrongRecord,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.records import shows_all
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.shared_reads import ReadsInOrder, SharedReads
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, page_of, response

STARTED = response({"id": 81, "status": "RUNNING", "operation": "EXECUTE"}, "trace-81")
AGENTS = "/compute/hosts/batchRestartAgents"
AGENT = "/compute/hosts/4/agent"
FIRST_PAGE = {"page": 1, "size": 2000}
TASKS = "/api/v2/tasks/instances"


def refused(status, reason="", kind=RequestRefused):
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, kind)
    return kind(f"refused with {status}", status=status, reason=reason, url=URL)


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        pytest.param(
            lambda api: api.restart_server(3, 14, freeze_server=True, force=False),
            (
                "/api/v2/ob/clusters/3/servers/14/restart",
                {"freezeServer": "true", "force": "false"},
                {"freezeServer": True, "force": False},
            ),
            id="server, frozen",
        ),
        pytest.param(
            lambda api: api.restart_server(3, 14, freeze_server=False, force=True),
            (
                "/api/v2/ob/clusters/3/servers/14/restart",
                {"freezeServer": "false", "force": "true"},
                {"freezeServer": False, "force": True},
            ),
            id="server, forced",
        ),
        pytest.param(
            lambda api: api.restart_cluster(3), ("/api/v2/ob/clusters/3/restart", None, None), id="cluster: no body"
        ),
        pytest.param(
            lambda api: api.restart_zone(3, "zone 1"),
            ("/api/v2/ob/clusters/3/zones/zone%201/restart", None, None),
            id="zone: no body",
        ),
        pytest.param(
            lambda api: api.restart_arbitration_service(9),
            ("/api/v2/arbitration/services/9/restart", None, None),
            id="arbitration service: no body",
        ),
    ],
)
def test_restart_posts_the_documented_path_query_and_body(call, sent, client):
    path, params, body = sent
    client.expect("post", path, params, body, gives=STARTED)
    assert call(OcpApi(client.double)) == STARTED


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (lambda api: api.task(81), "/api/v2/tasks/instances/81"),
        (lambda api: api.arbitration_service(9), "/api/v2/arbitration/services/9"),
    ],
    ids=["task", "arbitration service"],
)
class TestRecord:
    def test_record_has_its_documented_fields_alone(self, call, path, client):
        number = path.rpartition("/")[2]
        client.expect("get", path, gives=response({"id": number, "status": "RUNNING", "more": [2]}))
        assert call(OcpApi(client.double)) == {"id": int(number), "status": "RUNNING"}

    @pytest.mark.parametrize("data", [None, [], [{"id": 1}], "text", 5, True], ids=repr)
    def test_undocumented_data_is_unreadable(self, data, call, path, client):
        client.expect("get", path, gives=response(data))
        with pytest.raises(ResponseUnreadable, match="does not have the documented form") as raised:
            call(OcpApi(client.double))
        assert raised.value.facts == {"url": URL, "trace_id": "trace-1"}
        assert not raised.value.may_have_run

    def test_request_error_propagates(self, call, path, client):
        error = refused(403)
        client.expect("get", path, gives=error)
        with pytest.raises(PermissionDenied) as raised:
            call(OcpApi(client.double))
        assert raised.value is error


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"id": 7}, "task 7"),
        ({"id": "7"}, "task 7"),
        ({}, "no task"),
        ({"id": None}, "no task"),
        ({"id": "first"}, "no task"),
        ({"id": [81]}, "no task"),
        ({"id": 81.0}, "no task"),
    ],
)
def test_record_of_another_task_is_unreadable(answer, named, client):
    finished = {"status": "SUCCESSFUL", "operation": "EXECUTE", **answer}
    client.expect("get", "/api/v2/tasks/instances/81", gives=response(finished))
    with pytest.raises(WrongRecord) as raised:
        OcpApi(client.double).task(81)
    assert isinstance(raised.value, ResponseUnreadable)
    assert f"names {named} instead of task 81" in str(raised.value)
    assert raised.value.facts == {"url": URL, "trace_id": "trace-1"}
    assert not raised.value.may_have_run


LISTS = {
    "clusters": (lambda api: api.clusters("ord"), "/api/v2/ob/clusters", {"name": "ord"}),
    "all clusters": (lambda api: api.clusters(), "/api/v2/ob/clusters", {}),
    "servers": (lambda api: api.servers(3), "/api/v2/ob/clusters/3/servers", {}),
    "hosts": (lambda api: api.hosts(), "/api/v2/compute/hosts", {}),
    "arbitration services": (lambda api: api.arbitration_services(), "/api/v2/arbitration/services", {}),
}
NO_PAGES = [None, {}, 1, "1", [], ["x"], *({"totalPages": pages} for pages in (0, None, "many", [1]))]


def entry(path, number):
    """The shortest record of a list: a server has its address or its zone."""
    return {"id": number, "zoneName": "zone1"} if path.endswith("/servers") else {"id": number}


@pytest.mark.parametrize(("call", "path", "query"), LISTS.values(), ids=LISTS)
class TestList:
    def test_single_page_takes_one_request(self, call, path, query, client):
        client.expect("get", path, {**query, **FIRST_PAGE}, gives=page_of(entry(path, 1), entry(path, 2)))
        assert call(OcpApi(client.double)) == [entry(path, 1), entry(path, 2)]

    def test_all_pages_are_read(self, call, path, query, client):
        for number in (1, 2, 3):
            found = page_of(entry(path, number), number=number, pages=3)
            client.expect("get", path, {**query, "page": number, "size": 2000}, gives=found)
        assert call(OcpApi(client.double)) == [entry(path, 1), entry(path, 2), entry(path, 3)]

    @pytest.mark.parametrize("page", [{}, *({"page": page} for page in NO_PAGES)], ids=repr)
    def test_missing_page_info_means_one_page(self, page, call, path, query, client):
        client.expect("get", path, {**query, **FIRST_PAGE}, gives=response({"contents": [entry(path, 1)], **page}))
        assert call(OcpApi(client.double)) == [entry(path, 1)]

    def test_empty_list_is_returned(self, call, path, query, client):
        client.expect("get", path, {**query, **FIRST_PAGE}, gives=page_of(pages=0))
        assert call(OcpApi(client.double)) == []

    @pytest.mark.parametrize("contents", [{}, {"contents": None}], ids=repr)
    @pytest.mark.parametrize("total", [0, "0"], ids=repr)
    def test_list_without_contents_is_empty_if_the_page_says_so(self, total, contents, call, path, query, client):
        data = {**contents, "page": {"number": 1, "size": 2000, "totalElements": total, "totalPages": 0}}
        client.expect("get", path, {**query, **FIRST_PAGE}, gives=response(data))
        assert call(OcpApi(client.double)) == []

    @pytest.mark.parametrize(
        "data",
        [
            *(None, [], {}, {"contents": None}, {"contents": {"id": 1}}, {"contents": [1]}, "text"),
            *({"contents": None, "page": page} for page in (None, {}, {"totalElements": 1}, {"totalElements": None})),
            {"contents": {}, "page": {"totalElements": 0}},
        ],
        ids=repr,
    )
    def test_undocumented_data_is_unreadable(self, data, call, path, query, client):
        client.expect("get", path, {**query, **FIRST_PAGE}, gives=response(data))
        with pytest.raises(ResponseUnreadable, match="a list") as raised:
            call(OcpApi(client.double))
        assert raised.value.facts["trace_id"] == "trace-1"

    def test_failed_second_page_raises(self, call, path, query, client):
        client.expect("get", path, {**query, **FIRST_PAGE}, gives=page_of({"id": 1}, pages=2))
        client.expect("get", path, {**query, "page": 2, "size": 2000}, gives=refused(502))
        with pytest.raises(RequestRefused):
            call(OcpApi(client.double))


def test_records_of_something_else_are_no_servers(client):
    """As when a proxy gives the answer to another request."""
    path = LISTS["servers"][1]
    tasks = page_of(entry(path, 1), {"id": 1001, "name": "Restart OB server", "status": "RUNNING"})
    client.expect("get", path, FIRST_PAGE, gives=tasks)
    with pytest.raises(WrongRecord, match="lists something other than servers"):
        OcpApi(client.double).servers(3)


OTHERS = {
    "clusters": {"obVersion": "4.2.1.7"},
    "servers": {"innerStatus": "ACTIVE"},
    "hosts": {"innerIpAddress": "10.9.0.4"},
    "tenants": {"locality": "FULL{1}@zone1"},
    "arbitration services": {"svrIp": "10.9.0.5"},
    "alarms": {"alarmType": "ob_host_down"},
    "parameters": {"needRestart": True},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_records_of_something_else_are_no_tasks(other, client):
    record = {"id": 81, "name": "billing", "status": "NORMAL", **other}
    client.expect(
        "get", TASKS, {"sort": "id,desc", **FIRST_PAGE}, gives=page_of({"id": 82, "operation": "EXECUTE"}, record)
    )
    with pytest.raises(WrongRecord, match="lists something other than tasks"):
        OcpApi(client.double).tasks()
    client.expect("get", f"{TASKS}/81", gives=response(record))
    with pytest.raises(WrongRecord, match="names no task instead of task 81"):
        OcpApi(client.double).task(81)


@pytest.mark.parametrize(
    ("read", "path"),
    [
        (lambda api: api.tenants(3), "/api/v2/ob/clusters/3/tenants"),
        (lambda api: api.arbitration_services(), "/api/v2/arbitration/services"),
    ],
    ids=["tenants", "arbitration services"],
)
def test_list_that_protects_is_complete_or_refused(read, path, client):
    """The one that is missing may have its only replica on the server."""
    short = response(
        {"contents": [{"id": 1, "name": "sys"}], "page": {"number": 1, "totalPages": 1, "totalElements": 2}}
    )
    client.expect("get", path, FIRST_PAGE, gives=short)
    with pytest.raises(ResponseUnreadable, match="it is not complete"):
        read(OcpApi(client.double))


def test_status_of_a_unit_is_kept(client):
    """One that moves may be on any server of its zone."""
    units = [{"serverId": 41, "serverIp": "10.1.0.1", "serverPort": 2882, "status": "MIGRATING"}]
    found = {"id": 501, "name": "shop", "zones": [{"name": "zone1", "replicaType": "FULL", "units": units}]}
    client.expect("get", "/api/v2/ob/clusters/3/tenants/501", gives=response(found))
    assert OcpApi(client.double).tenant(3, 501)["zones"][0]["units"] == units


def test_what_is_null_tells_nothing(client):
    client.expect("get", f"{TASKS}/81", gives=response({"id": 81, "locality": None}))
    assert OcpApi(client.double).task(81)["id"] == 81


def test_api_uses_the_clock_and_timeout_of_the_client():
    client = HttpClient(URL, basic_auth("admin", "pass-word-9"), verify=True, timeout=7.5)
    client.service_clock.shown(datetime.fromtimestamp(1000.5, UTC), 400.5, 400.5)
    api = OcpApi(client)
    assert (api.timeout, api.service_clock.offset) == (7.5, pytest.approx(600.005))


@pytest.mark.parametrize(
    ("data", "log"),
    [
        ({"log": "a\nb\n"}, "a\nb\n"),
        ({"log": None}, ""),
        ({"log": ""}, ""),
        ({}, ""),
        ({"log": ["a"]}, ""),
        ({"log": {"a": 1}}, ""),
    ],
    ids=repr,
)
def test_subtask_log_is_text_even_when_missing(data, log, client):
    client.expect("get", "/api/v2/tasks/instances/81/subtasks/7/log", gives=response(data))
    assert OcpApi(client.double).subtask_log(81, 7) == log


# A start without a task in its response


RESTARTS = {
    "server": lambda api: api.restart_server(3, 14, freeze_server=True, force=False),
    "cluster": lambda api: api.restart_cluster(3),
    "zone": lambda api: api.restart_zone(3, "zone1"),
    "arbitration service": lambda api: api.restart_arbitration_service(9),
}
every_restart = pytest.mark.parametrize("call", RESTARTS.values(), ids=RESTARTS)
STATE = {"id": 3, "name": "orders", "status": "RUNNING", "type": "PRIMARY", "creator": "admin"}
TIMES = {"createTime": "2026-05-04T03:00:00+08:00", "startTime": "2026-05-04T03:00:00+08:00"}
NO_TASK = {
    "a cluster": {**STATE, **TIMES, "obVersion": "4.2", "zones": [{"name": "zone1"}], "serverCount": 3},
    "a server": {**STATE, **TIMES, "ip": "10.1.0.1", "port": 2882, "executor": None, "finishTime": None},
    "an id alone": {"id": 81},
    "fields of another type": {
        **STATE,
        **{"operation": {}, "subtasks": "3", "tasks": None, "taskDefinitionId": "x", "cluster": "orders", "context": 5},
    },
    "empty fields": {**STATE, "cluster": {}, "context": ""},
}


@pytest.mark.parametrize("data", [None, [], {}, {"id": None}, {"id": "first"}, {"status": "RUNNING"}, "text"], ids=repr)
@every_restart
def test_restart_response_without_a_task_id_may_have_run(call, data, client, monkeypatch):
    monkeypatch.setattr(client.double.post, "side_effect", [response(data)])
    with pytest.raises(ResponseUnreadable, match="names no task") as raised:
        call(OcpApi(client.double))
    assert raised.value.may_have_run
    assert raised.value.facts == {"url": URL, "trace_id": "trace-1"}
    assert client.double.post.call_count == 1


@pytest.mark.parametrize("data", NO_TASK.values(), ids=NO_TASK)
@every_restart
def test_restart_response_that_is_no_task_may_have_run(call, data, client, monkeypatch):
    monkeypatch.setattr(client.double.post, "side_effect", [response(data)])
    with pytest.raises(ResponseUnreadable, match=f"has the id {data['id']}, but no field of a task") as raised:
        call(OcpApi(client.double))
    assert raised.value.may_have_run
    assert client.double.post.call_count == 1


@pytest.mark.parametrize(
    "field",
    [
        {"operation": "EXECUTE"},
        {"subtasks": []},
        {"tasks": [{}]},
        {"taskDefinitionId": -1},
        {"cluster": {"id": 3}},
        {"context": "Context(parallelIdx=-1)"},
        {"context": {"parallel": False}},
    ],
    ids=repr,
)
@every_restart
def test_restart_response_needs_one_field_of_a_task(call, field, client, monkeypatch):
    monkeypatch.setattr(client.double.post, "side_effect", [response({"id": "81", **field})])
    assert call(OcpApi(client.double)).data["id"] == 81


# The two prefixes of the paths of agents

UNREADABLE = ResponseUnreadable("a page of HTML", url=URL)
# What a service may answer to a GET of a path that it does not know.
UNKNOWN = {
    "400 that names it": refused(400, f"Could not find the GET method for URL {AGENT}"),
    "403": refused(403),
    "404": refused(404, "Not Found"),
    "405": refused(405),
    "500": refused(500),
    "200 with HTML": UNREADABLE,
}
every_unknown = pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)


def test_agents_are_restarted_below_the_prefix_that_answers_a_read(client):
    client.expect("get", f"/api/v2{AGENT}", gives=response({"status": "AVAILABLE"}))
    client.expect("post", f"/api/v2{AGENTS}", None, {"hostIds": [4, 5]}, gives=STARTED)
    assert OcpApi(client.double).restart_agents([4, 5]) == STARTED


@every_unknown
def test_unknown_prefix_is_followed_by_the_other(unknown, client):
    client.expect("get", f"/api/v2{AGENT}", gives=unknown)
    client.expect("get", AGENT, gives=response({"status": "AVAILABLE"}))
    client.expect("post", AGENTS, None, {"hostIds": [4]}, gives=STARTED)
    assert OcpApi(client.double).restart_agents([4]) == STARTED


def test_prefix_is_found_out_once(client):
    client.expect("get", f"/api/v2{AGENT}", gives=refused(404))
    for _time in range(3):
        client.expect("get", AGENT, gives=response({"status": "AVAILABLE"}))
    api = OcpApi(client.double)
    assert [api.host_agent(4) for _time in range(3)] == [{"status": "AVAILABLE"}] * 3


@pytest.mark.parametrize(
    "error", [*(refused(status) for status in (400, 403, 404, 405, 409, 500)), ResponseLost("lost", url=URL)], ids=str
)
def test_agent_restart_is_sent_once_whatever_it_comes_to(error, client):
    client.expect("get", f"/api/v2{AGENT}", gives=response({}))
    client.expect("post", f"/api/v2{AGENTS}", None, {"hostIds": [4]}, gives=error)
    with pytest.raises(type(error)) as raised:
        OcpApi(client.double).restart_agents([4])
    assert raised.value is error


@pytest.mark.parametrize("error", [refused(401), refused(429), ResponseLost("lost", url=URL)], ids=str)
def test_other_prefix_is_not_tried_after_an_error_that_tells_nothing_of_the_path(error, client):
    client.expect("get", f"/api/v2{AGENT}", gives=error)
    with pytest.raises(type(error)):
        OcpApi(client.double).restart_agents([4])


def unknown_by_name(path):
    return refused(400, f"Could not find the GET method for URL {path}")


@pytest.mark.parametrize("unknown", [unknown_by_name, lambda _path: UNREADABLE], ids=["400 that names it", "HTML"])
@pytest.mark.parametrize("own", [refused(404, "Host 4 does not exist"), refused(403, "No rights")], ids=str)
@pytest.mark.parametrize("known", ["/api/v2", ""], ids=["known with the prefix", "known without"])
def test_error_of_the_known_prefix_is_raised(unknown, own, known, client):
    for prefix in ("/api/v2", ""):
        path = f"{prefix}{AGENT}"
        client.expect("get", path, gives=own if prefix == known else unknown(path))
    with pytest.raises(RequestRefused) as raised:
        OcpApi(client.double).host_agent(4)
    assert raised.value is own


# A cluster, whose own endpoint no document has


LISTED = {"id": 3, "name": "orders", "status": "RUNNING", "zones": [{"name": "zone1"}]}


def test_cluster_is_read_by_its_own_endpoint(client):
    client.expect("get", "/api/v2/ob/clusters/3", gives=response({"id": 3, "name": "orders", "more": 1}))
    assert OcpApi(client.double).cluster(3) == {"id": 3, "name": "orders"}


@every_unknown
def test_cluster_without_its_own_endpoint_comes_from_the_list(unknown, client):
    client.expect("get", "/api/v2/ob/clusters/3", gives=unknown)
    for _time in range(2):
        client.expect("get", "/api/v2/ob/clusters", FIRST_PAGE, gives=page_of({"id": 2}, LISTED))
    api = OcpApi(client.double)
    assert [api.cluster(3), api.cluster(3)] == [LISTED, LISTED]


def test_zones_that_the_list_does_not_have_are_read(client):
    client.expect("get", "/api/v2/ob/clusters/3", gives=refused(405))
    client.expect("get", "/api/v2/ob/clusters", FIRST_PAGE, gives=page_of({"id": 3, "name": "orders"}))
    client.expect("get", "/api/v2/ob/clusters/3/zones", FIRST_PAGE, gives=page_of({"name": "zone1"}))
    assert OcpApi(client.double).cluster(3)["zones"] == [{"name": "zone1"}]


def test_cluster_that_is_in_no_list_is_not_found(client):
    client.expect("get", "/api/v2/ob/clusters/5", gives=refused(404))
    client.expect("get", "/api/v2/ob/clusters", FIRST_PAGE, gives=page_of(LISTED))
    client.expect("get", "/api/v2/ob/clusters/3", gives=response(LISTED))
    api = OcpApi(client.double)
    with pytest.raises(NotFound, match="There is no cluster with the id 5"):
        api.cluster(5)
    assert api.cluster(3) == LISTED


@pytest.mark.parametrize("status", [403, 500, 503])
def test_refused_cluster_that_is_in_no_list_stays_refused(status, client):
    refusal = refused(status)
    client.expect("get", "/api/v2/ob/clusters/5", gives=refusal)
    client.expect("get", "/api/v2/ob/clusters", FIRST_PAGE, gives=page_of(LISTED))
    with pytest.raises(RequestRefused) as raised:
        OcpApi(client.double).cluster(5)
    assert raised.value is refusal


# Many clusters at once, which share a list of them


def whole(number, **of_the_server):
    server = {"id": number, "ip": f"10.0.0.{number}", "port": 2882, "status": "RUNNING", **of_the_server}
    return {"id": number, "name": f"c{number}", "serverCount": 1, "zones": [{"name": "zone1", "servers": [server]}]}


@pytest.fixture
def sharing(client, time_passes, monkeypatch):
    monkeypatch.setattr(OcpApi, "service_clock", ServiceClock())
    api = OcpApi(client.double)
    api.sharing = ReadsInOrder(SharedReads(8, nullcontext(), time_passes.clock))
    return api


def test_list_replaces_the_record_of_each_cluster_once_it_was_seen_to_show_as_much(sharing, client):
    client.expect("get", "/api/v2/ob/clusters", FIRST_PAGE, gives=page_of(whole(1), whole(2)))
    client.expect("get", "/api/v2/ob/clusters/1", gives=response(whole(1)))
    assert sharing.cluster(1) == whole(1)
    sharing.sharing.begin()
    assert sharing.clusters("c2") == [whole(2)]
    sharing.sharing.begin()
    assert sharing.cluster(2) == whole(2)


@pytest.mark.parametrize(
    "hidden",
    [{"startTime": "2026-05-04T02:00:00+08:00"}, {"operatingTaskInstanceId": None}],
    ids=["start", "task, none at the moment"],
)
def test_list_that_hides_what_the_record_of_a_cluster_shows_replaces_nothing(hidden, sharing, client):
    client.expect("get", "/api/v2/ob/clusters", FIRST_PAGE, gives=page_of(whole(1), whole(2)))
    client.expect("get", "/api/v2/ob/clusters/1", gives=response(whole(1, **hidden)))
    for number in (1, 2):
        client.expect("get", f"/api/v2/ob/clusters/{number}", gives=response(whole(number, **hidden)))
    assert [sharing.cluster(number) for number in (1, 2)] == [whole(number, **hidden) for number in (1, 2)]


def test_list_without_servers_replaces_nothing(sharing, client):
    client.expect("get", "/api/v2/ob/clusters", FIRST_PAGE, gives=page_of(LISTED))
    client.expect("get", "/api/v2/ob/clusters/3", gives=response(whole(3)))
    assert sharing.cluster(3) == whole(3)


@pytest.mark.parametrize(
    ("one", "other", "shows"),
    [
        ({"a": 1}, {"a": None}, True),
        ({"a": None}, {"a": 1}, False),
        ({}, {"a": None}, False),
        (None, {}, True),
        (None, {"a": 1}, False),
        ([{"a": 1}, {}], [{"a": 2}], True),
        ([], [{}], False),
        ("text", [1], False),
    ],
)
def test_one_record_shows_all_that_another_shows(one, other, shows):
    assert shows_all(one, other) is shows
