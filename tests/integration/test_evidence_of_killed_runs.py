# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The evidence of ansible-playbook that is killed amid the restarts of one task, beside what was really restarted."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import pytest
import yaml
from evidence_files import Evidence
from rolling import PLAYBOOK, names, posts

# Seconds in which what is noted reaches the document.
SOON = 1.5
FLEET = ("--clusters", "2", "--zones", "3", "--servers-per-zone", "1", "--step-seconds", "0.15")
# A restart takes longer than that.
LONG = ("--clusters", "2", "--zones", "3", "--servers-per-zone", "1", "--step-seconds", "0.6")
HOSTS = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
STARTED = re.compile(r"(?:submitted|adopted), task (\d+)$", re.MULTILINE)


@pytest.fixture
def evidence(ansible, tmp_path):
    ansible.environment |= {"ANSIBLE_CALLBACKS_ENABLED": "oceanbase.ocp.evidence"}
    ansible.environment["OCP_EVIDENCE"] = str(tmp_path / "evidence/change-4711.json")
    return Evidence(tmp_path / "evidence")


def of_list(change, folder, **more):
    given = {"clusters": ["cluster1"], "started_before": change, "folder": str(folder), **more}
    return {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": given[name] for name in given}}


def of_fleet(change, folder):
    (folder / "fleet.ocp.yml").write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "hosts": "clusters"}))
    given = {"started_before": change, "folder": str(folder)}
    return {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": given[name] for name in given}}


def with_task_files(change, folder):
    (folder / "drain.yml").write_text(yaml.safe_dump([{"name": "Drain it", "ansible.builtin.meta": "noop"}]))
    return of_list(change, folder, before_node=str(folder / "drain.yml"))


def of_parameters(_change, folder):
    given = {"clusters": ["cluster1"], "values": {"stack_size": "5M"}, "folder": str(folder)}
    variables = {f"parameter_rollout_{name}": given[name] for name in given}
    return {"import_playbook": "oceanbase.ocp.parameter_rollout", "vars": variables}


def of_servers(change, _folder):
    servers = [{"cluster": "cluster1", "server": f"10.0.0.{last}:2882"} for last in (1, 2, 3)]
    given = {"servers": servers, "started_before": change, "waves": True}
    variables = {f"fleet_restart_{name}": given[name] for name in given}
    return {"import_playbook": "oceanbase.ocp.fleet_restart", "vars": variables}


def of_agents(change, _folder):
    given = {"hosts": HOSTS, "started_before": change, "batch": 1}
    variables = {f"agent_rolling_restart_{name}": given[name] for name in given}
    return {"import_playbook": "oceanbase.ocp.agent_rolling_restart", "vars": variables}


@pytest.fixture
def end_amid(ansible, connect, change, tmp_path):
    """End a run by a signal, so many seconds after what it shows has begun; returns what it had shown."""

    def end(emulator, play, sent, has_begun, pause):
        connect(emulator)
        made = play(change, tmp_path)
        if (tmp_path / "fleet.ocp.yml").exists():
            ansible.environment["ANSIBLE_INVENTORY"] = str(tmp_path / "fleet.ocp.yml")
        process, until = ansible.start([made], "run"), time.monotonic() + 60
        shown = ansible.output("run")
        while not has_begun(shown.read_text()) and time.monotonic() < until:
            assert process.poll() is None, shown.read_text()
            time.sleep(0.02)
        time.sleep(pause)
        assert process.poll() is None, shown.read_text()
        os.kill(process.pid, sent)
        assert process.wait(timeout=30) != 0
        ansible.end()
        return shown.read_text()

    return end


def restarts(number):
    """Whether so many restarts are shown as begun."""
    return lambda text: len(STARTED.findall(text)) >= number


def requested(emulator):
    """The servers and hosts that the service was asked to restart."""
    found = names(emulator)
    paths = [request["path"] for request in emulator.get("/emulator/requests?method=POST&size=100")["contents"]]
    # One after another.
    agents = HOSTS[: len([path for path in paths if path.endswith("/batchRestartAgents")])]
    return [*(found[number] for number in posts(emulator)), *agents]


def flying(document):
    return {one["task_id"]: one["target"] for each in document["unfinished"] for one in each["in_flight"]}


def named_in(words, name):
    return name in re.split("[ (),]+", words)


def check(document, page, emulator, *, killed):
    """That nothing in the document is other than it was."""
    told = {one["name"]: one["outcome"] for one in document["targets"]}
    assert len(told) == len(document["targets"])
    asked = requested(emulator)
    in_flight = flying(document).values()
    assert asked
    for name in asked:
        assert told.get(name) != "not_begun", (name, document)
        assert name in told or any(named_in(target, name) for target in in_flight), (name, document)
    tasks = {task["id"]: task for task in emulator.get("/api/v2/tasks/instances?size=100")["contents"]}
    for one in document["targets"]:
        if one["outcome"] == "proven":
            assert (one["name"] in asked, tasks[one["task"]["id"]]["status"]) == (True, "SUCCESSFUL")
    assert not killed or "not_begun" not in document["totals"]
    assert "No target was restarted" not in page


PLAYS = {
    "list": of_list,
    "clusters as hosts": of_fleet,
    "task files": with_task_files,
    "parameters": of_parameters,
    "servers": of_servers,
    "agents": of_agents,
}
NIGHTLY = ("clusters as hosts", "task files", "parameters", "servers", "agents")


def cases(*signals):
    for name, play in PLAYS.items():
        for sent in signals:
            marks = [pytest.mark.nightly] if name in NIGHTLY or sent is not signal.SIGKILL else []
            yield pytest.param(play, sent, id=f"{name} {sent.name}", marks=marks)


@pytest.mark.parametrize(("play", "sent"), list(cases(signal.SIGKILL, signal.SIGHUP, signal.SIGTERM)))
def test_ended_run_names_what_was_restarted_and_what_is_in_flight(start_emulator, evidence, end_amid, play, sent):
    emulator = start_emulator(*LONG)
    killed = sent is signal.SIGKILL
    shown = end_amid(emulator, play, sent, restarts(2), SOON if killed else 0)
    document, page = evidence.read(), evidence.page()
    check(document, page, emulator, killed=killed)
    newest = int(STARTED.findall(shown)[-1])
    assert document["state"] == ("running" if killed else "interrupted")
    assert newest in flying(document), (shown, document)
    assert (document["services"], document["requested_by"]["ocp_users"]) == ([emulator.url], ["admin"])
    assert f"task {newest}" in page


@pytest.mark.nightly
@pytest.mark.parametrize("pause", [0, 0.1, 0.3, 0.7, 1.1])
@pytest.mark.parametrize("play", [of_list, of_fleet, of_servers, of_agents])
def test_run_killed_at_any_moment_says_nothing_false(start_emulator, evidence, end_amid, play, pause):
    emulator = start_emulator(*FLEET)
    end_amid(emulator, play, signal.SIGKILL, restarts(1), pause)
    document, page = evidence.read(), evidence.page()
    told = {one["name"]: one["outcome"] for one in document["targets"]}
    assert "not_begun" not in told.values()
    assert not [name for name, outcome in told.items() if outcome == "proven" and name not in requested(emulator)]
    assert "No target was restarted" not in page


@pytest.mark.nightly
def test_run_whose_notes_are_hidden_is_not_known(start_emulator, evidence, end_amid):
    """As that of an ordinary module: it is only known that it began."""

    def hidden(_change, _folder):
        options = {"cluster": "cluster1", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
        task = {"oceanbase.ocp.server_restart": options, "environment": {"LANG": "C"}}
        return {"hosts": "localhost", "gather_facts": False, "tasks": [task]}

    emulator = start_emulator(*LONG)
    end_amid(emulator, hidden, signal.SIGKILL, lambda _text: emulator.requests("POST"), 0)
    assert requested(emulator) == ["10.0.0.1:2882"]
    document = evidence.read()
    assert (document["targets"], [one["in_flight"] for one in document["unfinished"]]) == ([], [[]])
    assert "It is not known which targets were restarted" in evidence.page()
    assert json.dumps(document).count("not_begun") == 0
