# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Two controllers with one account and one journal: a lease that ends while an answer is waited for, and one task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError, NotSafe, OutcomeUnknown
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import SharedJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import lost
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    ORDERS,
    SERVER,
    every_restart_at_night,
    request,
)

URL = "sqlite:///journal.db"
LEASE = 10.0
NOT_SHARED = "; another controller of this user that does not share the journal may have started it"
OPEN_FOR = 100.0  # longer than a request of another controller is searched for


@pytest.fixture
def controller(tmp_path, service, monkeypatch):
    """Make controllers that share a journal, whose clock is that of the test. Each call runs one restart."""
    monkeypatch.setattr(SharedJournal, "_now", lambda _self, _run: service.time.clock.wall())

    def make():
        journal = SharedJournal(f"sqlite:///{tmp_path}/journal.db", lease=LEASE)

        def run(case, change=None, *, safely=False, **options):
            shared = replace(request(**options), change=change, journal_url=URL)
            shared = replace(shared, safety=Safety()) if safely else shared
            return restart_target(service, case, shared, service.time.clock, journal)

        return run

    return make


def once(act):
    """Act at the first call alone."""
    left = [act]
    return lambda: left.pop()() if left else None


def crossed(service, case, first, second, change=None):
    """The second restarts it while the first waits for its answer, and both lose theirs; the result of the second."""
    results = []

    def meanwhile():
        service.passes(OPEN_FOR)
        forget_process()
        service.lose_after = [lost()]
        results.append(second(case, change))
        service.lose_before = [lost()]

    service.before_post = once(meanwhile)
    with pytest.raises(OutcomeUnknown) as raised:
        first(case, change)
    return results[0], raised.value


@every_restart_at_night
def test_one_task_is_adopted_by_one_of_two_requests(case, service, controller):
    service.user = "admin"
    first, second = controller(), controller()
    adopted, unknown = crossed(service, case, first, second)
    assert (adopted["action"], adopted["task_id"]) == ("adopted", 1001)
    assert (unknown.facts["task_id"], unknown.facts["changed"]) == (None, True)
    assert "another request that the journal has" in str(unknown)
    assert (len(service.posts), len(service.jobs)) == (2, 1)


@every_restart_at_night
def test_request_whose_task_another_one_has_is_settled_by_that_task(case, service, controller):
    first, second = controller(), controller()
    service.seconds = 100.0
    crossed(service, case, first, second, "memory-2026-11-20")
    forget_process()
    for action, task_id in (("attached", 1001), ("skipped", None)):
        settled = first(case, "memory-2026-11-20", wait=True, seconds=200)
        assert (settled["action"], settled["task_id"], len(service.posts)) == (action, task_id, 2)


def test_task_that_another_controller_has_noted_first_is_not_reported_as_adopted_twice(service, controller):
    """The other one has found the request in the journal, and its task in the list."""
    first, second, found = controller(), controller(), []
    service.lose_after, service.list_lacks, service.names_operations = [lost()], 15.0, False
    service.seconds = 100.0

    def meanwhile():
        service.passes(LEASE)
        forget_process()
        found.append(second(SERVER))

    service.time.after_sleep = once(meanwhile)
    mine = first(SERVER)
    assert (found[0]["action"], found[0]["task_id"]) == ("adopted", 1001)
    assert (mine["action"], mine["task_id"], mine["changed"], len(service.posts)) == ("submitted", 1001, True, 1)
    assert mine["reason"].endswith("; the answer was lost, and by the journal its task is 1001 (Restart OB server)")


def test_task_of_another_controller_is_joined_after_a_refusal(service, controller):
    first, second = controller(), controller()
    service.user, service.busy, service.seconds = "admin", 409, 100.0

    def meanwhile():
        service.passes(OPEN_FOR)
        forget_process()
        second(SERVER)
        service.jobs[0].creator = "admin"

    service.before_post = once(meanwhile)
    joined = first(SERVER)
    assert (joined["action"], joined["task_id"], joined["changed"]) == ("attached", 1001, False)


@pytest.mark.parametrize("is_refused", [False, True])
@pytest.mark.parametrize("url", [None, URL])
def test_adoption_says_that_the_journal_is_not_shared(url, is_refused, service):
    service.user = "admin"
    if is_refused:
        service.busy = 409
        service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin")
    else:
        service.lose_after = [lost()]
    adopted = restart_target(service, SERVER, replace(request("fail"), journal_url=url), service.time.clock)
    assert adopted["action"] == "adopted"
    assert adopted["reason"].count(NOT_SHARED) == (url is None)


def test_task_that_is_adopted_after_a_refusal_is_noted(service):
    service.user, service.busy = "admin", 409
    service.before_post = lambda: service.begin(SERVER.task_name, SERVER.things(service), creator="admin")
    restart_target(service, SERVER, request("fail"), service.time.clock)
    [row] = journal_here().entries()["requests"]
    assert (row["task_id"], row["outcome"]) == (1001, "RUNNING")


def test_journal_that_cannot_be_reached_leaves_it_open_whose_the_task_is(service, controller, monkeypatch):
    def unreachable(*_args, **_more):
        raise JournalError("The database is gone.")

    service.lose_after = [lost()]
    service.before_post = lambda: monkeypatch.setattr(SharedJournal, "claim", unreachable)
    adopted = controller()(SERVER)
    assert adopted["action"] == "adopted"
    assert adopted["reason"].endswith(NOT_SHARED)


@every_restart_at_night
def test_request_of_a_killed_controller_is_known_at_another_address_of_the_service(case, service, controller):
    """The request has arrived, but no list shows its task yet, nor the new start."""
    service.seconds, service.list_lacks, service.start_shown_late = 3.0, 50.0, 50.0
    service.lose_after = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        controller()(case, "memory-2026-11-20")
    forget_process()
    service.url = "https://node-2.test:8080"
    service.passes(LEASE + 1)
    controller()(case, "memory-2026-11-20")
    assert len(service.posts) == 1


@pytest.mark.parametrize("seconds", [40, 70, 110])
def test_request_whose_answer_is_awaited_counts_for_its_neighbours(seconds, service, controller):
    """It may be carried out as long as its sender waits, which the other one knows from the journal."""
    service.timeout = 120.0
    first, second = controller(), controller()
    other = Server(42, "10.1.0.2:2882", ORDERS, 52, "zone2", True, True, False)
    neighbour = replace(SERVER, target=other)
    refused_ones = []

    def meanwhile():
        service.passes(seconds)
        forget_process()
        service.timeout = 5.0
        with pytest.raises(
            NotSafe, match=r"of this controller is not known, so it counts as down until \d\d:\d\d:\d\d\+08:00\)"
        ):
            second(SERVER, safely=True)
        refused_ones.append(SERVER)

    service.before_post = once(meanwhile)
    assert first(neighbour, safely=True)["action"] == "submitted"
    assert (len(refused_ones), len(service.posts)) == (1, 1)
