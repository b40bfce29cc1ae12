# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What people see of a fleet: the playbook ocp_status, and ``detail: compact`` of the modules that read."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest
import yaml
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from in_process import called, outcome_of

PLAYBOOK = "oceanbase.ocp.ocp_status"
SHOWN = "Show the status"
# With two clusters and a task of each kind.
MOST_LINES_OF_NINE_SERVERS = 16
# A terminal.
MOST_LINES_OF_THE_RUN = 40
MOST_LINES_OF_AN_OBJECT = 3
LISTED = {
    "cluster_info": "clusters",
    "server_info": "servers",
    "host_info": "hosts",
    "arbitration_service_info": "arbitration_services",
    "obproxy_info": "obproxy_clusters",
    "task_info": "tasks",
}


@pytest.fixture
def emulator_at_work(start_emulator, connect, monkeypatch, tmp_path):
    """A fleet of nine servers, in which a restart has FAILED and another one runs."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    emulator = start_emulator()
    emulator.fail_subtask("Start observer process")
    server = {"url": emulator.url, **BASIC, "freeze_server": True}
    outcome_of("server_restart", {**server, "cluster": "payments", "server": "10.0.0.8:2882", "wait": True})
    slow = {"kind": "subtask", "match": {"subtask": "Stop observer process"}, "action": "slow", "factor": 100_000}
    emulator.post("/emulator/faults", slow)
    outcome_of("server_restart", {**server, "cluster": "orders", "server": "10.0.0.3:2882"})
    connect(emulator)
    return emulator


def printed(ansible, commands, program, *words):
    """Exit code and standard output of a command in a process of its own."""
    done = subprocess.run(
        [commands / program, *words],
        env={**os.environ, **ansible.variables()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.smoke
def test_nine_servers_and_their_tasks_fit_a_screen(ansible, commands, emulator_at_work):
    code, output = printed(ansible, commands, "ansible-playbook", PLAYBOOK)
    assert code == 0, output
    lines = output.partition(f"TASK [{SHOWN}]")[2].partition("\nok: ")[0].splitlines()[1:]
    assert len(lines) <= MOST_LINES_OF_NINE_SERVERS
    assert len(output.splitlines()) <= MOST_LINES_OF_THE_RUN
    assert lines[0] == "2 clusters, 9 servers (2 not serving), 1 task running, 1 FAILED"
    for server in range(1, 10):
        [row] = [line for line in lines if f" 10.0.0.{server}:2882 " in line]
        assert row.startswith("!") is (server in (3, 8))
        assert re.search(r" zone\d +[A-Z]+.* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+08:00", row)
    running, failed, why = lines[-3:]
    assert re.match(r"  RUNNING 1002 Restart OB server 10\.0\.0\.3, \d+/13 now Stop observer process, ", running)
    assert failed.startswith("! FAILED 1001 Restart OB server 10.0.0.8, 5/13 Start observer process, ")
    assert why == "Why: ansible-playbook oceanbase.ocp.task_report -e task_report_id=1001"
    assert {request.split()[1] for request in emulator_at_work.requests("POST")[2:]} == set()
    # No JSON, in which a line would be quoted.
    assert '"' not in output


def test_objects_of_the_compact_form_take_few_lines(emulator_at_work):
    for module, key in LISTED.items():
        objects = called(module, emulator_at_work.url, **BASIC)[key]
        compact = called(module, emulator_at_work.url, detail="compact", **BASIC)[key]
        assert len(compact) == len(objects) > 0
        lines = json.dumps(compact, indent=4).splitlines()
        assert len(lines) - 2 <= MOST_LINES_OF_AN_OBJECT * len(objects)
        assert all(line.startswith(str(one.get("name"))) for line, one in zip(compact, objects, strict=True)) is (
            module != "task_info"
        )


def test_ad_hoc_command_takes_a_line_for_each_server(ansible, commands, emulator, connect):
    connect(emulator)
    words = ("localhost", "-m", "oceanbase.ocp.server_info", "-a", "detail=compact")
    code, output = printed(ansible, commands, "ansible", *words)
    assert code == 0, output
    assert len(output.splitlines()) == len(["localhost | SUCCESS", "changed", "servers", "]", "}"]) + 9


def test_user_who_may_not_read_tasks_sees_the_rest(ansible, emulator, connect):
    refusal = {"kind": "http", "action": "error", "status": 403, "match": {"path": "/api/v2/tasks/instances"}}
    emulator.post("/emulator/faults", {**refusal, "times": None})
    connect(emulator)
    outcome = ansible.playbook(PLAYBOOK)
    assert outcome.rc == 0, outcome.output
    lines = outcome.results[SHOWN]["lines"]
    assert lines[0] == "2 clusters, 9 servers"
    assert [line for line in lines if line.startswith("! Not everything could be read: ") and "403" in line]


def test_one_cluster_is_shown_and_a_misspelt_one_is_an_error(ansible, emulator, connect):
    connect(emulator)
    one, misspelt = (ansible.playbook(PLAYBOOK, f"-e ocp_status_cluster={name}") for name in ("payments", "paymants"))
    assert (one.rc, misspelt.rc) == (0, 2), misspelt.output
    assert one.results[SHOWN]["lines"][0].startswith("1 cluster, 3 servers, ")
    assert "lines" not in misspelt.results[SHOWN]
    why = "ocp_status_cluster: paymants matches nothing; to choose from: orders, payments. "
    assert misspelt.results[SHOWN]["msg"].startswith(why)
    assert "template" not in misspelt.output


@pytest.mark.usefixtures("emulator_at_work")
def test_page_shows_what_the_playbook_prints(ansible):
    outcome = ansible.playbook(PLAYBOOK)
    assert outcome.rc == 0, outcome.output
    [recorded] = blocks("docs/ocp-status.md", "text")

    def shape(line):
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d+/13 now [\w ]+", "", line)

    # A line of more than 80 columns is folded there.
    page = shape(recorded.replace("\n", ""))
    assert [line for line in outcome.results[SHOWN]["lines"] if shape(line) not in page] == []


def test_page_playbook_runs(ansible, emulator):
    [playbook] = blocks("docs/ocp-status.md", "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = SECRETS
    outcome = ansible.playbook(plays)
    assert outcome.rc == 0, outcome.output
    assert "1 cluster, 6 servers, 0 tasks running, 0 FAILED" in outcome.output
