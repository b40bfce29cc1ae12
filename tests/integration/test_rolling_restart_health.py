# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart is green only where each cluster serves: while planning, right before a restart, and at the end."""

from __future__ import annotations

import re
import time

import pytest
import yaml
from credentials import BASIC
from rolling import PLAYBOOK, QUICK, message, posts

MINUTES = 600
ASK = "ansible localhost -m oceanbase.ocp.task -a 'task_id={} state=%s wait=true detail=compact'"
ROLL_BACK = f"Roll the task back: {ASK % 'rolled_back'}"
RETRY = f"Retry what failed: {ASK % 'retried'}"


def to_control(emulator, method, path, **body):
    """A task that changes the emulator behind the back of the run."""
    return {
        "name": "Change something meanwhile",
        "ansible.builtin.uri": {
            "url": f"{emulator.url}{path}",
            "method": method,
            "body_format": "json",
            "body": body,
            "url_username": BASIC["username"],
            "url_password": BASIC["password"],
            "force_basic_auth": True,
        },
    }


@pytest.fixture
def task_file(tmp_path):
    def write(name, *tasks):
        (tmp_path / f"{name}.yml").write_text(yaml.safe_dump(list(tasks)))
        return str(tmp_path / f"{name}.yml")

    return write


@pytest.fixture
def held(start_emulator, roll):
    """An emulator where the restart of server 8 of payments has failed after the process had started."""
    emulator = start_emulator(*QUICK)
    emulator.fail_subtask("Wait observer active")
    failed = roll(emulator, ["payments"], servers=["8"])
    assert failed.rc == 2
    assert posts(emulator) == [8]
    return emulator


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("borne", "restarted"), [(0, []), pytest.param(1, [3, 4, 5, 6, 2, 1], marks=pytest.mark.nightly)]
)
def test_cluster_that_is_left_alone_but_ill_is_a_failure(roll, start_emulator, borne, restarted):
    emulator = start_emulator(*QUICK)
    assert roll(emulator, ["payments"]).rc == 0
    emulator.put("/emulator/servers/7", {"available": False})
    outcome = roll(emulator, ["payments", "orders"], max_failures=borne, gate_timeout=MINUTES)
    assert outcome.rc == 2
    assert "server 10.0.0.7:2882 of zone1 is UNAVAILABLE" in message(outcome)
    assert "blocked: payments: server 10.0.0.7:2882 of zone1 is UNAVAILABLE" in outcome.output
    assert posts(emulator)[3:] == restarted
    others = "With -e rolling_restart_max_failures=1 the other cluster can restart meanwhile."
    assert (others in message(outcome)) is (borne == 0)


@pytest.mark.nightly
def test_cluster_that_falls_ill_later_is_seen_by_the_last_look(roll, start_emulator, task_file):
    emulator = start_emulator(*QUICK)
    ill = to_control(emulator, "PUT", "/emulator/servers/7", available=False)
    outcome = roll(
        emulator,
        ["payments", "orders"],
        servers=["8", "3"],
        after_node=task_file("after_node", {**ill, "when": "rolling_restart_node.id == 3"}),
    )
    assert outcome.rc == 2
    assert posts(emulator) == [8, 3]
    assert "server 10.0.0.7:2882 of zone1 is UNAVAILABLE" in message(outcome)


@pytest.mark.nightly
def test_server_that_comes_into_the_scope_meanwhile_is_seen_by_the_last_look(roll, start_emulator, task_file):
    emulator = start_emulator(*QUICK)
    move = to_control(emulator, "PUT", "/emulator/servers/2", available=True, zone="zone2")
    after = task_file("after_node", {**move, "when": "rolling_restart_node.id == 8"})
    outcome = roll(emulator, ["orders", "payments"], zones=["zone2"], after_node=after)
    assert outcome.rc == 2
    assert posts(emulator) == [3, 4, 8]
    [failure] = outcome.results["Note the failure"]["ansible_facts"]["rolling_restart_failures"]
    assert failure["cluster"] == "orders"
    assert failure["step"] == "Make sure that each server in the scope was restarted, and that all clusters serve"
    assert failure["message"].startswith("Server 10.0.0.2:2882 was not restarted, but should have been: 10.0.0.2:2882")
    told = message(outcome)
    assert 'The rolling restart of orders stopped in "Make sure that each server in the scope was' in told
    assert failure["message"] in told
    assert "3 of 3 servers restarted, 0 failed, 0 not touched" in told
    shown = "\n".join(outcome.results["Show what was done"]["lines"])
    for name in ("10.0.0.3:2882", "10.0.0.4:2882", "10.0.0.8:2882"):
        assert name in shown
    assert "3 servers: 3 restarted, 0 left alone, 0 failed, 0 not touched" in shown


@pytest.mark.parametrize("profile", ["4.3", pytest.param("4.2", marks=pytest.mark.nightly)])
def test_held_server_is_never_green_and_blocks_the_plan(roll, start_emulator, profile):
    emulator = start_emulator(*QUICK, "--profile", profile)
    emulator.fail_subtask("Wait observer active")
    assert roll(emulator, ["payments"], servers=["8"]).rc == 2
    for check in (True, False):
        # Neither waits for what only a person can clear.
        outcome = roll(emulator, ["payments"], check=check, servers=["8"], gate_timeout=MINUTES)
        assert outcome.rc == 2
        assert "  0 to restart" not in outcome.output
        for told in (outcome.output, message(outcome)):
            # OCP 4.2 has no tags, which would tell the server of a task.
            what = "10.0.0.8" if profile == "4.3" else "in cluster payments"
            assert f"task 1001 (Restart OB server {what}) FAILED at subtask" in told
            assert "server 10.0.0.8:2882" in told
            assert "Wait observer active" in told
            assert RETRY.format(1001) in told
            assert ROLL_BACK.format(1001) in told
    assert posts(emulator) == [8]


@pytest.mark.nightly
def test_held_cluster_does_not_keep_the_others_from_their_turn_within_max_failures(roll, held):
    outcome = roll(held, ["payments", "orders"], servers=["8", "9", "3"], max_failures=1, gate_timeout=MINUTES)
    assert outcome.rc == 2
    assert posts(held) == [8, 3]
    assert "0 failed, 1 not touched: 10.0.0.9:2882" in message(outcome)
    assert re.search(r"^  orders: 1 of 1, 10\.0\.0\.3:2882 .* 0 left$", outcome.output, re.MULTILINE)


@pytest.mark.nightly
def test_cluster_held_during_the_run_ends_the_gate_at_once(roll, start_emulator, task_file):
    emulator = start_emulator(*QUICK)
    fault = {"kind": "subtask", "match": {"taskId": 1002, "subtask": "Stop observer process"}, "action": "fail"}
    emulator.post("/emulator/faults", fault)
    stop = to_control(emulator, "POST", "/api/v2/ob/clusters/2/servers/7/restart?freezeServer=false")
    wait = {"name": "Let it come to its failure", "ansible.builtin.pause": {"seconds": 1}}
    given = {"after_node": task_file("after_node", {**stop, "when": "rolling_restart_node.id == 8"}, wait)}
    outcome = roll(emulator, ["payments"], gate_timeout=MINUTES, **given)
    assert outcome.rc == 2
    assert posts(emulator) == [8, 7]
    named = "task 1002 (Restart OB server 10.0.0.7) FAILED at subtask"
    assert f"payments (id 2) is not healthy, and waiting does not help: {named}" in message(outcome)
    assert RETRY.format(1002) in message(outcome)


@pytest.mark.nightly
def test_server_of_another_zone_that_stops_during_the_hooks_stops_the_node(roll, start_emulator, task_file):
    emulator = start_emulator(*QUICK)
    stop = to_control(emulator, "POST", "/api/v2/ob/clusters/2/servers/7/stop")
    outcome = roll(emulator, ["payments"], before_node=task_file("before_node", stop))
    assert outcome.rc == 2
    assert posts(emulator) == []
    assert "server 10.0.0.7:2882 of zone1 is STOPPED" in message(outcome)


@pytest.mark.nightly
def test_server_of_another_zone_that_somebody_restarts_during_the_hooks_is_waited_for(roll, start_emulator, task_file):
    emulator = start_emulator(*QUICK)
    other = to_control(emulator, "POST", "/api/v2/ob/clusters/2/servers/7/restart?freezeServer=false")
    once = {**other, "when": "rolling_restart_node.id == 8"}
    outcome = roll(emulator, ["payments"], servers=["8", "9"], before_node=task_file("before_node", once))
    assert outcome.rc == 0, outcome.output
    assert posts(emulator) == [7, 8, 9]
    others, ours = (emulator.get(f"/api/v2/tasks/instances/{number}") for number in (1001, 1002))
    assert others["finishTime"] <= ours["startTime"]


@pytest.mark.nightly
def test_restart_waits_for_another_zone_that_is_down_after_the_hooks(
    ansible, connect, start_emulator, task_file, change, tmp_path
):
    emulator = start_emulator(*QUICK)
    connect(emulator)
    ran = tmp_path / "ran.txt"
    note = {"name": "Note it", "ansible.builtin.shell": f"echo {{{{ rolling_restart_node.id }}}} >> {ran}"}
    ill = to_control(emulator, "PUT", "/emulator/servers/7", available=False)
    first = {"when": "rolling_restart_node.id == 8"}
    given = {
        "clusters": ["payments"],
        "servers": ["8", "9"],
        "started_before": change,
        "gate_timeout": 60,
        "before_node": task_file("before_node", note, {**ill, **first}),
    }
    play = {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": given[name] for name in given}}
    process = ansible.start([play], "rolling")
    while "  payments: server 10.0.0.7:2882 of zone1 is UNAVAILABLE" not in ansible.output("rolling").read_text():
        assert process.poll() is None, ansible.output("rolling").read_text()
        time.sleep(0.02)
    assert posts(emulator) == []
    emulator.put("/emulator/servers/7", {"available": True})
    # What was seen down counts as that for a minute.
    assert process.wait(timeout=150) == 0, ansible.output("rolling").read_text()
    assert posts(emulator) == [8, 9]
    # The hooks are not repeated.
    assert ran.read_text().split() == ["8", "9"]


@pytest.mark.nightly
@pytest.mark.parametrize("batch", [1, 2])
def test_server_that_moves_to_another_zone_during_the_hooks_is_not_restarted(roll, start_emulator, task_file, batch):
    emulator = start_emulator(*QUICK)
    move = to_control(emulator, "PUT", "/emulator/servers/3", available=True, zone="zone3")
    given = {"before_node": task_file("before_node", move), "batch": batch, "gate_timeout": MINUTES}
    outcome = roll(emulator, ["orders"], **given)
    assert outcome.rc == 2
    assert posts(emulator) == []
    assert "server 10.0.0.3:2882 is in zone3 and no longer in zone2" in message(outcome)


@pytest.mark.nightly
def test_each_server_of_a_batch_is_looked_at_right_before_its_restart(ansible, connect, start_emulator, change):
    emulator = start_emulator(*QUICK)
    connect(emulator)
    # The answer to the first restart comes so late that what was read before is too old; another zone is ill by then.
    fault = {"kind": "http", "match": {"method": "POST", "path": "*/restart"}, "action": "slow", "seconds": 11}
    emulator.post("/emulator/faults", fault)
    given = {"clusters": ["orders"], "started_before": change, "batch": 2, "gate_timeout": 2}
    play = {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": given[name] for name in given}}
    process = ansible.start([play], "rolling")
    while not posts(emulator):
        assert process.poll() is None, ansible.output("rolling").read_text()
        time.sleep(0.05)
    emulator.put("/emulator/servers/1", {"available": False})
    assert process.wait(timeout=60) == 2, ansible.output("rolling").read_text()
    assert posts(emulator) == [3]
    text = ansible.output("rolling").read_text()
    assert "server 10.0.0.1:2882 of zone1 is UNAVAILABLE" in text
    # The one that was started is awaited, and has its line.
    assert "1 of 6 servers restarted, 0 failed, 5 not touched" in text
