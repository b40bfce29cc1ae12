# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

from __future__ import annotations

import pytest
import yaml
from nodes import NODE, RUN, Mesh, configuration


@pytest.fixture
def mesh(tmp_path):
    return Mesh(tmp_path, tmp_path / "receptor", "run", ("worker1", "worker2"))


def settings(node):
    return {name: value for entry in yaml.safe_load(configuration(node, 27199)) for name, value in entry.items()}


def test_worker_takes_signed_work_alone_and_cannot_sign():
    found = settings("worker1")
    assert found["work-command"]["verifysignature"] is True
    assert found["work-verification"] == {"publickey": "tls/sign.pub"}
    assert "work-signing" not in found
    assert found["tcp-peer"] == {"address": "localhost:27199", "tls": "client", "redial": True}


def test_control_node_runs_no_work_and_listens_on_loopback():
    found = settings("control")
    assert not {"work-command", "tcp-peer"} & found.keys()
    assert found["tcp-listener"] == {"bindaddr": "127.0.0.1", "port": 27199, "tls": "server"}
    # In Go, and so here, a number with a leading zero is octal.
    assert found["control-service"]["permissions"] == 0o600


@pytest.mark.parametrize("node", ["control", "worker2"])
def test_every_connection_needs_a_certificate(node):
    found = settings(node)
    assert found["node"]["id"] == node
    assert found["tls-server"]["requireclientcert"] is True
    assert {found[name]["tls"] for name in ("tcp-listener", "control-service") if name in found} == {"server"}


def test_nodes_inherit_no_connection_and_share_no_folder(mesh, monkeypatch):
    monkeypatch.setenv("OCP_PASSWORD", "a-secret")
    first, second = mesh.environment("worker1"), mesh.environment("worker2")
    assert not [name for name in first if name.startswith("OCP_")]
    assert (first[RUN], first[NODE]) == ("run", "worker1")
    own = ("HOME", "TMPDIR", "ANSIBLE_HOME", "PWD")
    assert all(first[name].startswith(str(mesh.folder / "worker1")) for name in own)
    assert {first[name] for name in own}.isdisjoint(second[name] for name in own)
