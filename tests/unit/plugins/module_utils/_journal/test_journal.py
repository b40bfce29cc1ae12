# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What every journal does alike, wherever it is kept."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NameTaken, OptionError, TargetBusy
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.journal import KEPT_FOR
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import LocalJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import FirstSight, MemberKey, Place, Shown
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import SharedJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.store import VERSION, digest
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import (
    CHANGE,
    ELSEWHERE,
    FIRST,
    LATER_START,
    OTHER_WISH,
    SECOND,
    START,
    WISH,
    request,
    sight,
)

BOTH = [FIRST, SECOND]
# The shared journal is one in SQLite, or in the database that tests/journal has started.
URL_VARIABLE = "OCP_TEST_JOURNAL_URL"


@pytest.fixture(params=["memory", "local", "shared"])
def journal(request, tmp_path, time_passes, monkeypatch):
    """An empty journal; a shared one with the lock that a request needs."""
    if request.param == "memory":
        yield MemoryJournal(time_passes.clock)
    elif request.param == "local":
        yield LocalJournal(tmp_path, time_passes.clock)
    else:
        shared = SharedJournal(os.environ.get(URL_VARIABLE, f"sqlite:///{tmp_path}/journal.db"), lease=2 * KEPT_FOR)
        monkeypatch.setattr(shared, "_now", lambda _run: time_passes.clock.wall())
        with shared.lock(["of the request"], time_passes.clock, 0):
            yield shared
        with shared._transaction(writes=True) as run:
            for table in shared.tables:
                run(f"DROP TABLE {table}")


# Sights and names


def test_first_sight_is_kept_whatever_shows_later(journal):
    journal.register(CHANGE, WISH, [sight(at=1000.0)])
    journal.register(CHANGE, WISH, [sight(start=LATER_START, at=2000.0), sight(SECOND, at=2000.0)])
    assert journal.sights(CHANGE, BOTH) == {FIRST: sight(at=1000.0), SECOND: sight(SECOND, at=2000.0)}


def test_sight_that_showed_nothing_is_filled_with_the_first_value_that_shows(journal):
    journal.register(CHANGE, WISH, [sight(start=None, at=1000.0)])
    journal.register(CHANGE, WISH, [sight(start=None, at=2000.0)])
    journal.register(CHANGE, WISH, [replace(sight(start=START, at=3000.0), late=(7,))])
    journal.register(CHANGE, WISH, [sight(start=LATER_START, at=4000.0)])
    assert journal.sights(CHANGE, [FIRST]) == {FIRST: replace(sight(start=LATER_START, at=1000.0), filled=True)}


@pytest.mark.parametrize("is_filled", [True, False], ids=["it may be since", "it is the same"])
def test_late_sight_is_completed_by_the_first_that_is_not_late(is_filled, journal):
    journal.register(CHANGE, WISH, [replace(sight(at=1000.0), late=(7,), running=(7,))])
    first = replace(sight(at=1000.0), late=(7,), running=(7,))
    for more in (
        replace(sight(start=LATER_START, at=2000.0), late=(7,)),
        replace(sight(start=None, at=2000.0), late=()),
    ):
        journal.register(CHANGE, WISH, [more])
        assert journal.sights(CHANGE, [FIRST]) == {FIRST: first}
    more = replace(sight(start=LATER_START, at=3000.0), filled=is_filled, running=(8,), starting=(7, 8))
    journal.register(CHANGE, WISH, [more])
    journal.register(CHANGE, WISH, [sight(start=START, at=4000.0)])
    completed = replace(sight(start=LATER_START, at=1000.0), filled=is_filled, running=(7,), starting=(7,))
    assert journal.sights(CHANGE, [FIRST]) == {FIRST: completed}


@pytest.mark.parametrize(
    "shown",
    [Shown(None, (("agent", 7),)), Shown(START), Shown(ahead=True)],
    ids=["pids alone", "start alone", "far ahead"],
)
def test_sight_of_a_part_is_not_filled(shown, journal):
    first = FirstSight(FIRST, shown, 1000.0)
    journal.register(CHANGE, WISH, [first])
    journal.register(CHANGE, WISH, [FirstSight(FIRST, Shown(START, (("agent", 8),)), 2000.0)])
    assert journal.sights(CHANGE, [FIRST]) == {FIRST: first}


def test_sights_belong_to_one_name(journal):
    journal.register(CHANGE, WISH, [sight()])
    assert journal.sights("another", BOTH) == {}
    assert journal.sights(CHANGE, [SECOND]) == {}


def test_member_of_a_cluster_that_was_renamed_is_the_same(journal):
    now = replace(FIRST, cluster="stock 1")
    journal.register(CHANGE, WISH, [sight()])
    journal.begin(request(FIRST))
    assert journal.sights(CHANGE, [now]) == {now: sight()}
    assert [row.members[0][0].cluster for row in journal.requests([now])] == ["orders 1"]


@pytest.mark.parametrize("kind", ["cluster", "zone"])
def test_what_has_no_address_is_known_by_the_name_of_its_cluster_too(kind, journal):
    """Two services that share a journal have clusters and zones with the same ids."""
    whole, other = MemberKey("orders 1", kind, 1, "orders"), MemberKey("stock 1", kind, 1, "orders")
    journal.register(CHANGE, WISH, [sight(whole, start=None), sight()])
    assert journal.sights(CHANGE, [other, replace(FIRST, cluster="stock 1", address="10.9.0.1:2882")]) == {}


def test_other_keys_need_another_version():
    """What was kept under other keys is not found: a journal that has them has to be refused."""
    key = "551f4eed8a52a01e8fc692dd37503213f9bb77002d733dcaa533bd5bb3af12dc"
    assert (VERSION, digest(*FIRST.parts)) == (2, key)


@pytest.mark.parametrize("other", [{"cluster": "orders 2"}, {"kind": "agents"}, {"id": None}, {"address": "x:1"}])
def test_members_differ_by_all_that_they_are_known_by(other, journal):
    journal.register(CHANGE, WISH, [sight()])
    journal.begin(request(FIRST))
    assert journal.sights(CHANGE, [replace(FIRST, **other)]) == {}
    assert journal.requests([replace(FIRST, **other)]) == []


def test_name_keeps_what_it_asks(journal):
    journal.register(CHANGE, WISH, [sight(ELSEWHERE)])
    with pytest.raises(NameTaken) as raised:
        journal.register(CHANGE, OTHER_WISH, [sight(), sight(ELSEWHERE)])
    assert str(raised.value) == (
        "change: memory-2026-11-20 asked for a restart of each server when it was first used, and now asks for a "
        "restart of zone z1. Give a new change a new name, or clear this one, which lets all of it restart once more: "
        "ansible localhost -m oceanbase.ocp.restart_journal_clear -a 'change=memory-2026-11-20 detail=compact'"
    )
    assert isinstance(raised.value, OptionError)
    # Nothing of it was kept, of the cluster without the name neither.
    assert journal.sights(CHANGE, [FIRST]) == {}
    assert [each["cluster"] for each in journal.entries()["changes"]] == [ELSEWHERE.cluster]


def test_first_use_of_a_name_is_that_in_any_cluster(journal):
    assert journal.first_uses(CHANGE) == []
    journal.register(CHANGE, WISH, [sight(at=2000.0), sight(SECOND, at=2001.0)])
    journal.register(CHANGE, WISH, [sight(ELSEWHERE, at=1000.0)])
    journal.register("another", WISH, [sight(at=1.0)])
    assert sorted(each.at for each in journal.first_uses(CHANGE)) == [1000.0, 2000.0, 2001.0]
    journal.clear(change=CHANGE, cluster=ELSEWHERE.cluster)
    assert sorted(each.at for each in journal.first_uses(CHANGE)) == [2000.0, 2001.0]


def test_first_use_keeps_how_far_the_clocks_of_the_service_were_from_the_one_that_it_has(journal):
    first = replace(sight(at=1000.0), clocks=(7199.5, 7200.5))
    journal.register(CHANGE, WISH, [first])
    journal.register(CHANGE, WISH, [replace(sight(at=3000.0), clocks=(0.0, 1.0))])
    assert journal.sights(CHANGE, [FIRST]) == {FIRST: first}


def test_name_may_ask_something_else_in_another_cluster(journal):
    journal.register(CHANGE, WISH, [sight()])
    journal.register(CHANGE, OTHER_WISH, [sight(ELSEWHERE)])
    assert journal.sights(CHANGE, [FIRST, ELSEWHERE]).keys() == {FIRST, ELSEWHERE}


# Requests


def test_request_is_found_by_each_of_its_members_oldest_first(journal):
    first, second = request(FIRST, SECOND, values='{"a": "1"}'), request(SECOND, change=None)
    numbers = [journal.begin(first), journal.begin(second)]
    assert numbers == sorted(set(numbers))
    noted = [replace(row, number=number) for row, number in zip((first, second), numbers, strict=True)]
    assert journal.requests([FIRST]) == noted[:1]
    assert journal.requests(BOTH) == noted
    assert journal.requests([ELSEWHERE]) == []
    assert journal.requests([]) == []


def test_note_keeps_what_was_noted_before(journal):
    number = journal.begin(request())
    journal.note(number, task_id=81, outcome="RUNNING")
    journal.note(number, began=START)
    journal.note(number, outcome="SUCCESSFUL")
    [row] = journal.requests([FIRST])
    assert (row.task_id, row.began, row.outcome) == (81, START, "SUCCESSFUL")


def test_task_is_claimed_for_one_request(journal):
    first, second = journal.begin(request(FIRST)), journal.begin(request(FIRST, SECOND))
    assert journal.claim(second, 81, START)
    assert not journal.claim(second, 81, START)
    assert not journal.claim(first, 81, START)
    assert not journal.claim(first, 81, None)
    noted = [(row.task_id, row.began, row.outcome) for row in journal.requests(BOTH)]
    assert noted == [(None, None, None), (81, START, "RUNNING")]
    assert journal.claim(first, 82, START)


def test_requests_are_found_by_their_task(journal):
    noted, claimed, other = (journal.begin(request(member)) for member in (FIRST, SECOND, ELSEWHERE))
    journal.note(noted, task_id=81)
    # An answer that comes twice.
    journal.note(noted, task_id=81, outcome="SUCCESSFUL")
    journal.claim(claimed, 81, LATER_START)
    journal.note(other, outcome="RUNNING")
    assert [row.number for row in journal.requests_of_task(81)] == [noted, claimed]
    assert journal.requests_of_task(82) == []
    assert [row.number for row in journal.requests([FIRST])] == [noted]


def test_request_is_found_by_its_newest_task_alone(journal):
    number = journal.begin(request(FIRST))
    for task_id in (81, 82, 81):
        journal.note(number, task_id=task_id)
    assert [[row.number for row in journal.requests_of_task(task_id)] for task_id in (81, 82)] == [[number], []]


def test_task_that_another_controller_has_witnessed_is_claimed_for_its_request(journal):
    seen = journal.begin(replace(request(FIRST), witnessed=True))
    journal.note(seen, task_id=81, began=START, outcome="SUCCESSFUL")
    assert journal.claim(journal.begin(request(FIRST)), 81, START)


@pytest.mark.parametrize(
    ("other", "began"),
    [({}, LATER_START), ({"members": ((ELSEWHERE, Shown()),)}, START)],
    ids=["of a new installation", "of another target"],
)
def test_task_with_the_same_id_is_claimed(other, began, journal):
    journal.claim(journal.begin(replace(request(FIRST), **other)), 81, began)
    number = journal.begin(request(FIRST))
    assert journal.claim(number, 81, START)
    assert journal.requests([FIRST])[-1].task_id == 81


def test_task_of_another_address_is_that_of_another_service_to_one_controller_alone(journal):
    """Controllers that share a journal may reach a service by different addresses."""
    journal.claim(journal.begin(replace(request(FIRST), url="https://other.test:8080")), 81, START)
    number = journal.begin(request(FIRST))
    assert journal.claim(number, 81, START) is not journal.is_shared


def test_claim_of_a_request_that_is_gone_changes_nothing(journal):
    assert journal.claim(7, 81, START)
    assert journal.requests([FIRST]) == []


def test_name_is_kept_longer_than_a_week_with_its_first_sight_and_its_request(journal, time_passes):
    first = sight()
    journal.register(CHANGE, WISH, [first])
    journal.begin(request(FIRST))
    journal.begin(request(FIRST, change=None))
    time_passes.time += 8 * 86400.0
    # Something else that is noted removes what has expired.
    with journal.lock(["orders 2"], time_passes.clock, 0):
        journal.begin(request(ELSEWHERE, change=None))
    assert journal.sights(CHANGE, [FIRST]) == {FIRST: first}
    assert [row.change for row in journal.requests([FIRST])] == [CHANGE]
    with pytest.raises(NameTaken):
        journal.register(CHANGE, OTHER_WISH, [first])


def test_note_of_a_request_that_is_gone_changes_nothing(journal):
    journal.note(7, task_id=81)
    assert journal.requests([FIRST]) == []


@pytest.mark.parametrize(
    ("facts", "stays"),
    [
        ({}, True),
        ({"change": None, "values": '{"a": "1"}'}, True),
        ({"change": None, "since": 990.0}, True),
        ({"change": None}, False),
    ],
    ids=["of a name", "of values", "of an instant", "of none"],
)
def test_request_for_no_change_expires(facts, stays, journal, time_passes):
    journal.begin(request(**facts))
    time_passes.time += KEPT_FOR - 1
    assert len(journal.requests([FIRST])) == 1
    time_passes.time += 1
    assert bool(journal.requests([FIRST])) is stays
    journal.begin(request(ELSEWHERE))
    assert len(journal.entries()["requests"]) == 1 + stays


def test_request_for_a_thousand_members_is_found(journal):
    members = [MemberKey("orders 1", "server", number, f"10.1.0.{number}") for number in range(1001)]
    journal.begin(request(*members))
    journal.begin(request(members[-1]))
    assert [len(row.members) for row in journal.requests(members)] == [1001, 1]
    journal.register(CHANGE, WISH, [sight(member) for member in members])
    assert journal.sights(CHANGE, members).keys() == set(members)


def test_number_of_a_removed_request_is_not_given_again(journal):
    number = journal.begin(request())
    journal.clear(everything=True)
    assert journal.begin(request()) > number


def test_texts_of_any_script_are_kept(journal):
    member, name = replace(FIRST, address="数据库:1 ' \" \\ % \udcff"), "变更:one %s"
    journal.register(name, WISH, [sight(member)])
    journal.begin(request(member, change=name, task_name="重启 😀"))
    assert journal.sights(name, [member]) == {member: sight(member)}
    assert [row.task_name for row in journal.requests([member])] == ["重启 😀"]


# Facts


def test_fact_is_remembered_until_it_is_forgotten(journal):
    key = ["orders 1", 31, "stack_size"]
    assert journal.recall("told-apart", key) is None
    journal.remember("told-apart", key, "no")
    journal.remember("told-apart", key, "yes")
    assert journal.recall("told-apart", key) == "yes"
    assert journal.recall("told-apart", ["orders 1", "31", "stack_size"]) is None
    assert journal.recall("another", key) is None
    journal.forget("told-apart", key)
    journal.forget("told-apart", key)
    assert journal.recall("told-apart", key) is None


# What people see and settle


def test_entries_are_plain_records(journal):
    journal.register(CHANGE, WISH, [sight()])
    number = journal.begin(request())
    journal.remember("told-apart", ["orders 1", 31], "yes")
    key = {"cluster": "orders 1", "kind": "server", "id": 41, "address": "10.1.0.1:2882"}
    member = {**key, "start": START, "ahead": False}
    entries = journal.entries()
    [change] = entries["changes"]
    assert (change["change"], change["cluster"], change["words"]) == (CHANGE, "orders 1", WISH.words)
    own = {"at": 1000.0, "tasks": [], "late": [], "starting": [], "running": [], "filled": False}
    assert change["sights"] == [{**member, "pids": [], **own}]
    [noted] = entries["requests"]
    assert (noted["number"], noted["change"], noted["settled"]) == (number, CHANGE, False)
    assert [{**each, "pids": [list(pid) for pid in each["pids"]]} for each in noted["members"]] == [
        {**member, "pids": [["observer", 7]]}
    ]
    assert entries["facts"] == [{"kind": "told-apart", "key": ["orders 1", 31], "value": "yes"}]


def test_settled_request_is_shown_as_such_and_expires(journal, time_passes):
    number = journal.begin(request())
    journal.begin(request(SECOND))
    assert journal.clear(number=number) == 1
    assert journal.clear(number=number) == 0
    assert [row.settled for row in journal.requests(BOTH)] == [True, False]
    time_passes.time += KEPT_FOR
    assert [row.settled for row in journal.requests(BOTH)] == [False]


def test_name_that_is_cleared_may_ask_anything(journal):
    journal.register(CHANGE, WISH, [sight(), sight(ELSEWHERE)])
    for row in (request(FIRST), request(ELSEWHERE), request(FIRST, change="another")):
        journal.begin(row)
    assert journal.clear(change=CHANGE, cluster=FIRST.cluster) == 2
    journal.register(CHANGE, OTHER_WISH, [sight(start=LATER_START)])
    assert journal.sights(CHANGE, [FIRST, ELSEWHERE]) == {FIRST: sight(start=LATER_START), ELSEWHERE: sight(ELSEWHERE)}
    assert [row.settled for row in journal.requests([FIRST, ELSEWHERE])] == [True, False, False]
    assert journal.clear(change=CHANGE) == 3


def test_everything_is_cleared(journal):
    journal.register(CHANGE, WISH, [sight()])
    journal.begin(request())
    journal.remember("told-apart", [1], "yes")
    assert journal.clear(everything=True) == 2
    assert journal.entries() == {"changes": [], "requests": [], "facts": []}
    assert journal.requests([FIRST]) == []


# Locks


def test_lock_is_waited_for_until_the_other_has_released_it(journal, time_passes):
    first = journal.lock(["orders 1"], time_passes.clock, 30)
    first.__enter__()
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            first.__exit__(None, None, None)

    clock = Clock(time_passes.clock.now, sleep, time_passes.clock.wall)
    with journal.lock(["orders 1"], clock, 30):
        assert len(slept) == 3


def test_lock_that_others_keep_is_given_up(journal, time_passes):
    busy = "For 30 seconds other restarts .*held the lock of the cluster. Run this again, with fewer forks or a longer"
    with journal.lock(["orders 1"], time_passes.clock, 30):
        with journal.lock(["stock 2"], time_passes.clock, 0):
            pass
        with pytest.raises(TargetBusy, match=busy), journal.lock(["stock 2", "orders 1"], time_passes.clock, 30):
            pass
        # What it held meanwhile is free.
        with journal.lock(["stock 2"], time_passes.clock, 0):
            pass
    with journal.lock(["orders 1", "orders 1"], time_passes.clock, 0):
        journal.renew()


def test_lock_is_released_by_an_error(journal, time_passes):
    with pytest.raises(KeyboardInterrupt), journal.lock(["orders 1"], time_passes.clock, 0):
        raise KeyboardInterrupt
    with journal.lock(["orders 1"], time_passes.clock, 0):
        pass


# Processes


def test_forked_process_has_a_journal_of_its_own(journal):
    number = journal.begin(request())
    if (child := os.fork()) == 0:
        journal.note(number, task_id=81)
        os._exit(0 if journal.requests([FIRST])[0].task_id == 81 else 1)
    assert os.waitpid(child, 0)[1] == 0
    journal.note(number, outcome="FAILED")
    assert journal.requests([FIRST])[0].outcome == "FAILED"


DOWN = {"places": (Place("10.1.0.1:2882", "idc1", "region1"),)}


def test_request_that_takes_servers_down_is_among_them_until_they_are_back(journal):
    journal.begin(request())
    first, second = journal.begin(request(**DOWN)), journal.begin(request(ELSEWHERE, change=None, **DOWN))
    assert [row.number for row in journal.down()] == [first, second]
    assert journal.down()[0] == replace(request(**DOWN), number=first)
    journal.note(first, outcome="SUCCESSFUL", looked_at=5.0)
    assert [(row.number, row.looked_at) for row in journal.down()] == [(first, 5.0), (second, 0.0)]
    journal.note(first, back=True)
    assert [row.number for row in journal.down()] == [second]


@pytest.mark.parametrize("end", ["refused", "cleared", "everything is cleared"])
def test_what_is_over_takes_no_server_down(journal, end):
    number = journal.begin(request(**DOWN))
    if end == "refused":
        journal.note(number, outcome="REFUSED")
    else:
        journal.clear(number=number, everything=end != "cleared")
    assert journal.down() == []


def test_request_whose_task_is_known_was_not_refused(journal):
    """Another controller has found the task, while this one took the answer to a repetition for a refusal."""
    number = journal.begin(request(**DOWN))
    assert journal.claim(number, 1001, None)
    journal.note(number, outcome="REFUSED")
    [row] = journal.down()
    assert (row.task_id, row.outcome) == (1001, "RUNNING")


def test_request_is_noted_if_those_that_are_down_allow_it_and_nothing_else_is_noted_meanwhile(journal):
    first = journal.begin(request(**DOWN))
    seen = []

    def allows(rows):
        seen.append([row.number for row in rows])
        return len(rows) < 2

    second = journal.begin(request(**DOWN), allows)
    assert (seen, second is None) == ([[first]], False)
    assert journal.begin(request(**DOWN), allows) is None
    assert [row.number for row in journal.down()] == [first, second]
    journal.note(first, back=True)
    assert journal.begin(request(**DOWN), allows) is not None
