# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a rolling restart has drained is undrained by a later run, whatever has become of the run that drained it."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import yaml
from credentials import BASIC
from rolling import PLAYBOOK, QUICK, UNTIL_SHOWN, message, posts


@pytest.fixture
def drain(tmp_path):
    """Task files by which a node, or a zone, is drained while a file of its name is there."""

    def file(name, state):
        path = tmp_path / "drained" / name
        return {"name": f"Drain or undrain {state}", "ansible.builtin.file": {"path": str(path), "state": state}}

    (tmp_path / "drained").mkdir()
    given = {}
    for kind, name in (("node", "{{ rolling_restart_node.id }}"), ("zone", "{{ rolling_restart_batch_now.zone }}")):
        for when, state in (("before", "touch"), ("after", "absent")):
            path = tmp_path / f"{when}_{kind}.yml"
            path.write_text(yaml.safe_dump([file(name, state)]))
            given[f"{when}_{kind}"] = str(path)
    given["drained"] = lambda: sorted(each.name for each in (tmp_path / "drained").iterdir())
    return given


@pytest.mark.nightly
@pytest.mark.parametrize(("batch", "servers"), [(1, 3), pytest.param(5, 5, marks=pytest.mark.nightly)])
def test_nodes_are_undrained_after_a_failure_and_its_retry(roll, ansible, start_emulator, drain, batch, servers):
    emulator = start_emulator("--clusters", "1", "--zones", "3", "--servers-per-zone", str(servers), *QUICK)
    drained = drain.pop("drained")
    # The last that is started of the first batch.
    last = {"kind": "subtask", "match": {"taskId": 1000 + batch, "subtask": "Stop observer process"}, "action": "fail"}
    emulator.post("/emulator/faults", last)
    assert roll(emulator, ["cluster1"], zones=["zone2"], batch=batch, **drain).rc == 2
    first = sorted(map(str, range(servers + 1, servers + 1 + batch)))
    assert drained() == [*first, "zone2"]

    # As long as the task holds its node, those are undrained that serve.
    assert roll(emulator, ["cluster1"], zones=["zone2"], batch=batch, **drain).rc == 2
    assert drained() == [str(servers + batch), "zone2"]

    options = {"url": emulator.url, "task_id": 1000 + batch, "state": "retried", "wait": True, **BASIC}
    assert ansible.module("task", **options)["rc"] == 0
    outcome = roll(emulator, ["cluster1"], zones=["zone2"], batch=batch, **drain)
    assert outcome.rc == 0, outcome.output
    assert drained() == []
    assert sorted(posts(emulator)) == list(range(servers + 1, 2 * servers + 1))


def test_node_that_has_restarted_without_its_values_is_undrained_and_not_drained_again(
    roll, start_emulator, change, drain
):
    """No other restart is sent for it. An earlier run has drained it, restarted it, and failed."""
    emulator = start_emulator("--static-parameters", "never", *QUICK)
    emulator.put("/api/v2/ob/clusters/2/parameters", [{"name": "stack_size", "value": "5M"}])
    emulator.post("/api/v2/ob/clusters/2/servers/8/restart?freezeServer=false")
    while emulator.get("/api/v2/tasks/instances/1001")["status"] != "SUCCESSFUL":
        time.sleep(0.02)
    # Values may show late for three minutes.
    emulator.advance(UNTIL_SHOWN)
    since = (datetime.fromisoformat(change) - timedelta(seconds=UNTIL_SHOWN)).isoformat()
    drained = drain.pop("drained")
    folder, nodes = Path(drain["before_node"]).parent / "drained", {"servers": ["8"], "started_before": since}
    (folder / "8").touch()
    nodes |= {name: path for name, path in drain.items() if name.endswith("_node")}
    outcome = roll(emulator, ["payments"], until_effective={"stack_size": "5M"}, **nodes)
    assert outcome.rc == 2
    assert "shows stack_size=512K instead of 5M" in message(outcome)
    assert (drained(), posts(emulator)) == ([], [8])


@pytest.mark.nightly
def test_cluster_whose_undrain_fails_in_two_zones_counts_once(roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    assert roll(emulator, ["payments"], servers=["7", "8"]).rc == 0
    refusal = {
        "name": "Undrain",
        "ansible.builtin.fail": {"msg": "the balancer does not answer"},
        "when": "rolling_restart_node.name in ['10.0.0.7:2882', '10.0.0.8:2882']",
    }
    (tmp_path / "after_node.yml").write_text(yaml.safe_dump([refusal]))
    given = {"after_node": str(tmp_path / "after_node.yml"), "max_failures": 1}
    assert roll(emulator, ["payments", "orders"], **given).rc == 2
    assert sorted(posts(emulator)) == list(range(1, 9))


@pytest.mark.parametrize("max_failures", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_failing_task_file_of_a_node_that_has_restarted_is_a_failure(max_failures, roll, start_emulator, tmp_path):
    """The rest of its cluster is left as it is."""
    emulator = start_emulator(*QUICK)
    assert roll(emulator, ["payments"], servers=["8"]).rc == 0
    refusal = {"name": "Undrain", "ansible.builtin.fail": {"msg": "the balancer does not answer"}}
    (tmp_path / "after_node.yml").write_text(yaml.safe_dump([refusal]))
    outcome = roll(emulator, ["payments"], after_node=str(tmp_path / "after_node.yml"), max_failures=max_failures)
    assert outcome.rc == 2
    assert 'The rolling restart of payments stopped in "Undrain". the balancer does not answer' in message(outcome)
    assert posts(emulator) == [8]


@pytest.mark.nightly
def test_after_run_comes_where_nothing_is_left_to_do(roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    assert roll(emulator, ["payments"]).rc == 0
    (tmp_path / "after_run.yml").write_text(yaml.safe_dump([{"name": "Switch it on", "ansible.builtin.meta": "noop"}]))
    note = {"name": "Switch the alarm on", "ansible.builtin.file": {"path": str(tmp_path / "on"), "state": "touch"}}
    (tmp_path / "after_run.yml").write_text(yaml.safe_dump([note]))
    assert roll(emulator, ["payments"], after_run=str(tmp_path / "after_run.yml")).rc == 0
    assert (tmp_path / "on").exists()


@pytest.mark.nightly
def test_node_that_has_started_but_does_not_serve_yet_is_undrained_at_its_turn(
    ansible, connect, start_emulator, change, tmp_path
):
    emulator = start_emulator("--step-seconds", "0.3")
    connect(emulator)
    started = emulator.get("/api/v2/ob/clusters/2/servers")["contents"][1]["startTime"]
    emulator.post("/api/v2/ob/clusters/2/servers/8/restart?freezeServer=false")
    while emulator.get("/api/v2/ob/clusters/2/servers")["contents"][1]["startTime"] == started:
        time.sleep(0.02)
    emulator.put("/emulator/clock", {"running": False})
    undrain = {"name": "Undrain", "ansible.builtin.file": {"path": str(tmp_path / "done"), "state": "touch"}}
    (tmp_path / "after_node.yml").write_text(yaml.safe_dump([undrain]))
    given = {"clusters": ["payments"], "servers": ["8"], "started_before": change}
    given["after_node"] = str(tmp_path / "after_node.yml")
    play = {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": given[name] for name in given}}
    process = ansible.start([play], "rolling")
    while "waits first for: task 1001" not in ansible.output("rolling").read_text():
        assert process.poll() is None, ansible.output("rolling").read_text()
        time.sleep(0.02)
    assert not (tmp_path / "done").exists()
    emulator.put("/emulator/clock", {"running": True})
    assert process.wait(timeout=60) == 0, ansible.output("rolling").read_text()
    assert (tmp_path / "done").exists()
    assert posts(emulator) == [8]
