# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A change with a name: each target restarts once for it, whatever runs and however often, and no clock decides."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time

import pytest
import yaml
from credentials import BASIC
from documentation_blocks import blocks
from execution_path import ORDINARY, ran_as
from expected_restarts import RESTARTS, restart
from free_ports import kept_port
from rolling import QUICK, once, posts

NAME = "memory-2026-11-20"
SECRET = "s3cret-wOrd"
SERVER = RESTARTS["server_restart"][0]
FLEET = ("--clusters", "1", "--zones", "3", "--servers-per-zone", "1", *QUICK)
FIVE_LINES, *_others = blocks("docs/at-most-once.md", "yaml")
# Of a database that tests/journal has started; read before the fixtures remove it.
STARTED_DATABASE = os.environ.get("OCP_TEST_JOURNAL_URL")


@pytest.fixture
def server(ansible, emulator):
    """Restart a server, and wait; returns the result."""

    def run(*arguments, **options):
        return ansible.module("server_restart", *arguments, url=emulator.url, wait=True, **BASIC, **SERVER, **options)

    return run


@pytest.fixture
def playbook(ansible, connect):
    """Run a playbook of the collection with these variables of it."""

    def run(emulator, name, *arguments, **given):
        connect(emulator)
        variables = {f"{name}_{option}": value for option, value in given.items()}
        return ansible.playbook(
            f"oceanbase.ocp.{name}", arguments=" ".join([*arguments, f"-e '{json.dumps(variables)}'"])
        )

    return run


@pytest.mark.smoke
def test_playbook_of_five_lines_run_three_times_restarts_once(ansible, connect, emulator):
    connect(emulator)
    assert len(FIVE_LINES.splitlines()) == 5
    runs = [ansible.playbook(yaml.safe_load(FIVE_LINES)) for _run in range(3)]
    assert [run.rc for run in runs] == [0, 0, 0], [run.output for run in runs]
    assert [run.result["changed"] for run in runs] == [True, False, False]
    assert [run.result["verified"] for run in runs] == [True, True, True]
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


def test_every_module_restarts_once_for_a_name_though_the_clocks_are_hours_apart(ansible, emulator):
    emulator.advance(7200)
    tasks = {verb: restart(verb, emulator, wait=True, change=f"{verb} {NAME}") for verb in RESTARTS}
    first = ansible.each(tasks).results
    assert {verb: result["action"] for verb, result in first.items()} == dict.fromkeys(RESTARTS, "submitted")
    again = ansible.each(tasks).results
    assert {verb: result["action"] for verb, result in again.items()} == dict.fromkeys(RESTARTS, "skipped")
    assert len(emulator.requests("POST")) == len(RESTARTS)


def test_new_name_restarts_again(server, emulator):
    results = [server(change=name) for name in (NAME, NAME, f"{NAME}b")]
    assert [result["action"] for result in results] == ["submitted", "skipped", "submitted"]
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 2}


def test_check_mode_and_plans_are_no_first_use_of_a_name(server, ansible, emulator):
    plan = {"url": emulator.url, **BASIC, "clusters": ["orders"], "servers": [SERVER["server"]], "change": NAME}
    assert server("--check", change=NAME)["action"] == "submitted"
    assert len(ansible.module("cluster_rolling_restart_info", **plan)["batches"]) == 1
    server()
    assert server(change=NAME)["action"] == "submitted"
    assert ansible.module("cluster_rolling_restart_info", **plan)["batches"] == []


def test_name_with_an_instant_restarts_only_what_both_ask_for(server, emulator, change):
    assert server(change=NAME, started_before="2000-01-01T00:00:00Z")["action"] == "skipped"
    assert server(change=f"{NAME}b", started_before=change)["action"] == "submitted"
    assert server(change=f"{NAME}b", started_before=change)["action"] == "skipped"
    assert len(emulator.requests("POST")) == 1


def test_name_is_refused_for_another_instant(server, emulator, change):
    server(change=NAME, started_before=change)
    refused = server(change=NAME, started_before="2026-05-04T03:00:00+08:00")
    assert (refused["rc"], refused["changed"]) == (2, False)
    assert refused["msg"].startswith("change: ")
    assert NAME in refused["msg"]
    assert len(emulator.requests("POST")) == 1


def test_rolling_restart_restarts_each_server_once_for_a_name(playbook, start_emulator):
    emulator = start_emulator(*FLEET)
    given = {"clusters": ["cluster1"], "change": NAME, "gate_timeout": 2}
    for batch in (1, 3):
        outcome = playbook(emulator, "rolling_restart", **given, batch=batch)
        assert outcome.rc == 0, outcome.output
        assert emulator.restarts("OB_SERVER") == once(emulator)
    assert "0 to restart, 3 left alone" in outcome.output


def test_fleet_restart_restarts_each_server_once_for_a_name(playbook, emulator):
    servers = [{"cluster": "orders", "server": f"10.0.0.{last}:2882"} for last in (1, 2)]
    for _run in range(2):
        outcome = playbook(emulator, "fleet_restart", servers=servers, change=NAME)
        assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1, "10.0.0.2:2882": 1}


@pytest.mark.nightly
def test_agents_and_arbitration_services_restart_once_for_a_name(playbook, emulator):
    for _run in range(2):
        for name, given in (
            ("agent_rolling_restart", {"hosts": ["10.0.0.1"]}),
            ("arbitration_service_rolling_restart", {"services": ["10.0.0.10:2888"]}),
        ):
            outcome = playbook(emulator, name, change=NAME, **given)
            assert outcome.rc == 0, outcome.output
    assert emulator.restarts("HOST") == {"10.0.0.1": 1}
    assert emulator.restarts("ARBITRATION_SERVICE") == {"10.0.0.10:2888": 1}


@pytest.mark.nightly
def test_record_of_clusters_has_the_name(playbook, start_emulator, tmp_path):
    emulator = start_emulator(*FLEET)
    fleet = tmp_path / "fleet.ocp.yml"
    fleet.write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "hosts": "clusters"}))
    outcome = playbook(emulator, "rolling_restart", f"-i {fleet}", change=NAME, folder=str(tmp_path))
    assert outcome.rc == 0, outcome.output
    [written] = tmp_path.glob("rolling-restart-*.json")
    found = json.loads(written.read_text())
    assert (found["change"], found["started_before"]) == (NAME, "")
    assert len(posts(emulator)) == 3


def test_name_reaches_modules_in_process_and_ordinary_ones(ansible, emulator):
    case = {"oceanbase.ocp.server_restart": {"url": emulator.url, **BASIC, **SERVER, "change": " memory"}}
    outcome = ansible.each({"in-process": case, "ordinary": {**case, **ORDINARY}}, arguments="-vvv")
    assert ran_as(outcome.output) == {"in-process": 1, "ordinary": 1}
    [said] = {result["msg"] for result in outcome.results.values()}
    assert said.startswith("change: ' memory' is not the name of a change; give at most 200 printable characters")
    assert emulator.requests("POST") == []


def test_name_that_was_cleared_restarts_again(server, ansible, emulator):
    assert server(change=NAME)["action"] == "submitted"
    shown = ansible.module("restart_journal_info", change=NAME)
    [request] = shown["requests"]
    assert (request["outcome"], request["settled"]) == ("SUCCESSFUL", False)
    # Those of the emulator, which writes +08:00, too.
    assert set(re.findall(r"T\d\d:\d\d:[\d.]+(.\d\d:\d\d)", json.dumps(shown))) == {"+00:00"}
    cleared = ansible.module("restart_journal_clear", change=NAME, cluster="orders")
    assert (cleared["changed"], cleared["cleared"][0]) == (True, f"change {NAME} in cluster orders 1")
    assert ansible.module("restart_journal_clear", change=NAME)["changed"] is False
    assert [server(change=NAME)["action"] for _run in range(2)] == ["submitted", "skipped"]
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 2}


@pytest.mark.nightly
@pytest.mark.parametrize(
    "switch",
    [{}, pytest.param({"OCP_IN_PROCESS": "false"}, marks=pytest.mark.nightly)],
    ids=["in process", "ordinary"],
)
def test_controllers_that_share_a_journal_restart_once_and_show_no_password(
    switch, ansible, server, emulator, tmp_path
):
    shared = f"sqlite:///{tmp_path}/shared.db"
    for name, action in ("one", "submitted"), ("other", "skipped"):
        ansible.environment = {**switch, "ANSIBLE_HOME": str(tmp_path / name), "OCP_JOURNAL_URL": shared}
        result = server("-vvv", change=NAME)
        assert result["action"] == action, result
        assert shared not in str(result)
    del ansible.environment["OCP_JOURNAL_URL"]
    refused = server("-vvv", change=NAME, journal_url=f"mysql://ops:{SECRET}@127.0.0.1:{kept_port()}/ocp")
    assert "cannot be used" in refused["msg"]
    assert SECRET not in str(refused)
    assert len(emulator.requests("POST")) == 1


@pytest.fixture
def kill_and_run_again(ansible, connect, start_emulator, tmp_path):
    """Kill a run of the five lines in between, run them again as these controllers; returns the emulator and the runs.

    The first of the ``controllers`` is the one that is killed.
    """
    emulator = start_emulator("--step-seconds", "5")
    connect(emulator)
    plays = yaml.safe_load(FIVE_LINES)

    def polls():
        return sum("/tasks/instances/" in line for line in emulator.requests("GET"))

    def end_while_it_waits(seen):
        """A run reads the task before it decides, and more often only while it waits."""
        while polls() < seen + 4:
            time.sleep(0.1)
        emulator.advance(90)

    def be(controller):
        home = tmp_path / controller
        home.mkdir(exist_ok=True)
        ansible.environment |= {"HOME": str(home), "ANSIBLE_HOME": str(home / ".ansible")}

    def run(killed_after, ends_before_the_next_run, *controllers):
        be(controllers[0])
        ansible.module("restart_journal_clear", everything=True)
        killed = ansible.start(plays, "killed")
        while killed.poll() is None and not (polls() if killed_after == "a step" else emulator.requests("POST")):
            time.sleep(0.05)
        emulator.advance(5 if killed_after == "a step" else 0)
        ansible.end()
        assert killed.wait(timeout=20) == -signal.SIGKILL, ansible.output("killed").read_text()
        if ends_before_the_next_run:
            emulator.advance(90)
        else:
            threading.Thread(target=end_while_it_waits, args=[polls()], daemon=True).start()
        runs = []
        for controller in controllers[1:]:
            be(controller)
            runs.append(ansible.playbook(plays))
        return emulator, runs

    return run


def assert_restarted_once(emulator, runs, actions):
    assert [run.rc for run in runs] == [0, 0], [run.output for run in runs]
    done = [(run.result["action"], run.result["verified"]) for run in runs]
    assert all(run.result["action"] in expected.split(" or ") for run, expected in zip(runs, actions, strict=True)), (
        done
    )
    assert [run.result["verified"] for run in runs] == [True, True]
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


@pytest.mark.parametrize(
    ("killed_after", "ends_before_the_next_run", "actions"),
    [
        pytest.param("a step", False, ["attached", "skipped"], id="next run joins"),
        pytest.param("a step", True, ["skipped", "skipped"], id="next run skips", marks=pytest.mark.nightly),
        # The next run waits for the end of the lease. The task may be noted or not.
        pytest.param(
            "the request", True, ["adopted or skipped", "skipped"], id="lease held", marks=pytest.mark.nightly
        ),
    ],
)
def test_shared_five_lines_killed_in_between_on_two_controllers_restart_once(
    killed_after, ends_before_the_next_run, actions, ansible, kill_and_run_again, tmp_path
):
    ansible.environment["OCP_JOURNAL_URL"] = STARTED_DATABASE or f"sqlite:///{tmp_path}/shared.db"
    emulator, runs = kill_and_run_again(killed_after, ends_before_the_next_run, "one", "two", "one")
    assert_restarted_once(emulator, runs, actions)
    assert list(tmp_path.rglob("journal.sqlite")) == []


@pytest.mark.parametrize(
    ("killed_after", "ends_before_the_next_run", "actions"),
    [
        pytest.param("a step", False, ["attached", "skipped"], id="next run joins"),
        # Its task may be noted or not.
        pytest.param(
            "the request",
            True,
            ["adopted or skipped", "skipped"],
            id="next run finds it ended",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "the request", False, ["adopted or attached", "skipped"], id="right after", marks=pytest.mark.nightly
        ),
    ],
)
def test_five_lines_killed_in_between_restart_once_by_the_file_of_the_controller(
    killed_after, ends_before_the_next_run, actions, kill_and_run_again, tmp_path
):
    emulator, runs = kill_and_run_again(killed_after, ends_before_the_next_run, "one", "one", "one")
    assert_restarted_once(emulator, runs, actions)
    assert list(tmp_path.rglob("journal.sqlite")) == [tmp_path / "one/.ansible/oceanbase.ocp/journal.sqlite"]


def test_name_alone_is_refused_in_a_container_of_a_job(server, ansible, emulator, change):
    ansible.environment = {"LAUNCHED_BY_RUNNER": "1", "OCP_JOURNAL_PERSISTS": "no"}
    refused = server(change=NAME)
    assert refused["msg"].startswith("change: alone it rests on the journal")
    assert emulator.requests("POST") == []
    assert server(change=NAME, started_before=change)["action"] == "submitted"
