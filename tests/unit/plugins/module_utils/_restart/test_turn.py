# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a restart holds the lock of its cluster for the next one, and what ends that."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TargetBusy
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.shared_reads import (
    ReadsInOrder,
    SharedReads,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.turn import REQUESTS_OF_FOLLOWER, Turn

LOCKS = ["cluster 31"]


class Case:
    """Restarts that take turns, with a journal and reads."""

    def __init__(self, time_passes, *, keeps_lock):
        self.time = time_passes
        self.journal = MemoryJournal(time_passes.clock)
        self.reads = ReadsInOrder(SharedReads(1, nullcontext(), time_passes.clock))
        self.turn = Turn(self.reads, keeps_lock=keeps_lock)

    def look(self):
        """Take the lock and read; whether something was sent for that."""
        sent = []
        self.turn.begin()
        self.turn.take(self.journal, LOCKS, self.time.clock, 5)
        self.reads.read("tasks", ServiceClock(), lambda: sent.append("tasks"))
        return bool(sent)

    @property
    def is_locked(self):
        try:
            with self.journal.lock(LOCKS, self.time.clock, 0):
                return False
        except TargetBusy:
            return True


@pytest.fixture
def case(time_passes):
    return Case(time_passes, keeps_lock=True)


def test_next_restart_finds_the_lock_held_and_the_reads_made(case):
    assert case.look()
    case.turn.end(failed=False)
    assert case.is_locked
    assert case.turn.room(7) == REQUESTS_OF_FOLLOWER
    assert not case.look()


@pytest.mark.parametrize(
    "end", [lambda turn: turn.end(failed=True), lambda turn: turn.let_go()], ids=["failed", "pause"]
)
def test_after_a_failure_or_a_pause_all_is_read_anew_with_the_lock(end, case):
    case.look()
    end(case.turn)
    assert not case.is_locked
    assert case.turn.room(7) == 7
    assert case.look()
    assert case.is_locked


def test_pause_with_the_lock_makes_reads_count_no_more(case):
    case.look()
    case.turn.clock(case.time.clock).sleep(1)
    assert case.is_locked
    assert case.look()


def test_what_was_read_without_the_lock_does_not_count_under_it(case):
    case.reads.read("tasks", ServiceClock(), lambda: None)
    assert case.look()


def test_first_restart_has_room_for_all_its_reads(case):
    """What found it was read without the lock, and is read again with it."""
    case.reads.read("tasks", ServiceClock(), lambda: None)
    assert case.turn.room(7) == 7


def test_pause_makes_what_others_have_read_decide_about_nothing_until_all_is_read_again(case):
    case.look()
    case.look()
    case.turn.clock(case.time.clock).sleep(1)
    assert not case.turn.is_fresh
    case.turn.decide_anew()
    assert case.turn.is_fresh


def test_restarts_that_only_look_share_without_a_lock(time_passes):
    case = Case(time_passes, keeps_lock=False)
    assert case.look()
    case.turn.end(failed=False)
    assert not case.is_locked
    assert not case.look()


def test_restart_alone_releases_the_lock_at_its_end(time_passes):
    turn, journal = Turn.alone(time_passes.clock), MemoryJournal(time_passes.clock)
    turn.take(journal, LOCKS, time_passes.clock, 5)
    turn.end(failed=False)
    with journal.lock(LOCKS, time_passes.clock, 0):
        assert (turn.room(7), turn.is_fresh) == (7, True)


def test_pause_and_release_of_the_lock_each_interrupt_what_was_read(case):
    case.look()
    counts = [case.turn.interruptions]
    case.turn.clock(case.time.clock).sleep(1)
    counts.append(case.turn.interruptions)
    case.turn.let_go()
    counts.append(case.turn.interruptions)
    assert counts == sorted(set(counts))
