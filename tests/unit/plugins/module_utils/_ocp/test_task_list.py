# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The newest tasks are found with few reads, and also where the service ignores the order."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_list import MOST_DISCARDED
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import page_of, response

TASKS = "/api/v2/tasks/instances"
FIRST_PAGE = {"page": 1, "size": 2000}


@pytest.mark.parametrize(
    ("name", "word", "found"),
    [
        ("server", "server", [4, 3, 2, 1]),
        ("Restart OB server", "Restart", [3, 2]),
        ("restart ob", "restart", [3, 2]),
        ("Add~zone*", "zone", [1]),
        (" ", None, [4, 3, 2]),
        (None, None, [4, 3, 2, 1]),
    ],
)
def test_task_name_is_sent_as_one_word_and_compared_whole(name, word, found, client):
    names = {4: "RESTART of OB server", 3: "Restart OB server", 2: "restart ob SERVER 2", 1: "add~Zone*1"}
    sent = {"sort": "id,desc", **FIRST_PAGE, **({"name": word} if word else {})}
    records = [{"id": number, "name": named} for number, named in names.items()]
    client.expect("get", TASKS, sent, gives=page_of(*records))
    assert [task["id"] for task in OcpApi(client.double).tasks(name=name)] == found


def test_search_for_one_task_by_several_words_reads_more_than_one_at_once(client):
    """Only one of them is sent, so the first tasks that come may all be others."""
    query = {"name": "restart", "sort": "id,desc", "page": 1, "size": MOST_DISCARDED}
    others = [{"id": number, "name": "Restart OB cluster"} for number in range(MOST_DISCARDED, 1, -1)]
    client.expect("get", TASKS, query, gives=page_of(*others, {"id": 1, "name": "Restart OB Zone"}))
    assert [task["id"] for task in OcpApi(client.double).tasks(1, name="restart ob zone")] == [1]


def test_newest_tasks_matching_the_filters_are_read(client):
    filters = {"clusterId": 3, "status": "RUNNING,FAILED"}
    query = {**filters, "sort": "id,desc", "page": 1, "size": 5}
    client.expect("get", TASKS, query, gives=page_of({"id": 9}, {"id": 8}))
    assert OcpApi(client.double).tasks(5, **filters, hostId=None, name=None) == [{"id": 9}, {"id": 8}]


@pytest.mark.parametrize(
    ("limit", "size", "pages"),
    [(2, 2, 1), (1999, 1999, 1), (2000, 2000, 1), (2001, 2000, 2), (4001, 2000, 3)],
)
def test_limit_bounds_the_tasks_and_pages_read(limit, size, pages, client):
    numbers = itertools.count(100_000, -1)
    for page in range(1, pages + 1):
        query = {"sort": "id,desc", "page": page, "size": size}
        found = page_of(*({"id": next(numbers)} for _record in range(size)), number=page, pages=50)
        client.expect("get", TASKS, query, gives=found)
    found = OcpApi(client.double).tasks(limit)
    assert [record["id"] for record in found] == list(range(100_000, 100_000 - limit, -1))


def test_tasks_without_a_limit_are_read_from_all_pages(client):
    for page in (1, 2):
        query = {"status": "RUNNING", "sort": "id,desc", "page": page, "size": 2000}
        client.expect("get", TASKS, query, gives=page_of({"id": 10 - page}, number=page, pages=2))
    assert OcpApi(client.double).tasks(status="RUNNING") == [{"id": 9}, {"id": 8}]


@pytest.mark.parametrize(
    ("pages", "found"),
    [([[]], []), ([[5, 4], []], [5, 4]), ([[5, 4], [3], [3]], [5, 4, 3])],
    ids=["no tasks at all", "then an empty one", "then nothing new"],
)
def test_without_a_count_of_pages_they_are_read_until_nothing_new_comes(pages, found, client):
    """A service may put fewer entries on a page than are asked for."""
    for page, ids in enumerate(pages, 1):
        there = response({"contents": [{"id": number} for number in ids], "page": None})
        client.expect("get", TASKS, {"sort": "id,desc", "page": page, "size": 2000}, gives=there)
    assert OcpApi(client.double).tasks() == [{"id": number} for number in found]


@pytest.mark.parametrize(
    ("pages", "found"),
    [
        pytest.param([[]], [], id="no tasks at all"),
        pytest.param([[80, 79]], [], id="none above"),
        pytest.param([[82, 81, 80, 79]], [82, 81], id="the mark is on the first page"),
        pytest.param([[84, 83], [82, 80]], [84, 83, 82], id="the mark is on the second page"),
        pytest.param([[84, 83], [82, 81], [80]], [84, 83, 82, 81], id="the mark begins the third page"),
        pytest.param([[83, 82], [82, 81, 80]], [83, 82, 81], id="one more is started between two pages"),
        pytest.param([[82, "81", 80]], [82, 81], id="one as text"),
    ],
)
def test_tasks_are_read_down_to_the_high_water_mark_only(pages, found, client):
    for number, ids in enumerate(pages, 1):
        query = {"clusterId": 3, "sort": "id,desc", "page": number, "size": 100}
        client.expect(
            "get", TASKS, query, gives=page_of(*({"id": n} for n in ids), number=number, pages=50 if ids else 0)
        )
    tasks = OcpApi(client.double).tasks(above=80, clusterId=3)
    assert [task["id"] for task in tasks] == found


@pytest.mark.parametrize(("limit", "size"), [(1, 2), (150, 100)])
def test_limit_applies_to_tasks_above_the_high_water_mark(limit, size, client):
    query = {"sort": "id,desc", "page": 1, "size": size}
    client.expect("get", TASKS, query, gives=page_of({"id": 82}, {"id": 80}))
    assert OcpApi(client.double).tasks(limit, above=80) == [{"id": 82}]


def in_order(*numbers, number=1, pages=1):
    return page_of(*({"id": each} for each in numbers), number=number, pages=pages)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param({"limit": 2}, [7, 6], id="the newest two"),
        pytest.param({"limit": 1}, [7], id="the newest one"),
        pytest.param({"above": 5}, [7, 6], id="those above a task"),
        pytest.param({"limit": 2, "above": 6}, [7], id="the newest above a task"),
    ],
)
def test_all_tasks_are_read_where_the_service_ignores_the_order(query, found, client):
    first = {"clusterId": 3, "sort": "id,desc", "page": 1, "size": 2 if "limit" in query else 100}
    client.expect("get", TASKS, first, gives=in_order(2, 3, pages=3))
    client.expect("get", TASKS, {**first, "size": 2000}, gives=in_order(2, 3, 4, pages=2))
    client.expect("get", TASKS, {**first, "size": 2000, "page": 2}, gives=in_order(5, 6, 7, number=2, pages=2))
    tasks = OcpApi(client.double).tasks(**query, clusterId=3)
    assert [task["id"] for task in tasks] == found


def test_all_tasks_are_the_newest_first_in_whatever_order_they_come(client):
    client.expect("get", TASKS, {"sort": "id,desc", **FIRST_PAGE}, gives=in_order(5, 9, 7))
    assert [task["id"] for task in OcpApi(client.double).tasks()] == [9, 7, 5]
