# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Restarts of a target with another running task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    JournalError,
    TargetBusy,
    TargetHeld,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.reader import Reader
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    SERVER,
    every_restart,
    failure,
    however_shown,
    request,
    restart,
)

CLUSTER, AGENTS, ARBITRATION = RESTART_CASES["cluster"], RESTART_CASES["agents"], RESTART_CASES["arbitration service"]
# started_before: None, after the begin of the other task, before its begin.
SINCE = {"no condition": None, "begun before": -10, "begun after": -120}
every_since = pytest.mark.parametrize("since", SINCE.values(), ids=SINCE)


def others(service, case, *, name=None, things=None, **more):
    """Another user's task on the target of ``case``, running for a minute already."""
    return service.begin(name or case.task_name, things or case.things(service), ago=60, seconds=100, **more)


def condition(since):
    return None if since is None else at(since)


@every_restart
@however_shown
@pytest.mark.parametrize("since", [None, -120], ids=["no condition", "begun after"])
@pytest.mark.parametrize("check_mode", [False, True], ids=["for real", "check mode"])
def test_running_restart_is_attached(check_mode, since, names_operations, case, service):
    service.names_operations = names_operations
    job = others(service, case)
    result = restart(service, case, request("attach", condition(since), check_mode=check_mode))
    assert (result["changed"], result["action"], result["task_id"]) == (False, "attached", job.id)
    assert result["task"]["name"] == case.task_name
    assert result["reason"].startswith(f"task {job.id} ({case.task_name}) is restarting it since 2026-05-04T02:59:00")
    assert (service.posts, result["diff"], result["verified"]) == ([], {}, None)


@every_restart
@however_shown
def test_attached_restart_is_waited_for_and_verified(names_operations, case, service):
    service.names_operations = names_operations
    job = others(service, case)
    result = restart(service, case, request(started_before=at(-120), wait=True))
    assert (result["action"], result["task_id"], result["task"]["succeeded"]) == ("attached", job.id, True)
    assert result["verified"] is case.proven
    assert 40 <= result["elapsed"] <= 43
    assert service.posts == []


@every_restart
@however_shown
def test_restart_begun_before_started_before_is_not_joined(names_operations, case, service):
    service.names_operations = names_operations
    job = others(service, case)
    error = failure(service, case, request("attach", at(-10)))
    assert error.__class__ is TargetBusy
    assert str(error).startswith(
        f"Did not restart {case.target.label}: task {job.id} ({case.task_name}) is running, but"
    )
    assert "it began at 2026-05-04T02:59:00+08:00, before started_before" in str(error)
    assert "in_flight=queue" in str(error)
    wait = f"  Wait for its end: ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids={job.id} detail=compact'"
    assert str(error).splitlines()[-2:] == [wait, "Then run the same command again."]
    assert (error.facts["changed"], error.facts["task_id"], service.posts) == (False, None, [])


@every_restart
@however_shown
@every_since
@pytest.mark.parametrize("check_mode", [False, True], ids=["for real", "check mode"])
def test_running_restart_fails_with_in_flight_fail(check_mode, since, names_operations, case, service):
    service.names_operations = names_operations
    job = others(service, case)
    error = failure(service, case, request("fail", condition(since), check_mode=check_mode))
    assert error.__class__ is TargetBusy
    assert f"task {job.id} ({case.task_name}) is running, and in_flight=fail is set" in str(error)
    assert (service.posts, service.time.pauses) == ([], [])


@every_restart
@however_shown
def test_queue_restarts_after_the_running_task(names_operations, case, service):
    service.names_operations = names_operations
    job = others(service, case)
    result = restart(service, case, request("queue"))
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", job.id + 1)
    assert 40 <= result["elapsed"] <= 43
    assert service.posts == [case.post]


@every_restart
@however_shown
def test_queue_leaves_alone_what_a_restart_that_began_before_has_started_since(names_operations, case, service):
    service.names_operations = names_operations
    others(service, case)
    result = restart(service, case, request("queue", at(-10)))
    assert (result["changed"], result["action"], service.posts) == (False, "skipped", [])
    assert 40 <= result["elapsed"] <= 43


@every_restart
@however_shown
def test_queue_attaches_to_a_sufficient_restart(names_operations, case, service):
    service.names_operations = names_operations
    job = others(service, case)
    result = restart(service, case, request("queue", at(-120)))
    assert (result["action"], result["task_id"], result["elapsed"]) == ("attached", job.id, 0)


@pytest.mark.parametrize("case", [SERVER, CLUSTER], ids=["server", "cluster"])
def test_queued_restart_is_skipped_when_no_longer_needed(case, service):
    """The running task began earlier, but it has restarted the servers since."""
    others(service, case)
    result = restart(service, case, request("queue", at(-12), wait=True))
    assert (result["action"], result["changed"], service.posts) == ("skipped", False, [])
    assert 40 <= result["elapsed"] <= 43


@every_restart
@however_shown
@pytest.mark.parametrize("wait", [False, True])
def test_queue_is_bounded_by_wait_timeout(wait, names_operations, case, service):
    service.names_operations = names_operations
    job = others(service, case)
    error = failure(service, case, request("queue", wait=wait, seconds=30))
    assert error.__class__ is WaitTimeout
    busy = f"task {job.id} ({case.task_name}) is"
    assert str(error).startswith(f"Did not restart {case.target.label}: {busy}")
    assert f"Task {job.id} ({case.task_name}) is not finished after 30 seconds" in str(error)
    assert f"task_ids={job.id} detail=compact'" in str(error)
    assert (error.facts["changed"], error.facts["elapsed"], service.posts) == (False, 30.0, [])


def test_queue_and_wait_share_the_timeout(service):
    others(service, SERVER)
    service.seconds = 100
    error = failure(service, SERVER, request("queue", wait=True, seconds=60))
    assert (error.__class__, error.facts["elapsed"], error.facts["task_id"]) == (WaitTimeout, 60.0, 1002)
    assert error.facts["changed"] is True


def test_queue_waits_for_the_next_task_too(service):
    """Another client in the queue was faster."""
    others(service, SERVER)

    def another():
        if service.now >= 40 and len(service.jobs) == 1:
            service.begin(fake_ocp.SERVER, SERVER.things(service), seconds=5)

    service.time.after_sleep = another
    result = restart(service, SERVER, request("queue"))
    assert (result["action"], result["task_id"], len(service.posts)) == ("submitted", 1003, 1)
    assert 45 <= result["elapsed"] <= 49


def away(service, *, until):
    """After the first wait the service answers nothing until then."""

    def fail():
        service.failing["tasks"] = [refused(502)] if 0 < service.now < until else []

    service.time.after_sleep = fail


def test_queue_outlasts_failed_reads(service):
    others(service, SERVER)
    away(service, until=50)
    result = restart(service, SERVER, request("queue"))
    assert (result["action"], len(service.posts)) == ("submitted", 1)
    assert 50 <= result["elapsed"] <= 60


def test_queue_that_cannot_look_is_bounded_by_wait_timeout(service):
    others(service, SERVER)
    away(service, until=900)
    error = failure(service, SERVER, request("queue", seconds=60))
    assert str(error) == f"Did not restart {SERVER.target.label}: it cannot be read. Refused with 502."
    assert (error.facts["elapsed"], service.posts) == (60.0, [])


@pytest.mark.parametrize("status", [401, 404])
def test_refusal_that_lasts_ends_the_queue(status, service):
    others(service, SERVER)
    service.time.after_sleep = lambda: service.failing.update(tasks=[refused(status)] if service.now >= 40 else [])
    error = failure(service, SERVER, request("queue", seconds=600))
    assert 40 <= error.facts["elapsed"] <= 42
    assert service.posts == []


@pytest.mark.parametrize("in_flight", ["attach", "queue", "fail"])
def test_nobody_waits_for_a_person(in_flight, service):
    """A task that FAILED holds the target until somebody retries it or rolls it back."""
    others(service, SERVER, end="FAILED")
    if in_flight != "queue":
        service.time.time += 60
    error = failure(service, SERVER, request(in_flight))
    assert (error.__class__, service.posts) == (TargetHeld, [])
    assert error.facts["failed_task_ids"] == [1001]
    assert [step["description"] for step in error.facts["failed_subtasks"]] == ["Start it"]


def test_check_mode_does_not_queue(service):
    others(service, SERVER)
    result = restart(service, SERVER, request("queue", check_mode=True))
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", None)
    assert "has to end first" in result["reason"]
    assert (service.posts, service.time.pauses) == ([], [])


# A larger restart, a smaller one, and other work


@however_shown
@pytest.mark.parametrize("in_flight", ["attach", "fail", "queue"])
@every_since
def test_cluster_restart_covers_its_server(since, in_flight, names_operations, service):
    service.names_operations = names_operations
    job = others(service, CLUSTER)
    options = request(in_flight, condition(since))
    satisfies = since in (None, -120)
    if in_flight == "fail" or (in_flight == "attach" and not satisfies):
        assert f"task {job.id} (Restart OB cluster) is running" in str(failure(service, SERVER, options))
        assert service.posts == []
    elif satisfies and (in_flight, since) != ("queue", None):
        result = restart(service, SERVER, options)
        assert (result["action"], result["task_id"], service.posts) == ("attached", job.id, [])
        assert "(Restart OB cluster) is restarting it" in result["reason"]
    else:
        result = restart(service, SERVER, options)
        # The task began earlier, but restarted the server at -10 s.
        assert (result["action"], len(service.posts)) == (("skipped", 0) if since else ("submitted", 1))


@however_shown
def test_restart_of_its_own_zone_covers_the_server(names_operations, service):
    service.names_operations = names_operations
    others(service, SERVER, name=fake_ocp.ZONE, things=service.servers_there[1:2])
    own = others(service, SERVER, name=fake_ocp.ZONE, things=service.servers_there[:1])
    assert restart(service, SERVER, request())["task_id"] == own.id


@however_shown
def test_restart_of_another_server_does_not_block(names_operations, service):
    service.names_operations = names_operations
    others(service, SERVER, things=service.servers_there[1:])
    assert restart(service, SERVER, request())["action"] == "submitted"


@however_shown
def test_server_restart_blocks_the_cluster_restart(names_operations, service):
    service.names_operations = names_operations
    others(service, SERVER)
    message = str(failure(service, CLUSTER, request()))
    assert "(Restart OB server) is running, but it does not restart everything that is asked for" in message
    assert restart(service, CLUSTER, request("queue"))["action"] == "submitted"


def test_cluster_attaches_to_the_restart_of_its_only_stale_server(service):
    for thing in service.servers_there[1:]:
        thing.started = -90.0
    job = others(service, SERVER)
    result = restart(service, CLUSTER, request(started_before=at(-300)))
    assert (result["action"], result["task_id"]) == ("attached", job.id)


def test_other_task_on_the_server_blocks_the_restart(service):
    """Only ``operatingTaskInstanceId`` shows the task; its scope is unknown."""
    others(service, SERVER, name="Stop OB server")
    message = str(failure(service, SERVER, request()))
    assert "(Stop OB server) is running, but it is not known to restart this target" in message
    assert restart(service, SERVER, request("queue"))["action"] == "submitted"
    assert len(service.posts) == 1


def test_task_without_a_start_time_does_not_meet_started_before(service):
    others(service, SERVER, hidden_start=True)
    assert "but when it began is not known" in str(failure(service, SERVER, request(started_before=at(-120))))
    assert restart(service, SERVER, request())["action"] == "attached"


def find_and_restart(service, options):
    named = {"cluster": "31", "server": "41", "freeze_server": True, "force": False}
    return restart_target(service, Selector(Server, named), options, service.time.clock)


def test_restart_named_only_by_the_cluster_is_attached(service):
    job = others(service, SERVER)
    service.servers_there[0].operated_by, service.cluster_operated_by = None, job.id
    result = find_and_restart(service, request())
    assert (result["action"], result["task_id"], service.posts) == ("attached", job.id, [])


@pytest.mark.parametrize("end", ["FAILED", "SUCCESSFUL", "gone"])
def test_running_restart_is_attached_despite_an_outdated_task_id(end, service):
    """The service still names the ended task."""
    others(service, SERVER, end="FAILED" if end == "gone" else end)
    service.time.time += 100
    ended = 999 if end == "gone" else 1001
    job = others(service, SERVER)
    service.servers_there[0].operated_by = ended
    result = find_and_restart(service, request())
    assert (result["action"], result["task_id"], service.posts) == ("attached", job.id, [])


def test_lagging_task_list_does_not_make_the_queue_spin(service):
    service.names_operations, service.list_lags = False, 10
    others(service, SERVER)
    result = restart(service, SERVER, request("queue"))
    assert (result["action"], len(service.posts)) == ("submitted", 1)
    assert 50 <= result["elapsed"] <= 53
    assert len(service.calls) < 200


def test_stale_task_list_is_waited_for_until_wait_timeout(service):
    service.names_operations, service.list_lags = False, 1000
    job = others(service, SERVER)
    error = failure(service, SERVER, request("queue"))
    assert (error.__class__, error.facts["elapsed"], service.posts) == (WaitTimeout, 60.0, [])
    assert f"task {job.id} (Restart OB server) is running and has to end first. It has ended, but" in str(error)


def test_deleted_task_is_not_running(service):
    service.servers_there[0].operated_by = 999
    assert restart(service, SERVER, request())["action"] == "submitted"


# Without tags


@pytest.mark.parametrize("case", [SERVER, CLUSTER, AGENTS], ids=["server", "cluster", "agents"])
def test_running_restart_without_tags_is_attached(case, service):
    service.tags = service.names_operations = False
    service.begin(fake_ocp.SERVER, service.servers_there[2:], ago=90, seconds=200)
    service.begin(fake_ocp.AGENTS, service.agents_there[2:], ago=90, seconds=200)
    if case is CLUSTER:
        service.time.time += 200
    job = others(service, case)
    assert restart(service, case, request())["task_id"] == job.id


def test_untagged_task_on_a_shared_host_is_ambiguous(service):
    """It may be of the other server, so it is not joined."""
    service.tags = service.names_operations = False
    service.servers_there[1].host = 51
    others(service, SERVER, things=service.servers_there[1:2])
    crowded = replace(SERVER, target=replace(SERVER.target, alone=False))
    assert "it is not known to restart this target" in str(failure(service, crowded, request()))
    assert service.posts == []
    result = restart(service, crowded, request("queue"))
    assert (result["action"], 40 <= result["elapsed"] <= 43, len(service.posts)) == ("submitted", True, 1)


@pytest.mark.parametrize(
    ("at_work", "more", "evidence"),
    [
        pytest.param([0], [], [1001], id="the only task that runs, and the server is at work"),
        pytest.param([], [], [], id="the server shows no work"),
        pytest.param([0, 1], [1], [], id="another task runs that may be the one"),
    ],
)
def test_untagged_task_is_evidence_for_the_server_that_it_alone_may_have_at_work(at_work, more, evidence, service):
    """The first look sees it at work, the second the task ended, and the start not yet."""
    service.tags = service.names_operations = False
    service.servers_there[1].host = 51
    service.start_shown_late = 100
    for number in [0, *more]:
        others(service, SERVER, things=[service.servers_there[number]])
    for number in at_work:
        service.servers_there[number].status = "RESTARTING"
    reader = Reader(service, replace(SERVER.target, alone=False), service.time.clock, [])
    reader.note(reader.look())
    service.passes(50)
    service.servers_there[0].status = None
    assert [entry.record["id"] for entry in reader.look().tasks if entry.restarts != frozenset()] == evidence


def test_tagged_tasks_distinguish_servers_on_a_shared_host(service):
    service.names_operations = False
    service.servers_there[1].host = 51
    crowded = replace(SERVER, target=replace(SERVER.target, alone=False))
    others(service, SERVER, things=service.servers_there[1:2])
    assert restart(service, crowded, request())["action"] == "submitted"
    service.time.time += 200
    job = others(service, SERVER)
    assert restart(service, crowded, request())["task_id"] == job.id


# Agents: only the stale ones


def test_only_stale_agents_are_restarted(service):
    service.agents_there[0].started = 0.0
    service.time.time += 60
    result = restart(service, AGENTS, request(started_before=at(-100)))
    assert service.posts == [("agents", [52])]
    assert result["skipped_hosts"] == [{"id": 51, "name": "10.1.0.1"}]
    assert "10.1.0.2" in result["reason"]
    assert result["reason"].endswith("(1 of 2)")
    assert result["diff"]["after"].splitlines()[1] == "10.1.0.2 restarted"
    assert "10.1.0.1 AVAILABLE started" not in result["diff"]["after"]


@pytest.mark.parametrize("check_mode", [False, True], ids=["for real", "check mode"])
@pytest.mark.parametrize(
    ("stale", "skipped"), [([51, 52], []), ([51], [52]), ([52], [51]), ([], [51, 52])], ids=["both", "51", "52", "none"]
)
def test_hosts_restarted_since_are_skipped(stale, skipped, check_mode, service):
    for thing in service.agents_there:
        thing.started = -3600.0 if thing.id in stale else 0.0
    service.time.time += 60
    result = restart(service, AGENTS, request(started_before=at(-100), check_mode=check_mode))
    assert [host["id"] for host in result["skipped_hosts"]] == skipped
    assert service.posts == ([("agents", stale)] if stale and not check_mode else [])


def test_skipped_hosts_are_null_before_the_decision(service):
    service.failing["host_agent"] = [refused(503)]
    assert failure(service, AGENTS, request()).facts["skipped_hosts"] is None


def test_agent_of_unknown_age_is_stale(service):
    service.agents_there[0].started, service.agents_there[1].started = None, 0.0
    service.time.time += 60
    assert restart(service, AGENTS, request(started_before=at(-100)))["reason"].startswith(
        "it is not proven that 10.1.0.1"
    )
    assert service.posts == [("agents", [51])]


def test_agents_join_a_task_of_more_hosts(service):
    job = others(service, AGENTS, things=service.agents_there)
    assert restart(service, AGENTS, request())["task_id"] == job.id


def test_agents_do_not_join_a_task_of_fewer_hosts(service):
    others(service, AGENTS, things=service.agents_there[:1])
    assert "it does not restart everything that is asked for" in str(failure(service, AGENTS, request()))


def test_agents_join_a_task_of_the_stale_host(service):
    service.agents_there[0].started = -50.0
    job = others(service, AGENTS, things=service.agents_there[1:2])
    result = restart(service, AGENTS, request(started_before=at(-120)))
    assert (result["action"], result["task_id"]) == ("attached", job.id)


# Work of another kind


@pytest.mark.parametrize("name", ["Upgrade OB cluster", "Replace OB server", "重启 OBServer"])
@pytest.mark.parametrize("case", [SERVER, CLUSTER, RESTART_CASES["zone"]], ids=["server", "cluster", "zone"])
def test_other_work_that_names_the_server_has_to_end_first(case, name, service):
    """No record names the task, as in its first seconds, or in older versions."""
    service.names_operations = service.restarts_really = False
    service.begin(name, service.servers_there[:1], seconds=40)
    service.before_post = lambda: setattr(service, "restarts_really", True)
    error = failure(service, case, request(started_before=at(-120)))
    assert (error.__class__, service.posts) == (TargetBusy, [])
    assert f"task 1001 ({name}" in str(error)
    result = restart(service, case, request("queue", at(-120), wait=True))
    assert (result["action"], len(service.posts)) == ("submitted", 1)


def test_other_work_that_names_another_server_is_none_of_ours(service):
    service.begin("Replace OB server", service.servers_there[1:2], seconds=40)
    assert restart(service, SERVER, request(started_before=at(-120)))["action"] == "submitted"


# Arbitration services: tasks are the evidence


@pytest.mark.parametrize(
    ("jobs", "action"),
    [
        pytest.param([(60, "SUCCESSFUL")], "skipped", id="restarted since"),
        pytest.param([(200, "SUCCESSFUL")], "submitted", id="restarted before"),
        pytest.param([(105, "SUCCESSFUL")], "skipped", id="begun before, started since"),
        pytest.param([(60, "ROLLBACK")], "submitted", id="rolled back"),
        pytest.param([(80, "SUCCESSFUL"), (60, "ROLLBACK")], "skipped", id="restarted, the next one rolled back"),
        pytest.param([], "submitted", id="never"),
    ],
)
def test_successful_tasks_decide_the_arbitration_restart(jobs, action, service):
    for ago, end in jobs:
        service.begin(fake_ocp.ARBITRATION, service.arbitration, ago=ago, end=end)
    result = restart(service, ARBITRATION, request(started_before=at(-100)))
    assert result["action"] == action
    assert len(service.posts) == (action == "submitted")
    if action == "submitted":
        assert "it is not proven that 10.1.0.8:2888 started since" in result["reason"]


@pytest.mark.parametrize("jobs", [[(60, "FAILED")], [(80, "SUCCESSFUL"), (60, "FAILED")]])
def test_failed_task_holds_the_arbitration_service(jobs, service):
    for ago, end in jobs:
        service.begin(fake_ocp.ARBITRATION, service.arbitration, ago=ago, end=end)
    assert isinstance(failure(service, ARBITRATION, request(started_before=at(-100))), TargetHeld)


def test_task_of_another_arbitration_service_is_ignored(service):
    service.begin(fake_ocp.ARBITRATION, [fake_ocp.Thing(69, 52)], ago=60)
    assert restart(service, ARBITRATION, request(started_before=at(-100)))["action"] == "submitted"


# Missing permissions


@every_restart
def test_forbidden_task_list_is_a_warning(case, service):
    service.failing["tasks"] = [refused(403)] * 9
    result = restart(service, case, request())
    [warning] = result["warnings"]
    assert warning == f"It is not known whether a restart of {case.target.label} is running already: Refused with 403."
    assert result["action"] == "submitted"


@pytest.mark.parametrize("name", [name for name in RESTART_CASES if name not in ("agents", "obproxies")])
def test_forbidden_task_named_by_the_target_blocks_the_restart(name, service):
    case = RESTART_CASES[name]
    service.failing.update(tasks=[refused(403)] * 9, task=[refused(403)] * 9)
    job = others(service, case)
    error = failure(service, case, request())
    assert error.__class__ is TargetBusy
    assert f"task {job.id} is running, but it is not known to restart this target" in str(error)
    assert service.posts == []


def test_unreadable_task_is_attached_with_a_warning(service):
    service.names_operations = False
    others(service, SERVER)
    service.failing["task"] = [refused(503)]
    result = restart(service, SERVER, request())
    assert (result["action"], result["task_id"], result["task"]) == ("attached", 1001, None)
    assert result["warnings"] == ["Task 1001 cannot be read: Refused with 503."]


def test_forbidden_task_list_does_not_hide_the_running_task(service):
    """The task list is forbidden, but the task that the service names is not."""
    job = others(service, ARBITRATION)
    service.failing["tasks"] = [refused(403)] * 9
    result = restart(service, ARBITRATION, request(started_before=at(-120)))
    assert (result["action"], result["task_id"], service.posts) == ("attached", job.id, [])


# Between two reads


@pytest.mark.parametrize("slow", ["task", "tasks"])
@pytest.mark.parametrize("name", ["server", "cluster", "agents"])
def test_restart_that_ends_between_two_reads_is_counted(name, slow, service):
    """The target was read while the task was running, the task after its end."""
    case = RESTART_CASES[name]
    service.names_operations = slow == "task" and case is not AGENTS
    service.begin(case.task_name, case.things(service), ago=8, seconds=10)
    service.slow[slow if service.names_operations else "tasks"] = 5.0
    result = restart(service, case, request(started_before=at(-20)))
    assert result["action"] == "skipped"
    assert service.posts == []


@pytest.mark.parametrize("slow", ["task", "tasks", "arbitration_service"])
def test_arbitration_restart_that_ends_between_two_reads_is_counted(slow, service):
    service.begin(fake_ocp.ARBITRATION, service.arbitration, ago=8, seconds=10)
    service.slow[slow] = 5.0
    assert restart(service, ARBITRATION, request(started_before=at(-20)))["action"] in ("skipped", "attached")
    assert service.posts == []


def test_rollback_is_not_joined(service):
    others(service, SERVER, rolling_back=True)
    error = failure(service, SERVER, request(started_before=at(-120)))
    assert error.__class__ is TargetBusy


# Progress


def test_progress_names_the_target_above_its_subtasks(service):
    job = others(service, SERVER, name="Check OB server")
    lines = []

    def show(line, _bad):
        lines.append(line)

    options = request("queue", wait=True, seconds=600, show=show, announce=show)
    assert restart(service, SERVER, options)["task_id"] == 1002
    told = [line for line in lines if SERVER.target.label in line]
    assert told == [
        f"  {SERVER.target.label}: waiting until 03:10:00+08:00 at the latest",
        f"  {SERVER.target.label}: submitted, task 1002",
    ]
    assert lines[lines.index(told[0]) + 1] == f"  task {job.id} (Check OB server) is running and has to end first"
    assert lines.index(told[0]) < next(n for n, line in enumerate(lines) if f"  {job.id} " in line)
    assert lines.index(told[1]) < next(n for n, line in enumerate(lines) if "  1002 " in line)


def lagging_detail(service, seconds):
    """A replica does not have a task yet, by its id either."""
    shown = service.task

    def task(number):
        [job] = [job for job in service.jobs if job.id == number]
        if service.now < job.started_at + seconds:
            raise refused(404)
        return shown(number)

    service.list_lacks, service.task = seconds, task


@pytest.mark.parametrize("options", [{}, {"started_before": at(-120)}])
def test_restart_that_a_replica_does_not_have_yet_is_waited_for(options, service):
    """The server names it, and is RUNNING still: a second restart was sent."""
    others(service, SERVER)
    service.servers_there[0].status = "RUNNING"
    lagging_detail(service, 5.0)
    result = find_and_restart(service, request(**options))
    assert (result["action"], result["task_id"], service.posts) == ("attached", 1001, [])


def test_task_that_is_named_and_stays_unseen_is_gone(service):
    """That minute is not of wait_timeout, which is then for the restart."""
    service.servers_there[0].operated_by = 999
    result = find_and_restart(service, request(wait=True, seconds=55))
    assert (result["action"], len(service.posts)) == ("submitted", 1)
    assert service.time.time - service._opened >= 60


def test_look_is_too_old_after_a_journal_that_was_slow(service, monkeypatch):
    """Somebody has restarted it meanwhile: there was a second restart."""
    journal = journal_here()
    begin = journal.begin

    def slow(row, allows=None):
        if not service.jobs:
            service.begin(fake_ocp.SERVER, service.servers_there[:1], seconds=20.0)
            service.passes(25.0)
        return begin(row, allows)

    monkeypatch.setattr(journal, "begin", slow)
    result = restart(service, SERVER, request(started_before=at(-60)))
    assert (result["action"], service.posts) == ("skipped", [])


def test_journal_that_is_always_slow_ends_the_run(service, monkeypatch):
    journal = journal_here()
    begin = journal.begin

    def slow(row, allows=None):
        service.passes(25.0)
        return begin(row, allows)

    monkeypatch.setattr(journal, "begin", slow)
    error = failure(service, SERVER, request())
    assert isinstance(error, JournalError)
    assert "to note its request in the journal" in str(error)
    assert service.posts == []
