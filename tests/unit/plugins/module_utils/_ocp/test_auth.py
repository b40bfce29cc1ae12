# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""HTTP Basic, and the access key signature against its published examples."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import time
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
import requests
import urllib3.util.connection
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.tests.unit.support import signature_vectors as public_client
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Received, envelope

DATE = "Sat, 21 Nov 2026 08:00:00 GMT"
SECRET = "a-secret-nobody-may-see"

# The examples of OceanBase's page "AK/SK signature", with their Authorization header.
PUBLISHED = {
    "POST with a body": (
        ("cqammmxBpfGjFlto", "2fc0c299cc94c6be266f2ceece765d4d"),
        "POST",
        "http://ocp.alibaba.net:8080/api/v2/compute/idcs",
        {"Content-Type": "application/json", "x-ocp-data": "A,1"},
        '{"name":"test01","description":"test","regionId":1}',
        "Tue, 17 Jan 2023 09:13:57 GMT",
        "OCP-ACCESS-KEY-HMACSHA1 cqammmxBpfGjFlto:XN8P+O+v3vUabB16ZCooq5wMJoY=",
    ),
    "GET with a query": (
        ("cqammmxBpfGjFlto", "2fc0c299cc94c6be266f2ceece765d4d"),
        "GET",
        "http://ocp.alibaba.net:8080/api/v2/compute/idcs?size=100",
        {"Content-Type": "application/json;charset=utf-8"},
        None,
        "Tue, 17 Jan 2023 04:14:02 GMT",
        "OCP-ACCESS-KEY-HMACSHA1 cqammmxBpfGjFlto:TsQD6HDOuZuJ409m0wdnZPmijlc=",
    ),
    "GET with six parameters to encode": (
        ("gDCcIqbkJJINjXBn", "d75332c5eed8d440a84a35ac6248d397"),
        "GET",
        "http://127.0.0.1:8080/api/v2/monitor/top?"
        + urlencode(
            {
                "startTime": "2024-04-15T14:29:55+08:00",
                "endTime": "2024-04-15T14:30:55+08:00",
                "maxPoints": "360",
                "metrics": "host_disk_total",
                "labels": "svr_ip:127.0.0.1",
                "groupBy": "app,svr_ip,device,mount_point",
            }
        ),
        {"Content-Type": "application/json", "x-ocp-origin": "for-test"},
        None,
        "Mon, 15 Apr 2024 09:25:02 GMT",
        "OCP-ACCESS-KEY-HMACSHA1 gDCcIqbkJJINjXBn:To11kg1EsB/dPWyDnnpuUzIUoQk=",
    ),
}


def signed(url="http://ocp.test:8080/", method="GET", *, key=("key", SECRET), date=DATE, headers=None, body=None):
    auth = AccessKeyAuth(*key, date=lambda: date)
    return requests.Request(method, url, headers=headers or {}, data=body, auth=auth).prepare()


def hmac_sha1(secret: str, lines: list[str]) -> str:
    return base64.b64encode(hmac.digest(secret.encode(), "\n".join(lines).encode(), "sha1")).decode()


def signature_of(received: Received, secret: str) -> str:
    """Sign the request as received, by the documented rule alone; without x-ocp headers and repeated keys."""
    query = "&".join(
        f"{quote(key, safe='')}={quote(value, safe='')}"
        for key, value in sorted(parse_qsl(urlsplit(received.target).query))
    )
    digest = hashlib.md5(received.body, usedforsecurity=False).hexdigest().upper() if received.body else ""
    sent = [received.header(name) or "" for name in ("Content-Type", "Date", "Host")]
    return hmac_sha1(secret, [received.method, digest, *sent, "", received.path + (query and f"?{query}")])


@pytest.mark.parametrize("example", PUBLISHED.values(), ids=PUBLISHED)
def test_signature_matches_the_published_examples(example):
    key, method, url, headers, body, date, authorization = example
    request = signed(url, method, key=key, date=date, headers=headers, body=body)
    assert request.headers["Authorization"] == authorization
    assert request.headers["Date"] == date


@pytest.mark.parametrize("altered", ["secret", "date", "method", "body", "path", "query", "host", "type", "x-ocp"])
def test_each_part_is_signed(altered):
    parts = {
        "method": "POST",
        "host": "ocp.test:8080",
        "path": "/a",
        "query": "b=1",
        "type": "application/json",
        "date": DATE,
        "body": "{}",
        "x-ocp": "1",
        "secret": SECRET,
    }
    changed = {**parts, altered: {"method": "PUT", "host": "ocp.test:8081"}.get(altered, parts[altered] + "2")}

    def authorization(of):
        return signed(
            f"http://{of['host']}{of['path']}?{of['query']}",
            of["method"],
            key=("key", of["secret"]),
            date=of["date"],
            headers={"Content-Type": of["type"], "x-ocp-data": of["x-ocp"]},
            body=of["body"],
        ).headers["Authorization"]

    assert authorization(parts) == authorization(dict(parts))
    assert authorization(parts) != authorization(changed)


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        pytest.param("b=2&a=1", "a=1&b=2", id="sorted by key"),
        pytest.param("k=b&a=x&k=a", "a=x&k=a,b", id="repeated key: values sorted, joined by an encoded-free comma"),
        pytest.param("k=a%2Cb&k=c", "k=a%2Cb,c", id="a comma of a value is told from one that joins"),
        pytest.param("k=a+b%20c", "k=a%20b%20c", id="space as %20"),
        pytest.param("k=~._-", "k=~._-", id="unreserved characters stay"),
        pytest.param("k=%E4%BD%A0", "k=%E4%BD%A0", id="UTF-8"),
        pytest.param("k=&a=1", "a=1&k=", id="empty value"),
    ],
)
def test_signature_uses_the_canonical_query(query, canonical):
    request = signed(f"http://ocp.test:8080/p?{query}")
    lines = ["GET", "", "", DATE, "ocp.test:8080", "", f"/p?{canonical}"]
    assert request.headers["Authorization"] == f"OCP-ACCESS-KEY-HMACSHA1 key:{hmac_sha1(SECRET, lines)}"


def test_several_x_ocp_headers_are_sorted_and_lower_case():
    request = signed(headers={"X-OCP-b": "2", "x-ocp-a": "1"})
    lines = ["GET", "", "", DATE, "ocp.test:8080", "x-ocp-a:1\nx-ocp-b:2", "/"]
    assert request.headers["Authorization"].endswith(f":{hmac_sha1(SECRET, lines)}")


@pytest.mark.parametrize(
    "address",
    ["ocp.test", "ocp.test:80", "ocp.test:8080", "10.0.0.1:8080", "[2001:db8::1]", "[2001:db8::1]:80", "[::1]:8080"],
)
def test_signed_host_matches_the_sent_host(address, server, monkeypatch):
    monkeypatch.setattr(
        urllib3.util.connection,
        "create_connection",
        lambda *_args, **_kwargs: socket.create_connection(("127.0.0.1", server.port)),
    )
    server.expect("GET", "/api/v2/tasks/instances", envelope())
    HttpClient(f"http://{address}", AccessKeyAuth("key", SECRET), verify=True, timeout=5).get("/api/v2/tasks/instances")
    [received] = server.received
    assert received.header("Host") == address
    assert received.header("Authorization") == f"OCP-ACCESS-KEY-HMACSHA1 key:{signature_of(received, SECRET)}"


def test_signature_of_a_post_covers_query_and_body_as_sent(server):
    server.expect("POST", "/restart", envelope({"id": 1}))
    auth = AccessKeyAuth("key", SECRET, date=lambda: DATE)
    flags = {"force": False, "freezeServer": True, "note": "größer & schneller"}
    HttpClient(server.url, auth, verify=True, timeout=5).post("/restart", {"a b": "ü~+"}, flags)
    [received] = server.received
    assert received.body
    assert received.header("Date") == DATE
    assert received.header("Authorization") == f"OCP-ACCESS-KEY-HMACSHA1 key:{signature_of(received, SECRET)}"


@pytest.mark.parametrize(
    "value", ["Restart OB server", "a+b", "a%20b", "~*", "größe", "a&b=c", "", "2026-05-04T03:00:00+08:00"]
)
def test_query_is_sent_as_it_is_signed(value, server):
    """A service that signs what it received, without decoding it, accepts the request."""
    server.expect("GET", "/api/v2/x", envelope())
    client = HttpClient(server.url, AccessKeyAuth("key", SECRET, date=lambda: DATE), verify=True, timeout=5)
    client.get("/api/v2/x", {"sort": "id,desc", "name": value, "page": 1})
    [received] = server.received
    lines = ["GET", "", "application/json", DATE, urlsplit(server.url).netloc, "", received.target]
    assert received.header("Authorization") == f"OCP-ACCESS-KEY-HMACSHA1 key:{hmac_sha1(SECRET, lines)}"
    assert received.query.get("name", "") == value


def test_default_date_is_now_in_gmt():
    request = requests.Request("GET", "http://ocp.test/", auth=AccessKeyAuth("key", SECRET)).prepare()
    date = parsedate_to_datetime(request.headers["Date"])
    assert request.headers["Date"].endswith(" GMT")
    assert abs(date.timestamp() - time.time()) < 60


@pytest.mark.parametrize(
    ("username", "password"),
    [("admin", "ocp-demo-1"), ("管理员", "пароль:ü€"), ("a", "b:c")],
    ids=["ascii", "beyond Latin-1", "colon in the password"],
)
def test_basic_credentials_are_utf8(username, password):
    request = requests.Request("GET", "http://ocp.test/", auth=basic_auth(username, password)).prepare()
    scheme, encoded = request.headers["Authorization"].split(" ")
    assert scheme == "Basic"
    assert base64.b64decode(encoded).decode("utf-8") == f"{username}:{password}"


@pytest.mark.parametrize("auth", [AccessKeyAuth("key", SECRET), basic_auth("admin", SECRET)], ids=["key", "basic"])
@pytest.mark.parametrize("shown", [repr, str, "{}".format], ids=["repr", "str", "format"])
def test_secret_is_not_shown(auth, shown):
    assert SECRET not in shown(auth)


@pytest.mark.parametrize("name", public_client.VECTORS)
def test_signature_is_that_of_a_public_client(name):
    method, path, query, body, signature, _alike = public_client.VECTORS[name]
    url = f"http://{public_client.HOST}{path}" + (f"?{query}" if query else "")
    auth = AccessKeyAuth(public_client.KEY, public_client.SECRET, lambda: public_client.DATE)
    request = requests.Request(method, url, headers=public_client.HEADERS, data=body, auth=auth).prepare()
    assert request.headers["Authorization"] == f"OCP-ACCESS-KEY-HMACSHA1 {public_client.KEY}:{signature}"
