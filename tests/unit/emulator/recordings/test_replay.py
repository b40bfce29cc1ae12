# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A replay answers as the recorded service did, until something changes; what was refused or unknown stays so."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from ocp_emulator.base.compatibility import PROFILES
from ocp_emulator.recordings.recorded_fleet import recorded_fleet
from ocp_emulator.recordings.recorded_switches import recorded_switches
from ocp_emulator.recordings.recording_file import Recording, RecordingError, read_recording

CLUSTERS, HOSTS, TASKS = "/api/v2/ob/clusters", "/api/v2/compute/hosts", "/api/v2/tasks/instances"
SERVICES = "/api/v2/arbitration/services"
UNKNOWN = "/api/v2/no/such/call"
PAGE = {"page": 1, "size": 2000}
# What changes with the clock, and with each request.
VOLATILE = {"elapsedTime", "lastActiveTime", "lastAvailableTime"}


def asked(emulated):
    """What a recording of the default fleet asks."""
    yield from (("/api/v2/info", {}), (CLUSTERS, PAGE), (HOSTS, PAGE), (SERVICES, PAGE), (UNKNOWN, {}))
    yield TASKS, {"page": 1, "size": 30, "sort": "id,desc"}
    for task in emulated.get(TASKS)["contents"]:
        yield f"{TASKS}/{task['id']}", {}
    for cluster in (1, 2):
        yield f"{CLUSTERS}/{cluster}", {}
        for part in ("zones", "servers", "tenants", "parameters"):
            yield f"{CLUSTERS}/{cluster}/{part}", PAGE
        for tenant in emulated.get(f"{CLUSTERS}/{cluster}/tenants")["contents"]:
            yield f"{CLUSTERS}/{cluster}/tenants/{tenant['id']}", {}
    for host in range(1, 11):
        yield f"/api/v2/compute/hosts/{host}/agent", {}
    yield "/compute/hosts/1/agent", {}
    yield "/api/v2/alarm/alarms", {"status": "Active", "page": 1, "size": 10}


def document_of(emulated, change=lambda _path, data: data, user="admin"):
    """A recording in the documented form, which nothing is masked in. ``change`` gives other data for a path."""
    answers = []
    for path, query in [*asked(emulated)]:
        answer = emulated.request("GET", f"{path}?{urlencode(query)}" if query else path, auth=(user, "ocp-demo-1"))
        form = "json" if "json" in answer.headers["content-type"] else "html"
        body = answer.json() if form == "json" else None
        if body and "data" in body:
            body["data"] = change(path, body["data"])
        answers.append({"path": path, "query": query, "status": answer.status_code, "form": form, "body": body})
    return {
        "format": "recording of an OCP",
        "version": 1,
        "recorded_at": "2026-11-21T04:00:00+00:00",
        "left_out": {},
        "answers": answers,
    }


@pytest.fixture
def replayed(start, tmp_path):
    """Start the replay of a document."""

    def begin(document, **settings):
        path = tmp_path / "recording.json"
        path.write_text(json.dumps(document))
        recording = read_recording(path)
        fleet, switches = recorded_fleet(recording), recorded_switches(recording)
        return start(recording=recording, fleet=fleet, switches=switches, **settings)

    return begin


def steady(value):
    """Without what changes with the clock."""
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if key not in VOLATILE}
    return [steady(each) for each in value] if isinstance(value, list) else value


def shown(answer):
    """Status and data, or the error, of an answer."""
    body = answer.json() if "json" in answer.headers["content-type"] else {}
    return answer.status_code, steady(body.get("data", body.get("error", body) if "successful" in body else body))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_read_is_answered_as_recorded(start, replayed, profile):
    original = start(switches=PROFILES[profile])
    original.restart_server()
    original.restart_agents(3)
    original.pass_time(60)
    document = document_of(original)
    original.pass_time(86_400)
    replay = replayed(document)
    replay.pass_time(86_400)
    compared = 0
    for answer in document["answers"]:
        path = f"{answer['path']}?{urlencode(answer['query'])}" if answer["query"] else answer["path"]
        now = replay.request("GET", path)
        body = answer["body"] or {}
        was = steady(body.get("data", body.get("error", body) if "successful" in body else body))
        assert (path, *shown(now)) == (path, answer["status"], was)
        compared += 1
    assert compared > 30


@pytest.mark.parametrize("profile", PROFILES)
def test_switches_are_those_of_the_recorded_service(start, replayed, profile):
    original = start(switches=PROFILES[profile])
    original.restart_server()
    original.pass_time(3)
    assert replayed(document_of(original)).app.state.service.switches == PROFILES[profile]


OTHER_SWITCHES = {
    "task_tags": "absent",
    "agent_paths": "plain",
    "arbitration": "unknown",
    "tenant_paths": "cluster",
}


def test_what_the_answers_show_counts_more_than_the_version(start, replayed):
    switches = replace(PROFILES["4.3"], **OTHER_SWITCHES)
    original = start(switches=switches)
    original.restart_server()
    document = document_of(original)
    for answer in [*document["answers"]]:
        if "/clusters/1/tenants/" in answer["path"]:
            path = answer["path"].replace("/clusters/", "/cluster/")
            document["answers"].append(
                {**answer, "path": path, "status": 200, "body": original.request("GET", path).json()}
            )
    assert replayed(document).app.state.service.switches == switches


def drop(*keys):
    """What an older service does not show."""

    def dropped(value):
        if isinstance(value, dict):
            return {key: dropped(each) for key, each in value.items() if key not in keys}
        return [dropped(each) for each in value] if isinstance(value, list) else value

    return lambda _path, data: dropped(data)


def test_keys_that_were_not_recorded_stay_away_after_a_restart(emulated, replayed):
    replay = replayed(document_of(emulated, drop("hostTypeName", "stopTime", "architecture")))
    before = replay.server(2)
    replay.restart_server(2)
    replay.pass_time(60)
    after = replay.server(2)
    assert before.keys() == after.keys()
    assert not {"hostTypeName", "stopTime"} & after.keys()
    assert after["startTime"] > before["startTime"]
    assert {key for key in after if after[key] != before[key]} == {"startTime", "updateTime"}


def test_values_that_the_emulator_does_not_know_stay_until_they_change(emulated, replayed):
    document = document_of(emulated)
    for answer in document["answers"]:
        for server in (
            ((answer["body"] or {}).get("data") or {}).get("contents", []) if "servers" in answer["path"] else []
        ):
            server |= {"status": "SLEEPY", "acme": {"colour": "red"}, "runPath": "/elsewhere"}
    replay = replayed(document)
    assert (replay.server(2)["status"], replay.server(2)["acme"]) == ("SLEEPY", {"colour": "red"})
    replay.restart_server(2)
    replay.pass_time(60)
    assert {each: replay.server(2)[each] for each in ("status", "acme", "runPath")} == {
        "status": "RUNNING",
        "acme": {"colour": "red"},
        "runPath": "/elsewhere",
    }
    assert replay.server(3)["status"] == "SLEEPY"


def test_restarts_of_all_kinds_work(emulated, replayed):
    emulated.restart_server()
    emulated.pass_time(60)
    replay = replayed(document_of(emulated))
    first = replay.restart_server(2)["id"]
    assert first == emulated.get(TASKS)["contents"][-1]["id"] + 1
    tasks = [first, replay.restart_agents(1)["id"], replay.restart_arbitration()["id"], replay.restart_cluster()["id"]]
    replay.pass_time(120)
    assert [replay.task(task)["status"] for task in tasks] == ["SUCCESSFUL"] * 4
    listed = [each["id"] for each in replay.get(f"{TASKS}?sort=id,desc")["contents"]]
    assert listed == [*reversed(tasks), first - 1]


def test_starts_and_processes_are_those_of_the_recorded_agents(emulated, replayed):
    emulated.restart_agents(3)
    emulated.pass_time(100)
    path = "/api/v2/compute/hosts/3/agent"
    was = {each["alias"]: (each["pid"], each["elapsedTime"]) for each in emulated.get(path)["processes"] if each["pid"]}
    document = document_of(emulated)
    emulated.pass_time(1000)
    replay = replayed(document)
    now = {each["alias"]: (each["pid"], each["elapsedTime"]) for each in replay.get(path)["processes"] if each["pid"]}
    assert now == {alias: (pid, elapsed + 1000) for alias, (pid, elapsed) in was.items()}


def test_what_was_stopped_is_stopped(emulated, replayed):
    assert emulated.request("PUT", "/emulator/servers/2/process", json={"running": False}).status_code == 200
    emulated.pass_time(60)
    document = document_of(emulated)
    replay = replayed(document)
    assert replay.server(2)["status"] == emulated.server(2)["status"] == "STOPPED"
    replay.restart_server(2)
    replay.pass_time(60)
    assert replay.server(2)["status"] == "RUNNING"


def test_a_running_task_occupies_its_target(emulated, replayed):
    task = emulated.restart_server(2)["id"]
    emulated.pass_time(3)
    replay = replayed(document_of(emulated))
    assert replay.server(2)["operatingTaskInstanceId"] == task
    assert replay.task(task)["status"] == "RUNNING"
    refused = replay.error(409, "POST", f"{CLUSTERS}/1/servers/2/restart?freezeServer=true")
    assert str(task) in refused["message"]
    replay.pass_time(1000)
    assert replay.task(task)["status"] == "RUNNING"


def test_what_was_forbidden_is_forbidden_for_every_id(emulated, replayed):
    document = document_of(emulated)
    for answer in document["answers"]:
        if "/compute/hosts" in answer["path"]:
            error = {"code": 30014, "message": "no"}
            old = {"timestamp": "2020-01-01T08:00:00+08:00", "traceId": "old"}
            answer |= {"status": 403, "body": {"successful": False, "status": 403, "error": error, **old}}
    replay = replayed(document)
    refused = replay.request("GET", HOSTS).json()
    # Its clock is that of all answers.
    assert refused["timestamp"][:16] == replay.get("/api/v2/time")[:16]
    assert refused["traceId"] != "old"
    for path in (HOSTS, f"{HOSTS}/1/agent", f"{HOSTS}/10/agent"):
        assert shown(replay.request("GET", path)) == (403, {"code": 30014, "message": "no"})
    assert len(replay.get(CLUSTERS)["contents"]) == 2


FORMS = {
    "404": (404, "json", {"successful": False, "status": 404, "error": {"code": 1, "message": "not here"}}),
    "500": (500, "json", {"successful": False, "status": 500, "error": {"code": 2, "message": "oops"}}),
    "html": (200, "html", None),
    "empty": (405, "empty", None),
    "text": (502, "text", None),
}


@pytest.mark.parametrize(("status", "form", "body"), FORMS.values(), ids=FORMS)
def test_unknown_urls_are_answered_as_recorded(emulated, replayed, status, form, body):
    document = document_of(emulated)
    for answer in document["answers"]:
        if answer["path"] in (UNKNOWN, SERVICES):
            answer |= {"status": status, "form": form, "body": body}
    replay = replayed(document)
    for method, path in (("GET", "/api/v2/nowhere"), ("POST", "/api/v9/nowhere"), ("GET", SERVICES)):
        answer = replay.request(method, path)
        assert answer.status_code == status
        if body:
            assert answer.json() == body
        else:
            assert ("html" in answer.headers["content-type"]) == (form == "html")
            assert bool(answer.content) == (form != "empty")
    # Those of the control interface are its own.
    assert replay.request("GET", "/emulator/nowhere").status_code == 400


def test_a_filtered_list_is_the_emulators_choice_of_recorded_records(emulated, replayed):
    replay = replayed(document_of(emulated, drop("architecture")))
    answer = replay.get(f"{CLUSTERS}?name=pay")
    [found] = answer["contents"]
    assert (found["name"], "architecture" in found) == ("payments", False)
    assert (answer["page"]["totalElements"], answer["page"]["totalPages"]) == (1, 1)
    assert replay.get(f"{CLUSTERS}?page=2&size=1")["contents"][0]["id"] == 2


def test_zones_without_ids_and_servers_outside_the_cluster_list_are_enough(emulated, replayed):
    document = document_of(emulated)
    for answer in document["answers"]:
        for each in ((answer["body"] or {}).get("data") or {}).get("contents", []) if "/ob/" in answer["path"] else []:
            if answer["path"] == CLUSTERS:
                for zone in each["zones"]:
                    zone["servers"] = []
                    zone.pop("id", None)
            if answer["path"].endswith("/zones"):
                each.pop("id", None)
    document["answers"] = [
        each for each in document["answers"] if each["path"] not in (f"{CLUSTERS}/1", f"{CLUSTERS}/2")
    ]
    replay = replayed(document)
    assert [each["id"] for each in replay.get(f"{CLUSTERS}/1/servers")["contents"]] == [1, 2, 3, 4, 5, 6]
    [orders, _payments] = replay.get(CLUSTERS)["contents"]
    assert [(zone["name"], zone["servers"], "id" in zone) for zone in orders["zones"]] == [
        (f"zone{number}", [], False) for number in (1, 2, 3)
    ]


def test_what_the_emulator_cannot_have_is_shown_all_the_same(emulated, replayed):
    document = document_of(emulated)
    empty = {"id": 77, "name": "empty", "status": "CREATING", "zones": []}
    for answer in document["answers"]:
        if answer["path"] == CLUSTERS:
            answer["body"]["data"]["contents"].append(empty)
        if answer["path"] == f"{CLUSTERS}/2/servers":
            body = {**answer["body"], "data": {"contents": []}}
            extra = {**answer, "path": f"{CLUSTERS}/77/servers", "body": body}
    document["answers"].append(extra)
    replay = replayed(document)
    page = f"{CLUSTERS}?page=1&size=2000"
    for _restart in range(2):
        assert [each["id"] for each in replay.get(page)["contents"]] == [1, 2, 77]
        assert replay.get(f"{CLUSTERS}/77/servers?page=1&size=2000") == {"contents": []}
        replay.restart_server(2)
        replay.pass_time(60)
    assert replay.error(404, "GET", f"{CLUSTERS}/78/servers")
    assert [each["id"] for each in replay.get(f"{CLUSTERS}?name=orders")["contents"]] == [1]


def test_unreadable_hosts_follow_from_the_servers(emulated, replayed):
    document = document_of(emulated)
    document["answers"] = [each for each in document["answers"] if "/compute/" not in each["path"]]
    replay = replayed(document)
    assert sorted(each["id"] for each in replay.get(HOSTS)["contents"]) == list(range(1, 11))


def test_a_database_goes_on_with_its_state(emulated, replayed, tmp_path):
    document = document_of(emulated)
    first = replayed(document, database=tmp_path / "state.db")
    first.restart_server(2)
    first.pass_time(60)
    changed, other = first.server(2), first.server(3)
    first.app.state.service.close()
    again = replayed(document, database=tmp_path / "state.db")
    assert (again.server(2), again.server(3)) == (changed, other)


@pytest.fixture
def refused(emulated, tmp_path):
    """The sentence for a document that is changed."""
    document = document_of(emulated)

    def read(change):
        changed = copy.deepcopy(document)
        changed = change(changed) or changed
        path = tmp_path / "recording.json"
        path.write_text(changed if isinstance(changed, str) else json.dumps(changed))
        with pytest.raises(RecordingError) as caught:
            recorded_fleet(read_recording(path))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return read


def each_record(document, **fields):
    """The records of all answers that have these fields, wherever they are."""

    def within(value):
        if isinstance(value, dict):
            if fields.items() <= value.items():
                yield value
            value = list(value.values())
        for each in value if isinstance(value, list) else ():
            yield from within(each)

    return [found for answer in document["answers"] for found in within(answer["body"])]


def changed(document, change, **fields):
    for record in each_record(document, **fields):
        record.update(change)


BAD = {
    "no JSON": (lambda _document: "{", "the file is not JSON: "),
    "deep": (lambda _document: "[" * 100_000, "the file is not JSON: "),
    "a list": (lambda _document: "[]", "the file is not a recording of ocp_info"),
    "other": (lambda _document: "{}", "the file is not a recording of ocp_info"),
    "version": (
        lambda document: document.update(version=2),
        "the recording has version 2; this emulator reads version 1",
    ),
    "status": (lambda document: document["answers"][3].update(status=20), "answers.3.status: Input should be greater"),
    "form": (lambda document: document["answers"][0].update(form="xml"), "answers.0.form: Input should be 'json'"),
    "extra": (lambda document: document.update(more=1), "more: Extra inputs are not permitted"),
    "address": (
        lambda document: changed(document, {"ip": "here"}, ip="10.0.0.1"),
        "the fleet of its answers is not valid, ",
    ),
    "twice": (
        lambda document: changed(document, {"name": "orders"}, name="payments"),
        "the fleet of its answers is not valid, clusters: name 'orders' occurs twice",
    ),
}


@pytest.mark.parametrize(("change", "words"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_in_one_sentence(refused, change, words):
    assert refused(change).startswith(words)


def test_a_recording_of_nothing_is_an_empty_fleet():
    fleet = recorded_fleet(Recording(()))
    assert (fleet.clusters, fleet.hosts, len(fleet.users)) == ((), (), 2)


PARAMETERS = f"{CLUSTERS}/2/parameters"


def values(emulated, name):
    """What each server shows of a parameter."""
    found = next(each for each in emulated.get(PARAMETERS)["contents"] if each["name"] == name)["currentValue"]
    of_servers = {each["svrIp"]: each["value"] for each in found["obParameters"]}
    by_value = [
        (server.partition(":")[0], value) for value, servers in found["valueToServers"].items() for server in servers
    ]
    assert sorted(by_value) == sorted(of_servers.items())
    assert sorted(found["values"]) == sorted(set(of_servers.values()))
    return of_servers


def with_parameters(start):
    """A recording with two servers that run with another stack, in another order, and with an unknown parameter."""
    original = start()
    for server in (8, 9):
        body = {"parameters": {"stack_size": f"{server}M"}}
        original.request("PUT", f"/emulator/servers/{server}/parameters", json=body).raise_for_status()

    def change(path, data):
        if not path.endswith("/parameters"):
            return data
        for parameter in data["contents"]:
            parameter["currentValue"]["obParameters"].reverse()
        own = copy.deepcopy(next(each for each in data["contents"] if each["name"] == "syslog_level"))
        data["contents"].append({**own, "name": "of_another_version"})
        return data

    return document_of(original, change)


def test_recorded_values_of_parameters_stay_until_they_are_set(start, replayed):
    replay = replayed(with_parameters(start))
    recorded = {"10.0.0.7": "512K", "10.0.0.8": "8M", "10.0.0.9": "9M"}
    before = replay.get(PARAMETERS)["contents"]
    assert values(replay, "stack_size") == recorded
    replay.request("PUT", PARAMETERS, json=[{"name": "cpu_count", "value": "4"}]).raise_for_status()
    assert values(replay, "stack_size") == recorded
    assert set(values(replay, "cpu_count").values()) == {"4"}
    after = replay.get(PARAMETERS)["contents"]
    assert [each for each in after if each not in before] == [each for each in after if each["name"] == "cpu_count"]
    assert "of_another_version" in [each["name"] for each in after]


def test_recorded_values_of_parameters_change_at_starts(start, replayed):
    replay = replayed(with_parameters(start))
    replay.request("PUT", PARAMETERS, json=[{"name": "stack_size", "value": "5M"}]).raise_for_status()
    replay.restart_server(8)
    replay.pass_time(60)
    assert values(replay, "stack_size") == {"10.0.0.7": "512K", "10.0.0.8": "5M", "10.0.0.9": "9M"}
