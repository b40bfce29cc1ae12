# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The journal of several controllers: leases and their fences, the outbox, and a database that cannot be reached."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError, NameTaken, TargetBusy
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import usable_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import Place
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import SharedJournal, shared_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.store import VERSION
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import (
    CHANGE,
    FIRST,
    OTHER_WISH,
    WISH,
    request,
    sight,
)

LEASE = 30.0
NAMES = ["orders 1"]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "journal.db"


@pytest.fixture
def controller(file, time_passes, monkeypatch):
    """Make controllers that share a journal, whose clock is that of the test."""
    monkeypatch.setattr(SharedJournal, "_now", lambda _self, _run: time_passes.clock.wall())
    return lambda: SharedJournal(f"sqlite:///{file}", lease=LEASE)


@contextmanager
def stopped(file) -> Iterator[None]:
    """A database that cannot be reached."""
    aside = file.with_name("aside")
    file.rename(aside)
    file.mkdir()
    try:
        yield
    finally:
        file.rmdir()
        aside.rename(file)


def lost(journal, *actions):
    for action in actions:
        with pytest.raises(
            JournalError, match=r"^The lock of orders 1 in the journal /.* \(sqlite\) was lost, as it was"
        ):
            action(journal)


def begins(journal):
    return journal.begin(request())


# Leases


def test_lease_of_a_controller_that_is_gone_ends(controller, time_passes):
    first, second = controller(), controller()
    held = first.lock(NAMES, time_passes.clock, 0)
    held.__enter__()
    with pytest.raises(TargetBusy, match="other restarts held"), second.lock(NAMES, time_passes.clock, LEASE - 1):
        pass
    with second.lock(NAMES, time_passes.clock, 2):
        assert begins(second) == 1


def test_lease_that_is_renewed_does_not_end(controller, time_passes):
    first, second = controller(), controller()
    with first.lock(NAMES, time_passes.clock, 0):
        for renewed in (SharedJournal.renew, begins, SharedJournal.renew):
            time_passes.time += LEASE - 1
            renewed(first)
        with pytest.raises(TargetBusy), second.lock(NAMES, time_passes.clock, LEASE - 1):
            pass


def test_request_is_not_noted_once_the_lease_has_ended(controller, time_passes):
    journal = controller()
    with journal.lock(NAMES, time_passes.clock, 0):
        time_passes.time += LEASE
        lost(journal, begins, SharedJournal.renew)
    assert journal.requests([FIRST]) == []


def test_request_is_not_noted_once_another_controller_had_the_lock(controller, time_passes):
    first, second = controller(), controller()
    with first.lock(NAMES, time_passes.clock, 0):
        time_passes.time += LEASE
        with second.lock(NAMES, time_passes.clock, 0):
            lost(first, begins, SharedJournal.renew)
            begins(second)
        # The other has released it meanwhile.
        lost(first, begins)
        with second.lock(NAMES, time_passes.clock, 0):
            lost(first, begins)
    assert len(second.requests([FIRST])) == 1


def test_late_release_leaves_the_lock_of_another_controller(controller, time_passes):
    first, second = controller(), controller()
    with first.lock(NAMES, time_passes.clock, 0):
        time_passes.time += LEASE
        held = second.lock(NAMES, time_passes.clock, 0)
        held.__enter__()
    with pytest.raises(TargetBusy), first.lock(NAMES, time_passes.clock, 0):
        pass
    begins(second)


def test_all_locks_of_a_request_are_needed(controller, time_passes):
    first, second = controller(), controller()
    with first.lock(["stock 2"], time_passes.clock, 0):
        time_passes.time += 1
        with first.lock(NAMES, time_passes.clock, 0):
            time_passes.time += LEASE - 1
            with (
                second.lock(["stock 2"], time_passes.clock, 0),
                pytest.raises(JournalError, match="The lock of stock 2"),
            ):
                begins(first)


def test_lock_of_several_is_taken_as_a_whole(controller, time_passes):
    first, second = controller(), controller()
    with first.lock(["stock 2"], time_passes.clock, 0):
        with pytest.raises(TargetBusy), second.lock([*NAMES, "stock 2"], time_passes.clock, 5):
            pass
        with second.lock(NAMES, time_passes.clock, 0):
            pass


def test_lock_that_another_controller_takes_after_the_look_is_not_taken(controller, time_passes, monkeypatch):
    first, second = controller(), controller()
    session, held = second._session, first.lock(NAMES, time_passes.clock, 0)

    def late(*, writes=False):
        if writes and not first._held:
            held.__enter__()
        return session(writes=writes)

    monkeypatch.setattr(second, "_session", late)
    with pytest.raises(TargetBusy), second.lock(NAMES, time_passes.clock, 0):
        pass
    assert begins(first) == 1


def test_thread_needs_its_own_locks_alone(controller, time_passes):
    journal, outcome = controller(), []

    def other():
        time_passes.time += LEASE
        with journal.lock(["stock 2"], time_passes.clock, 0):
            outcome.append(begins(journal))

    with journal.lock(NAMES, time_passes.clock, 0):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        lost(journal, begins)
    assert outcome == [1]


def test_thread_without_a_lock_uses_those_of_the_others(controller, time_passes):
    journal, outcome = controller(), []
    with journal.lock(NAMES, time_passes.clock, 0):
        thread = threading.Thread(target=lambda: outcome.append(begins(journal)))
        thread.start()
        thread.join()
    assert outcome == [1]


def test_request_without_a_lock_is_refused(controller):
    with pytest.raises(JournalError, match="noted without a lock"):
        begins(controller())


# The outbox


def test_outcome_that_cannot_be_noted_is_brought_in_later(controller, file, time_passes):
    journal = controller()
    with journal.lock(NAMES, time_passes.clock, 0):
        number = begins(journal)
        with stopped(file):
            journal.note(number, task_id=81, began="2026-03-01T10:00:00+08:00", outcome="RUNNING")
            journal.note(number, outcome="SUCCESSFUL")
    # By another process of the controller, with whatever it does first.
    [row] = controller().requests([FIRST])
    assert (row.task_id, row.began, row.outcome) == (81, "2026-03-01T10:00:00+08:00", "SUCCESSFUL")
    assert usable_journal(read_only=False, is_required=True, warnings=[]).entries()["facts"] == []


def test_servers_that_are_back_are_brought_in_later(controller, file, time_passes):
    journal = controller()
    with journal.lock(NAMES, time_passes.clock, 0):
        number = journal.begin(request(places=(Place("10.1.0.1:2882"),)))
        with stopped(file):
            journal.note(number, back=True)
            journal.note(number, outcome="SUCCESSFUL", looked_at=7.0)
    assert controller().down() == []


def test_outcome_is_brought_in_by_the_process_that_kept_it(controller, file, time_passes):
    journal = controller()
    with journal.lock(NAMES, time_passes.clock, 0):
        number = begins(journal)
        with stopped(file):
            journal.note(number, task_id=81)
        assert journal.requests([FIRST])[0].task_id == 81


@pytest.mark.parametrize(
    ("noted", "kept", "after"),
    [
        ("SUCCESSFUL", "RUNNING", "SUCCESSFUL"),
        ("RUNNING", "UNKNOWN", "RUNNING"),
        ("UNKNOWN", "RUNNING", "RUNNING"),
        ("RUNNING", "FAILED", "FAILED"),
        ("REFUSED", "FAILED", "REFUSED"),
    ],
)
def test_outcome_that_was_kept_takes_nothing_back(noted, kept, after, controller, file, time_passes):
    journal = controller()
    with journal.lock(NAMES, time_passes.clock, 0):
        number = begins(journal)
        journal.note(number, task_id=81, outcome=noted)
        with stopped(file):
            journal.note(number, task_id=82, outcome=kept)
    [row] = controller().requests([FIRST])
    assert (row.task_id, row.outcome) == (81, after)


def test_outcome_is_not_brought_into_another_journal(controller, file, time_passes, tmp_path):
    journal, other = controller(), SharedJournal(f"sqlite:///{tmp_path}/other.db")
    with journal.lock(NAMES, time_passes.clock, 0), other.lock(NAMES, time_passes.clock, 0):
        assert begins(journal) == begins(other)
        with stopped(file):
            journal.note(1, outcome="FAILED")
            assert SharedJournal(f"sqlite:///{tmp_path}/other.db").requests([FIRST])[0].outcome is None
    assert controller().requests([FIRST])[0].outcome == "FAILED"


def test_outcome_that_can_be_kept_nowhere_is_an_error(controller, file, time_passes, monkeypatch):
    journal = controller()
    with journal.lock(NAMES, time_passes.clock, 0):
        number = begins(journal)
        monkeypatch.setenv("ANSIBLE_HOME", "/dev/null")
        with stopped(file), pytest.raises(JournalError, match="The journal /dev/null/oceanbase"):
            journal.note(number, outcome="FAILED")


# A database that cannot be used


def test_nothing_is_noted_while_the_database_cannot_be_reached(controller, file, time_passes):
    journal = controller()
    with journal.lock(NAMES, time_passes.clock, 0):
        with stopped(file):
            for action in (begins, SharedJournal.renew, lambda each: each.requests([FIRST])):
                with pytest.raises(JournalError) as raised:
                    action(journal)
        assert str(raised.value) == (
            f"The journal {file} (sqlite) cannot be used: unable to open database file. Look whether the database "
            "runs, and whether this user may create, read and change tables there."
        )
        assert begins(journal) == 1


def test_release_that_cannot_be_written_is_no_error(controller, file, time_passes):
    journal = controller()
    held = journal.lock(NAMES, time_passes.clock, 0)
    held.__enter__()
    with stopped(file):
        held.__exit__(None, None, None)


def test_database_that_cannot_be_reached_is_told_at_once(tmp_path):
    with pytest.raises(JournalError, match="unable to open database file"):
        shared_journal(f"sqlite:///{tmp_path}/missing/journal.db", read_only=False)


def test_tables_that_another_controller_makes_at_the_same_moment_are_used(controller, monkeypatch):
    first, second = controller(), controller()
    looks = iter([False, True])
    monkeypatch.setattr(second, "_has_tables", lambda _run: next(looks))
    first.prepare()
    assert second.requests([FIRST]) == []
    assert first._id == second._id


def test_another_version_is_refused(controller, file):
    controller().prepare()
    with sqlite3.connect(file) as connection:
        connection.execute(f"UPDATE ocp_journal SET version = {VERSION + 1}")
    with pytest.raises(
        JournalError, match=f"has version {VERSION + 1}, but this collection knows version {VERSION} alone"
    ):
        controller().requests([FIRST])


# Check mode


def test_check_mode_reads_a_copy(controller, file, time_passes):
    journal = controller()
    journal.register(CHANGE, WISH, [sight()])
    with journal.lock(NAMES, time_passes.clock, 0):
        begins(journal)
    before = file.read_bytes()
    copy = shared_journal(f"sqlite:///{file}", read_only=True)
    assert (copy.sights(CHANGE, [FIRST]), len(copy.requests([FIRST]))) == ({FIRST: sight()}, 1)
    with pytest.raises(NameTaken):
        copy.register(CHANGE, OTHER_WISH, [sight()])
    copy.clear(everything=True)
    assert file.read_bytes() == before


def test_check_mode_makes_nothing(file):
    assert shared_journal(f"sqlite:///{file}", read_only=True).requests([FIRST]) == []
    assert not file.exists()


def test_clock_is_that_of_the_database(file):
    journal = SharedJournal(f"sqlite:///{file}")
    with journal._session() as run:
        [(seconds,)] = run("SELECT strftime('%s', 'now')")
        assert abs(journal._now(run) - float(seconds)) < 2
