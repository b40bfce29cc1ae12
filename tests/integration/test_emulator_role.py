# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The role `emulator` in a playbook: what it starts, stops and refuses."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import requests
import yaml
from credentials import BASIC
from documentation_blocks import blocks
from free_ports import kept_port
from refused_roles import refusals


@pytest.fixture
def emulator_role(ansible, tmp_path):
    """Applies the role emulator on a free port, with the packages of this environment."""
    port = kept_port()

    def apply(state, arguments="", **variables):
        settings = {
            "emulator_state": state,
            "emulator_port": port,
            "emulator_home": str(tmp_path / "emulator"),
            "emulator_virtualenv": str(Path(sys.prefix)),
            **variables,
        }
        outcome = ansible.playbook(
            [
                {
                    "hosts": "localhost",
                    "connection": "local",
                    "gather_facts": False,
                    "roles": [{"role": "oceanbase.ocp.emulator", **settings}],
                }
            ],
            arguments=arguments,
        )
        changed = any(result.get("changed") for result in outcome.results.values())
        return outcome, changed

    yield apply, port
    with contextlib.suppress(FileNotFoundError):
        os.kill(int((tmp_path / "emulator" / f"{port}.pid").read_text()), signal.SIGTERM)


def answers(port, scheme="http", **options):
    try:
        return requests.get(f"{scheme}://127.0.0.1:{port}/api/v2/time", timeout=5, **options).ok
    except requests.ConnectionError:
        return False


FLEET = "clusters: [{name: tilde, zones: [{name: zone1, servers: [{ip: 10.0.0.1}]}]}]"


@pytest.mark.nightly
def test_the_emulator_is_started_once_with_its_settings_and_stopped(emulator_role, tmp_path):
    apply, port = emulator_role
    (tmp_path / "faults.yml").write_text("[{kind: http, action: html, match: {path: /api/v2/status}}]")
    settings = {
        **documented_settings(),
        "emulator_rate_limit": ["2/3600", "50/86400"],
        "emulator_max_attempts": 1,
        "emulator_faults": str(tmp_path / "faults.yml"),
        "emulator_task_seconds": {"Restart OB server": 1200},
        "emulator_subtask_seconds": {"Start observer process": 60},
        "emulator_jitter": 0.2,
        "emulator_speed": 60,
    }
    outcome, changed = apply("started", **settings)
    assert (outcome.rc, changed, answers(port)) == (0, True, True), outcome.output
    assert_durations_and_speed(port)
    assert_profile_and_switches(port)
    assert_rate_limit_lockout_and_fault(port)
    outcome, changed = apply("started", **settings)
    assert (outcome.rc, changed, answers(port)) == (0, False, True), outcome.output
    outcome, changed = apply("stopped")
    assert (outcome.rc, changed, answers(port)) == (0, True, False), outcome.output
    outcome, changed = apply("stopped")
    assert (outcome.rc, changed) == (0, False), outcome.output


@pytest.mark.nightly
def test_the_emulator_serves_https_and_keeps_its_database(emulator_role, tls_options, ca_path, tmp_path, ansible):
    apply, port = emulator_role
    # What it runs as is longer than that, which must not keep it from being known.
    ansible.environment["COLUMNS"] = "80"
    home = tmp_path / "home"
    home.mkdir()
    (home / "environment").symlink_to(sys.prefix)
    (home / "tls.crt").symlink_to(tls_options[1])
    (home / "tls.key").symlink_to(tls_options[3])
    (home / "fleet.yml").write_text(FLEET)
    (home / "faults.yml").write_text("[]")
    variables = {
        # The folder that the fixture has too, to stop it ignoring case.
        "emulator_home": "~/../emulator",
        "emulator_virtualenv": "~/environment",
        "emulator_tls_cert": "~/tls.crt",
        "emulator_tls_key": "~/tls.key",
        "emulator_fleet": "~/fleet.yml",
        "emulator_faults": "~/faults.yml",
        "emulator_database": "~/fleet.db",
        # Texts, as the command line gives them by -e name=value.
        "emulator_step_seconds": "0.02",
        "emulator_max_attempts": "3",
        "emulator_rate_limit": "1000/10,2000/20",
        "emulator_start_timeout": "30",
    }
    outcome, _changed = apply("started", **variables)
    assert outcome.rc == 0, outcome.output
    assert answers(port, "https", verify=ca_path)
    url = f"https://127.0.0.1:{port}"
    restart = ansible.module("cluster_restart", url=url, ca_path=ca_path, cluster="tilde", wait=True, **BASIC)
    apply("stopped", **variables)
    assert not answers(port, "https", verify=ca_path)
    outcome, _changed = apply("started", **variables)
    assert outcome.rc == 0, outcome.output
    kept = ansible.module("task_info", url=url, ca_path=ca_path, **BASIC)
    assert [task["id"] for task in kept["tasks"]] == [restart["task_id"]]
    assert (home / "fleet.db").exists()


RECORDING = {
    "format": "recording of an OCP",
    "version": 1,
    "recorded_at": "2026-11-21T04:00:00+00:00",
    "left_out": {},
    "answers": [
        {"path": "/api/v2/no/such/call", "query": {}, "status": 418, "form": "html", "body": None},
        {"path": "/api/v2/info", "query": {}, "status": 200, "form": "json", "body": {"buildVersion": "4.2.9"}},
    ],
}


@pytest.mark.nightly
def test_the_emulator_answers_as_recorded(emulator_role, tmp_path):
    apply, port = emulator_role
    path = tmp_path / "recording.json"
    path.write_text(json.dumps(RECORDING))
    documented = documented_settings("emulator_recording")
    assert documented.keys() == {"emulator_port", "emulator_recording"}
    outcome, _changed = apply("started", emulator_recording=str(path))
    assert outcome.rc == 0, outcome.output
    url, auth = f"http://127.0.0.1:{port}", tuple(BASIC.values())
    assert requests.get(f"{url}/nowhere", auth=auth, timeout=10).status_code == 418
    assert requests.get(f"{url}/api/v2/info", auth=auth, timeout=10).json() == {"buildVersion": "4.2.9"}
    assert requests.get(f"{url}/api/v2/ob/clusters", auth=auth, timeout=10).json()["data"]["contents"] == []


def documented_settings(variable="emulator_profile"):
    """The variables of the role on the page of the emulator: with this one among them."""
    [play] = [block for block in blocks("docs/emulator-reference.md", "yaml") if variable in block]
    [role] = yaml.safe_load(play)[0]["roles"]
    return {key: value for key, value in role.items() if key != "role"}


def assert_durations_and_speed(port):
    url, auth = f"http://127.0.0.1:{port}/emulator", tuple(BASIC.values())
    shown = requests.get(f"{url}/durations", auth=auth, timeout=10).json()["data"]
    assert shown["tasks"] == {"Restart OB server": 1200}
    assert shown["subtasks"] == {"Start observer process": 60}
    assert shown["jitter"] == 0.2
    assert requests.get(f"{url}/clock", auth=auth, timeout=10).json()["data"]["speed"] == 60


def assert_profile_and_switches(port):
    paths = requests.get(f"http://127.0.0.1:{port}/openapi.json", timeout=10).json()["paths"]
    assert {"/compute/hosts/batchRestartAgents", "/api/v2/compute/hosts/batchRestartAgents"} <= set(paths)
    assert not any("arbitration" in path for path in paths if not path.startswith("/emulator/"))


def assert_rate_limit_lockout_and_fault(port):
    url = f"http://127.0.0.1:{port}/api/v2/info"
    answers = [requests.get(url, auth=tuple(BASIC.values()), timeout=5) for _call in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].headers["RateLimit-Limit"] == "2"
    codes = [requests.get(url, auth=("viewer", "x"), timeout=5).json()["error"]["code"] for _call in range(2)]
    assert codes == [10004, 10003]
    assert requests.get(f"http://127.0.0.1:{port}/api/v2/status", timeout=5).status_code == 502


def test_error_names_the_unknown_switch(emulator_role):
    apply, _port = emulator_role
    outcome, _changed = apply("started", emulator_switches={"agent_paths": "nowhere"})
    assert outcome.rc == 2
    assert "agent_paths" in outcome.output
    assert "nowhere" in outcome.output


@pytest.mark.nightly
def test_emulator_startup_failure_shows_its_cause(emulator_role):
    apply, _port = emulator_role
    outcome, _changed = apply("started", emulator_fleet="/nowhere/fleet.yml", emulator_start_timeout=60)
    assert outcome.rc == 2
    assert "it ended by itself" in outcome.result["msg"]
    assert "/nowhere/fleet.yml" in outcome.result["msg"]


@pytest.mark.nightly
def test_emulator_that_exceeds_the_start_timeout_is_ended(emulator_role, tmp_path):
    apply, port = emulator_role
    # Whoever reads it waits until somebody writes.
    os.mkfifo(tmp_path / "fleet.yml")
    # A text, as the command line gives it by -e name=value.
    outcome, _changed = apply("started", emulator_fleet=str(tmp_path / "fleet.yml"), emulator_start_timeout="1")
    assert outcome.rc == 2
    assert "it does not listen after 1 seconds, and was ended" in outcome.result["msg"]
    assert not (tmp_path / "emulator" / f"{port}.pid").exists()
    while runs(str(tmp_path / "fleet.yml")):
        time.sleep(0.02)


def runs(word):
    """Whether a process has this among the words of its command."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in command.read_bytes().split(b"\0"):
                return True
    return False


def test_emulator_role_refuses_numbers_out_of_range(ansible):
    cases = {
        "emulator_port: 0 is out of range; give 1 to 65535": {"port": 0},
        "emulator_port: 65536 is out of range; give 1 to 65535": {"port": "65536", "state": "stopped"},
        "emulator_start_timeout: 0 is out of range; give 1 or more.": {"start_timeout": "0"},
    }
    refused = refusals(ansible, "emulator", cases)
    for sentence, result in refused.items():
        assert result["msg"].startswith(sentence)


@pytest.mark.nightly
def test_emulator_role_starts_nothing_in_check_mode(emulator_role):
    apply, port = emulator_role
    outcome, changed = apply("started", arguments="--check")
    assert (outcome.rc, changed, answers(port)) == (0, True, False), outcome.output
