# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the pages and the plugins' EXAMPLES show is run as it stands, against an emulator in the place of the OCP."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shlex
import subprocess

import pytest
import requests
import yaml
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from execution_path import ran_as
from repository import REPOSITORY


def examples(plugin):
    tree = ast.parse(plugin.read_text())
    return next(
        statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "EXAMPLES"
    )


def plugins(kind):
    return sorted((REPOSITORY / "plugins" / kind).glob("*.py"))


# Modules one by one, each with a journal of its own: their emulators have the same clusters.
@pytest.mark.parametrize(
    "shown",
    [
        *(pytest.param([module], id=module.stem, marks=pytest.mark.nightly) for module in plugins("modules")),
        pytest.param(plugins("filter"), id="filter", marks=pytest.mark.nightly),
        pytest.param(plugins("lookup"), id="lookup"),
    ],
)
def test_plugin_examples_run(ansible, start_emulator, shown):
    variables = {**SECRETS, "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    common = {"connection": "local", "gather_facts": False, "vars": variables}
    # A host for each plugin, since what is registered stays with the host.
    plays = [
        {
            "hosts": plugin.stem,
            **common,
            "tasks": yaml.safe_load(examples(plugin).replace(EXAMPLE_URL, start_emulator().url)),
        }
        for plugin in shown
    ]
    hosts = ",".join(plugin.stem for plugin in shown)
    outcome = ansible.playbook(plays, arguments=f"--inventory {hosts},")
    assert outcome.rc == 0, outcome.output
    assert outcome.output.count("\nPLAY [") == len(shown) > 0


def test_quick_start_playbook_runs(ansible, emulator):
    [playbook] = blocks("docs/quick-start.md", "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = SECRETS
    outcome = ansible.playbook(plays)
    assert outcome.rc == 0, outcome.output
    assert len(emulator.requests("POST")) == 4


@pytest.mark.nightly
def test_at_most_once_playbook_changes_nothing_on_the_second_run(ansible, emulator):
    [playbook] = blocks("docs/at-most-once-reference.md", "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = SECRETS
    first, again = ansible.playbook(plays), ansible.playbook(plays)
    assert (first.rc, again.rc) == (0, 0), first.output + again.output
    assert " changed=0 " in again.output, again.output
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1, "10.0.0.2:2882": 1}
    assert emulator.restarts("HOST") == {"10.0.0.1": 1, "10.0.0.2": 1}


FLEET, _START, _RECORDED, FAULTS, *PLAYBOOKS, _ROLE = blocks("docs/emulator-reference.md", "yaml")


def test_emulator_page_fleet_file_is_served(ansible, start_emulator, tmp_path):
    (tmp_path / "fleet.yml").write_text(FLEET)
    emulator = start_emulator("--fleet", str(tmp_path / "fleet.yml"))
    dba = {"username": "dba", "password": "not-a-secret"}
    result = ansible.module("cluster_restart", url=emulator.url, cluster="shop", wait=True, **dba)
    assert [member["name"] for member in result["after"]["members"]] == [f"10.1.0.{last}:2882" for last in (1, 2, 3, 4)]


def test_emulator_page_fault_file_is_planned(ansible, start_emulator, tmp_path):
    (tmp_path / "faults.yml").write_text(FAULTS)
    emulator = start_emulator("--faults", str(tmp_path / "faults.yml"))
    options = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
    result = ansible.module("server_restart", url=emulator.url, **options, **BASIC)
    assert result["task"]["succeeded"] is True
    assert emulator.log.count(" 503 ") == 3
    plan = requests.get(f"{emulator.url}/emulator/faults", auth=tuple(BASIC.values()), timeout=10).json()["data"]
    assert [fault["hits"] for fault in plan["contents"]] == [3, 1]


@pytest.mark.nightly
@pytest.mark.parametrize("playbook", PLAYBOOKS, ids=range(len(PLAYBOOKS)))
def test_emulator_page_playbooks_run(ansible, emulator, playbook):
    outcome = ansible.playbook(yaml.safe_load(playbook.replace("http://127.0.0.1:8080", emulator.url)))
    assert outcome.rc == 0, outcome.output


def test_emulator_page_has_a_valid_example_of_every_fault_action(emulator):
    rows = re.findall(
        r"^\| `(\w+)` \|.* \| `(\{.*\})` \|$", (REPOSITORY / "docs/emulator-reference.md").read_text(), re.MULTILINE
    )
    assert rows
    for action, example in rows:
        fault = json.loads(example)
        assert fault["action"] == action
        emulator.post("/emulator/faults", fault)
    document = requests.get(f"{emulator.url}/openapi.json", timeout=10).json()
    forms = document["components"]["schemas"]
    body = document["paths"]["/emulator/faults"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    kinds = [forms[each["$ref"].rpartition("/")[2]]["properties"] for each in body["oneOf"]]
    documented = [(kind["kind"]["const"], action) for kind in kinds for action in kind["action"]["enum"]]
    assert sorted(documented) == sorted((json.loads(example)["kind"], action) for action, example in rows)


@pytest.mark.nightly
def test_where_modules_run_playbook_uses_the_documented_paths(ansible, emulator):
    [playbook] = blocks("docs/where-modules-run.md", "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = SECRETS
    outcome = ansible.playbook(plays, arguments="-vvv")
    assert (outcome.rc, ran_as(outcome.output)) == (0, {"in-process": 1, "ordinary": 1}), outcome.output
    here, there = re.findall(r"Running (\S+) (?:in the|as an)", outcome.output)
    assert (here, there) == ("oceanbase.ocp.task_info", "oceanbase.ocp.cluster_restart")


@pytest.mark.nightly
def test_progress_page_playbooks_run(ansible, start_emulator):
    restart, fleet = blocks("docs/progress.md", "yaml")
    for playbook, options in (restart, []), (fleet, ["--clusters", "1", "--servers-per-zone", "10"]):
        emulator = start_emulator(*options)
        ansible.environment = {"OCP_URL": emulator.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": "ocp-demo-1"}
        outcome = ansible.playbook(yaml.safe_load(playbook))
        assert outcome.rc == 0, outcome.output
        assert set(emulator.restarts("OB_SERVER").values()) == {1}
    assert "  30 of 30 tasks ended after " in outcome.output


@pytest.mark.nightly
def test_failures_page_playbook_retries_the_task(ansible, emulator, tmp_path):
    _hinting, playbook = blocks("docs/failures.md", "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = {**SECRETS, "playbook_dir": str(tmp_path)}
    emulator.fail_subtask("Start observer process", times=2)
    outcome = ansible.playbook(plays)
    assert outcome.rc == 0, outcome.output
    assert [line for line in emulator.log.splitlines() if "retried by admin" in line]
    assert "Start observer process" in (tmp_path / "restart.html").read_text()


def test_failures_page_playbook_has_messages_that_name_its_own_variables(ansible, start_emulator, connect):
    playbook, _retrying = blocks("docs/failures.md", "yaml")
    connect(start_emulator("--clusters", "1", "--zones", "2"))
    outcome = ansible.playbook(yaml.safe_load(playbook.replace("orders", "cluster1")))
    assert outcome.rc == 2
    assert outcome.result["msg"].endswith("To go on, ask for -e nightly_safety=none this time.")


def test_failures_page_shows_the_actual_message(ansible, emulator):
    [shown] = blocks("docs/failures.md", "text")
    emulator.fail_subtask("Start observer process")
    options = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
    said = ansible.module("server_restart", url=emulator.url, **options, **BASIC)["msg"]

    def fixed(message: str) -> list[str]:
        lines = [line for line in message.splitlines() if not re.match("  [#2]", line)]
        return re.sub(
            r"[0-9.]+ seconds?|subtask [0-9.]+\.$|Trace id \w+", "", "\n".join(lines), flags=re.MULTILINE
        ).split()

    assert fixed(shown) == fixed(said)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("page", "recordings", "name"),
    [
        ("README.md", "README_RECORDINGS", "restart"),
        ("README.md", "README_RECORDINGS", "failed"),
        ("docs/safety.md", "SAFETY_RECORDINGS", "refusal"),
    ],
)
def test_recordings_of_commands_are_what_these_print(page, recordings, name, tmp_path, monkeypatch):
    """They leave the user's own journal alone."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))
    record = runpy.run_path(str(REPOSITORY / "tools" / "record"))
    text = (REPOSITORY / page).read_text()

    def fixed(text: str) -> list[str]:
        """Without times and trace ids, and without how far it is, which depends on when it is asked."""
        varies = r'[0-9T:+.-]+ (ERROR|INFO)|[0-9.]+ s\b.*|Trace id \w+|"(elapsed|duration|trace_id)": [0-9a-f."]+'
        lines = [re.sub(varies, "", line) for line in text.splitlines()]
        return [re.sub(r"(RUNNING) \d+/13.*|[0-9.]+ seconds?, the subtask [0-9.]+", r"\1", line) for line in lines]

    shown = re.search(rf"<!-- recording: {name} -->\n```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    assert fixed(record["record"](record[recordings][name], "", 0.1)) == fixed(shown)
    assert not (tmp_path / "oceanbase.ocp").exists()


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_recording_of_a_night_shift_is_what_it_prints():
    record = runpy.run_path(str(REPOSITORY / "tools" / "record"))
    page = (REPOSITORY / "docs/approved-plan.md").read_text()

    def fixed(text: str) -> str:
        """Without dates, durations and digests, whose lengths decide where lines are folded."""
        varies = r"sha256:\w+|\d{4}-\d\d-\d\d\d\d:\d\d|in[\d.]+s,|[Aa]bout(\d+h)?\d+min|took\d+seconds"
        return re.sub(varies, "", re.sub(r"\s+", "", text))

    shown = re.search(r"<!-- recording: nights -->\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    assert fixed(record["record_nights"]()) == fixed(shown)


@pytest.mark.nightly
def test_recording_of_two_controllers_is_what_they_print():
    record = runpy.run_path(str(REPOSITORY / "tools" / "record"))
    page = (REPOSITORY / "docs/journal.md").read_text()

    def fixed(text: str) -> list[str]:
        """Without the steps, which depend on when each run begins."""
        return [line for line in text.splitlines() if not re.match(r"  \d+ .*(/13|SUCCESSFUL)|  \.\.\.", line)]

    shown = re.search(r"<!-- recording: shared -->\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    # Long enough for the second run to come while the server restarts.
    assert fixed(record["record_shared"](4)) == fixed(shown)


@pytest.mark.parametrize("page", ["README.md", pytest.param("docs/quick-start.md", marks=pytest.mark.nightly)])
def test_ad_hoc_commands_on_pages_run(emulator, executables, tmp_path, page):
    export, *commands = next(block for block in blocks(page, "console") if "$ ansible localhost" in block).splitlines()
    variables = dict(word.split("=", 1) for word in shlex.split(export.removeprefix("$ export ")))
    variables |= {"OCP_URL": emulator.url, "OCP_PASSWORD": SECRETS["ocp_password"], "HOME": str(tmp_path)}
    for command in commands:
        program, *arguments = shlex.split(command.removeprefix("$ "))
        run = subprocess.run(
            [executables / program, *arguments],
            env={"PATH": f"{executables}:/usr/bin:/bin", **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
    assert '"verified": true' in run.stdout


@pytest.mark.nightly
def test_rolling_restart_page_runbook_runs(ansible, emulator, tmp_path):
    page = "docs/rolling-restart.md"
    for file in blocks(page, "yaml"):
        (tmp_path / file.splitlines()[0].removeprefix("# ")).write_text(file)
    commands = [line.removeprefix("$ ") for block in blocks(page, "console") for line in block.splitlines()]
    # The first way restarts all of them too; test_parameter_rollout.py has it.
    commands = [command for command in commands if "change.yml" not in command]
    script = "set -eu\n" + "\n".join(commands)
    script = script.replace(EXAMPLE_URL, emulator.url).replace("OCP_PASSWORD=...", f"OCP_PASSWORD={BASIC['password']}")
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), **ansible.variables()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert emulator.restarts("OB_SERVER") == {f"10.0.0.{last}:2882": 1 for last in range(1, 10)}
    assert emulator.restarts("HOST") == {f"10.0.0.{last}": 1 for last in (1, 2, 3)}
    assert emulator.restarts("ARBITRATION_SERVICE") == {"10.0.0.10:2888": 1}
    assert list(tmp_path.glob("*.down")) == []
    assert run.stdout.count("Take the node out of the load balancer") == 9
