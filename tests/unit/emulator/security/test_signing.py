# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The signature against the published worked examples, and the traps around it."""

import pytest
from ansible_collections.oceanbase.ocp.tests.unit.support import signature_vectors as public_client
from ocp_emulator.security.signing import SignedRequest, sign, strings_to_sign

KEY = "2fc0c299cc94c6be266f2ceece765d4d"
NEWER_KEY = "d75332c5eed8d440a84a35ac6248d397"

# Method, path, query as a client would send it, headers, body, date, secret, the string to sign after its first line,
# signature.
EXAMPLES = {
    "POST with a body": (
        "POST",
        "/api/v2/compute/idcs",
        "",
        {"content-type": "application/json", "host": "ocp.alibaba.net:8080", "x-ocp-data": "A,1"},
        b'{"name":"test01","description":"test","regionId":1}',
        "Tue, 17 Jan 2023 09:13:57 GMT",
        KEY,
        "186974DB33A090A16D3E2CA35F547B56\napplication/json\nTue, 17 Jan 2023 09:13:57 GMT\n"
        "ocp.alibaba.net:8080\nx-ocp-data:A,1\n/api/v2/compute/idcs",
        "XN8P+O+v3vUabB16ZCooq5wMJoY=",
    ),
    "GET with a query": (
        "GET",
        "/api/v2/compute/idcs",
        "size=100",
        {"content-type": "application/json;charset=utf-8", "host": "ocp.alibaba.net:8080"},
        b"",
        "Tue, 17 Jan 2023 04:14:02 GMT",
        KEY,
        "\napplication/json;charset=utf-8\nTue, 17 Jan 2023 04:14:02 GMT\n"
        "ocp.alibaba.net:8080\n\n/api/v2/compute/idcs?size=100",
        "TsQD6HDOuZuJ409m0wdnZPmijlc=",
    ),
    "GET with six parameters": (
        "GET",
        "/api/v2/monitor/top",
        "startTime=2024-04-15T14:29:55%2B08:00&endTime=2024-04-15T14:30:55%2B08:00&maxPoints=360"
        "&metrics=host_disk_total&labels=svr_ip:127.0.0.1&groupBy=app,svr_ip,device,mount_point",
        {"content-type": "application/json", "host": "127.0.0.1:8080", "x-ocp-origin": "for-test"},
        b"",
        "Mon, 15 Apr 2024 09:25:02 GMT",
        NEWER_KEY,
        "\napplication/json\nMon, 15 Apr 2024 09:25:02 GMT\n127.0.0.1:8080\nx-ocp-origin:for-test\n"
        "/api/v2/monitor/top?endTime=2024-04-15T14%3A30%3A55%2B08%3A00&groupBy=app%2Csvr_ip%2Cdevice%2Cmount_point"
        "&labels=svr_ip%3A127.0.0.1&maxPoints=360&metrics=host_disk_total&startTime=2024-04-15T14%3A29%3A55%2B08%3A00",
        "To11kg1EsB/dPWyDnnpuUzIUoQk=",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_published_examples_are_reproduced(name):
    method, path, query, headers, body, date, secret, text, signature = EXAMPLES[name]
    request = SignedRequest(method, path, query, [*headers.items(), ("date", date)], body)
    for encoding in ("rfc3986", "url_encoder", "either"):
        first = next(strings_to_sign(request, date, encoding))
        assert first == f"{method}\n{text}"
        assert sign(secret, first) == signature


def last_lines(query="", encoding="rfc3986", headers=()):
    """The last line of all strings to sign, and the x-ocp lines."""
    texts = list(strings_to_sign(SignedRequest("get", "/p", query, list(headers), b""), "D", encoding))
    assert all(text.startswith("GET\n\n") for text in texts)
    return [text.rpartition("\n")[2] for text in texts]


def test_path_without_a_query_has_no_question_mark():
    assert last_lines() == ["/p"]


def test_query_keys_are_sorted_and_empty_values_are_kept():
    assert last_lines("b=2&a=1&c") == ["/p?a=1&b=2&c="]


@pytest.mark.parametrize(
    ("encoding", "signed"),
    [
        ("rfc3986", {"/p?a=x%20y~%2A"}),
        ("url_encoder", {"/p?a=x+y%7E*"}),
        ("either", {"/p?a=x%20y~%2A", "/p?a=x+y%7E*"}),
    ],
)
def test_query_is_signed_in_the_configured_encoding(encoding, signed):
    for sent in ("a=x%20y~*", "a=x+y%7E%2A"):
        assert set(last_lines(sent, encoding)) == signed


def test_repeated_keys_are_joined_sorted_with_either_comma():
    assert set(last_lines("k=v2&k=v1")) == {"/p?k=v1%2Cv2", "/p?k=v1,v2"}


def test_ocp_headers_are_sorted_and_their_values_joined():
    headers = [("x-ocp-b", "2"), ("x-ocp-a", "z"), ("accept", "*/*"), ("x-ocp-a", "y")]
    text = next(strings_to_sign(SignedRequest("GET", "/p", "", headers, b""), "D", "rfc3986"))
    assert text == "GET\n\n\nD\n\nx-ocp-a:y,z\nx-ocp-b:2\n/p"


@pytest.mark.parametrize("name", public_client.VECTORS)
@pytest.mark.parametrize("encoding", ["rfc3986", "url_encoder", "either"])
def test_signatures_of_a_public_client_are_accepted_in_its_encoding(name, encoding):
    method, path, query, body, signature, alike = public_client.VECTORS[name]
    headers = [(key.lower(), value) for key, value in {**public_client.HEADERS, "Host": public_client.HOST}.items()]
    request = SignedRequest(method, path, query, headers, body)
    texts = list(strings_to_sign(request, public_client.DATE, encoding))
    assert (signature in [sign(public_client.SECRET, text) for text in texts]) == (alike or encoding != "url_encoder")
    assert signature not in [sign("another secret", text) for text in texts]
