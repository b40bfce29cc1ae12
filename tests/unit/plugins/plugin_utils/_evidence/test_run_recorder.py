# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which events become evidence, what never gets into it, and that nothing of it harms the run."""

from __future__ import annotations

import atexit
import json
import os
import threading
from unittest import mock

import pytest
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._ansible_core import id_of
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence import (
    evidence_file,
    notes_of_workers,
    run_recorder,
)
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence.evidence_page import render_evidence
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence.notes_of_workers import noting
from ansible_collections.oceanbase.ocp.tests.unit.support.evidence_runs import URL, Run, Task, checked, restarted
from ansible_collections.oceanbase.ocp.tests.unit.support.html_pages import NASTY, Page, scalars, tasks, texts
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture(autouse=True)
def exits(monkeypatch):
    """What is to run when the process ends; a test runs it itself."""
    found = []
    monkeypatch.setattr(atexit, "register", found.append)
    # What is noted is written when a test says so.
    monkeypatch.setattr(run_recorder, "PAUSE", 3600)
    # Written at each event.
    monkeypatch.setattr(evidence_file, "SHARE", 0)
    for name in ("OCP_URL", "OCP_USERNAME", "OCP_PASSWORD", "OCP_ACCESS_KEY_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "change.json")


def test_run_has_who_asked_what_was_done_and_the_proof(run):
    run.begins({"awx_user_name": "ann", "awx_job_id": 7, "ocp_password": "s3cr3t-word"})
    run.recorder.ended(run.result("server_restart", restarted()))
    run.ends()
    found = run.document
    assert (found["ticket"], found["state"], found["totals"]) == ("CHG-4711", "succeeded", {"proven": 1})
    assert (found["run"]["playbooks"], found["run"]["plays"]) == (["/srv/restart.yml"], ["Restart"])
    assert found["requested_from"]["awx"]["user_name"] == "ann"
    assert (found["services"], found["requested_by"]["ocp_users"]) == ([URL], ["admin"])
    assert found["targets"][0]["outcome"] == "proven"
    assert run.shown == [f"Evidence: {run.file} and {run.file.with_suffix('.html')}"]
    assert "s3cr3t-word" not in run.file.read_text() + run.page
    assert "orders 10.0.0.1:2882" in Page(run.page).text


def test_page_has_the_time_zone_of_the_service(run):
    run.begins()
    run.recorder.ended(run.result("server_restart", restarted()))
    run.recorder.ended(run.result("server_restart", restarted(msg="Task 1001 FAILED", verified=None)), failed=True)
    run.ends()
    assert run.document["run"]["ended_at"].endswith("+00:00")
    assert run.document["failures"][0]["at"].endswith("+00:00")
    assert (run.page.count("+00:00"), "+08:00" in run.page) == (0, True)


def test_target_has_the_name_and_the_instant_of_its_change(run):
    for args in ({"change": "memory <2026>"}, {"started_before": "2026-05-04T03:00:00+08:00"}, {}):
        run.recorder.ended(run.result("server_restart", restarted(), args={"url": URL, **args}))
    assert [(one["change"], one["started_before"]) for one in run.document["targets"]] == [
        ("memory <2026>", None),
        (None, "2026-05-04T03:00:00+08:00"),
        (None, None),
    ]
    shown = Page(run.page).text
    assert (shown.count("Change: memory <2026>"), shown.count("Started before: 2026-05-04")) == (1, 1)


def test_run_without_a_module_of_the_collection_writes_nothing(run, tmp_path):
    run.begins()
    run.recorder.started(run.host(), Task("ansible.builtin.uri"))
    run.recorder.ended(run.result("ansible.builtin.uri", {"changed": False}))
    run.recorder.ended(run.result("ansible.builtin.uri", {"msg": "no"}), failed=True)
    run.ends(failed=True)
    assert (list(tmp_path.iterdir()), run.shown, run.warnings) == ([], [], [])


def test_loop_counts_each_item_once(run):
    run.begins()
    failed = restarted(msg="Task 1001 FAILED", verified=None)
    run.recorder.item(run.result("server_restart", restarted()))
    run.recorder.item(run.result("server_restart", failed), failed=True)
    whole = {"results": [restarted(), failed], "changed": True, "msg": "One or more items failed"}
    run.recorder.ended(run.result("server_restart", whole), failed=True)
    run.ends(failed=True)
    assert [(entry["number"], entry["outcome"]) for entry in run.document["targets"]] == [(1, "proven"), (2, "failed")]
    assert [failure["message"] for failure in run.document["failures"]] == ["Task 1001 FAILED"]


def test_each_failed_try_is_kept(run):
    run.recorder.retry(run.result("server_restart", restarted(msg="Task 1001 FAILED", verified=None)))
    run.recorder.ended(run.result("server_restart", restarted()))
    assert [entry["outcome"] for entry in run.document["targets"]] == ["failed", "proven"]
    assert [failure["ignored"] for failure in run.document["failures"]] == [True]


def test_failure_that_the_playbook_ignores_is_kept(run):
    run.recorder.ended(run.result("server_restart", restarted(msg="it FAILED")))
    run.ends()
    assert (run.document["state"], run.document["totals"]) == ("succeeded", {"failed": 1})
    [failure] = run.document["failures"]
    assert (failure["message"], failure["ignored"]) == ("it FAILED", True)


def test_failed_task_of_another_module_is_named_and_no_more(run):
    run.recorder.ended(run.result("server_restart", restarted()))
    shown = {"msg": "401 for token abcdef", "url": "http://lb/?token=abcdef"}
    run.recorder.ended(run.result("ansible.builtin.uri", shown, "Drain it"), failed=True)
    [failure] = run.document["failures"]
    assert (failure["step"], failure["module"], failure["message"]) == ("Drain it", "ansible.builtin.uri", None)
    assert "abcdef" not in run.file.read_text() + run.page


def test_hidden_result_is_counted_and_not_kept(run):
    run.recorder.ended(run.result("server_restart", {"censored": "the output has been hidden", "changed": True}))
    assert (run.document["hidden_results"], run.document["targets"]) == (1, [])
    assert "1 results are hidden by no_log" in run.page


@pytest.mark.parametrize("name", ["OCP_PASSWORD", "OCP_ACCESS_KEY_SECRET"])
def test_secrets_of_the_environment_are_masked(run, monkeypatch, name):
    monkeypatch.setenv(name, "hidden-w0rd")
    result = run.result("server_restart", restarted(reason="because hidden-w0rd"), args={})
    run.recorder.ended(result)
    assert run.document["targets"][0]["reason"] == "because ********"


def test_service_and_user_are_those_of_the_environment_of_the_task(run, monkeypatch):
    """As an ordinary module has it, which ran where the variables of this process are others."""
    monkeypatch.setenv("OCP_URL", "http://elsewhere:8080")
    monkeypatch.setenv("OCP_USERNAME", "somebody")
    shown = restarted(invocation={"module_args": {"url": URL, "username": "night"}})
    run.recorder.ended(run.result("server_restart", shown, args={}))
    assert (run.document["services"], run.document["requested_by"]["ocp_users"]) == ([URL], ["night"])


def test_interrupted_run_names_what_has_no_result(run, exits):
    run.begins()
    run.recorder.started(run.host(), Task("server_restart", "Restart a node"))
    assert run.document["state"] == "running"
    [at_exit] = exits
    at_exit()
    found = run.document
    assert (found["state"], [one["step"] for one in found["unfinished"]]) == ("interrupted", ["Restart a node"])
    assert "Restart a node" in Page(run.page).text
    assert run.shown == [f"Evidence: {run.file} and {run.file.with_suffix('.html')}"]


PURPOSE = {"for": {"change": "memory", "started_before": None, "service": URL, "user": "admin", "check_mode": False}}


def noting_of(run, module, name="Restart it", purpose=PURPOSE):
    """What a module that has begun calls to note something; it has noted what it is for, unless it notes nothing."""
    task = Task(module, name)
    run.recorder.started(run.host(), task)
    note = noting((run.host().get_name(), id_of(task)))
    if purpose:
        note(purpose)
    return note


def server(number, task_id=None):
    """A restart of a server, as it is noted."""
    label = f"server 10.0.0.{number}:2882 (id {number}) of cluster orders (id 7)"
    return {"target": label, "task_id": task_id, "members": [f"10.0.0.{number}:2882"]}


def test_item_of_an_interrupted_loop_that_has_its_result_is_not_in_flight(run, exits):
    run.begins()
    note = noting_of(run, "server_restart")
    note({"began": server(1, 1001)})
    note({"over": True})
    # The next item may begin before the result of the first one is there.
    note(PURPOSE)
    note({"began": server(2, 2002)})
    run.recorder.item(run.result("server_restart", restarted()))
    [end] = exits
    end()
    [unfinished] = run.document["unfinished"]
    assert [one["task_id"] for one in unfinished["in_flight"]] == [2002]


def test_interrupted_run_names_the_server_in_flight_with_its_task(run, exits):
    run.begins()
    note = noting_of(run, "cluster_rolling_restart")
    servers = [{"cluster": "orders", "zone": "zone1", "name": f"10.0.0.{n}:2882", "reason": "old"} for n in (1, 2, 3)]
    batch = {"cluster": "orders", "zone": "zone1"}
    note({"plan": {"clusters": [], "batches": [{**batch, "servers": [one]} for one in servers], "left_alone": []}})
    note({"began": server(1, 1001)})
    note({"ended": {**servers[0], "outcome": "submitted", "task_id": 1001, "verified": True, "elapsed": 5.0}})
    note({"began": server(2, 1002)})
    [end] = exits
    end()
    found = run.document
    assert (found["state"], found["totals"]) == ("interrupted", {"not_begun": 1, "proven": 1})
    [unfinished] = found["unfinished"]
    assert unfinished["in_flight"] == [
        {"target": "server 10.0.0.2:2882 (id 2) of cluster orders (id 7)", "task_id": 1002}
    ]
    assert [(one["name"], one["outcome"]) for one in found["targets"]] == [
        ("10.0.0.1:2882", "proven"),
        ("10.0.0.3:2882", "not_begun"),
    ]
    assert [(one["change"], one["started_before"]) for one in found["targets"]] == [("memory", None)] * 2
    assert "10.0.0.2:2882 (id 2) of cluster orders (id 7): task 1002" in Page(run.page).text


def test_reason_of_a_restart_stands_apart_from_its_proof(run):
    run.begins()
    result = restarted()
    run.recorder.ended(run.result("server_restart", {**result, "reason": "10.0.0.1:2882 has not started since"}))
    assert "Why it was restarted: 10.0.0.1:2882 has not started since" in Page(run.page).text


def test_interrupted_fleet_has_the_proof_of_its_first_wave_and_the_server_in_flight(run, exits):
    run.begins()
    note = noting_of(run, "fleet_restart")
    servers = [{"cluster": "orders", "server": f"10.0.0.{n}:2882", "reason": "old"} for n in (1, 2, 3, 4)]
    waves = [{"number": number, "servers": [one]} for number, one in enumerate(servers, 1)]
    note({"plan": {"waves": waves, "left_alone": [], "refused": []}})
    note({"began": server(1, 1001)})
    done = {"cluster": "orders", "server": "10.0.0.1:2882", "name": "10.0.0.1:2882", "failed": False, "refused": False}
    done |= {"changed": True, "action": "submitted", "task_id": 1001, "verified": True, "duration": 5.0}
    bad = {"server": "10.0.0.4:2882", "name": "10.0.0.4:2882", "failed": True, "msg": "was lost.", "verified": None}
    note({"ended": done})
    note({"ended": {**done, **bad, "task_id": 1004}})
    note({"began": server(2, 1002)})
    [end] = exits
    end()
    found = run.document
    assert [(one["name"], one["outcome"]) for one in found["targets"]] == [
        ("10.0.0.1:2882", "proven"),
        ("10.0.0.4:2882", "failed"),
        ("10.0.0.3:2882", "not_begun"),
    ]
    assert found["targets"][0]["task"]["duration"] == 5.0
    [unfinished] = found["unfinished"]
    assert [one["task_id"] for one in unfinished["in_flight"]] == [1002]


def agents_of(run, *hosts, **values):
    """The result of a batch of hosts, of a run that has three of them."""
    target = {"kind": "agents", "hosts": [{"id": 1, "name": name} for name in hosts]}
    args = {"url": URL, "hosts": [*hosts], "planned": ["10.0.0.1", "10.0.0.2", "3"], "change": "m-1"}
    return run.result("agent_restart", restarted(target=target, **values), args=args)


@pytest.mark.parametrize(("state", "outcome"), [("running", "unknown"), ("interrupted", "not_begun")])
def test_part_that_waits_for_its_turn_is_not_lost(run, exits, state, outcome):
    note = noting_of(run, "agent_restart")
    planned = ["10.0.0.1", "10.0.0.2", "3"]
    note({"part": {"planned": planned, "targets": planned[:1]}})
    run.recorder.refresh()
    if state == "interrupted":
        exits[0]()
    assert (run.document["state"], outcomes(run)) == (state, [(name, outcome) for name in planned])


@pytest.mark.parametrize("interrupted", [False, True])
def test_targets_that_a_run_of_several_calls_has_not_come_to_are_not_begun(run, exits, interrupted):
    run.begins()
    note = noting_of(run, "agent_restart")
    planned = ["10.0.0.1", "10.0.0.2", "3"]
    note({"part": {"planned": planned, "targets": planned[:1]}})
    note({"began": {"target": "agents 10.0.0.1", "task_id": 1001, "members": ["10.0.0.1"]}})
    note({"over": True})
    run.recorder.item(agents_of(run, "10.0.0.1"))
    note(PURPOSE)
    note({"part": {"planned": planned, "targets": planned[1:2]}})
    if interrupted:
        note({"began": {"target": "agents 10.0.0.2", "task_id": 1002, "members": ["10.0.0.2"]}})
        exits[0]()
    else:
        run.recorder.item(agents_of(run, "10.0.0.2", msg="Task 1002 FAILED", verified=None), failed=True)
        run.recorder.ended(run.result("agent_restart", {"results": [], "msg": "One or more items failed"}), failed=True)
        run.ends(failed=True)
    found = run.document["targets"]
    told = [(one["kind"], one["name"], one["outcome"]) for one in found]
    assert told[0] == ("agents", "10.0.0.1", "proven")
    assert told[-1] == ("agents", "3", "not_begun")
    assert told[1:-1] == ([] if interrupted else [("agents", "10.0.0.2", "failed")])


WAVES = [{"cluster": "orders", "server": f"10.0.0.{n}:2882", "reason": "old"} for n in (1, 2, 3, 4)]
WAVES = {"waves": [{"number": 1, "servers": WAVES}], "left_alone": [], "refused": []}


def outcomes(run):
    return [(one["name"], one["outcome"]) for one in run.document["targets"]]


def test_what_a_killed_run_may_have_come_to_is_not_known(run):
    """Nothing is written after kill -9, and a module may begin after the last document."""
    run.begins()
    run.recorder.ended(run.result("fleet_restart_info", WAVES))
    assert (run.document["state"], run.document["totals"]) == ("running", {"unknown": 4})
    assert "not known" in Page(run.page).text


def test_what_a_module_notes_reaches_the_document_while_it_runs(run):
    run.begins()
    note = noting_of(run, "fleet_restart")
    note({"plan": WAVES})
    for number in (1, 2):
        note({"asked": server(number)})
        note({"began": server(number, 1000 + number)})
    done = {"cluster": "orders", "server": "10.0.0.1:2882", "name": "10.0.0.1:2882", "changed": True}
    note({"ended": {**done, "action": "submitted", "task_id": 1001, "verified": True}})
    note({"asked": server(3)})
    run.recorder.refresh()
    assert outcomes(run) == [("10.0.0.1:2882", "proven"), ("10.0.0.4:2882", "unknown")]
    found = run.document
    [unfinished] = found["unfinished"]
    assert [(one["task_id"], one["target"][:20]) for one in unfinished["in_flight"]] == [
        (1002, "server 10.0.0.2:2882"),
        (None, "server 10.0.0.3:2882"),
    ]
    assert (found["state"], found["services"], found["requested_by"]["ocp_users"]) == ("running", [URL], ["admin"])
    assert {one["change"] for one in found["targets"]} == {"memory"}
    assert "(id 3) of cluster orders (id 7): a request was sent, its task is not known" in Page(run.page).text
    # Its result has all of that.
    servers = [
        {**done, "server": f"10.0.0.{n}:2882", "name": f"10.0.0.{n}:2882", "verified": True} for n in range(1, 5)
    ]
    result = {"changed": True, "servers": servers, "plan": WAVES}
    run.recorder.ended(run.result("fleet_restart", result, args={"url": URL, "change": "memory"}))
    assert (run.document["totals"], run.document["unfinished"], len(run.document["plans"])) == ({"proven": 4}, [], 1)


def test_request_that_was_refused_is_not_in_flight(run, exits):
    note = noting_of(run, "fleet_restart")
    note({"plan": WAVES})
    note({"asked": server(1)})
    note({"refused": server(1)})
    exits[0]()
    assert run.document["unfinished"][0]["in_flight"] == []
    assert outcomes(run)[0] == ("10.0.0.1:2882", "not_begun")


def test_servers_of_a_zone_in_flight_are_not_called_not_begun(run, exits):
    note = noting_of(run, "cluster_rolling_restart")
    servers = [{"name": f"10.0.0.{n}:2882", "needed": True, "reason": "old"} for n in (1, 2, 3)]
    batches = [
        {"cluster": "orders", "zone": "zone1", "servers": servers[:2]},
        {"cluster": "orders", "servers": servers[2:]},
    ]
    note({"plan": {"clusters": [], "batches": batches, "left_alone": []}})
    zone = {"target": "zone zone1 of cluster orders (id 7)", "task_id": 1001}
    note({"began": {**zone, "members": ["10.0.0.1:2882", "10.0.0.2:2882"]}})
    exits[0]()
    assert outcomes(run) == [("10.0.0.3:2882", "not_begun")]
    assert run.document["unfinished"][0]["in_flight"] == [zone]


@pytest.mark.parametrize("is_item", [False, True])
def test_what_a_result_without_details_leaves_out_is_kept(run, is_item):
    """As that of a worker that was killed, or of a failure without detail=full."""
    run.begins()
    note = noting_of(run, "fleet_restart")
    note({"plan": WAVES})
    done = {"cluster": "orders", "server": "10.0.0.1:2882", "name": "10.0.0.1:2882", "changed": True}
    note({"began": server(1, 1001)})
    note({"ended": {**done, "action": "submitted", "task_id": 1001, "verified": True}})
    note({"began": server(2, 1002)})
    note({"over": True})
    failure = run.result("fleet_restart", {"msg": "A worker was found in a dead state"})
    if is_item:
        run.recorder.item(failure, failed=True)
    run.recorder.ended(failure, failed=True)
    run.ends(failed=True)
    told = [("10.0.0.1:2882", "proven"), ("10.0.0.3:2882", "not_begun"), ("10.0.0.4:2882", "not_begun")]
    assert (run.document["state"], outcomes(run)) == ("failed", told)
    assert [one["task_id"] for each in run.document["unfinished"] for one in each["in_flight"]] == [1002]
    assert len(run.document["plans"]) == 1


def test_module_that_notes_nothing_may_have_come_to_all_that_was_planned(run, exits):
    """As an ordinary module, or one whose task has no_log."""
    run.recorder.ended(run.result("fleet_restart_info", WAVES))
    noting_of(run, "fleet_restart", purpose=None)
    exits[0]()
    assert (run.document["state"], run.document["totals"]) == ("interrupted", {"unknown": 4})


@pytest.mark.parametrize("state", ["running", "interrupted", "succeeded"])
def test_page_says_that_nothing_was_restarted_only_if_that_is_known(run, exits, state):
    run.begins()
    if state == "succeeded":
        run.recorder.ended(run.result("server_info", {"servers": []}))
        run.ends()
    else:
        noting_of(run, "server_restart", purpose=None)
    if state == "interrupted":
        exits[0]()
    assert run.document["state"] == state
    shown = Page(run.page).text
    assert ("No target was restarted" in shown) == (state == "succeeded")
    assert ("It is not known which targets were restarted" in shown) == (state != "succeeded")


def test_note_that_cannot_be_written_harms_no_module(run):
    note = noting_of(run, "fleet_restart")
    with mock.patch.object(notes_of_workers.os, "write", side_effect=OSError(28, "No space left on device")):
        note({"plan": WAVES})


def test_process_that_is_forked_while_the_evidence_is_written_finds_its_lock_free():
    over = threading.Event()

    def write():
        while not over.is_set():
            with run_recorder._LOCK:
                pass

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _fork in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0 if run_recorder._LOCK.acquire(blocking=False) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        writer.join()


@pytest.mark.parametrize("check_mode", [False, True])
def test_all_that_was_planned_and_has_no_outcome_is_not_begun(run, check_mode):
    servers = [{"cluster": "orders", "server": f"10.0.0.{n}:2882", "reason": "old"} for n in (1, 2)]
    waves = {"waves": [{"number": 1, "servers": servers}], "left_alone": [], "refused": []}
    run.recorder.ended(run.result("fleet_restart_info", waves, check_mode=check_mode))
    others = [{"name": f"10.0.0.{n}:2882", "needed": True, "reason": "old"} for n in (3, 4)]
    zone = {"clusters": [], "batches": [{"cluster": "orders", "servers": others}], "left_alone": []}
    run.recorder.ended(run.result("cluster_rolling_restart_info", zone, check_mode=check_mode))
    if not check_mode:
        run.recorder.ended(run.result("server_restart", restarted()))
    run.ends()
    left = [f"10.0.0.{n}:2882" for n in ((1, 2, 3, 4) if check_mode else (2, 3, 4))]
    word = "planned" if check_mode else "not_begun"
    assert [one["name"] for one in run.document["targets"] if one["outcome"] == word] == left
    assert run.document["totals"][word] == len(left)


def test_ended_run_stays_as_it_is_when_the_process_ends(run, exits):
    run.recorder.ended(run.result("server_restart", restarted()))
    run.ends()
    before = run.file.read_text()
    exits[0]()
    assert run.file.read_text() == before


def test_read_is_never_unfinished(run):
    run.recorder.started(run.host(), Task("server_info"))
    assert run.document["unfinished"] == []


def test_background_task_stays_unfinished(run):
    run.recorder.started(run.host(), Task("server_restart"))
    run.recorder.ended(run.result("server_restart", {"ansible_job_id": "j1", "started": 1, "finished": 0}))
    run.ends()
    assert len(run.document["unfinished"]) == 1


def test_task_that_is_waited_for_later_is_brought_up_to_date(run):
    started = restarted(after=None, verified=None)
    ended = started["task"]
    started["task"] = {**ended, "status": "RUNNING", "finish_time": None, "duration": None}
    run.recorder.ended(run.result("server_restart", started))
    other = {**ended, "status": "FAILED", "start_time": "2026-05-04T09:00:00+08:00"}
    run.recorder.ended(run.result("task_wait", {"tasks": [other, ended]}))
    [target] = run.document["targets"]
    assert (target["outcome"], target["task"]["status"], target["task"]["duration"]) == ("unproven", "SUCCESSFUL", 9.0)


def test_later_look_at_the_same_plan_is_left_out(run):
    def plan(*names):
        servers = [{"name": name, "reason": "old", "needed": True} for name in names]
        return run.result("cluster_rolling_restart_info", {"batches": [{"cluster": "orders", "servers": servers}]})

    for names in ("a", "b"), ("b",), (), ("c",):
        run.recorder.ended(plan(*names))
    assert [[one["name"] for one in each["steps"][0]] for each in run.document["plans"]] == [["a", "b"], ["c"]]


INSPECTION = {
    **{"cluster": "orders", "cluster_id": 7, "moment": "before", "scenario": "basic", "task_id": 1001, "report_id": 12},
    **{"start_time": "2026-05-04T03:00:00+08:00", "end_time": "2026-05-04T03:02:00+08:00", "reason": None},
    **{"high_risks": 1, "medium_risks": 0, "low_risks": 0},
    "risks": [{"item": "Disk usage", "target": "10.0.0.1", "value": "91", "level": "HIGH"}],
}
NO_REPORT = {
    **INSPECTION,
    **dict.fromkeys(("report_id", "start_time", "end_time", "high_risks", "medium_risks", "low_risks")),
    **{"moment": "after", "risks": [], "reason": "task 1005 (Inspection task) FAILED"},
}


def test_inspections_of_a_run_are_in_its_evidence(run):
    run.begins()
    result = {"changed": False, "plan": {"waves": []}, "servers": [], "inspections": [INSPECTION, NO_REPORT]}
    run.recorder.ended(run.result("fleet_restart", result))
    found = run.document["inspections"]
    assert [{key: one[key] for key in INSPECTION} for one in found] == [INSPECTION, NO_REPORT]
    shown = Page(run.page).text
    assert "1 high, 0 medium, 0 low risks, report 12" in shown
    assert "HIGH: Disk usage of 10.0.0.1, 91" in shown
    assert "no report task 1005 (Inspection task) FAILED" in shown


def test_interrupted_run_has_the_inspection_before_it(run, exits):
    run.begins()
    note = noting_of(run, "cluster_rolling_restart")
    note({"inspected": INSPECTION})
    note({"began": server(1, 1001)})
    [end] = exits
    end()
    assert [one["report_id"] for one in run.document["inspections"]] == [12]


def test_inspection_that_was_noted_is_not_there_twice(run):
    run.begins()
    note = noting_of(run, "cluster_rolling_restart")
    note({"inspected": INSPECTION})
    note({"over": True})
    run.recorder.ended(run.result("cluster_rolling_restart", {"changed": False, "inspections": [INSPECTION]}))
    assert [one["report_id"] for one in run.document["inspections"]] == [12]


def test_values_of_parameters_are_left_out(run):
    one = {"name": "external_kms_info", "wanted": "secret-value", "needs_restart": True, "in_effect": None}
    result = {"changed": True, "cluster": {"id": 1, "name": "orders"}, "parameters": [one], "set_at": None}
    run.recorder.ended(run.result("cluster_parameter", {**result, "reason": "sets it to secret-value"}))
    assert run.document["parameters"][0]["name"] == "external_kms_info"
    assert "secret-value" not in run.file.read_text() + run.page


def test_what_cannot_be_written_is_one_warning(tmp_path):
    (tmp_path / "file").write_text("")
    run = Run(tmp_path / "file" / "change.json")
    for _attempt in range(3):
        run.recorder.ended(run.result("server_restart", restarted()))
    run.ends()
    assert len(run.warnings) == 1
    assert "no more evidence is written" in run.warnings[0]


def test_fork_of_the_process_writes_nothing(run, monkeypatch, tmp_path):
    monkeypatch.setattr(run_recorder, "process_id", lambda: -1)
    run.recorder.ended(run.result("server_restart", restarted()))
    assert list(tmp_path.iterdir()) == []


def test_second_playbook_of_a_command_keeps_the_failure_of_the_first(run):
    for failed in (True, False):
        run.begins()
        run.recorder.ended(run.result("server_restart", restarted()))
        run.ends(failed=failed)
    assert (run.document["state"], len(run.document["run"]["playbooks"])) == ("failed", 2)


RESULTS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("msg", "action", "reason", "verified", "changed", "task_id", "elapsed", "trace_id"), scalars),
        "task": tasks | scalars,
        "tasks": st.lists(tasks, max_size=2),
        "target": st.dictionaries(st.sampled_from(["kind", "name", "cluster_name", "hosts"]), scalars) | scalars,
        "before": st.dictionaries(st.just("members"), st.lists(st.dictionaries(st.just("name"), scalars))) | scalars,
        "servers": st.lists(
            st.dictionaries(st.sampled_from(["name", "cluster", "failed", "msg"]), scalars), max_size=2
        ),
        "batches": st.lists(st.dictionaries(st.just("servers"), st.lists(st.dictionaries(st.just("name"), texts)))),
        "failed_subtasks": st.lists(st.dictionaries(st.sampled_from(["id", "name", "log_tail"]), scalars), max_size=2),
        "parameters": st.lists(st.dictionaries(st.sampled_from(["name", "in_effect"]), scalars), max_size=2),
    },
)
MODULES = [
    *("server_restart", "fleet_restart", "cluster_rolling_restart", "cluster_rolling_restart_info", "task"),
    "cluster_parameter",
]


@given(st.sampled_from(MODULES), RESULTS, st.sampled_from(NASTY))
def test_any_result_keeps_the_schema_and_a_page_that_no_text_breaks(tmp_path_factory, module, result, name):
    run = Run(tmp_path_factory.mktemp("evidence") / "change.json", ticket=name)
    run.recorder.ended(run.result(module, result, name))
    run.ends(failed=True)
    assert run.warnings == []
    page = Page(run.page)
    assert {tag for tag, _attributes in page.tags}.isdisjoint({"script", "link", "img", "iframe", "form"})
    assert not [key for _tag, attributes in page.tags for key in attributes if key.startswith("on")]
    assert page.document.isprintable() or "\x1b" not in page.document
    assert run.document["state"] == "failed"


def test_page_is_made_of_the_document_alone(run):
    run.recorder.ended(run.result("server_restart", restarted()))
    run.ends()
    assert render_evidence(checked(json.loads(run.file.read_text()))) == run.page
