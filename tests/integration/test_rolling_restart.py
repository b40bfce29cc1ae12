# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Rolling restarts, checked by the history of the emulator, not by the output of the playbook."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
import yaml
from credentials import BASIC
from rolling import (
    CLUSTERS,
    FLEET,
    IN_ORDER,
    PLAYBOOK,
    QUICK,
    UNTIL_SHOWN,
    message,
    names,
    once,
    plan,
    plan_lines,
    planned,
    posts,
    tasks,
)


@pytest.mark.smoke
def test_fleet_restarts_zone_by_zone_with_the_root_server_last(roll, start_emulator):
    emulator = start_emulator(*FLEET)
    outcome = roll(emulator, CLUSTERS)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == once(emulator)
    assert posts(emulator) == IN_ORDER
    done = tasks(emulator)
    assert {status for _id, _name, status, _start, _finish in done} == {"SUCCESSFUL"}
    # Each begins when the one before has ended, so never are two zones at work at once.
    assert all(finish <= start for (*_task, finish), (_id, _name, _status, start, _finish) in pairwise(done))
    assert planned(outcome) == [names(emulator)[server] for server in IN_ORDER]


@pytest.mark.nightly
def test_batch_restarts_concurrently_within_one_zone(roll, start_emulator):
    emulator = start_emulator("--clusters", "1", "--zones", "3", "--servers-per-zone", "3", "--step-seconds", "0.2")
    outcome = roll(emulator, ["cluster1"], batch=2)
    assert outcome.rc == 0, outcome.output
    assert posts(emulator) == [4, 5, 6, 7, 8, 9, 2, 3, 1]
    spans = {
        server: (start, finish)
        for server, (_id, _name, _status, start, finish) in zip(posts(emulator), tasks(emulator), strict=True)
    }
    for one, another in [(4, 5), (7, 8), (2, 3)]:
        assert max(spans[one][0], spans[another][0]) < min(spans[one][1], spans[another][1])
    parts = [[4, 5], [6], [7, 8], [9], [2, 3], [1]]
    for earlier, later in pairwise(parts):
        assert max(spans[server][1] for server in earlier) <= min(spans[server][0] for server in later)
    assert "9 servers: 9 restarted, 0 left alone, 0 failed, 0 not touched" in outcome.output


def test_failed_node_stops_the_run_and_a_rerun_continues(roll, start_emulator, change, tmp_path):
    emulator = start_emulator(*FLEET)
    fault = {"kind": "subtask", "match": {"taskId": 1004, "subtask": "Stop observer process"}, "action": "fail"}
    emulator.post("/emulator/faults", fault)
    report = tmp_path / "failed.html"
    stopped = roll(emulator, CLUSTERS, report=str(report))
    assert stopped.rc == 2
    assert posts(emulator) == IN_ORDER[:4]
    three = {names(emulator)[server]: 1 for server in IN_ORDER[:3]}
    assert emulator.restarts("OB_SERVER") == three
    said = message(stopped)
    fourth = names(emulator)[IN_ORDER[3]]
    address = fourth.partition(":")[0]
    assert f"cluster1 stopped at batch 4 of 12 (zone3: {fourth})" in said
    assert f"Task 1004 (Restart OB server {address}) FAILED at subtask 4 of 13, Stop observer process" in said
    assert f"3 of 12 servers restarted, 1 failed ({fourth}), 8 not touched" in said
    assert "run the same command again" in said
    assert "Stop observer process" in report.read_text()

    # As long as the failed task holds the node, nothing else is touched, and the gate names it.
    held = roll(emulator, CLUSTERS, gate_timeout=1)
    assert held.rc == 2
    assert f"task 1004 (Restart OB server {address}) FAILED at subtask 4 of 13, Stop observer process" in message(held)
    assert f"and still holds server {fourth}" in message(held)
    assert len(posts(emulator)) == 4

    emulator.post("/api/v2/tasks/instances/1004/rollback")
    while emulator.get("/api/v2/tasks/instances/1004")["status"] == "RUNNING":
        time.sleep(0.02)
    emulator.advance(UNTIL_SHOWN)
    # By the clock of this machine it was so much earlier.
    since = datetime.fromisoformat(change) - timedelta(seconds=UNTIL_SHOWN)
    gone_on = roll(emulator, CLUSTERS, started_before=since.isoformat())
    assert gone_on.rc == 0, gone_on.output
    assert posts(emulator) == [*IN_ORDER[:4], *IN_ORDER[3:]]
    assert emulator.restarts("OB_SERVER") == once(emulator)
    assert "9 to restart, 3 left alone of 2 clusters" in gone_on.output


@pytest.fixture
def ill_after_first(tmp_path):
    """A task file that runs after each node, and lets a server be UNAVAILABLE after the first one."""

    def write(emulator, server_id, done):
        task = {
            "name": "Let a server not answer",
            "ansible.builtin.uri": {
                "url": f"{emulator.url}/emulator/servers/{server_id}",
                "method": "PUT",
                "body_format": "json",
                "body": {"available": False},
                "url_username": BASIC["username"],
                "url_password": BASIC["password"],
                "force_basic_auth": True,
            },
            "when": f"rolling_restart_node.id == {done}",
        }
        (tmp_path / "after_node.yml").write_text(yaml.safe_dump([task]))
        return str(tmp_path / "after_node.yml")

    return write


def test_gate_blocks_the_next_batch_and_names_the_unavailable_node(roll, start_emulator, ill_after_first):
    emulator = start_emulator(*QUICK)
    outcome = roll(emulator, ["payments"], after_node=ill_after_first(emulator, 7, done=8))
    assert outcome.rc == 2
    assert posts(emulator) == [8]
    assert "stopped at batch 2 of 3 (zone3: 10.0.0.9:2882). " in message(outcome)
    assert "not healthy after 2 seconds: server 10.0.0.7:2882 of zone1 is UNAVAILABLE" in message(outcome)
    assert "1 of 3 servers restarted, 0 failed, 2 not touched" in message(outcome)


@pytest.mark.nightly
def test_the_gate_opens_when_the_node_recovers_in_time(ansible, connect, start_emulator, ill_after_first, change):
    emulator = start_emulator(*QUICK)
    connect(emulator)
    given = {
        "clusters": ["payments"],
        "started_before": change,
        "gate_timeout": 60,
        "after_node": ill_after_first(emulator, 7, done=8),
    }
    play = {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": given[name] for name in given}}
    process = ansible.start([play], "rolling")
    while "  payments: server 10.0.0.7:2882 of zone1 is UNAVAILABLE" not in ansible.output("rolling").read_text():
        assert process.poll() is None, ansible.output("rolling").read_text()
        time.sleep(0.02)
    assert posts(emulator) == [8]
    emulator.put("/emulator/servers/7", {"available": True})
    # What was seen down counts as that for a minute.
    assert process.wait(timeout=150) == 0, ansible.output("rolling").read_text()
    assert posts(emulator) == [8, 9, 7]


@pytest.mark.parametrize("strategy", ["server", pytest.param("zone", marks=pytest.mark.nightly)])
def test_check_mode_shows_the_plan_of_the_real_run(roll, start_emulator, ansible, strategy):
    emulator = start_emulator(*QUICK)
    # One has started since already.
    options = {"url": emulator.url, "cluster": "orders", "freeze_server": False, "wait": True, **BASIC}
    ansible.module("server_restart", server="10.0.0.4:2882", **options)
    emulator.delete("/emulator/requests")
    given = {"clusters": ["payments", "orders"], "strategy": strategy}
    foretold = roll(emulator, check=True, **given)
    assert foretold.rc == 0, foretold.output
    assert emulator.get("/emulator/requests?method=POST")["contents"] == []
    lines = plan_lines(foretold)
    alone = [line for line in lines if line.startswith("left alone: ")]
    real = roll(emulator, **given)
    assert real.rc == 0, real.output
    paths = [request["path"] for request in emulator.get("/emulator/requests?method=POST")["contents"]]
    batches = plan(foretold)["batches"]
    if strategy == "server":
        expected = [
            f"/api/v2/ob/clusters/{batch['cluster_id']}/servers/{server['id']}/restart"
            for batch in batches
            for server in batch["servers"]
        ]
        assert ["10.0.0.4:2882 started at" in line for line in alone] == [True]
    else:
        expected = [f"/api/v2/ob/clusters/{batch['cluster_id']}/zones/{batch['zone']}/restart" for batch in batches]
        assert alone == []
    assert paths == expected
    named = [name for line in lines for name in re.findall(r"^  (\S+) started at", line)]
    assert [name for name in named if name in planned(real)] == planned(real)


@pytest.mark.parametrize("given", [{"zones": []}, pytest.param({"servers": []}, marks=pytest.mark.nightly)], ids=repr)
def test_selection_that_finds_nothing_does_not_mean_all(given, roll, start_emulator):
    emulator = start_emulator(*QUICK)
    outcome = roll(emulator, ["orders"], **given)
    assert (outcome.rc, posts(emulator)) == (2, [])
    [name] = given
    assert f"rolling_restart_{name}: is empty or has an empty entry" in outcome.output


def test_empty_plan_starts_no_restart_and_runs_no_task_file(roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    (tmp_path / "no.yml").write_text(yaml.safe_dump([{"ansible.builtin.fail": {"msg": "not to be run"}}]))
    long_ago = "2000-01-01T00:00:00Z"
    outcome = roll(emulator, ["payments"], started_before=long_ago, before_run=str(tmp_path / "no.yml"))
    assert outcome.rc == 0, outcome.output
    assert posts(emulator) == []
    assert "0 to restart, 3 left alone" in outcome.output
