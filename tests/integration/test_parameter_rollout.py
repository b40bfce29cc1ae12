# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The playbook parameter_rollout: set, restart who needs it, verify; again it does nothing, and killed it goes on."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import time

import pytest
import yaml
from documentation_blocks import blocks
from repository import REPOSITORY
from rolling import QUICK, UNTIL_SHOWN, names, once

PLAYBOOK = "oceanbase.ocp.parameter_rollout"
KILLS = int(os.environ.get("OCP_ROLLING_KILLS", "12"))
GOLDEN = 0.6180339887
FLEET = ("--clusters", "1", "--zones", "3", "--servers-per-zone", "1", *QUICK)
WANTED = {"stack_size": "5M"}


def plays(folder, clusters=("cluster1",), values=None, **more):
    given = {"clusters": list(clusters), "values": values or WANTED, "folder": str(folder), **more}
    variables = {f"parameter_rollout_{name}": given[name] for name in given}
    return [{"import_playbook": PLAYBOOK, "vars": {**variables, "rolling_restart_gate_timeout": 60}}]


def running_with(emulator):
    """The values that servers really run with."""
    return {each["parameters"]["stack_size"]["value"] for each in emulator.get("/emulator/parameters")["contents"]}


def kept(folder):
    """The files with values of before, by their names."""
    return {file.name: file.read_text() for file in folder.glob("parameter_rollout-*.yml")}


def test_values_are_set_and_in_effect_once_and_can_be_set_back(ansible, connect, start_emulator, tmp_path):
    emulator = start_emulator(*FLEET)
    connect(emulator)
    # Nothing is written yet, so there is no command to undo it.
    check = ansible.playbook(plays(tmp_path), arguments="--check")
    assert check.rc == 0, check.output
    would = check.results["Show how to set them again"]["lines"][0]
    assert would.startswith(
        f"cluster1 runs with stack_size=512K. This run would save that in {tmp_path}/parameter_rollout-"
    )
    assert f"{PLAYBOOK} -e @" not in check.output
    assert (kept(tmp_path), emulator.requests("PUT")) == ({}, [])

    first = ansible.playbook(plays(tmp_path))
    assert first.rc == 0, first.output
    assert (running_with(emulator), emulator.restarts("OB_SERVER")) == ({"5M"}, once(emulator))
    [(name, before)] = kept(tmp_path).items()
    assert yaml.safe_load(before) == {
        "parameter_rollout_clusters": ["cluster1"],
        "parameter_rollout_values": {"stack_size": "512K"},
    }
    command = f"ansible-playbook {PLAYBOOK} -e @{tmp_path}/{name}"
    said = f"cluster1 ran with stack_size=512K before. To set that again: {command}"
    assert first.results["Show how to set them again"]["lines"][0] == said

    again = ansible.playbook(plays(tmp_path))
    assert again.rc == 0, again.output
    assert " changed=0 " in again.output
    assert again.results["Show how to set them again"]["lines"][0] == said
    assert (emulator.restarts("OB_SERVER"), kept(tmp_path)) == (once(emulator), {name: before})


def before(server_values, known=None, wanted="5M"):
    """A task that tells what ran before, where these values were read, and an earlier run kept the ``known`` ones."""
    templates = REPOSITORY / "playbooks/templates"
    pending = [server for server, value in server_values.items() if value != wanted]
    return {
        "ansible.builtin.debug": {
            "msg": f"{{{{ lookup('ansible.builtin.template', '{templates}/values_of_before.txt.j2') }}}}"
        },
        "vars": {
            "parameter_rollout__found": {
                "cluster": {"name": "orders"},
                "parameters": [{"name": "stack_size", "pending": pending, "server_values": server_values}],
            },
            "parameter_rollout__known": known or {},
            "parameter_rollout__before": (
                f"{{{{ lookup('ansible.builtin.template', '{templates}/values_of_before.json.j2')"
                " | regex_search('{.*}') | from_json }}"
            ),
            "parameter_rollout__kept": "{{ parameter_rollout__before.undo == parameter_rollout__known }}",
            "parameter_rollout__path": "/home/ops/orders.yml",
            "parameter_rollout__command": "undo ",
        },
    }


UNDO = "orders ran with stack_size=512K before. To set that again: undo /home/ops/orders.yml\n"
DIFFERENT = "orders ran with different values of stack_size: "


def test_undo_is_given_where_one_value_ran_before(ansible):
    old, new, other, none = ("a", "512K"), ("b", "5M"), ("b", "1M"), ("b", None)
    cases = {
        "all alike": (before(dict([old])), UNDO),
        "half done by nobody knows whom": (
            before(dict([old, new])),
            f"{DIFFERENT}512K on a; 5M on b. No command sets them all again.\n",
        ),
        "half done by an earlier run": (before(dict([old, new]), {"stack_size": "512K"}), UNDO),
        "another value since": (
            before(dict([old, other]), {"stack_size": "512K"}),
            f"{DIFFERENT}512K on a; 1M on b. No command sets them all again.\n",
        ),
        "not shown": (
            before(dict([old, none])),
            f"{DIFFERENT}512K on a; none shown on b. No command sets them all again.\n",
        ),
        "not shown now": (before(dict([old, none]), {"stack_size": "512K"}), UNDO),
        "nothing to do": (before(dict([new])), ""),
        "done": (before(dict([new]), {"stack_size": "512K"}), UNDO),
    }
    outcome = ansible.each({name: task for name, (task, _words) in cases.items()})
    assert {name: outcome.results[name]["msg"] or "" for name in cases} == {
        name: words for name, (_task, words) in cases.items()
    }


def test_value_that_is_not_shown_is_no_value(ansible):
    found = {
        "cluster": {"name": "orders"},
        "parameters": [{"name": "stack_size", "server_values": {"10.0.0.1:2882": "5M", "10.0.0.2:2882": None}}],
    }
    template = REPOSITORY / "playbooks/templates/values_of_servers.txt.j2"
    outcome = ansible.tasks(
        {
            "name": "Show",
            "ansible.builtin.debug": {"msg": f"{{{{ lookup('ansible.builtin.template', '{template}') }}}}"},
        },
        vars={"parameter_rollout__shown": [found], "parameter_rollout_values": WANTED},
    )
    assert outcome.results["Show"]["msg"].splitlines() == [
        "orders: stack_size=5M on 10.0.0.1:2882",
        "orders: stack_size is not shown on 10.0.0.2:2882",
    ]


@pytest.mark.nightly
def test_half_done_change_has_no_undo(ansible, connect, start_emulator, tmp_path):
    emulator = start_emulator(*FLEET)
    connect(emulator)
    server = {"cluster": "cluster1", "server": "10.0.0.2:2882", "freeze_server": False, "wait": True}
    half = ansible.tasks(
        {"oceanbase.ocp.cluster_parameter": {"cluster": "cluster1", "parameters": WANTED}},
        {"oceanbase.ocp.server_restart": server},
    )
    assert half.rc == 0, half.output
    emulator.advance(UNTIL_SHOWN)
    back = ansible.playbook(plays(tmp_path, values={"stack_size": "512K"}))
    assert back.rc == 0, back.output
    assert back.results["Show how to set them again"]["lines"] == [
        "cluster1 ran with different values of stack_size: 512K on 10.0.0.1:2882, 10.0.0.3:2882; 5M on 10.0.0.2:2882. "
        "No command sets them all again."
    ]
    assert (kept(tmp_path), running_with(emulator)) == ({}, {"512K"})


def test_refusals_of_the_restart_name_the_variables_of_this_playbook(ansible, connect, start_emulator, tmp_path):
    connect(start_emulator(*FLEET))
    wrong = ansible.playbook(plays(tmp_path, values={"stack_size": "50G"}))
    assert "parameter_rollout_values: stack_size: 50G is out of range" in wrong.output
    refused = ansible.playbook(plays(tmp_path, change="m" * 999))
    assert refused.rc == 2
    assert "parameter_rollout_change: a text of 999 characters is not the name of a change" in refused.result["msg"]


BAD = {
    "batch": ("rolling_restart_batch=x", "rolling_restart_batch: x is not a number"),
    "choice": ("rolling_restart_safety=non", "rolling_restart_safety must be one of"),
    "server": ('{"rolling_restart_servers": ["10.9.9.9:2882"]}', "10.9.9.9:2882"),
    "signs": ("rolling_restart_stop_on=lagg", "stop_on"),
    "instant": ("rolling_restart_stop_after=noon", "rolling_restart_stop_after"),
    "tasks": ("rolling_restart_judged_tasks=x", "judged_tasks"),
    "limit": ("rolling_restart_max_servers=-1", "rolling_restart_max_servers: -1 is out of range"),
    "own instant": ("parameter_rollout_started_before=noon", "parameter_rollout_started_before"),
    "task file": ("rolling_restart_before_node=/nowhere.yml", "/nowhere.yml is not the absolute path of a file"),
}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.nightly] * (name not in ("batch", "server", "task file")))
        for name, case in BAD.items()
    ],
)
def test_bad_variables_of_the_restart_are_refused_before_any_value_is_set(
    ansible, connect, emulator, tmp_path, given, words
):
    connect(emulator)
    refused = ansible.playbook(plays(tmp_path, clusters=("orders",)), arguments=f"-e '{given}'")
    assert (refused.rc, words in refused.output) == (2, True), refused.output
    assert (emulator.requests("POST"), emulator.requests("PUT"), kept(tmp_path)) == ([], [], {})


def test_failed_restart_is_told_once_and_no_task_is_shown_that_only_computes(
    ansible, connect, start_emulator, tmp_path
):
    emulator = start_emulator(*FLEET)
    connect(emulator)
    emulator.post(
        "/emulator/faults", {"kind": "subtask", "match": {"subtask": "Stop observer process"}, "action": "fail"}
    )
    failed = ansible.playbook(plays(tmp_path, change="memory"))
    assert failed.rc == 2
    # Before ansible-core 2.19 the message is in the result alone.
    assert failed.output.count("[ERROR]: ") <= 1
    assert failed.output.count("\nfatal: ") == 1
    assert "The restart did not succeed." not in failed.output
    assert "To set the previous values again in cluster1: " in failed.output
    assert "Set on cluster1, and not in effect on all its servers: stack_size=5M." in failed.output
    assert "Begin with an empty list" not in failed.output
    assert len(kept(tmp_path)) == 1


def test_extra_variables_do_not_restart_clusters_that_got_no_values(ansible, connect, emulator, tmp_path):
    """They win over what the playbook gives to the role."""
    connect(emulator)
    extra = {"rolling_restart_clusters": ["orders"], "rolling_restart_change": "other"}
    refused = ansible.playbook(plays(tmp_path, clusters=["payments"]), arguments=shlex.join(["-e", json.dumps(extra)]))
    assert refused.rc == 2
    assert (
        "rolling_restart_clusters, rolling_restart_change: cannot be used with this playbook, which restarts for its "
        "own values; give parameter_rollout_clusters, parameter_rollout_change. Nothing was sent."
    ) in refused.result["msg"]
    assert emulator.log.count("/api/") == 0


@pytest.mark.nightly
def test_service_that_shows_the_new_value_at_once_asks_for_the_instant(
    ansible, connect, start_emulator, tmp_path, change
):
    emulator = start_emulator("--parameter-values", "set", *FLEET)
    connect(emulator)
    refused = ansible.playbook(plays(tmp_path))
    assert refused.rc == 2
    said = refused.result["msg"]
    assert (
        "In this playbook, started_before is the variable parameter_rollout_started_before; this run set the values at "
        "20" in said
    )
    assert emulator.restarts("OB_SERVER") == {}
    outcome = ansible.playbook(plays(tmp_path, started_before=change))
    assert outcome.rc == 0, outcome.output
    assert (running_with(emulator), emulator.restarts("OB_SERVER")) == ({"5M"}, once(emulator))


@pytest.mark.nightly
def test_dynamic_parameter_needs_no_restart(ansible, connect, start_emulator, tmp_path):
    emulator = start_emulator(*FLEET)
    connect(emulator)
    outcome = ansible.playbook(plays(tmp_path, values={"server_permanent_offline_time": "2h"}))
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == {}
    assert "server_permanent_offline_time=2h on 10.0.0.1:2882" in outcome.output


# The value is looked at for three minutes.
@pytest.mark.nightly
def test_value_without_effect_says_who_runs_with_what_and_how_to_go_back(ansible, connect, start_emulator, tmp_path):
    emulator = start_emulator("--static-parameters", "never", *FLEET)
    connect(emulator)
    outcome = ansible.playbook(plays(tmp_path))
    assert outcome.rc == 2
    message = outcome.results["Show what failed"]["msg"]
    assert "shows stack_size=512K instead of 5M" in message
    shown = outcome.output[: outcome.output.index(message.splitlines()[0])]
    assert "\ncluster1: stack_size=512K on 10.0.0.1:2882, 10.0.0.2:2882, 10.0.0.3:2882\n" in shown
    [name] = kept(tmp_path)
    command = f"ansible-playbook {PLAYBOOK} -e @{tmp_path}/{name}"
    assert f"\nTo set the previous values again in cluster1: {command}\n" in shown
    assert sum(emulator.restarts("OB_SERVER").values()) == 1


def stages(text):
    return text.count("\nTASK [")


# Of an undisturbed run.
COUNTED: list[int] = []


@pytest.fixture
def run(ansible, connect, tmp_path):
    """Start the playbook; returns the process and what it has printed so far."""

    def start(emulator, name):
        connect(emulator)
        process = ansible.start(plays(tmp_path), name)
        return process, lambda: ansible.output(name).read_text()

    return start


@pytest.fixture
def last_stage(run, start_emulator):
    if not COUNTED:
        undisturbed, text = run(start_emulator(*FLEET), "undisturbed")
        assert undisturbed.wait(timeout=120) == 0, text()
        COUNTED.append(stages(text()))
    return COUNTED[0]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_run_is_ended_by_the_next_one(ansible, run, last_stage, start_emulator, tmp_path, seed):
    for file in tmp_path.glob("parameter_rollout-*.yml"):
        file.unlink()
    stage = 1 + int(last_stage * (seed * GOLDEN % 1))
    # Half a second for a restart, so that some are killed in the middle of one.
    emulator = start_emulator(*FLEET[:-1], "0.03")
    process, text = run(emulator, "killed")
    while stages(text()) < stage and process.poll() is None:
        time.sleep(0.01)
    # At any moment of the stage; no rule about time is proven by it.
    time.sleep(random.Random(seed).uniform(0, 2.0))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    ansible.end()

    again, text = run(emulator, "again")
    assert again.wait(timeout=240) == 0, text()
    assert (running_with(emulator), emulator.restarts("OB_SERVER")) == ({"5M"}, once(emulator))
    assert [yaml.safe_load(each)["parameter_rollout_values"] for each in kept(tmp_path).values()] == [
        {"stack_size": "512K"}
    ]


@pytest.mark.nightly
def test_page_shows_the_actual_output_for_three_clusters_of_nine_servers(ansible, connect, start_emulator, tmp_path):
    page = "docs/rolling-restart.md"
    [command] = [block for block in blocks(page, "yaml") if block.startswith("# change.yml")]
    assert len(command.splitlines()) == 4
    clusters = [
        {"name": name, "zones": [{"name": f"zone{zone}", "servers": servers(number, zone)} for zone in (1, 2, 3)]}
        for number, name in enumerate(("orders", "payments", "stock"))
    ]
    (tmp_path / "fleet.yml").write_text(yaml.safe_dump({"clusters": clusters}))
    emulator = start_emulator("--fleet", str(tmp_path / "fleet.yml"), *QUICK)
    connect(emulator)
    ansible.environment["PWD"] = str(tmp_path)
    outcome = ansible.playbook(yaml.safe_load(command))
    assert outcome.rc == 0, outcome.output
    assert (running_with(emulator), emulator.restarts("OB_SERVER")) == ({"5M"}, once(emulator))
    assert len(names(emulator)) == 27
    [shown] = [block for block in blocks(page, "text") if "27 servers: 27" in block]
    lines = iter(map(fixed, outcome.output.splitlines()))
    for line in filter(lambda each: each != "...", shown.splitlines()):
        assert any(fixed(line).strip() in each for each in lines), line


def servers(number, zone):
    return [{"ip": f"10.{number}.{zone}.{last}"} for last in (1, 2, 3)]


def fixed(line):
    """Without what differs from run to run: times, folders and hashes."""
    return re.sub(r"[0-9.]+ s\b|about .*|@\S*/|-[0-9a-f]{8}(?=\.yml)", "", line)
