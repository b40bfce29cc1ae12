# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which tasks run in the controller's process, and which as ordinary modules."""

from __future__ import annotations

import sys

import pytest
from credentials import BASIC
from execution_path import executable, ran_as, sudo

READ = {"name": "read", "oceanbase.ocp.task_info": {"limit": 1}}
HERE, THERE = {"in-process": 1}, {"ordinary": 1}
ELSEWHERE = """
from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = '''
name: elsewhere
short_description: Runs on this host, and does not say so
description: Runs on this host.
options: {}
'''


class Connection(Local):
    transport = "elsewhere"
"""
# An interpreter for modules that has the requests that the controller has not.
WITH_REQUESTS = f"""#!/bin/sh
unset PYTHONPATH
exec {sys.executable} "$@"
"""


@pytest.fixture
def play(ansible, emulator, tmp_path):
    """Run tasks with the connection given; returns the outcome."""
    ansible.environment["ANSIBLE_ASYNC_DIR"] = str(tmp_path / "async")

    def run(*tasks, arguments="", **keywords):
        defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
        return ansible.tasks(*tasks, arguments=f"-vvv {arguments}", module_defaults=defaults, **keywords)

    return run


@pytest.mark.nightly
@pytest.mark.smoke
def test_execution_path_follows_the_task_keywords(play):
    keywords = [
        ({}, HERE),
        ({"environment": {"X": "y"}}, THERE),
        ({"environment": "{{ empty }}"}, HERE),
        ({"async": 30, "poll": 1}, THERE),
        ({"async": 30, "poll": 0}, THERE),
        ({"vars": {"ansible_python_interpreter": "/nowhere/python"}}, HERE),
        ({"run_once": True, "throttle": 1, "timeout": 60}, HERE),
    ]
    outcome = play(*({**READ, **task} for task, _path in keywords), vars={"empty": {}})
    assert outcome.rc == 0, outcome.output
    assert [ran_as(printed) for printed in outcome.of_each_task()] == [path for _task, path in keywords], outcome.output


@pytest.mark.nightly
def test_environment_of_play_or_block_forces_the_ordinary_module(ansible, emulator):
    forms = [{"environment": {"X": "y"}}, {"environment": [{"X": "y"}]}]
    plays = [{**form, "tasks": [READ]} for form in forms]
    plays += [{"tasks": [{"block": [READ], **form}, READ]} for form in forms]
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    common = {"hosts": "localhost", "gather_facts": False, "module_defaults": defaults}
    outcome = ansible.playbook([{**common, **play} for play in plays], arguments="-vvv")
    assert outcome.rc == 0, outcome.output
    ran = [ran_as(printed) for printed in outcome.of_each_task()]
    assert ran == [THERE, THERE, THERE, HERE, THERE, HERE], outcome.output


def test_become_forces_the_ordinary_module(play, tmp_path):
    variables = {"ansible_become_exe": sudo(tmp_path)}
    by_task, by_variable = {**READ, "become": True}, {**READ, "vars": {"ansible_become": True}}
    for outcome in (play(by_task, by_variable, vars=variables), play(READ, vars=variables, arguments="--become")):
        assert outcome.rc == 0, outcome.output
        for printed in outcome.of_each_task():
            assert ran_as(printed) == THERE, outcome.output
            assert "since the task has become" in printed


@pytest.fixture
def elsewhere(tmp_path):
    """The variables of a play whose connection is not local, though it stays on this machine."""
    (tmp_path / "connection_plugins").mkdir()
    (tmp_path / "connection_plugins" / "elsewhere.py").write_text(ELSEWHERE)
    return {"ansible_connection": "elsewhere"}


def test_nonlocal_connection_forces_the_ordinary_module(play, elsewhere):
    outcome = play(READ, vars=elsewhere)
    assert (outcome.rc, ran_as(outcome.output)) == (0, THERE), outcome.output
    assert "since the connection is elsewhere" in outcome.output


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({}, id="alone", marks=pytest.mark.nightly),
        pytest.param({"ocp_cluster": "orders"}, id="beside ocp_cluster"),
    ],
)
def test_address_of_ocp_under_the_name_of_a_server_is_no_database_server(play, elsewhere, others):
    outcome = play(READ, vars={**elsewhere, **others, "ocp_server": "https://ocp.example.com"})
    assert (outcome.rc, ran_as(outcome.output)) == (0, THERE), outcome.output


def test_database_server_by_a_template_is_refused(play, elsewhere, emulator):
    named = {"ocp_cluster": "orders", "own_address": "10.0.0.1", "ocp_server": "{{ own_address }}:2882"}
    outcome = play(READ, vars={**elsewhere, **named})
    assert outcome.rc == 2
    assert "is a database server, and the connection is elsewhere; nothing was sent." in outcome.output
    assert "/api/" not in emulator.log


def test_task_delegated_to_localhost_runs_in_process(ansible, emulator):
    delegated = {**READ, "delegate_to": "localhost", "loop": [1, 2]}
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    play = {"hosts": "far", "gather_facts": False, "module_defaults": defaults, "tasks": [delegated]}
    outcome = ansible.playbook([play], arguments="-vvv --inventory far,")
    assert (outcome.rc, ran_as(outcome.output)) == (0, {"in-process": 2}), outcome.output


def test_controller_without_requests_uses_the_ordinary_module(play, ansible, tmp_path):
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "requests.py").write_text("raise ImportError")
    ansible.environment["PYTHONPATH"] = str(tmp_path / "without")
    interpreter = executable(tmp_path / "python", WITH_REQUESTS)
    outcome = play(READ, vars={"ansible_python_interpreter": interpreter})
    assert (outcome.rc, ran_as(outcome.output)) == (0, THERE), outcome.output
    assert "since the controller's Python has no requests" in outcome.output


def test_both_paths_read_options_from_the_environment(ansible, emulator):
    ansible.environment = {"OCP_URL": emulator.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": "ocp-demo-1"}
    outcome = ansible.tasks(READ, {**READ, "environment": {"X": "y"}}, arguments="-vvv")
    assert (outcome.rc, ran_as(outcome.output)) == (0, HERE | THERE), outcome.output
