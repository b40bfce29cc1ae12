# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An inspection of clusters: what is asked, which report counts, why there is none, and which risks are new."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotFound,
    PermissionDenied,
    RequestRefused,
    ResponseLost,
    ResponseUnreadable,
    ServiceError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.inspection import (
    inspect_clusters,
    inspection_words,
    new_risks,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock, response

URL = "http://ocp.test/api/v2/inspection/run"
ITEMS = [{"id": 7, "name": "Clock offset"}, {"id": 8, "name": "Disk usage"}]
RISKY = {"itemId": 8, "target": "10.0.0.1", "value": 1234567.5, "level": "HIGH"}
HARMLESS = {"itemId": 7, "target": "10.0.0.1", "value": "0.1 ms"}
DEFECT = {"url": URL, "trace_id": "ab12"}


class Service:
    """Answers one inspection. ``reports`` are the ids of the newest report, one for each look, then the last again."""

    def __init__(self, *, start=None, status="SUCCESSFUL", reports=(12,), task_ids=(1007,), finished=2):
        self.client = self
        self.retry_after = 0.0
        self.trace_id = None
        self.asked = []
        self._start = start
        self._status = status
        self._reports = list(reports)
        self._task_ids = task_ids
        self._finished = finished

    def post(self, path, query, body):
        self.asked.append((path, query, body))
        if isinstance(self._start, ServiceError):
            raise self._start
        return response({"contents": [{"id": number, "status": "RUNNING"} for number in self._task_ids]})

    def get(self, path, query=None):
        self.asked.append((path, query))
        if path.endswith("/info"):
            number = self._reports.pop(0) if len(self._reports) > 1 else self._reports[0]
            return response({"contents": [{"reportId": number, "objectId": int(query["objectId"])}]})
        number = int(path.rsplit("/", 1)[1])
        counts = {
            "itemTotalCount": 2,
            "itemFinishedCount": self._finished,
            "highRiskCount": 1,
            "mediumRiskCount": 0,
            "lowRiskCount": 0,
        }
        times = {"startTime": "2026-05-04T03:00:00+08:00", "endTime": "2026-05-04T03:02:00+08:00"}
        found = {"inspectionItems": ITEMS, "reportItems": [HARMLESS, RISKY]}
        return response({"id": number, "taskId": 1007 if number == 12 else 900, **times, **counts, **found})

    def task(self, task_id):
        return {"id": task_id, "name": "Inspection task", "status": self._status, "operation": "EXECUTE"}


def inspect(service, clock=None):
    policy = PollPolicy(60, 1, lambda _line, _failed: None)
    return inspect_clusters(service, {1: "orders"}, "in_depth", policy, (clock or FakeClock()).clock)


def test_where_the_parameters_belong_is_left_to_the_service():
    service = Service()
    inspect(service)
    body = {"inspectionObjectType": "OB_CLUSTER", "objectIds": [1], "tags": 3}
    assert service.asked[0] == ("/api/v2/inspection/run", {**body, "objectIds": "1", "tags": "3"}, body)


def test_report_is_told_with_its_risks():
    [found] = inspect(Service())
    risk = {"item": "Disk usage", "target": "10.0.0.1", "value": "1234567.5", "level": "HIGH"}
    assert found == {
        "cluster": "orders",
        "cluster_id": 1,
        "scenario": "in_depth",
        "task_id": 1007,
        "report_id": 12,
        "start_time": "2026-05-04T03:00:00+08:00",
        "end_time": "2026-05-04T03:02:00+08:00",
        "high_risks": 1,
        "medium_risks": 0,
        "low_risks": 0,
        "risks": [risk],
        "reason": None,
    }
    assert inspection_words(found) == "orders: 1 high, 0 medium, 0 low risks (report 12)"


def test_report_of_an_earlier_inspection_does_not_count():
    assert inspect(Service(reports=(11, 11, 12)))[0]["report_id"] == 12
    [found] = inspect(Service(reports=(11,)))
    assert (found["report_id"], found["risks"]) == (None, [])
    assert found["reason"] == "OCP does not show its report"


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        (
            Service(start=NotFound("There is no such path.", status=404, reason="", url=URL)),
            "OCP refuses it with status 404; the Community Edition has no inspections",
        ),
        (
            Service(start=RequestRefused("It was refused.", status=400, reason="No such tags.", url=URL)),
            "OCP refuses it with status 400 (No such tags); the Community Edition has no inspections",
        ),
        (
            Service(start=ResponseUnreadable("It is a page.", **DEFECT).without_envelope()),
            "the answer is not of an OCP; the Community Edition has no inspections",
        ),
        (
            Service(start=PermissionDenied("No permission.", status=403, reason="", url=URL)),
            "this user may not start an inspection: No permission",
        ),
        (Service(start=ResponseLost("No answer.", **DEFECT)), "it could not be started: No answer"),
        (Service(task_ids=()), "the answer of OCP names no task"),
        (Service(status="FAILED"), "task 1007 (Inspection task) FAILED"),
        (Service(finished=1), "report 12 has only 1 of 2 items"),
    ],
)
def test_without_a_report_the_reason_is_told(service, reason):
    [found] = inspect(service)
    assert (found["reason"], found["report_id"], found["high_risks"]) == (reason, None, None)
    assert inspection_words(found) == f"orders: no report, since {reason}"


def test_inspection_that_does_not_end_is_left_after_fifteen_minutes():
    clock = FakeClock(0.0)
    [found] = inspect(Service(status="RUNNING"), clock)
    assert found["reason"] == "task 1007 has not ended within 15 minutes"
    assert 900 <= clock.time < 1000


def entry(*risks, **more):
    told = [dict(zip(("item", "target", "level"), risk, strict=True)) for risk in risks]
    return {"cluster": "orders", "cluster_id": 1, "report_id": 12, "risks": told, "reason": None, **more}


OFFSET, DISK = ("Clock offset", "10.0.0.1", "HIGH"), ("Disk usage", "10.0.0.2", "HIGH")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (entry(), entry(), []),
        (entry(OFFSET), entry(OFFSET), []),
        (entry(OFFSET, DISK), entry(OFFSET), []),
        (entry(), entry(("Backups", None, "LOW")), []),
        (entry(OFFSET), entry(OFFSET, DISK), ["1 high risk that its inspection before did not find: Disk usage of"]),
        (entry(), entry(("Disk usage", None, "HIGH")), ["did not find: Disk usage. See report 12 of OCP."]),
        (
            entry(("Disk usage", "10.0.0.2", "LOW")),
            entry(DISK),
            ["1 high risk that its inspection before did not find: Disk usage of 10.0.0.2. See report 12 of OCP."],
        ),
        (entry(reason="x"), entry(DISK), []),
        (entry(), entry(*[("Disk usage", f"10.0.0.{n}", "HIGH") for n in range(7)]), ["; and 2 more. See"]),
    ],
)
def test_only_new_high_risks_are_a_warning(before, after, told):
    found = [*new_risks([after], [before])]
    assert len(found) == len(told)
    assert all(words in warning for words, warning in zip(told, found, strict=True))


def test_risks_of_another_cluster_are_not_compared():
    assert [*new_risks([entry(DISK)], [entry(cluster_id=2)])] == []


def test_answer_without_a_list_names_its_task_too():
    service = Service()
    service.post = lambda *_sent: response({"id": 1007, "status": "RUNNING"})
    assert inspect(service)[0]["task_id"] == 1007


def test_report_that_cannot_be_read_is_told():
    service = Service()

    def get(_path, _query=None):
        raise ResponseLost("No answer.", **DEFECT)

    service.client = SimpleNamespace(post=service.post, get=get)
    assert inspect(service)[0]["reason"] == "its report could not be read: No answer"
