# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Client certificates on real TLS connections: to whom they are shown, and what a refusal looks like."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ConnectionFailed
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, envelope

VERSIONS = pytest.mark.parametrize(
    "version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda version: version.name
)
METHODS = pytest.mark.parametrize("method", ["GET", "POST"])


def written(authority: trustme.CA, folder: Path) -> tuple[str, str]:
    """The files of a new client certificate and of its key."""
    made = authority.issue_cert("ops@example.com")
    certificate, key = folder / "client.crt", folder / "client.key"
    made.cert_chain_pems[0].write_to_path(certificate)
    made.private_key_pem.write_to_path(key)
    return str(certificate), str(key)


@pytest.fixture
def client_cert(authority, tmp_path) -> tuple[str, str]:
    return written(authority, tmp_path)


def demanding(authority: trustme.CA, name: str = "127.0.0.1", version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """A server that takes only the clients of the authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    if version is not None:
        context.minimum_version = context.maximum_version = version
    return context


@VERSIONS
@METHODS
def test_client_certificate_is_shown_to_a_server_that_demands_one(
    method, version, authority, ca_path, client_cert, start_server
):
    server = start_server(demanding(authority, version=version))
    server.expect(method, "/api/v2/x", envelope("good"))
    assert ask(connect(server.url, verify=ca_path, client_cert=client_cert), method).data == "good"


def test_one_file_may_have_certificate_and_key(authority, ca_path, client_cert, start_server, tmp_path):
    both = tmp_path / "both.pem"
    both.write_text("".join(Path(path).read_text() for path in client_cert))
    server = start_server(demanding(authority))
    server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(server.url, verify=ca_path, client_cert=(str(both), str(both))), "GET").data == "good"


def test_client_certificate_works_without_validation_of_the_server(authority, client_cert, start_server):
    server = start_server(demanding(authority))
    server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(server.url, verify=False, client_cert=client_cert), "GET").data == "good"


def test_client_certificate_does_no_harm_where_none_is_demanded(tls_server, ca_path, client_cert, server):
    tls_server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(tls_server.url, verify=ca_path, client_cert=client_cert), "GET").data == "good"
    server.expect("GET", "/api/v2/x", envelope("plain"))
    assert ask(connect(server.url, client_cert=client_cert), "GET").data == "plain"


def test_client_certificate_is_shown_behind_a_proxy(authority, ca_path, client_cert, start_server, monkeypatch):
    proxy = start_server(demanding(authority, "ocp.test"), proxy=True)
    monkeypatch.setenv("https_proxy", proxy.url.replace("https", "http"))
    proxy.expect("CONNECT", "8080", Reply())
    proxy.expect("GET", "/api/v2/x", envelope("good"))
    client = connect("https://ocp.test:8080", verify=ca_path, client_cert=client_cert)
    assert ask(client, "GET").data == "good"


@pytest.mark.usefixtures("pauses")
@VERSIONS
@METHODS
def test_missing_client_certificate_is_explained_and_nothing_is_received(
    method, version, authority, ca_path, start_server
):
    server = start_server(demanding(authority, version=version))
    error = error_of(connect(server.url, verify=ca_path), method)
    assert error.__class__ is ConnectionFailed
    assert str(error).startswith(f"No TLS connection with {server.url}/api/v2/x: ")
    assert "client certificate" in str(error)
    assert "client_cert" in str(error)
    assert server.received == []


@pytest.mark.usefixtures("pauses")
def test_client_certificate_of_an_unknown_authority_is_explained(authority, ca_path, start_server, tmp_path):
    server = start_server(demanding(authority, version=ssl.TLSVersion.TLSv1_2))
    stranger = written(trustme.CA(), tmp_path)
    error = error_of(connect(server.url, verify=ca_path, client_cert=stranger))
    assert error.__class__ is ConnectionFailed
    assert str(error).endswith("Give a client certificate that it trusts with client_cert and client_key.")
    assert server.received == []
