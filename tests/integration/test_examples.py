# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each example, by the command of its table, on an emulator: what it restarts, and nothing when it runs again."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
import yaml
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from repository import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
TABLE = dict(
    re.findall(r"^\| \[([\w.]+)\]\(\1[/\w.]*\) \| .* \| `(.*)` \|$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
)
# Of what is no playbook, or needs another clock.
ELSEWHERE = {
    "eda": "test_eda.py",
    "emulator": "test_emulator_tasks.py",
    "molecule": "test_molecule.py",
    "night_shift.yml": "test_approved_plan.py",
}
ORDERS = [f"10.0.0.{last}:2882" for last in range(1, 7)]
PAYMENTS = [f"10.0.0.{last}:2882" for last in range(7, 10)]
RESTARTED = {
    "parameter_rollout.yml": ORDERS,
    "rolling.yml": [*ORDERS, *PAYMENTS],
    "fleet.yml": ["10.0.0.1:2882", "10.0.0.3:2882", "10.0.0.7:2882"],
    "agents.yml": [],
    "awx_survey": [*ORDERS[:3], *PAYMENTS],
    "own_gate": PAYMENTS,
    "load_balancer": ORDERS,
    "retry_policy.yml": ["10.0.0.1:2882", "10.0.0.7:2882"],
}


@pytest.fixture
def example(ansible, emulator, connect, tmp_path):
    """Run an example by the command of the table in a folder of its own, with ``change.txt``."""
    connect(emulator)
    # What the service shows of a start is cut off to the second.
    subprocess.run("date --iso-8601=seconds --date='2 seconds ago' > change.txt", shell=True, cwd=tmp_path, check=True)

    def run(name, *arguments):
        command = re.sub(r"(?<= )(?=\w+(/\w+)?\.yml)", f"{EXAMPLES}/", TABLE[name])
        command = command.replace("https://shop.example.com/health", f"{emulator.url}/openapi.json")
        return subprocess.run(
            ["bash", "-c", " ".join([command, *arguments])],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), **ansible.variables()},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_table_has_each_example_and_a_test_runs_it():
    there = {path.name for path in EXAMPLES.iterdir()} - {"README.md"}
    assert (set(TABLE), len(TABLE)) == (there, 12)
    assert there == {*RESTARTED, *ELSEWHERE}
    tests = REPOSITORY / "tests/integration"
    assert all(f"examples/{name}" in (tests / test).read_text() for name, test in ELSEWHERE.items())


def test_examples_pass_the_syntax_check(commands, tmp_path):
    files = [
        path for path in EXAMPLES.rglob("*.yml") if "hosts: localhost" in path.read_text() and "eda" not in path.parts
    ]
    run = subprocess.run(
        [commands / "ansible-playbook", "--syntax-check", "-e", "change=0", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_survey_asks_for_the_variables_of_its_playbook():
    survey = json.loads((EXAMPLES / "awx_survey/survey.json").read_text())
    [asked] = survey["spec"]
    playbook = (EXAMPLES / "awx_survey/playbook.yml").read_text()
    assert f"{{{{ {asked['variable']} }}}}" in playbook
    assert asked["required"] is True
    assert asked["min"] <= len("2026-05-04T03:00:00Z") < len("2026-05-04T03:00:00.123456+08:00") <= asked["max"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "retry_policy.yml" else [pytest.mark.nightly]) for name in RESTARTED],
)
def test_example_restarts_once(example, emulator, name, tmp_path):
    if name == "retry_policy.yml":
        emulator.fail_subtask("Start observer process")
    first = example(name)
    assert first.returncode == 0, first.stdout + first.stderr
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(RESTARTED[name], 1)
    if name == "agents.yml":
        assert set(emulator.restarts("HOST").values()) == {1}
    if name == "retry_policy.yml":
        assert "Start observer process" in (tmp_path / "restarts.html").read_text()
    sent = emulator.requests("POST")
    again = example(name)
    assert again.returncode == 0, again.stdout + again.stderr
    assert emulator.requests("POST") == sent
    assert list(tmp_path.glob("*.down")) == []


@pytest.mark.nightly
def test_check_mode_of_the_examples_sends_nothing(example, emulator):
    for name in RESTARTED:
        run = example(name, "--check")
        assert run.returncode == 0, run.stdout + run.stderr
    assert emulator.requests("POST") == []


@pytest.mark.nightly
def test_gate_that_does_not_open_stops_the_run(example, emulator):
    run = example("own_gate", f"-e gate_url={emulator.url}/nothing", "-e gate_retries=1")
    assert run.returncode != 0
    assert emulator.requests("POST") == []


@pytest.mark.nightly
def test_page_on_uri_restarts_by_both_plays(ansible, emulator, change):
    plays = [yaml.safe_load(block.replace(EXAMPLE_URL, emulator.url)) for block in blocks("docs/from-uri.md", "yaml")]
    for [play] in plays:
        play["vars"] = {**SECRETS, "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    # Not in ten seconds, but at once.
    plays[0][0]["tasks"][1]["delay"] = 0.2
    for number, play in enumerate(plays, 1):
        outcome = ansible.playbook(play, arguments=f"-e change={change}")
        assert outcome.rc == 0, outcome.output
        # The first play has restarted it since, so the second one leaves it alone.
        assert (emulator.restarts("OB_SERVER"), number) == ({"10.0.0.1:2882": 1}, number)


@pytest.mark.nightly
def test_commands_of_the_cheat_sheet_run(ansible, emulator, connect, tmp_path):
    connect(emulator)
    commands = [line for block in blocks("docs/cheat-sheet.md", "console") for line in block.splitlines()]
    assert len(commands) > 10
    script = "\n".join(["set -eu", *(command.removeprefix("$ ") for command in commands[:-1])])
    environment = {"HOME": str(tmp_path), **ansible.variables()}
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert emulator.restarts("OB_SERVER") == {f"10.0.0.{last}:2882": 1 for last in range(1, 7)}
    # The last one needs a task that has failed.
    emulator.fail_subtask("Start observer process")
    failed = ansible.module("server_restart", cluster="payments", server="10.0.0.7:2882", freeze_server=True, wait=True)
    retry = commands[-1].removeprefix("$ ").replace("1001", str(failed["task_id"]))
    done = subprocess.run(
        ["bash", "-c", retry], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_cheat_sheet_is_one_page():
    assert len((REPOSITORY / "docs/cheat-sheet.md").read_text().splitlines()) <= 80
