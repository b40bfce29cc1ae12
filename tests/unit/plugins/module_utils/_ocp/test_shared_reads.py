# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which read may serve another restart: by its begin, the locks and pauses since, what else was read, and its age."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from threading import Event, Lock, Thread
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.shared_reads import (
    GATHERING,
    LISTED_FOR_EACH,
    MOST_AGE,
    ReadsInOrder,
    SharedReads,
    sharing_reads,
)

SHOWN = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.fixture
def shared(time_passes):
    return SharedReads(1, nullcontext(), time_passes.clock)


@pytest.fixture
def line(shared):
    return Line(shared)


class Line:
    """Restarts of one thread, and what they send."""

    def __init__(self, shared):
        self.reads = ReadsInOrder(shared)
        self.clock = ServiceClock()
        self.sent = []

    def read(self, key, **how):
        def send():
            self.sent.append(key)
            return f"{key} {len(self.sent)}"

        return self.reads.read(key, self.clock, send, **how)

    def look(self):
        """A restart that takes over what counts of the one before."""
        self.reads.begin()
        return [self.read(key) for key in ("tenants", "tasks", "cluster")]


def test_next_restart_sends_nothing(line):
    line.reads.forget()
    assert line.look() == line.look() == ["tenants 1", "tasks 2", "cluster 3"]
    assert line.sent == ["tenants", "tasks", "cluster"]


def test_own_reads_are_not_of_others_and_have_no_limit_of_age(line, time_passes):
    line.look()
    time_passes.time += MOST_AGE + 1
    assert (line.reads.are_fresh, line.reads.are_there) == (True, False)


def test_what_was_read_before_a_lock_or_a_pause_does_not_count(line):
    line.look()
    line.reads.forget()
    assert not line.reads.are_there
    assert line.look() == ["tenants 4", "tasks 5", "cluster 6"]


def test_what_is_asked_for_again_is_read_again(line):
    line.look()
    assert (line.read("tasks"), line.read("cluster")) == ("tasks 4", "cluster 5")


def test_nothing_counts_that_was_begun_before_an_own_read(line):
    """The list of tasks is never newer than the target."""
    line.look()
    line.reads.begin()
    assert (line.read("tenants"), line.read("more")) == ("tenants 1", "more 4")
    assert (line.read("tasks"), line.read("cluster")) == ("tasks 5", "cluster 6")


def test_old_reads_decide_about_nothing(line, time_passes):
    line.look()
    time_passes.time += MOST_AGE
    line.look()
    assert line.reads.are_fresh
    time_passes.time += 0.1
    assert (line.reads.are_fresh, line.reads.are_there) == (False, False)
    assert line.look() == ["tenants 4", "tasks 5", "cluster 6"]


def test_nothing_counts_that_was_begun_before_the_answer_to_an_own_read(shared):
    """Another thread reads the clusters while the list of tasks is on its way: that may be the newer one."""
    other, one = Line(shared), Line(shared)

    def tasks():
        other.read("clusters")
        return "tasks"

    assert one.reads.read("tasks", one.clock, tasks) == "tasks"
    one.read("clusters")
    assert (other.sent, one.sent) == (["clusters"], ["clusters"])


def test_what_was_read_before_a_pause_decides_about_nothing_though_it_is_young(line):
    """A restart has its gates from others, and pauses, then reads the target itself."""
    line.look()
    line.reads.begin()
    line.read("tenants")
    line.reads.forget()
    line.read("cluster")
    assert not line.reads.are_fresh
    line.reads.decide_anew()
    assert line.reads.are_fresh
    line.reads.forget()
    line.reads.begin()
    line.read("tenants")
    assert line.reads.are_fresh


def test_own_read_with_a_pause_in_it_is_for_no_other_restart(line):
    """The service asks for a pause after the read was begun."""
    line.reads.read("tenants", line.clock, line.reads.forget)
    assert not line.reads.are_there
    line.reads.begin()
    line.read("tenants")
    assert line.sent == ["tenants"]


def test_each_pause_of_the_connection_is_told_while_reads_are_shared(line):
    api = SimpleNamespace(sharing=None, client=SimpleNamespace(paused=None))
    line.look()
    with sharing_reads(api, line.reads):
        assert api.sharing is line.reads
        api.client.paused()
    assert (api.sharing, api.client.paused) == (None, None)
    line.look()
    assert line.sent == ["tenants", "tasks", "cluster"] * 2


def test_read_that_failed_is_not_kept(line):
    def fail():
        raise ValueError

    with pytest.raises(ValueError):
        line.reads.read("tasks", line.clock, fail)
    assert line.read("tasks") == "tasks 1"


def test_read_of_another_line_counts_from_its_lock_on(shared):
    one, other = Line(shared), Line(shared)
    one.reads.forget()
    other.reads.forget()
    one.read("clusters")
    other.read("clusters")
    assert (one.sent, other.sent) == (["clusters"], [])
    other.reads.forget()
    other.read("clusters")
    assert other.sent == ["clusters"]


def test_clock_of_the_service_is_learned_from_the_answers_to_others(shared):
    one, other = Line(shared), Line(shared)

    def answer():
        one.clock.shown(SHOWN, 0.0, 1.0, "server")
        return "found"

    one.reads.read("clusters", one.clock, answer)
    assert other.read("clusters") == "found"
    assert (other.clock.answers, other.clock.bounds) == (1, one.clock.bounds)
    other.reads.begin()
    assert other.read("clusters") == "found"
    assert other.clock.answers == 1
    one.reads.begin()
    one.read("clusters")
    assert one.clock.answers == 1


def test_threads_that_wait_for_a_read_share_the_one_that_begins_while_they_wait(time_passes):
    """Not the one that they wait for: that was begun before they asked."""
    shared = SharedReads(8, Lock(), time_passes.clock)
    begun, goes_on, found = Event(), Event(), []

    def slow():
        begun.set()
        assert goes_on.wait(30)
        return "early"

    def ask():
        line = Line(shared)
        line.reads.forget()
        asked.append(line)
        found.append(line.read("clusters", together=True))

    asked, first = [], Line(shared)
    threads = [Thread(target=lambda: found.append(first.reads.read("clusters", first.clock, slow, together=True)))]
    threads[0].start()
    assert begun.wait(30)
    threads += [Thread(target=ask) for _number in range(4)]
    for thread in threads[1:]:
        thread.start()
    while len(asked) < 4:
        pass
    goes_on.set()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == ["clusters 1"] * 4 + ["early"]
    assert sum(len(line.sent) for line in asked) == 1


def test_read_by_many_waits_a_moment_for_those_that_come(time_passes):
    shared = SharedReads(8, Lock(), time_passes.clock)
    began = time_passes.time
    first, alone = Line(shared), Line(shared)
    first.read("clusters", together=True)
    assert time_passes.time - began == pytest.approx(GATHERING)
    alone.read("cluster")
    assert time_passes.time - began == pytest.approx(GATHERING)


@pytest.mark.parametrize(("side_by_side", "clusters", "lists"), [(2, 1, False), (3, 48, True), (3, 49, False)])
def test_long_list_replaces_no_reads(side_by_side, clusters, lists, time_passes):
    shared = SharedReads(side_by_side, nullcontext(), time_passes.clock)
    assert LISTED_FOR_EACH == 16
    shared.count_clusters(clusters)
    assert shared.lists_clusters is lists


def test_list_is_compared_once_unless_that_fails(shared):
    asked = []

    def compare(found):
        asked.append(found)
        if found is None:
            raise ValueError
        return found

    with pytest.raises(ValueError):
        shared.trusts_list(lambda: compare(None))
    assert [shared.trusts_list(lambda found=found: compare(found)) for found in (False, True)] == [False, False]
    assert asked == [None, False]
