# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A parameter of the task list works if what cannot be is not listed; without tasks nothing is known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.findings import Heed
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.interview import Interview
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.task_list_filters import check_filters
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL

TASKS = [{"id": 3, "status": "RUNNING"}, {"id": 2, "status": "SUCCESSFUL"}, {"id": 1, "status": "FAILED"}]
ALL_RUNNING = [{**task, "status": "RUNNING"} for task in TASKS]
NAMES = ("sort", "status", "name", "clusterId", "hostId")


def checked(newest, tasks):
    reads = SimpleNamespace(
        url=URL, user=None, service_clock=ServiceClock(), last_path="/x", trace_id=None, first_tasks=tasks
    )
    interview = Interview(reads)
    found = {each.name: each.state for each in check_filters(interview, newest)}
    assert interview.findings.reads == {}
    return found


def heeding(_limit, **query):
    return [task for task in TASKS if query == {"status": task["status"]}]


def test_filters_that_work():
    assert checked(TASKS, heeding) == dict.fromkeys(NAMES, Heed.WORKS)


@pytest.mark.parametrize("tasks", [TASKS, ALL_RUNNING], ids=["of several states", "all running"])
def test_filters_that_are_ignored(tasks):
    found = checked(tasks[::-1], lambda _limit, **_query: tasks)
    assert found == dict.fromkeys(NAMES, Heed.IGNORED)


@pytest.mark.parametrize("newest", [None, []], ids=["not readable", "none"])
def test_without_tasks_nothing_is_asked(newest):
    def asked(*_args, **_query):
        raise AssertionError("It was asked.")

    assert checked(newest, asked) == dict.fromkeys(NAMES, Heed.UNKNOWN)


def test_one_task_has_no_order():
    assert checked(TASKS[:1], heeding)["sort"] is Heed.UNKNOWN


@pytest.mark.parametrize(
    ("status", "of_ids", "of_names"),
    [(400, Heed.WORKS, Heed.UNKNOWN), (404, Heed.WORKS, Heed.UNKNOWN), (500, Heed.UNKNOWN, Heed.UNKNOWN)],
)
def test_refused_id_that_cannot_be_was_looked_at(status, of_ids, of_names):
    def refusing(_limit, **_query):
        raise refused(status)

    found = checked(TASKS, refusing)
    assert [found[name] for name in NAMES[1:]] == [of_names, of_names, of_ids, of_ids]
