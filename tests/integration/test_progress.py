# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a person sees while a restart is waited for: on a terminal, in a pipe, and while the service does not answer."""

from __future__ import annotations

import os
import re
import subprocess

import expected_restarts
import pytest
from credentials import BASIC
from execution_path import ORDINARY
from expected_restarts import RESTARTS
from progress_output import progress_lines

SERVERS = ["10.0.0.1:2882", "10.0.0.3:2882", "10.0.0.5:2882"]
ESCAPE = "\x1b["


def restart(server, **keywords):
    options = {"cluster": "orders", "server": server, "freeze_server": True, "wait": True}
    return {"name": f"restart {server}", "oceanbase.ocp.server_restart": options, **keywords}


def defaults(emulator):
    return {"module_defaults": {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}}


def control(emulator, name, path, body):
    """A task that breaks the emulator."""
    request = {"url": f"{emulator.url}{path}", "method": "POST", "body_format": "json", "body": body}
    credentials = {"url_username": "admin", "url_password": "ocp-demo-1", "force_basic_auth": True}
    return {"name": name, "ansible.builtin.uri": {**request, **credentials}}


@pytest.fixture
def emulator(start_emulator):
    """So slow that a busy machine looks at each task before its end."""
    return start_emulator("--step-seconds", "0.2")


@pytest.fixture
def start_piped(ansible, emulator, commands, executables):
    """Start an ad-hoc restart without a terminal; one that was loaded before uses no colour."""

    def start(more="wait=true", stderr=subprocess.PIPE, *, loaded=True, **variables):
        options = f"cluster=orders server=10.0.0.1:2882 freeze_server=true {more}"
        connection = {"OCP_URL": emulator.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": "ocp-demo-1"}
        environment = {**os.environ, **ansible.variables(), **connection}
        del environment["ANSIBLE_NOCOLOR"]
        program = (commands if loaded else executables) / "ansible"
        return subprocess.Popen(
            [program, "localhost", "-m", "oceanbase.ocp.server_restart", "-a", options],
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    return start


@pytest.fixture
def piped(start_piped):
    """Run an ad-hoc restart without a terminal; returns what the two outputs got."""

    def run(more="wait=true", **variables):
        process = start_piped(more, **variables)
        output, errors = process.communicate()
        assert process.returncode == 0, output + errors
        return output, errors

    return run


@pytest.mark.smoke
def test_ad_hoc_progress_goes_to_stderr_in_a_pipe(piped):
    output, errors = piped(loaded=False)
    assert progress_lines(errors)[0].startswith("  1001 (Restart OB server 10.0.0.1) RUNNING ")
    assert re.fullmatch(r"  1001 \(Restart OB server 10.0.0.1\) SUCCESSFUL, [\d.]+ s", progress_lines(errors)[-1])
    # What a program reads has none of it.
    assert progress_lines(output) == []
    assert output.startswith("localhost | CHANGED => {")
    assert ESCAPE not in output + errors


def test_command_ends_after_its_restart_although_nobody_reads_its_output_any_more(start_piped, emulator):
    process = start_piped(stderr=subprocess.STDOUT, loaded=False)
    assert next(line for line in process.stdout if "submitted, task 1001" in line)
    process.stdout.close()
    try:
        process.wait(timeout=60)
    finally:
        process.kill()
    [task] = emulator.get("/api/v2/tasks/instances")["contents"]
    assert task["status"] == "SUCCESSFUL"


def test_compact_ad_hoc_result_fits_a_terminal(piped):
    output, _errors = piped("wait=true detail=compact")
    assert len(output.splitlines()) <= 25
    assert '"verified": true' in output
    assert '"name": "10.0.0.1:2882"' in output


def test_ad_hoc_restart_that_is_not_waited_for_ends_with_the_command_that_waits(piped):
    output, _errors = piped("detail=compact")
    assert len(output.splitlines()) <= 25
    command = "ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=1001 detail=compact'"
    assert output.splitlines()[-2].strip() == f'"wait_command": "{command}"'


def test_forced_colour_is_used_in_a_pipe(piped):
    _output, errors = piped(loaded=False, ANSIBLE_FORCE_COLOR="true")
    assert re.search(r"\x1b\[[\d;]+m  1001 \(Restart OB server 10.0.0.1\) RUNNING", errors)


def test_terminal_shows_success_and_failure_in_different_colours(ansible, start_emulator):
    # So slow that a busy machine looks at the task before its first failure.
    emulator = start_emulator("--step-seconds", "0.4")
    ansible.environment.update(ANSIBLE_NOCOLOR="false", TERM="xterm")
    emulator.fail_subtask("Start observer process")
    output = ansible.tasks(restart(SERVERS[0]), **defaults(emulator)).output
    colours = re.findall(r"(\x1b\[[\d;]+m)  1001 .* (ok|FAILED) ", output)
    assert {status for _colour, status in colours} == {"ok", "FAILED"}
    assert len(set(colours)) == 2


def test_playbook_progress_precedes_the_result(ansible, start_emulator):
    # So slow that a busy machine looks at each task before its end.
    emulators = {verb: start_emulator("--step-seconds", "0.1") for verb in RESTARTS}
    outcome = ansible.each({verb: expected_restarts.restart(verb, emulators[verb], wait=True) for verb in RESTARTS})
    printed = outcome.of_each_task()
    assert len(printed) == len(RESTARTS)
    for (_options, steps, _verified), output in zip(RESTARTS.values(), printed, strict=True):
        shown = progress_lines(output)
        assert f" {steps}/{steps} ok " in shown[-2]
        assert " SUCCESSFUL, " in shown[-1]
        assert output.index(shown[-1]) < output.index("changed: [localhost]")


def test_loop_items_show_progress_before_each_result(ansible, emulator):
    outcome = ansible.tasks(restart("{{ item }}", loop=SERVERS), **defaults(emulator))
    order = re.findall(
        r"^  (\d+) \(Restart OB server 10\.0\.0\.\d\) SUCCESSFUL|=> \(item=(.*)\)", outcome.output, re.MULTILINE
    )
    assert [first or second for first, second in order] == [
        "1001", SERVERS[0], "1002", SERVERS[1], "1003", SERVERS[2],
    ]  # fmt: skip


def test_many_tasks_are_shown_as_a_count(ansible, emulator):
    start = restart("{{ item }}", loop=[f"10.0.0.{host}:2882" for host in range(1, 7)], register="started")
    start["oceanbase.ocp.server_restart"] |= {"wait": False, "safety": "none"}
    ids = "{{ started.results | map(attribute='task_id') }}"
    wait = {"name": "wait", "oceanbase.ocp.task_wait": {"task_ids": ids, "detail": "summary"}}
    outcome = ansible.tasks(start, wait, **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    shown = progress_lines(outcome.output)
    assert re.fullmatch(r"  6 of 6 tasks ended after 0:\d\d", shown[-1])
    assert all(" of 6 tasks ended" in line for line in shown)
    assert [task["subtasks"] for task in outcome.results["wait"]["tasks"]] == [[]] * 6


@pytest.mark.nightly
@pytest.mark.smoke
def test_quiet_hidden_and_ordinary_tasks_show_no_progress(ansible, emulator):
    quiet = restart(SERVERS[0])
    quiet["oceanbase.ocp.server_restart"]["show_progress"] = False
    hidden, ordinary = restart(SERVERS[1], no_log="{{ secret }}"), restart(SERVERS[2], **ORDINARY)
    outcome = ansible.tasks(quiet, hidden, ordinary, vars={"secret": True}, **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    assert progress_lines(outcome.output) == []
    assert sum(emulator.restarts("OB_SERVER").values()) == 3


@pytest.mark.nightly
def test_progress_is_hidden_when_ok_results_are_hidden(ansible, emulator):
    ansible.environment["ANSIBLE_DISPLAY_OK_HOSTS"] = "false"
    outcome = ansible.tasks(restart(SERVERS[0]), **defaults(emulator))
    assert (outcome.rc, progress_lines(outcome.output)) == (0, []), outcome.output


# Faults of the service


FAULT = {"kind": "http", "match": {"path": "/api/v2/tasks/*"}, "action": "error", "status": 503, "times": 6}


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/emulator/faults", FAULT, "Service answers 503"),
        pytest.param(
            "/emulator/service/restart", {"seconds": 2}, "No answer from the service", marks=pytest.mark.nightly
        ),
    ],
    ids=["503", "restarted"],
)
def test_wait_survives_an_unresponsive_service(ansible, start_emulator, path, body, words):
    emulator = start_emulator("--step-seconds", "0.3")
    start = restart(SERVERS[0], register="started")
    start["oceanbase.ocp.server_restart"]["wait"] = False
    wait = {"name": "wait", "oceanbase.ocp.task_wait": {"task_ids": "{{ started.task_id }}"}}
    outcome = ansible.tasks(start, control(emulator, "break", path, body), wait, **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    assert re.fullmatch(rf"  {words} after 0:\d\d; the wait goes on", progress_lines(outcome.output)[0])
    assert " SUCCESSFUL, " in progress_lines(outcome.output)[-1]
    assert "the wait went on" in str(outcome.results["wait"]["warnings"])
    assert outcome.result["tasks"][0]["succeeded"] is True
