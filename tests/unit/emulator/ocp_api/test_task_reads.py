# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the task list, one task and the log of a subtask show, and their filters."""

import pytest

LIST = "/api/v2/tasks/instances"

TASK = {
    "id",
    "name",
    "taskDefinitionId",
    "creator",
    "status",
    "type",
    "operation",
    "executor",
    "prohibitRollback",
    "isRemote",
    "createTime",
    "startTime",
    "subtasks",
    "tags",
}
SUBTASK = {
    "id",
    "name",
    "description",
    "status",
    "operation",
    "upstreams",
    "downstreams",
    "nodeType",
    "parallelIdx",
    "prohibitRollback",
    "prohibitSkip",
    "runTime",
    "seriesId",
    "taskId",
    "timeout",
    "createTime",
}
BASIC = {"id", "name", "creator", "status", "operation", "startTime", "subtasks", "tags"}


@pytest.fixture
def four(emulated):
    """One task of each kind, the first of which has ended: the emulator and the ids by kind."""
    ids = {"arbitration": emulated.restart_arbitration()["id"]}
    emulated.pass_time(6)
    ids["server"] = emulated.restart_server(3)["id"]
    ids["agents"] = emulated.restart_agents(2, 3)["id"]
    ids["cluster"] = emulated.restart_cluster(2)["id"]
    return emulated, ids


def listed(emulated, **filters):
    return [task["id"] for task in emulated.get(LIST, params=filters)["contents"]]


@pytest.mark.parametrize(
    ("filters", "kinds"),
    [
        ({}, ["cluster", "agents", "server", "arbitration"]),
        ({"name": "OB"}, ["cluster", "server"]),
        ({"name": "restart ob"}, ["cluster", "server"]),
        ({"name": "Batch restart OCP agent"}, ["agents"]),
        ({"name": "nothing like it"}, []),
        ({"name": "%"}, []),
        ({"status": "RUNNING"}, ["cluster", "agents", "server"]),
        ({"status": "SUCCESSFUL"}, ["arbitration"]),
        ({"status": "FAILED"}, []),
        ({"status": "FAILED,SUCCESSFUL"}, ["arbitration"]),
        ({"status": ["RUNNING", "SUCCESSFUL"]}, ["cluster", "agents", "server", "arbitration"]),
        ({"type": "MANUAL"}, ["cluster", "agents", "server", "arbitration"]),
        ({"type": "SCHEDULED,MANUAL"}, ["cluster", "agents", "server", "arbitration"]),
        ({"type": "SYS_ONECE"}, []),
        ({"clusterId": 1}, ["server"]),
        ({"clusterId": 2}, ["cluster"]),
        ({"clusterId": 3}, []),
        ({"cluterName": "orders"}, ["server"]),
        ({"clusterName": "payments"}, ["cluster"]),
        ({"clusterName": "PAY"}, ["cluster"]),
        ({"cluterName": "der"}, ["server"]),
        ({"cluterName": "ordersx"}, []),
        ({"status": " RUNNING , FAILED,"}, ["cluster", "agents", "server"]),
        ({"status": ""}, ["cluster", "agents", "server", "arbitration"]),
        ({"sort": "name,asc"}, ["agents", "arbitration", "cluster", "server"]),
        ({"sort": " name , DESC "}, ["server", "cluster", "arbitration", "agents"]),
        ({"hostId": 3}, ["agents", "server"]),
        ({"hostId": 2}, ["agents"]),
        ({"hostId": 10}, ["arbitration"]),
        ({"hostId": 3, "name": "server"}, ["server"]),
        ({"tenantId": 1}, []),
        ({"clusterId": 1, "tenantName": "sys"}, []),
        ({"sort": "id,asc"}, ["arbitration", "server", "agents", "cluster"]),
        ({"sort": "id,desc"}, ["cluster", "agents", "server", "arbitration"]),
    ],
)
def test_list_filters_select_tasks(four, filters, kinds):
    emulated, ids = four
    assert listed(emulated, **filters) == [ids[kind] for kind in kinds]


@pytest.mark.parametrize(
    ("page", "size", "places", "pages"),
    [
        (1, 3, [0, 1, 2], 2),
        (2, 3, [3], 2),
        (3, 3, [], 2),
        (1, 2, [0, 1], 2),
        (1, 4, [0, 1, 2, 3], 1),
        (1, 2000, [0, 1, 2, 3], 1),
    ],
)
def test_list_is_paged(four, page, size, places, pages):
    emulated, _ids = four
    everything = listed(emulated)
    found = emulated.get(LIST, params={"page": page, "size": size})
    assert [task["id"] for task in found["contents"]] == [everything[place] for place in places]
    assert found["page"] == {"number": page, "size": size, "totalElements": 4, "totalPages": pages}


def test_page_has_ten_tasks_by_default(emulated):
    for _restart in range(11):
        emulated.restart_arbitration()
        emulated.pass_time(5)
    found = emulated.get(LIST)
    assert len(found["contents"]) == 10
    assert found["page"] == {"number": 1, "size": 10, "totalElements": 11, "totalPages": 2}


def test_empty_list_has_zero_pages(emulated):
    assert emulated.get(LIST) == {
        "contents": [],
        "page": {"number": 1, "size": 10, "totalElements": 0, "totalPages": 0},
    }


def test_listed_task_has_no_links_and_a_lower_case_operation(four):
    emulated, ids = four
    by_id = {task["id"]: task for task in emulated.get(LIST)["contents"]}
    server = by_id[ids["server"]]
    assert set(server) == BASIC | {"cluster"}
    assert server["cluster"] == {"id": 1, "name": "orders", "obClusterId": 101, "type": "PRIMARY"}
    assert (server["operation"], server["creator"]) == ("execute", {"id": 100, "name": "admin"})
    assert set(server["subtasks"][0]) == {"id", "name", "description", "status", "operation"}
    assert set(by_id[ids["agents"]]) == BASIC
    assert set(by_id[ids["arbitration"]]) == BASIC | {"finishTime"}


def test_task_detail_has_all_fields(four):
    emulated, ids = four
    server = emulated.task(ids["server"])
    assert set(server) == TASK | {"cluster"}
    assert (server["operation"], server["creator"]) == ("EXECUTE", {"id": 100, "name": "admin"})
    assert {frozenset(subtask) for subtask in server["subtasks"]} == {frozenset(SUBTASK)}
    ended = emulated.task(ids["arbitration"])
    assert set(ended) == TASK | {"finishTime"}
    assert set(ended["subtasks"][0]) == SUBTASK | {"startTime", "finishTime", "executor"}


def test_task_detail_matches_the_restart_response(emulated):
    answered = emulated.restart_server(2)
    read = emulated.task(answered["id"])
    shared = answered.keys() & read.keys() - {"creator", "subtasks"}
    assert {key: answered[key] for key in shared} == {key: read[key] for key in shared}
    assert [{key: step[key] for key in answered["subtasks"][0]} for step in read["subtasks"]] == answered["subtasks"]


def test_cluster_restart_detail_lists_its_tasks_as_subtasks(emulated):
    answered = emulated.restart_cluster(1)
    read = emulated.task(answered["id"])
    assert "tasks" not in read
    assert {step["id"] for step in read["subtasks"]} == {step["id"] for step in answered["tasks"]}


def test_tags_show_the_targets_of_a_task(four):
    emulated, ids = four
    tags = {kind: emulated.task(number)["tags"] for kind, number in ids.items()}
    assert tags["server"] == [
        {
            "objectType": "OB_SERVER",
            "deleted": False,
            "clusterId": 1,
            "clusterName": "orders",
            "clusterType": "PRIMARY",
            "obClusterId": 101,
            "obVersion": "4.3.5.2",
            "zoneName": "zone2",
            "serverId": 3,
            "hostId": 3,
            "svrIp": "10.0.0.3",
        }
    ]
    assert [(tag["objectType"], tag["hostId"], tag["svrIp"]) for tag in tags["agents"]] == [
        ("HOST", 2, "10.0.0.2"),
        ("HOST", 3, "10.0.0.3"),
    ]
    assert [(tag["objectType"], tag["clusterId"]) for tag in tags["cluster"]] == [("OB_CLUSTER", 2)]
    (service,) = tags["arbitration"]
    assert (service["arbitrationServiceId"], service["arbitrationServiceSvrPort"]) == (1, 2888)
    assert emulated.get(LIST, params={"clusterId": 2})["contents"][0]["tags"] == tags["cluster"]


def test_subtask_log_starts_with_an_attempt_header(emulated):
    task_id = emulated.restart_server(2)["id"]
    step = emulated.steps(task_id)[3]
    path = f"{LIST}/{task_id}/subtasks/{step['id']}/log"
    assert emulated.get(path) == {"log": ""}
    emulated.pass_time(3.5)
    header = "############{EXECUTE}{2026-11-21T12:00:03.1+08:00}############\n"
    assert emulated.get(path)["log"].startswith(header)
    emulated.pass_time(0.5)
    lines = emulated.get(path)["log"].splitlines()
    assert lines[-2].endswith("server 2 (10.0.0.2:2882): process stopped")
    assert lines[-1].endswith("RUNNING -> SUCCESSFUL")


def test_log_of_a_subtask_running_at_once_has_an_attempt_header(emulated):
    task_id = emulated.restart_cluster(2)["id"]
    log = emulated.get(f"{LIST}/{task_id}/subtasks/{emulated.steps(task_id)[0]['id']}/log")["log"]
    assert log.startswith("############{EXECUTE}{2026-11-21T12:00:00+08:00}############\n")
