# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Secrets in every place of requests and answers: none is in the recording or in what is told, in whatever form."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
import requests
from ocp_emulator.testing.emulated_ocp import EmulatedOcp

# Each stands in a place of its own.
SECRETS = {
    "user": "dba-nakamura",
    "password": "kv9/zq.Pw+7",
    "access key": "AKIAQZJK7EXAMPLE",
    "signature": "XN8P+O+v3vUabB16ZCooq5wMJoY=",
    "bearer token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJxemprIn0.c2lnbmF0dXJl",
    "cookie of the client": "JSESSIONID=7D2AQZ41",
    "cookie of the service": "XSRF-QZJK-99",
    "header of the client": "tenant-qz-header",
    "header of the service": "internal-qz-proxy.example",
    "token in the query": "tok_qz_5519",
    "filter in the query": "orders-qz",
    "part of the path": "vault-qz",
    "password in a body": "hunter2-qz",
    "list in a body": "ssh-rsa-QZJKAAAAB3",
    "body that is no JSON": "form-secret-qz",
    "host name": "db-qz-17.internal",
    "address": "10.77.31.9",
    "address of version 6": "fd77:9:3::a1",
    "address with a port": "10.78.12.4:2882",
    "name of a cluster": "Lager-QZ-M\u00fcnchen",
    "name of a zone in a locality": "regal-qz-7",
    "text for people": "cannot log on as root/qz-toor at 10.79.1.1",
    "log": "export OB_ROOT_PASSWORD='qz$Root!42'",
    "undocumented field": "qz-custom-value",
    "name of a field": "acmeQzCorpField",
    "word of a state": "qz-paused-by-nakamura",
    "version": "4.2.1.0-qzcustomer",
    "number": 9_417_730_551,
    "telephone number": "+49 89 9417730",
    "text in JSON": '{"stringMap": {"dbPass": "qz-inner-1"}}',
    "value of a parameter": "obconfig://qz:qz-pw@10.80.1.1/x",
    "trace": "qz0a7b31cc9e",
    "page": "<p>Session of qz-html-user</p>",
    "text": "qz-plain-text",
    "redirect": "https://qz-sso.example/login?ticket=qz-991",
    "base64": base64.b64encode(b"qz-encoded-secret").decode(),
    "other number of a time": "4111111111111111",
}
CLUSTERS, ODD = "/api/v2/ob/clusters", "/api/v2/ob/clusters/1/topSql"
ENVELOPE = {"duration": 3, "successful": True, "status": 200, "timestamp": "2026-11-26T12:00:00.123+08:00"}


def answers():
    s = SECRETS
    cluster = {
        "id": 4_400_170_012,
        "name": s["name of a cluster"],
        "status": s["word of a state"],
        "obVersion": s["version"],
        "description": s["text for people"],
        s["name of a field"]: 1,
        "custom": s["undocumented field"],
        "pin": s["number"],
        "contact": s["telephone number"],
        "card": s["other number of a time"],
        "rootServers": [{"address": s["address with a port"]}, {"address": s["address"]}],
        "zones": [{"name": s["base64"], "hostName": s["host name"], "ip": s["address of version 6"]}],
        "locality": f"FULL{{1}}@{s['name of a zone in a locality']}, READONLY{{1}}@{s['name of a zone in a locality']}",
        "creator": {"id": 1, "name": s["user"]},
        "labels": {s["name of a zone in a locality"]: s["user"]},
    }
    envelope = {**ENVELOPE, "server": s["address"], "traceId": s["trace"]}
    parameter = {"name": "obconfig_url", "currentValue": {"valueToServers": {s["value of a parameter"]: []}}}
    echo = {"code": 1, "message": f"user {s['user']} with {s['password']}: {s['bearer token']}"}
    return {
        CLUSTERS: (200, "application/json", json.dumps({**envelope, "data": {"contents": [cluster]}})),
        f"{CLUSTERS}/1/parameters": (
            200,
            "application/json",
            json.dumps({**envelope, "data": {"contents": [parameter]}}),
        ),
        "/api/v2/tasks/instances/1": (
            200,
            "application/json",
            json.dumps({**envelope, "data": {"id": 1, "name": s["text for people"], "context": s["text in JSON"]}}),
        ),
        "/api/v2/tasks/instances/1/subtasks/2/log": (
            200,
            "application/json",
            json.dumps({**envelope, "data": {"log": s["log"]}}),
        ),
        ODD: (400, "application/json", json.dumps({**envelope, "successful": False, "error": echo})),
        f"/api/v2/{quote(s['part of the path'])}/x": (200, "text/html", s["page"]),
        "/api/v2/time": (200, "text/plain", s["text"]),
        "/api/v2/info": (302, "text/html", ""),
        "/api/v2/iam/login": (200, "application/octet-stream", s["text"]),
    }


@pytest.fixture
def hostile():
    """A service that shows secrets wherever it can."""
    known = answers()

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, kind, text = known[self.path.partition("?")[0]]
            self.send_response(status)
            for name, value in (
                ("Content-Type", kind),
                ("Set-Cookie", SECRETS["cookie of the service"]),
                ("Via", SECRETS["header of the service"]),
                ("Retry-After", SECRETS["host name"]),
                ("Location", SECRETS["redirect"]),
                ("Content-Length", str(len(text.encode()))),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = handle_one  # noqa: N815

        def log_message(self, *_words):
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join(60)


def send_all(url):
    s = SECRETS
    headers = {
        "Cookie": s["cookie of the client"],
        "X-Ocp-Tenant": s["header of the client"],
        "Authorization": f"OCP-ACCESS-KEY-HMACSHA1 {s['access key']}:{s['signature']}",
    }
    basic = (s["user"], s["password"])

    def ask(method, path, **options):
        requests.request(method, url + path, timeout=60, allow_redirects=False, **options)

    query = {"name": s["filter in the query"], "token": s["token in the query"], s["name of a field"]: s["user"]}
    ask("GET", CLUSTERS, params=query, headers=headers)
    ask("GET", f"{CLUSTERS}/1/parameters", auth=basic)
    ask("GET", "/api/v2/tasks/instances/1", headers={"Authorization": f"Bearer {s['bearer token']}"})
    ask("GET", "/api/v2/tasks/instances/1/subtasks/2/log", auth=basic)
    body = {"password": s["password in a body"], "keys": [s["list in a body"]], s["name of a field"]: {"x": s["user"]}}
    ask("POST", ODD, auth=basic, json=body)
    ask("GET", f"/api/v2/{quote(s['part of the path'])}/x", auth=basic)
    for path in ("/api/v2/time", "/api/v2/info"):
        ask("GET", path, auth=basic)
    ask("POST", "/api/v2/iam/login", data={"username": s["user"], "password": s["body that is no JSON"]})


def forms(secret):
    """A secret as it is, and as others write it."""
    text = str(secret)
    yield from (text, text.lower(), text.upper(), quote(text), quote(text, safe=""), json.dumps(text)[1:-1])
    yield from (base64.b64encode(b"x" * shift + text.encode())[4:-4].decode() for shift in range(3) if len(text) > 8)
    yield base64.b64encode(text.encode()).decode()
    # Its parts, of which the letters qz are in most.
    yield from (part for part in text.replace("/", " ").replace("=", " ").split() if "qz" in part.lower())


def test_there_are_enough_kinds_of_secrets():
    assert len(SECRETS) >= 25
    assert len(set(map(str, SECRETS.values()))) == len(SECRETS)


def test_no_secret_is_recorded_or_told(hostile, record):
    proxy = record(hostile)
    send_all(proxy.url)
    shown = proxy.path.read_text() + "\n".join(proxy.told)
    leaks = [(kind, form) for kind, secret in SECRETS.items() for form in forms(secret) if form in shown]
    assert leaks == []
    assert "qz" not in shown.lower()
    assert "nakamura" not in shown.lower()
    assert len(proxy.exchanges) == 9
    assert proxy.told


def test_a_replay_of_secrets_equals_the_recording(hostile, record):
    proxy = record(hostile)
    send_all(proxy.url)
    with EmulatedOcp(replay=proxy.path) as replay:
        for each in proxy.exchanges:
            body = None if each.body is None else json.dumps(each.body)
            answer = requests.request(
                each.method, replay.url + each.path, params=each.query, data=body, timeout=60, allow_redirects=False
            )
            assert answer.status_code == each.status
            if each.form == "json":
                assert answer.json() == each.answer


def test_what_differs_from_the_contract_is_told_once(hostile, record):
    proxy = record(hostile)
    send_all(proxy.url)
    count = len(proxy.told)
    send_all(proxy.url)
    assert len(proxy.told) == len(set(proxy.told)) == count
    clusters = f"GET {CLUSTERS} 200: data"
    for line in (
        f"{clusters}.page is missing",
        f"{clusters}.contents[].obClusterId is missing",
        f"{clusters}.contents[].field_2 is not documented",
        "GET /api/v2/time 200: the answer is text, documented as JSON",
    ):
        assert line in proxy.told, proxy.told
    assert [line for line in proxy.told if "contents[].status is status_" in line and "no document has" in line]
    assert [line for line in proxy.told if line.startswith("POST /api/v2/ob/clusters/") and "not documented" in line]


def test_another_type_is_told(record):
    with EmulatedOcp() as ocp:
        proxy = record(ocp.url)
        ocp.faults.plan("http", "respond", {"path": "/api/v2/ob/clusters"}, data={"contents": {}, "page": None})
        requests.get(f"{proxy.url}/api/v2/ob/clusters", auth=(ocp.username, ocp.password), timeout=60)
        assert proxy.told == [f"GET {CLUSTERS} 200: data.contents is an object, documented as array"]
