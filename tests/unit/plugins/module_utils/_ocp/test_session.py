# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The HTTP client against a real, scripted server."""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import sys
from dataclasses import replace

import pytest
import requests
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    Halted,
    NotFound,
    PageNotFound,
    PermissionDenied,
    RequestRefused,
    ResponseLost,
    ResponseUnreadable,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import SECRET, ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import (
    RESET,
    SILENCE,
    TRUNCATED,
    Reply,
    closed_port,
    envelope,
    refusal,
    text,
)

SHORT = 0.3
LOOK_FIRST = "look at its newest tasks before sending it again"
RUN_AGAIN = "Check that the service is up and that url has its scheme, http or https; then run this again."
CHECK_OPTIONS = "Check the options, and whether this version of OCP has the call."


# Requests


def test_get_sends_query_headers_and_credentials(server):
    server.expect("GET", "/api/v2/x", envelope({"id": 7}))
    found = connect(server.url + "/").get("/api/v2/x", {"page": 1, "status": "RUNNING,FAILED"})
    assert found == ApiResponse({"id": 7}, f"{server.url}/api/v2/x", "trace-ok")
    [received] = server.received
    assert received.query == {"page": "1", "status": "RUNNING,FAILED"}
    assert received.body == b""
    assert received.header("Content-Type") == "application/json"
    assert received.header("Accept") == "application/json"
    assert received.header("Accept-Language") == "en-US"
    assert base64.b64decode(received.header("Authorization").removeprefix("Basic ")) == f"admin:{SECRET}".encode()


def test_post_sends_query_and_json_body(server):
    server.expect("POST", "/ocp/api/v2/x", envelope({"id": 7}))
    found = connect(f"{server.url}/ocp").post("/api/v2/x", {"force": "false"}, {"force": False})
    assert found.data == {"id": 7}
    [received] = server.received
    assert received.query == {"force": "false"}
    assert json.loads(received.body) == {"force": False}
    assert received.header("Content-Type") == "application/json"


def test_post_without_data_has_an_empty_body(server):
    server.expect("POST", "/api/v2/x", envelope({"id": 7}))
    ask(connect(server.url), "POST")
    assert server.received[0].body == b""


def test_netrc_does_not_replace_the_credentials(server, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login other password other\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.expect("GET", "/api/v2/x", envelope())
    ask(connect(server.url), "GET")
    assert base64.b64decode(server.received[0].header("Authorization").split()[1]) == f"admin:{SECRET}".encode()


# Responses


@pytest.mark.parametrize(
    ("reply", "data", "trace_id"),
    [
        pytest.param(envelope([1, 2]), [1, 2], "trace-ok", id="list"),
        pytest.param(envelope({"größe": "ü"}), {"größe": "ü"}, "trace-ok", id="UTF-8"),
        pytest.param(Reply(200, b'{"successful": true}'), None, None, id="no data"),
        pytest.param(envelope(None, traceId=""), None, None, id="empty trace id"),
        pytest.param(envelope({"id": 1}, http=1, server="x"), {"id": 1}, "trace-ok", id="unknown keys"),
    ],
)
def test_envelope_gives_data_and_trace_id(reply, data, trace_id, server):
    server.expect("GET", "/api/v2/x", reply)
    found = ask(connect(server.url), "GET")
    assert (found.data, found.trace_id) == (data, trace_id)


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, RequestRefused, CHECK_OPTIONS),
        (401, AuthenticationFailed, "Check username and password"),
        (403, PermissionDenied, "Ask for the permission"),
        (404, NotFound, "Check that url is the address of an OCP"),
        (409, RequestRefused, "Wait until the task that works on it has ended"),
        (415, RequestRefused, ""),
        (423, RequestRefused, ""),
        (500, RequestRefused, ""),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("carried", ["by HTTP", "by the envelope alone"])
def test_error_envelope_raises_the_error_of_its_status(status, kind, advice, method, carried, server):
    server.expect(method, "/api/v2/x", refusal(status, "The reason.", http_status=200 if "alone" in carried else None))
    error = error_of(connect(server.url), method)
    assert error.__class__ is kind
    assert (error.status, error.reason, error.is_busy) == (status, "The reason.", status in (409, 423))
    assert error.facts == {"url": f"{server.url}/api/v2/x", "trace_id": f"trace-{status}"}
    assert error.may_have_run is (method == "POST" and status >= 500)
    assert (LOOK_FIRST in str(error)) is error.may_have_run
    assert (RUN_AGAIN in str(error)) is (method == "GET" and status >= 500)
    start = f"{method} {server.url}/api/v2/x was refused with status {status}: The reason. Trace id trace-{status}."
    assert str(error).startswith(start)
    assert advice in str(error)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"error": None},
        {"error": {}},
        {"error": {"message": None}},
        {"error": "text"},
        {"error": ["list"]},
        {"error": {"message": ["text"]}, "traceId": ["x"]},
        {"error": {"message": {"a": "text"}}, "traceId": {"a": 1}},
    ],
    ids=json.dumps,
)
def test_error_envelope_without_a_reason_shows_the_status(content, server):
    server.expect("GET", "/api/v2/x", Reply(400, json.dumps({"successful": False, **content}).encode()))
    error = error_of(connect(server.url))
    assert str(error) == f"GET {server.url}/api/v2/x was refused with status 400. {CHECK_OPTIONS}"
    assert error.reason == ""


def test_refused_password_names_both_locks(server):
    server.expect("GET", "/api/v2/x", refusal(401))
    message = str(error_of(connect(server.url)))
    assert "Check username and password." in message
    assert "5 failures (20 in OCP 4.2) lock the account" in message
    assert "10 lock this client's address" in message


@pytest.mark.parametrize(
    ("base", "signed"),
    [
        ("", "The signature covers the Host of url: "),
        ("/ocp", "The signature covers the path (/ocp) and the Host of url: "),
    ],
)
def test_refused_signature_names_the_proxy(base, signed, server):
    server.expect("GET", f"{base}/api/v2/x", refusal(401))
    message = str(error_of(connect(server.url + base, auth=AccessKeyAuth("key", SECRET))))
    assert "Check access_key_id and access_key_secret." in message
    assert signed in message
    assert "put the address of the service itself in url" in message
    assert "lock" not in message


def test_error_status_without_an_envelope_is_a_refusal(server):
    server.expect("GET", "/api/v2/x", text("<h1>Not Found</h1>", 404))
    error = error_of(connect(server.url))
    assert error.__class__ is PageNotFound
    assert str(error).startswith(f"GET {server.url}/api/v2/x was refused with status 404. Check that url ")


def test_unsuccessful_envelope_with_http_200_is_a_refusal(server):
    server.expect("GET", "/api/v2/x", Reply(200, b'{"successful": false, "error": {"message": "No"}}'))
    error = error_of(connect(server.url))
    assert error.__class__ is RequestRefused
    assert error.reason == "No"


UNREADABLE = {
    "HTML": text("<html>login</html>"),
    "empty": Reply(200, b""),
    "no content": Reply(204, b""),
    "JSON list": text("[]", kind="application/json"),
    "JSON text": text('"ok"', kind="application/json"),
    "other JSON": text('{"status": "UP"}', kind="application/json"),
    "successful is no boolean": text('{"successful": "true"}', kind="application/json"),
    "cut JSON": text('{"successful": true, "da', kind="application/json"),
    "no UTF-8": Reply(200, b"\xff\xfe\xfa", {"Content-Type": "application/json"}),
}


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_response_without_an_envelope_is_unreadable(reply, method, server):
    server.expect(method, "/api/v2/x", reply)
    error = error_of(connect(server.url), method)
    assert error.__class__ is ResponseUnreadable
    assert error.may_have_run is (method == "POST")
    assert f"The answer to {method} {server.url}/api/v2/x is not an OCP response envelope" in str(error)
    assert f"({len(reply.body)} bytes, {reply.headers.get('Content-Type', 'no content type')})" in str(error)
    assert (LOOK_FIRST in str(error)) is (method == "POST")
    assert RUN_AGAIN not in str(error)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status, method, server, start_server):
    elsewhere = start_server()  # strict: fails on any request
    location = f"{elsewhere.url}/login?next=%2F"
    server.expect(method, "/api/v2/x", Reply(status, b"", {"Location": location}))
    error = error_of(connect(server.url), method)
    assert error.__class__ is ResponseUnreadable
    assert error.may_have_run is (method == "POST")
    assert (LOOK_FIRST in str(error)) is (method == "POST")
    assert f"{method} {server.url}/api/v2/x is redirected to {elsewhere.url};" in str(error)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_redirect_from_https_to_http_is_not_followed(method, tls_server, ca_path, start_server):
    plain = start_server()
    tls_server.expect(method, "/api/v2/x", Reply(307, b"", {"Location": f"{plain.url}/api/v2/x"}))
    error = error_of(connect(tls_server.url, verify=ca_path), method)
    assert f"{method} {tls_server.url}/api/v2/x is redirected to {plain.url};" in str(error)
    assert plain.received == []


@pytest.mark.parametrize("location", ["/login", "login", ""], ids=repr)
def test_redirect_without_a_host_names_the_service_url(location, server):
    server.expect("GET", "/api/v2/x", Reply(302, b"", {"Location": location} if location else {}))
    assert f"GET {server.url}/api/v2/x is redirected to {server.url};" in str(error_of(connect(server.url)))


def test_redirect_to_no_address_is_named(server):
    server.expect("POST", "/api/v2/x", Reply(302, b"", {"Location": "http://[no-address"}))
    error = error_of(connect(server.url), "POST")
    assert error.__class__ is ResponseUnreadable
    assert "is redirected to no address;" in str(error)


def test_body_of_a_redirect_is_read_within_the_limit(server, monkeypatch):
    read = []
    monkeypatch.setattr(requests.Response, "content", property(read.append))
    server.expect("GET", "/api/v2/x", Reply(302, b"long", {"Location": "http://other.test/"}))
    assert "is redirected to http://other.test;" in str(error_of(connect(server.url)))
    assert read == []


@pytest.mark.parametrize(
    "date", ["Mon, 05 Jan 2026 00:00:00 +99999999999999", "Mon, 05 Jan 99999999999999999999 00:00:00 GMT"]
)
def test_absurd_date_leaves_the_answer_as_it_is(date, server):
    server.expect("POST", "/api/v2/x", replace(envelope({"id": 7}), headers={"Date": date}))
    assert ask(connect(server.url), "POST").data == {"id": 7}


@pytest.mark.parametrize("status", [500, "500"])
def test_status_of_a_refusal_may_be_a_text(status, server):
    body = json.dumps({"successful": False, "status": status, "error": {}}).encode()
    server.expect("POST", "/api/v2/x", Reply(200, body, {"Content-Type": "application/json"}))
    error = error_of(connect(server.url), "POST")
    assert error.may_have_run
    assert not error.may_be_due_to_state


def test_unknown_target_by_its_code_is_not_due_to_the_state(server):
    body = json.dumps({"successful": False, "status": 400, "error": {"code": 19001, "message": "?"}}).encode()
    server.expect("POST", "/api/v2/x", Reply(400, body, {"Content-Type": "application/json"}))
    error = error_of(connect(server.url), "POST")
    assert error.__class__ is NotFound
    assert not error.may_be_due_to_state


def test_password_need_not_be_utf_8(server):
    password = b"not utf-8: \xff".decode(errors="surrogateescape")
    server.expect("GET", "/api/v2/x", envelope())
    ask(connect(server.url, auth=basic_auth("admin", password)), "GET")
    sent = server.received[0].header("Authorization").removeprefix("Basic ")
    assert base64.b64decode(sent) == b"admin:not utf-8: \xff"


def test_password_in_a_redirect_is_not_shown(server):
    server.expect("GET", "/api/v2/x", Reply(302, b"", {"Location": "http://admin:hidden-9@other.test/login"}))
    assert "is redirected to http://other.test;" in str(error_of(connect(server.url)))


# Lost responses

LOST = {
    "truncated": TRUNCATED,
    "reset": RESET,
    "silence": SILENCE,
    # requests reports these as ValueError or as an error of urllib3, as for an unsendable request.
    "header of no form": Reply(200, b"{}", {"Content-Length": "2, 3"}),
    "not compressed as told": Reply(200, b"{}", {"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("reply", LOST.values(), ids=LOST)
def test_post_with_a_lost_response_is_sent_once(reply, server, pauses):
    server.expect("POST", "/api/v2/x", reply)
    error = error_of(connect(server.url, timeout=SHORT if reply is SILENCE else 5), "POST")
    server.await_request()
    assert error.__class__ is ResponseLost
    assert error.may_have_run
    assert f"The answer to POST {server.url}/api/v2/x did not arrive" in str(error)
    assert LOOK_FIRST in str(error)
    assert pauses == []


def test_timeout_message_names_the_seconds(server, pauses):
    server.expect("POST", "/api/v2/x", SILENCE)
    error = error_of(connect(server.url, timeout=SHORT), "POST")
    server.await_request()
    assert f"did not arrive within {SHORT:g} seconds" in str(error)
    assert pauses == []


def test_get_with_a_lost_response_is_retried_twice(server, pauses):
    server.expect("GET", "/api/v2/x", RESET, RESET, RESET)
    error = error_of(connect(server.url))
    assert error.__class__ is ResponseLost
    assert not error.may_have_run
    assert str(error).startswith(f"The answer to GET {server.url}/api/v2/x did not arrive ")
    assert str(error).endswith(f". {RUN_AGAIN}")
    assert len(pauses) <= 2


def test_get_succeeds_after_two_resets(server, pauses):
    server.expect("GET", "/api/v2/x", RESET, RESET, envelope("at last"))
    assert ask(connect(server.url), "GET").data == "at last"
    assert all(pause <= 5 for pause in pauses)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_refused_port_is_a_connection_failure(method):
    url = f"http://127.0.0.1:{closed_port()}"
    error = error_of(connect(url), method)
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    assert str(error) == (
        f"{url}/api/v2/x cannot be reached: Connection refused. Check url and that the service is running."
    )


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unknown_host_is_a_connection_failure(method):
    error = error_of(connect("http://ocp.invalid:8080"), method)
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    assert str(error).startswith("http://ocp.invalid:8080/api/v2/x cannot be reached: ")
    assert "urllib3" not in str(error)


def test_connect_timeout_is_a_connection_failure(monkeypatch):
    def never(*_args, **_kwargs):
        raise TimeoutError("timed out")

    monkeypatch.setattr("urllib3.util.connection.create_connection", never)
    error = error_of(connect("http://ocp.test:8080"), "POST")
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run


def test_post_without_a_connection_is_retried(server, monkeypatch, pauses):
    attempts = []

    def refuse_first(*_args, **_kwargs):
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionRefusedError(111, "Connection refused")
        return socket.create_connection(("127.0.0.1", server.port))

    monkeypatch.setattr("urllib3.util.connection.create_connection", refuse_first)
    server.expect("POST", "/api/v2/x", envelope({"id": 1}))
    assert ask(connect("http://ocp.test:8080"), "POST").data == {"id": 1}
    assert len(attempts) == 2
    assert sum(pauses) < 1


# Unsendable requests


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "url",
    ["http://a..b:8080", f"http://{'a' * 64}.invalid", "http://.ocp.test:8080", "http://ocp:99999", "ftp://ocp.test"],
)
def test_invalid_address_is_a_connection_failure(url, method):
    error = error_of(connect(url), method)
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    assert str(error).startswith(f"{method} {url}/api/v2/x cannot be sent: ")
    assert str(error).endswith(". Check url and the credentials.")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("key_id", "why"),
    [("key\n", "ValueError"), ("key\r\nX-Other: 1", "ValueError"), ("ключ", "UnicodeEncodeError")],
    ids=ascii,
)
def test_invalid_header_is_not_shown(key_id, why, method, server):
    error = error_of(connect(server.url, auth=AccessKeyAuth(key_id, SECRET)), method)
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    # Python's message would quote the header with the signature.
    assert str(error) == f"{method} {server.url}/api/v2/x cannot be sent: {why}. Check url and the credentials."


def test_missing_ca_bundle_of_the_environment_is_named(tls_server, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/no/such/bundle.pem")
    error = error_of(connect(tls_server.url), "POST")
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    assert "/no/such/bundle.pem" in str(error)


# Secrets


@pytest.mark.parametrize("auth", [basic_auth("admin", SECRET), AccessKeyAuth("key", SECRET)], ids=["basic", "key"])
@pytest.mark.parametrize(
    "reply",
    [refusal(401), refusal(403), refusal(500), text("<html>"), RESET, SILENCE, TRUNCATED, Reply(302)],
    ids=["401", "403", "500", "HTML", "reset", "silence", "truncated", "redirect"],
)
def test_errors_do_not_show_credentials(reply, auth, server, pauses):
    server.expect("POST", "/api/v2/x", reply)
    error = error_of(connect(server.url, auth=auth, timeout=SHORT if reply is SILENCE else 5), "POST")
    server.await_request()
    sent = server.received[0].header("Authorization")
    shown = f"{error!r} {error} {error.facts} {vars(error)}"
    assert sent.split(" ")[1] not in shown
    assert SECRET not in shown
    assert "Authorization" not in shown
    # Nor through a traceback.
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert pauses == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_run_whose_process_has_lost_its_parent_sends_no_more_posts(method, server, monkeypatch):
    server.expect("GET", "/api/v2/x", envelope("good"))
    client = connect(server.url)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    if method == "GET":
        assert ask(client, method).data == "good"
        return
    error = error_of(client, method)
    assert (error.__class__, error.may_have_run) == (Halted, False)
    ask(client, "GET")


# A process that is killed as soon as it has begun another one; that one connects only when its parent is gone.
ORPHANED = """
import multiprocessing, os, sys, time
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient

def send(first):
    while os.getppid() == first:
        time.sleep(0.01)
    try:
        HttpClient(sys.argv[1], basic_auth("admin", "x"), verify=True, timeout=5).post("/api/v2/x")
        print("sent")
    except Exception as error:
        print(type(error).__name__)

multiprocessing.get_context("fork").Process(target=send, args=(os.getpid(),)).start()
os._exit(0)
"""


def test_process_that_has_lost_its_parent_before_it_connects_sends_no_posts(server):
    """So a kill -9 of ansible-playbook in the first second of a play left forks that restarted whole clusters."""
    command = [sys.executable, "-c", ORPHANED, server.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.split(), server.received) == (["Halted"], []), done.stderr


def test_connection_that_is_made_when_the_parent_is_gone_sends_no_posts(server, monkeypatch):
    connect(server.url)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert error_of(connect(server.url), "POST").__class__ is Halted
