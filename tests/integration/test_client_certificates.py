# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An OCP behind a gate that demands a client certificate, and a proxy in the environment that must not be used."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._event_source import put_changes
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from execution_path import ORDINARY, ran_as
from free_ports import kept_port
from mutual_tls import gate


@pytest.fixture
def client_cert(authority, tmp_path):
    """The options of a client certificate."""
    made = authority.issue_cert("ops@example.com")
    made.cert_chain_pems[0].write_to_path(str(tmp_path / "client.crt"))
    made.private_key_pem.write_to_path(str(tmp_path / "client.key"))
    return {"client_cert": str(tmp_path / "client.crt"), "client_key": str(tmp_path / "client.key")}


@pytest.fixture
def gated(authority, emulator):
    with gate(authority, emulator.url) as server:
        yield server


@pytest.fixture
def connection(gated, ca_path, client_cert):
    return {"url": gated.url, "ca_path": ca_path, **client_cert, **BASIC}


def as_environment(options):
    return {f"OCP_{option.upper()}": value for option, value in options.items()}


def key_lines(client_cert):
    """The lines of the key that no output may have."""
    return [line for line in Path(client_cert["client_key"]).read_text().splitlines() if "-----" not in line]


@pytest.mark.nightly
@pytest.mark.smoke
@pytest.mark.parametrize(("path", "keywords"), [("in-process", {}), ("ordinary", ORDINARY)])
def test_restart_shows_the_client_certificate_and_no_output_has_its_key(
    path, keywords, ansible, gated, emulator, connection, client_cert
):
    task = {"oceanbase.ocp.server_restart": {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": False}}
    defaults = {"group/oceanbase.ocp.ocp": connection}
    outcome = ansible.tasks({**task, **keywords}, arguments="-vvvv", module_defaults=defaults)
    assert outcome.rc == 0, outcome.output
    assert ran_as(outcome.output) == {path: 1}
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}
    assert gated.subjects == {"ops@example.com"}
    assert [line for line in key_lines(client_cert) if line in outcome.output] == []


def test_environment_gives_certificate_and_proxy_to_modules_and_inventory(ansible, executables, connection, tmp_path):
    given = {**as_environment(connection), "https_proxy": f"http://127.0.0.1:{kept_port()}"}
    ansible.environment = {**given, "OCP_USE_PROXY": "false"}
    assert ansible.module("task_info")["rc"] == 0
    (tmp_path / "fleet.ocp.yml").write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "request_timeout": 20}))
    listed = subprocess.run(
        [executables / "ansible-inventory", "-i", tmp_path / "fleet.ocp.yml", "--list"],
        env={**os.environ, **ansible.variables(), "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.returncode == 0, listed.stderr
    assert "10.0.0.1_2882" in json.loads(listed.stdout)["_meta"]["hostvars"]
    ansible.environment = given
    refused = ansible.module("task_info")
    assert refused["rc"] == 2
    assert "cannot be reached" in refused["msg"]


def test_event_source_shows_the_client_certificate(emulator, gated, connection):
    events = []

    async def first_event():
        heard = asyncio.Event()

        async def put(event):
            events.append(event)
            heard.set()

        following = asyncio.create_task(put_changes(put, {**connection, "newer_than": 1000, "interval": 1}))
        await asyncio.wait_for(heard.wait(), 20)
        following.cancel()

    emulator.post("/api/v2/ob/clusters/1/servers/1/restart?freezeServer=true")
    asyncio.run(first_event())
    assert gated.subjects == {"ops@example.com"}


def test_gate_without_a_client_certificate_is_explained(ansible, gated, ca_path, emulator):
    refused = ansible.module("task_info", url=gated.url, ca_path=ca_path, **BASIC)
    assert refused["rc"] == 2
    assert "client certificate" in refused["msg"]
    assert "/api/" not in emulator.log


def test_page_playbook_runs(ansible, gated, emulator, ca_path, client_cert):
    [playbook] = blocks("docs/contents.md", "yaml")
    there = {"ca.crt": ca_path, "client.crt": client_cert["client_cert"], "client.key": client_cert["client_key"]}
    for name, path in there.items():
        playbook = playbook.replace(f"~/certificates/{name}", path)
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, gated.url))
    plays[0]["vars"] = SECRETS
    ansible.environment = {"https_proxy": f"http://127.0.0.1:{kept_port()}"}
    outcome = ansible.playbook(plays)
    assert outcome.rc == 0, outcome.output
    assert len(emulator.requests("POST")) == 1


@pytest.mark.parametrize("source", ["options", pytest.param("environment", marks=pytest.mark.nightly)])
def test_unusable_files_are_named_before_anything_is_sent(source, ansible, authority, connection, emulator, tmp_path):
    other = tmp_path / "other.key"
    authority.issue_cert("dba@example.com").private_key_pem.write_to_path(str(other))
    sentences = {
        "/no/such/client.key": "client_key: /no/such/client.key cannot be read: No such file or directory.",
        str(other): f"client_key: the private key in {other} does not belong to the certificate in ",
    }
    for key, sentence in sentences.items():
        given = {**connection, "client_key": key}
        ansible.environment = as_environment(given) if source == "environment" else {}
        refused = ansible.module("task_info", **(given if source == "options" else {}))
        assert refused["rc"] == 2
        assert refused["msg"].startswith(sentence)
    assert "/api/" not in emulator.log
