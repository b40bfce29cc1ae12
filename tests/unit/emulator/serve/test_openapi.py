# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The OpenAPI document says what the routes do."""

import re
import shlex
from dataclasses import replace
from html import unescape

import jsonschema
import pytest
from ocp_emulator.base.compatibility import PROFILES, Switches
from ocp_emulator.security.rate_limit import Rate

RESTARTS = {
    "/api/v2/ob/clusters/{id}/servers/{serverId}/restart": {"400", "401", "403", "404", "409", "415"},
    "/api/v2/ob/clusters/{id}/restart": {"400", "401", "403", "404", "409"},
    "/api/v2/ob/clusters/{id}/zones/{zoneName}/restart": {"400", "401", "403", "404", "409"},
    "/compute/hosts/batchRestartAgents": {"400", "401", "403", "404", "409", "415"},
    "/api/v2/compute/hosts/batchRestartAgents": {"400", "401", "403", "404", "409", "415"},
    "/api/v2/arbitration/services/{id}/restart": {"400", "401", "403", "404", "409"},
    "/api/v2/obproxy/clusters/{id}/obproxies/{obproxyIds}/restart": {"400", "401", "403", "404", "409"},
}
NEIGHBOURS = {
    "/api/v2/ob/clusters/{id}/servers/{serverId}/start": {"400", "401", "403", "404", "409"},
    "/api/v2/ob/clusters/{id}/servers/{serverId}/stop": {"400", "401", "403", "404", "409", "415"},
    "/api/v2/ob/clusters/{id}/zones/{zoneName}/start": {"400", "401", "403", "404", "409"},
    "/api/v2/ob/clusters/{id}/zones/{zoneName}/stop": {"400", "401", "403", "404", "409"},
    **{
        f"{prefix}/compute/hosts/{{hostId}}/agent/{verb}": {"400", "401", "403", "404", "409"}
        for prefix in ("", "/api/v2")
        for verb in ("restart", "stop")
    },
    **{
        f"{prefix}/compute/hosts/batchStopAgents": {"400", "401", "403", "404", "409", "415"}
        for prefix in ("", "/api/v2")
    },
    "/api/v2/ob/clusters/{id}/start": {"400", "401", "403", "404", "409"},
    "/api/v2/ob/clusters/{id}/stop": {"400", "401", "403", "404", "409"},
}
# At once: a second one is not refused.
PROCESSES = {
    f"{prefix}/compute/hosts/{{hostId}}/agent/processes/{{agentProcessId}}/{verb}": {"400", "401", "403", "404", "409"}
    for prefix in ("", "/api/v2")
    for verb in ("restart", "stop")
}
_TASK = "/api/v2/tasks/instances/{taskInstanceId}"
STEERING = {
    f"{_TASK}{verb}": {"400", "401", "403", "404"}
    for verb in (
        "/retry",
        "/rollback",
        *(f"/subtasks/{{subtaskInstanceId}}/{verb}" for verb in ("retry", "skip", "cancel")),
    )
}
INSPECTION = {"/api/v2/inspection/run": {"400", "401", "404", "415", "501"}}
INSPECTED = {"inspectionObjectType": "OB_CLUSTER", "objectIds": [1], "tags": 1}
FROZEN = {"freezeServer": True}
CONTROL = {
    path: {"400", "401", "403", "415"}
    for path in ("/emulator/faults", "/emulator/clock/advance", "/emulator/service/restart")
} | {
    path: {"400", "401", "403", "404", "415"}
    for path in ("/emulator/alarms", "/emulator/backups", "/emulator/restores", "/emulator/inspection-risks")
}
CONTROL |= {
    "/emulator/reset": {"401", "403"},
    "/emulator/snapshots/{name}/restore": {"400", "401", "403", "404"},
}
METRICS = {
    "metrics": "max_full_clog_sync_delay_second",
    "labels": "app:ob",
    "groupBy": "app",
    "interval": 60,
    "startTime": "2026-11-21T11:00:00+08:00",
    "endTime": "2026-11-21T12:00:00+08:00",
}
# Of the reads that need some.
QUERIES = {
    "/api/v2/monitor/metric": METRICS,
    "/api/v2/inspection/report/info": {"tagId": 1, "objectType": "OB_CLUSTER"},
}


@pytest.fixture
def document(emulated):
    return emulated.request("GET", "/openapi.json", auth=None).json()


@pytest.fixture(
    params=[
        Switches(wrong_state="accept"),
        replace(PROFILES["4.2"], wrong_state="accept"),
        Switches(
            cluster_answer="subtasks",
            freeze_server="optional",
            parameters_in="query",
            agent_paths="plain",
            wrong_state="accept",
        ),
        Switches(parameters_in="body", wrong_state="accept"),
    ],
    ids=["4.3", "4.2", "query", "body"],
)
def switched(request, start):
    """An emulator with these switches, and its document."""
    emulated = start(switches=request.param)
    return emulated, emulated.request("GET", "/openapi.json", auth=None).json()


def test_document_lists_the_statuses_of_every_post(document):
    posts = {path: methods["post"] for path, methods in document["paths"].items() if "post" in methods}
    assert {path: set(operation["responses"]) - {"200", "429", "500"} for path, operation in posts.items()} == {
        **RESTARTS,
        **NEIGHBOURS,
        **PROCESSES,
        **STEERING,
        **INSPECTION,
        **CONTROL,
    }


def test_every_error_uses_the_envelope(document):
    for methods in document["paths"].values():
        for operation in methods.values():
            assert "422" not in operation["responses"]
            for status, response in operation["responses"].items():
                if status != "200":
                    schema = response["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ErrorEnvelope"}
    assert not {"HTTPValidationError", "ValidationError"} & set(document["components"]["schemas"])


def test_only_time_and_status_need_no_credentials(document):
    free = {path for path, methods in document["paths"].items() for each in methods.values() if not each["security"]}
    assert free == {"/api/v2/time", "/api/v2/status"}


def test_every_authenticated_service_endpoint_documents_429(document):
    limited = {
        path for path, methods in document["paths"].items() for each in methods.values() if "429" in each["responses"]
    }
    assert limited == {
        path
        for path, methods in document["paths"].items()
        for each in methods.values()
        if each["security"] and not path.startswith("/emulator")
    }


def test_every_schema_reference_resolves(document):
    references = set(re.findall(r"#/components/schemas/(\w+)", str(document)))
    assert references <= set(document["components"]["schemas"])


def test_parameter_bounds_are_documented(document):
    (identifier,) = document["paths"]["/api/v2/ob/clusters/{id}/zones"]["get"]["parameters"]
    assert (identifier["schema"]["minimum"], identifier["schema"]["maximum"]) == (-(2**63), 2**63 - 1)
    listing = {each["name"]: each for each in document["paths"]["/api/v2/tasks/instances"]["get"]["parameters"]}
    assert listing["clusterId"]["schema"]["type"] == "integer"


def test_any_page_and_size_that_is_accepted_is_documented(document, emulated):
    for path in ("/api/v2/tasks/instances", "/api/v2/arbitration/services", "/api/v2/alarm/alarms"):
        listing = {each["name"]: each["schema"] for each in document["paths"][path]["get"]["parameters"]}
        for name in ("page", "size"):
            for value in (-1, 0, 5001, "many", ""):
                assert emulated.request("GET", path, params={name: value}).status_code == 200
                jsonschema.validate(value, listing[name])
            # The recorder keeps numbers alone.
            assert "integer" in listing[name]["type"]


def test_operators_of_events_are_numbers(emulated):
    path = "/api/v2/audit/events"
    for value, status in (("1 , 13,,", 200), ("9" * 19, 200), ("1 13", 400), ("9" * 20, 400)):
        assert emulated.request("GET", path, params={"operatorId": value}).status_code == status


def test_null_in_the_body_of_a_restart_is_documented_as_not_given(document, emulated):
    path = "/api/v2/ob/clusters/{id}/servers/{serverId}/restart"
    body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert all(matches(schema, None, document) for schema in body.values())
    answer = emulated.request("POST", path.format(id=1, serverId=1), json={**FROZEN, "force": None})
    assert answer.status_code == 200


def test_numbers_are_no_flags_and_flags_are_no_numbers(emulated):
    for path, body in (
        ("/emulator/servers/1/metric", {"name": METRICS["metrics"], "value": False}),
        ("/emulator/tenants/5001", {"locked": 0}),
    ):
        assert emulated.request("PUT", path, json=body).status_code == 400


def matches(schema, value, document):
    """Whether a value is what the schema says; the few keywords that the document uses."""
    if "$ref" in schema:
        return matches(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], value, document)
    if "anyOf" in schema:
        return any(matches(choice, value, document) for choice in schema["anyOf"])
    if "oneOf" in schema:
        return [matches(choice, value, document) for choice in schema["oneOf"]].count(True) == 1
    if "const" in schema:
        return value == schema["const"]
    if "enum" in schema:
        return value in schema["enum"]
    if "type" not in schema:
        # Any JSON: bodies of requests and of stubs.
        return True
    kind = schema["type"]
    if kind == "object":
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        return (
            isinstance(value, dict)
            and set(schema.get("required", ())) <= set(value)
            and (others is not False or set(value) <= set(properties))
            and all(
                matches(properties.get(name) or others, element, document)
                for name, element in value.items()
                if name in properties or isinstance(others, dict)
            )
        )
    if kind == "array":
        return isinstance(value, list) and all(matches(schema["items"], element, document) for element in value)
    types = {"string": {str}, "integer": {int}, "number": {int, float}, "boolean": {bool}, "null": {type(None)}}
    return value.__class__ in types[kind]


def parameters(document, path):
    """Name and place of the parameters of a POST, with those of its JSON body, and which have to be there."""
    operation = document["paths"][path]["post"]
    found = {(each["name"], each["in"]): each["required"] for each in operation.get("parameters", ())}
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    needed = schema.get("required", ())
    return found | {(name, "body"): name in needed for name in schema.get("properties", {})}


PATHS = {("id", "path"): True, ("serverId", "path"): True}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        (
            Switches(),
            {
                ("freezeServer", "query"): False,
                ("force", "query"): False,
                ("freezeServer", "body"): False,
                ("force", "body"): False,
            },
        ),
        (Switches(parameters_in="query"), {("freezeServer", "query"): True, ("force", "query"): False}),
        (Switches(parameters_in="body"), {("freezeServer", "body"): True, ("force", "body"): False}),
        (
            Switches(parameters_in="body", freeze_server="optional"),
            {("freezeServer", "body"): False, ("force", "body"): False},
        ),
        (Switches(parameters_in="query", freeze_server="unknown"), {("force", "query"): False}),
    ],
)
def test_document_lists_the_server_restart_parameters_in_use(start, switches, expected):
    document = start(switches=switches).request("GET", "/openapi.json", auth=None).json()
    path = "/api/v2/ob/clusters/{id}/servers/{serverId}/restart"
    assert parameters(document, path) == PATHS | expected
    assert ("415" in document["paths"][path]["post"]["responses"]) == (switches.parameters_in != "query")
    body = document["paths"][path]["post"].get("requestBody", {"required": False})
    assert body["required"] == expected.get(("freezeServer", "body"), False)


def check(emulated, document, method, path, ids, status, **options):
    """Ask, and hold the answer against what the document says of this path and status."""
    answer = emulated.request(method.upper(), path.format(**ids), **options)
    assert answer.status_code == status, (path, answer.text)
    content = document["paths"][path][method]["responses"][str(status)]["content"]
    if "text/plain" in content:
        assert answer.headers["Content-Type"].startswith("text/plain")
        return
    schema = content["application/json"]["schema"]
    assert matches(schema, answer.json(), document), (path, answer.text)


def plant(emulated):
    """Something of everything that is not there by itself."""
    for path, body in (
        ("alarms", {"alarmType": "host_ntp_offset_too_large", "server": 3}),
        ("backups", {"cluster": "orders", "tenant": "app", "status": "DONE"}),
        ("backups", {"cluster": "orders"}),
        ("restores", {"cluster": "orders", "tenant": "app", "status": "RESTORE_FAIL"}),
        ("restores", {"cluster": "orders", "tenant": "app"}),
        ("inspection-risks", {"cluster": "orders", "item": "replica_count"}),
    ):
        emulated.data("POST", f"/emulator/{path}", json=body)
    emulated.data("POST", "/api/v2/inspection/run", json=INSPECTED)


@pytest.mark.nightly
def test_reads_match_the_document(switched):
    emulated, document = switched
    switches = emulated.app.state.service.switches
    plant(emulated)
    emulated.restart_cluster()
    emulated.restart_agents()
    if switches.arbitration == "served":
        emulated.restart_arbitration()
    emulated.restart_obproxies(1, 2)
    emulated.pass_time(5.5)
    task_id = emulated.restart_server(1, params=FROZEN, json=FROZEN)["id"]
    emulated.pass_time(4.5)
    emulated.plan("slow", "Wait node", factor=2.5, times=None)
    ids = {
        "id": 1,
        "hostId": 1,
        "zoneName": "zone1",
        "tenantId": 5001,
        "taskInstanceId": task_id,
        "subtaskInstanceId": emulated.steps(task_id)[0]["id"],
    }
    unknown = dict.fromkeys(ids, 98765)
    reads = {path: methods["get"] for path, methods in document["paths"].items() if "get" in methods}
    assert len(reads) == 52 - 2 * (switches.agent_paths != "both") - 2 * (switches.arbitration == "unknown")
    for path, operation in reads.items():
        check(emulated, document, "get", path, ids, 200, params=QUERIES.get(path))
        if operation["security"]:
            check(emulated, document, "get", path, ids, 401, auth=None)
        if "x-permission" in operation and "{" in path:
            check(emulated, document, "get", path, unknown, 404)
    for task in emulated.get("/api/v2/tasks/instances")["contents"]:
        check(
            emulated, document, "get", "/api/v2/tasks/instances/{taskInstanceId}", {"taskInstanceId": task["id"]}, 200
        )


@pytest.mark.nightly
def test_restarts_match_the_document(switched):
    emulated, document = switched
    unknown = {"id": 98765, "serverId": 98765, "hostId": 98765, "zoneName": "none", "obproxyIds": "98765"}
    for path in (path for path in (*RESTARTS, *NEIGHBOURS) if path in document["paths"]):
        ids = {"id": 1, "serverId": 2, "hostId": 2, "zoneName": "zone1", "obproxyIds": "1,2"}
        options, unknown_options = {}, {}
        if "serverId" in path:
            options = unknown_options = {"params": FROZEN, "json": FROZEN}
        if "batch" in path:
            options, unknown_options = {"json": {"hostIds": [1, 2]}}, {"json": {"hostIds": [98765]}}
        check(emulated, document, "post", path, ids, 200, **options)
        check(emulated, document, "post", path, ids, 409, **options)
        check(emulated, document, "post", path, unknown, 404, **unknown_options)
        check(emulated, document, "post", path, ids, 403, auth=("viewer", "ocp-demo-1"), **options)
        check(emulated, document, "post", path, ids, 401, auth=None, **options)
        emulated.pass_time(20)


def test_inspections_match_the_document(emulated, document):
    [path] = INSPECTION
    check(emulated, document, "post", path, {}, 200, json=INSPECTED)
    check(emulated, document, "post", path, {}, 400, json={})
    check(emulated, document, "post", path, {}, 404, json={**INSPECTED, "objectIds": [99]})
    check(emulated, document, "post", path, {}, 415, content="x=1")
    check(emulated, document, "post", path, {}, 501, json={**INSPECTED, "inspectionObjectType": "HOST"})
    report = "/api/v2/inspection/report/{id}"
    for status, number in ((200, 1), (404, 99), (400, "x")):
        check(emulated, document, "get", report, {"id": number}, status)
    last = "/api/v2/inspection/report/info"
    for status, kind in ((200, "OB_CLUSTER"), (400, "x"), (501, "HOST")):
        check(emulated, document, "get", last, {}, status, params={"tagId": 1, "objectType": kind})
    check(emulated, document, "get", last, {}, 404, params={**QUERIES[last], "objectId": 99})


@pytest.mark.nightly
@pytest.mark.parametrize("answer", ["empty", "task"])
def test_task_actions_match_the_document(start, answer):
    emulated = start(switches=Switches(rollback_answer=answer))
    document = emulated.request("GET", "/openapi.json", auth=None).json()
    unknown = {"taskInstanceId": 98765, "subtaskInstanceId": 98765}
    for path in STEERING:
        emulated.plan("fail", "Prepare restart arbitration service")
        task_id = emulated.restart_arbitration()["id"]
        emulated.pass_time(0.5 if path.endswith("cancel") else 1)
        ids = {"taskInstanceId": task_id, "subtaskInstanceId": emulated.steps(task_id)[0]["id"]}
        check(emulated, document, "post", path, ids, 200)
        check(emulated, document, "post", path, ids, 400)
        check(emulated, document, "post", path, unknown, 404)
        check(emulated, document, "post", path, ids, 403, auth=("viewer", "ocp-demo-1"))
        check(emulated, document, "post", path, ids, 401, auth=None)
        emulated.pass_time(10)
        if emulated.task(task_id)["status"] == "FAILED":
            emulated.steer(task_id, "retry")
            emulated.pass_time(10)


@pytest.mark.nightly
def test_control_api_matches_the_document(emulated, document):
    faults, fault = "/emulator/faults", "/emulator/faults/{faultId}"
    check(emulated, document, "post", faults, {}, 200, json={"kind": "subtask", "action": "slow", "seconds": 1})
    check(emulated, document, "post", faults, {}, 200, json={"kind": "http", "action": "reset", "call": 99})
    for other in (
        {"kind": "proxy", "action": "hold", "seconds": 1, "call": 99},
        {"kind": "answer", "action": "ignore", "parameters": ["sort"], "call": 99},
        {"kind": "answer", "action": "clock", "time": "1970-01-01T00:00:00Z", "scope": "all", "call": 99},
        {"kind": "answer", "action": "status", "status": "READY", "match": {"record": "task", "id": 1}, "call": 99},
        {"kind": "busy", "action": "accept"},
    ):
        check(emulated, document, "post", faults, {}, 200, json=other)
    check(emulated, document, "post", faults, {}, 400, json={"kind": "subtask"})
    check(emulated, document, "post", faults, {}, 400, json={"kind": "http", "action": "refuse"})
    check(emulated, document, "post", faults, {}, 415, content="x=1")
    check(emulated, document, "get", faults, {}, 200)
    check(emulated, document, "delete", fault, {"faultId": 1}, 200)
    check(emulated, document, "delete", fault, {"faultId": 1}, 404)
    check(emulated, document, "delete", fault, {"faultId": "x"}, 400)
    check(emulated, document, "delete", faults, {}, 200)
    check(emulated, document, "put", "/emulator/clock", {}, 200, json={"running": False})
    check(emulated, document, "put", "/emulator/clock", {}, 400, json={})
    check(emulated, document, "post", "/emulator/clock/advance", {}, 200, json={"seconds": 0.5})
    check(emulated, document, "post", "/emulator/clock/advance", {}, 400, json={"seconds": -1})
    check(emulated, document, "post", "/emulator/service/restart", {}, 200, json={"seconds": 0.5})
    check(emulated, document, "post", "/emulator/service/restart", {}, 400, json={"seconds": -1})
    check(emulated, document, "post", "/emulator/service/restart", {}, 415, content="x=1")
    assert emulated.outages == [(0.5, True)]
    for body, status in ({"available": True}, 200), ({}, 400):
        check(emulated, document, "put", "/emulator/servers/{serverId}", {"serverId": 1}, status, json=body)
    check(emulated, document, "put", "/emulator/servers/{serverId}", {"serverId": 99}, 404, json={"available": True})
    process = "/emulator/servers/{serverId}/process"
    for body, status in ({"running": False}, 200), ({"running": True}, 200), ({}, 400):
        check(emulated, document, "put", process, {"serverId": 1}, status, json=body)
    check(emulated, document, "put", process, {"serverId": 99}, 404, json={"running": True})
    service, degraded = {"id": 1}, [{"cluster": "orders", "tenant": "shop", "logStreams": [1]}]
    for body, status in ({"degraded": degraded}, 200), ({"degraded": [{}]}, 400), ({}, 400):
        check(emulated, document, "put", "/emulator/arbitration-services/{id}", service, status, json=body)
    check(emulated, document, "get", "/api/v2/arbitration/services/{id}", {"id": 1}, 200)
    emulated.restart_server(1)
    check(emulated, document, "put", "/emulator/servers/{serverId}", {"serverId": 1}, 409, json={"available": True})
    check(emulated, document, "post", "/emulator/clock/advance", {}, 200, json={"seconds": 13})
    check(emulated, document, "get", "/emulator/restarts", {}, 200)
    emulated.restart_server(3)
    emulated.restart_server(5)
    check(emulated, document, "post", "/emulator/clock/advance", {}, 200, json={"seconds": 4})
    check(emulated, document, "get", "/emulator/outages", {}, 200)
    check(emulated, document, "get", "/emulator/absences", {}, 200)
    check(emulated, document, "get", "/emulator/leader-moves", {}, 200)
    check(emulated, document, "get", "/emulator/leader-moves", {}, 400, params={"catchUpSeconds": -1})
    check(emulated, document, "get", "/emulator/requests", {}, 200)
    check(emulated, document, "get", "/emulator/requests", {}, 400, params={"since": "x"})
    check(emulated, document, "delete", "/emulator/requests", {}, 200)
    for _time in range(5):
        check(emulated, document, "get", "/api/v2/info", {}, 401, auth=("viewer", "wrong"))
    check(emulated, document, "get", "/emulator/lockouts", {}, 200)
    check(emulated, document, "delete", "/emulator/lockouts/{name}", {"name": "viewer"}, 200)
    check(emulated, document, "delete", "/emulator/lockouts/{name}", {"name": "viewer"}, 404)
    check(emulated, document, "delete", "/emulator/lockouts", {}, 200)


@pytest.mark.nightly
def test_every_body_has_an_example_that_is_valid(switched):
    emulated, document = switched
    plant(emulated)
    seen = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody")
            if body is not None:
                content = body["content"]["application/json"]
                assert matches(content["schema"], content["example"], document), (method, path)
                given = [each for each in operation.get("parameters", ()) if each["in"] == "path"]
                places = {each["name"]: each["schema"]["examples"][0] for each in given}
                answer = emulated.request(method.upper(), path.format(**places), json=content["example"])
                assert answer.status_code in (200, 409), (path, answer.text)
                seen += 1
    assert seen >= 20


@pytest.mark.nightly
def test_every_call_is_on_the_page_for_people(switched):
    emulated, document = switched
    page = emulated.request("GET", "/docs", auth=None)
    assert page.headers["Content-Type"].startswith("text/html")
    calls = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert set(re.findall(r"<summary><code>(\w+ [^<]+)</code>", page.text)) == calls
    assert re.findall(r"(?:src|href)=[\"'](?!openapi\.json)", page.text) == []


def test_commands_of_the_page_for_people_are_valid(emulated):
    page = unescape(emulated.request("GET", "/docs", auth=None).text)
    plant(emulated)
    emulated.request("PUT", "/emulator/snapshots/before").raise_for_status()
    for command in re.findall(r"<pre>(curl .*)</pre>", page):
        words = shlex.split(command)
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        path = words[-1].removeprefix("http://127.0.0.1:8080")
        body = {"content": words[words.index("-d") + 1]} if "-d" in words else {}
        answer = emulated.request(method, path, headers={"Content-Type": "application/json"}, **body)
        assert answer.status_code in (200, 400, 404, 409), command
        if answer.status_code == 400:
            # A state, such as of a task that has not failed, and no parameter.
            assert "parameter" not in answer.text, command
            assert "body" not in answer.text, command


PLANTED = [
    ("put", "/emulator/servers/{serverId}/metric", {"name": METRICS["metrics"], "value": 1.5}),
    ("put", "/emulator/servers/{serverId}/parameters", {"parameters": {"stack_size": "2M"}}),
    ("put", "/emulator/obproxies/{id}/parameters", {"parameters": {"stack_size": "2MB"}}),
    ("put", "/api/v2/ob/clusters/{id}/parameters", [{"name": "stack_size", "value": "2M"}]),
    ("put", "/emulator/servers/{serverId}/version", {"version": "4.2.1.0"}),
    ("put", "/emulator/servers/{serverId}/process", {"running": False}),
    ("put", "/emulator/arbitration-services/{id}/process", {"running": False}),
    ("put", "/emulator/obproxies/{id}/process", {"running": False}),
    ("put", "/emulator/clusters/{id}/compaction", {"compactionStatus": "MERGING"}),
    ("put", "/emulator/backups/{backupId}", {"status": "FAILED"}),
    ("put", "/emulator/restores/{restoreId}", {"status": "RESTORE_FAIL"}),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("method", "path", "body"), PLANTED)
def test_planting_matches_the_document(emulated, document, method, path, body):
    plant(emulated)
    known, unknown = ({"serverId": each, "id": each, "backupId": each, "restoreId": each} for each in (1, 99))
    check(emulated, document, method, path, known, 200, json=body)
    check(emulated, document, method, path, known, 400, json={})
    check(emulated, document, method, path, unknown, 404, json=body)
    check(emulated, document, method, path, known, 415, content="x=1")


def test_planted_alarms_backups_and_risks_match_the_document(emulated, document):
    for path, body, missing in (
        ("/emulator/alarms", {"alarmType": "x", "cluster": "orders"}, {"alarmType": "x", "cluster": "none"}),
        ("/emulator/backups", {"cluster": "orders"}, {"cluster": "none"}),
        ("/emulator/restores", {"cluster": "orders", "tenant": "app"}, {"cluster": "orders", "tenant": "none"}),
        (
            "/emulator/inspection-risks",
            {"cluster": "orders", "item": "replica_count"},
            {"cluster": "none", "item": "replica_count"},
        ),
    ):
        check(emulated, document, "post", path, {}, 200, json=body)
        check(emulated, document, "post", path, {}, 400, json={})
        check(emulated, document, "post", path, {}, 404, json=missing)
    for path, number in (("/emulator/alarms", "alarmId"), ("/emulator/inspection-risks", "riskId")):
        check(emulated, document, "delete", f"{path}/{{{number}}}", {number: 1}, 200)
        check(emulated, document, "delete", f"{path}/{{{number}}}", {number: 1}, 404)
        check(emulated, document, "delete", path, {}, 200)


def test_rate_limit_response_matches_the_document(start, document):
    emulated = start(rates=(Rate(1, 10),))
    check(emulated, document, "get", "/api/v2/info", {}, 200)
    check(emulated, document, "get", "/api/v2/info", {}, 429)
