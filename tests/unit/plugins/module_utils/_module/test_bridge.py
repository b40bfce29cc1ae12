# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The modules as Ansible starts them; nothing below can send a request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import trustme
from ansible.module_utils.common.parameters import PASS_VARS
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import errors
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import PermissionDenied, ResponseLost
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge, connection_options
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting import await_tasks
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FULL3
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import (
    RESULT_KEYS,
    URL,
    Script,
    page_of,
    raw_task,
    response,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    BASIC,
    COLLECTION,
    CONNECTION,
    KEY,
    MASKED_WHERE_SHOWN,
    MODULES,
    OWN,
    RESTARTS,
    WAITING,
    definition_of,
    every_module_of_the_service,
)

if MASKED_WHERE_SHOWN:
    from ansible.module_utils import secrets


@pytest.fixture
def connected(monkeypatch, client: Script) -> list[tuple[Any, ...]]:
    """Replace the client of a module by the scripted one; holds the arguments of each client."""
    made: list[tuple[Any, ...]] = []

    def make(url, auth, *, verify, timeout, **more):
        made.append((url, auth, verify, timeout, more))
        session.HttpClient(url, auth, verify=verify, timeout=timeout, **more)  # accepts the same arguments
        return client.double

    client.double.close.side_effect = None
    monkeypatch.setattr(connection_options, "HttpClient", make)
    return made


def expect_no_tasks(client: Script, limit: int = 10) -> None:
    query = {"sort": "id,desc", "page": 1, "size": limit}
    client.expect("get", "/api/v2/tasks/instances", query, gives=response({"contents": []}))


# Unusable options

CREDENTIALS = "either username and password, or access_key_id and access_key_secret"
BAD_CONNECTION = {
    "both kinds": ({**BASIC, **KEY}, ["Both kinds of credentials", CREDENTIALS]),
    "neither kind": ({}, ["No credentials are given", CREDENTIALS, "OCP_USERNAME"]),
    "no password": ({"username": "admin"}, ["password: is missing or empty", "username is given", "OCP_PASSWORD"]),
    "no user name": (
        {"password": "pass-word-9"},
        ["username: is missing or empty", "password is given", "OCP_USERNAME"],
    ),
    "empty password": ({"username": "admin", "password": ""}, ["password: is missing or empty"]),
    "no secret": ({"access_key_id": "key-id"}, ["access_key_secret: is missing or empty", "access_key_id is given"]),
    "no key id": ({"access_key_secret": "key-secret-9"}, ["access_key_id: is missing or empty"]),
    "half of one beside the other": ({**BASIC, "access_key_id": "key-id"}, ["access_key_secret: is missing"]),
    **{
        f"url {url!r}": ({**BASIC, "url": url}, [f"url: {url} is not the address of an OCP", "https://ocp"])
        for url in (
            "ocp.example.com",
            "ocp.example.com:8080",
            "//ocp.example.com",
            "ftp://ocp.example.com",
            "http://",
            "http://:8080",
            "http://ocp:port",
            "http://ocp:0",
            "http://ocp:65536",
            "http://[::1",
        )
    },
    "empty url": ({**BASIC, "url": ""}, ["url: is empty; give the address of an OCP"]),
    "url with a query": ({**BASIC, "url": f"{URL}/?a=1"}, [f"url: {URL}/?a=1 has a query or fragment"]),
    **{
        f"url that ends in {mark}": ({**BASIC, "url": URL + mark}, [f"url: {URL}{mark} has a query or fragment"])
        for mark in ("?", "#", "/?", "/#")
    },
    "url with a fragment": ({**BASIC, "url": f"{URL}/#login"}, [f"url: {URL}/#login has a query or fragment"]),
    **{
        f"access key id {key_id!a}": (
            {**KEY, "access_key_id": key_id},
            ["access_key_id: has characters that no access"],
        )
        for key_id in ("key\n", "key\r\nX-Other: 1", "ключ")
    },
    "ca_path": (
        {**BASIC, "ca_path": "/no/such/ca.pem"},
        ["ca_path: /no/such/ca.pem cannot be used: No such file or directory"],
    ),
    **{
        f"timeout {value}": (
            {**BASIC, "timeout": value},
            [f"timeout: {value} is out of range; give 0.1 to 604800 seconds"],
        )
        for value in ("0", "-1", "0.05", "604801", "nan", "inf")
    },
}


@every_module_of_the_service
@pytest.mark.parametrize(("params", "words"), BAD_CONNECTION.values(), ids=BAD_CONNECTION)
@pytest.mark.usefixtures("_offline")
def test_invalid_connection_options_are_refused(params, words, name, run):
    result = run(name, {"url": URL, **OWN[name], **params})
    assert result["failed"] is True
    for word in words:
        assert word in result["msg"]
    assert "pass-word-9" not in result["msg"]
    assert "key-secret-9" not in result["msg"]
    assert result["msg"].endswith(".")
    assert "\n" not in result["msg"]
    assert not result.get("changed")


@pytest.mark.usefixtures("_offline")
def test_ca_path_without_a_certificate_is_refused(run, tmp_path):
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate\n")
    message = run("task_info", {**CONNECTION, "ca_path": str(empty)})["msg"]
    assert message.startswith(f"ca_path: {empty} cannot be used: ")


@pytest.mark.parametrize(
    "url",
    [
        "http://admin:hidden-9@ocp.test:8080",
        "ftp://admin:hidden-9@ocp.test",
        "https://admin:hidden-9@ocp.test:99999",
        "https://admin:hidden-9@ocp.test/?a=1",
    ],
)
@pytest.mark.usefixtures("_offline")
def test_password_in_the_url_is_refused_and_not_shown(url, run):
    result = run("task_info", {**CONNECTION, "url": url})
    assert result["msg"] == "url: holds a user name or password; give them with username and password instead."
    # Newer versions of ansible-core leave the arguments out, unless they are asked for.
    if "invocation" in result:
        assert result["invocation"]["module_args"]["url"].partition("://")[2].startswith("********@ocp.test")
    assert "hidden-9" not in json.dumps(result)


@pytest.mark.parametrize("name", WAITING)
@pytest.mark.parametrize(
    ("option", "value", "least"),
    [
        ("wait_timeout", 0, "1"),
        ("wait_timeout", -5, "1"),
        ("wait_timeout", 604801, "1"),
        ("wait_timeout", 9999999, "1"),
        ("wait_interval", 0, "0.5"),
        ("wait_interval", 0.4, "0.5"),
        ("wait_interval", "nan", "0.5"),
        ("wait_interval", "inf", "0.5"),
        ("wait_interval", 604801, "0.5"),
    ],
)
@pytest.mark.usefixtures("_offline")
def test_wait_option_out_of_range_is_refused(option, value, least, name, run):
    result = run(name, {**CONNECTION, **OWN[name], option: value})
    assert result["msg"] == f"{option}: {value} is out of range; give {least} to 604800 seconds."


@pytest.mark.usefixtures("_offline")
def test_refusal_of_an_option_names_the_variable_of_its_caller(run):
    given = {"wait_timeout": -5, "hint_variables": {"wait_timeout": "rolling_restart_wait_timeout"}}
    said = run("server_restart", {**CONNECTION, **OWN["server_restart"], **given})["msg"]
    assert said.startswith("rolling_restart_wait_timeout: -5 is out of range")


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        (
            "server_restart",
            {"safety": "non"},
            "value of my_safety must be one of: majority, none, got: non. Did you mean none?",
        ),
        ("server_restart", {"stop_on": ["lagg"]}, "value of my_stop_on must be one or more of: alarms, lag"),
        ("server_restart", {"wait_timeout": "long"}, "argument 'my_wait_timeout' is of type "),
        ("task_wait", {"task_ids": ["first"]}, "Elements value for option 'my_task_ids' is of type "),
        ("server_restart", {"cluster": None, "server": None}, "missing required arguments: my_cluster, my_server"),
        (
            "server_restart",
            {"freeze_server": None},
            "missing required arguments: my_freeze_server. my_freeze_server has no ",
        ),
        ("task_info", {"task_id": 1, "cluster": "orders"}, "parameters are mutually exclusive: my_task_id|my_cluster"),
        ("cluster_wait", {"zone": "zone1"}, "parameters are required together: my_zone, my_servers"),
        (
            "cluster_wait",
            {"apart_from_tasks": [1]},
            "missing parameter(s) required by 'my_apart_from_tasks': my_apart_from_zone",
        ),
    ],
)
@pytest.mark.usefixtures("_offline")
def test_ansibles_refusal_of_an_option_names_the_variable_of_its_caller(run, name, given, words):
    options = {**OWN[name], **given}
    variables = {option: f"my_{option}" for option in definition_of(name).options}
    given_options = {option: value for option, value in options.items() if value is not None}
    assert run(name, {**CONNECTION, **given_options, "hint_variables": variables})["msg"].startswith(words)
    assert run(name, {**CONNECTION, **given_options})["msg"].startswith(words.replace("my_", ""))


@pytest.mark.parametrize(
    ("name", "option", "value", "words"),
    [
        ("agent_restart", "hosts", [], "hosts: is empty or has an empty entry"),
        ("agent_restart", "hosts", [""], "hosts: is empty or has an empty entry"),
        ("agent_restart", "hosts", ["10.1.0.1", ""], "hosts: is empty or has an empty entry"),
        ("task_wait", "task_ids", [], "task_ids: the list is empty"),
        ("task_info", "limit", 0, "limit: 0 is out of range; give 1 to 2000."),
        ("task_info", "limit", -3, "limit: -3 is out of range; give 1 to 2000."),
        ("task_info", "limit", 2001, "limit: 2001 is out of range; give 1 to 2000."),
        ("task_info", "cluster", "", "cluster: is empty; leave it out"),
        ("task_info", "host", "", "host: is empty; leave it out"),
        ("task_info", "name", "", "name: is empty; leave it out"),
    ],
)
@pytest.mark.usefixtures("_offline")
def test_invalid_module_option_is_refused(name, option, value, words, run):
    assert run(name, {**CONNECTION, **OWN[name], option: value})["msg"].startswith(words)


@pytest.mark.parametrize(
    ("name", "option", "value", "words"),
    [
        ("server_restart", "freeze_server", "perhaps", ["freeze_server", "perhaps"]),
        ("server_restart", "force", "perhaps", ["force", "perhaps"]),
        ("cluster_restart", "wait", "perhaps", ["wait", "perhaps"]),
        ("cluster_restart", "wait_timeout", "an hour", ["wait_timeout", "an hour"]),
        ("task_wait", "task_ids", ["first"], ["task_ids", "first"]),
        ("task_info", "task_id", "first", ["task_id", "first"]),
        ("task_info", "status", ["DONE"], ["status", "RUNNING, SUCCESSFUL, FAILED"]),
        ("task_info", "timeout", "soon", ["timeout", "float"]),
    ],
)
@pytest.mark.usefixtures("_offline")
def test_option_of_the_wrong_type_is_refused(name, option, value, words, run):
    result = run(name, {**CONNECTION, **OWN[name], option: value})
    assert result["failed"] is True
    assert all(word in result["msg"] for word in words)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option)
        for name, own in OWN.items()
        for option in own
        if definition_of(name).argument_spec[option].get("required")
    ],
)
@pytest.mark.usefixtures("_offline")
def test_missing_required_option_is_refused(name, option, run):
    params = {**CONNECTION, **OWN[name]}
    del params[option]
    said = run(name, params)["msg"]
    assert said.partition(". ")[0] == f"missing required arguments: {option}"
    assert ("as OCP's console does by default" in said) == (option == "freeze_server")


@pytest.mark.usefixtures("_offline")
def test_misspelt_choice_is_named_with_the_nearest(run):
    said = run("task", {**CONNECTION, "task_id": 7, "state": "cancelled"})["msg"]
    assert said.endswith("canceled, got: cancelled. Did you mean canceled?")


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ({"clutser": "c1", "zone": "z1"}, "missing required arguments: ", "no option clutser, did you mean cluster?"),
        ({"cluster": "c1", "zone": "z1", "qqq": 1}, "Unsupported parameters for ", ". There is no option qqq"),
        ({"cluster": "c1", "zoen": 1, "qqq": 1}, "missing ", "option qqq. There is no option zoen, did you mean zone?"),
        ({"cluster": "c1", "clutser": 1, "zzz": 1}, "missing ", "did you mean cluster? There is no option zzz"),
    ],
)
@pytest.mark.usefixtures("_offline")
def test_misspelt_option_is_named_with_the_nearest(given, first, last, run):
    """Also where another one is missing, of which Ansible speaks alone."""
    said = run("zone_restart", {**CONNECTION, **given})["msg"]
    assert said.startswith(first) and said.endswith(last) and ".. " not in said


@pytest.mark.parametrize("given", [{}, {"waves": False, "wait": False}])
@pytest.mark.parametrize(("option", "value"), [("inspection", "basic"), ("raise_offline_time", 7200)])
@pytest.mark.usefixtures("_offline")
def test_option_of_the_end_of_a_plan_needs_a_run_that_sees_it(option, value, given, run):
    said = run("fleet_restart", {**CONNECTION, **OWN["fleet_restart"], option: value, **given})["msg"]
    assert said.startswith(f"{option}: needs wait=true and waves, true or false, since ")


@every_module_of_the_service
@pytest.mark.usefixtures("_offline")
def test_missing_url_names_the_option_and_its_variable(name, run):
    params = {**CONNECTION, **OWN[name]}
    del params["url"]
    assert run(name, params)["msg"] == (
        "url: is not given; give the address of an OCP with url or OCP_URL, as in https://ocp.example.com:8080."
    )


@pytest.mark.parametrize(
    ("variable", "value", "option"),
    [("OCP_TIMEOUT", "abc", "timeout"), ("OCP_VALIDATE_CERTS", "off-ish", "validate_certs")],
)
@pytest.mark.usefixtures("_offline")
def test_bad_value_of_the_environment_names_the_variable(variable, value, option, run, monkeypatch):
    monkeypatch.setenv(variable, value)
    message = run("task_info", CONNECTION)["msg"]
    assert option in message
    assert message.endswith(f". The value {value} comes from the environment variable {variable}")
    assert variable not in run("task_info", {**CONNECTION, option: "else"})["msg"]


@pytest.mark.parametrize(
    ("path", "address"),
    [("/api/v2", ""), ("/api/v2/", ""), ("/api/v2/ob/clusters", ""), ("/ocp/api/v1", "/ocp")],
)
@pytest.mark.usefixtures("_offline")
def test_url_with_a_path_of_the_api_is_refused(path, address, run):
    message = run("task_info", {**CONNECTION, "url": f"https://ocp.test:8080{path}"})["msg"]
    assert message == f"url: has a path {path}; give the address alone, https://ocp.test:8080{address}."


@pytest.mark.parametrize("prefix", ["/", "/ocp", "/api", "/my/api/v2x", "/api/version"])
@pytest.mark.usefixtures("connected")
def test_url_with_another_path_is_taken(prefix, run, client):
    expect_no_tasks(client)
    assert run("task_info", {**CONNECTION, "url": f"{URL}{prefix}"})["tasks"] == []


@pytest.mark.parametrize("other", [{"cluster": "1"}, {"host": "1"}, {"status": ["RUNNING"]}, {"name": "x"}], ids=str)
@pytest.mark.usefixtures("_offline")
def test_task_id_excludes_filters(other, run):
    [option] = other
    message = run("task_info", {**CONNECTION, "task_id": 1, **other})["msg"]
    assert message == f"parameters are mutually exclusive: task_id|{option}"


# Options reach the client


@pytest.mark.usefixtures("_offline")
def test_connection_comes_from_the_options(run, connected, client, tmp_path):
    ca_path = str(tmp_path)
    expect_no_tasks(client)
    assert run("task_info", {**CONNECTION, "ca_path": ca_path, "timeout": "2.5"})["tasks"] == []
    [(url, auth, verify, timeout, _more)] = connected
    assert (url, verify, timeout) == (URL, ca_path, 2.5)
    assert (auth.username, auth.password) == (b"admin", b"pass-word-9")


def test_default_connection_validates_certs_with_a_30_s_timeout(run, connected, client):
    expect_no_tasks(client)
    run("task_info", CONNECTION)
    assert connected[0][2:] == (True, 30, {"client_cert": None, "use_proxy": True})


@pytest.fixture
def client_cert(tmp_path) -> dict[str, str]:
    """The options of a client certificate, of which the files exist."""
    made = trustme.CA().issue_cert("ops@example.com")
    made.cert_chain_pems[0].write_to_path(tmp_path / "client.crt")
    made.private_key_pem.write_to_path(tmp_path / "client.key")
    return {"client_cert": str(tmp_path / "client.crt"), "client_key": str(tmp_path / "client.key")}


@pytest.mark.parametrize("source", ["options", "environment"])
def test_client_certificate_and_proxy_come_from(source, run, connected, client, client_cert, monkeypatch):
    given = {**client_cert, "use_proxy": "no"}
    if source == "environment":
        for option, value in given.items():
            monkeypatch.setenv(f"OCP_{option.upper()}", value)
    expect_no_tasks(client)
    run("task_info", {**CONNECTION, **(given if source == "options" else {})})
    assert connected[0][4] == {"client_cert": tuple(client_cert.values()), "use_proxy": False}


@every_module_of_the_service
@pytest.mark.usefixtures("_offline")
def test_unusable_client_certificate_is_refused(name, run):
    given = {**CONNECTION, **OWN[name], "client_cert": "/no/such/client.crt"}
    assert run(name, given)["msg"] == (
        "client_cert: /no/such/client.crt cannot be read: No such file or directory. "
        "Give the path of a file in PEM form."
    )


def test_request_timeout_is_an_alias_of_timeout(run, connected, client):
    expect_no_tasks(client)
    run("task_info", {**CONNECTION, "request_timeout": 2.5})
    assert connected[0][3] == 2.5


def test_connection_comes_from_the_environment(run, connected, client, monkeypatch, tmp_path):
    for option, value in {
        "url": URL,
        "access_key_id": "key-id",
        "access_key_secret": "key-secret-9",
        "validate_certs": "true",
        "ca_path": str(tmp_path),
        "timeout": "7",
    }.items():
        monkeypatch.setenv(f"OCP_{option.upper()}", value)
    expect_no_tasks(client)
    assert run("task_info", {})["tasks"] == []
    [(url, auth, verify, timeout, _more)] = connected
    assert (url, verify, timeout) == (URL, str(tmp_path), 7)
    assert isinstance(auth, AccessKeyAuth)


def test_options_take_precedence_over_the_environment(run, connected, client, monkeypatch):
    for option in ("url", "username", "password", "timeout", "validate_certs"):
        monkeypatch.setenv(f"OCP_{option.upper()}", "no")
    expect_no_tasks(client)
    run("task_info", {**CONNECTION, "timeout": 3, "validate_certs": True})
    [(url, auth, verify, timeout, _more)] = connected
    assert (url, verify, timeout) == (URL, True, 3)
    assert (auth.username, auth.password) == (b"admin", b"pass-word-9")


def test_username_and_password_come_from_the_environment(run, connected, client, monkeypatch):
    monkeypatch.setenv("OCP_USERNAME", "admin")
    monkeypatch.setenv("OCP_PASSWORD", "pass-word-9")
    monkeypatch.setenv("OCP_VALIDATE_CERTS", "false")
    expect_no_tasks(client)
    run("task_info", {"url": URL, "ca_path": "/no/such/ca.pem"})
    [(_url, auth, verify, _timeout, _more)] = connected
    assert auth.username == b"admin"
    assert verify is False  # ca_path has no effect then


# Results and failures


EXPOSED = ["http://ocp.test:8080", "http://10.0.0.1", "http://[2001:db8::1]:8080", "HTTP://localhost.ocp.test/x"]
UNEXPOSED = [
    "https://ocp.test:8080",
    "http://127.0.0.1:8080",
    "http://127.8.8.8",
    "http://[::1]:80",
    "http://localhost",
]


@pytest.mark.parametrize("fails", [False, True], ids=["good", "failed"])
@pytest.mark.parametrize("url", EXPOSED + UNEXPOSED)
@pytest.mark.usefixtures("connected")
def test_password_over_plain_http_warns_once(url, fails, run, client, warned):
    query = {"sort": "id,desc", "page": 1, "size": 10}
    given = ResponseLost("Lost.", url=url) if fails else response({"contents": []})
    client.expect("get", "/api/v2/tasks/instances", query, gives=given)
    run("task_info", {"url": url, **BASIC, "limit": 10})
    assert len(warned) == (url in EXPOSED)
    if warned:
        assert f"The password of admin is sent unencrypted to {url.split('/')[2]}; " in warned[0]
        assert "pass-word-9" not in warned[0]


@pytest.mark.usefixtures("connected")
def test_signed_requests_over_plain_http_do_not_warn(run, client, warned):
    expect_no_tasks(client)
    run("task_info", {"url": EXPOSED[0], **KEY, "limit": 10})
    assert warned == []


@pytest.mark.parametrize("status", ["SUCCESSFUL", "FAILED"])
@pytest.mark.usefixtures("connected")
def test_transient_poll_errors_become_a_warning(status, run, client, time_passes, warned, monkeypatch):
    monkeypatch.setitem(await_tasks.await_tasks.__kwdefaults__, "clock", time_passes.clock)
    # Called for a result with its own warnings.
    monkeypatch.setattr(bridge.AnsibleModule, "deprecate", mock.Mock(side_effect=AssertionError))
    client.expect("get", "/api/v2/tasks/instances/81", gives=ResponseLost("The answer was lost.", url=URL))
    client.expect("get", "/api/v2/tasks/instances/81", gives=response(raw_task(81, status)))
    result = run("task_wait", {**CONNECTION, **OWN["task_wait"]})
    assert result.get("failed", False) is (status == "FAILED")
    [warning] = warned
    assert "The answer was lost." in warning


@pytest.mark.parametrize(
    "gives", [response(raw_task(81)), PermissionDenied("No.", status=403, reason="", url=URL)], ids=str
)
@pytest.mark.usefixtures("connected")
def test_connections_are_closed(gives, run, client):
    client.expect("get", "/api/v2/tasks/instances/81", gives=gives)
    run("task_info", {**CONNECTION, "task_id": 81})
    client.double.close.assert_called_once_with()


@pytest.mark.parametrize("name", ["task_info", "task_wait"])
@pytest.mark.usefixtures("connected")
def test_crash_of_a_module_that_reads_is_a_failure_in_one_sentence(name, run, monkeypatch):
    def crash(*_args, **_options):
        raise ZeroDivisionError("divided by pass-word-9")

    monkeypatch.setattr(OcpApi, "task", crash)
    params = {"task_info": {"task_id": 7}, "task_wait": {"task_ids": [7]}}[name]
    result = run(name, {**CONNECTION, **BASIC, **params})
    assert result["msg"] == ("The module crashed; this is a bug in the module: ZeroDivisionError: divided by ********")
    assert "pass-word-9" not in json.dumps(result)


@pytest.mark.usefixtures("connected")
def test_service_error_result_includes_its_facts(run, client):
    error = PermissionDenied("Refused.", status=403, reason="", url=URL, trace_id="trace-403")
    client.expect("get", "/api/v2/tasks/instances/81", gives=error)
    result = run("task_wait", {**CONNECTION, **OWN["task_wait"]})
    assert result["failed"] is True
    assert {key: result[key] for key in ("msg", "url", "trace_id", "task_id")} == {
        "msg": "Refused.",
        "url": URL,
        "trace_id": "trace-403",
        "task_id": 81,
    }


ENTRY = {"id": 91, "name": "entry", "obproxies": [{"id": 81, "ip": "10.1.0.1", "sqlPort": 2883, "status": "RUNNING"}]}


@pytest.mark.parametrize("name", RESTARTS)
@pytest.mark.usefixtures("connected")
def test_check_mode_reads_and_does_not_post(name, run, client, monkeypatch):
    orders = {"id": 31, "name": "orders", "status": "RUNNING", "zones": [{"id": 71, "name": "zone1"}]}
    records = {
        "/api/v2/ob/clusters": {"contents": [orders]},
        "/api/v2/ob/clusters/31": orders,
        "/api/v2/ob/clusters/31/servers": {
            "contents": [{"id": 40 + n, "ip": f"10.1.0.{n}", "port": 2882, "zoneName": f"zone{n}"} for n in (1, 2, 3)]
        },
        "/api/v2/ob/clusters/31/tenants": {"contents": [{"id": 501, "name": "sys", "locality": FULL3}]},
        "/api/v2/compute/hosts": {"contents": [{"id": 51, "innerIpAddress": "10.1.0.1"}]},
        "/api/v2/compute/hosts/51/agent": {"status": "AVAILABLE", "processes": []},
        "/api/v2/arbitration/services": {"contents": [{"id": 61, "svrIp": "10.1.0.8", "svrPort": 2888}]},
        "/api/v2/arbitration/services/61": {"status": "RUNNING", "clusters": []},
        "/api/v2/obproxy/clusters": {"contents": [ENTRY]},
        "/api/v2/obproxy/clusters/91": ENTRY,
        "/api/v2/tasks/instances": {"contents": []},
        "/api/v2/monitor/metric": {"contents": []},
    }
    client.double.get.side_effect = lambda path, *_params: response(records[path])
    client.double.wait_for_room.side_effect = None
    monkeypatch.setattr(OcpApi, "service_clock", ServiceClock())
    result = run(name, {**CONNECTION, **OWN[name], "wait": True, "_ansible_check_mode": True})
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", None)
    assert client.double.get.called
    client.double.post.assert_not_called()
    assert result.keys() & {"warnings", "diff"} == set()  # no warnings, and no diff mode
    skipped = {"agent_restart": {"skipped_hosts"}, "obproxy_restart": {"skipped_obproxies"}}
    assert result.keys() >= RESULT_KEYS | skipped.get(name, set())


@pytest.mark.parametrize("given", [BASIC, KEY], ids=["password", "access key"])
@pytest.mark.usefixtures("connected")
def test_secrets_are_not_logged(given, run, client):
    client.expect("get", "/api/v2/tasks/instances/81", gives=response({"id": 81, "status": "SUCCESSFUL"}))
    # ansible-core 2.21 shows the invocation only on request; older ones always do and refuse the request.
    shown = {"_ansible_inject_invocation": True} if "inject_invocation" in PASS_VARS else {}
    result = run("task_info", {"url": URL, **given, "task_id": 81, **shown})
    [secret] = [option for option in given if option in ("password", "access_key_secret")]
    told = result["invocation"]["module_args"].pop(secret)
    if MASKED_WHERE_SHOWN:
        assert secrets.mask_secrets(told) == "$REDACTED$"
        # Ansible removes this from results. It may also hold secrets of earlier modules in this process.
        result.pop("_ansible_new_secrets", None)
    else:
        assert told == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
    assert given[secret] not in json.dumps(result)


@pytest.mark.usefixtures("connected")
def test_unknown_task_id_gives_an_empty_list(run, client):
    error = errors.NotFound("No.", status=404, reason="", url=URL)
    client.expect("get", "/api/v2/tasks/instances/81", gives=error)
    assert run("task_info", {**CONNECTION, "task_id": 81})["tasks"] == []


@pytest.mark.usefixtures("connected")
def test_tasks_are_filtered_by_ids_and_read_one_by_one(run, client):
    hosts = response({"contents": [{"id": 51, "innerIpAddress": "10.1.0.1"}]})
    query = {
        "clusterId": 31,
        "hostId": 51,
        "status": "RUNNING,FAILED",
        "name": "Restart",
        "sort": "id,desc",
        "page": 1,
        "size": 2,
    }
    client.expect("get", "/api/v2/ob/clusters/31", gives=response({"id": 31, "name": "orders"}))
    client.expect("get", "/api/v2/compute/hosts", {"page": 1, "size": 2000}, gives=hosts)
    client.expect("get", "/api/v2/tasks/instances", query, gives=response({"contents": [{"id": 82}, {"id": 81}]}))
    client.expect("get", "/api/v2/tasks/instances/82", gives=response({"id": 82}))
    client.expect("get", "/api/v2/tasks/instances/81", gives=response({"id": 81}))
    filters = {"cluster": "31", "host": "10.1.0.1", "status": ["RUNNING", "FAILED"], "name": "Restart", "limit": 2}
    result = run("task_info", {**CONNECTION, **filters})
    assert [task["id"] for task in result["tasks"]] == [82, 81]
    assert result["changed"] is False


@pytest.mark.usefixtures("connected")
def test_task_that_has_ended_since_it_was_listed_is_not_returned_as_running(run, client):
    query = {"status": "RUNNING", "sort": "id,desc", "page": 1, "size": 2}
    client.expect("get", "/api/v2/tasks/instances", query, gives=response({"contents": [{"id": 82}, {"id": 81}]}))
    client.expect("get", "/api/v2/tasks/instances/82", gives=response({"id": 82, "status": "SUCCESSFUL"}))
    client.expect("get", "/api/v2/tasks/instances/81", gives=response({"id": 81, "status": "RUNNING"}))
    result = run("task_info", {**CONNECTION, "status": ["RUNNING"], "limit": 2})
    assert [task["id"] for task in result["tasks"]] == [81]


@pytest.mark.parametrize(("limit", "size"), [(1, 2), (2000, 2000)])
@pytest.mark.usefixtures("connected")
def test_limit_accepts_its_bounds(limit, size, run, client):
    expect_no_tasks(client, size)
    assert run("task_info", {**CONNECTION, "limit": limit})["tasks"] == []


@pytest.mark.usefixtures("connected")
def test_list_with_a_task_that_has_no_id_is_refused(run, client):
    query = {"sort": "id,desc", "page": 1, "size": 10}
    client.expect("get", "/api/v2/tasks/instances", query, gives=page_of({"id": 82}, {}))
    assert "does not have the documented form (tasks with ids)" in run("task_info", CONNECTION)["msg"]


@pytest.mark.parametrize(
    ("name", "params", "option"),
    [
        ("task_info", {"host": "10.1.0.9"}, "host"),
        ("agent_restart", {"hosts": ["10.1.0.9"], "_ansible_check_mode": True}, "hosts"),
    ],
    ids=["task_info", "agent_restart"],
)
@pytest.mark.usefixtures("connected")
def test_unknown_host_error_names_the_modules_own_option(name, params, option, run, client):
    hosts = response({"contents": [{"id": 51, "innerIpAddress": "10.1.0.1"}]})
    client.expect("get", "/api/v2/compute/hosts", {"page": 1, "size": 2000}, gives=hosts)
    message = run(name, {**CONNECTION, **params})["msg"]
    assert message == (
        f"{option}: 10.1.0.9 matches nothing; to choose from: 10.1.0.1. Did you mean 10.1.0.1? Check the name or id."
    )


# Without requests


@every_module_of_the_service
@pytest.mark.usefixtures("_offline")
def test_missing_requests_library_is_reported(name, run, monkeypatch):
    monkeypatch.setattr(bridge, "REQUESTS_IMPORT_ERROR", ImportError("No module named 'requests'"))
    result = run(name, {**CONNECTION, **OWN[name]})
    assert result["msg"].startswith("Failed to import the required Python library (requests) on ")


def test_modules_can_be_imported_without_the_requests_library():
    code = (
        "import importlib, sys; sys.modules['requests'] = None\n"
        f"for name in {MODULES!r}: importlib.import_module('{COLLECTION}.plugins.modules.' + name)\n"
        f"http = importlib.import_module('{COLLECTION}.plugins.module_utils._ocp.session')\n"
        "print(type(http.REQUESTS_IMPORT_ERROR).__name__)"
    )
    # ansible-test finds the collection by its own loader, which another process lacks.
    paths = [str(Path(bridge.__file__).parents[6]), os.environ.get("PYTHONPATH", "")]
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("ModuleNotFoundError\n", "")
