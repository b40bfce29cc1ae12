# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Certificates: which are trusted, and the messages for the others."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import warnings
from datetime import UTC, datetime

import pytest
import trustme
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ConnectionFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import transport
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import envelope


def test_untrusted_certificate_is_refused_with_advice(tls_server):
    error = error_of(connect(tls_server.url), "POST")
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    assert str(error).startswith(f"The certificate of {tls_server.url}/api/v2/x is not trusted: ")
    assert "ca_path" in str(error)
    assert "validate_certs=false" in str(error)


LONG_AGO = {"not_before": datetime(2001, 1, 1, tzinfo=UTC), "not_after": datetime(2001, 1, 2, tzinfo=UTC)}
FAR_AHEAD = {"not_before": datetime(2501, 1, 1, tzinfo=UTC), "not_after": datetime(2501, 1, 2, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("made_for", "dates", "asked", "why", "advice"),
    [
        pytest.param("127.0.0.1", LONG_AGO, "127.0.0.1", "has expired", "Have it renewed.", id="expired"),
        pytest.param(
            "127.0.0.1", FAR_AHEAD, "127.0.0.1", "is not yet valid", "Check the clock of this machine.", id="not yet"
        ),
        pytest.param(
            "127.0.0.1",
            {},
            "localhost",
            "'localhost'",
            "Put the name it was made for in url.",
            id="other name",
        ),
        pytest.param(
            "10.1.0.1",
            {},
            "127.0.0.1",
            "'127.0.0.1'",
            "Put the name it was made for in url.",
            id="other address",
        ),
    ],
)
def test_invalid_certificate_is_refused_with_the_reason(
    made_for, dates, asked, why, advice, authority, ca_path, start_server
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(made_for, **dates).configure_cert(context)
    url = f"https://{asked}:{start_server(context).port}"
    error = error_of(connect(url, verify=ca_path), "POST")
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    assert str(error).startswith(f"The certificate of {url}/api/v2/x is not trusted: ")
    assert why in str(error)
    assert str(error).endswith(f". {advice}")


def test_ca_path_file_is_trusted(tls_server, ca_path):
    tls_server.expect("POST", "/api/v2/x", envelope("good"))
    assert ask(connect(tls_server.url, verify=ca_path), "POST").data == "good"


def test_ca_path_folder_is_trusted(tls_server, authority, tmp_path):
    folder = tmp_path / "certificates"
    folder.mkdir()
    pem = folder / "authority.pem"
    authority.cert_pem.write_to_path(pem)
    # OpenSSL finds a certificate by the hash of its subject.
    openssl = subprocess.run(["openssl", "rehash", folder], capture_output=True, check=False)
    if openssl.returncode:
        pytest.skip("openssl is not there")
    tls_server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(tls_server.url, verify=str(folder)), "GET").data == "good"


def test_other_authority_is_not_trusted(tls_server, tmp_path):
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    assert "is not trusted" in str(error_of(connect(tls_server.url, verify=str(other))))


def test_disabled_validation_emits_no_warning(tls_server):
    tls_server.expect("GET", "/api/v2/x", envelope("good"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        assert ask(connect(tls_server.url, verify=False), "GET").data == "good"
        assert warnings.filters == before


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_environment_ca_bundle_does_not_enable_validation(name, tls_server, tmp_path, monkeypatch):
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    monkeypatch.setenv(name, str(other))
    tls_server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(tls_server.url, verify=False), "GET").data == "good"


def test_environment_ca_bundle_does_not_replace_ca_path(tls_server, ca_path, tmp_path, monkeypatch):
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(other))
    tls_server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(tls_server.url, verify=ca_path), "GET").data == "good"


@pytest.fixture
def lax_machine(monkeypatch):
    """Configure OpenSSL like a machine that allows any TLS version."""
    strict = transport.create_urllib3_context

    def lax():
        context = strict()
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            context.minimum_version = ssl.TLSVersion.TLSv1
        context.set_ciphers("ALL:@SECLEVEL=0")
        return context

    monkeypatch.setattr(transport, "create_urllib3_context", lax)


def old_server_context(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


@pytest.mark.usefixtures("lax_machine")
@pytest.mark.parametrize("verified", [True, False])
def test_tls_1_1_is_refused(verified, authority, ca_path, start_server):
    server = start_server(old_server_context(authority))
    error = error_of(connect(server.url, verify=ca_path if verified else False), "POST")
    assert error.__class__ is ConnectionFailed
    assert str(error).startswith(f"No TLS connection with {server.url}/api/v2/x: ")
    assert str(error).endswith("and whether it asks for a client certificate (client_cert).")
    assert server.received == []


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda version: version.name)
def test_tls_1_2_and_1_3_are_accepted(version, authority, ca_path, start_server):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.minimum_version = context.maximum_version = version
    server = start_server(context)
    server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(server.url, verify=ca_path), "GET").data == "good"


def test_https_to_a_plain_http_server_is_explained():
    # The scripted server would wait for the end of the "request".
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_plainly():
            connection, _peer = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer_plainly, daemon=True)
        thread.start()
        error = error_of(connect(f"https://127.0.0.1:{listener.getsockname()[1]}"))
        thread.join(timeout=5)
    assert error.__class__ is ConnectionFailed
    assert not error.may_have_run
    assert "has the scheme the service speaks, http or https" in str(error)
