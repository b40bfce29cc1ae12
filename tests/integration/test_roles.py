# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The roles, as a playbook uses them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

import pytest
import requests
import yaml
from support import BASIC, REPOSITORY, blocks, kept_port


def wait_for(what, **variables):
    return {
        "name": "wait",
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.task_wait"},
        "vars": {"task_wait_tasks": what, **variables},
    }


def defaults(emulator, **credentials):
    return {"module_defaults": {"group/oceanbase.ocp.ocp": {"url": emulator.url, **(credentials or BASIC)}}}


RESTART = {"name": "restart", "oceanbase.ocp.cluster_restart": {"cluster": "payments"}, "register": "restart"}
LOOP = {
    "name": "loop",
    "oceanbase.ocp.server_restart": {
        "cluster": "{{ item }}",
        "server": "{{ servers[item] }}",
        "freeze_server": False,
        "in_flight": "fail",
    },
    "vars": {"servers": {"orders": "10.0.0.1:2882", "payments": "10.0.0.7:2882"}},
    "loop": ["orders", "payments"],
    "register": "loop",
}
AGENTS = {"name": "agents", "oceanbase.ocp.agent_restart": {"hosts": ["10.0.0.1"]}, "register": "agents"}
SHOW = {
    "name": "show",
    "ansible.builtin.debug": {"msg": "{{ task_wait_results | map(attribute='status') | list }}"},
}


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("tasks", "what", "number"),
    [
        ([RESTART], "{{ restart }}", 1),
        ([RESTART], "{{ restart.task_id }}", 1),
        ([LOOP], "{{ loop }}", 2),
        ([LOOP, AGENTS], ["{{ loop }}", "{{ agents }}", "{{ agents.task_id }}"], 3),
    ],
    ids=["result", "id", "loop", "mixed"],
)
def test_task_wait_accepts_ids_and_results(ansible, emulator, tasks, what, number):
    outcome = ansible.tasks(*tasks, wait_for(what), SHOW, **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    assert outcome.results["show"]["msg"] == ["SUCCESSFUL"] * number


def test_task_wait_skips_results_without_a_task(ansible, emulator):
    skipped = {**RESTART, "when": False}
    outcome = ansible.tasks(skipped, wait_for("{{ restart }}"), SHOW, **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    assert outcome.results["show"]["msg"] == []
    checked = ansible.tasks(LOOP, wait_for("{{ loop }}"), SHOW, arguments="--check", **defaults(emulator))
    assert checked.rc == 0, checked.output
    assert checked.results["show"]["msg"] == []
    assert emulator.requests("POST") == []


@pytest.mark.parametrize(
    "second",
    [
        wait_for([]),
        {"block": [wait_for("{{ restart }}", task_wait_retries=-1)], "rescue": [{"ansible.builtin.debug": {}}]},
        wait_for("{{ task_wait_results | map(attribute='id') }}"),
    ],
    ids=["nothing", "refused", "the same"],
)
def test_each_use_of_task_wait_replaces_the_results(ansible, emulator, second):
    outcome = ansible.tasks(
        RESTART, wait_for("{{ restart }}"), {**SHOW, "name": "first"}, second, SHOW, **defaults(emulator)
    )
    assert outcome.rc == 0, outcome.output
    assert outcome.results["first"]["msg"] == ["SUCCESSFUL"]
    again = "task_wait_results" in str(second)
    assert outcome.results["show"]["msg"] == ["SUCCESSFUL"] * again, outcome.output


@pytest.mark.parametrize(
    ("clusters", "servers", "reason"),
    [
        (["orders", "payments"], {"orders": "10.0.0.1:2882", "payments": "10.9.9.9:1"}, "10.9.9.9:1 matches nothing"),
        (["orders", "orders"], {"orders": "10.0.0.1:2882"}, "in_flight=fail was asked"),
    ],
    ids=["unknown", "busy"],
)
def test_task_wait_awaits_the_others_then_fails_for_unstarted_restarts(
    ansible, start_emulator, clusters, servers, reason
):
    emulator = start_emulator("--step-seconds", "0.4")
    half = {**LOOP, "loop": clusters, "vars": {"servers": servers}, "ignore_errors": True}
    outcome = ansible.tasks(half, wait_for("{{ loop }}"), **defaults(emulator))
    assert outcome.rc == 2
    assert reason in outcome.result["msg"]
    kept = outcome.results["Keep the tasks"]["ansible_facts"]["task_wait_results"]
    assert [task["status"] for task in kept] == ["SUCCESSFUL"]


def test_task_wait_keeps_the_tasks_after_a_timeout(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    outcome = ansible.tasks(RESTART, wait_for("{{ restart }}", task_wait_timeout=1), **defaults(emulator))
    assert outcome.rc == 2
    assert "is not finished after 1 seconds" in outcome.results["Wait until all tasks have ended"]["msg"]
    assert outcome.result["ansible_facts"]["task_wait_results"][0]["status"] == "RUNNING"


@pytest.mark.parametrize(("detail", "subtasks"), [("summary", 0), ("full", 19)])
@pytest.mark.parametrize("shown", [True, False])
def test_task_wait_applies_detail_and_progress_options(ansible, emulator, detail, subtasks, shown):
    variables = {"task_wait_detail": detail, "task_wait_show_progress": shown}
    outcome = ansible.tasks(RESTART, wait_for("{{ restart }}", **variables), **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    [task] = outcome.results["Keep the tasks"]["ansible_facts"]["task_wait_results"]
    assert len(task["subtasks"]) == subtasks
    assert (f"{task['id']} (Restart OB cluster)" in outcome.output) is shown


def test_task_wait_requires_its_tasks(ansible, emulator):
    outcome = ansible.tasks({"ansible.builtin.include_role": {"name": "oceanbase.ocp.task_wait"}}, **defaults(emulator))
    assert outcome.rc == 2
    assert "task_wait_tasks" in outcome.output


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
    apply("stopped")


def answers(port, scheme="http", **options):
    try:
        return requests.get(f"{scheme}://127.0.0.1:{port}/api/v2/time", timeout=5, **options).ok
    except requests.ConnectionError:
        return False


FLEET = "clusters: [{name: tilde, zones: [{name: zone1, servers: [{ip: 10.0.0.1}]}]}]"


def test_the_emulator_is_started_once_and_stopped(emulator_role):
    apply, port = emulator_role
    outcome, changed = apply("started")
    assert (outcome.rc, changed, answers(port)) == (0, True, True), outcome.output
    outcome, changed = apply("started")
    assert (outcome.rc, changed, answers(port)) == (0, False, True), outcome.output
    outcome, changed = apply("stopped")
    assert (outcome.rc, changed, answers(port)) == (0, True, False), outcome.output
    outcome, changed = apply("stopped")
    assert (outcome.rc, changed) == (0, False), outcome.output


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
        # The folder that the fixture has too, to stop it in any case.
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
    apply("stopped", **variables)
    assert [task["id"] for task in kept["tasks"]] == [restart["task_id"]]
    assert (home / "fleet.db").exists()


def test_emulator_role_applies_rate_limit_lockout_and_faults(emulator_role, tmp_path):
    apply, port = emulator_role
    (tmp_path / "faults.yml").write_text("[{kind: http, action: html, match: {path: /api/v2/status}}]")
    outcome, _changed = apply(
        "started",
        emulator_rate_limit=["2/3600", "50/86400"],
        emulator_max_attempts=1,
        emulator_faults=str(tmp_path / "faults.yml"),
    )
    assert outcome.rc == 0, outcome.output
    url = f"http://127.0.0.1:{port}/api/v2/info"
    answers = [requests.get(url, auth=tuple(BASIC.values()), timeout=5) for _call in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].headers["RateLimit-Limit"] == "2"
    codes = [requests.get(url, auth=("viewer", "x"), timeout=5).json()["error"]["code"] for _call in range(2)]
    assert codes == [30004, 30007]
    assert requests.get(f"http://127.0.0.1:{port}/api/v2/status", timeout=5).status_code == 502


def test_emulator_role_applies_the_documented_profile_and_switches(emulator_role):
    apply, port = emulator_role
    [play] = [block for block in blocks("docs/emulator.md", "yaml") if "emulator_profile" in block]
    [role] = yaml.safe_load(play)[0]["roles"]
    outcome, _changed = apply("started", **{key: value for key, value in role.items() if key != "role"})
    assert outcome.rc == 0, outcome.output
    paths = requests.get(f"http://127.0.0.1:{port}/openapi.json", timeout=10).json()["paths"]
    assert {"/compute/hosts/batchRestartAgents", "/api/v2/compute/hosts/batchRestartAgents"} <= set(paths)
    assert not any("arbitration" in path for path in paths if not path.startswith("/emulator/"))


def test_error_names_the_unknown_switch(emulator_role):
    apply, _port = emulator_role
    outcome, _changed = apply("started", emulator_switches={"agent_paths": "nowhere"})
    assert outcome.rc == 2
    assert "agent_paths" in outcome.output
    assert "nowhere" in outcome.output


def test_emulator_startup_failure_shows_its_cause(emulator_role):
    apply, _port = emulator_role
    outcome, _changed = apply("started", emulator_fleet="/nowhere/fleet.yml", emulator_start_timeout=5)
    assert outcome.rc == 2
    assert "it ended by itself" in outcome.result["msg"]
    assert "/nowhere/fleet.yml" in outcome.result["msg"]


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


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"port": 0}, "emulator_port: 0 is out of range; give 1 to 65535"),
        ({"port": "65536", "state": "stopped"}, "emulator_port: 65536 is out of range; give 1 to 65535"),
        ({"start_timeout": "0"}, "emulator_start_timeout: 0 is out of range; give 1 or more."),
    ],
    ids=["any port", "port", "no time"],
)
def test_emulator_role_refuses_numbers_out_of_range(ansible, given, sentence):
    role = {"ansible.builtin.include_role": {"name": "oceanbase.ocp.emulator"}}
    outcome = ansible.tasks({**role, "vars": {f"emulator_{name}": value for name, value in given.items()}})
    assert outcome.rc == 2
    assert outcome.result["msg"].startswith(sentence)


def test_emulator_role_starts_nothing_in_check_mode(emulator_role):
    apply, port = emulator_role
    outcome, changed = apply("started", arguments="--check")
    assert (outcome.rc, changed, answers(port)) == (0, True, False), outcome.output


def test_the_demo_shows_four_kinds_of_restart(ansible):
    outcome = ansible.playbook(
        str(REPOSITORY / "playbooks" / "demo.yml"), arguments=f"-e emulator_virtualenv={Path(sys.prefix)}"
    )
    assert outcome.rc == 0, outcome.output
    for kind in "Restart OB server", "Restart OB cluster", "Batch restart OCP agent", "Restart arbitration service":
        assert kind in outcome.output
