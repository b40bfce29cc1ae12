# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Looks of one run at a service whose replicas lag: what was shown once is not forgotten."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ResponseUnreadable, TargetBusy
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.earlier_looks import EarlierLooks
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.reader import Reader
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation, TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    SERVER,
    every_restart,
    failure,
    request,
    restart,
)

READS = ("task", "tasks", "cluster", "servers", "hosts", "host_agent", "arbitration_service")
ARBITRATION = RESTART_CASES["arbitration service"]
CHANGE = at(-10)
with_a_start = pytest.mark.parametrize("kind", ["server", "cluster", "zone", "agents"])


def lag(service, past, is_behind):
    """Answer reads from ``past`` while ``is_behind``."""
    for name in READS:
        setattr(service, name, _either(getattr(past, name), getattr(service, name), is_behind))


def _either(old, new, is_old):
    def read(*args, **more):
        return (old if is_old() else new)(*args, **more)

    return read


def past_of(service):
    return copy.deepcopy(service)


# Restarts


@with_a_start
def test_replica_that_shows_neither_the_work_nor_the_start_yet_is_not_believed(kind, service):
    case = RESTART_CASES[kind]
    past, things = past_of(service), case.things(service)
    for thing in things:
        thing.status = "RESTARTING"

    def ends():
        if service.now >= 5:
            for thing in things:
                thing.status, thing.started, thing.pid = None, 4.0, 200

    service.time.after_sleep = ends
    lag(service, past, lambda: 0.4 < service.now < 30)
    result = restart(service, case, request("queue", CHANGE))
    assert (result["action"], service.posts) == ("skipped", [])
    assert result["elapsed"] < 40


def test_work_that_was_shown_when_the_target_was_found_is_not_forgotten(service):
    """A replica that lags answers the look."""
    found = replace(SERVER.target, first_observation=observed("RESTARTING", -3600.0, "10.1.0.1:2882"))
    case = replace(SERVER, target=found)
    [thing] = case.things(service)
    service.time.after_sleep = lambda: service.now >= 5 and setattr(thing, "started", 4.0)
    result = restart(service, case, request(started_before=CHANGE))
    assert (result["action"], service.posts) == ("skipped", [])


def test_work_that_the_first_half_of_a_look_has_shown_is_not_forgotten(service):
    """The record names a task that a replica does not know yet, and the second half is answered by that one."""
    past = past_of(service)
    [thing] = SERVER.things(service)
    thing.status, thing.operated_by = "RESTARTING", 1001
    service.after_list = lambda: service.calls.count("tasks") > 2 and reads.append(1)
    reads: list[int] = []
    service.time.after_sleep = lambda: (
        service.now >= 5 and vars(thing).update(status=None, started=4.0, operated_by=None)
    )
    lag(service, past, lambda: bool(reads) and service.now < 3)
    result = restart(service, SERVER, request("queue", CHANGE))
    assert (result["action"], service.posts) == ("skipped", [])


def test_task_that_one_of_two_lists_shows_is_evidence(service):
    """What shows no start is looked for on a list of its own, which a replica that lags may answer."""
    service.begin(ARBITRATION.task_name, ARBITRATION.things(service), seconds=2.0)
    service.passes(3.0)
    tasks = service.tasks
    service.tasks = lambda **query: [] if query.get("status") == "SUCCESSFUL" else tasks(**query)
    result = restart(service, ARBITRATION, request(started_before=CHANGE))
    assert (result["action"], service.posts) == ("skipped", [])


def test_agent_that_is_restarting_when_it_is_found_is_looked_at_again(service):
    """Where tasks have no tags, a replica that lags hides both the task of a host and its status."""
    service.tags = service.names_operations = False
    service.agents_there[0].host_agent_status = "RESTARTING"
    target = Agents.find(service, ["51"])
    service.agents_there[0].host_agent_status = None
    case = replace(RESTART_CASES["agents"], target=target)

    def shows_it():
        if service.now >= 5:
            service.agents_there[0].host_agent_status = "RESTARTING"

    service.time.after_sleep = shows_it
    error = failure(service, case, request(started_before=CHANGE))
    assert (error.__class__, service.posts) == (TargetBusy, [])


@every_restart
def test_restart_task_that_a_replica_does_not_show_yet_is_not_forgotten(case, service):
    """The first look shows a task that has ended, and the start is shown late."""
    past = past_of(service)
    service.start_shown_late = 60.0
    service.begin(case.task_name, case.things(service), seconds=2.0)
    service.passes(3.0)
    looked_at = service.now
    lag(service, past, lambda: looked_at + 1 < service.now < looked_at + 40)
    result = restart(service, case, request(started_before=CHANGE, wait=True))
    assert (result["action"], service.posts) == ("skipped", [])


def test_task_that_only_the_record_names_is_not_forgotten(service):
    """The list lacks it, and a replica lags after its end."""
    past = past_of(service)
    service.list_lacks = 1000.0
    service.start_shown_late = 60.0
    service.begin(SERVER.task_name, SERVER.things(service), seconds=5.0, hidden_start=True)
    service.before_post = lambda: pytest.fail("sent")
    service.time.after_sleep = lambda: [setattr(job, "hidden_start", False) for job in service.jobs]
    lag(service, past, lambda: 6 < service.now < 50)
    result = restart(service, SERVER, request("queue", CHANGE, wait=True))
    assert (result["action"], service.posts) == ("skipped", [])


def test_service_that_goes_back_in_time_for_long_is_not_believed(service):
    past = past_of(service)
    [thing] = SERVER.things(service)
    thing.started, thing.status = -20.0, "RESTARTING"
    lag(service, past, lambda: service.now > 0)
    error = failure(service, SERVER, request("queue", CHANGE))
    assert (error.__class__, service.posts) == (ResponseUnreadable, [])
    assert "For 60 seconds the service has shown an older start of server 10.1.0.1:2882" in str(error)
    assert "Did not restart" in str(error)


def test_waits_for_a_newer_answer_that_are_in_vain_count_for_the_time_out(service):
    past = past_of(service)
    service.restarts_really = False
    service.begin(SERVER.task_name, SERVER.things(service), seconds=2.0)
    service.passes(3.0)
    lag(service, past, lambda: service.now > 30)
    [thing] = SERVER.things(service)
    service.time.after_sleep = lambda: setattr(thing, "started", -500.0) if service.now > 20 else None
    asked = request(started_before=CHANGE, wait=True)
    error = failure(service, SERVER, replace(asked, policy=replace(asked.policy, timeout=120.0)))
    assert (error.__class__, service.posts) == (ResponseUnreadable, [])
    assert service.now <= 30 + 120 + 2 * 60


def test_look_that_is_repeated_since_clocks_are_in_doubt_is_remembered(service, monkeypatch):
    """Its answer came from a newer replica than that of the next one."""
    [thing] = SERVER.things(service)
    thing.started = -500.0
    past, doubts = past_of(service), []
    thing.started = -100.0

    def is_doubtful(_clock):
        doubts.append(service.now)
        return len(doubts) == 1

    monkeypatch.setattr(ServiceClock, "is_doubtful", property(is_doubtful))
    lag(service, past, lambda: doubts and service.now < doubts[0] + 3)
    result = restart(service, SERVER, request(started_before=at(-200)))
    assert (result["action"], service.posts) == ("skipped", [])


def test_lagging_replica_is_waited_out_with_pauses(service, monkeypatch):
    """Also if that takes more than the minute, since the work was shown later than the wait began."""
    looks = []

    def may_be_behind(_reader, _look):
        looks.append(service.now)
        assert len(looks) < 200, "it looks without a pause"
        return service.now < 70

    monkeypatch.setattr(Reader, "may_be_behind", may_be_behind)
    assert restart(service, SERVER, request(started_before=CHANGE))["action"] == "submitted"
    assert all(later - sooner >= 0.5 for sooner, later in pairwise(looks[:-2]))


# The memory itself


def observed(status="RUNNING", started=0.0, name="a", serves=None):
    start = None if started is None else at(started)
    return Observation(status, (Member(name, status, started=start, serves=serves),))


@pytest.mark.parametrize(
    ("later", "is_behind"),
    [
        (observed(started=-1.0), False),
        (observed(started=-3.0), True),
        (Observation(None, ()), True),
        (Observation(None, (Member("a", None),)), True),
        (observed("STOPPED", None, serves=False), False),
        (observed("RESTARTING", None), False),
    ],
    ids=["of an uptime", "earlier", "no member", "gone", "stopped", "at work"],
)
def test_start_that_is_earlier_than_before_is_behind(later, is_behind):
    earlier = EarlierLooks()
    earlier.note(observed(), explained=False, now=0.0)
    assert earlier.is_behind(later) is is_behind


def test_start_of_a_host_that_is_ahead_is_behind_too():
    [member] = observed(started=7200.0).members
    earlier = EarlierLooks()
    earlier.note(Observation("RUNNING", (replace(member, is_ahead=True),)), explained=False, now=0.0)
    assert earlier.is_behind(Observation("RUNNING", (replace(member, started=at(7000.0), is_ahead=True),)))


def test_latest_start_that_was_shown_counts():
    earlier = EarlierLooks()
    for started in (10.0, 0.0):
        earlier.note(observed(started=started), explained=False, now=0.0)
    assert earlier.is_behind(observed(started=5.0))


@pytest.mark.parametrize(
    ("later", "explained", "now", "may_be"),
    [
        (observed(), False, 59.0, True),
        (observed(), False, 61.0, False),
        (observed(), True, 1.0, False),
        (observed(started=5.0), False, 1.0, False),
        (observed("RESTARTING"), False, 1.0, False),
        (observed(started=None), False, 1.0, True),
    ],
    ids=["recent", "a minute later", "by a task", "has started", "still at work", "no start is shown"],
)
def test_work_that_is_not_shown_any_more_may_go_on(later, explained, now, may_be):
    earlier = EarlierLooks()
    earlier.note(observed("RESTARTING"), explained=explained, now=0.0)
    assert earlier.may_be_behind(later, now) is may_be


ALL, UNTOLD = None, frozenset()


@pytest.mark.parametrize(
    ("known", "shown", "read", "found"),
    [
        ([(90, "RUNNING", ALL)], [], "SUCCESSFUL", [(90, "SUCCESSFUL")]),
        ([(90, "RUNNING", ALL)], [], None, [(90, "RUNNING")]),
        ([(90, "RUNNING", UNTOLD)], [], "SUCCESSFUL", []),
        ([(90, "RUNNING", UNTOLD)], [], None, []),
        ([(90, "SUCCESSFUL", UNTOLD)], [], None, [(90, "SUCCESSFUL")]),
        ([(90, "SUCCESSFUL", UNTOLD)], [], "SUCCESSFUL", []),
        ([(90, "SUCCESSFUL", ALL)], [(90, "RUNNING", ALL)], None, [(90, "SUCCESSFUL")]),
        ([(90, "SUCCESSFUL", ALL)], [(90, "FAILED", ALL)], None, [(90, "SUCCESSFUL")]),
        ([(90, "FAILED", ALL)], [(90, "RUNNING", ALL)], None, [(90, "RUNNING")]),
        ([(90, "RUNNING", ALL)], [(91, "RUNNING", ALL)], "FAILED", [(91, "RUNNING"), (90, "FAILED")]),
    ],
    ids=[
        "is read",
        "cannot be read",
        "untold",
        "untold, and gone",
        "untold, ended, and gone",
        "of others",
        "has ended",
        "was retried",
        "may be retried",
        "newest first",
    ],
)
def test_restart_that_was_shown_is_known(known, shown, read, found):
    earlier = EarlierLooks()

    def entries(tasks):
        return [TaskOnTarget(raw_task(number, status), restarts) for number, status, restarts in tasks]

    earlier.completed(entries(known), lambda _number: None, lambda _record: True)
    completed = earlier.completed(
        entries(shown), lambda number: raw_task(number, read) if read else None, lambda _record: True
    )
    assert [(entry.record["id"], entry.record["status"]) for entry in completed] == found


def test_what_a_task_restarts_may_be_told_after_its_end():
    earlier = EarlierLooks()
    earlier.completed([TaskOnTarget(raw_task(90, "SUCCESSFUL"), UNTOLD)], lambda _number: None, lambda _record: True)
    told = TaskOnTarget(raw_task(90, "RUNNING"), ALL)
    [found] = earlier.completed([told], lambda _number: None, lambda _record: True)
    assert (found.record["status"], found.restarts) == ("SUCCESSFUL", ALL)


def test_ended_work_of_another_kind_is_not_known_when_it_is_gone():
    earlier = EarlierLooks()
    earlier.completed([TaskOnTarget(raw_task(90, "FAILED"), UNTOLD)], lambda _number: None, lambda _record: False)
    assert earlier.completed([], lambda _number: None, lambda _record: False) == []


def test_restart_that_this_controller_knows_to_be_of_others_is_passed_over():
    earlier, members = EarlierLooks(), [Member("10.1.0.1:2882", "RUNNING")]
    untold = TaskOnTarget(raw_task(81, "RUNNING"), frozenset())
    earlier.remember(replace(untold, restarts=frozenset({"10.1.0.2:2882"})), members)
    assert earlier.completed([untold], lambda _number: None, lambda _record: True) == []
    own = replace(untold, record=raw_task(82, "RUNNING"))
    earlier.remember(replace(own, restarts=frozenset({"10.1.0.1:2882", "10.1.0.2:2882"})), members)
    [found] = earlier.completed([own, untold], lambda _number: None, lambda _record: True)
    assert (found.record["id"], found.restarts) == (82, frozenset({"10.1.0.1:2882", "10.1.0.2:2882"}))


def test_start_that_shows_while_the_work_goes_on_is_its_effect():
    """Processes that are stopped show no start."""
    earlier, now = EarlierLooks(), 1000.0
    for status, started in (("RUNNING", -3600.0), ("RESTARTING", None), ("RESTARTING", 4.0)):
        earlier.note(observed(status, started, "10.1.0.1:2882"), explained=False, now=now)
    assert not earlier.may_be_behind(observed("RUNNING", 4.0, "10.1.0.1:2882"), now)
    assert earlier.may_be_behind(observed("RUNNING", -3600.0, "10.1.0.1:2882"), now)


def test_tasks_are_ordered_by_their_begin_not_by_their_ids():
    begins = {1: 0, 3: -60, 2: -60, 9: None, 5: -120}
    records = [
        raw_task(number, startTime=None if begin is None else at(begin).isoformat()) for number, begin in begins.items()
    ]
    entries = [TaskOnTarget(record, ALL) for record in records]
    found = EarlierLooks().completed(entries, lambda _number: None, lambda _record: True)
    assert [entry.record["id"] for entry in found] == [9, 1, 3, 2, 5]
