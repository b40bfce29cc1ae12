# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fixtures: running emulators, certificates, and Ansible to run against them."""

from __future__ import annotations

import contextlib
import json
import os
import sysconfig
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trustme
from ansible_process import forked_commands
from ansible_runs import SETTINGS, Ansible
from credentials import BASIC
from emulator_client import Emulator
from emulator_process import serve
from rolling import PLAYBOOK

# Variables that would change what a run does.
OF_USERS = ("OCP_", "ANSIBLE_")
SHARED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real-commands", action="store_true", help="start each command of Ansible anew, as users do")


@pytest.fixture
def start_emulator(tmp_path: Path, fork_server: Path) -> Iterator[Callable[..., Emulator]]:
    """Start an emulator with the given command-line options; it ends with the test."""
    running: list[Emulator] = []

    def start(*options: str) -> Emulator:
        log_file = tmp_path / f"emulator-{len(running)}.log"
        process = serve(fork_server, ["--port", "0", "--step-seconds", "0.02", *options], log_file)
        url = process.output.readline().rpartition(" ")[2].strip()
        running.append(Emulator(url, log_file, process))
        assert running[-1].url, running[-1].log
        return running[-1]

    yield start
    for emulator in running:
        emulator.end()


@pytest.fixture
def emulator(start_emulator: Callable[..., Emulator]) -> Emulator:
    return start_emulator()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls_options(authority: trustme.CA, tmp_path: Path) -> list[str]:
    """Command-line options of an emulator with a certificate for 127.0.0.1."""
    certificate = authority.issue_cert("127.0.0.1")
    key, chain = tmp_path / "tls.key", tmp_path / "tls.crt"
    certificate.private_key_pem.write_to_path(str(key))
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(str(chain), append=True)
    return ["--tls-cert", str(chain), "--tls-key", str(key)]


@pytest.fixture
def ca_path(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.crt"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@contextlib.contextmanager
def running_fork_server() -> Iterator[Path]:
    """What commands and emulators are forked from, as the folder of its socket and of the commands."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OF_USERS)}
    with (
        TemporaryDirectory(prefix="ocp-home-") as home,
        forked_commands({**inherited, **SETTINGS, "ANSIBLE_HOME": home, "HOME": home}) as folder,
    ):
        yield folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start it once for all workers."""
    if SHARED not in node.config.stash:
        stack = contextlib.ExitStack()
        node.config.stash[SHARED] = str(stack.enter_context(running_fork_server()))
        node.config.add_cleanup(stack.close)
    node.workerinput["fork_server"] = node.config.stash[SHARED]


@pytest.fixture(scope="session")
def fork_server(request: pytest.FixtureRequest) -> Iterator[Path]:
    shared = getattr(request.config, "workerinput", {}).get("fork_server")
    with contextlib.nullcontext(Path(shared)) if shared else running_fork_server() as folder:
        yield folder


@pytest.fixture(scope="session")
def commands(request: pytest.FixtureRequest, executables: Path, fork_server: Path) -> Path:
    """The folder of the commands that ``Ansible`` runs."""
    return executables if request.config.getoption("--real-commands") else fork_server


@pytest.fixture(autouse=True)
def without_settings_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith(OF_USERS)]:
        monkeypatch.delenv(variable)


@pytest.fixture
def ansible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commands: Path) -> Iterator[Ansible]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with TemporaryDirectory(prefix="ocp-") as temporary:
        controller = Ansible(tmp_path, temporary, commands)
        yield controller
        controller.end()


@pytest.fixture(scope="session")
def executables() -> Path:
    """The folder of ansible's own commands."""
    return Path(sysconfig.get_path("scripts"))


@pytest.fixture
def change():
    """An instant before the test; what the service shows of a start is cut off to the second."""
    return (datetime.now(UTC) - timedelta(seconds=2)).isoformat()


@pytest.fixture
def connect(ansible):
    """Let the playbook find an emulator where it takes the connection from."""

    def to(emulator):
        ansible.environment |= {
            "OCP_URL": emulator.url,
            **{f"OCP_{name.upper()}": value for name, value in BASIC.items()},
        }

    return to


@pytest.fixture
def roll(ansible, connect, change):
    """Run the playbook on an emulator with these variables of the role."""

    def run(emulator, clusters, check=False, **given):
        connect(emulator)
        given = {"clusters": clusters, "started_before": change, "gate_timeout": 2, **given}
        variables = {f"rolling_restart_{name}": value for name, value in given.items()}
        return ansible.playbook(PLAYBOOK, arguments=f"{'--check ' if check else ''}-e '{json.dumps(variables)}'")

    return run
