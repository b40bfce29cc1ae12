# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What passes the proxy: unchanged, once, recorded; and a replay that answers each request as it was answered."""

import json
import socket
import threading
from urllib.parse import urlencode

import pytest
import requests
from ocp_emulator.testing.emulated_ocp import EmulatedOcp

# A name that is also a word of the contract.
FLEET = {
    "clusters": [
        {
            "name": "server",
            "zones": [
                {"name": "zone", "servers": [{"ip": "10.1.0.1"}]},
                {"name": "ZONE", "servers": [{"ip": "10.1.0.2"}]},
                {"name": "z3", "servers": [{"ip": "10.1.0.3"}]},
            ],
            "tenants": [{"name": "cluster", "primary_zone": "zone;ZONE,z3"}],
        }
    ],
    "users": [{"name": "admin", "password": "kv9-zq.Pw", "permissions": ["ADMIN"]}],
}
TASKS = "/api/v2/tasks/instances"
RESTART = "/api/v2/ob/clusters/1/servers/1/restart"


def restart_through(proxy, ocp):
    """What a tool does: looks, restarts, waits, and looks again; the answers that it got."""
    session = requests.Session()
    session.auth = (ocp.username, ocp.password)

    def ask(method, path, **options):
        return session.request(method, proxy.url + path, timeout=60, **options)

    answers = [
        ask("GET", "/api/v2/info"),
        ask("GET", "/api/v2/ob/clusters", params={"name": "server", "size": 10, "sort": "name,asc"}),
        ask("GET", "/api/v2/ob/clusters/1/servers"),
        ask("GET", "/api/v2/ob/clusters/1/zones/zone/servers"),
        ask("GET", "/api/v2/ob/clusters/1/tenants"),
        ask("GET", "/api/v2/ob/clusters/1/parameters"),
        ask("GET", "/api/v2/compute/hosts/1/agent"),
        ask("POST", RESTART, params={"freezeServer": "true"}, json={"freezeServer": True}),
    ]
    task = answers[-1].json()["data"]
    for _second in range(14):
        answers.append(ask("GET", f"{TASKS}/{task['id']}"))
        ocp.clock.advance(1)
    subtask = task["subtasks"][0]["id"]
    return [
        *answers,
        ask("GET", f"{TASKS}/{task['id']}"),
        ask("GET", f"{TASKS}/{task['id']}/subtasks/{subtask}/log"),
        ask("GET", TASKS, params={"clusterId": 1, "status": "SUCCESSFUL"}),
        ask("GET", "/api/v2/ob/clusters/1/servers"),
        ask("POST", f"{TASKS}/{task['id']}/retry"),
        ask("GET", "/api/v2/no/such/call"),
    ]


def asked_again(url, exchange):
    query = urlencode(exchange.query)
    body = None if exchange.body is None else json.dumps(exchange.body)
    return requests.request(
        exchange.method, url + exchange.path + (f"?{query}" if query else ""), data=body, timeout=60
    )


@pytest.fixture
def recorded(record):
    """An emulator through the proxy, with one restart; and the answers that the tool got."""
    with EmulatedOcp(fleet=FLEET, step_seconds=1) as ocp:
        ocp.clock.stop()
        proxy = record(ocp.url)
        yield proxy, restart_through(proxy, ocp), ocp


def test_the_tool_gets_what_the_service_answers(recorded):
    proxy, answers, ocp = recorded
    assert [each.status_code for each in answers[:-2]] == [200] * (len(answers) - 2)
    assert answers[8].json()["data"]["status"] == "RUNNING"
    assert answers[-4].json()["data"]["contents"][0]["status"] == "SUCCESSFUL"
    assert ocp.restarts() == {"10.1.0.1:2882": 1}
    assert [(each.method, each.status) for each in proxy.exchanges] == [
        (each.request.method, each.status_code) for each in answers
    ]
    assert proxy.path.stat().st_mode & 0o777 == 0o600


def test_the_emulator_does_not_differ_from_its_own_contract(recorded):
    assert recorded[0].told == ["GET /api/v2/no/path_1/call: not documented"]


def test_a_replay_answers_every_request_as_recorded(recorded):
    proxy, _answers, _ocp = recorded
    with EmulatedOcp(replay=proxy.path) as replay:
        for _twice in range(2):
            for exchange in proxy.exchanges:
                answer = asked_again(replay.url, exchange)
                assert (answer.status_code, answer.json()) == (exchange.status, exchange.answer)
            replay.control("POST", "/emulator/reset")
        last = [asked_again(replay.url, proxy.exchanges[8]).json() for _time in range(20)][-1]
        assert last["data"]["status"] == "SUCCESSFUL"
        assert len(replay.requests("GET", f"{TASKS}/*")) == 20
        unknown = requests.delete(f"{replay.url}/api/v2/ob/clusters/1", timeout=60)
        assert (unknown.status_code, unknown.text) == (
            501,
            "The recording has no answer to DELETE /api/v2/ob/clusters/1.\n",
        )
        later = requests.get(f"{replay.url}/api/v2/ob/clusters?name=x&size=1&sort=id", timeout=60)
        assert later.json() == proxy.exchanges[1].answer


def test_faults_hit_a_replay_too(recorded):
    proxy, _answers, _ocp = recorded
    with EmulatedOcp(replay=proxy.path) as replay:
        replay.faults.plan("http", "error", {"path": "/api/v2/info"}, status=503)
        assert [requests.get(f"{replay.url}/api/v2/info", timeout=60).status_code for _time in range(2)] == [503, 200]


def test_names_that_are_words_of_the_contract_survive(recorded):
    proxy, answers, _ocp = recorded
    _info, clusters, servers, of_zone, tenants, parameters, _agent, restart, *_rest = proxy.exchanges
    [cluster] = clusters.answer["data"]["contents"]
    assert cluster["name"] != "server"
    assert ("name", cluster["name"]) in [tuple(each) for each in clusters.query]
    assert clusters.query[1:] == [("size", "10"), ("sort", "name,asc")]
    assert cluster["id"] == servers.answer["data"]["contents"][0]["clusterId"] > 900_000
    assert of_zone.path == f"/api/v2/ob/clusters/{cluster['id']}/zones/{cluster['zones'][0]['name']}/servers"
    zones = [zone["name"] for zone in cluster["zones"]]
    assert not {"zone", "ZONE", "z3"} & {*zones}
    tenant = next(each for each in tenants.answer["data"]["contents"] if each["name"] != "sys")
    assert tenant["primaryZone"] == f"{zones[0]};{zones[1]},{zones[2]}"
    assert tenant["locality"] == ", ".join(f"FULL{{1}}@{zone}" for zone in zones)
    assert restart.answer["data"]["name"] == "Restart OB server"
    real = answers[7].json()["data"]["subtasks"]
    assert [step["description"] for step in restart.answer["data"]["subtasks"]] == [
        step["description"] for step in real
    ]
    ids = {step["id"] for step in restart.answer["data"]["subtasks"]}
    assert {number for step in restart.answer["data"]["subtasks"] for number in step["upstreams"]} < ids
    assert "stack_size" in [each["name"] for each in parameters.answer["data"]["contents"]]
    assert servers.answer.keys() == answers[2].json().keys()
    text = proxy.path.read_text()
    assert [
        word for word in ("kv9-zq.Pw", "10.1.0.", '"server",', "admin") if word in text.replace('"server":', "")
    ] == []


def test_a_signed_request_is_passed_on_with_its_host(record):
    with EmulatedOcp() as ocp:
        proxy = record(ocp.url)
        seen = {"Host": "ocp.example.com:8080", "Authorization": "OCP-ACCESS-KEY-HMACSHA1 emulator:wrong"}
        assert requests.get(f"{proxy.url}/api/v2/info", headers=seen, timeout=60).status_code == 401
        assert "example" not in proxy.path.read_text()


@pytest.fixture
def silent():
    """A service that reads a request and closes the connection; the requests that it got."""
    got = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection, _peer = server.accept()
                except OSError:
                    return
                with connection:
                    got.append(connection.recv(65_536))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", got
        server.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def test_a_request_without_an_answer_is_sent_once_and_answered_with_502(record, silent):
    url, got = silent
    proxy = record(url)
    answer = requests.post(f"{proxy.url}{RESTART}", json={"freezeServer": True}, timeout=60)
    assert answer.status_code == 502
    assert answer.text.startswith(f"ocp-emulator record: no answer of {url}: ")
    assert len(got) == 1
    assert proxy.exchanges == ()
    assert len(proxy.told) == 1
