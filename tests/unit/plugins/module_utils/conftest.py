# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fixtures of the plugins' unit tests: nothing leaves this machine, nothing sleeps, every script is used up."""

from __future__ import annotations

import importlib
import json
import ssl
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import trustme
import urllib3.util.retry
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, FakeClock, Script
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    COLLECTION,
    patch_module_args,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import ScriptedServer
from hypothesis import settings

settings.register_profile("plugins", deadline=None, derandomize=True, database=None)
settings.load_profile("plugins")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collect the pauses of urllib3 between retries, without sleeping."""
    wanted: list[float] = []
    monkeypatch.setattr(urllib3.util.retry, "time", SimpleNamespace(sleep=wanted.append, time=time.time))
    return wanted


@pytest.fixture
def start_server() -> Iterator[Callable[..., ScriptedServer]]:
    running: list[ScriptedServer] = []

    def start(tls: ssl.SSLContext | None = None, *, proxy: bool = False) -> ScriptedServer:
        running.append(ScriptedServer(tls, proxy=proxy))
        return running[-1]

    yield start
    for server in running:
        server.finish()


@pytest.fixture
def server(start_server: Callable[..., ScriptedServer]) -> ScriptedServer:
    return start_server()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_path(authority: trustme.CA, tmp_path) -> str:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return str(tmp_path / "ca.pem")


@pytest.fixture
def tls_server(authority: trustme.CA, start_server: Callable[..., ScriptedServer]) -> ScriptedServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return start_server(context)


@pytest.fixture
def client() -> Iterator[Script]:
    """Give a scripted HttpClient."""
    script = Script(HttpClient)
    script.double.url = URL
    script.double.timeout = 5.0
    script.double.trace_id = None
    script.double.retry_after = 0.0
    yield script
    script.finish()


@pytest.fixture
def api() -> Iterator[Script]:
    """Give a scripted OcpApi."""
    script = Script(OcpApi)
    script.double.retry_after = 0.0
    script.double.trace_id = "trace-last"
    yield script
    script.finish()


@pytest.fixture
def time_passes() -> FakeClock:
    return FakeClock()


@pytest.fixture
def service(time_passes: FakeClock) -> FakeOcp:
    return FakeOcp(time_passes)


@pytest.fixture
def _offline(monkeypatch):
    def send(*_args, **_kwargs):
        raise AssertionError("A request was sent.")

    monkeypatch.setattr(transport.Adapter, "send", send)


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the warnings of modules. In the controller process Ansible would display them, not return them."""
    warnings: list[str] = []
    monkeypatch.setattr(AnsibleModule, "warn", lambda _self, text: warnings.append(text))
    return warnings


@pytest.fixture
def run(capsys) -> Callable[..., dict[str, Any]]:
    """Run a module's main() in this process; returns the result that it prints."""

    def main(name: str, params: dict[str, Any]) -> dict[str, Any]:
        module = importlib.import_module(f"{COLLECTION}.plugins.modules.{name}")
        with patch_module_args(params), pytest.raises(SystemExit) as ended:
            module.main()
        result = json.loads(capsys.readouterr().out)
        # For the controller alone, which masks them everywhere (ansible-core 2.22).
        result.pop("_ansible_new_secrets", None)
        assert bool(result.get("failed")) is (ended.value.code == 1)
        return result

    return main
