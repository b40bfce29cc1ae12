# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Wrong input of every kind ends in one sentence that names it, and nothing is restarted."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from credentials import ACCESS_KEY, BASIC
from execution_path import ORDINARY, ran_as
from expected_restarts import RESTARTS

SERVER = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True}
MODULES = {
    **{verb: options for verb, (options, *_rest) in RESTARTS.items()},
    "task_info": {"limit": 1},
    "task_wait": {"task_ids": [1, 2, 3, 4, 5, 6]},
}


BAD_INPUT = [
    ("server_restart", {**SERVER, "freeze_server": "perhaps"}, ["freeze_server", "perhaps"]),
    ("server_restart", {"cluster": "orders", "server": "1"}, ["freeze_server"]),
    ("server_restart", {**SERVER, "cluster": "nothing"}, ["cluster", "nothing", "to choose from: orders, payments"]),
    (
        "server_restart",
        {**SERVER, "cluster": "ordrs"},
        ["cluster: ordrs", "to choose from: orders, payments", "Did you mean orders?"],
    ),
    (
        "server_restart",
        {**SERVER, "server": "10.0.0.1"},
        ["server: 10.0.0.1 ", "The port is missing: give 10.0.0.1:2882."],
    ),
    (
        "server_restart",
        {**SERVER, "started_before": "2099-01-01T00:00:00Z"},
        ["started_before: 2099-01-01", "is in the future"],
    ),
    (
        "server_restart",
        {**SERVER, "change": "x" * 201},
        ["change: a text of 201 characters is not the name of a change"],
    ),
    ("server_restart", {**SERVER, "cluster": "99"}, ["cluster", "99"]),
    (
        "server_restart",
        {**SERVER, "server": "10.9.9.9:2882"},
        ["server", "10.9.9.9:2882", "10.0.0.1:2882", "cluster orders"],
    ),
    ("server_restart", {**SERVER, "wait_interval": "0"}, ["wait_interval", "0"]),
    ("server_restart", {**SERVER, "wait_timeout": "-1"}, ["wait_timeout", "-1"]),
    ("server_restart", {**SERVER, "timeout": "soon"}, ["timeout", "float"]),
    ("server_restart", {**SERVER, "ca_path": "/nowhere/ca.crt"}, ["ca_path", "/nowhere/ca.crt"]),
    ("zone_restart", {"cluster": "orders", "zone": "zone9"}, ["zone", "zone9", "zone1, zone2, zone3", "orders"]),
    ("agent_restart", {"hosts": ""}, ["hosts", "empty"]),
    ("agent_restart", {"hosts": "10.0.0.77"}, ["host", "10.0.0.77"]),
    ("arbitration_service_restart", {"arbitration_service": "7"}, ["arbitration_service", "7", "10.0.0.10:2888"]),
    (
        "obproxy_restart",
        {"obproxy_cluster": "entry", "obproxies": ["10.0.0.8"]},
        ["obproxies", "10.0.0.8 matches nothing", "give 10.0.0.8:2883"],
    ),
    ("obproxy_restart", {"obproxy_cluster": "exit", "obproxies": ["1"]}, ["obproxy_cluster", "exit", "entry"]),
    (
        "task_wait",
        {"task_ids": "4711", "wait_timeout": "1"},
        ["task_ids: task 4711 does not exist. See the newest tasks: ansible localhost -m oceanbase.ocp.task_info"],
    ),
    ("cluster_rolling_restart_info", {"clusters": "ordrs", "started_before": "1777834921"}, ["Did you mean orders?"]),
    (
        "cluster_rolling_restart_info",
        {"clusters": "orders", "started_before": "2099-01-01T00:00:00Z"},
        ["started_before: 2099-01-01", "is in the future"],
    ),
    (
        "fleet_restart_info",
        {"servers": [{"cluster": "ordrs", "server": "10.0.0.1:2882"}], "started_before": "1777834921"},
        ["servers: ordrs matches nothing", "Did you mean orders?"],
    ),
    (
        "fleet_restart_info",
        {"servers": [{"cluster": "orders", "server": "10.0.0.1:2882"}]},
        ["change: is not given, nor is started_before; give the name of the change"],
    ),
    ("task_wait", {"task_ids": "soon"}, ["task_ids", "soon"]),
    ("task_info", {"limit": "0"}, ["limit", "0"]),
]


def test_error_names_the_bad_option_and_the_unknown_target(ansible, emulator):
    cases = {str(number): (module, options) for number, (module, options, _named) in enumerate(BAD_INPUT)}
    results = refusals(ansible, cases, url=emulator.url, **BASIC)
    for number, (_module, _options, named) in enumerate(BAD_INPUT):
        assert_sentence(results[str(number)], *named)
    assert emulator.requests("POST") == []


def test_incomplete_or_mixed_credentials_are_refused(ansible, emulator):
    given = [
        ({}, ["username", "access_key_id", "OCP_USERNAME"]),
        ({**BASIC, **ACCESS_KEY}, ["username", "access_key_id", "not both"]),
        ({"username": "admin"}, ["password", "OCP_PASSWORD"]),
        ({"access_key_secret": "emulator-secret"}, ["access_key_id"]),
    ]
    cases = {
        str(number): ("server_restart", {**SERVER, **credentials}) for number, (credentials, _named) in enumerate(given)
    }
    results = refusals(ansible, cases, url=emulator.url)
    for number, (_credentials, named) in enumerate(given):
        assert_sentence(results[str(number)], *named)
    assert "/api/" not in emulator.log


@pytest.mark.parametrize(
    ("credentials", "check"),
    [
        ({**BASIC, "password": "emulatoR"}, "Check username and password."),
        ({**ACCESS_KEY, "access_key_secret": "emulator-secreT"}, "Check access_key_id and access_key_secret."),
    ],
    ids=["password", "access-key"],
)
def test_wrong_credentials_are_tried_once(ansible, emulator, credentials, check):
    result = ansible.module("server_restart", url=emulator.url, **credentials, **SERVER)
    assert_refused(result, "status 401", check, "Trace id")
    assert len(emulator.requests("GET")) == 1
    assert emulator.requests("POST") == []


def test_a_wrong_password_is_sent_once(ansible, start_emulator):
    emulators = {module: start_emulator() for module in MODULES}
    cases = {}
    for module, options in MODULES.items():
        waits = {} if module.startswith("task") else {"wait": True}
        cases[module] = (module, {"url": emulators[module].url, **options, **waits})
    results = refusals(ansible, cases, username="admin", password="wrong")
    for module, emulator in emulators.items():
        assert "401" in results[module]["msg"]
        assert len(emulator.requests("GET") + emulator.requests("POST")) == 1, module


def test_error_names_the_missing_permission(ansible, emulator):
    result = ansible.module("server_restart", url=emulator.url, username="viewer", password="ocp-demo-1", **SERVER)
    assert_refused(result, "Did not restart", "status 403", "Trace id", "permission")
    assert result["changed"] is False


def test_invalid_url_is_refused(ansible):
    urls = ("ocp.example.com", "ftp://ocp", "http://", "http://admin:pw@ocp:8080", "http://ocp:x")
    results = refusals(ansible, {url: ("server_restart", {**SERVER, "url": url}) for url in urls}, **BASIC)
    for result in results.values():
        assert_sentence(result, "url:")
        assert "pw@" not in result["msg"]


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"OCP_PASSWORD": "ocp-demo-1"}, ["url: is not given; give the address of an OCP with url or OCP_URL"]),
        pytest.param(
            {"OCP_URL": "http://127.0.0.1:9"},
            ["password: is missing", "give it with password or OCP_PASSWORD."],
            marks=pytest.mark.nightly,
        ),
        (
            {"OCP_URL": "http://127.0.0.1:9", "OCP_PASSWORD": "ocp-demo-1", "OCP_TIMEOUT": "abc"},
            ["timeout", "The value abc comes from the environment variable OCP_TIMEOUT"],
        ),
        pytest.param(
            {"OCP_URL": "http://127.0.0.1:9/api/v2", "OCP_PASSWORD": "ocp-demo-1"},
            ["url: has a path /api/v2; give the address alone, http://127.0.0.1:9."],
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["no OCP_URL", "no OCP_PASSWORD", "OCP_TIMEOUT", "path"],
)
def test_error_names_the_environment_variable(ansible, environment, words):
    ansible.environment = {"OCP_USERNAME": "admin", **environment}
    read = {"oceanbase.ocp.task_info": {"limit": 1}}
    outcome = ansible.each({"in-process": read, "ordinary": {**read, **ORDINARY}}, arguments="-vvv")
    assert ran_as(outcome.output) == {"in-process": 1, "ordinary": 1}
    assert outcome.failed == {"in-process", "ordinary"}
    for result in outcome.results.values():
        assert_sentence(result, *words)


def test_unreachable_service_is_reported(ansible):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert_refused(ansible.module("server_restart", url=url, **BASIC, **SERVER), url, "cannot be reached")


def test_untrusted_certificate_is_refused_unless_validation_is_off(ansible, start_emulator, tls_options):
    emulator = start_emulator(*tls_options)
    assert_refused(
        ansible.module("server_restart", url=emulator.url, **BASIC, **SERVER), emulator.url, "ca_path", "not trusted"
    )
    trusting = ansible.module("server_restart", url=emulator.url, validate_certs=False, **BASIC, **SERVER)
    assert trusting["changed"] is True


@pytest.fixture
def other_service(request: pytest.FixtureRequest) -> Iterator[str]:
    """Something that is no OCP: answers every request with the parameter as its body."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _peer = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(
                    f"HTTP/1.1 200 OK\r\nContent-Length: {len(request.param)}\r\n\r\n{request.param}".encode()
                )

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize(
    "other_service",
    [
        "<html>Welcome</html>",
        pytest.param('{"hello": "world"}', marks=pytest.mark.nightly),
        pytest.param("", marks=pytest.mark.nightly),
    ],
    indirect=True,
)
def test_response_without_envelope_is_refused(ansible, other_service):
    result = ansible.module("server_restart", url=other_service, **BASIC, **SERVER)
    assert_refused(result, other_service, "not an OCP response envelope")


def refusals(ansible, cases, **connection):
    """The results by name of tasks (module, options) that all fail, one after the other in one play."""
    tasks = {name: {f"oceanbase.ocp.{module}": options} for name, (module, options) in cases.items()}
    outcome = ansible.each(tasks, module_defaults={"group/oceanbase.ocp.ocp": connection})
    assert outcome.rc == 0, outcome.output
    assert outcome.failed == cases.keys()
    assert "Traceback" not in outcome.output
    return outcome.results


def assert_sentence(result, *named):
    for word in named:
        assert word in result["msg"]
    assert result.get("changed", False) is False


def assert_refused(result, *named):
    assert result["rc"] == 2, result
    assert_sentence(result, *named)
    assert "Traceback" not in result["output"]
