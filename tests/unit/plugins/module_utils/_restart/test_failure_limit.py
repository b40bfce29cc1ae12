# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What failed of one change anywhere in the service stops the next restart; what counts, and what it costs."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ChangeStopped, RequestRefused
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import FirstSight, MemberKey, Shown
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.failure_limit import NEWEST_FAILED, FailureLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import InFlight
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import wish_of
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller, journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, Thing, at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import ELSEWHERE as ELSEWHERE_TOO
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import WISH, sight
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES

CHANGE = at(-600)
ELSEWHERE = {"of_cluster": 99, "end": "FAILED", "seconds": 1}


def restart(service, most=0, judged=(), since=CHANGE, *, wait=False, **more):
    limit = None if most is None else FailureLimit(most, frozenset(judged))
    request = RestartRequest(False, wait, PollPolicy(7200, 10), since, failures=limit, **more)
    return restart_target(service, RESTART_CASES["server"], request, service.time.clock)


def fails_elsewhere(service, number=901, ago=300.0, **more):
    return service.begin(SERVER, [Thing(number, number)], ago=ago, **{**ELSEWHERE, **more})


def stopped(service, *options, **more):
    with pytest.raises(ChangeStopped) as raised:
        restart(service, *options, **more)
    assert service.posts == []
    return raised.value


def test_one_request_more_and_only_with_a_limit_and_an_instant(service):
    costs = []
    for most in (None, 0):
        service.calls.clear()
        assert restart(service, most)["action"] == "submitted"
        costs.append(sorted(service.calls))
        service.passes(1000)
        service.jobs.clear()
        another_controller()
        service.servers_there[0].started = -3600.0
    assert costs[1] == sorted([*costs[0], "tasks"])
    fails_elsewhere(service)
    assert restart(service, since=None)["action"] == "submitted"


def test_failure_elsewhere_stops_and_is_named(service):
    job = fails_elsewhere(service)
    error = stopped(service)
    assert str(error) == (
        "Did not restart server 10.1.0.1:2882 (id 41) of cluster orders (id 31): 1 target of this change is "
        f"held by a FAILED restart, more than max_failures=0 allows: task {job.id} (Restart OB server) in cluster 99. "
        f"Give judged_tasks={job.id} when a person has decided that the others may go on. "
        "With OCP_URL and the credentials in the environment:\n"
        "  Retry what failed: ansible localhost -m oceanbase.ocp.task "
        f"-a 'task_id={job.id} state=retried wait=true detail=compact'\n"
        "  Skip this subtask, leaving its work undone: ansible localhost -m oceanbase.ocp.task "
        f"-a 'task_id={job.id} subtask_id=2 state=skipped wait=true detail=compact'\n"
        "  Roll the task back: ansible localhost -m oceanbase.ocp.task "
        f"-a 'task_id={job.id} state=rolled_back wait=true detail=compact'\n"
        "Then run the same command again."
    )
    assert error.facts["failed_task_ids"] == [job.id]
    assert restart(service, judged=[job.id])["action"] == "submitted"


@pytest.mark.parametrize(("ago", "is_stopped"), [(300, True), (700, False)])
def test_change_with_a_name_alone_begins_with_its_first_use_for_anything(ago, is_stopped, service):
    used = service.time.clock.wall() - 600
    journal_here().register("memory", WISH, [sight(ELSEWHERE_TOO, at=used)])
    fails_elsewhere(service, ago=ago)
    if is_stopped:
        assert "1 target of this change is held" in str(stopped(service, since=None, change="memory"))
    else:
        assert restart(service, since=None, change="memory")["action"] == "submitted"


@pytest.mark.parametrize(("began", "is_stopped"), [(3.0, True), (-100.0, False)])
@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
def test_first_use_by_another_controller_is_compared_by_the_clocks_of_the_service(began, is_stopped, ahead, service):
    key = MemberKey("orders 31", "server", 42, "10.1.0.2:2882")
    used = FirstSight(key, Shown(), at=service.time.clock.wall() + ahead, clocks=(-ahead, -ahead))
    journal_here().register("memory", wish_of(None, {}), [used])
    service.passes(5)
    fails_elsewhere(service, ago=5 - began)
    if is_stopped:
        stopped(service, since=None, change="memory")
    else:
        assert restart(service, since=None, change="memory")["action"] == "submitted"


def test_name_that_is_new_has_no_failures(service):
    fails_elsewhere(service)
    assert restart(service, since=None, change="memory")["action"] == "submitted"


def test_as_many_as_are_allowed_may_fail(service):
    fails_elsewhere(service, 901)
    fails_elsewhere(service, 902)
    assert "2 targets of this change are held by a FAILED restart, more than max_failures=1" in str(stopped(service, 1))
    assert restart(service, 2)["action"] == "submitted"


def followed_by_another(service):
    third = service.servers_there[2]
    for end, ago in (("FAILED", 300), ("SUCCESSFUL", 200)):
        service.begin(SERVER, [third], ago=ago, seconds=1, end=end, of_cluster=31)


@pytest.mark.parametrize(
    "spared",
    [
        pytest.param(lambda service: fails_elsewhere(service, ago=700), id="before the change"),
        pytest.param(lambda service: fails_elsewhere(service, end="REFUSED"), id="nothing was changed"),
        pytest.param(lambda service: fails_elsewhere(service, end="SUCCESSFUL"), id="not failed"),
        pytest.param(lambda service: fails_elsewhere(service, end="ROLLBACK"), id="rolled back"),
        pytest.param(lambda service: service.begin("Backup", [Thing(901, 901)], **ELSEWHERE), id="no restart"),
        pytest.param(followed_by_another, id="restarted since"),
    ],
)
def test_what_holds_nothing_of_the_change_does_not_count(spared, service):
    spared(service)
    service.passes(5)
    assert restart(service)["action"] == "submitted"


@pytest.mark.parametrize(("end", "more"), [("ROLLBACK", {}), ("SUCCESSFUL", {"skipped": (2,)})])
def test_later_restart_without_effect_hides_no_failure(end, more, service):
    third = service.servers_there[2]
    for ends, ago, options in (("FAILED", 300, {}), (end, 200, more)):
        service.begin(SERVER, [third], ago=ago, seconds=1, end=ends, of_cluster=31, **options)
    service.passes(5)
    assert stopped(service).facts["failed_task_ids"] == [1001]


def test_attempt_that_changed_nothing_hides_no_failure_before_it(service):
    for end, ago in (("FAILED", 300), ("REFUSED", 200)):
        service.begin(SERVER, service.servers_there[2:3], ago=ago, seconds=1, end=end, of_cluster=31)
    service.passes(5)
    assert stopped(service).facts["failed_task_ids"] == [1001]


@pytest.mark.parametrize(
    ("ids", "ends"), [((1002, 1001), ("FAILED", "SUCCESSFUL")), ((1002, 1001), ("SUCCESSFUL", "FAILED"))]
)
def test_later_restart_is_one_that_began_later_whatever_the_ids(ids, ends, service):
    for number, end, ago in zip(ids, ends, (300, 200), strict=True):
        service.begin(SERVER, service.servers_there[2:3], ago=ago, seconds=1, end=end, of_cluster=31).id = number
    service.passes(5)
    service.jobs.sort(key=lambda job: job.id)
    if ends[-1] == "FAILED":
        assert stopped(service).facts["failed_task_ids"] == [1001]
    else:
        assert restart(service)["action"] == "submitted"


def test_failures_of_the_change_are_seen_whose_ids_are_lower_than_a_hundred_older_ones(service):
    fails_elsewhere(service)
    for number in range(NEWEST_FAILED):
        fails_elsewhere(service, 1000 + number, ago=5000 + number % 2)
    assert "1 target of this change is held" in str(stopped(service))


def test_failure_that_shows_no_steps_counts(service):
    fails_elsewhere(service)
    read = service.task
    service.task = lambda number: {name: value for name, value in read(number).items() if name != "subtasks"}
    assert "1 target of this change is held" in str(stopped(service))


def test_failure_without_a_time_counts(service):
    fails_elsewhere(service, hidden_start=True)
    assert "1 target of this change is held" in str(stopped(service))


def test_failures_behind_a_page_of_others_are_seen(service):
    fails_elsewhere(service)
    for number in range(NEWEST_FAILED):
        service.begin("Backup", [Thing(1000 + number, 1)], ago=10, **ELSEWHERE)
    assert "1 target of this change is held" in str(stopped(service))


def test_filter_that_the_service_ignores_does_no_harm(service):
    service.ignored = ("status",)
    service.begin(SERVER, [Thing(902, 902)], of_cluster=99, ago=300, seconds=1)
    assert restart(service)["action"] == "submitted"


def test_without_permission_there_is_a_warning(service):
    service.failing["tasks"] = [refused(403)] * 9
    assert any("how many restarts of this change have failed" in text for text in restart(service)["warnings"])


def test_failed_look_stops(service):
    service.failing["tasks"] = [refused(500)]
    with pytest.raises(RequestRefused, match="Without max_failures, failed restarts"):
        restart(service)
    assert service.posts == []


def test_each_look_reads_anew(service):
    """A failure between a first look, which has to wait, and the next one is seen."""
    service.restarts_really = False
    service.begin(SERVER, [service.servers_there[0]], seconds=30, end="ROLLBACK")
    service.time.after_sleep = lambda: (
        fails_elsewhere(service, ago=0) if service.now > 21 and len(service.jobs) == 1 else 0
    )
    service.passes(10)
    error = stopped(service, since=at(20), in_flight=InFlight.QUEUE, wait=True)
    assert "1 target of this change is held" in str(error)
