# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Inspections: how they run beside everything else, what their reports show and when, and what is refused."""

import pytest

RUN, REPORT, LAST = ("/api/v2/inspection/" + path for path in ("run", "report/{}", "report/info"))
RISKS = "/emulator/inspection-risks"
BODY = {"inspectionObjectType": "OB_CLUSTER", "objectIds": [1], "tags": 1}
STEPS = ["Prepare inspection", "Check inspection items", "Make inspection reports"]
ITEMS = [
    "host_clock_offset",
    "data_disk_usage",
    "replica_count",
    "major_compaction",
    "expired_backups",
    "tenant_memory_usage",
]
COUNTS = ("itemFinishedCount", "highRiskCount", "mediumRiskCount", "lowRiskCount")
NONE_FINISHED, ALL_GOOD = (0, 0, 0, 0), (6, 0, 0, 0)
# The documented keys, without those that are optional there; `endTime` is there once the task has ended.
TAG = {"id", "name", "description", "configType"}
OF_REPORT = {
    "id",
    "tag",
    "inspectionObject",
    "startTime",
    "taskId",
    "itemTotalCount",
    "taskState",
    "inspectionItems",
    "reportItems",
    *COUNTS,
}
OF_ITEM = {"id", "identifier", "name", "description", "targetType", "state", "configType", "tags", "rules"}
OF_REPORT_ITEM = {"itemId", "key", "target", "rawValue", "value"}
OF_LAST = {"reportId", "objectId", "objectName", "objectType", "tag", "startTime", "resultList"}
OF_RESULT = {"itemId", "name", "description", "reportItems", "rules"}


def run(emulated, *clusters, **more):
    """The task of an inspection."""
    [task] = emulated.data("POST", RUN, json={**BODY, "objectIds": clusters or [1], **more})["contents"]
    return task


def report(emulated, number=1):
    return emulated.get(REPORT.format(number))


def counts(emulated, number=1):
    return tuple(report(emulated, number)[name] for name in COUNTS)


def last(emulated, tag=1, **more):
    return emulated.get(LAST, params={"tagId": tag, "objectType": "OB_CLUSTER", **more})["contents"]


def plant(emulated, **risk):
    body = {"cluster": "orders", "item": "data_disk_usage", "level": "HIGH", "target": "10.0.0.1:2882", "value": "97"}
    return emulated.data("POST", RISKS, json={**body, **risk})["id"]


def clear(emulated, risk=None):
    emulated.request("DELETE", RISKS if risk is None else f"{RISKS}/{risk}").raise_for_status()


def risks(shown):
    """Item, level, target and value of each entry that is a risk."""
    return [(each["key"], each["level"], each["target"], each["value"]) for each in shown if "level" in each]


# --- The task -------------------------------------------------------------------------------------------------------


def test_inspection_is_one_task_of_all_its_clusters(emulated):
    task = run(emulated, 2, 1, 2)
    assert task.keys() == {
        "id",
        "name",
        "type",
        "status",
        "operation",
        "creator",
        "executor",
        "startTime",
        "prohibitRollback",
        "taskDefinitionId",
        "subtasks",
    }
    shown = [task[key] for key in ("name", "type", "status", "operation", "creator", "prohibitRollback")]
    assert shown == ["Inspection task", "MANUAL", "RUNNING", "EXECUTE", "admin", False]
    assert [step["description"] for step in emulated.steps(task["id"])] == STEPS
    tags = emulated.task(task["id"])["tags"]
    assert [(tag["objectType"], tag["clusterId"], tag["clusterName"]) for tag in tags] == [
        ("OB_CLUSTER", 2, "payments"),
        ("OB_CLUSTER", 1, "orders"),
    ]
    for cluster in (1, 2):
        listed = emulated.get("/api/v2/tasks/instances", params={"clusterId": cluster})["contents"]
        assert [each["id"] for each in listed] == [task["id"]]
    emulated.pass_time(3)
    assert emulated.task(task["id"])["status"] == "SUCCESSFUL"


@pytest.mark.parametrize(
    "options",
    [
        {"json": BODY},
        {"params": {**BODY, "objectIds": "1"}},
        {"params": {**BODY, "objectIds": " 1, 1 "}},
        {"params": {**BODY, "objectIds": ["1", "1"]}},
        {"params": {"tags": 1}, "json": {**BODY, "tags": None}},
        {"params": {**BODY, "objectIds": "1"}, "json": BODY},
        {"params": {"tags": 1, "objectIds": "1"}, "json": BODY},
    ],
)
def test_parameters_are_taken_from_query_and_body(emulated, options):
    [task] = emulated.data("POST", RUN, **options)["contents"]
    assert [tag["clusterId"] for tag in emulated.task(task["id"])["tags"]] == [1]


@pytest.mark.parametrize(
    ("options", "status", "word"),
    [
        ({}, 400, "inspectionObjectType"),
        *(({"json": {**BODY, name: None}}, 400, name) for name in BODY),
        *(({"params": {key: 1 for key in BODY if key != name}}, 400, "inspectionObjectType") for name in BODY),
        ({"json": {**BODY, "inspectionObjectType": "OB_ZONE"}}, 400, "inspectionObjectType"),
        ({"json": {**BODY, "objectIds": 1}}, 400, "objectIds"),
        ({"json": {**BODY, "objectIds": ["1"]}}, 400, "objectIds"),
        ({"json": {**BODY, "objectIds": []}}, 400, "objectIds"),
        ({"params": {**BODY, "objectIds": ""}}, 400, "objectIds"),
        ({"params": {**BODY, "objectIds": "1;2"}}, 400, "objectIds"),
        ({"params": {**BODY, "objectIds": "9" * 19}}, 400, "objectIds"),
        ({"json": {**BODY, "tags": 5}}, 400, "tags"),
        ({"json": {**BODY, "tags": 0}}, 400, "tags"),
        ({"json": {**BODY, "tags": "1"}}, 400, "tags"),
        ({"json": {**BODY, "tags": True}}, 400, "tags"),
        ({"json": {**BODY, "tags": [1]}}, 400, "tags"),
        ({"params": {**BODY, "tags": "basic"}}, 400, "tags"),
        ({"params": {"tags": 2}, "json": BODY}, 400, "tags"),
        ({"params": {"objectIds": "2"}, "json": BODY}, 400, "objectIds"),
        ({"json": [BODY]}, 400, "object"),
        ({"content": "tags=1"}, 415, "Content-Type"),
        ({"json": {**BODY, "objectIds": [1, 9]}}, 404, "Cluster 9"),
        *(({"json": {**BODY, "inspectionObjectType": kind}}, 501, kind) for kind in ("OB_TENANT", "HOST", "OB_PROXY")),
        ({"json": BODY, "auth": None}, 401, "credentials"),
    ],
)
def test_refused_inspection_starts_nothing(emulated, options, status, word):
    assert word in emulated.error(status, "POST", RUN, **options)["message"]
    assert emulated.get("/api/v2/tasks/instances")["contents"] == last(emulated) == []


def test_cluster_that_is_being_deleted_is_not_inspected(emulated):
    for server in (7, 8, 9):
        emulated.request("DELETE", f"/emulator/servers/{server}").raise_for_status()
    assert "DELETING" in emulated.error(400, "POST", RUN, json={**BODY, "objectIds": [1, 2]})["message"]


def test_user_without_permissions_inspects_and_reads_reports(emulated):
    emulated.data("POST", RUN, json=BODY, auth=("viewer", "ocp-demo-1"))
    assert report(emulated)["taskState"] == "RUNNING"
    for path in (REPORT.format(1), LAST):
        emulated.error(401, "GET", path, auth=None)


# --- Beside other tasks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("busy", ["refuse", "fail", "accept"])
def test_cluster_under_inspection_is_free_for_a_restart_and_the_other_way_round(start, busy):
    emulated = start(busy=busy)
    before = emulated.cluster(2)
    first = run(emulated, 2)["id"]
    emulated.pass_time(1)
    assert emulated.cluster(2) == before
    restart = emulated.restart_cluster(2)["id"]
    emulated.pass_time(1)
    second = run(emulated, 2)["id"]
    cluster = emulated.cluster(2)
    assert (cluster["operatingTaskInstanceId"], cluster["status"]) == (restart, "RESTARTING")
    emulated.pass_time(20)
    assert {emulated.task(each)["status"] for each in (first, restart, second)} == {"SUCCESSFUL"}
    assert emulated.restarts()["OB_CLUSTER", 2] == 1


def test_inspection_is_no_restart_and_leaves_no_trace_in_the_fleet(emulated):
    task = run(emulated, 1, 2)["id"]
    emulated.pass_time(3)
    assert emulated.restarts() == {}
    assert emulated.get("/emulator/absences")["contents"] == []
    assert emulated.get("/api/v2/audit/events")["contents"] == []
    [asked] = emulated.get("/emulator/requests", params={"method": "POST"})["contents"]
    assert (asked["path"], asked["taskId"]) == (RUN, task)


def test_failed_inspection_holds_nothing_and_its_report_has_no_results(emulated):
    emulated.plan("fail", "Check inspection items", message="no agent")
    task = run(emulated, 2)["id"]
    emulated.pass_time(3)
    failed = report(emulated)
    assert (failed["taskState"], failed["endTime"], failed["reportItems"]) == (
        "FAILED",
        emulated.task(task)["finishTime"],
        [],
    )
    assert counts(emulated) == NONE_FINISHED
    assert emulated.restart_cluster(2)["status"] == "RUNNING"
    emulated.pass_time(20)
    emulated.steer(task, "retry").raise_for_status()
    assert (report(emulated)["taskState"], "endTime" in report(emulated)) == ("RUNNING", False)
    emulated.pass_time(3)
    assert (report(emulated)["taskState"], counts(emulated)) == ("SUCCESSFUL", ALL_GOOD)


def test_inspection_that_was_rolled_back_has_no_results(emulated):
    plant(emulated)
    emulated.plan("fail", "Make inspection reports")
    task = run(emulated)["id"]
    emulated.pass_time(3)
    emulated.steer(task, "rollback").raise_for_status()
    emulated.pass_time(3)
    assert (emulated.task(task)["operation"], report(emulated)["taskState"]) == ("ROLLBACK", "SUCCESSFUL")
    assert (counts(emulated), last(emulated)[0]["resultList"]) == (NONE_FINISHED, [])


# --- Reports --------------------------------------------------------------------------------------------------------


def test_report_is_the_last_result_from_the_beginning_and_ends_with_its_task(emulated):
    task = run(emulated)
    begun = report(emulated)
    assert begun.keys() == OF_REPORT
    assert (begun["taskId"], begun["taskState"], begun["startTime"]) == (task["id"], "RUNNING", task["startTime"])
    assert (begun["itemTotalCount"], counts(emulated), begun["reportItems"]) == (6, NONE_FINISHED, [])
    [found] = last(emulated)
    assert (found.keys(), found["reportId"], found["resultList"]) == (OF_LAST, 1, [])
    emulated.pass_time(3)
    ended = report(emulated)
    assert ended.keys() == OF_REPORT | {"endTime"}
    assert (ended["taskState"], ended["endTime"]) == ("SUCCESSFUL", emulated.task(task["id"])["finishTime"])
    assert counts(emulated) == ALL_GOOD
    [found] = last(emulated)
    assert (found.keys(), found["endTime"]) == (OF_LAST | {"endTime"}, ended["endTime"])


def test_report_and_last_result_have_the_documented_keys(emulated):
    run(emulated, tags=3)
    plant(emulated)
    emulated.pass_time(3)
    shown, [found] = report(emulated), last(emulated, tag=3)
    assert shown["tag"].keys() == TAG
    assert (shown["tag"]["id"], shown["tag"]["name"]) == (3, "In-depth inspection")
    assert shown["inspectionObject"] == {"objectId": 1, "inspectionObjectType": "OB_CLUSTER", "name": "orders"}
    assert [item["identifier"] for item in shown["inspectionItems"]] == ITEMS
    assert {frozenset(item) for item in shown["inspectionItems"]} == {frozenset(OF_ITEM)}
    assert {frozenset(rule) for item in shown["inspectionItems"] for rule in item["rules"]} == {
        frozenset({"level", "validator"})
    }
    assert [item["key"] for item in shown["reportItems"]] == ITEMS
    assert {frozenset(item) for item in shown["reportItems"] if "level" not in item} == {frozenset(OF_REPORT_ITEM)}
    assert (found["objectId"], found["objectName"], found["objectType"]) == (1, "orders", "OB_CLUSTER")
    assert found["tag"] == shown["tag"]
    assert {frozenset(result) for result in found["resultList"]} == {frozenset(OF_RESULT)}
    assert [each for result in found["resultList"] for each in result["reportItems"]] == shown["reportItems"]


def test_last_result_is_by_cluster_and_scenario(emulated):
    run(emulated, 1, 2)
    run(emulated, 2)
    run(emulated, 1, tags=2)

    def ids(**filters):
        return [(each["objectName"], each["reportId"]) for each in last(emulated, **filters)]

    assert ids() == [("orders", 1), ("payments", 3)]
    assert ids(objectId=2) == [("payments", 3)]
    assert ids(tag=2) == [("orders", 4)]
    assert ids(tag=2, objectId=2) == ids(tag=4) == []
    assert [report(emulated, number)["inspectionObject"]["name"] for number in (1, 2, 3)] == [
        "orders",
        "payments",
        "payments",
    ]


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        (REPORT.format(9), 404, "Inspection report 9"),
        (REPORT.format("x"), 400, "'id'"),
        (LAST, 400, "tagId"),
        (f"{LAST}?tagId=1", 400, "objectType"),
        (f"{LAST}?objectType=OB_CLUSTER", 400, "tagId"),
        (f"{LAST}?tagId=5&objectType=OB_CLUSTER", 400, "tagId"),
        (f"{LAST}?tagId=1&objectType=OB_ZONE", 400, "objectType"),
        (f"{LAST}?tagId=1&objectType=OB_CLUSTER&objectId=x", 400, "objectId"),
        (f"{LAST}?tagId=1&objectType=OB_CLUSTER&objectId=9", 404, "Cluster 9"),
        *((f"{LAST}?tagId=1&objectType={kind}", 501, kind) for kind in ("OB_TENANT", "HOST", "OB_PROXY")),
    ],
)
def test_reports_that_are_not_there_are_refused(emulated, path, status, word):
    assert word in emulated.error(status, "GET", path)["message"]


# --- Planted risks --------------------------------------------------------------------------------------------------


def test_planted_risk_shows_in_reports_that_end_after_it_until_it_is_cleared(emulated):
    found = ("data_disk_usage", "HIGH", "10.0.0.1:2882", "97")
    run(emulated, 1, 2)
    emulated.pass_time(3)
    risk = plant(emulated)
    run(emulated, 1, 2)
    emulated.pass_time(3)
    clear(emulated, risk)
    run(emulated)
    assert [counts(emulated, number) for number in (1, 3)] == [ALL_GOOD, (6, 1, 0, 0)]
    assert risks(report(emulated, 3)["reportItems"]) == [found]
    assert risks(report(emulated, 4)["reportItems"]) == []
    emulated.pass_time(3)
    assert counts(emulated, 5) == ALL_GOOD
    assert last(emulated)[0]["reportId"] == 5


def test_risk_that_is_planted_or_cleared_during_an_inspection_is_judged_at_its_end(emulated):
    stays, goes = plant(emulated, item="replica_count"), plant(emulated)
    run(emulated)
    emulated.pass_time(2.9)
    clear(emulated, goes)
    plant(emulated, item="expired_backups", level="LOW", target=None)
    emulated.pass_time(0.1)
    clear(emulated, stays)
    assert risks(report(emulated)["reportItems"]) == [
        ("replica_count", "HIGH", "10.0.0.1:2882", "97"),
        ("expired_backups", "LOW", "orders", "97"),
    ]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([("data_disk_usage", "LOW")], (6, 0, 0, 1)),
        ([("data_disk_usage", "LOW"), ("replica_count", "MEDIUM"), ("expired_backups", "MEDIUM")], (6, 0, 2, 1)),
        ([("data_disk_usage", "LOW"), ("data_disk_usage", "HIGH"), ("data_disk_usage", "HIGH")], (6, 1, 0, 0)),
    ],
)
def test_item_counts_once_by_its_highest_level(emulated, levels, expected):
    for item, level in levels:
        plant(emulated, item=item, level=level)
    run(emulated)
    emulated.pass_time(3)
    assert counts(emulated) == expected
    assert len(risks(report(emulated)["reportItems"])) == len(levels)


def test_all_risks_are_cleared_at_once(emulated):
    plant(emulated)
    plant(emulated, item="replica_count")
    clear(emulated)
    run(emulated)
    emulated.pass_time(3)
    assert counts(emulated) == ALL_GOOD


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", RISKS, {}, 400),
        ("POST", RISKS, {"cluster": "orders"}, 400),
        ("POST", RISKS, {"cluster": "orders", "item": "weather"}, 400),
        ("POST", RISKS, {"cluster": "orders", "item": "replica_count", "level": "SEVERE"}, 400),
        ("POST", RISKS, {"cluster": "orders", "item": "replica_count", "value": 3}, 400),
        ("POST", RISKS, {"cluster": "orders", "item": "replica_count", "colour": "red"}, 400),
        ("POST", RISKS, {"cluster": "nowhere", "item": "replica_count"}, 404),
        ("DELETE", f"{RISKS}/9", None, 404),
        ("DELETE", f"{RISKS}/x", None, 400),
    ],
)
def test_invalid_risk_is_refused(emulated, method, path, body, status):
    emulated.error(status, method, path, **({} if body is None else {"json": body}))
    run(emulated)
    emulated.pass_time(3)
    assert counts(emulated) == ALL_GOOD


def test_reports_and_risks_go_back_with_a_snapshot(emulated):
    plant(emulated)
    emulated.request("PUT", "/emulator/snapshots/planted").raise_for_status()
    clear(emulated)
    run(emulated)
    emulated.request("POST", "/emulator/snapshots/planted/restore").raise_for_status()
    assert last(emulated) == []
    run(emulated)
    emulated.pass_time(3)
    assert counts(emulated) == (6, 1, 0, 0)


def test_replica_that_lags_shows_the_report_late(emulated):
    plant(emulated)
    fault = {
        "kind": "answer",
        "action": "lag",
        "seconds": 10,
        "times": None,
        "match": {"path": "*/inspection/report/*"},
    }
    emulated.data("POST", "/emulator/faults", json=fault)
    run(emulated)
    assert last(emulated) == []
    emulated.pass_time(12)
    assert (report(emulated)["taskState"], counts(emulated)) == ("RUNNING", NONE_FINISHED)
    emulated.pass_time(1)
    assert (report(emulated)["taskState"], counts(emulated)) == ("SUCCESSFUL", (6, 1, 0, 0))
