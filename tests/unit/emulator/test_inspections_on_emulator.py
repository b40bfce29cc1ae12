# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The inspections of a rolling restart, on an emulator: before and after it, what they find, where there are none."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotAllRestarted, TaskFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.windows import parse_windows
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.cluster_run import ClusterRun, roll_cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import RollingRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_run import RollingRun, roll_clusters
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.served_emulator import serving
from ocp_emulator.fleet.generate_fleet import generated_fleet

RISK = {"cluster": "cluster1", "item": "data_disk_usage", "target": "10.0.0.1:2882", "value": "97"}
FAILS = {"kind": "subtask", "action": "fail", "message": "no memory"}
COMMUNITY = {
    "kind": "http",
    "action": "respond",
    "status": 404,
    "times": None,
    "match": {"path": "/api/v2/inspection/*"},
}


@pytest.fixture
def served(tmp_path, monkeypatch):
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))
    with serving(settings={"fleet": generated_fleet(2, 1, 1), "step_ms": 5}) as found:
        yield found


def day(now, later):
    """The day of the week in so many days."""
    return f"{now + timedelta(days=later):%a}".lower()


class Roll:
    """A rolling restart; ``lines`` and ``notes`` are what it shows and notes."""

    def __init__(self, served):
        self.lines, self.notes = [], []
        self._served = served

    def __call__(self, *clusters, alone=False, check_mode=False, **more):
        policy = PollPolicy(60, 1, self._show, announce=self._show, steps=False, note=self.notes.append)
        restart = RestartRequest(check_mode, True, policy, change="memory", safety=Safety(majority=False), **more)
        plan = RollingRequest([*clusters], None, None, 1, Strategy.SERVER, None, change="memory", majority=False)
        each = ClusterRun(plan, restart, False, inspection="basic")
        url = f"http://127.0.0.1:{self._served.port}"
        with closing(HttpClient(url, basic_auth("admin", "ocp-demo-1"), verify=True, timeout=10)) as client:
            if alone:
                return roll_cluster(OcpApi(client), each)
            return roll_clusters(OcpApi(client), RollingRun(each, max_failures=0, max_servers=None))

    def _show(self, line, _failed):
        self.lines.append(line.strip())

    @property
    def tasks(self):
        """The names of all tasks, the first one first."""
        found = self._served.data("GET", "/api/v2/tasks/instances?size=100&sort=id,asc")["contents"]
        return ["inspection" if "Inspection" in task["name"] else "restart" for task in found]


@pytest.fixture
def roll(served):
    return Roll(served)


def shown(found):
    return [(one["cluster"], one["moment"], one["high_risks"], one["report_id"]) for one in found["inspections"]]


@pytest.mark.parametrize("alone", [False, True])
def test_cluster_is_inspected_before_its_first_restart_and_after_its_last(roll, alone):
    found = roll("cluster1", alone=alone)
    assert roll.tasks == ["inspection", "restart", "inspection"]
    assert shown(found) == [("cluster1", "before", 0, 1), ("cluster1", "after", 0, 2)]
    assert [note["inspected"] for note in roll.notes if "inspected" in note] == found["inspections"]
    assert "inspecting cluster1 before the run (basic)" in roll.lines
    assert "inspected before the run: cluster1: 0 high, 0 medium, 0 low risks (report 1)" in roll.lines
    assert found["warnings"] == []


def test_clusters_of_a_run_share_an_inspection(roll):
    found = roll("cluster1", "cluster2")
    assert roll.tasks == ["inspection", "restart", "restart", "inspection"]
    assert [one["task_id"] for one in found["inspections"]] == [1001, 1001, 1004, 1004]


def test_high_risk_that_comes_with_the_run_is_a_warning(served, roll):
    def plant(line, _failed):
        if ": submitted" in line:
            served.data("POST", "/emulator/inspection-risks", RISK)

    roll._show = plant
    found = roll("cluster1")
    assert shown(found)[1] == ("cluster1", "after", 1, 2)
    risk = {"item": "Usage of data disks", "target": "10.0.0.1:2882", "value": "97", "level": "HIGH"}
    assert found["inspections"][1]["risks"][0] == risk
    assert found["warnings"] == [
        "Cluster cluster1 has 1 high risk that its inspection before did not find: Usage of data disks of "
        "10.0.0.1:2882. See report 2 of OCP."
    ]


@pytest.mark.parametrize(("alone", "kind"), [(False, NotAllRestarted), (True, TaskFailed)])
def test_cluster_is_inspected_after_a_failure_too(served, roll, alone, kind):
    served.data("POST", "/emulator/faults", {**FAILS, "match": {"subtask": "Wait observer active"}})
    with pytest.raises(kind) as raised:
        roll("cluster1", alone=alone)
    assert roll.tasks == ["inspection", "restart", "inspection"]
    assert [one["moment"] for one in raised.value.facts["inspections"]] == ["before", "after"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (COMMUNITY, "OCP refuses it with status 404; the Community Edition has no inspections"),
        (
            {**FAILS, "match": {"subtask": "Check inspection items"}, "times": None},
            "task 1001 (Inspection task cluster1) FAILED",
        ),
    ],
)
def test_run_without_a_report_goes_on_with_a_warning(served, roll, fault, reason):
    served.data("POST", "/emulator/faults", fault)
    found = roll("cluster1")
    assert [one["outcome"] for one in found["results"]] == ["submitted"]
    [first, second] = found["inspections"]
    assert reason in first["reason"]
    assert (first["report_id"], second["report_id"]) == (None, None)
    told = [f"before and after the run, since {first['reason']}"]
    if first["reason"] != second["reason"]:
        told = [f"{one['moment']} the run, since {one['reason']}" for one in (first, second)]
    assert found["warnings"] == [f"Cluster cluster1 was not inspected {words}." for words in told]


@pytest.mark.parametrize("alone", [False, True])
def test_nothing_is_inspected_where_no_restart_begins(roll, alone):
    now = datetime.now(UTC)
    closed = parse_windows(
        "windows", {"time_zone": "UTC", "weekly": [{"days": [day(now, 3)], "start": "01:00", "end": "02:00"}]}
    )
    for more in ({"check_mode": True}, {"finish_before": now - timedelta(days=1)}, {"windows": closed}, {}):
        roll("cluster1", alone=alone, **more)
    before = roll.tasks
    roll("cluster1", alone=alone)
    assert (roll.tasks, before.count("restart"), before.count("inspection")) == (before, 1, 2)
