# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The first nodes of a rolling restart and the watch after them, and the instant by which all has to be done."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from rolling import FLEET, IN_ORDER, OPEN, PLAYBOOK, QUICK, closed_windows, message, names, once, plan, posts

FOREVER = 3600


def start(ansible, connect, emulator, **given):
    connect(emulator)
    play = {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": value for name, value in given.items()}}
    process = ansible.start([play], "rolling", quick=True)
    return process, lambda: ansible.output("rolling").read_text()


def looks(emulator):
    """How often something of the first cluster was read."""
    seen = emulator.get("/emulator/requests?method=GET&size=2000")["contents"]
    return sum(request["path"].startswith("/api/v2/ob/clusters/1") for request in seen)


@pytest.mark.parametrize("batch", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_illness_after_the_canaries_stops_the_run(ansible, connect, start_emulator, change, batch):
    emulator = start_emulator(*FLEET)
    given = {"clusters": ["cluster1", "cluster2"], "started_before": change, "batch": batch, "wait_interval": 1}
    process, text = start(ansible, connect, emulator, canary=2, soak=FOREVER, **given)
    while "cluster1: watched for 1 h 0 min" not in text():
        assert process.poll() is None, text()
        time.sleep(0.05)
    seen = looks(emulator)
    while looks(emulator) < seen + 2:
        assert process.poll() is None, text()
        time.sleep(0.05)
    emulator.put("/emulator/servers/6", {"available": False})
    assert process.wait(timeout=60) == 2, text()
    assert posts(emulator) == IN_ORDER[:2]
    assert "did not stay healthy for 3600 seconds; it is not healthy: server 10.0.0.6:2882 of zone3 is UNA" in text()
    assert "2 of 12 servers restarted, 0 failed, 10 not touched" in text()


@pytest.mark.parametrize("canary", [1, pytest.param(0, marks=pytest.mark.nightly)])
def test_failed_canary_ends_a_run_with_task_files_whatever_may_fail(roll, start_emulator, tmp_path, canary):
    emulator = start_emulator("--clusters", "2", "--zones", "3", "--servers-per-zone", "1", *QUICK)
    emulator.fail_subtask("Wait observer active")
    drain = tmp_path / "drain.yml"
    drain.write_text(yaml.safe_dump([{"name": "Drain", "ansible.builtin.debug": {"msg": "drained"}}]))
    outcome = roll(
        emulator, ["cluster1", "cluster2"], canary=canary, max_failures=1, gate_timeout=1, before_node=str(drain)
    )
    assert outcome.rc == 2, outcome.output
    assert len(posts(emulator)) == (1 if canary else 4)


@pytest.mark.nightly
def test_run_goes_on_after_the_canaries_and_watches_once(roll, start_emulator):
    emulator = start_emulator(*FLEET)
    outcome = roll(emulator, ["cluster1", "cluster2"], canary=7, soak=1, batch=2, gate_timeout=60)
    assert outcome.rc == 0, outcome.output
    assert posts(emulator) == IN_ORDER
    assert outcome.output.count(": watched for 1 s") == 1
    # Six of the first cluster, and one of the second. The root server of each is a batch of its own.
    assert [len(batch["servers"]) for batch in plan(outcome)["batches"]] == [1] * 8 + [2, 1, 1]


def soon(**time_left):
    return (datetime.now(UTC) + timedelta(**time_left)).isoformat()


@pytest.mark.nightly
@pytest.mark.parametrize("batch", [1, 2])
def test_nothing_begins_that_would_not_be_done_in_time_and_the_next_run_goes_on(roll, start_emulator, batch):
    emulator = start_emulator(*QUICK)
    assert roll(emulator, ["payments"], servers=["8"]).rc == 0
    slow = {"kind": "subtask", "match": {"taskId": 1002, "subtask": "Stop observer process"}, "action": "slow"}
    emulator.post("/emulator/faults", {**slow, "seconds": 8})
    now = emulator.get("/emulator/clock")["time"]
    # The first one takes 8 seconds, and by that the next one would take too long.
    given = {"started_before": now, "stop_after": soon(seconds=15), "batch": batch, "gate_timeout": 60}
    outcome = roll(emulator, ["orders", "payments"], **given)
    assert outcome.rc == 0, outcome.output
    done = posts(emulator)[1:]
    assert done == IN_ORDER[:batch]
    left = [names(emulator)[server] for server in [*IN_ORDER[batch:6], 8, 9, 7]]
    words = "".join(outcome.output.splitlines())
    assert "Left for the next run, since " in words
    assert f": {', '.join(left)}" in words
    assert f"9 servers: {batch} restarted, 0 left alone, 0 failed, {9 - batch} not touched" in outcome.output
    del given["stop_after"]
    outcome = roll(emulator, ["orders", "payments"], **given)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == {**once(emulator), "10.0.0.8:2882": 2}


def test_node_that_was_drained_when_the_time_was_up_is_undrained(roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    given = {}
    for when, state in (("before", "touch"), ("after", "absent")):
        path = str(tmp_path / "drained-{{ rolling_restart_node.id }}")
        tasks = [{"name": f"Note {when}", "ansible.builtin.file": {"path": path, "state": state}}]
        (tmp_path / f"{when}.yml").write_text(yaml.safe_dump(tasks))
        given[f"{when}_node"] = str(tmp_path / f"{when}.yml")
    outcome = roll(emulator, ["payments"], stop_after=soon(seconds=-1), **given)
    assert outcome.rc == 0, outcome.output
    assert "TASK [oceanbase.ocp.rolling_restart : Note before]" in outcome.output
    assert outcome.output.count("item=10.0.0.8:2882") >= 1
    assert list(tmp_path.glob("drained-*")) == []
    assert posts(emulator) == []


@pytest.mark.parametrize("batch", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_outside_its_windows_a_run_begins_nothing_and_the_next_one_goes_on(roll, start_emulator, batch):
    emulator = start_emulator(*QUICK)
    given = {"started_before": emulator.get("/emulator/clock")["time"], "batch": batch}
    outcome = roll(emulator, ["payments"], windows=closed_windows(), **given)
    assert (outcome.rc, posts(emulator)) == (0, []), outcome.output
    words = " ".join(outcome.output.split())
    assert "Left for the next run, since no window is open; the next window opens on " in words
    assert "forecast: It is not known how long it takes" in words
    assert roll(emulator, ["payments"], windows=OPEN, **given).rc == 0
    assert len(posts(emulator)) == 3


@pytest.mark.nightly
def test_cluster_that_is_ill_when_the_time_is_up_is_a_failure(roll, start_emulator):
    emulator = start_emulator(*QUICK)
    emulator.put("/emulator/servers/7", {"available": False})
    outcome = roll(emulator, ["orders", "payments"], stop_after=soon(seconds=-1), max_failures=1)
    assert outcome.rc == 2
    assert "server 10.0.0.7:2882 of zone1 is UNAVAILABLE" in message(outcome)
    assert posts(emulator) == []
