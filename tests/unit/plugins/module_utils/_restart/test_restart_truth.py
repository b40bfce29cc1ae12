# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Green means that it restarted once, and serves: what a lagging, failing or lying service cannot change."""

from __future__ import annotations

import copy
from contextlib import suppress
from dataclasses import replace
from unittest import mock

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    JournalError,
    NotVerified,
    OptionError,
    OutcomeUnknown,
    RequestRefused,
    ResponseUnreadable,
    TargetBusy,
    TargetHeld,
    TaskFailed,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import run
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import Request
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import OwnNotes
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_process, journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Thing, at, lost, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import clock_ahead
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    SERVER,
    every_restart,
    failure,
    however_shown,
    request,
    restart,
)

AGENTS, ARBITRATION, CLUSTER = RESTART_CASES["agents"], RESTART_CASES["arbitration service"], RESTART_CASES["cluster"]
OBPROXIES, ZONE = RESTART_CASES["obproxies"], RESTART_CASES["zone"]
every_shown_restart = pytest.mark.parametrize(
    "case",
    [case for case in RESTART_CASES.values() if case.proven],
    ids=[k for k, c in RESTART_CASES.items() if c.proven],
)
# Another server of the cluster is on its host.
NOT_ALONE = replace(SERVER, target=replace(SERVER.target, alone=False))
# What the tests ask for: started since the beginning.
CHANGE = at(-100)


def again(service, case, **more):
    """Run the same again, in another process."""
    another_process()
    return restart(service, case, request(started_before=CHANGE, wait=True, **more))


def again_fails(service, case, **more):
    another_process()
    return failure(service, case, request(started_before=CHANGE, wait=True, **more))


def with_status(service, case, status):
    for thing in case.things(service):
        thing.status = status


# Starts so near the change that clocks do not decide


def read_in(service, seconds, then=lambda: None):
    """Each read of an agent takes some time, which no uptime in whole seconds shows."""
    read = service.host_agent

    def host_agent(host_id):
        service.passes(seconds)
        then()
        assert len(service.calls) < 400, "it looks without end"
        return read(host_id)

    service.host_agent = host_agent


def test_start_that_is_computed_from_an_uptime_is_the_same_at_each_look(service):
    for thing in AGENTS.things(service):
        thing.started = -20.0
    read_in(service, 0.31)
    result = restart(service, AGENTS, request(started_before=at(-10)))
    assert (result["action"], len(service.posts)) == ("submitted", 1)


def test_service_of_which_no_two_looks_agree_gets_no_request(service):
    """Every other look shows no start: between them it may have been restarted."""
    hosts = len(AGENTS.things(service))

    def show_or_hide():
        is_shown = service.calls.count("host_agent") // hosts % 2 == 0
        for thing in AGENTS.things(service):
            thing.started = -20.0 if is_shown else None

    read_in(service, 0.01, show_or_hide)
    error = failure(service, AGENTS, request(started_before=at(-10)))
    assert (error.__class__, service.posts) == (ResponseUnreadable, [])
    assert "has not shown the same start of the agents of 2 hosts (10.1.0.1, 10.1.0.2) twice in a row" in str(error)
    assert "Did not restart" in str(error)


def test_start_of_a_host_that_needs_no_restart_may_move_at_each_look(service):
    """It has started since the change, and starts again and again."""
    steady, restless = AGENTS.things(service)
    steady.started = -210.0

    def start_later():
        restless.started = -100.0 + 2 * service.calls.count("host_agent")

    read_in(service, 0.01, start_later)
    restart(service, AGENTS, request(started_before=at(-200)))
    assert service.posts == [("agents", [steady.id])]


def test_start_that_goes_back_from_the_future_is_not_the_same():
    """The clock of its host was set, and it may have started since."""
    ahead = Member("a", "RUNNING", start_time="2026-05-04T04:00:00Z", started=at(3600), is_ahead=True)
    assert run._shows_the_same(ahead, ahead)
    assert not run._shows_the_same(ahead, replace(ahead, started=at(0), is_ahead=False))


def test_pause_between_looks_that_do_not_agree_reads_the_gates_again(service, monkeypatch):
    for thing in SERVER.things(service):
        thing.started = -20.0
    agree = iter([False])
    monkeypatch.setattr(run, "_shows_the_same", lambda _before, _after: next(agree, True))
    result = restart(service, SERVER, replace(request(started_before=at(-10)), safety=Safety()))
    assert (result["action"], service.calls.count("tenants")) == ("submitted", 2)


# A failure stays a failure


@every_shown_restart
@however_shown
def test_second_run_after_a_restart_that_failed_after_the_start_fails(names_operations, case, service):
    """It started, so its time is after the change; but a FAILED task holds it."""
    service.names_operations, service.end = names_operations, "FAILED"
    first = again_fails(service, case)
    assert first.__class__ is TaskFailed
    for thing in case.things(service):
        thing.started = 5.0
    with_status(service, case, "RESTARTING")
    second = again_fails(service, case)
    assert (second.__class__, len(service.posts)) == (TargetHeld, 1)
    assert (second.facts["verified"], second.facts["changed"]) == (None, False)
    assert f"task 1001 ({case.task_name}) FAILED and holds it" in str(second)
    for command in ("state=retried", "subtask_id=2 state=skipped", "state=rolled_back"):
        assert f"oceanbase.ocp.task -a 'task_id=1001 {command} wait=true detail=compact'" in str(second)
    assert second.facts["failed_task_ids"] == [1001]
    assert [step["description"] for step in second.facts["failed_subtasks"]] == ["Start it"]


@every_shown_restart
def test_target_that_started_since_but_does_not_serve_is_a_failure_that_names_the_failed_task(case, service):
    service.names_operations, service.end = False, "FAILED"
    again_fails(service, case)
    for thing in case.things(service):
        thing.started = 5.0
    with_status(service, case, "UNAVAILABLE")
    second = again_fails(service, case)
    assert (second.__class__, len(service.posts)) == (NotVerified, 1)
    assert "is UNAVAILABLE" in str(second)
    assert f"Task 1001 ({case.task_name}) FAILED at subtask 2 of 2, Start it (id 2)" in str(second)
    assert "task_id=1001 state=retried wait=true detail=compact'" in str(second)
    assert [step["task_id"] for step in second.facts["failed_subtasks"]] == [1001]


@every_shown_restart
def test_target_that_started_since_but_does_not_serve_is_a_failure_without_a_task_too(case, service):
    service.passes(60)
    for thing in case.things(service):
        thing.started = 5.0
    with_status(service, case, "UNAVAILABLE")
    error = again_fails(service, case)
    assert (error.__class__, service.posts) == (NotVerified, [])
    assert "If a restart is to bring it back, restart it once more without the change." in str(error)
    assert " once more: ansible localhost -m oceanbase.ocp." in str(error)


def test_inactive_server_that_started_since_is_a_failure(service):
    service.servers_there[0].started, service.servers_there[0].inner_status = 5.0, "INACTIVE"
    assert "10.1.0.1:2882 is RUNNING and INACTIVE" in str(again_fails(service, SERVER))


@every_restart
def test_retried_task_turns_the_failure_green(case, service):
    service.end = "FAILED"
    again_fails(service, case)
    service.jobs[0].end, service.jobs[0].applied = "SUCCESSFUL", False
    result = again(service, case)
    assert (result["action"], len(service.posts)) == ("skipped", 1)


@every_shown_restart
def test_list_that_is_behind_about_a_retried_task_permits_no_second_restart(case, service):
    service.end = "FAILED"
    again_fails(service, case)
    service.tasks = copy.deepcopy(service).tasks
    service.jobs[0].end, service.jobs[0].applied, service.start_shown_late = "SUCCESSFUL", False, 30.0
    result = again(service, case)
    assert (result["action"], len(service.posts)) == ("skipped", 1)


@every_shown_restart
@pytest.mark.parametrize("wait", [False, True])
def test_task_that_the_list_lacked_at_the_first_use_of_a_name_makes_no_run_green(wait, case, service):
    """Its start was there then, so it is not since; but which of the two, clocks do not tell."""
    behind = copy.deepcopy(service).tasks
    service.begin(case.task_name, case.things(service), seconds=2.0)
    service.passes(3)
    service.tasks, listed = behind, service.tasks
    named = replace(request(wait=wait), change="memory")
    assert restart(service, case, replace(named, finish_before=at(-1)))["action"] == "postponed"
    service.tasks = listed
    error = failure(service, case, named)
    assert (error.__class__, service.posts) == (NotVerified, [])
    assert "task 1001" in str(error)


# A start that shows late


@every_shown_restart
@however_shown
@pytest.mark.parametrize("late", [20, 170])
def test_second_run_waits_for_a_start_that_shows_late(late, names_operations, case, service):
    """The first run was killed after its task had ended."""
    service.names_operations, service.start_shown_late = names_operations, late
    restart(service, case, request(started_before=CHANGE))
    service.passes(12)
    result = again(service, case)
    assert (result["action"], result["changed"], result["verified"]) == ("skipped", False, True)
    assert late - 2 <= result["elapsed"] <= late + 11
    assert len(service.jobs) == 1


@every_shown_restart
def test_second_run_without_wait_skips_a_start_that_shows_late_and_does_not_call_it_proven(case, service):
    service.start_shown_late = 100
    restart(service, case, request(started_before=CHANGE))
    service.passes(12)
    another_process()
    result = restart(service, case, request(started_before=CHANGE))
    assert (result["action"], result["verified"], result["elapsed"]) == ("skipped", None, 0)
    assert "has restarted it, and the service does not show the start yet" in result["reason"]
    assert len(service.jobs) == 1


@every_shown_restart
def test_second_run_without_wait_fails_where_what_was_restarted_does_not_serve(case, service):
    """Somebody has stopped it since, and its start does not show yet."""
    service.start_shown_late = 100
    restart(service, case, request(started_before=CHANGE))
    service.passes(12)
    another_process()
    with_status(service, case, "STOPPED")
    error = failure(service, case, request(started_before=CHANGE))
    assert (error.__class__, len(service.posts)) == (NotVerified, 1)
    assert "has restarted it, and the service does not show the start yet; " in str(error)
    assert "is STOPPED" in str(error)


@every_shown_restart
def test_after_180_seconds_a_start_that_does_not_show_is_a_failure_and_no_second_request(case, service):
    service.restarts_really = False
    restart(service, case, request(started_before=CHANGE))
    service.passes(11)
    service.restarts_really = True
    error = again_fails(service, case)
    assert (error.__class__, len(service.posts)) == (NotVerified, 1)
    assert 160 <= error.facts["elapsed"] <= 205
    assert "has restarted it since" in str(error)
    assert str(error).endswith("\nThen run the same command again.")


def test_start_that_does_not_show_is_looked_for_less_and_less_often(service):
    service.restarts_really = False
    service.begin(SERVER.task_name, SERVER.things(service), seconds=10.0)
    service.passes(11)
    error = again_fails(service, SERVER)
    assert error.facts["elapsed"] >= 160
    assert service.calls.count("servers") <= 76


@every_shown_restart
@pytest.mark.parametrize("step", ["Start it", "启动 observer 服务"], ids=["known", "unknown"])
def test_skipped_step_that_starts_or_of_unknown_meaning_permits_no_second_restart(step, case, service):
    service.restarts_really = False
    service.begin(case.task_name, case.things(service), seconds=10.0, skipped=(2,), second=step)
    service.passes(11)
    error = again_fails(service, case)
    assert (error.__class__, service.posts) == (NotVerified, [])
    assert "skipped a step that may stop or start something" in str(error)


def test_server_that_a_skipped_step_has_left_stopped_is_started_by_the_command_in_the_message(service):
    service.restarts_really = False
    service.begin(SERVER.task_name, SERVER.things(service), seconds=10.0, skipped=(2,), second="Start it")
    service.passes(11)
    SERVER.things(service)[0].status = "STOPPED"
    error = again_fails(service, SERVER)
    assert (error.__class__, service.posts) == (NotVerified, [])
    *_what, start, again = str(error).splitlines()
    assert start.startswith(
        "  Start 10.1.0.1:2882 by a restart: ansible localhost -m oceanbase.ocp.server_restart -a 'cluster="
    )
    assert again == "Then run the same command again."


def test_server_that_was_stopped_after_its_restart_is_started_by_the_command_in_the_message(service):
    restart(service, SERVER, request(started_before=CHANGE, wait=True))
    SERVER.things(service)[0].status = "STOPPED"
    error = again_fails(service, SERVER)
    assert (error.__class__, len(service.posts)) == (NotVerified, 1)
    *_what, start, again = str(error).splitlines()
    assert start.startswith("  Start 10.1.0.1:2882 by a restart: ")
    assert again == "Then run the same command again."


# A restart by its command would restart all servers of a zone or cluster, not only those that are stopped.
def test_start_of_a_whole_cluster_is_not_proposed(service):
    service.restarts_really = False
    service.begin(CLUSTER.task_name, CLUSTER.things(service), seconds=10.0, skipped=(2,), second="Start it")
    service.passes(11)
    service.servers_there[0].status = "STOPPED"
    error = again_fails(service, CLUSTER)
    assert "skipped a step that may stop or start something" in str(error)
    assert "by a restart: " not in str(error)


def test_rollback_that_runs_is_called_a_rollback(service):
    service.begin(SERVER.task_name, SERVER.things(service), seconds=100)
    service.jobs[-1].rolling_back = True
    error = failure(service, SERVER, request(started_before=CHANGE))
    assert (error.__class__, service.posts) == (TargetBusy, [])
    assert "rollback of task 1001 (Restart OB server" in str(error)
    assert "is running, but the target has not restarted after that; run this again" in str(error)
    refused = failure(service, SERVER, request("fail", started_before=CHANGE))
    assert "rollback of task 1001 (Restart OB server" in str(refused)
    assert "is running, and in_flight=fail is set" in str(refused)


def test_message_after_a_skipped_step_says_that_the_server_is_down(service):
    service.restarts_really = False
    service.begin(SERVER.task_name, SERVER.things(service), seconds=10.0, skipped=(2,), second="Start it")
    service.passes(11)
    service.servers_there[0].status = "STOPPED"
    error = again_fails(service, SERVER)
    assert "no later start of 10.1.0.1:2882 shows; now 10.1.0.1:2882 is STOPPED" in str(error)


@every_shown_restart
def test_task_that_was_undone_may_have_started_it_and_is_waited_for(case, service):
    """Its rollback starts what it has stopped; that shows within three minutes, or it was not so."""
    service.restarts_really = False
    service.begin(case.task_name, case.things(service), seconds=10.0, end="ROLLBACK")
    service.passes(11)
    service.restarts_really = True
    result = again(service, case)
    assert (result["action"], result["elapsed"] > 150, len(service.posts)) == ("submitted", True, 1)


@every_shown_restart
def test_start_of_a_restart_that_failed_after_it_shows_late(case, service):
    """As the message of the failure says, the same command is run again at once."""
    service.names_operations, service.end = False, "FAILED"
    failure(service, case, request(started_before=CHANGE, wait=True))
    for thing in case.things(service):
        thing.shown_before = (service.now + 10, thing.started, thing.pid)
        thing.started, thing.pid = service.now - 1, thing.pid + 1
    service.end = "SUCCESSFUL"
    another_process()
    result = again(service, case)
    assert (result["action"], result["verified"], len(service.posts)) == ("skipped", True, 1)


def test_only_the_agents_whose_start_is_not_due_are_restarted(service):
    service.start_shown_late = 100
    service.begin(fake_ocp.AGENTS, service.agents_there[:1])
    service.passes(12)
    another_process()
    result = restart(service, AGENTS, request(started_before=CHANGE))
    assert (result["action"], service.posts) == ("submitted", [("agents", [52])])


def test_agents_whose_start_is_due_are_proven_too(service):
    """With wait, nothing is green that is not shown."""
    service.start_shown_late = 100
    service.begin(fake_ocp.AGENTS, service.agents_there[:1])
    service.passes(12)
    result = again(service, AGENTS)
    assert (result["verified"], service.posts) == (True, [("agents", [52])])
    assert result["elapsed"] > 90


def test_cluster_whose_parts_were_restarted_is_not_restarted_before_their_starts_show(service):
    """Tags tell which part of the cluster each task restarted."""
    service.start_shown_late = 100
    service.begin(fake_ocp.ZONE, service.servers_there[:1])
    for server in service.servers_there[1:]:
        service.begin(fake_ocp.SERVER, [server])
    service.passes(12)
    result = again(service, CLUSTER)
    assert (result["action"], result["verified"], service.posts) == ("skipped", True, [])


# What never shows its start


def test_restart_of_what_shows_no_start_is_not_repeated(service):
    service.servers_there[0].started = None
    service.__dict__["restarts_really"] = False
    restart(service, SERVER, request(started_before=CHANGE))
    service.passes(1000)
    for _other in range(40):
        service.begin("Back up", service.servers_there[1:], seconds=1.0)
    service.passes(1000)
    result = again(service, SERVER)
    assert (result["action"], len(service.posts)) == ("skipped", 1)
    assert "was restarted by task 1001" in result["reason"]


def test_restart_that_did_not_succeed_may_have_restarted_what_shows_no_start(service):
    service.names_operations, service.end = False, "FAILED"
    restart(service, ARBITRATION, request(started_before=CHANGE))
    service.passes(100)
    service.end = "SUCCESSFUL"
    another_process()
    error = failure(service, ARBITRATION, request(started_before=CHANGE))
    assert f"task 1001 ({fake_ocp.ARBITRATION}) may have restarted it" in str(error)
    assert len(service.posts) == 1


# Another restart, of somebody else


@every_restart
@pytest.mark.parametrize("lag", [0, 2], ids=["at once", "after 2 s"])
def test_old_task_of_somebody_else_is_not_adopted(lag, case, service):
    """The list shows the newest tasks late, so the mark is an old one."""
    service.begin(case.task_name, case.things(service), ago=5000, creator="root")
    service.lose_before = [lost()]
    service.list_lacks = 5000 + lag
    error = failure(service, case, request())
    assert (error.__class__, error.facts["task_id"]) == (OutcomeUnknown, None)


@every_restart
def test_task_of_somebody_else_at_the_same_moment_is_not_adopted(case, service):
    service.user = "admin"
    service.lose_before = [lost()]
    service.before_post = lambda: service.begin(case.task_name, case.things(service), creator="root")
    assert failure(service, case, request()).__class__ is OutcomeUnknown


@pytest.mark.parametrize("case", [SERVER, CLUSTER], ids=["server", "cluster"])
@pytest.mark.parametrize("lose", [False, True], ids=["in flight", "answer lost"])
def test_task_of_another_cluster_is_never_ours(lose, case, service):
    """The service ignores the filter by cluster."""
    service.ignored, service.names_operations = ("clusterId",), False
    other = [fake_ocp.Thing(91, 91, "zone1")]

    def begin():
        service.begin(case.task_name, other, of_cluster=32, seconds=100)

    if lose:
        service.lose_before, service.before_post = [lost()], begin
        assert failure(service, case, request()).__class__ is OutcomeUnknown
    else:
        begin()
        assert restart(service, case, request())["task_id"] == 1002


# What runs is seen


@every_restart
@pytest.mark.parametrize("word", ["PENDING", "READY", "PAUSED"])
def test_unfinished_task_of_any_word_is_joined(word, case, service):
    service.names_operations = False
    job = service.begin(case.task_name, case.things(service), seconds=100, word=word)
    result = restart(service, case, request())
    assert (result["action"], result["task_id"], service.posts) == ("attached", job.id, [])


@every_restart
def test_running_restart_is_seen_beside_a_stale_record_of_the_target(case, service):
    job = service.begin(case.task_name, case.things(service), seconds=100)
    for thing in service.servers_there + service.agents_there + service.arbitration:
        thing.operated_by = None
    service.cluster_operated_by = None
    result = restart(service, case, request())
    assert (result["action"], result["task_id"], service.posts) == ("attached", job.id, [])


@every_restart
@pytest.mark.parametrize("status", ["RESTARTING", "STARTING", "STOPPING"])
def test_own_status_is_in_flight_where_no_task_is_seen(status, case, service):
    with_status(service, case, status)
    error = failure(service, case, request())
    assert (error.__class__, service.posts) == (TargetBusy, [])
    assert f"is {status}, but no task of it is visible" in str(error)


@every_restart
def test_own_status_is_waited_for_with_queue(case, service):
    with_status(service, case, "RESTARTING")
    """A minute more: a replica that lags may be the first to show it as well, with its old start."""
    service.time.after_sleep = lambda: service.now >= 30 and with_status(service, case, None)
    result = restart(service, case, request("queue"))
    assert (result["action"], len(service.posts), 80 <= result["elapsed"] <= 100) == ("submitted", 1, True)


@every_restart
def test_wait_for_a_status_without_a_task_ends_at_wait_timeout(case, service):
    with_status(service, case, "RESTARTING")
    error = failure(service, case, request("queue", seconds=30))
    assert (error.__class__, error.facts["elapsed"], service.posts) == (WaitTimeout, 30.0, [])
    assert "No task of it is visible, but after 30 seconds the service still shows it at work" in str(error)


def test_agent_status_of_the_host_is_in_flight(service):
    service.agents_there[0].host_agent_status = "RESTARTING"
    assert "10.1.0.1 is RESTARTING" in str(failure(service, AGENTS, request()))


def test_untagged_restart_is_not_overtaken_where_the_filter_by_host_is_ignored(service):
    service.names_operations = service.tags = False
    service.ignored = ("hostId",)
    service.begin(fake_ocp.SERVER, SERVER.things(service), seconds=100)
    error = failure(service, SERVER, request())
    assert (error.__class__, service.posts) == (TargetBusy, [])
    assert "it is not known to restart this target" in str(error)


def test_restart_that_only_a_second_look_shows_is_not_overtaken(service, monkeypatch):
    """It began between two reads of one look, and the target shows neither a start nor its tasks."""
    service.names_operations, read = False, service.tasks
    service.names_in_another_language = False

    def tasks(**query):
        found = read(**query)
        if not service.jobs:
            service.begin(fake_ocp.ARBITRATION, ARBITRATION.things(service), seconds=100)
        return found

    monkeypatch.setattr(service, "tasks", tasks)
    error = failure(service, ARBITRATION, request("fail", started_before=CHANGE))
    assert (error.__class__, service.posts) == (TargetBusy, [])


# A refusal


@every_restart
@pytest.mark.parametrize("wait", [False, True])
def test_refused_repetition_of_our_own_request_is_adopted(wait, case, service):
    """A proxy has repeated the request, which OCP had accepted."""
    service.user, service.busy = "admin", 409
    service.before_post = lambda: service.begin(case.task_name, case.things(service), creator="admin")
    result = restart(service, case, request("fail", wait=wait))
    assert (result["action"], result["changed"], result["task_id"]) == ("adopted", True, 1001)
    assert "; the request was refused, and task 1001 (" in result["reason"]
    assert (len(service.posts), len(service.jobs)) == (1, 1)


@every_restart
@pytest.mark.parametrize("in_flight", ["attach", "queue", "fail"])
def test_task_of_our_own_request_is_adopted_after_that_of_its_repetition_failed(in_flight, case, service):
    """A proxy has repeated the request. OCP accepted both, and failed the second since the first was at work."""
    service.user, service.busy = "admin", "REFUSED"
    service.before_post = lambda: service.begin(case.task_name, case.things(service), creator="admin")
    result = restart(service, case, request(in_flight, wait=True))
    assert (result["action"], result["changed"], result["task_id"]) == ("adopted", True, 1001)
    assert "; task 1002 of the same request failed in its first step, and task 1001 (" in result["reason"]
    assert (len(service.posts), len(service.jobs)) == (1, 2)


def test_refusal_beside_a_task_of_our_user_that_tells_no_target_leaves_the_outcome_open(service):
    """A proxy has repeated the request, and older services have no tags."""
    service.user, service.busy, service.tags, service.names_operations = "admin", 409, False, False
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin")
    error = failure(service, NOT_ALONE, request())
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert "may be the answer to a request that a proxy repeated: 1001 (Restart OB server) began since" in str(error)
    assert "Did not restart" not in str(error)


@every_restart
@pytest.mark.parametrize("condition", [{}, {"started_before": CHANGE}], ids=["always", "started_before"])
@pytest.mark.parametrize("seconds", [3.0, 40.0], ids=["ended", "running"])
@pytest.mark.parametrize("in_flight", ["attach", "queue"])
@pytest.mark.parametrize("answer", [409, 429, "REFUSED"])
def test_refusal_beside_two_tasks_of_which_one_may_be_our_own_is_not_followed_by_another_request(
    answer, in_flight, seconds, condition, case, service
):
    """A proxy has repeated the request, and another run of the same user has restarted at the same moment."""
    service.user, service.busy = "admin", answer

    def two_begin():
        for _run in range(2):
            service.begin(case.task_name, case.things(service), creator="admin", seconds=seconds)

    service.before_post = two_begin
    error = failure(service, case, replace(request(in_flight, wait=True), **condition))
    assert (error.facts["changed"], len(service.posts)) == (True, 1)
    if answer == "REFUSED":
        assert (error.__class__, error.facts["task_id"]) == (TaskFailed, 1003)
    else:
        assert error.__class__ is OutcomeUnknown
        assert "1001 (" in str(error)
        assert "1002 (" in str(error)


def test_clock_of_the_service_that_is_set_during_a_wait_restarts_nothing(service, monkeypatch):
    """The condition was moved to the clock as it was; starts are now by another one."""
    service.restarts_really = False
    service.begin(SERVER.task_name, SERVER.things(service), seconds=100, ago=50)
    was_set = property(lambda _service: clock_ahead(*[0] * 5, *[-50] * 31))
    service.after_restart = lambda: monkeypatch.setattr(fake_ocp.FakeOcp, "service_clock", was_set)
    error = failure(service, SERVER, request("queue", at(-10)))
    assert (error.__class__, service.posts) == (OptionError, [])
    assert "the clock of the service was changed during this run" in str(error)


def test_task_that_may_be_our_own_is_not_followed_by_another_one(service):
    """A run that queues waits for it, and knows no more of its target when it has ended."""
    service.user, service.busy, service.tags, service.names_operations = "admin", 409, False, False
    service.restarts_really = False
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin")
    error = failure(service, NOT_ALONE, request("queue"))
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert "may be the answer to a request that a proxy repeated: 1001 (Restart OB server) began since" in str(error)


def test_task_that_may_be_our_own_and_does_not_end_leaves_the_outcome_open(service):
    """It is waited for, which says nothing about whose it is."""
    service.user, service.busy, service.tags, service.names_operations = "admin", 409, False, False
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin", seconds=9e3)
    error = failure(service, NOT_ALONE, request("queue"))
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert "may be the answer to a request that a proxy repeated: 1001 (Restart OB server) began since" in str(error)


@pytest.mark.parametrize("in_flight", ["attach", "fail"])
def test_request_that_was_refused_for_a_task_of_somebody_else_is_closed(in_flight, service):
    """The next run need not search for its task."""
    service.user, service.busy = "admin", 409
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="root", seconds=50)
    asked = replace(request(in_flight), started_before=at(-10))
    if in_flight == "fail":
        failure(service, SERVER, asked)
    else:
        assert restart(service, SERVER, asked)["action"] == "attached"
    assert [row["outcome"] for row in journal_here().entries()["requests"]] == ["REFUSED"]


def test_request_whose_outcome_a_refusal_leaves_open_stays_open(service):
    """A name alone, no start, and a task that the list has lost: noted as refused, it would let the next run send."""
    service.user, service.busy, service.tags, service.names_operations = "admin", 409, False, False
    service.restarts_really = False
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin")
    named = replace(request(), change="memory-2026-10-02")
    assert failure(service, NOT_ALONE, named).__class__ is OutcomeUnknown
    another_process()
    service.busy, service.before_post = None, lambda: None
    service.jobs.clear()
    result = restart(service, NOT_ALONE, named)
    assert (result["action"], len(service.posts)) == ("submitted", 2)
    # As long as an answer may be lost, and a list may lag.
    assert sum(service.time.pauses) > 60


@pytest.mark.parametrize(
    ("user", "creator", "expected"),
    [
        ("admin", "somebody", (TargetBusy, False)),
        (None, "admin", (OutcomeUnknown, True)),
        ("admin", None, (OutcomeUnknown, True)),
    ],
    ids=["of another user", "our user is not known", "its user is not shown"],
)
def test_refusal_beside_a_task_of_an_unknown_target_is_one_if_that_is_of_another_user(user, creator, expected, service):
    """A proxy may have got the refusal for its repetition of our request."""
    service.user, service.busy, service.tags, service.names_operations = user, 409, False, False
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator=creator)
    error = failure(service, NOT_ALONE, request())
    assert (error.__class__, error.facts["changed"]) == expected


def test_own_task_is_adopted_though_its_begin_is_before_the_condition(service):
    """The clock of the machine that noted the change was ahead by some seconds."""
    service.user, service.busy = "admin", 409
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin")
    result = restart(service, SERVER, request("fail", at(3)))
    assert (result["action"], result["changed"], result["task_id"]) == ("adopted", True, 1001)


# A start that is still to come


@every_shown_restart
def test_start_ahead_of_the_clock_of_the_service_proves_nothing(case, service):
    """It was written down by another clock."""
    for thing in case.things(service):
        thing.started = 3 * 86400.0
    result = restart(service, case, request(started_before=CHANGE, wait=True))
    assert (result["action"], result["verified"], len(service.posts)) == ("submitted", True, 1)


def test_start_that_no_clock_shows_does_not_verify_a_restart(service):
    service.restarts_really = False
    service.after_restart = lambda: setattr(SERVER.things(service)[0], "started", 30 * 365 * 86400.0)
    result = restart(service, SERVER, request(wait=True))
    assert result["verified"] is None


def test_own_task_that_cannot_be_read_keeps_its_id(service):
    service.user, service.busy = "admin", 409
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin")
    service.failing["task"] = [refused(503)] * 99
    service.names_operations = False
    error = failure(service, SERVER, request("fail", wait=True, seconds=20))
    assert (error.facts["task_id"], error.facts["changed"]) == (1001, True)


# A request that something held back


@every_shown_restart
def test_request_that_was_held_back_and_has_ended_is_adopted(case, service):
    service.lose_before = [lost()]
    failure(service, case, request())
    service.begin(case.task_name, case.things(service))
    service.passes(60)
    result = restart(service, case, request(wait=True))
    assert (result["action"], result["verified"], len(service.posts)) == ("adopted", True, 1)
    assert result["reason"].startswith("this controller has requested it before; the answer was lost, and task 1001 (")


# What the proof has to show


@pytest.mark.parametrize(
    "started", [-3500.0, 0.5, -7200.0, None], ids=["not moved", "by milliseconds", "moved backward", "not at all"]
)
def test_start_that_has_not_moved_forward_is_not_verified(started, service):
    """The task is SUCCESSFUL; the start shown afterwards is this one."""
    thing, service.restarts_really = service.servers_there[0], False
    thing.started = 0.0 if started == 0.5 else -3500.0

    service.after_restart = lambda: setattr(thing, "started", started)
    if started is None:
        result = restart(service, SERVER, request(wait=True))
        assert (result["verified"], "shows no start time" in result["reason"]) == (None, True)
        return
    error = failure(service, SERVER, request(wait=True))
    assert (error.__class__, error.facts["verified"]) == (NotVerified, False)
    assert "shows no new start" in str(error)


@every_shown_restart
@pytest.mark.parametrize("status", ["UNAVAILABLE", "STOPPED", "RESTARTING"])
def test_target_that_does_not_serve_after_a_successful_task_is_not_verified(status, case, service):
    service.after_restart = lambda: with_status(service, case, status)
    error = failure(service, case, request(wait=True))
    assert (error.__class__, error.facts["verified"], error.facts["task"]["succeeded"]) == (NotVerified, False, True)
    assert f"is {status}" in str(error)
    assert error.facts["elapsed"] >= 180


@every_shown_restart
def test_target_that_serves_a_little_later_is_verified(case, service):
    service.after_restart = lambda: with_status(service, case, "STARTING")
    service.time.after_sleep = lambda: service.now >= 100 and with_status(service, case, None)
    result = restart(service, case, request(wait=True, seconds=20))
    assert (result["verified"], 90 <= result["elapsed"] <= 110) == (True, True)


@pytest.mark.parametrize("process", ["pos_proxy", "ocp_agentd"])
def test_agents_without_one_of_their_processes_are_not_verified(process, service):
    service.after_restart = lambda: setattr(service.agents_there[0], "stopped", (process,))
    error = failure(service, AGENTS, request(wait=True))
    assert error.__class__ is NotVerified
    assert f"{process} does not run" in str(error) or "no new start of 10.1.0.1" in str(error)


# Too many requests


@every_restart
def test_target_is_looked_at_again_after_a_pause_for_too_many_requests(case, service):
    """Somebody else restarts it meanwhile."""
    limited = refused(429)
    limited.retry_after = 4.0
    service.lose_before = [limited]

    def others():
        if not service.jobs:
            service.begin(case.task_name, case.things(service), creator="root", ago=4.0, seconds=3.0)

    service.time.after_sleep = others
    result = again(service, case)
    assert (result["action"], result["changed"], len(service.jobs)) == ("skipped", False, 1)
    assert len(service.posts) == 1


@every_restart
def test_outcome_is_unknown_if_nothing_can_be_read_after_too_many_requests(case, service):
    """A proxy has repeated the request, and the repetition was one too many."""
    limited = refused(429)
    limited.retry_after = 1.0
    service.lose_before = [limited]

    def repeated():
        service.begin(case.task_name, case.things(service), creator="admin", seconds=3.0)
        service.failing["tasks"] = [refused(503)] * 999

    service.before_post = repeated
    error = failure(service, case, request())
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert "A proxy may have repeated the request (the last poll failed: Refused" in str(error)


def test_outcome_is_unknown_if_the_server_is_another_one_after_too_many_requests(service):
    """The repeated request has restarted what had the id then."""
    limited_by(service, SERVER, 1.0)
    begin = service.before_post

    def repeated():
        begin()
        service.moved_to[41] = "10.1.0.9"

    service.before_post = repeated
    error = failure(service, SERVER, request())
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert "A proxy may have repeated the request" in str(error)


@pytest.mark.parametrize("problem", [JournalError("The lock was lost."), TargetBusy("Others hold the lock.")])
def test_outcome_is_unknown_if_no_look_ends_after_too_many_requests(problem, service, monkeypatch):
    """Without the lock of the cluster nothing looks for the task of the repeated request."""
    limited_by(service, SERVER, 1.0)
    begin = service.before_post

    def repeated():
        begin()
        monkeypatch.setattr(journal_here().__class__, "lock", mock.Mock(side_effect=problem))

    service.before_post = repeated
    error = failure(service, SERVER, request())
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert f"A proxy may have repeated the request. {problem}" in str(error)


CONDITIONS = {"neither": {}, "started_before": {"started_before": CHANGE}, "change": {"change": "memory-2026-11-20"}}


def limited_by(service, case, retry_after, *, has_envelope=True, seconds=3.0, creator="admin"):
    """A proxy repeats the request, which was carried out, and the repetition is one too many."""
    limited = refused(429)
    limited.retry_after, limited.may_have_run = retry_after, not has_envelope
    service.user, service.lose_before = "admin", [limited]
    service.before_post = lambda: service.begin(case.task_name, case.things(service), creator=creator, seconds=seconds)


def test_task_whose_begin_only_its_detail_shows_is_ours_after_a_limit(service):
    """It has ended before the next look, so that the start alone would say that nothing was done."""
    limited_by(service, SERVER, 2.0)
    listed = service.tasks
    service.tasks = lambda **query: [{**task, "startTime": None} for task in listed(**query)]
    result = restart(service, SERVER, request(started_before=CHANGE))
    assert (result["action"], result["changed"], result["task_id"], len(service.jobs)) == ("adopted", True, 1001, 1)


@every_restart
@pytest.mark.parametrize("lag", [0.0, 5.0], ids=["shown at once", "shown after 5 s"])
@pytest.mark.parametrize("has_envelope", [True, False], ids=["envelope", "page"])
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_own_task_is_adopted_after_too_many_requests(condition, has_envelope, lag, case, service):
    service.names_operations, service.list_lacks, service.start_shown_late = False, lag, lag
    limited_by(service, case, 1.0, has_envelope=has_envelope)
    result = restart(service, case, replace(request(), **condition))
    assert (result["action"], result["changed"], result["task_id"]) == ("adopted", True, 1001)
    assert (len(service.posts), len(service.jobs)) == (1, 1)


@every_restart
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_own_task_that_another_controller_has_noted_is_adopted_after_too_many_requests(condition, case, service):
    """While this one pauses, the other one finds the task of the open request in the shared journal."""
    limited_by(service, case, 1.0)
    service.time.after_sleep = lambda: journal_here().claim(1, 1001, None)
    result = restart(service, case, replace(request(), **condition))
    assert (result["action"], result["changed"], result["task_id"]) == ("adopted", True, 1001)
    assert "may have started it" not in result["reason"]
    assert (len(service.posts), len(service.jobs)) == (1, 1)


@every_restart
@pytest.mark.parametrize("lag", [0.0, 5.0], ids=["shown at once", "shown after 5 s"])
def test_own_task_is_adopted_where_the_run_gives_up_after_too_many_requests(lag, case, service):
    service.names_operations, service.list_lacks, service.start_shown_late = False, lag, lag
    limited_by(service, case, None)
    result = restart(service, case, request())
    assert (result["action"], result["task_id"], len(service.posts)) == ("adopted", 1001, 1)


@pytest.mark.parametrize("retry_after", [1.0, None])
def test_task_of_our_user_that_tells_no_target_leaves_the_outcome_open_after_too_many_requests(retry_after, service):
    service.tags = service.names_operations = service.restarts_really = False
    limited_by(service, NOT_ALONE, retry_after)
    error = failure(service, NOT_ALONE, request())
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert "may be the answer to a request that a proxy repeated: 1001 (Restart OB server) began since" in str(error)


@pytest.mark.parametrize("retry_after", [1.0, None])
@pytest.mark.parametrize("case", [SERVER, CLUSTER], ids=["server", "cluster"])
def test_start_since_a_refused_request_leaves_the_outcome_open_where_tasks_cannot_be_read(case, retry_after, service):
    """A proxy has repeated the request, and only the start shows it: no other request follows."""
    limited_by(service, case, retry_after)
    service.failing["tasks"] = [refused(403)] * 99
    error = failure(service, case, request())
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)
    assert "10.1.0.1:2882" in str(error)
    assert "started since, and tasks cannot be read" in str(error)


def test_last_look_after_too_many_requests_waits_for_no_room(service):
    """No request follows it, so an hour would be waited in vain."""
    service.lose_before = [refused(429)]
    service.before_post = lambda: (setattr(service, "room", 0), setattr(service, "retry_after", 3600.0))
    error = failure(service, SERVER, request())
    assert (error.facts["changed"], len(service.posts)) == (False, 1)
    assert service.now < 60


def test_wait_for_room_among_the_requests_leaves_the_wait_for_the_task_its_time(service):
    service.room, service.retry_after = 0, 3600.0
    waited = restart(service, SERVER, request(wait=True, seconds=60))
    assert (waited["action"], waited["verified"]) == ("submitted", True)
    assert service.now > 3600


def test_refusal_where_nothing_started_and_tasks_cannot_be_read_is_a_refusal(service):
    service.lose_before, service.failing["tasks"] = [refused(429)], [refused(403)] * 99
    error = failure(service, SERVER, request())
    assert (error.facts["changed"], len(service.posts)) == (False, 1)


def test_run_that_gives_up_after_too_many_requests_and_can_read_nothing_does_not_know_the_outcome(service):
    limited_by(service, SERVER, None)
    service.after_list = lambda: service.failing.update(tasks=[refused(503)] * 999)
    error = failure(service, SERVER, request())
    assert (error.__class__, error.facts["changed"], len(service.posts)) == (OutcomeUnknown, True, 1)


@pytest.mark.parametrize(("asked", "paused"), [(1.0, 20.0), (9.0, 20.0), (20.0, 20.0)])
def test_pause_after_too_many_requests_is_long_enough_for_a_task_to_show(asked, paused, service):
    limited = refused(429)
    limited.retry_after = asked
    service.lose_before = [limited]
    result = restart(service, SERVER, request())
    assert (result["action"], len(service.posts), service.time.pauses) == ("submitted", 2, [paused])


def test_pause_after_too_many_requests_is_at_most_the_timeout(service):
    limited = refused(429)
    limited.retry_after = 8.0
    service.lose_before, service.timeout = [limited] * 9, 20
    error = failure(service, SERVER, request())
    assert (error.__class__, len(service.posts), service.time.pauses) == (type(limited), 3, [20.0, 20.0, 20.0])
    assert (error.facts["changed"], error.facts["task_id"]) == (False, None)


def test_unknown_pause_after_too_many_requests_ends_the_attempt(service):
    service.lose_before = [refused(429)]
    error = failure(service, SERVER, request())
    assert (len(service.posts), service.time.pauses) == (1, [20.0])
    assert (str(error).startswith("Did not restart server"), error.facts["changed"]) == (True, False)


def test_crowded_agents_are_restarted_one_by_one_as_asked(service):
    """A task of more hosts than were sent is not ours."""
    service.lose_before = [lost()]
    service.before_post = lambda: service.begin(fake_ocp.AGENTS, service.agents_there[:2])
    one = replace(AGENTS, target=replace(AGENTS.target, hosts=AGENTS.target.hosts))
    service.agents_there[1].started = 0.0
    error = failure(service, one, request(started_before=CHANGE))
    assert (error.__class__, service.posts) == (OutcomeUnknown, [("agents", [51])])


# A list that shows nothing of our own restart yet


DATABASE = [case for case in RESTART_CASES.values() if case.target.cluster_id is not None]
every_database_restart = pytest.mark.parametrize("case", DATABASE, ids=[case.task_name for case in DATABASE])


@every_database_restart
@pytest.mark.parametrize("condition", [None, CHANGE])
def test_second_run_of_this_controller_attaches_to_a_restart_that_no_list_shows(condition, case, service):
    service.list_lacks, service.names_operations = 40.0, False
    first = restart(service, case, request(started_before=condition))
    another_process()
    second = restart(service, case, request(started_before=condition, wait=True))
    assert (first["action"], second["action"], len(service.posts)) == ("submitted", "attached", 1)
    assert (second["task_id"], second["task"]["succeeded"]) == (first["task_id"], True)


@every_database_restart
def test_second_run_of_this_controller_does_not_repeat_what_nobody_may_see(case, service):
    """The credentials may read no task, and the start does not show yet."""
    service.start_shown_late, service.names_operations = 1000.0, False
    service.failing["tasks"] = [refused(403)] * 99
    service.failing["task"] = [refused(403)] * 99
    restart(service, case, request())
    another_process()
    again = restart(service, case, request())
    assert (again["action"], again["changed"], len(service.posts)) == ("attached", False, 1)


@every_database_restart
def test_start_that_shows_is_believed_more_than_the_own_note(case, service):
    service.list_lacks, service.names_operations = 40.0, False
    restart(service, case, request(wait=True))
    another_process()
    assert restart(service, case, request())["action"] == "submitted"
    assert len(service.posts) == 2


def test_condition_that_nothing_can_tell_is_refused(service):
    """An arbitration service shows no start."""
    service.failing["tasks"] = [refused(403)] * 99
    error = failure(service, ARBITRATION, request(started_before=CHANGE))
    assert (error.__class__, error.facts["changed"], service.posts) == (NotVerified, False, [])
    assert "shows no start of 10.1.0.8:2888, and these credentials may not read tasks (TASK_VIEWER)" in str(error)
    assert "If it is to restart for this change, restart it once more without the change." in str(error)
    assert " once more: ansible localhost -m oceanbase.ocp." in str(error)
    assert restart(service, ARBITRATION, request())["action"] == "submitted"


def test_restart_of_an_untold_arbitration_service_is_neither_evidence_nor_none(service):
    service.arbitration_tags = False
    service.begin(fake_ocp.ARBITRATION, ARBITRATION.things(service), ago=5, seconds=1)
    error = failure(service, ARBITRATION, request(started_before=CHANGE))
    assert (error.__class__, error.facts["changed"], service.posts) == (NotVerified, False, [])
    assert "and does not show what task 1001 (Restart arbitration service) restarted" in str(error)
    assert restart(service, ARBITRATION, request())["action"] == "submitted"


@pytest.mark.parametrize("clusters", [(), (31,)], ids=["no cluster", "a cluster"])
def test_own_restart_of_an_untold_arbitration_service_is_known(clusters, service):
    service.arbitration_tags = False
    serving = replace(ARBITRATION, target=replace(ARBITRATION.target, serves=clusters))
    restart(service, serving, request(started_before=CHANGE, wait=True))
    skipped = restart(service, serving, request(started_before=CHANGE))
    assert (skipped["action"], len(service.posts)) == ("skipped", 1)


def test_server_of_which_no_start_shows_is_left_alone_by_its_task_and_not_verified(service):
    [server] = SERVER.things(service)
    service.begin(fake_ocp.SERVER, [server])
    service.passes(12)
    server.started = None
    for change in (request(started_before=CHANGE), request(started_before=CHANGE, wait=True)):
        skipped = restart(service, SERVER, change)
        assert (skipped["action"], skipped["verified"], service.posts) == ("skipped", None, [])
        assert "; not verified, since the service shows no start of 10.1.0.1:2882" in skipped["reason"]


def test_own_restart_of_which_the_service_tells_no_target_is_known(service):
    """Older services have no tags, and another server is on the host."""
    service.tags, service.names_operations, service.start_shown_late = False, False, 100.0
    restart(service, NOT_ALONE, request(started_before=CHANGE))
    service.passes(30)
    skipped = again(service, NOT_ALONE)
    assert (skipped["action"], skipped["verified"], len(service.posts)) == ("skipped", True, 1)


# OBProxies: no name tells what a task is


def test_skip_of_obproxies_is_not_verified_and_says_why(service):
    restart(service, OBPROXIES, request(started_before=CHANGE, wait=True))
    skipped = again(service, OBPROXIES)
    assert (skipped["action"], skipped["verified"], len(service.posts)) == ("skipped", None, 1)
    assert "was restarted by task 1001 (Offline obproxy)" in skipped["reason"]
    assert "not verified, since the service does not show whether such a task is a restart" in skipped["reason"]


@pytest.mark.parametrize("status", ["UNAVAILABLE", "STOPPED"])
def test_obproxies_that_were_restarted_since_and_do_not_serve_are_a_failure(status, service):
    restart(service, OBPROXIES, request(started_before=CHANGE, wait=True))
    service.obproxies_there[1].status = status
    error = again_fails(service, OBPROXIES)
    assert (error.__class__, len(service.posts)) == (NotVerified, 1)
    assert f"10.1.0.2:2883 is {status}" in str(error)


def test_only_obproxies_without_a_restart_since_are_restarted(service):
    service.begin(fake_ocp.OBPROXIES, service.obproxies_there[:1], seconds=1)
    service.passes(2)
    result = restart(service, OBPROXIES, request(started_before=CHANGE))
    assert (result["action"], service.posts) == ("submitted", [("obproxies", (91, [82]))])
    assert result["skipped_obproxies"] == [{"id": 81, "name": "10.1.0.1:2883"}]


@pytest.mark.parametrize("name", [fake_ocp.OBPROXIES, "Restart obproxy", "Take over host"])
def test_ended_task_that_may_have_restarted_obproxies_refuses_started_before(name, service):
    service.obproxy_tags = service.tags = False
    service.begin(name, service.obproxies_there[1:2], ago=5, seconds=1)
    error = failure(service, OBPROXIES, request(started_before=CHANGE))
    assert (error.__class__, error.facts["changed"], service.posts) == (NotVerified, False, [])
    assert f"and does not show what task 1001 ({name}) restarted" in str(error)
    assert restart(service, OBPROXIES, request())["action"] == "submitted"


@pytest.mark.parametrize(("host", "is_elsewhere"), [(53, True), (None, False)], ids=["shown", "by the filter alone"])
def test_task_on_another_host_says_nothing_of_obproxies_if_its_record_shows_the_host(host, is_elsewhere, service):
    """What the filter by host does not find on theirs need not be elsewhere: it may know no host of such a task."""
    service.obproxy_tags = False
    read = service.task
    service.task = lambda number: {**read(number), "hostId": host}
    service.begin(fake_ocp.OBPROXIES, service.obproxies_there[2:], ago=5, seconds=1)
    asked = request(started_before=CHANGE)
    if is_elsewhere:
        assert restart(service, OBPROXIES, asked)["action"] == "submitted"
    else:
        assert failure(service, OBPROXIES, asked).__class__ is NotVerified


def test_untold_work_on_the_host_of_an_obproxy_is_not_joined(service):
    service.obproxy_tags = service.names_operations = False
    service.begin(fake_ocp.OBPROXIES, service.obproxies_there[:2], seconds=100)
    error = failure(service, OBPROXIES, request())
    assert (error.__class__, service.posts) == (TargetBusy, [])
    assert "it is not known to restart this target" in str(error)


def test_restart_of_untold_obproxies_is_not_adopted(service):
    service.obproxy_tags, service.lose_after = False, [lost()]
    assert failure(service, OBPROXIES, request()).__class__ is OutcomeUnknown


def test_obproxies_without_permission_to_read_tasks_refuse_started_before(service):
    service.failing["tasks"] = [refused(403)] * 99
    error = failure(service, OBPROXIES, request(started_before=CHANGE))
    assert (error.__class__, service.posts) == (NotVerified, [])
    assert "shows no start of 10.1.0.1:2883, 10.1.0.2:2883, and these credentials may not read tasks" in str(error)


def test_operating_obproxy_is_busy_without_a_task_to_see(service):
    service.failing.update(tasks=[refused(403)] * 9, task=[refused(403)] * 9)
    service.begin(fake_ocp.OBPROXIES, service.obproxies_there[:1], seconds=100)
    error = failure(service, OBPROXIES, request())
    assert (error.__class__, service.posts) == (TargetBusy, [])
    assert "10.1.0.1:2883 is OPERATING, but no task of it is visible" in str(error)


def test_own_restart_of_untold_obproxies_is_known(service):
    """By the note of this controller, in another process."""
    service.obproxy_tags = False
    restart(service, OBPROXIES, request(started_before=CHANGE, wait=True))
    skipped = again(service, OBPROXIES)
    assert (skipped["action"], skipped["verified"], len(service.posts)) == ("skipped", None, 1)


def test_own_restart_of_obproxies_is_known_though_no_list_ties_it_to_their_hosts(service):
    service.obproxy_tags = False
    restart(service, OBPROXIES, request(started_before=CHANGE, wait=True))
    service.jobs[0].things = [replace(thing, host=59) for thing in service.jobs[0].things]
    skipped = again(service, OBPROXIES)
    assert (skipped["action"], len(service.posts)) == ("skipped", 1)


@pytest.mark.parametrize("condition", [None, CHANGE])
def test_second_run_of_this_controller_attaches_to_a_restart_of_obproxies_that_no_list_shows(condition, service):
    service.list_lacks, service.names_operations = 40.0, False
    first = restart(service, OBPROXIES, request(started_before=condition))
    another_process()
    second = restart(service, OBPROXIES, request(started_before=condition, wait=True))
    assert (first["action"], second["action"], len(service.posts)) == ("submitted", "attached", 1)
    assert second["task_id"] == first["task_id"]


# A late start of a restart that was there before a name

NAMED = replace(request(wait=True), change="memory-2026-11-20")
MAY_BE_EARLIER = (
    "the start of 10.1.0.1:2882 may be that of a restart which was there when change memory-2026-11-20 was first used"
)


@pytest.fixture
def refused_once(service):
    """Somebody else has just restarted the server, its start shows late, and the first request of a name is refused."""
    service.start_shown_late = 60.0
    service.begin(fake_ocp.SERVER, SERVER.things(service))
    service.passes(20)
    service.lose_before = [refused(400)]
    failure(service, SERVER, NAMED)
    service.start_shown_late = 0.0
    service.passes(300)
    another_process()
    return service


def test_late_start_of_an_earlier_restart_is_no_start_since_a_name(refused_once):
    second = restart(refused_once, SERVER, NAMED)
    assert (second["action"], second["verified"], len(refused_once.jobs)) == ("submitted", True, 2)
    assert second["reason"] == MAY_BE_EARLIER
    another_process()
    assert restart(refused_once, SERVER, NAMED)["action"] == "skipped"


def test_late_start_and_a_task_of_others_since_a_name_end_the_run(refused_once):
    refused_once.begin(fake_ocp.SERVER, SERVER.things(refused_once), end="ROLLBACK")
    refused_once.passes(20)
    SERVER.things(refused_once)[0].operated_by = None
    error = failure(refused_once, SERVER, NAMED)
    assert f"{MAY_BE_EARLIER}, and task 1002 (Restart OB server) may have restarted it" in str(error)
    assert len(refused_once.posts) == 1


# A host whose clock is days ahead


def test_host_that_is_days_ahead_shows_a_restart_by_its_own_clock(service):
    [thing] = SERVER.things(service)
    thing.started, ahead = 259_000.0, 259_200.0
    service.restarts_really = False
    service.after_restart = lambda: setattr(thing, "started", service.now + ahead)
    first = restart(service, SERVER, NAMED)
    assert (first["action"], first["verified"]) == ("submitted", True)
    another_process()
    second = restart(service, SERVER, NAMED)
    assert (second["action"], second["verified"], len(service.posts)) == ("skipped", True, 1)


# A restart that runs at the first use of a name


def used_while_it_restarts(service, **shown):
    """Use a name for the first time while somebody else restarts the server; then that restart ends."""
    vars(service).update(shown)
    service.begin(fake_ocp.SERVER, SERVER.things(service))
    service.passes(2)
    error = failure(service, SERVER, NAMED)
    assert error.__class__ is TargetBusy
    service.passes(20)
    another_process()


def test_restart_that_ran_at_the_first_use_is_waited_for_until_its_start_shows(service):
    used_while_it_restarts(service, start_shown_late=60.0)
    skipped = restart(service, SERVER, NAMED)
    assert (skipped["action"], skipped["verified"], service.posts) == ("skipped", True, [])


def test_restart_that_ran_at_the_first_use_and_shows_no_start_is_not_repeated(service):
    used_while_it_restarts(service, start_shown_late=9000.0)
    error = failure(service, SERVER, NAMED)
    assert (error.__class__, service.posts) == (NotVerified, [])
    since = "may have restarted it since change memory-2026-11-20 was first used"
    words = f"{since}, or ran before that or before it joined, and the service shows no later start"
    assert f"task 1001 (Restart OB server) {words}: 10.1.0.1:2882 started at" in str(error)


def test_first_start_after_a_first_use_without_one_may_be_that_of_the_restart_that_ran(service):
    SERVER.things(service)[0].started = None
    used_while_it_restarts(service)
    error = failure(service, SERVER, NAMED)
    assert (error.__class__, service.posts) == (NotVerified, [])
    assert f"{MAY_BE_EARLIER}, and task 1001 (Restart OB server) may have restarted it" in str(error)


def test_way_out_of_a_restart_that_ran_at_the_first_use_is_one_more_restart_without_the_name(service):
    used_while_it_restarts(service, restarts_really=False)
    error = failure(service, SERVER, NAMED)
    assert str(error).splitlines()[-2:] == [
        "  Restart 10.1.0.1:2882 once more: ansible localhost -m oceanbase.ocp.server_restart "
        "-a 'cluster=31 server=10.1.0.1:2882 freeze_server=true wait=true detail=compact'",
        "Then run the same command again.",
    ]
    service.restarts_really = True
    assert_way_out_works(service, SERVER, NAMED)


def assert_way_out_works(service, case, options):
    """Restart it once more without the change, and run the same again: it is left alone."""
    another_process()
    once_more = restart(service, case, replace(options, change=None, started_before=None))
    requests = len(service.posts)
    another_process()
    assert once_more["action"] == "submitted"
    assert restart(service, case, options)["action"] == "skipped"
    assert len(service.posts) == requests


# A restart since the first use of a name that shows no start


@every_shown_restart
@pytest.mark.parametrize("is_own", [True, False], ids=["our own", "of somebody else"])
def test_restart_since_a_name_that_shows_no_start_is_not_repeated(is_own, case, service):
    service.restarts_really = False
    if is_own:
        restart(service, case, replace(NAMED, wait=False))
    else:
        service.lose_before = [refused(400)]
        failure(service, case, NAMED)
        service.begin(case.task_name, case.things(service))
    requests, ended = len(service.posts), service.now + 10.0
    service.passes(11)
    for waited in (180.0, 0.0):
        another_process()
        error = failure(service, case, NAMED)
        assert (error.__class__, error.facts["changed"], len(service.posts)) == (NotVerified, False, requests)
        assert "task 1001" in str(error)
        assert "has restarted it since change memory-2026-11-20 was first used, but the service shows no" in str(error)
        assert str(error).endswith("\nThen run the same command again.")
        assert waited - 11 <= error.facts["elapsed"] <= waited + 15
    assert service.now >= ended + 180.0
    service.restarts_really = True
    assert_way_out_works(service, case, NAMED)


# A restart that ended shortly before the first use of a name


def ended_before(service, *, shown_late=0.0, host=0.0):
    """Somebody else has restarted the server, whose start shows late, or by a host whose clock is off."""
    service.start_shown_late = shown_late
    service.begin(fake_ocp.SERVER, SERVER.things(service))
    service.passes(12)
    SERVER.things(service)[0].started += host


@pytest.mark.parametrize("wait", [True, False], ids=["with wait", "without wait"])
def test_first_use_waits_until_the_start_of_an_earlier_restart_shows(wait, service):
    ended_before(service, shown_late=60.0)
    began = service.now
    first = restart(service, SERVER, replace(NAMED, wait=wait))
    assert (first["action"], len(service.posts)) == ("submitted", 1)
    assert 50 < service.jobs[-1].started_at - began < 80
    service.passes(200)
    another_process()
    second = restart(service, SERVER, NAMED)
    assert (second["action"], second["verified"], len(service.posts)) == ("skipped", True, 1)


def test_first_use_waits_until_an_earlier_restart_can_show_no_start_any_more(service):
    """By the clock of its host, which is a day behind, the start that shows may be an older one."""
    ended_before(service, host=-86400.0)
    lines = []
    ended, policy = service.now, replace(NAMED.policy, show=lambda line, _brief: lines.append(line))
    service.after_restart = lambda: setattr(SERVER.things(service)[0], "started", service.now - 86400.0)
    service.lose_before = [lost()]
    error = failure(service, SERVER, replace(NAMED, policy=policy))
    assert (error.__class__, len(service.posts)) == (OutcomeUnknown, 1)
    assert 170 < service.now - ended < 260
    assert [line.strip() for line in lines[:2]] == [
        "server 10.1.0.1:2882 (id 41) of cluster orders (id 31): waiting until 03:03:12+08:00 at the latest",
        "the start of 10.1.0.1:2882 by an earlier restart may not show yet, and change memory-2026-11-20 is new",
    ]
    # From now on a start that moves may be since the name, though no clock tells, and no task.
    SERVER.things(service)[0].started += 200.0
    another_process()
    assert "the clock of its host was set, or is off" in str(failure(service, SERVER, NAMED))
    assert len(service.posts) == 1
    assert_way_out_works(service, SERVER, NAMED)


def test_check_mode_does_not_wait_for_the_start_of_an_earlier_restart(service):
    ended_before(service, shown_late=60.0)
    result = restart(service, SERVER, replace(NAMED, check_mode=True))
    assert (result["changed"], result["elapsed"], service.posts) == (True, 0, [])


@pytest.mark.parametrize(
    "dated", [{"change": "memory-2026-11-20"}, {"started_before": CHANGE}], ids=["name", "instant"]
)
def test_open_request_that_no_task_can_answer_is_not_followed_by_another_one(dated, service):
    """These credentials may not read tasks, and the start shows late."""
    service.failing["tasks"], service.start_shown_late = [refused(403)] * 99, 900
    service.lose_after = [lost()]
    asked = replace(request(wait=True), **dated)
    failure(service, SERVER, asked)
    service.passes(500)
    another_process()
    error = failure(service, SERVER, asked)
    assert "may not read tasks (TASK_VIEWER), and no later start shows" in str(error)
    assert "clear the request with restart_journal_clear" in str(error)
    service.passes(500)
    another_process()
    assert restart(service, SERVER, asked)["action"] == "skipped"
    assert len(service.posts) == 1


def test_wait_for_open_requests_ends_although_others_request_one_restart_after_another(service, monkeypatch):
    open_now = Request(frozenset([SERVER.target.address]), is_searched=False, is_due=True)
    monkeypatch.setattr(OwnNotes, "open_requests", lambda _notes, _look: (open_now,))
    error = failure(service, SERVER, request(wait=True))
    assert "Other runs may request one restart after another." in str(error)
    assert (error.__class__, service.posts, 440 <= service.now <= 470) == (WaitTimeout, [], True)


def test_start_that_an_open_request_may_have_made_is_not_followed_by_another_one(service):
    """No start showed when the name was first used, and the task of the request is in no list."""
    service.servers_there[0].started, service.list_lacks = None, 9e9
    service.lose_after = [lost()]
    failure(service, SERVER, NAMED)
    service.passes(500)
    another_process()
    error = failure(service, SERVER, NAMED)
    assert (error.__class__, len(service.posts)) == (NotVerified, 1)
    assert "it may have made the start that does: 10.1.0.1:2882 started at " in str(error)


@pytest.mark.parametrize("late", [20, 150])
def test_restart_whose_target_is_not_shown_is_waited_for(late, service):
    """Another controller has restarted it since. The service ignores the filter by host, and has no tags."""
    service.names_operations = service.tags = False
    service.ignores_host_filter, service.start_shown_late = True, late
    service.begin(fake_ocp.SERVER, service.servers_there[:1])
    service.passes(12)
    error = failure(service, SERVER, request(started_before=CHANGE))
    assert str(error).endswith("its start may show later. Run this again with wait=true, or in three minutes.")
    result = again(service, SERVER)
    assert (result["action"], result["verified"], service.posts) == ("skipped", True, [])


@every_restart
def test_task_that_skips_its_stop_proves_nothing_for_who_waits_for_it(case, service):
    """A person has skipped the step, and the task goes on."""
    service.restarts_really = False
    service.begin(case.task_name, case.things(service), seconds=20.0, skipped=(1,))
    error = failure(service, case, request(wait=True))
    assert (error.__class__, error.facts["verified"], service.posts) == (NotVerified, False, [])
    assert "a step was skipped that may stop or start it, and no later start shows" in str(error)


@every_shown_restart
def test_task_that_skipped_a_step_and_restarted_it_is_proven_by_the_start(case, service):
    service.begin(case.task_name, case.things(service), seconds=20.0, skipped=(1,))
    assert restart(service, case, request(wait=True))["verified"] is True


def test_start_of_an_earlier_restart_that_shows_during_the_run_ends_it(service):
    """It began before the instant and, as far as its steps show, may have started the server before it, or since."""
    service.restarts_really, record = False, service._record
    service._record = lambda job, lag=0.0: {**record(job, lag), "subtasks": []}
    service.begin(fake_ocp.SERVER, service.servers_there[:1], ago=30.0, seconds=50.0)

    def show():
        if not service.posts and service.now > 10:
            service.servers_there[0].started = -5.0

    service.time.after_sleep = show
    error = failure(service, SERVER, request("queue", at(0), wait=True, seconds=600))
    assert "the clocks do not tell whether 10.1.0.1:2882 started since" in str(error)
    assert (error.__class__, service.posts) == (NotVerified, [])


@every_shown_restart
@pytest.mark.parametrize(
    "dated", [{"change": "memory-2026-11-20"}, {"started_before": CHANGE}], ids=["name", "instant"]
)
def test_start_that_only_the_clock_of_its_host_has_moved_is_no_restart(dated, case, service):
    """It is computed from an uptime, that clock was set, and the request was lost on the way there."""
    asked = replace(request(wait=True, seconds=60), **dated)
    service.lose_before = [lost()]
    failure(service, case, asked)
    for thing in case.things(service):
        thing.started += 100.0
    service.passes(600)
    another_process()
    if case is AGENTS and asked.change:
        # Their processes are those of before, so the clock does not matter.
        assert restart(service, case, asked)["verified"] is True
        return
    error = failure(service, case, asked)
    assert "which is not what was shown before" in str(error)
    assert "the clock of its host was set, or is off" in str(error)
    assert len(service.posts) == 1
    assert_way_out_works(service, case, asked)


@every_restart
@pytest.mark.parametrize("ahead", [-30.0, 10.0, 60.0])
def test_restart_for_an_instant_is_not_repeated_when_another_application_server_answers(ahead, case, service):
    """Its clock is a little off, or that of this controller was set."""
    service.passes(2)
    asked = request(wait=True, started_before=at(0))
    assert restart(service, case, asked)["changed"] is True
    service.passes(20)
    service.clock_offset = ahead
    another_process()
    with suppress(NotVerified):
        restart(service, case, asked)
    assert len(service.posts) == 1


def test_agents_with_the_same_process_numbers_after_a_restart_have_restarted(service):
    """As in a container."""
    kept = {thing.id: thing.pid for thing in AGENTS.things(service)}
    service.after_restart = lambda: [setattr(thing, "pid", kept[thing.id]) for thing in AGENTS.things(service)]
    asked = replace(request(wait=True), change="memory-2026-11-20")
    assert restart(service, AGENTS, asked)["verified"] is True
    service.passes(600)
    another_process()
    again = restart(service, AGENTS, asked)
    assert (again["action"], again["verified"], len(service.posts)) == ("skipped", True, 1)


def list_little(service):
    """Let the list tell neither what a task did last nor its steps, as those of older versions may."""
    tasks = service.tasks
    service.tasks = lambda *args, **filters: [
        {name: value for name, value in each.items() if name not in ("operation", "subtasks")}
        for each in tasks(*args, **filters)
    ]


@every_restart
def test_task_that_was_rolled_back_is_no_restart_though_the_list_does_not_tell(case, service):
    list_little(service)
    service.begin(case.task_name, case.things(service), end="ROLLBACK")
    service.passes(12)
    result = restart(service, case, request(started_before=CHANGE, wait=True))
    assert (result["action"], len(service.posts)) == ("submitted", 1)


@every_restart
def test_task_that_skipped_a_step_is_no_restart_though_the_list_does_not_tell(case, service):
    list_little(service)
    service.restarts_really = False
    service.begin(case.task_name, case.things(service), skipped=(2,))
    service.passes(12)
    error = failure(service, case, request(started_before=CHANGE, wait=True))
    assert "skipped" in str(error)
    assert service.posts == []


@pytest.mark.parametrize("lag", [5.0, 15.0])
def test_busy_answer_to_a_repetition_by_a_proxy_is_searched_behind(lag, service):
    """The first request was carried out; the second one got the answer, since the first was at work."""
    service.user, service.names_operations, service.list_lacks = "admin", False, lag
    busy = RequestRefused("Refused with 409.", status=409, reason="", url=fake_ocp.URL, is_busy=True)
    service.lose_after, service.seconds = [busy], 60.0
    service.before_post = lambda: setattr(service.servers_there[0], "status", "RESTARTING")
    service.after_restart = lambda: setattr(service.servers_there[0], "status", None)
    result = restart(service, SERVER, request(wait=True, seconds=600))
    assert (result["task_id"], result["verified"], len(service.posts)) == (1001, True, 1)


def test_limit_that_answers_a_repetition_is_searched_behind_as_long_as_a_lost_answer(service):
    service.user, service.names_operations, service.list_lacks = "admin", False, 18.0
    limited = refused(429)
    limited.retry_after = 5.0
    service.lose_after = [limited]
    service.time.after_sleep = lambda: [setattr(job, "creator", "admin") for job in service.jobs]
    result = restart(service, ARBITRATION, request(wait=True, seconds=600))
    assert (result["action"], result["task_id"], len(service.posts)) == ("adopted", 1001, 1)


@pytest.mark.parametrize(("together", "verified"), [(False, True), (True, None)], ids=["alone", "one of many"])
def test_start_that_is_due_is_waited_for_unless_those_of_many_are_awaited_together(together, verified, service):
    """Whoever asks for many looks at all of them afterwards, so one does not keep the others."""
    service.start_shown_late = 60.0
    restart(service, SERVER, replace(NAMED, wait=False))
    service.passes(30)
    result = restart(service, SERVER, replace(NAMED, awaited_together=together))
    assert (result["action"], result["verified"], len(service.posts)) == ("skipped", verified, 1)


def test_restart_that_one_of_many_joins_is_in_its_result_and_is_not_awaited_by_it(service):
    assert restart(service, SERVER, replace(NAMED, wait=False))["action"] == "submitted"
    result = restart(service, SERVER, replace(NAMED, awaited_together=True))
    assert (result["action"], result["task_id"], result["task"]["status"]) == ("attached", 1001, "RUNNING")
    assert result["verified"] is None


def test_task_of_ours_that_only_a_second_look_shows_is_known_by_the_journal(service):
    """Restarts of one batch share a list that is older than the request of the first one."""
    service.tags = service.names_operations = False
    service.ignored = frozenset({"hostId"})
    other = replace(
        NOT_ALONE, target=replace(NOT_ALONE.target, id=42, address="10.1.0.2:2882", host_id=52, zone="zone2")
    )
    for each in (NOT_ALONE, other):
        restart(service, each, replace(request(wait=True, seconds=600), change="one"))
    service.passes(600)
    shared = copy.deepcopy(service.tasks())
    restart(service, NOT_ALONE, replace(request(), change="two"))
    read, first = service.tasks, [shared]
    service.tasks = lambda *args, **query: first.pop() if first else read(*args, **query)
    result = restart(service, other, replace(request(), change="two"))
    assert (result["action"], len(service.posts)) == ("submitted", 4)


@pytest.mark.parametrize("name", [fake_ocp.SERVER, fake_ocp.ZONE, "Start OB server", "Upgrade OB cluster"])
@pytest.mark.parametrize("case", [NOT_ALONE, ZONE, CLUSTER], ids=["server", "zone", "cluster"])
def test_ended_task_of_an_unknown_target_that_may_have_started_a_part_of_it_forbids_a_restart(case, name, service):
    """No start shows, and the task may be of this target or of a part of it, whatever its kind."""
    service.tags = service.names_operations = service.restarts_really = False
    service.ignored = frozenset({"hostId"})
    for thing in service.servers_there:
        thing.started = None
    service.begin(name, service.servers_there[:1], creator="somebody", seconds=3)
    service.passes(400)
    error = failure(service, case, request(started_before=CHANGE))
    assert "does not show what task 1001" in str(error)
    assert service.posts == []


# What belongs to a cluster or zone only since the name was used for it


@pytest.mark.parametrize("case", [CLUSTER, ZONE], ids=["cluster", "zone"])
def test_server_that_is_added_after_a_restart_is_no_reason_for_another_one(case, service):
    restart(service, case, NAMED)
    service.passes(600)
    service.servers_there.append(Thing(44, 54, "zone1", started=service.now))
    service.passes(600)
    another_process()
    for _run in range(2):
        again = restart(service, case, NAMED)
        assert (again["action"], again["verified"], len(service.posts)) == ("skipped", True, 1)


def test_server_that_is_moved_into_a_zone_after_its_restart_does_not_count_as_restarted(service):
    restart(service, ZONE, NAMED)
    service.passes(600)
    service.servers_there[1].zone = "zone1"
    another_process()
    error = failure(service, ZONE, NAMED)
    assert "may have restarted it since change memory-2026-11-20 was first used, or ran before that" in str(error)
    assert "10.1.0.2:2882" in str(error)
    assert len(service.posts) == 1


@pytest.mark.parametrize("kind", [fake_ocp.SERVER, fake_ocp.ZONE])
def test_failed_restart_of_a_part_that_is_not_told_holds_its_cluster(kind, service):
    """Older versions of OCP send no tags, and name no operation."""
    service.tags = service.names_operations = False
    service.begin(kind, service.servers_there[:1], ago=60.0, end="FAILED")
    service.servers_there[0].status = "RESTARTING"
    error = failure(service, RESTART_CASES["cluster"], request(started_before=at(-600), in_flight="queue"))
    assert isinstance(error, TargetHeld)
    assert "task_id=1001 state=retried" in str(error)
    assert service.posts == []
