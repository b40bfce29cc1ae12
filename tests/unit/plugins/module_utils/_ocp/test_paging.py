# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The pages of a list end, whatever number of pages the service announces."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ResponseUnreadable
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import paging
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, response

READS = {
    "clusters": lambda api: api.clusters(),
    "servers": lambda api: api.servers(1),
    "hosts": lambda api: api.hosts(),
    "services": lambda api: api.arbitration_services(),
    "tasks": lambda api: api.tasks(),
    "new tasks": lambda api: api.tasks(above=5),
}


class Endless:
    """A client whose lists have a billion pages."""

    def __init__(self, entries: int, *, size: int = 0, values: int = 0, timeout: float = 5.0) -> None:
        self.timeout = timeout
        self.asked = 0
        self._numbers = itertools.count(10**9, -1)
        self._entries = entries
        self._weight = (size, values)

    def get(self, _path, _params=None) -> ApiResponse:
        self.asked += 1
        assert self.asked < 5000, "it never ends"
        contents = [{"id": next(self._numbers)} for _entry in range(self._entries)]
        return ApiResponse({"contents": contents, "page": {"totalPages": 10**9}}, URL, "trace-1", *self._weight)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_empty_page_is_the_last(read):
    client = Endless(0)
    assert read(OcpApi(client)) == []
    assert client.asked == 1


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(
    ("client", "why", "asked"),
    [
        (lambda: Endless(1), "has more than 1,000 pages", 1000),
        (lambda: Endless(2000), "has more than 50,000 entries", 26),
        (lambda: Endless(1, size=10 * 1024**2), "has more than 256 MiB", 26),
        (lambda: Endless(1, timeout=0.0), "did not arrive within 0 seconds (3 x timeout)", 1),
    ],
    ids=["pages", "entries", "bytes", "time"],
)
def test_endless_list_names_the_limit(client, why, asked, read):
    endless = client()
    with pytest.raises(ResponseUnreadable) as raised:
        read(OcpApi(endless))
    assert str(raised.value).startswith(f"The list at {URL} {why}, so reading stopped. ")
    assert raised.value.facts == {"url": URL, "trace_id": "trace-1"}
    assert endless.asked == asked


@pytest.mark.parametrize("name", ["clusters", "servers", "hosts", "services"])
def test_list_that_is_kept_whole_has_a_limit_of_values(name):
    endless = Endless(1, values=100_000)
    with pytest.raises(ResponseUnreadable, match="has more than 750,000 values, so reading stopped"):
        READS[name](OcpApi(endless))
    assert endless.asked == 8


def test_many_old_tasks_are_read_without_their_steps():
    """What decides is read by its id: 10,000 tasks of 13 steps have more values than a list may have."""

    def get(_path, params):
        first = 10_000 - 2000 * params["page"]
        shown = [{"id": first + number, "subtasks": [{"id": 1}]} for number in range(2000, 0, -1) if first >= 0]
        page = {"contents": shown, "page": {"totalPages": 5, "totalElements": 10_000}}
        return ApiResponse(page, URL, "trace-1", 1, 700_000)

    found = OcpApi(SimpleNamespace(timeout=5.0, get=get)).tasks()
    assert len(found) == 10_000
    assert [number for number, task in enumerate(found) if "subtasks" in task] == list(range(2000))


def steps(number):
    return {"id": 7, "status": "RUNNING", "subtasks": [{"id": each} for each in range(number)]}


def test_task_with_too_many_subtasks_is_not_used(client):
    most = paging.MOST_ITEMS
    client.expect("get", "/api/v2/tasks/instances/7", gives=response(steps(most)))
    client.expect("get", "/api/v2/tasks/instances/7", gives=response(steps(most + 1)))
    api = OcpApi(client.double)
    assert len(api.task(7)["subtasks"]) == most
    with pytest.raises(ResponseUnreadable, match="Task 7 has more than 50,000 subtasks, so it was ignored"):
        api.task(7)


def test_started_task_with_too_many_subtasks_keeps_its_id(client):
    client.expect("post", "/api/v2/ob/clusters/1/restart", gives=response(steps(paging.MOST_ITEMS + 1)))
    started = OcpApi(client.double).restart_cluster(1).data
    assert (started["id"], started["subtasks"]) == (7, None)


def test_limits_leave_room_for_a_large_fleet():
    assert paging.MOST_ITEMS >= 50_000
    assert paging.MOST_PAGES * 100 >= paging.MOST_ITEMS


def pages(*each, total):
    """Give a client with these pages of ids, which announce so many entries, or each its own number."""
    totals = total if isinstance(total, tuple) else (total,) * len(each)
    answers = [
        response({"contents": list(map(entry, ids)), "page": {"totalPages": len(each), "totalElements": announced}})
        for ids, announced in zip(each, totals, strict=True)
    ]
    return SimpleNamespace(timeout=5.0, get=lambda _path, params: answers[params["page"] - 1])


def entry(number):
    return {} if number is None else {"id": number}


@pytest.mark.parametrize(
    ("shown", "total", "different"),
    [
        (([],), 10**9, 0),
        (([3, 2], []), 4, 2),
        (([3, 2, 1],), 31, 3),
        (([4, 3], [4, 3]), 4, 2),
        (([5, 4], [2, 1]), (5, 5), 4),
    ],
    ids=[
        "empty",
        "empty second page",
        "fewer than announced",
        "the same page again",
        "one left out",
    ],
)
def test_list_of_tasks_that_is_not_complete_is_an_error(shown, total, different):
    with pytest.raises(ResponseUnreadable, match=rf"has {different} different entries .* says that there are"):
        OcpApi(pages(*shown, total=total)).tasks()


@pytest.mark.parametrize(
    "read",
    [
        OcpApi.hosts,
        OcpApi.clusters,
        OcpApi.arbitration_services,
        lambda api: api.servers(31),
        lambda api: api.tenants(31),
    ],
    ids=["hosts", "clusters", "arbitration services", "servers", "tenants"],
)
def test_any_list_without_an_entry_that_announces_some_is_an_error(read):
    with pytest.raises(ResponseUnreadable, match=r"has 0 different entries .* says that there are 1,000,000,000"):
        read(OcpApi(pages([], total=10**9)))
    assert read(OcpApi(pages([], total=0))) == []


@pytest.mark.parametrize(
    "totals",
    [
        lambda _shown: {},
        lambda _shown: {"totalPages": 0, "totalElements": 0},
        lambda _shown: {"totalPages": 1, "totalElements": 3},
        lambda shown: {"totalPages": 1, "totalElements": len(shown)},
    ],
    ids=["none", "zero", "those of the first page", "those of each page"],
)
@pytest.mark.parametrize("read", [OcpApi.tasks, OcpApi.clusters], ids=["tasks", "clusters"])
@pytest.mark.parametrize("last", [[4, 5], [4, 5, 6]], ids=["a short page", "a full page"])
def test_page_that_is_full_by_its_own_size_is_not_the_last_whatever_the_totals_say(last, read, totals):
    """A service that has a largest size of its own, shows the oldest first, and counts what it shows."""
    answers = {1: [1, 2, 3], 2: last}

    def get(_path, params):
        shown = answers.get(params["page"], [])
        page = {"number": params["page"], "size": 3, **totals(shown)}
        return response({"contents": list(map(shown_entry, shown)), "page": page})

    found = [one["id"] for one in read(OcpApi(SimpleNamespace(timeout=5.0, url=URL, get=get)))]
    assert sorted(found) == [1, 2, 3, *last]


def test_service_that_shows_the_same_page_for_each_number_is_asked_twice():
    asked = []

    def get(_path, params):
        asked.append(params["page"])
        page = {"number": 1, "size": 2, "totalPages": 1, "totalElements": 2}
        return response({"contents": list(map(entry, [2, 1])), "page": page})

    assert [task["id"] for task in OcpApi(SimpleNamespace(timeout=5.0, get=get)).tasks()] == [2, 1]
    assert asked == [1, 2]


# What a run is for: one that is missing there is left out of a fleet restart, and the end is green.
EVERY = pytest.mark.parametrize(
    "read",
    [OcpApi.hosts, OcpApi.clusters, OcpApi.obproxy_clusters, lambda api: api.zones(31), lambda api: api.servers(31)],
    ids=["hosts", "clusters", "OBProxy clusters", "zones", "servers"],
)


@EVERY
def test_list_of_what_a_run_is_for_is_complete_or_an_error(read):
    with pytest.raises(ResponseUnreadable, match=r"has 2 different entries .* says that there are 3"):
        read(OcpApi(pages([3, 2], total=3)))


@EVERY
def test_one_that_moves_to_the_page_before_is_not_missed_and_none_is_there_twice(read):
    there = [4, 3, 2, 1]

    def get(_path, params):
        shown = there[2 * (params["page"] - 1) :][:2]
        page = {"totalPages": 2, "totalElements": len(there)}
        if params["page"] == 1 and 4 in there:
            there.remove(4)
        return response({"contents": [shown_entry(number) for number in shown], "page": page})

    found = [one["id"] for one in read(OcpApi(SimpleNamespace(url=URL, timeout=5.0, get=get)))]
    assert set(found) >= {3, 2, 1}
    assert len(found) == len(set(found))


def shown_entry(number):
    return {"id": number, "ip": "10.1.0.1", "zoneName": "zone1"}


@pytest.mark.parametrize(
    ("shown", "total"),
    [
        (([3, 2], [1]), 3),
        (([3, 2], [2, 1]), (3, 4)),
        (([4, 3], [1]), (4, 3)),
        (([],), 0),
        (([3, 2, 1],), None),
    ],
    ids=[
        "whole",
        "one began meanwhile",
        "one was archived meanwhile",
        "empty",
        "nothing announced",
    ],
)
def test_list_of_tasks_that_changes_while_it_is_read_is_complete(shown, total):
    numbers = {number for page in shown for number in page}
    assert {task["id"] for task in OcpApi(pages(*shown, total=total)).tasks()} == numbers


@pytest.mark.parametrize("number", [None, "no", 0, -1, True])
def test_list_with_a_task_that_has_no_id_proves_nothing(number):
    """It may be a restart of the target, and cannot be read by its id."""
    with pytest.raises(ResponseUnreadable, match=r"\(tasks with ids\)"):
        OcpApi(pages([number, 2], total=2)).tasks()


@pytest.mark.parametrize(
    ("removed", "after"),
    [([9], 1), ([9, 8, 7], 2), ([9, 8, 7, 6, 5, 4, 3], 2)],
    ids=["one", "a page", "more than two pages"],
)
def test_task_that_moves_to_the_page_before_is_not_missed(removed, after):
    """Entries of the pages that were read are archived, and those after them move forward."""
    there = list(range(9, 0, -1))

    def get(_path, params):
        first = 3 * (params["page"] - 1)
        shown = there[first : first + 3]
        page = {"totalPages": -(-len(there) // 3), "totalElements": len(there)}
        if params["page"] == after:
            there[:] = [number for number in there if number not in removed]
        return response({"contents": list(map(entry, shown)), "page": page})

    found = {task["id"] for task in OcpApi(SimpleNamespace(timeout=5.0, get=get)).tasks()}
    assert found >= set(there)


def test_application_servers_that_announce_different_numbers_end():
    asked = []

    def get(_path, params):
        asked.append(params["page"])
        page = {"totalPages": 2, "totalElements": 4 if len(asked) % 2 else 3}
        return response({"contents": list(map(entry, [4, 3] if params["page"] == 1 else [2])), "page": page})

    assert [task["id"] for task in OcpApi(SimpleNamespace(timeout=5.0, get=get)).tasks()] == [4, 3, 2]
    assert len(asked) < 20
