# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The local lock of a cluster, and what is noted in it for the next one."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TargetBusy
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import cluster_lock
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.cluster_lock import ClusterLock
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation, TaskOnTarget
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import SERVER_41

POLICY = PollPolicy(30, 10)
OBSERVED = Observation("RUNNING", (Member("10.1.0.1:2882", "RUNNING"),))

NOT_A_NUMBER = b'[{"at": 1, "task_name": "x", "starts": {}, "arbiters": [], "task_id": "7"}]'


@pytest.fixture
def lock(time_passes):
    """Make locks, each with its own warnings."""
    return lambda *clusters, clock=time_passes.clock: ClusterLock(URL, clusters or (31,), clock, [])


def folder():
    return Path(tempfile.gettempdir()) / f"oceanbase.ocp-{os.getuid()}"


def own(lock, tasks=()):
    with lock:
        lock.acquire(POLICY)
        return [(each.task_id, sorted(each.servers), sorted(each.arbiters)) for each in lock.own_restarts(tasks)]


def note(lock, task_id, began=None, *, refused=False, target=SERVER_41):
    lock.acquire(POLICY)
    lock.begin(target, OBSERVED)
    lock.end(task_id, began, refused=refused)


def test_second_waits_until_the_first_has_released_it(lock, time_passes):
    first, second = lock(), lock()
    first.acquire(POLICY)
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        time_passes.time += seconds
        if len(slept) == 3:
            first.release()

    lock(clock=Clock(lambda: time_passes.time, sleep, time_passes.clock.wall)).acquire(POLICY)
    assert len(slept) == 3
    with pytest.raises(TargetBusy, match="For 30 seconds other restarts of this controller"):
        second.acquire(POLICY)


def test_other_clusters_and_services_do_not_wait(lock, time_passes):
    lock(31).acquire(POLICY)
    lock(32).acquire(POLICY)
    ClusterLock("https://other:8080", [31], time_passes.clock, []).acquire(POLICY)
    assert time_passes.time == type(time_passes)().time


def test_lock_of_several_clusters_waits_for_each(lock):
    lock(32).acquire(POLICY)
    with pytest.raises(TargetBusy):
        lock(31, 32).acquire(POLICY)
    lock(31).acquire(POLICY)  # not held by the one that failed


def test_file_that_is_removed_before_it_is_locked_is_made_anew(lock, monkeypatch):
    flock, calls = cluster_lock.fcntl.flock, []

    def removed_first(held, how):
        if not calls:
            [path] = folder().iterdir()
            path.unlink()
        calls.append(how)
        flock(held, how)

    monkeypatch.setattr(cluster_lock.fcntl, "flock", removed_first)
    first = lock()
    first.acquire(POLICY)
    with pytest.raises(TargetBusy):
        lock().acquire(POLICY)


def test_accepted_restart_is_noted_until_it_is_shown_as_ended(lock, time_passes):
    note(lock(), 81)
    assert own(lock()) == [(81, ["10.1.0.1:2882"], [])]
    running, ended = {"id": 81, "status": "RUNNING"}, {"id": 81, "status": "FAILED"}
    assert own(lock(), [ended]) == []
    time_passes.time += 3600
    assert own(lock(), [running]) == [(81, ["10.1.0.1:2882"], [])]
    assert own(lock()) == []  # after a minute the service shows it


@pytest.mark.parametrize(
    ("noted", "listed", "is_ours"),
    [
        ("2026-03-01T10:00:00+08:00", "2026-03-01T02:00:00.640Z", True),
        ("2026-03-01T10:00:00+08:00", "2026-03-01T10:00:07+08:00", False),
        (None, "2026-03-01T10:00:00+08:00", True),
        ("2026-03-01T10:00:00+08:00", None, True),
    ],
)
def test_task_of_a_service_that_was_set_up_anew_is_not_the_noted_one(noted, listed, is_ours, lock):
    note(lock(), 81, noted)
    assert bool(own(lock(), [{"id": 81, "status": "RUNNING", "startTime": listed}])) is is_ours


def test_restart_that_has_ended_is_forgotten_before_newer_tasks_push_it_off_the_list(lock):
    note(lock(), 1001)
    note(lock(), 1002)
    done = {"id": 1001, "status": "SUCCESSFUL", "finishTime": "2026-05-04T03:00:09+08:00"}
    failed = {"id": 1002, "status": "FAILED", "finishTime": "2026-05-04T03:00:09+08:00"}
    assert own(lock(), [done, failed]) == []
    # A FAILED one may be retried.
    assert [task_id for task_id, _servers, _arbiters in own(lock())] == [1002]


def test_refused_request_leaves_no_note(lock):
    note(lock(), 81)
    note(lock(), None, refused=True)
    assert [task for task, *_rest in own(lock())] == [81]


def test_request_with_an_unknown_outcome_may_run(lock, time_passes):
    interrupted = lock()
    interrupted.acquire(POLICY)
    interrupted.begin(SERVER_41, OBSERVED)
    interrupted.release()
    assert own(lock()) == [(None, ["10.1.0.1:2882"], [])]
    time_passes.time += 61
    assert own(lock()) == []


def test_arbitration_service_is_noted_as_such(lock):
    note(lock(), 81, target=ArbitrationService(61, "10.1.0.8:2888", (31,)))
    assert own(lock()) == [(81, [], [61])]


@pytest.mark.parametrize("content", [b"", b"[[", b"{}", b'[{"at": 1}]', NOT_A_NUMBER, b"[7, {}, []]", b"\xff"])
def test_broken_notes_are_none(content, lock):
    note(lock(), 81)
    [path] = folder().iterdir()
    path.write_bytes(content)
    assert own(lock()) == []


def test_folder_is_for_its_user_alone(lock, time_passes):
    note(lock(), 81)
    assert folder().stat().st_mode & 0o777 == 0o700
    folder().chmod(0o777)
    warnings = []
    shut_out = ClusterLock(URL, [31], time_passes.clock, warnings)
    shut_out.acquire(POLICY)
    assert shut_out.own_restarts([]) == []
    [warning] = warnings
    assert "The lock in" in warning
    assert "is not a folder of this user alone" in warning


def test_link_in_place_of_the_folder_is_not_followed(lock, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder().symlink_to(tmp_path / "elsewhere")
    note(lock(), 81)
    assert not list((tmp_path / "elsewhere").iterdir())


# What it knows of a task that no answer shows yet


def unseen(lock, listed=(), members=None):
    with lock:
        lock.acquire(POLICY)
        found = lock.own_tasks([{"id": number} for number in listed], [], members or OBSERVED.members)
        return [(entry.record["id"], entry.record["status"], entry.restarts) for entry in found]


def test_task_of_a_noted_restart_is_known_for_a_minute(lock, time_passes):
    note(lock(), 81, "2026-03-01T10:00:00+08:00")
    assert unseen(lock()) == [(81, "RUNNING", None)]
    assert unseen(lock(), listed=[81]) == []
    time_passes.time += 61
    assert unseen(lock()) == []


def test_task_of_a_noted_restart_restarts_a_part(lock):
    note(lock(), 81)
    other = Member("10.1.0.9:2882", "RUNNING")
    assert unseen(lock(), members=[*OBSERVED.members, other]) == [(81, "RUNNING", frozenset({"10.1.0.1:2882"}))]
    assert unseen(lock(), members=[other]) == []


def test_noted_restart_is_not_needed_once_another_start_shows(lock):
    note(lock(), 81)
    moved = [replace(member, start_time="2026-03-01T10:00:00+08:00") for member in OBSERVED.members]
    assert unseen(lock(), members=moved) == []


def test_request_without_a_known_task_names_none(lock):
    note(lock(), None)
    assert unseen(lock()) == []


BEGAN = "2026-03-01T10:00:00+08:00"


@pytest.mark.parametrize(
    ("restarts", "began", "told"),
    [
        (frozenset(), BEGAN, True),
        (frozenset(), "2026-03-01T10:00:09+08:00", False),
        (frozenset({"10.1.0.1:2882"}), BEGAN, False),
        (None, BEGAN, False),
    ],
    ids=["not told", "of a service set up anew", "told", "told as a whole"],
)
def test_noted_task_of_which_the_service_tells_no_target_is_told(restarts, began, told, lock):
    note(lock(), 81, BEGAN)
    shown = TaskOnTarget({"id": 81, "status": "RUNNING", "startTime": began}, restarts)
    with lock() as held:
        held.acquire(POLICY)
        assert held.own_tasks([], [shown], OBSERVED.members) == ([replace(shown, restarts=None)] if told else [])
        others = [replace(shown, restarts=frozenset(each.name for each in OBSERVED.members))]
        assert held.own_tasks([], [shown], [Member("10.1.0.9:2882", "RUNNING")]) == (others if told else [])


def test_restart_that_has_done_its_work_takes_nothing_down_and_is_still_known(lock):
    """Later it may not be among the newest tasks, and an older service does not tell what it has restarted."""
    note(lock(), 81, BEGAN)
    assert own(lock(), [{"id": 81, "status": "SUCCESSFUL", "startTime": BEGAN}]) == []
    assert (own(lock()), unseen(lock())) == ([], [])
    shown = TaskOnTarget({"id": 81, "status": "SUCCESSFUL", "startTime": BEGAN}, frozenset())
    with lock() as held:
        held.acquire(POLICY)
        assert held.own_tasks([], [shown], OBSERVED.members) == [replace(shown, restarts=None)]
