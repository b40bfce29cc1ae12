# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a restart notes in the journal, and what later runs and processes read there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from math import inf

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError, NameTaken
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import LARGEST_CORRECTION, ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.change import Begin
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.know import Ended
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import Relative, Request
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.look import Look
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import Claim, OwnNotes, requested_at
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_request import Sent
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import TaskOnTarget
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_process
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import clock_ahead, raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import FIRST, SECOND, request
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import ORDERS, SERVER_41

ADDRESS = SERVER_41.address
HERE = frozenset([ADDRESS])
NAME = {"change": "memory-2026-11-20"}
DATED = {"started_before": at(-300)}
EFFECTIVE = {"until_effective": {"stack_size": "5M"}}
# The time-out of a request, and the minute in which its task shows.
SEARCH = 20 + 60
CERTAIN = SEARCH + LARGEST_CORRECTION
# Then its start may still show for three minutes.
SHOWN = SEARCH + 180 + LARGEST_CORRECTION
# The request of the run itself.
OWN = Sent(at(0), timedelta(0), frozenset(), HERE, "admin")


def requested(is_searched, **more):
    """An open request for the server; its start may still show, unless ``more`` says otherwise."""
    return Request(HERE, **{"is_searched": is_searched, "is_due": True, **more})


@pytest.fixture
def journal(service):
    return MemoryJournal(service.time.clock)


@pytest.fixture
def run(service, journal):
    """The notes of one more run, for these options of a restart of server 41 or of another target."""

    def begin(target=SERVER_41, **options):
        request = RestartRequest(check_mode=False, wait=True, policy=PollPolicy(60, 10), **options)
        notes = OwnNotes(service, target, request, journal, service.time.clock)
        notes.refresh(target.observe(service))
        return notes

    return begin


@pytest.fixture
def seen(service):
    """What one look at server 41 has read."""

    def look(*tasks, **more):
        entries = [TaskOnTarget(task, None) for task in tasks]
        return Look(SERVER_41.observe(service), at(service.now), entries, list(tasks), **more)

    return look


def restarts(service, seconds=5.0):
    """Server 41 shows another start from now on."""
    service.servers_there[0].started = service.now
    service.passes(seconds)


def late(notes, look):
    return notes.late(look, Ended())


def register(notes, look):
    notes.sights(look, late(notes, look), registers=True)


def sights(notes, look):
    return notes.sights(look, late(notes, look), registers=False)


def members_of(seen):
    return seen().observed.members


# Requests


def test_request_is_noted_before_it_is_sent(run, seen, journal):
    run(**NAME).begin(seen(from_before(-500, -400), {**from_before(-900, -800), "id": 79}), HERE)
    [noted] = journal.requests(run().keys)
    assert (noted.task_id, noted.outcome, noted.known, noted.change) == (None, None, (79, 80), NAME["change"])
    assert [(key.address, shown.start) for key, shown in noted.members] == [(ADDRESS, at(-3600).isoformat())]


def test_nothing_may_be_sent_that_cannot_be_noted(run, seen, journal, monkeypatch):
    def refuse(*_request):
        raise JournalError("No space left.")

    monkeypatch.setattr(journal, "begin", refuse)
    notes = run()
    with pytest.raises(JournalError):
        notes.begin(seen(), HERE)
    notes.end(None)
    assert notes.open_requests(seen()) == ()


def test_request_that_was_noted_although_the_journal_did_not_say_so_is_withdrawn(run, seen, journal, monkeypatch):
    """It is not sent, so the next run must not take a task of somebody else for its own."""
    begin = journal.begin

    def lose_the_answer(*request):
        begin(*request)
        raise JournalError("The connection was lost.")

    monkeypatch.setattr(journal, "begin", lose_the_answer)
    with pytest.raises(JournalError):
        run().begin(seen(), HERE)
    assert [row.outcome for row in journal.requests(run().keys)] == ["REFUSED"]
    another_process()
    assert run().open_requests(seen()) == ()
    assert run().sent_before() is None


@pytest.mark.parametrize(
    ("later", "is_searched"),
    [(0, False), (SEARCH - 0.1, False), (SEARCH + 90, False), (CERTAIN, True), (-4, False)],
    ids=["at once", "while it may show", "the clock may have been set", "after that", "the clock was set back"],
)
def test_run_after_a_kill_knows_of_the_request_without_an_answer(later, is_searched, run, seen, service):
    run().begin(seen(), HERE)
    another_process()
    service.time.time += later
    assert run().open_requests(seen()) == (requested(is_searched),)


@pytest.mark.parametrize("later", [-4, 90], ids=["back", "ahead"])
def test_run_that_has_known_a_request_long_enough_needs_no_clock(later, run, seen, service):
    run().begin(seen(), HERE)
    another_process()
    service.time.time += later
    notes = run()
    for passed, is_searched in ((0, False), (SEARCH - 0.1, False), (0.2, True)):
        service.time.time += passed
        assert notes.open_requests(seen()) == (requested(is_searched),)


@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
def test_age_of_a_request_of_another_controller_needs_no_common_clock(ahead, run, seen, service, monkeypatch):
    """The clock of this machine is ahead of the one that has sent it, or behind it."""
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(0.0))
    run().begin(seen(), HERE)
    another_process()
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(-ahead))
    service.time.time += ahead + SEARCH - 0.1
    notes = run()
    assert notes.open_requests(seen()) == (requested(False),)
    service.time.time += SEARCH
    assert notes.open_requests(seen()) == (requested(True),)


@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
def test_new_task_of_another_controller_needs_no_common_clock(ahead, run, seen, service, monkeypatch):
    """No list shows it yet."""
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(0.0))
    answered(run, seen)
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(-ahead))
    for later, restarts in ((ahead + 10.0, 1), (60.0, 0)):
        service.time.time += later
        assert len(run().own_restarts([])) == restarts


def test_server_that_serves_with_a_new_start_is_not_down_by_a_request_without_an_answer(run, seen, service):
    """A run that was killed at the answer does not hold up the one that goes on with the next server."""
    run().begin(seen(), HERE)
    assert [restart.servers for restart in run().own_restarts([])] == [HERE]
    restarts(service)
    notes = run()
    notes.came_back(seen().observed)
    assert notes.own_restarts([]) == run().own_restarts([]) == []


def test_start_of_an_open_request_may_show_until_three_minutes_after_its_search(run, seen, service):
    """Its task may have ended unseen, and be archived."""
    run().begin(seen(), HERE)
    service.time.time += SHOWN
    another_process()
    assert run().open_requests(seen()) == (requested(True, is_due=False),)


def test_process_remembers_that_its_request_may_still_be_delivered(run, seen, service):
    notes = run()
    notes.begin(seen(), HERE)
    notes.end(None)
    service.time.time += CERTAIN
    assert run().open_requests(seen()) == (requested(True, is_here=True),)
    another_process()
    assert run().open_requests(seen()) == (requested(True),)


def test_start_that_has_moved_answers_a_request(run, seen, service):
    run().begin(seen(), HERE)
    restarts(service)
    assert run().open_requests(seen()) == ()


def from_before(began=-60, ended=-30, **more):
    """A restart that was there before the first use of a name."""
    times = {"startTime": at(began).isoformat()} | ({} if ended is None else {"finishTime": at(ended).isoformat()})
    return raw_task(80, **{"status": "SUCCESSFUL", **times, **more})


RUNNING_NOW = {"ended": None, "status": "RUNNING"}
STOPS = step(1, "Stop observer process", "SUCCESSFUL")


def starts(status):
    return step(2, "Start observer process", status)


@pytest.mark.parametrize(
    ("task", "shown", "relative"),
    [
        pytest.param(from_before(), -3600, "unclear", id="it has just ended"),
        pytest.param(from_before(), -45, "since", id="its start shows"),
        pytest.param(from_before(-500, -200), -3600, "since", id="it has shown its start by now"),
        pytest.param(
            from_before(**RUNNING_NOW, subtasks=[STOPS, starts("SUCCESSFUL")]), -3600, "unclear", id="it has started it"
        ),
        pytest.param(
            from_before(**RUNNING_NOW, subtasks=[STOPS, starts("RUNNING")]), -3600, "unclear", id="it starts it"
        ),
        pytest.param(
            from_before(**RUNNING_NOW, subtasks=[STOPS, starts("PENDING")]), -3600, "since", id="it has yet to start it"
        ),
        pytest.param(from_before(**RUNNING_NOW), -3600, "unclear", id="it runs, and shows no steps"),
        pytest.param(
            from_before(**RUNNING_NOW, subtasks=[step(1, "准备", "SUCCESSFUL"), step(2, "启动", "SUCCESSFUL")]),
            -3600,
            "unclear",
            id="it may have started it, by steps of unknown names",
        ),
        pytest.param(
            from_before(**RUNNING_NOW, subtasks=[step(1, "准备", "SUCCESSFUL"), step(2, "启动", "READY")]),
            -3600,
            "since",
            id="it has ended its first step, whatever its name",
        ),
        pytest.param(
            from_before(status="FAILED", subtasks=[step(1, "Prepare", "FAILED"), starts("PENDING")]),
            -3600,
            "since",
            id="it has done nothing",
        ),
    ],
)
def test_later_start_may_be_that_of_a_restart_from_before_the_name(task, shown, relative, run, seen, service):
    service.servers_there[0].started = shown
    register(run(**NAME), seen(task))
    service.servers_there[0].started = 10.0
    service.passes(300)
    [member] = members_of(seen)
    assert Begin(sights=sights(run(**NAME), seen())).of_start(member).value == relative


@pytest.mark.parametrize(
    ("task", "starting"),
    [
        (from_before(**RUNNING_NOW), {80}),
        (from_before(**RUNNING_NOW, subtasks=[STOPS, starts("PENDING")]), {80}),
        (from_before(**RUNNING_NOW, subtasks=[STOPS, starts("RUNNING")]), {80}),
        (from_before(**RUNNING_NOW, subtasks=[STOPS, starts("SUCCESSFUL")]), set()),
        (from_before(**RUNNING_NOW, operation="ROLLBACK", subtasks=[STOPS, starts("SUCCESSFUL")]), {80}),
        (from_before(), set()),
        (from_before(status="FAILED"), set()),
    ],
    ids=[
        "it shows no steps",
        "it waits with that",
        "it is at it",
        "it has done that",
        "it is rolled back",
        "it has ended",
        "it has FAILED, and does not hold it",
    ],
)
def test_first_use_of_a_name_notes_what_may_start_it_from_then_on(task, starting, run, seen):
    look = seen(task)
    register(run(**NAME), look)
    sight = sights(run(**NAME), look)[ADDRESS]
    assert (sight.starting, sight.running) == (starting, set() if Task.from_api(task).finished else {80})


@pytest.mark.parametrize("holds", ["named_failed", "failure"])
def test_task_that_holds_it_at_the_first_use_may_start_it_when_somebody_retries_it(holds, run, seen):
    failed = from_before(status="FAILED")
    task = Task.from_api(failed)
    other = Task.from_api({**failed, "id": 79})
    held = {"named_failed": [other, task], "failure": task}
    look = seen(failed, **{holds: held[holds]})
    register(run(**NAME), look)
    assert sights(run(**NAME), look)[ADDRESS].starting == {80}


def test_start_that_shows_may_be_that_of_either_of_two_restarts_a_minute_apart(run, seen, service):
    service.servers_there[0].started = -45.0
    look = seen(from_before(), {**from_before(-110, -80), "id": 79})
    register(run(**NAME), look)
    assert sights(run(**NAME), look)[ADDRESS].late


def test_start_after_the_end_of_a_restart_is_not_its_own(run, seen, service):
    service.servers_there[0].started = -45.0
    look = seen(from_before(), {**from_before(-300, -200), "id": 79})
    register(run(**NAME), look)
    assert not sights(run(**NAME), look)[ADDRESS].late


def test_first_start_is_the_one_that_shows_when_that_of_an_earlier_restart_no_longer_can(run, seen, service):
    register(run(**NAME), seen(from_before()))
    service.servers_there[0].started = -45.0
    service.passes(300)
    # Clocks may be off, so it may have started since.
    register(run(**NAME), seen(from_before()))
    [member] = members_of(seen)
    assert Begin(sights=sights(run(**NAME), seen())).of_start(member) is Relative.UNCLEAR
    restarts(service)
    [member] = members_of(seen)
    assert Begin(sights=sights(run(**NAME), seen())).of_start(member) is Relative.SINCE


@pytest.mark.parametrize(("started", "starting"), [(-45.0, set()), (45.0, {80}), (-86400.0, {80})])
def test_start_that_clocks_do_not_place_may_be_that_of_an_earlier_restart_or_since(
    started, starting, run, seen, service
):
    service.servers_there[0].started = -90000.0
    register(run(**NAME), seen(from_before()))
    service.servers_there[0].started = started
    service.passes(300)
    for _look in range(2):
        assert sights(run(**NAME), seen(from_before()))[ADDRESS].starting == starting
        register(run(**NAME), seen(from_before()))


def test_start_may_be_that_of_an_earlier_restart_as_far_as_the_clocks_of_the_service_are_apart(run, seen, service):
    """Which of the two application servers wrote the times of the task is not known."""
    service.other_offsets = (600.0,)
    service.servers_there[0].started = -90000.0
    register(run(**NAME), seen(from_before()))
    service.servers_there[0].started = 45.0
    service.passes(300)
    assert sights(run(**NAME), seen(from_before()))[ADDRESS].starting == set()


def test_first_use_keeps_how_far_the_clocks_of_the_service_were_ahead(run, seen, service, journal, monkeypatch):
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(7200.0))
    register(run(**NAME), seen())
    assert [each.clocks for each in journal.first_uses(NAME["change"])] == [service.service_clock.bounds]


def test_start_that_has_not_moved_meanwhile_is_the_first_one(run, seen, service):
    register(run(**NAME), seen(from_before()))
    service.passes(300)
    [member] = members_of(seen)
    for look in (seen(from_before()), seen()):
        assert Begin(sights=sights(run(**NAME), look)).of_start(member) is Relative.BEFORE
    assert sights(run(**NAME), seen(from_before(270, 290)))[ADDRESS].late
    register(run(**NAME), seen())
    assert not sights(run(**NAME), seen(from_before(270, 290)))[ADDRESS].late


def test_start_that_an_earlier_request_of_ours_has_made_is_a_first_sight(run, seen, service):
    notes = run()
    notes.begin(seen(), HERE)
    notes.end(80, at(0).isoformat())
    restarts(service)
    # By times alone, the one before could have made it.
    look = seen(from_before(0, 4), {**from_before(-65, -40), "id": 79})
    register(run(**NAME), look)
    assert not sights(run(**NAME), look)[ADDRESS].late


@pytest.mark.parametrize(
    ("task", "answers"),
    [
        (raw_task(80, "SUCCESSFUL", startTime=at(-60).isoformat(), finishTime=at(-30).isoformat()), False),
        (raw_task(80, "FAILED", startTime=at(-60).isoformat(), finishTime=at(-30).isoformat()), False),
        (raw_task(80, "SUCCESSFUL", startTime=at(-260).isoformat(), finishTime=at(-180).isoformat()), True),
        (raw_task(80, "SUCCESSFUL", startTime=at(-4000).isoformat(), finishTime=at(-30).isoformat()), True),
        (from_before(**RUNNING_NOW, subtasks=[STOPS, starts("SUCCESSFUL")]), False),
        (from_before(**RUNNING_NOW, subtasks=[STOPS, starts("PENDING")]), True),
    ],
    ids=["has just ended", "has just failed", "ended long ago", "its start shows", "runs, and has started it", "runs"],
)
def test_start_of_an_earlier_restart_that_shows_late_answers_no_request(task, answers, run, seen, service):
    look, notes = seen(task), run()
    notes.begin(look, HERE, late(notes, look))
    restarts(service)
    assert (run().open_requests(seen()) == ()) is answers


@pytest.mark.parametrize(
    ("began", "ended", "answers"),
    [(-20, -5, False), (-200, -190, True), (3, 8, True)],
    ids=["just before the request", "long before it", "since"],
)
def test_start_that_a_task_from_before_explains_answers_no_request(began, ended, answers, run, seen, service):
    """Neither that task nor its start was shown when the request was sent."""
    run().begin(seen(), HERE)
    restarts(service)
    task = raw_task(80, "SUCCESSFUL", startTime=at(began).isoformat(), finishTime=at(ended).isoformat())
    assert (run().open_requests(seen(task)) == ()) is answers


def test_start_that_is_not_shown_answers_no_request(run, seen, service):
    run().begin(seen(), HERE)
    service.servers_there[0].started = None
    assert len(run().open_requests(seen())) == 1


def test_restart_by_somebody_else_is_noted_when_it_began_and_once(run, seen, journal):
    """So it proves a change from before it, and none that came after."""
    member = members_of(seen)[0]
    task = Task.from_api(raw_task(90, "SUCCESSFUL", startTime=at(-400).isoformat(), finishTime=at(-390).isoformat()))
    for _look in range(2):
        run(started_before=at(-500)).witnessed(task, [member.name])
    [row] = journal.requests(run().keys)
    assert (row.task_id, row.outcome, row.places, row.back) == (90, "SUCCESSFUL", (), True)
    assert run(started_before=at(-500)).open_task_ids() == [90]
    assert run(started_before=at(-300)).open_task_ids() == []
    assert row.witnessed
    assert run().noted_tasks == frozenset()


@pytest.mark.parametrize(
    ("options", "settled", "moves", "proven"),
    [
        (NAME, False, True, HERE),
        (NAME, False, False, set()),
        (NAME, True, True, set()),
        ({"change": "another"}, False, True, set()),
    ],
    ids=["moved", "not moved", "a person has settled it", "of another change"],
)
def test_later_start_after_the_success_of_our_own_request_is_proof(
    options, settled, moves, proven, run, seen, service, journal
):
    """Whatever the clock of its host says."""
    answered(run, seen, **NAME).ended(Task.from_api(raw_task(1001, "SUCCESSFUL")))
    if moves:
        service.servers_there[0].started += 1800
    if settled:
        journal.clear(number=1)
    assert run(**options).proven(members_of(seen)) == proven


@pytest.mark.parametrize(("status", "reaches"), [("SUCCESSFUL", True), ("RUNNING", False)])
def test_list_reaches_back_to_a_request_if_it_shows_a_task_that_had_ended_before(status, reaches, run, seen, service):
    look = seen(raw_task(80, status))
    run().begin(look, HERE)
    another_process()
    [young] = run().open_requests(look)
    assert not young.is_forgotten
    # As soon as OCP may list its task no more.
    service.time.time += 600
    [old] = run().open_requests(look)
    assert old.is_forgotten is not reaches


def test_request_that_a_run_has_known_for_as_long_is_forgotten_although_a_clock_was_set_back(run, seen, service):
    run().begin(seen(), HERE)
    another_process()
    service.time.time -= 4
    notes = run()
    for passed, is_forgotten in ((0, False), (599, False), (1, True)):
        service.time.time += passed
        [open_one] = notes.open_requests(seen())
        assert open_one.is_forgotten is is_forgotten


@pytest.mark.parametrize("refused", [True, False], ids=["refused", "answered"])
def test_request_with_an_outcome_is_not_open(refused, run, seen):
    notes = run()
    notes.begin(seen(), HERE)
    notes.end(None if refused else 1001, refused=refused)
    notes.refused_for_sure()
    for each in (notes, run()):
        assert each.open_requests(seen()) == ()
        assert each.sent_before() is None


def test_refused_request_is_open_for_other_runs_until_it_is_known_to_have_started_nothing(run, seen):
    """It looks for a task that a proxy may have started. If it is killed meanwhile, the next one has to."""
    notes = run()
    notes.begin(seen(), HERE)
    assert len(notes.own_restarts([])) == 1
    notes.end(None, refused=True)
    notes.refresh(seen().observed)
    assert notes.own_restarts([]) == []  # health would excuse what is wrong with its servers
    assert run().sent_before() is not None
    notes.begin(seen(), HERE)
    assert [row.outcome for row in run().rows_of(notes.keys)] == ["REFUSED", None]


def test_adopted_task_of_a_refused_request_stays_with_it(run, seen):
    notes = run()
    notes.begin(seen(), HERE)
    notes.end(None, refused=True)
    notes.adopted(Task.from_api(raw_task(1001)), OWN)
    notes.refused_for_sure()
    assert [(row.task_id, row.outcome) for row in run().rows_of(notes.keys)] == [(1001, "RUNNING")]


def test_task_of_a_refused_request_that_another_controller_has_noted_stays_with_it(run, seen):
    """A proxy had repeated the request, and the repetition was refused: that is seed 9800243 of the simulation."""
    notes, task = run(), Task.from_api(raw_task(1001))
    notes.begin(seen(), HERE)
    notes.end(None, refused=True)
    assert adopted(run(), task) is not Claim.OF_ANOTHER
    notes.refresh(seen().observed)
    assert (notes.noted_tasks, run().noted_tasks) == (frozenset(), {1001})
    assert notes.adopted(task, OWN) is not Claim.OF_ANOTHER
    notes.refused_for_sure()
    assert [(row.task_id, row.outcome) for row in run().rows_of(notes.keys)] == [(1001, "RUNNING")]


def test_request_that_was_refused_is_not_forgotten_if_another_controller_has_noted_its_task(run, seen):
    notes = run()
    notes.begin(seen(), HERE)
    notes.end(None, refused=True)
    adopted(run(), Task.from_api(raw_task(1001)))
    notes.refresh(seen().observed)
    notes.refused_for_sure()
    assert [(row.task_id, row.outcome) for row in run().rows_of(notes.keys)] == [(1001, "RUNNING")]


def test_task_of_another_request_does_not_answer_this_one(run, seen, service):
    """The request may still be delivered."""
    answered(run, seen, task_id=90)
    notes = run()
    notes.begin(seen(), HERE)
    assert notes.adopted(Task.from_api(raw_task(90)), OWN) is Claim.OF_ANOTHER
    notes.end(None)
    service.time.time += CERTAIN
    assert run().open_requests(seen()) == (requested(True, is_here=True),)


@pytest.mark.parametrize(("options", "other"), [(NAME, {}), ({}, NAME), (DATED, NAME)])
def test_request_for_another_change_is_open_too(options, other, run, seen):
    run(**options).begin(seen(), HERE)
    assert len(run(**other).open_requests(seen())) == 1


@pytest.mark.parametrize("is_shared", [False, True])
def test_request_to_another_address_is_open_where_the_journal_is_shared(is_shared, run, seen, service, journal):
    """Such as that of another application server. One controller uses one address for each service."""
    journal.is_shared = is_shared
    run().begin(seen(), HERE)
    service.url = "https://other.test:8080"
    assert len(run().open_requests(seen())) == is_shared


def test_task_of_another_address_is_an_own_one_where_the_journal_is_shared(run, seen, service, journal):
    journal.is_shared = True
    answered(run, seen)
    service.url = "https://other.test:8080"
    assert [entry.record["id"] for entry in run().completed(seen())] == [1001]
    assert run().noted_tasks == {1001}


@pytest.mark.parametrize(("ahead", "is_since"), [(0.0, True), (4.0, True), (-200.0, False)])
def test_request_is_since_an_instant_by_a_clock_that_has_not_been_set(ahead, is_since, run, seen, monkeypatch, service):
    """Another controller was 200 s ahead of the service when it sent it, or this one was, before its clock was set.

    It was for an earlier instant.
    """
    since = at(-100)
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(ahead))
    notes = run(started_before=at(-400))
    notes.begin(seen(), HERE)
    notes.end(1001)
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(0.0))
    notes = run(started_before=since)
    assert (notes.requested_at()[1001][ADDRESS] >= since.timestamp()) is is_since
    assert bool(notes.shown_at_requests(since.timestamp())[ADDRESS]) is is_since
    assert notes.open_task_ids() == [1001] * is_since


@pytest.mark.parametrize("ahead", [-200.0, -10.0, 10.0, 200.0])
@pytest.mark.parametrize("earlier", [0, 50])
def test_request_for_an_instant_is_since_it_and_each_earlier_one_whatever_the_clocks_show_by_now(
    earlier, ahead, run, seen, monkeypatch, service
):
    """Another application server answers, or a clock was set."""
    notes = run(started_before=at(-2))
    notes.begin(seen(), HERE)
    notes.end(1001)
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(ahead))
    since = at(-2 - earlier)
    notes = run(started_before=since)
    assert notes.requested_at()[1001][ADDRESS] >= since.timestamp()
    assert notes.shown_at_requests(since.timestamp())[ADDRESS] != []
    assert notes.open_task_ids() == [1001]


def test_request_that_a_person_has_settled_is_not_open(run, seen, journal):
    run().begin(seen(), HERE)
    journal.clear(number=1)
    assert run().open_requests(seen()) == ()


def test_request_is_known_as_it_was_sent(run, seen, service):
    """Its task began by one of the clocks of the service, which differ."""
    service.user = "admin"
    run(**NAME).begin(seen(raw_task(80)), HERE)
    service.clock_offset = 4.25
    service.time.time += 30
    sent = run().sent_before()
    assert (sent.known, sent.members, sent.user, sent.change) == ({80}, HERE, "admin", NAME["change"])
    assert (sent.wall, sent.refused, sent.failed) == (at(0).timestamp(), False, None)
    assert abs(sent.at - at(4.25)) <= sent.uncertain
    assert abs(sent.at - at(0)) <= sent.uncertain


@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
def test_request_of_another_controller_is_known_by_the_clock_of_the_service(ahead, run, seen, service, monkeypatch):
    """A task that began hours before it is not its own."""
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(ahead))
    run().begin(seen(), HERE)
    another_process()
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(0.0))
    sent = run().sent_before()
    assert abs(sent.at - at(ahead)) <= sent.uncertain <= timedelta(seconds=2)


@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
@pytest.mark.parametrize(("started", "is_since"), [(-62, False), (0, None), (62, True), (None, None)])
def test_server_that_joined_is_compared_with_the_first_use_by_another_controller(
    started, is_since, ahead, run, service, monkeypatch
):
    """The clock of that controller is hours from the one of this machine, and so from those of the service."""
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(ahead))
    service.time.time -= ahead
    joined = service.servers_there.pop()
    register(run(target=ORDERS, **NAME), Look(ORDERS.observe(service), at(0)))
    another_process()
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(0.0))
    service.time.time += ahead
    joined.started = started
    service.servers_there.append(joined)
    look = Look(ORDERS.observe(service), at(0))
    name = "10.1.0.3:2882"
    [member] = [each for each in look.observed.members if each.name == name]
    start = sights(run(target=ORDERS, **NAME), look)[name].of_start(member)
    unknown = Relative.HIDDEN if started is None else Relative.UNCLEAR
    assert start is {True: Relative.SINCE, False: Relative.BEFORE, None: unknown}[is_since]


@pytest.mark.parametrize("varies", [-2, 2])
def test_start_that_varies_between_answers_is_that_of_before(varies, run, seen, service):
    """A request that was lost on the way can be sent again. A start right before the name may be one since."""
    for started, relative in ((-3600, Relative.BEFORE), (-60, Relative.SINCE)):
        name = {**NAME, "change": f"change {started}"}
        service.servers_there[0].started = started
        register(run(**name), seen())
        another_process()
        service.servers_there[0].started = started + varies
        expected = relative if varies > 0 else Relative.BEFORE
        assert sights(run(**name), seen())[ADDRESS].of_start(seen().observed.members[0]) is expected


@pytest.mark.parametrize(("started", "relative"), [(-70, Relative.MOVED), (30, Relative.SINCE)])
@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
def test_start_that_has_moved_is_compared_with_the_first_use_by_another_controller(
    ahead, started, relative, run, seen, service, monkeypatch
):
    """The clock of that controller is hours from the one of this machine."""
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(ahead))
    service.time.time -= ahead
    register(run(**NAME), seen())
    another_process()
    monkeypatch.setattr(type(service), "service_clock", clock_ahead(0.0))
    service.time.time += ahead
    service.servers_there[0].started = started
    assert sights(run(**NAME), seen())[ADDRESS].of_start(seen().observed.members[0]) is relative


def test_request_for_a_server_blocks_its_cluster_and_is_not_taken_for_one_of_it(run, seen):
    run().begin(seen(), HERE)
    of_cluster = run(target=SERVER_41.cluster)
    [request] = of_cluster.open_requests(seen())
    assert (request.members, of_cluster.sent_before()) == (HERE, None)


def test_newest_open_request_is_searched_for(run, seen, service):
    for _request in range(2):
        run().begin(seen(), HERE)
        service.time.time += 100
    assert run().sent_before().wall == at(100).timestamp()


def test_task_of_a_later_request_is_not_taken_for_that_of_an_open_one(run, seen, service):
    run(**NAME).begin(seen(), HERE)
    service.time.time += 100
    answered(run, seen, **NAME)
    assert run(**NAME).sent_before().known == {1001}


def test_task_that_was_found_closes_the_request(run, seen, journal):
    run().begin(seen(), HERE)
    task = Task.from_api(raw_task(7, startTime=at(1).isoformat()))
    notes = run()
    adopted(notes, task)
    assert (notes.sent_before(), run().sent_before()) == (None, None)
    [noted] = journal.requests(run().keys)
    assert (noted.task_id, noted.began, noted.outcome) == (7, at(1).isoformat(), "RUNNING")


def test_task_that_was_found_is_that_of_its_request_whatever_the_target_has_now(run, service, journal):
    """By its members, no request would be found, and the run would look again for ever."""
    agents = Agents(((51, "10.1.0.1"), (52, "10.1.0.2")))
    one = Agents(agents.hosts[:1])
    looked = Look(one.observe(service), at(0))
    run(target=one).begin(looked, frozenset({"10.1.0.1"}))
    adopted(run(target=agents), Task.from_api(raw_task(7)))
    assert [row.task_id for row in journal.requests(run(target=one).keys)] == [7]


def test_request_for_a_whole_is_open_for_what_it_has_now(run, service):
    """A zone got another server at the address of the one that the request was noted with."""
    zone = Zone.find(service, "orders", "zone1")
    run(target=zone).begin(Look(zone.observe(service), at(0)), HERE)
    service.servers_there[0] = replace(service.servers_there[0], id=1041)
    now = Zone.find(service, "orders", "zone1")
    [request] = run(target=now).open_requests(Look(now.observe(service), at(1)))
    assert not request.is_searched


def adopted(notes, task):
    """Take a task for that of the open request of an earlier run."""
    return notes.adopted(task, notes.sent_before())


# Their tasks


def answered(run, seen, *, task_id=1001, began=None, **options):
    notes = run(**options)
    notes.begin(seen(), HERE)
    notes.end(task_id, began)
    return notes


@pytest.mark.parametrize(
    ("options", "other", "is_read"),
    [
        ({}, DATED, True),
        ({}, {"started_before": at(1)}, False),
        (NAME, NAME, True),
        (NAME, {"change": "another"}, False),
        (EFFECTIVE, EFFECTIVE, True),
        (EFFECTIVE, {"until_effective": {"stack_size": "6M"}}, False),
        ({}, {}, False),
    ],
    ids=["since", "before", "name", "another name", "values", "other values", "no change"],
)
def test_task_of_the_change_is_read_by_its_id(options, other, is_read, run, seen):
    answered(run, seen, **options)
    assert run(**other).open_task_ids() == [1001] * is_read


def test_when_each_task_was_requested_is_known_by_the_clock_of_this_machine(run, seen, service):
    service.clock_offset = 100
    notes = answered(run, seen)
    assert (notes.requested_at(), run().requested_at()) == ({1001: {ADDRESS: at(0).timestamp()}},) * 2


@pytest.mark.parametrize(
    ("status", "more", "outcome"),
    [
        ("SUCCESSFUL", {}, "SUCCESSFUL"),
        ("FAILED", {}, "FAILED"),
        ("RUNNING", {}, "RUNNING"),
        ("SUCCESSFUL", {"operation": "ROLLBACK"}, "ROLLED_BACK"),
        ("SUCCESSFUL", {"subtasks": [step(1, "Stop it", "SUCCESSFUL", operation="SKIP")]}, "SKIPPED"),
    ],
)
def test_end_of_its_task_is_noted(status, more, outcome, run, seen, journal):
    notes = answered(run, seen)
    notes.ended(Task.from_api(raw_task(1001, status, **more)))
    notes.ended(Task.from_api(raw_task(1002, "FAILED")))
    assert [row.outcome for row in journal.requests(run().keys)] == [outcome]


def test_record_without_steps_does_not_hide_that_one_was_skipped(run, seen, journal):
    """The list of tasks shows no steps, and the task may be archived before it is read by its id."""
    notes = answered(run, seen)
    skipped = [step(1, "Stop it", "SUCCESSFUL", operation="SKIP")]
    notes.ended(Task.from_api(raw_task(1001, "SUCCESSFUL", subtasks=skipped)))
    notes.ended(Task.from_api(raw_task(1001, "SUCCESSFUL")))
    assert [row.outcome for row in journal.requests(run().keys)] == ["SKIPPED"]
    assert notes.skipped_tasks() == {1001}


def test_what_cannot_be_noted_after_the_request_is_searched_for_by_the_next_run(run, seen, journal, monkeypatch):
    def refuse(*_args, **_facts):
        raise JournalError("No space left.")

    notes = run()
    notes.begin(seen(), HERE)
    monkeypatch.setattr(journal, "note", refuse)
    notes.end(1001)
    assert notes.requested_at() == {1001: {ADDRESS: at(0).timestamp()}}
    another_process()
    assert run().open_requests(seen()) == (requested(False),)


# What members showed at requests


@pytest.mark.parametrize(("wall", "is_known"), [(at(0), True), (at(-1), True), (at(1), False)])
def test_what_a_member_showed_at_a_request_since_is_known(wall, is_known, run, seen, service):
    run().begin(seen(), HERE)
    restarts(service)
    found = run().shown_at_requests(wall.timestamp())[ADDRESS]
    assert [each.started for each in found] == [at(-3600)] * is_known


@pytest.mark.parametrize(
    ("moves", "values", "tried"),
    [
        (True, EFFECTIVE, HERE),
        (False, EFFECTIVE, frozenset()),
        (True, {"until_effective": {"stack_size": "6M"}}, frozenset()),
    ],
    ids=["restarted", "not restarted", "other values"],
)
def test_restart_for_values_is_a_try(moves, values, tried, run, seen, service):
    answered(run, seen, **EFFECTIVE)
    if moves:
        restarts(service)
    assert run(**values).tried(members_of(seen)) == tried


def test_try_is_over_once_the_values_have_shown(run, seen, service):
    """Later values of the same name may need another restart."""
    answered(run, seen, **EFFECTIVE)
    restarts(service)
    run(**EFFECTIVE).took_effect(HERE)
    assert run(**EFFECTIVE).tried(members_of(seen)) == frozenset()


def test_restart_without_values_is_no_try(run, seen, service):
    answered(run, seen)
    restarts(service)
    assert run(**EFFECTIVE).tried(members_of(seen)) == frozenset()
    assert run().tried(members_of(seen)) == frozenset()


# Names


def test_first_use_of_a_name_keeps_what_is_shown(run, seen, service):
    notes = run(**NAME)
    assert sights(notes, seen()) == {}
    register(notes, seen(from_before(-500, -400)))
    restarts(service)
    register(notes, seen(raw_task(81)))
    found = sights(run(**NAME), seen())[ADDRESS]
    assert (found.shown.started, found.tasks) == (at(-3600), {80})
    assert sights(run(), seen()) is None


def test_nothing_shown_at_first_is_replaced_by_what_shows_later(run, seen, service):
    service.servers_there[0].started = None
    register(run(**NAME), seen())
    service.servers_there[0].started = -3600.0
    register(run(**NAME), seen())
    assert sights(run(**NAME), seen())[ADDRESS].shown.started == at(-3600)


@pytest.mark.parametrize(("status", "relative"), [("RUNNING", Relative.UNCLEAR), ("SUCCESSFUL", Relative.BEFORE)])
def test_what_shows_later_may_be_the_start_of_a_restart_that_ran_at_first(status, relative, run, seen, service):
    service.servers_there[0].started = None
    register(run(**NAME), seen(from_before(status=status)))
    service.servers_there[0].started = -45.0
    service.passes(300)
    register(run(**NAME), seen(from_before()))
    [member] = members_of(seen)
    begin = Begin(sights=sights(run(**NAME), seen()))
    assert begin.of_start(member) is Relative.UNCLEAR
    assert begin.of_task(Task.from_api(from_before()), None, member) is relative


def test_start_that_was_still_to_come_is_noted_as_such(run, seen, service):
    service.servers_there[0].started = 3600.0
    look = seen(from_before())
    register(run(**NAME), replace(look, observed=look.observed.judged_by(at(60), at(86400))))
    service.servers_there[0].started = 5.0
    service.passes(300)
    [member] = members_of(seen)
    assert Begin(sights=sights(run(**NAME), seen())).of_start(member) is Relative.UNCLEAR


def test_start_that_shows_after_a_request_is_not_the_first_sight(run, seen, service):
    """It may be the one that the request has made."""
    service.servers_there[0].started = None
    notes = run(**NAME)
    register(notes, seen())
    notes.begin(seen(), HERE)
    restarts(service)
    register(run(**NAME), seen())
    assert sights(run(**NAME), seen())[ADDRESS].shown.started is None


def test_name_has_to_ask_the_same_after_its_first_request_too(run, seen):
    notes = run(**NAME, **DATED)
    register(notes, seen())
    notes.begin(seen(), HERE)
    with pytest.raises(NameTaken):
        register(run(**NAME), seen())


def test_same_instant_in_another_time_zone_asks_the_same(run, seen):
    since = at(-100)
    for given in (since, since.astimezone(UTC)):
        register(run(**NAME, started_before=given), seen())
    with pytest.raises(NameTaken):
        register(run(**NAME, started_before=at(-99)), seen())


def test_name_has_to_ask_the_same_in_check_mode_too(run, seen):
    register(run(**NAME, **DATED), seen())
    with pytest.raises(NameTaken):
        run(**NAME).sights(seen(), {}, registers=False)


def test_name_that_a_person_has_cleared_is_used_for_the_first_time_again(run, seen, service, journal):
    notes = run(**NAME)
    register(notes, seen())
    notes.begin(seen(), HERE)
    restarts(service)
    journal.clear(change=NAME["change"])
    register(run(**NAME), seen())
    [sight] = sights(run(**NAME), seen()).values()
    assert sight.shown.started == members_of(seen)[0].started


def test_without_a_name_nothing_is_registered(run, seen, journal):
    register(run(**DATED), seen())
    assert journal.entries()["changes"] == []


# What the service does not show


def test_task_of_a_new_request_counts_before_the_service_shows_it(run, seen, service):
    answered(run, seen, began=at(0).isoformat())
    [entry] = run().completed(seen())
    assert (entry.record["id"], entry.record["status"], entry.restarts) == (1001, "RUNNING", None)
    service.time.time += 60
    assert list(run().completed(seen())) == []


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        (raw_task(1001, "SUCCESSFUL"), "SUCCESSFUL"),
        (raw_task(1001, "FAILED"), "GONE"),
        (raw_task(1001, "SUCCESSFUL", operation="ROLLBACK"), "FAILED"),
        (None, "GONE"),
    ],
    ids=["SUCCESSFUL", "FAILED", "rolled back", "its end was not seen"],
)
def test_task_of_the_change_counts_when_the_service_has_archived_it(ends, status, run, seen, service):
    notes = answered(run, seen, began=at(0).isoformat(), **NAME)
    if ends is not None:
        notes.ended(Task.from_api(ends))
    service.time.time += 3600
    [entry] = run(**NAME).completed(seen())
    assert (entry.record["id"], entry.record["status"], entry.restarts) == (1001, status, None)
    restarts(service)
    assert list(run(**NAME).completed(seen())) == []


def test_archived_task_whose_begin_is_not_known_is_not_at_work(run, seen, service):
    answered(run, seen, **NAME)
    service.time.time += 3600
    [entry] = run(**NAME).completed(seen())
    assert entry.task.finished
    assert not seen(entry.record).unfinished


@pytest.mark.parametrize("how", ["shown", "moved", "ended", "refused", "other service"])
def test_task_that_is_shown_or_over_is_not_added(how, run, seen, service):
    notes = answered(run, seen, task_id=None if how == "refused" else 1001)
    shown = []
    if how == "shown":
        shown = [raw_task(1001, name=SERVER)]
    elif how == "moved":
        restarts(service)
    elif how == "ended":
        notes.ended(Task.from_api(raw_task(1001, "SUCCESSFUL")))
    elif how == "other service":
        service.url = "https://other.test:8080"
    assert list(run().completed(seen(*shown))) == []


@pytest.mark.parametrize(("began", "is_same"), [(0, True), (0.4, True), (30, False), (None, False)])
def test_target_of_an_own_task_is_known_though_the_service_does_not_show_it(began, is_same, run, seen):
    """A new installation of the service gives the same id to another task, which began at another time."""
    answered(run, seen, began=at(0).isoformat())
    times = {} if began is None else {"startTime": at(began).isoformat()}
    untold = TaskOnTarget(raw_task(1001, name=SERVER, **times), frozenset())
    found = list(run().completed(replace(seen(), tasks=[untold])))
    assert [entry.restarts for entry in found] == [None] * is_same


def test_own_restart_of_a_neighbour_is_known(run, seen):
    """Two servers of a cluster are not down at once by our doing."""
    answered(run, seen, began=at(0).isoformat())
    other = replace(SERVER_41, id=42, address="10.1.0.2:2882", host_id=52, zone="zone2")
    notes = run(other)
    assert [found.task_id for found in notes.own_restarts([])] == [1001]
    ended = raw_task(1001, "SUCCESSFUL", startTime=at(0).isoformat(), finishTime=at(0).isoformat())
    steps = [{"id": 1, "name": "Start observer process", "status": "SUCCESSFUL", "operation": "EXECUTE"}]
    assert notes.own_restarts([{**ended, "subtasks": steps}]) == []
    # A server may be down after these, which an answer that is behind does not show.
    skipped = [{**steps[0], "operation": "SKIP"}]
    for unclear in (ended, {**ended, "subtasks": skipped}, {**ended, "operation": "ROLLBACK", "subtasks": steps}):
        assert [found.task_id for found in notes.own_restarts([unclear])] == [1001]
    assert notes.open_requests(seen()) == ()


@pytest.mark.parametrize("shown", [{"operation": "ROLLBACK"}, {"subtasks": "SKIP"}, {"status": "FAILED"}], ids=str)
def test_own_restart_that_is_noted_to_have_left_work_undone_counts_for_neighbours(shown, run, seen):
    """The list does not show it, or not yet."""
    first = answered(run, seen, began=at(0).isoformat())
    operation = shown.get("subtasks", shown.get("operation", "EXECUTE"))
    steps = [{"id": 1, "name": "Start observer process", "status": "SUCCESSFUL", "operation": operation}]
    ended = raw_task(1001, "SUCCESSFUL", startTime=at(0).isoformat(), finishTime=at(0).isoformat())
    first.ended(Task.from_api({**ended, **shown, "subtasks": steps}))
    notes = run(replace(SERVER_41, id=42, address="10.1.0.2:2882", host_id=52, zone="zone2"))
    assert [found.task_id for found in notes.own_restarts([])] == [1001]


def test_uncertain_clocks_of_the_service_widen_the_time_of_a_request(run, seen, service, monkeypatch):
    run().begin(seen(), HERE)
    clock = clock_ahead(-2.25)
    clock.shown(at(3.25), at(0).timestamp(), at(0).timestamp(), "another")
    monkeypatch.setattr(type(service), "service_clock", clock)
    sent = run().sent_before()
    assert sent.at - sent.uncertain <= at(-2.25)
    assert sent.at + sent.uncertain >= at(3.25)


def test_own_restart_that_has_just_failed_by_a_clock_that_may_be_behind_may_be_at_work(run, seen, service):
    """One of two application servers is ten minutes behind."""
    notes = answered(run, seen)
    failed = raw_task(1001, "FAILED", startTime=at(-630).isoformat(), finishTime=at(-620).isoformat())
    assert notes.own_restarts([failed]) == []
    service.other_offsets = (-600.0,)
    assert [found.task_id for found in notes.own_restarts([failed])] == [1001]


def test_own_restart_that_has_ended_well_is_not_at_work_by_an_older_answer(run, seen):
    notes = answered(run, seen)
    running = raw_task(1001)
    assert [found.task_id for found in notes.own_restarts([running])] == [1001]
    notes.ended(Task.from_api(raw_task(1001, "SUCCESSFUL")))
    assert notes.own_restarts([running]) == []


def test_restart_came_since_its_request_or_since_the_instant_that_it_proves():
    """Whatever the order of the rows of one task, and whichever of its members each has."""
    requested = request(FIRST, SECOND, task_id=81, at=1000.0)
    proof = request(FIRST, task_id=81, at=1000.0, since=1020.0, witnessed=True)
    earlier = replace(proof, since=990.0)
    keys = {"first": FIRST, "second": SECOND}
    for rows in [requested, proof, earlier], [earlier, proof, requested]:
        assert requested_at(rows, keys, 1010.0, ServiceClock()) == {81: {"first": inf, "second": 1000.0}}
        assert requested_at(rows, keys, 1021.0, ServiceClock()) == {81: {"first": 1000.0, "second": 1000.0}}
        assert requested_at(rows, keys, None, ServiceClock()) == {81: {"first": 1000.0, "second": 1000.0}}
