# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a server may be offline, raised by roles and playbooks: put back at the end, and after `kill -9`."""

from __future__ import annotations

import os
import signal
import time

import pytest
import yaml
from rolling import PLAYBOOK, QUICK, once, posts

FLEET = ("--clusters", "1", "--zones", "3", "--servers-per-zone", "1")
SLOW = ("--step-seconds", "0.1")
NAME = "server_permanent_offline_time"
ROLLING = {"rolling_restart_clusters": ["cluster1"], "rolling_restart_offline_time": "4h"}
PUT_BACK = {"oceanbase.ocp.cluster_offline_time": {}}


@pytest.fixture
def given(change):
    return {**ROLLING, "rolling_restart_started_before": change}


def values(emulator):
    """The values that the servers run with; one that is down, as after a kill, has none."""
    found = emulator.get("/emulator/parameters?size=100")["contents"]
    return {each["parameters"][NAME]["value"] for each in found} - {None}


def sent(emulator):
    seen = emulator.get("/emulator/requests?method=PUT&size=100")["contents"]
    return [each["path"] for each in seen if each["path"].endswith("/parameters")]


def plays(variables):
    return [{"import_playbook": PLAYBOOK, "vars": variables}]


@pytest.mark.parametrize("with_task_files", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_rolling_restart_raises_it_and_puts_it_back(ansible, start_emulator, connect, tmp_path, given, with_task_files):
    emulator = start_emulator(*FLEET, *QUICK)
    connect(emulator)
    (tmp_path / "gate.yml").write_text(yaml.safe_dump([{"name": "Pass", "ansible.builtin.meta": "noop"}]))
    more = {"rolling_restart_gate": str(tmp_path / "gate.yml")} if with_task_files else {}
    outcome = ansible.playbook(plays({**given, **more}))
    assert outcome.rc == 0, outcome.output
    assert (values(emulator), len(sent(emulator))) == ({"3600s"}, 2)
    assert emulator.restarts("OB_SERVER") == once(emulator)
    assert f"{NAME} of cluster1 is raised from 3600s to 4h for this run" in outcome.output


@pytest.mark.nightly
def test_fleet_restart_raises_it_and_puts_it_back(ansible, start_emulator, connect, change):
    emulator = start_emulator(*FLEET, *QUICK)
    connect(emulator)
    servers = [{"cluster": "cluster1", "server": "10.0.0.2:2882"}]
    variables = {"started_before": change, "servers": servers, "offline_time": "4h"}
    variables = {f"fleet_restart_{name}": value for name, value in variables.items()}
    outcome = ansible.playbook([{"import_playbook": "oceanbase.ocp.fleet_restart", "vars": variables}])
    assert outcome.rc == 0, outcome.output
    assert (values(emulator), len(sent(emulator))) == ({"3600s"}, 2)


@pytest.mark.parametrize("by_command", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_it_is_put_back_after_kill_9(ansible, start_emulator, connect, given, by_command):
    emulator = start_emulator(*FLEET, *SLOW)
    connect(emulator)
    process = ansible.start(plays(given), "killed")
    while not posts(emulator):
        assert process.poll() is None, ansible.output("killed").read_text()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    ansible.end()
    assert values(emulator) == {"4h"}
    if by_command:
        outcome = ansible.each({"put back": PUT_BACK})
        assert outcome.results["put back"]["reason"] == f"{NAME} of cluster1 is 3600s again."
    else:
        # The next run does not ask for it.
        outcome = ansible.playbook(plays({**given, "rolling_restart_offline_time": ""}))
        assert outcome.rc == 0, outcome.output
        assert emulator.restarts("OB_SERVER") == once(emulator)
    assert values(emulator) == {"3600s"}
