# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One restart per change, whoever runs the playbook, how often, and how many at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from credentials import ACCESS_KEY, BASIC
from expected_restarts import RESTARTS, restart
from fleet_play import fleet_play, now

SERVER = RESTARTS["server_restart"][0]


def waited_for(emulator, task_id, run):
    """What ``run`` returns, for which an hour passes whenever it has looked at a task once more, first at this one."""
    with ThreadPoolExecutor() as controller:
        waiting = controller.submit(run)
        looks = f"/api/v2/tasks/instances/{task_id}"
        while not waiting.done():
            seen = emulator.log.count(looks)
            while emulator.log.count(looks) < seen + 2 and not waiting.done():
                time.sleep(0.05)
            emulator.advance(3600)
            looks = "/api/v2/tasks/instances/"
        return waiting.result()


def test_second_run_skips_targets_started_since_the_change(ansible, start_emulator):
    # An agent's uptime tells its start to two seconds.
    change = (datetime.now(UTC) - timedelta(seconds=2)).isoformat()
    emulators = {verb: start_emulator() for verb in RESTARTS}
    tasks = {verb: restart(verb, emulators[verb], wait=True, started_before=change) for verb in RESTARTS}
    checked = {f"{verb} checked": {**task, "check_mode": True} for verb, task in tasks.items()}
    first, second = ansible.each(tasks).results, ansible.each({**tasks, **checked}).results
    for verb, emulator in emulators.items():
        assert (first[verb]["changed"], first[verb]["action"]) == (True, "submitted"), first[verb]
        again = second[verb]
        proven = None if verb in ("arbitration_service_restart", "obproxy_restart") else True
        assert (again["changed"], again["action"], again["verified"]) == (False, "skipped", proven), again
        assert again["after"] is None
        assert second[f"{verb} checked"]["action"] == "skipped"
        assert len(emulator.requests("POST")) == 1


@pytest.mark.nightly
def test_running_restart_is_attached_and_awaited(ansible, start_emulator):
    emulators = {verb: start_emulator("--step-seconds", "30") for verb in RESTARTS}
    tasks = {verb: restart(verb, emulators[verb], started_before=now()) for verb in RESTARTS}
    checked = {f"{verb} checked": {**task, "check_mode": True} for verb, task in tasks.items()}
    first = ansible.each({**tasks, **checked}).results
    for verb, emulator in emulators.items():
        options = {**tasks[verb][f"oceanbase.ocp.{verb}"], "wait": True}
        attach = partial(ansible.module, verb, **options)
        attached = waited_for(emulator, first[verb]["task_id"], attach)
        assert first[f"{verb} checked"]["action"] == attached["action"] == "attached"
        assert (attached["changed"], attached["task_id"]) == (False, first[verb]["task_id"])
        assert attached["task"]["succeeded"] is True
        assert attached["verified"] is RESTARTS[verb][2]
        assert len(emulator.requests("POST")) == 1


def each_once(ansible, emulator, tasks):
    """The results of tasks (module, options) in their order, and the names of those that failed."""
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    cases = {name: {f"oceanbase.ocp.{module}": options} for name, (module, options) in tasks.items()}
    outcome = ansible.each(cases, module_defaults=defaults)
    return [outcome.results[name] for name in tasks], outcome.failed


def test_cluster_restart_covers_its_servers_but_not_vice_versa(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    tasks = {
        "whole": ("cluster_restart", {"cluster": "orders"}),
        "server": ("server_restart", SERVER),
        "one": ("server_restart", {"cluster": "payments", "server": "10.0.0.7:2882", "freeze_server": True}),
        "cluster": ("cluster_restart", {"cluster": "payments"}),
    }
    (whole, server, one, cluster), failed = each_once(ansible, emulator, tasks)
    assert (server["action"], server["task_id"]) == ("attached", whole["task_id"])
    assert "Restart OB cluster" in server["reason"]
    assert (failed, cluster["changed"], cluster["task_id"]) == ({"cluster"}, False, None)
    assert f"task {one['task_id']} (Restart OB server 10.0.0.7) is running" in cluster["msg"]
    assert len(emulator.requests("POST")) == 2


@pytest.mark.nightly
def test_zone_restart_covers_its_servers_but_not_vice_versa(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    of_orders = {"cluster": "orders", "freeze_server": True, "safety": "none"}
    tasks = {
        "zone": ("zone_restart", {"cluster": "orders", "zone": "zone2", "safety": "none"}),
        "server": ("server_restart", {**of_orders, "server": "10.0.0.3:2882"}),
        "one": ("server_restart", {**of_orders, "server": "10.0.0.1:2882"}),
        "refused": ("zone_restart", {"cluster": "orders", "zone": "zone1", "safety": "none"}),
    }
    (zone, server, one, refused), failed = each_once(ansible, emulator, tasks)
    assert (server["action"], server["task_id"]) == ("attached", zone["task_id"])
    assert one["action"] == "submitted"
    assert (failed, refused["changed"], refused["task_id"]) == ({"refused"}, False, None)
    assert (
        f"task {one['task_id']} (Restart OB server 10.0.0.1) is running, but it does not restart every"
        in refused["msg"]
    )
    assert len(emulator.requests("POST")) == 2


@pytest.mark.nightly
def test_restart_is_refused_or_queued_behind_one_older_than_the_change(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "1.5")
    earlier = ansible.module("server_restart", url=emulator.url, **BASIC, **SERVER)
    # By then the step that starts the process has ended, after 7.5 seconds, and the task has not.
    change = (datetime.fromisoformat(earlier["task"]["start_time"]) + timedelta(seconds=9)).isoformat()
    options = {"url": emulator.url, "started_before": change, **BASIC, **SERVER}
    queue = {**options, "in_flight": "queue"}
    outcome = ansible.each(
        {
            "refused": {"oceanbase.ocp.server_restart": options},
            "checked": {"oceanbase.ocp.server_restart": queue, "check_mode": True},
            "hurried": {"oceanbase.ocp.server_restart": {**queue, "wait_timeout": 1}},
        }
    )
    refused, checked, hurried = (outcome.results[name] for name in ("refused", "checked", "hurried"))
    assert outcome.failed == {"refused", "hurried"}
    assert refused["action"] is None
    assert "in_flight=queue" in refused["msg"]
    assert (checked["action"], checked["changed"]) == ("submitted", True)
    assert hurried["changed"] is False
    assert f"Task {earlier['task_id']} (Restart OB server 10.0.0.1) is not finished" in hurried["msg"]
    queued = ansible.module("server_restart", wait=True, wait_interval=1, **queue)
    assert (queued["action"], queued["task"]["succeeded"]) == ("submitted", True), queued
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 2}


def test_agents_started_since_the_change_are_skipped(ansible, emulator):
    change = (datetime.now(UTC) - timedelta(seconds=2)).isoformat()
    options = {"url": emulator.url, "started_before": change, "wait": True, **BASIC}
    ansible.module("agent_restart", hosts=[2], **options)
    rest = ansible.module("agent_restart", hosts=[1, 2, 3], **options)
    assert rest["skipped_hosts"] == [{"id": 2, "name": "10.0.0.2"}]
    assert [member["name"] for member in rest["before"]["members"]] == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    assert rest["verified"] is True
    assert emulator.restarts("HOST") == {"10.0.0.1": 1, "10.0.0.2": 1, "10.0.0.3": 1}


def test_second_run_sees_the_first_where_the_oldest_tasks_are_listed_first(ansible, start_emulator):
    """The service ignores the order, and shows the start late."""
    emulator = start_emulator("--clusters", "11")
    for host in range(2, 33):
        emulator.post("/api/v2/compute/hosts/batchRestartAgents", {"hostIds": [host]})
    for fault in ({"action": "ignore", "parameters": ["sort"]}, {"action": "late_start", "seconds": 4}):
        emulator.post("/emulator/faults", {"kind": "answer", "times": None, **fault})
    options = {"url": emulator.url, "hosts": [1], "started_before": now(), **BASIC}
    ansible.module("agent_restart", **options)
    while emulator.get("/api/v2/tasks/instances?status=RUNNING")["contents"]:
        time.sleep(0.05)
    again = ansible.module("agent_restart", wait=True, **options)
    assert (again["action"], again["verified"]) == ("skipped", True), again
    assert emulator.restarts("HOST")["10.0.0.1"] == 1


def test_time_without_offset_is_refused_before_any_request(ansible, emulator):
    result = ansible.module("server_restart", url=emulator.url, started_before="2026-05-04T03:00:00", **BASIC, **SERVER)
    assert result["rc"] == 2
    assert "started_before: 2026-05-04T03:00:00 is not an instant" in result["msg"]
    assert emulator.requests("GET") == []


def test_clock_offset_is_corrected_and_reported(ansible, emulator):
    before = now()
    emulator.advance(240)
    options = {"url": emulator.url, "wait": True, **BASIC, **SERVER}
    first = ansible.module("server_restart", started_before=before, **options)
    # By the service's clock it started four minutes after this, which is still before it by a clock that is right.
    soon = (datetime.now(UTC) + timedelta(seconds=60)).isoformat()
    again = ansible.module("server_restart", "--check", started_before=soon, **options)
    assert (first["action"], again["action"]) == ("submitted", "submitted")
    assert "seconds ahead of the clock of this machine" in " ".join(first["warnings"])


@pytest.mark.parametrize("module", ["server_restart", "cluster_rolling_restart_info"])
def test_clock_that_is_an_hour_off_is_refused(ansible, emulator, module):
    before = now()
    emulator.advance(3600)
    target = SERVER if module == "server_restart" else {"clusters": ["orders"]}
    result = ansible.module(module, url=emulator.url, started_before=before, **BASIC, **target)
    assert result["rc"] == 2
    assert result["msg"].startswith("started_before: by the clock of the service it is ")
    assert result["msg"].endswith("Set the clocks right (NTP), then run this again.")
    assert emulator.requests("POST") == []
    # Without it no clock decides.
    if module == "server_restart":
        assert ansible.module(module, url=emulator.url, **BASIC, **target)["action"] == "submitted"


def test_access_key_failure_names_the_clock_offset(ansible, emulator, tmp_path):
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "sitecustomize.py").write_text(
        "import time\nright = time.time\ntime.time = lambda: right() - 1200\n"
    )
    ansible.environment = {"PYTHONPATH": str(tmp_path / "late")}
    result = ansible.module("server_restart", url=emulator.url, **ACCESS_KEY, **SERVER)
    assert result["rc"] == 2
    assert "The clock of this machine is 1200 seconds behind that of the service" in result["msg"]
    assert len(emulator.requests("GET")) == 1


def test_concurrent_accepted_requests_restart_the_server_once(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "0.1", "--busy", "fail")
    play = [fleet_play(emulator, [1], now(), wait=True)]
    processes = [ansible.start(play, f"controller-{number}", quick=True) for number in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


@pytest.mark.parametrize(("controllers", "servers"), [(2, 3), pytest.param(4, 30, marks=pytest.mark.nightly)])
def test_concurrent_controllers_restart_each_server_once(ansible, start_emulator, controllers, servers):
    emulator = start_emulator("--clusters", "1", "--servers-per-zone", str(servers // 3), "--step-seconds", "0.1")
    play = [fleet_play(emulator, range(1, servers + 1), now())]
    processes = [ansible.start(play, f"controller-{number}", quick=True) for number in range(controllers)]
    codes = [process.wait(timeout=300) for process in processes]
    outputs = [ansible.output(f"controller-{number}").read_text() for number in range(controllers)]
    assert codes == [0] * controllers, outputs
    restarted = emulator.restarts("OB_SERVER")
    assert len(restarted) == servers
    assert set(restarted.values()) == {1}
