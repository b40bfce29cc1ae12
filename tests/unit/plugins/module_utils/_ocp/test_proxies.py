# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Lost responses of requests through a proxy: what is known of their outcome."""

from __future__ import annotations

import os
import ssl

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ConnectionFailed, ResponseLost
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.deadline import Deadline
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.transport import Adapter
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import (
    RESET,
    SILENCE,
    TRUNCATED,
    Reply,
    closed_port,
    envelope,
)

BEHIND = "ocp.test:8080"
CLOSE = Reply(act="close")
TUNNEL = "8080"  # urlsplit reads the port as the path of "CONNECT ocp.test:8080"


def test_socks_proxy_has_connections_of_its_own(monkeypatch):
    class Manager:
        def __init__(self, *_args, **_options):
            self.pool_classes_by_scheme = "those of SOCKS"

    monkeypatch.setattr("requests.adapters.SOCKSProxyManager", Manager)
    adapter = Adapter(verify=True, budget=1, deadline=Deadline())
    assert adapter.proxy_manager_for("socks5h://127.0.0.1:1").pool_classes_by_scheme == "those of SOCKS"


LOST = pytest.mark.parametrize("reply", [RESET, CLOSE, SILENCE, TRUNCATED], ids=lambda reply: reply.act)


@pytest.fixture
def proxy(start_server, monkeypatch):
    started = start_server(proxy=True)
    monkeypatch.setenv("http_proxy", started.url)
    return started


@pytest.fixture
def tunnel(start_server, authority, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("ocp.test").configure_cert(context)
    started = start_server(context, proxy=True)
    monkeypatch.setenv("https_proxy", started.url.replace("https", "http"))
    return started


def test_http_request_goes_through_the_proxy(proxy):
    proxy.expect("POST", "/api/v2/x", envelope("good"))
    assert ask(connect(f"http://{BEHIND}"), "POST").data == "good"
    assert proxy.received[0].target == f"http://{BEHIND}/api/v2/x"


def test_https_request_goes_through_a_tunnel(tunnel, ca_path):
    tunnel.expect("CONNECT", TUNNEL, Reply())
    tunnel.expect("POST", "/api/v2/x", envelope("good"))
    assert ask(connect(f"https://{BEHIND}", verify=ca_path), "POST").data == "good"
    assert tunnel.received[0].header("Authorization") is None


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_proxy_of_the_environment_is_not_used_without_use_proxy(variable, method, server, monkeypatch):
    monkeypatch.setenv(variable, f"http://127.0.0.1:{closed_port()}")
    server.expect(method, "/api/v2/x", envelope("good"))
    before = dict(os.environ)
    assert ask(connect(server.url, use_proxy=False), method).data == "good"
    assert dict(os.environ) == before


def test_https_without_use_proxy_goes_straight(tls_server, ca_path, monkeypatch):
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{closed_port()}")
    tls_server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(tls_server.url, verify=ca_path, use_proxy=False), "GET").data == "good"


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
@pytest.mark.parametrize("use_proxy", [True, False])
def test_ca_bundle_of_the_environment_is_used_with_and_without_proxies(
    use_proxy, name, tls_server, ca_path, monkeypatch
):
    monkeypatch.setenv(name, ca_path)
    tls_server.expect("GET", "/api/v2/x", envelope("good"))
    assert ask(connect(tls_server.url, use_proxy=use_proxy), "GET").data == "good"


@LOST
def test_post_lost_behind_a_proxy_has_an_unknown_outcome(reply, proxy):
    """The request was sent, so it is not sent again."""
    proxy.expect("POST", "/api/v2/x", reply)
    error = error_of(connect(f"http://{BEHIND}", timeout=0.3), "POST")
    assert (type(error), error.may_have_run) == (ResponseLost, True)
    assert "It is not known whether the service carried it out" in str(error)


@LOST
def test_post_lost_in_a_tunnel_has_an_unknown_outcome(reply, tunnel, ca_path):
    tunnel.expect("CONNECT", TUNNEL, Reply())
    tunnel.expect("POST", "/api/v2/x", reply)
    error = error_of(connect(f"https://{BEHIND}", verify=ca_path, timeout=2), "POST")
    assert (type(error), error.may_have_run) == (ResponseLost, True)


@pytest.mark.parametrize("status", [403, 407, 502])
def test_refused_tunnel_is_a_connection_failure(status, tunnel, ca_path):
    tunnel.expect("CONNECT", TUNNEL, Reply(status))
    error = error_of(connect(f"https://{BEHIND}", verify=ca_path), "POST")
    assert (type(error), error.may_have_run) == (ConnectionFailed, False)
    assert f"cannot be reached: Tunnel connection failed: {status}" in str(error)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_unreachable_proxy_is_a_connection_failure(scheme, monkeypatch, pauses):
    monkeypatch.setenv(f"{scheme}_proxy", f"http://127.0.0.1:{closed_port()}")
    error = error_of(connect(f"{scheme}://{BEHIND}"), "POST")
    assert (type(error), error.may_have_run) == (ConnectionFailed, False)
    assert "cannot be reached: Connection refused" in str(error)
    assert len(pauses) <= 1
