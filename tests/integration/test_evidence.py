# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The evidence of runs of Ansible: of one that fails, of one that is killed, of an ad-hoc command, of many hosts."""

from __future__ import annotations

import os
import signal
import time

import pytest
import yaml
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from evidence_files import Evidence

PAGE = "docs/evidence.md"


@pytest.fixture
def evidence(ansible, tmp_path):
    """The callback, enabled as the page says."""
    exports = [line.split()[2:] for line in blocks(PAGE, "console")[0].splitlines() if line.startswith("$ export ")]
    ansible.environment |= dict(word.split("=", 1) for words in exports for word in words)
    ansible.environment["OCP_EVIDENCE"] = str(tmp_path / "evidence" / ansible.environment["OCP_EVIDENCE"])
    return Evidence(tmp_path / "evidence")


def play(emulator, cluster="orders", servers=("10.0.0.1:2882", "10.0.0.2:2882")):
    [playbook] = blocks(PAGE, "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = SECRETS
    [task] = plays[0]["tasks"]
    task["oceanbase.ocp.server_restart"]["cluster"] = cluster
    task["loop"] = list(servers)
    return plays


def by_outcome(found):
    outcomes = {one["outcome"]: [] for one in found["targets"]}
    for one in found["targets"]:
        outcomes[one["outcome"]].append(one["name"])
    return outcomes


@pytest.mark.nightly
@pytest.mark.smoke
def test_failed_run_and_the_one_after_it_leave_a_file_each(ansible, emulator, evidence):
    fault = {
        "kind": "subtask",
        "match": {"subtask": "Start observer process"},
        "action": "fail",
        "message": "disk full",
    }
    emulator.post("/emulator/faults", fault)
    assert ansible.playbook(play(emulator)).rc != 0
    plan = {"clusters": ["payments"], "started_before": "{{ now(utc=true).isoformat() ~ 'Z' }}"}
    plays = play(emulator, "payments", ["10.0.0.7:2882", "10.0.0.9:2882"])
    plays[0]["tasks"].insert(0, {"name": "Plan it", "oceanbase.ocp.cluster_rolling_restart_info": plan})
    again = ansible.playbook(plays)
    assert again.rc == 0, again.output
    assert f"Evidence: {evidence.folder}/change-4711-2.json and {evidence.folder}/change-4711-2.html" in again.output
    first, second = evidence.read(), evidence.read("change-4711-2.json")
    assert (first["state"], second["state"], second["ticket"]) == ("failed", "succeeded", "CHG-4711")
    assert by_outcome(first)["failed"][0] == "10.0.0.1:2882"
    assert [line for line in first["failures"][0]["failed_subtasks"][0]["log_tail"] if "ERROR" in line]
    # It was planned, and the play leaves it out.
    assert by_outcome(second) == {"proven": ["10.0.0.7:2882", "10.0.0.9:2882"], "not_begun": ["10.0.0.8:2882"]}
    done = second["targets"][:2]
    assert all(one["members"][0]["start_before"] < one["members"][0]["start_after"] for one in done)
    assert all(one["started_before"] and one["task"]["duration"] > 0 for one in done)
    assert (second["services"], second["requested_by"]["ocp_users"]) == ([emulator.url], ["admin"])
    assert sum(len(step) for step in second["plans"][0]["steps"]) == 3


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sent", "state"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "interrupted"),
        (signal.SIGHUP, "interrupted"),
        (signal.SIGKILL, "running"),
    ],
)
def test_run_that_is_ended_leaves_what_was_known(ansible, start_emulator, evidence, sent, state):
    emulator = start_emulator("--step-seconds", "0.2")
    plays = play(emulator)
    process = ansible.start(plays, "run")
    until = time.monotonic() + 60
    while "task 1002" not in ansible.output("run").read_text() and time.monotonic() < until:
        time.sleep(0.05)
    if sent == signal.SIGKILL:
        # A process that is killed writes no more; what has begun is there a moment later.
        time.sleep(0.7)
    assert process.poll() is None
    os.killpg(process.pid, sent)
    assert process.wait(timeout=60) != 0
    found = evidence.read()
    assert (found["state"], by_outcome(found)) == (state, {"proven": ["10.0.0.1:2882"]})
    [unfinished] = found["unfinished"]
    flying = [{"target": "server 10.0.0.2:2882 (id 2) of cluster orders (id 1)", "task_id": 1002}]
    assert (unfinished["step"], unfinished["in_flight"]) == ("Restart the nodes", flying)
    assert {path.suffix for path in evidence.folder.iterdir()} == {".json", ".html"}


@pytest.mark.nightly
def test_ad_hoc_command_and_check_mode(ansible, emulator, evidence):
    ansible.environment |= {"ANSIBLE_LOAD_CALLBACK_PLUGINS": "true", "OCP_URL": emulator.url}
    ansible.environment |= {"OCP_USERNAME": BASIC["username"], "OCP_PASSWORD": BASIC["password"]}
    options = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
    ansible.module("server_restart", "--check", **options)
    ansible.module("server_restart", **options)
    ansible.module("server_info")
    planned, done, read = (evidence.read(f"change-4711{number}.json") for number in ("", "-2", "-3"))
    assert (by_outcome(planned), planned["run"]["check_mode"]) == ({"planned": ["10.0.0.1:2882"]}, True)
    assert (by_outcome(done), done["run"]["playbooks"]) == ({"proven": ["10.0.0.1:2882"]}, [])
    assert (read["targets"], read["state"]) == ([], "succeeded")


@pytest.mark.nightly
def test_fleet_of_hosts_in_forks_has_each_once(ansible, start_emulator, evidence):
    emulator = start_emulator("--clusters", "10", "--servers-per-zone", "1")
    hosts = [f"cluster{number}" for number in range(1, 11)]
    options = {"cluster": "{{ inventory_hostname }}", "server": "{{ ocp_first }}", "freeze_server": True, "wait": True}
    found = {"register": "found", "oceanbase.ocp.server_info": {"cluster": "{{ inventory_hostname }}"}}
    first = {"oceanbase.ocp.server_restart": options, "vars": {"ocp_first": "{{ found.servers[0].name }}"}}
    connection = {"url": emulator.url, **BASIC}
    plays = [
        {
            "hosts": "all",
            "connection": "local",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
            "module_defaults": {"group/oceanbase.ocp.ocp": connection},
            "tasks": [found, first],
        }
    ]
    outcome = ansible.playbook(plays, arguments=f"--forks 10 --inventory {','.join(hosts)},")
    assert outcome.rc == 0, outcome.output
    document = evidence.read()
    assert document["totals"] == {"proven": 10}
    assert sorted(one["host"] for one in document["targets"]) == sorted(hosts)
    assert document["unfinished"] == []


@pytest.mark.nightly
def test_evidence_that_cannot_be_written_fails_nothing(ansible, emulator, evidence):
    evidence.folder.write_text("a file where the folder should be")
    outcome = ansible.playbook(play(emulator))
    assert outcome.rc == 0, outcome.output
    assert "oceanbase.ocp.evidence: no more evidence is written: " in " ".join(outcome.output.split())
