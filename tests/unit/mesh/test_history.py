# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from history import History, once_problems, slice_problems, stop_problems

# Servers 1 and 2 are those of cluster 1, 3 and 4 those of cluster 2.
SERVERS = {1: 1, 2: 1, 3: 2, 4: 2}
OWNED = {"slice1": [1], "slice2": [2]}
LOOK = "page=1&size=100&status=FAILED&sort=id%2Cdesc"


class Story:
    """What happens at a service, second by second."""

    def __init__(self):
        self.requests, self.tasks, self.starts = [], [], {}

    def look(self, second, user, query=LOOK):
        return self._request(second, user, "GET", "/api/v2/tasks/instances", query)

    def restart(self, second, user, server, *, status="SUCCESSFUL", end=None):
        task = 1001 + len(self.tasks)
        path = f"/api/v2/ob/clusters/{SERVERS.get(server, 9)}/servers/{server}/restart"
        self._request(second, user, "POST", path, task=task)
        finish = {} if status == "RUNNING" else {"finishTime": _at(end or second + 5)}
        self.tasks.append({"id": task, "status": status, "startTime": _at(second), **finish})
        self.starts[server] = self.starts.get(server, 0) + 1
        return self

    def _request(self, second, user, method, path, query="", task=None):
        number = len(self.requests) + 1
        self.requests.append(
            {"id": number, "time": _at(second), "user": user, "method": method, "path": path, "query": query}
            | ({"taskId": task} if task else {})
        )
        return self

    def other(self, method, path):
        return self._request(1, "slice1", method, path)

    @property
    def history(self):
        return History(self.requests, self.tasks, self.starts)


def _at(second):
    return f"2026-05-04T03:00:{second:06.3f}+00:00"


@pytest.fixture
def story():
    return Story()


@pytest.fixture
def good(story):
    return story.restart(1, "slice1", 1).restart(2, "slice2", 3).restart(10, "slice1", 2).restart(11, "slice2", 4)


def test_each_server_restarted_once_in_its_own_slice_is_good(good):
    assert once_problems(good.history, SERVERS) == []
    assert slice_problems(good.history, OWNED) == []


def test_second_request_is_found(good):
    good.restart(20, "slice1", 2)
    assert once_problems(good.history, SERVERS) == ["server 2: 2 requests", "server 2: 2 starts"]


def test_server_that_was_left_out_is_found(story):
    story.restart(1, "slice1", 1)
    problems = once_problems(story.history, {1: 1, 2: 1})
    assert problems == ["server 2: 0 requests", "server 2: 0 starts"]


def test_one_request_that_was_carried_out_twice_is_found(good):
    good.starts[4] = 2
    assert once_problems(good.history, SERVERS) == ["server 4: 2 starts"]


@pytest.mark.parametrize("status", ["FAILED", "RUNNING"])
def test_restart_without_success_is_found(good, status):
    good.tasks[0]["status"] = status
    assert once_problems(good.history, SERVERS) == [f"task 1001 is {status}"]


def test_server_that_was_not_meant_and_other_changes_are_found(good):
    good.restart(1, "slice1", 7).other("POST", "/api/v2/tasks/instances/1001/retry")
    assert once_problems(good.history, SERVERS) == [
        "server 7 of cluster 9 was not meant",
        "POST /api/v2/tasks/instances/1001/retry was sent",
    ]


def test_slice_that_reaches_into_another_is_found(story):
    story.restart(1, "slice1", 1).restart(2, "slice1", 3)
    assert slice_problems(story.history, OWNED) == ["slice1 restarted server 3 of cluster 2"]


def test_cluster_that_nobody_restarted_is_found(story):
    assert slice_problems(story.restart(1, "slice1", 1).history, OWNED) == ["nobody restarted cluster 2"]


@pytest.mark.parametrize(("second", "servers"), [(3, [1]), (8, []), (12, [2])])
def test_only_restarts_of_these_users_that_run_are_in_flight(good, second, servers):
    at = datetime(2026, 5, 4, 3, 0, second, tzinfo=UTC)
    assert [post.server for post in good.history.in_flight(at, ["slice1"])] == servers


# A restart fails at second 6.


@pytest.fixture
def failing(story):
    story.look(1, "slice1").restart(1, "slice1", 1, status="FAILED", end=6)
    return story.look(2, "slice2").restart(2, "slice2", 3)


def judged(story):
    return stop_problems(story.history, [*OWNED], len(SERVERS))


def test_all_slices_stopped_is_good(failing):
    # What looked before may still begin.
    failing.look(5.9, "slice2").restart(6.2, "slice2", 4).look(12, "slice2")
    assert judged(failing) == []


@pytest.mark.parametrize("look", [6, 7])
def test_restart_after_a_look_that_could_see_the_failure_is_found(failing, look):
    failing.look(5, "slice1").look(look, "slice2").restart(8, "slice2", 4)
    [problem] = judged(failing)
    assert problem.startswith(f"server 4 was restarted after a look at 2026-05-04 03:00:0{look}+00:00")


@pytest.mark.parametrize(
    "query", ["status=RUNNING", "status=FAILED&clusterId=2", "", "status=FAILED&hostId=1", "status=SUCCESSFUL"]
)
def test_only_looks_at_the_failures_of_the_whole_service_count(story, query):
    story.look(1, "slice1").restart(1, "slice1", 1, status="FAILED", end=6)
    story.look(2, "slice2", query).restart(2, "slice2", 3)
    assert judged(story) == ["server 3 was restarted without a look for failures"]


def test_run_in_which_nothing_failed_or_nothing_was_stopped_shows_nothing(good):
    assert judged(good) == ["0 restarts failed, not one"]
    alone = Story().look(1, "slice1").restart(1, "slice1", 1, status="FAILED", end=6)
    assert judged(alone) == ["slice2 has begun nothing, so nothing was stopped"]


def test_all_servers_restarted_is_no_stop(failing):
    failing.look(3, "slice1").restart(3, "slice1", 2).look(4, "slice2").restart(4, "slice2", 4)
    assert judged(failing) == ["all servers were restarted, so nothing was stopped"]


def test_second_request_and_restart_that_still_runs_are_found(failing):
    failing.restart(3, "slice2", 3, status="RUNNING")
    assert judged(failing) == ["server 3 was restarted twice", "task 1003 is RUNNING"]
