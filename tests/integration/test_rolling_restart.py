# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Rolling restarts, told from the history of the emulator and not from the words of the playbook."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
import yaml
from support import BASIC

PLAYBOOK = "oceanbase.ocp.rolling_restart"
# Steps so short that a restart costs the play next to nothing.
QUICK = ("--step-seconds", "0.001")
FLEET = ("--clusters", "3", "--zones", "3", "--servers-per-zone", "4", *QUICK)
CLUSTERS = ["cluster1", "cluster2", "cluster3"]
# Servers are numbered cluster by cluster and zone by zone; the root server is the first of a cluster.
IN_ORDER = [12 * cluster + server for cluster in range(3) for server in (5, 6, 7, 8, 9, 10, 11, 12, 2, 3, 4, 1)]
RESTART = re.compile(r"/api/v2/ob/clusters/(\d+)/servers/(\d+)/restart")


@pytest.fixture
def change():
    """An instant before the test; what the service shows of a start is cut off to the second."""
    return (datetime.now(UTC) - timedelta(seconds=2)).isoformat()


@pytest.fixture
def connect(ansible):
    """Let the playbook find an emulator where it takes the connection from."""

    def to(emulator):
        ansible.environment |= {
            "OCP_URL": emulator.url,
            **{f"OCP_{name.upper()}": value for name, value in BASIC.items()},
        }

    return to


@pytest.fixture
def roll(ansible, connect, change):
    """Run the playbook on an emulator with these variables of the role."""

    def run(emulator, clusters, check=False, **given):
        connect(emulator)
        given = {"clusters": clusters, "started_before": change, "gate_timeout": 2, **given}
        variables = {f"rolling_restart_{name}": value for name, value in given.items()}
        return ansible.playbook(PLAYBOOK, arguments=f"{'--check ' if check else ''}-e '{json.dumps(variables)}'")

    return run


def posts(emulator):
    """The restarts of servers that were asked for, in order, by the ids of the servers."""
    seen = emulator.get("/emulator/requests?method=POST&size=2000")["contents"]
    return [int(found[2]) for request in seen if (found := RESTART.fullmatch(request["path"]))]


def tasks(emulator):
    """The tasks in their order, each with its time: (id, name, status, start, finish)."""
    found = emulator.get("/api/v2/tasks/instances?size=2000&sort=id,asc")["contents"]
    return [
        (
            task["id"],
            task["name"],
            task["status"],
            *(datetime.fromisoformat(task[name]) for name in ("startTime", "finishTime")),
        )
        for task in found
    ]


def planned(outcome):
    """The names of the servers in the order of the plan."""
    plan = outcome.results["Plan the restart"]
    return [server["name"] for batch in plan["batches"] for server in batch["servers"]]


def message(outcome):
    return outcome.results["Make sure that nothing failed"]["msg"]


def names(emulator):
    """The names of all servers by id."""
    servers = [
        server
        for cluster in emulator.get("/api/v2/ob/clusters?size=100")["contents"]
        for zone in cluster["zones"]
        for server in zone["servers"]
    ]
    return {server["id"]: f"{server['ip']}:{server['port']}" for server in servers}


def once(emulator):
    return dict.fromkeys(names(emulator).values(), 1)


@pytest.mark.smoke
def test_one_command_restarts_a_fleet_zone_by_zone_and_the_root_server_last(roll, start_emulator):
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


def test_a_batch_is_at_work_at_once_and_stays_within_its_zone(roll, start_emulator):
    emulator = start_emulator("--clusters", "1", "--zones", "3", "--servers-per-zone", "3", "--step-seconds", "0.05")
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
    assert "9 planned: 9 restarted, 0 left alone, 0 failed, 0 not touched" in outcome.output


def test_a_failure_on_the_seventh_node_stops_the_run_and_the_same_command_goes_on(roll, start_emulator, tmp_path):
    emulator = start_emulator(*FLEET)
    fault = {"kind": "subtask", "match": {"taskId": 1007, "subtask": "Stop observer process"}, "action": "fail"}
    emulator.post("/emulator/faults", fault)
    report = tmp_path / "failed.html"
    stopped = roll(emulator, CLUSTERS, report=str(report))
    assert stopped.rc == 2
    assert posts(emulator) == IN_ORDER[:7]
    six = {names(emulator)[server]: 1 for server in IN_ORDER[:6]}
    assert emulator.restarts("OB_SERVER") == six
    said = message(stopped)
    seventh = names(emulator)[IN_ORDER[6]]
    assert f"cluster1 stopped at batch 7 of 36 (zone3: {seventh})" in said
    assert "Task 1007 (Restart OB server) FAILED at subtask 4 of 13, Stop observer process" in said
    assert f"6 of 36 servers were restarted, 1 failed ({seventh}), 29 were not touched" in said
    assert "run the same command again" in said
    assert "Stop observer process" in report.read_text()

    # As long as the failed task holds the node, nothing else is touched, and the gate names it.
    held = roll(emulator, CLUSTERS, gate_timeout=1)
    assert held.rc == 2
    assert f"task 1007 (Restart OB server) FAILED and still holds server {seventh}: retry it or" in message(held)
    assert len(posts(emulator)) == 7

    emulator.post("/api/v2/tasks/instances/1007/rollback")
    while emulator.get("/api/v2/tasks/instances/1007")["status"] == "RUNNING":
        time.sleep(0.02)
    gone_on = roll(emulator, CLUSTERS)
    assert gone_on.rc == 0, gone_on.output
    assert posts(emulator) == [*IN_ORDER[:7], *IN_ORDER[6:]]
    assert emulator.restarts("OB_SERVER") == once(emulator)
    assert "30 to restart, 6 left alone, in 30 batches" in gone_on.output


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


def test_the_gate_holds_for_a_node_that_turned_unavailable_and_names_it(roll, start_emulator, ill_after_first):
    emulator = start_emulator(*QUICK)
    outcome = roll(emulator, ["payments"], after_node=ill_after_first(emulator, 7, done=8))
    assert outcome.rc == 2
    assert posts(emulator) == [8]
    assert 'stopped at batch 2 of 3 (zone3: 10.0.0.9:2882) in "Wait until the cluster is healthy before the batch"' in (
        message(outcome)
    )
    assert "not healthy after 2 seconds: server 10.0.0.7:2882 of zone1 is UNAVAILABLE" in message(outcome)
    assert "1 of 3 servers were restarted, 0 failed, 2 were not touched" in message(outcome)


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
    while "  2: server 10.0.0.7:2882 of zone1 is UNAVAILABLE" not in ansible.output("rolling").read_text():
        assert process.poll() is None, ansible.output("rolling").read_text()
        time.sleep(0.02)
    assert posts(emulator) == [8]
    emulator.put("/emulator/servers/7", {"available": True})
    assert process.wait(timeout=60) == 0, ansible.output("rolling").read_text()
    assert posts(emulator) == [8, 9, 7]


def test_killed_three_times_each_server_is_restarted_once(ansible, connect, start_emulator, change):
    emulator = start_emulator("--clusters", "1", "--zones", "3", "--servers-per-zone", "3", "--step-seconds", "0.03")
    connect(emulator)
    given = {"rolling_restart_clusters": ["cluster1"], "rolling_restart_started_before": change}
    play = [{"import_playbook": PLAYBOOK, "vars": given}]
    for run, begun in enumerate((2, 5, 7)):
        process = ansible.start(play, f"run-{run}")
        while len(posts(emulator)) < begun:
            assert process.poll() is None, ansible.output(f"run-{run}").read_text()
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        ansible.end()
    process = ansible.start(play, "last")
    assert process.wait(timeout=120) == 0, ansible.output("last").read_text()
    assert emulator.restarts("OB_SERVER") == once(emulator)
    assert posts(emulator) == [4, 5, 6, 7, 8, 9, 2, 3, 1]


@pytest.mark.parametrize("strategy", ["server", "zone"])
def test_check_mode_shows_the_plan_that_is_then_carried_out(roll, start_emulator, ansible, strategy):
    emulator = start_emulator(*QUICK)
    # One has started since already.
    options = {"url": emulator.url, "cluster": "orders", "freeze_server": False, "wait": True, **BASIC}
    ansible.module("server_restart", server="10.0.0.4:2882", **options)
    emulator.delete("/emulator/requests")
    given = {"clusters": ["payments", "orders"], "strategy": strategy}
    foretold = roll(emulator, check=True, **given)
    assert foretold.rc == 0, foretold.output
    assert emulator.get("/emulator/requests?method=POST")["contents"] == []
    lines = foretold.results["Show the plan"]["msg"]
    alone = [line for line in lines if line.startswith("left alone: ")]
    real = roll(emulator, **given)
    assert real.rc == 0, real.output
    paths = [request["path"] for request in emulator.get("/emulator/requests?method=POST")["contents"]]
    plan = foretold.results["Plan the restart"]["batches"]
    if strategy == "server":
        expected = [
            f"/api/v2/ob/clusters/{batch['cluster_id']}/servers/{server['id']}/restart"
            for batch in plan
            for server in batch["servers"]
        ]
        assert ["orders zone2: 10.0.0.4:2882 started at" in line for line in alone] == [True]
    else:
        expected = [f"/api/v2/ob/clusters/{batch['cluster_id']}/zones/{batch['zone']}/restart" for batch in plan]
        assert alone == []
    assert paths == expected
    named = [name for line in lines for name in re.findall(r"^    (\S+) started at", line)]
    assert [name for name in named if name in planned(real)] == planned(real)


def test_a_run_with_nothing_to_do_starts_nothing_and_runs_no_task_file(roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    (tmp_path / "no.yml").write_text(yaml.safe_dump([{"ansible.builtin.fail": {"msg": "not to be run"}}]))
    long_ago = "2000-01-01T00:00:00Z"
    outcome = roll(emulator, ["payments"], started_before=long_ago, before_run=str(tmp_path / "no.yml"))
    assert outcome.rc == 0, outcome.output
    assert posts(emulator) == []
    assert "0 to restart, 3 left alone" in outcome.output


HOOKS = ("before_run", "after_run", "before_zone", "after_zone", "before_node", "after_node", "gate")


@pytest.fixture
def hooks(tmp_path):
    """Task files that write down when they ran, for each of the variables."""
    log = tmp_path / "hooks.txt"
    log.write_text("")

    def write(**bodies):
        given = {}
        for name in HOOKS:
            where = "{{ rolling_restart_batch_now.zone | default('') }} {{ rolling_restart_node.id | default('') }}"
            note = {
                "name": "Note it",
                "ansible.builtin.shell": f"echo {name} {where} >> {log}",
            }
            (tmp_path / f"{name}.yml").write_text(yaml.safe_dump([note, *bodies.get(name, [])]))
            given[name] = str(tmp_path / f"{name}.yml")
        return given

    write.log = lambda: [line.strip() for line in log.read_text().splitlines()]
    return write


def test_task_files_run_before_and_after_each_node_zone_and_the_run(roll, start_emulator, hooks):
    emulator = start_emulator(*QUICK)
    outcome = roll(emulator, ["orders"], zones=["zone3", "zone1"], servers=["1", "5", "6"], **hooks())
    assert outcome.rc == 0, outcome.output
    assert hooks.log() == [
        "before_run",
        "gate zone3",
        "before_zone zone3",
        "before_node zone3 5",
        "gate zone3",
        "after_node zone3 5",
        "gate zone3",
        "before_node zone3 6",
        "gate zone3",
        "after_node zone3 6",
        "after_zone zone3",
        "gate zone1",
        "before_zone zone1",
        "before_node zone1 1",
        "gate zone1",
        "after_node zone1 1",
        "after_zone zone1",
        "after_run",
    ]


def test_a_task_file_that_fails_stops_the_run_and_what_comes_after_the_run_is_done(roll, start_emulator, hooks):
    emulator = start_emulator(*QUICK)
    refusal = {"name": "Ask the people", "ansible.builtin.fail": {"msg": "not before breakfast"}}
    outcome = roll(emulator, ["payments"], **hooks(gate=[refusal]))
    assert outcome.rc == 2
    assert 'at batch 1 of 3 (zone2: 10.0.0.8:2882) in "Ask the people". not before breakfast' in message(outcome)
    assert hooks.log() == ["before_run", "gate zone2", "after_run"]
    assert posts(emulator) == []


@pytest.mark.parametrize(("borne", "restarted"), [(0, 0), (1, 3)])
def test_a_cluster_that_fails_is_left_as_it_is_and_the_next_one_comes_if_that_is_borne(
    roll, start_emulator, borne, restarted
):
    emulator = start_emulator(*QUICK)
    emulator.fail_subtask("Prepare restart observer")
    outcome = roll(emulator, ["orders", "payments"], max_failures=borne)
    assert outcome.rc == 2
    assert f"{restarted} of 9 servers were restarted, 1 failed (10.0.0.3:2882), {8 - restarted} were not" in (
        message(outcome)
    )
    assert len(emulator.restarts("OB_SERVER")) == restarted
    assert posts(emulator)[0] == 3
    assert set(posts(emulator)[1:]) <= {7, 8, 9}


def test_in_a_batch_the_others_are_awaited_where_one_could_not_be_started(roll, start_emulator):
    emulator = start_emulator(*QUICK)
    fault = {"kind": "http", "match": {"method": "POST"}, "action": "error", "status": 403, "call": 1}
    emulator.post("/emulator/faults", fault)
    outcome = roll(emulator, ["orders"], batch=2)
    assert outcome.rc == 2
    assert "batch 1 of 3 (zone2: 10.0.0.3:2882, 10.0.0.4:2882)" in message(outcome)
    assert "server 10.0.0.3:2882 (id 3) of cluster orders (id 1) was not restarted" in message(outcome)
    assert "1 of 6 servers were restarted, 1 failed (10.0.0.3:2882), 4 were not touched" in message(outcome)
    assert emulator.restarts("OB_SERVER") == {"10.0.0.4:2882": 1}


def test_a_failed_task_of_a_batch_is_named_and_the_others_are_awaited(roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    emulator.fail_subtask("Prepare restart observer")
    report = tmp_path / "failed.html"
    outcome = roll(emulator, ["orders"], batch=2, report=str(report))
    assert outcome.rc == 2
    assert "1 of 6 servers were restarted, 1 failed (10.0.0.3:2882), 4 were not touched" in message(outcome)
    assert "FAILED at subtask 1 of 13, Prepare restart observer" in message(outcome)
    assert "Prepare restart observer" in report.read_text()
    assert len(posts(emulator)) == 2


def test_a_cluster_with_fewer_than_three_zones_is_refused_unless_told(roll, start_emulator):
    emulator = start_emulator("--clusters", "1", "--zones", "2", "--servers-per-zone", "1", *QUICK)
    refused = roll(emulator, ["cluster1"])
    assert refused.rc == 2
    assert "cluster1 (id 1) has 2 zones (zone1, zone2), and min_zones=3 are asked for" in refused.result["msg"]
    assert posts(emulator) == []
    told = roll(emulator, ["cluster1"], min_zones=2)
    assert told.rc == 0, told.output
    assert posts(emulator) == [2, 1]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"clusters": None}, "rolling_restart_clusters"),
        ({"started_before": None}, "rolling_restart_started_before"),
        ({"started_before": "yesterday"}, "started_before: yesterday is no instant"),
        ({"strategy": "fast"}, "rolling_restart_strategy"),
        ({"batch": 0}, "batch: 0 is out of range"),
        ({"gate": "gate.yml"}, "rolling_restart_gate: gate.yml is not the absolute path of a file"),
        ({"after_run": "/nowhere/after.yml"}, "rolling_restart_after_run: /nowhere/after.yml is not the absolute"),
    ],
    ids=["clusters", "instant", "no instant", "strategy", "batch", "relative", "missing"],
)
def test_what_is_given_wrongly_is_named_before_anything_is_sent(ansible, connect, emulator, change, given, sentence):
    connect(emulator)
    every = {"clusters": ["payments"], "started_before": change, **given}
    variables = {f"rolling_restart_{name}": value for name, value in every.items() if value is not None}
    outcome = ansible.playbook(PLAYBOOK, arguments=f"-e '{json.dumps(variables)}'")
    assert outcome.rc == 2
    assert sentence in str(outcome.result), outcome.output
    assert emulator.log.count("/api/") == 0
