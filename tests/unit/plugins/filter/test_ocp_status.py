# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The view of a fleet: its lines, what a large fleet leaves out, and no harm to the terminal."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.oceanbase.ocp.plugins.filter.ocp_status import FilterModule
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.text import display_width
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.facts import cluster_facts, server_facts
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task, step

ocp_status = FilterModule().filters()["ocp_status"]
STARTED = "2026-10-28T01:43:50+08:00"
EXACTLY = STARTED.replace("+", ".099+")
STEPS = [step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "FAILED"), step(3, "Check it")]


def cluster(number: int = 1, **fields):
    raw = {"id": number, "name": f"shop{number}", "status": "RUNNING", "obStartTime": STARTED, "serverCount": 3}
    return cluster_facts({**raw, **fields})


def server(number: int, of: int = 1, **fields):
    raw = {"id": number, "ip": f"10.0.0.{number}", "port": 2882, "zoneName": f"zone{number}", "startTime": STARTED}
    raw |= {"status": "RUNNING", "innerStatus": "ACTIVE"}
    return server_facts({**raw, **fields}, {"id": of, "name": f"shop{of}"})


def task(number: int, status: str, steps=(), **fields):
    return Task.from_api(raw_task(number, status, subtasks=list(steps), startTime=EXACTLY, **fields)).result()


def found(**lists):
    return {"changed": False, "failed": False, **lists}


CLUSTERS = found(clusters=[cluster()])
SERVERS = found(
    servers=[
        server(1, withRootserver=True),
        server(2, status="UNAVAILABLE", innerStatus="INACTIVE", startTime=None, operatingTaskInstanceId=5),
        server(3, innerStatus="INACTIVE"),
    ]
)
TASKS = [
    found(tasks=[task(5, "FAILED", STEPS, cluster={"id": 1, "name": "shop1"})]),
    found(tasks=[task(6, "RUNNING", [step(1, "Stop it", "RUNNING"), step(2, "Start it")])]),
]


def test_arbitration_service_that_does_not_run_has_a_line():
    """One that serves none of the clusters that were read has none."""
    named = {"name": "10.0.0.9:2888", "clusters": [{"id": 1, "name": "shop1"}]}
    elsewhere = {"name": "10.0.0.8:2888", "status": "STOPPED", "clusters": [{"id": 7, "name": "other"}]}
    for status, lines in (("RUNNING", []), ("STOPPED", ["! arbitration service 10.0.0.9:2888 of shop1 is STOPPED"])):
        services = found(arbitration_services=[{**named, "status": status}, elsewhere])
        text = ocp_status([CLUSTERS, SERVERS, services])
        assert [line for line in text.splitlines() if "arbitration" in line] == lines


def test_view_shows_the_fleet_what_runs_and_what_has_failed():
    assert ocp_status([CLUSTERS, SERVERS, {"results": TASKS}]).splitlines() == [
        "1 cluster, 3 servers (2 not serving), 1 task running, 1 FAILED",
        "! shop1                   RUNNING           2026-10-28 01:43:50+08:00  1 of 3 serve",
        "    10.0.0.1:2882  zone1  RUNNING           2026-10-28 01:43:50+08:00  root server",
        "!   10.0.0.2:2882  zone2  UNAVAILABLE       start not shown            task 5",
        "!   10.0.0.3:2882  zone3  RUNNING INACTIVE  2026-10-28 01:43:50+08:00",
        "  RUNNING 6 Restart 6, 0/2 now Stop it, 2026-10-28 01:43:50+08:00",
        "! FAILED 5 Restart 5 shop1, 2/3 Start it, 2026-10-28 01:43:50+08:00",
        "Why: ansible-playbook oceanbase.ocp.task_report -e task_report_id=5",
    ]


def test_each_result_can_be_shown_alone():
    assert ocp_status(CLUSTERS).startswith("1 cluster\n  shop1 ")
    assert ocp_status(SERVERS).startswith("1 cluster, 3 servers (2 not serving)\n! shop1 ")
    assert "1 of 3 serve" in ocp_status(SERVERS)
    assert ocp_status(SERVERS).count("start not shown") == 1
    assert ocp_status(found(tasks=[])) == "0 tasks running, 0 FAILED"
    assert ocp_status([]) == "Nothing was read"


@pytest.mark.parametrize("failed", [True, False], ids=["failed", "with failed_when: false"])
def test_what_could_not_be_read_is_told(failed):
    refused = {"failed": failed, "msg": "The user may not read tasks.\nTrace id 5.", "changed": False}
    assert ocp_status([CLUSTERS, refused]).splitlines()[-1] == (
        "! Not everything could be read: The user may not read tasks."
    )


@pytest.mark.parametrize("skipped", [{"skipped": True, "changed": False}, []])
def test_what_was_skipped_is_left_out(skipped):
    assert ocp_status([CLUSTERS, skipped]) == ocp_status(CLUSTERS)


def test_large_fleet_shows_what_reports_something():
    clusters = [cluster(number) for number in range(1, 101)]
    servers = [server(number, of=number % 100 + 1) for number in range(1, 201)]
    servers[5] = server(6, of=7, status="STOPPED", innerStatus="INACTIVE")
    lines = ocp_status([found(clusters=clusters), found(servers=servers)]).splitlines()
    assert lines[0] == "100 clusters, 200 servers (1 not serving)"
    assert [line.split()[:2] for line in lines[1:-1]] == [["!", "shop7"], ["!", "10.0.0.6:2882"]]
    assert lines[-1] == "  99 clusters left out: RUNNING, with all servers serving"


def test_unknown_status_is_no_bad_one():
    assert "not serving" not in ocp_status(found(servers=[server(1, status=None, innerStatus=None)]))


@pytest.mark.parametrize(("columns", "cut"), [(None, False), (60, True)], ids=["pipe", "terminal"])
def test_lines_are_as_wide_as_the_terminal_and_whole_in_a_pipe(columns, cut, monkeypatch):
    monkeypatch.setattr(f"{FilterModule.__module__}.terminal_columns", lambda: columns)
    long = task(7, "RUNNING", [step(1, "Wait " * 40, "RUNNING")])
    shown = ocp_status(found(tasks=[long])).splitlines()
    assert (max(map(len, shown)) == 60) is cut
    assert (max(map(len, shown)) > 200) is not cut


def test_rollback_is_called_a_rollback():
    shown = ocp_status(found(tasks=[task(7, "RUNNING", [step(1, "Stop it", "RUNNING")], operation="rollback")]))
    assert "  RUNNING rollback of 7 Restart 7, " in shown


@pytest.mark.parametrize("width", [40, 60])
def test_lines_are_cut_at_the_width(width):
    assert max(map(len, ocp_status([CLUSTERS, SERVERS, TASKS], width=width).splitlines())) == width


def test_terminal_cannot_be_controlled():
    shown = ocp_status(found(clusters=[cluster(name="a\x1b[31m\nb")], servers=[server(1, zoneName="\x1b[2J")]))
    assert all(line.isprintable() for line in shown.splitlines())
    assert "\\x1b[31m" in shown


@pytest.mark.parametrize("strange", [None, True, 5, "x\x1b[2J", [1], {"a": 1}, [{"status": 7}]], ids=repr)
def test_any_value_is_shown_in_lines_that_are_harmless(strange):
    lists = {"clusters": CLUSTERS["clusters"], "servers": SERVERS["servers"], "tasks": TASKS[0]["tasks"]}
    for name, (first, *others) in lists.items():
        for field in first:
            given = dict(lists)
            given[name] = [{**first, field: strange}, *others]
            facts = found(clusters=given["clusters"], servers=given["servers"], tasks=given["tasks"])
            shown = ocp_status(facts, width=60)
            assert max(map(display_width, shown.split("\n"))) <= 60
            assert all(line.isprintable() for line in shown.split("\n")), field


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("one", "a value that is no dict and no list"),
        (None, "a value that is no dict and no list"),
        ({"changed": False}, "a dict without clusters, servers, tasks or arbitration services"),
        (found(servers=["10.0.0.1:2882 id=1"]), "servers that are no dicts, as with detail=compact,"),
        (found(servers=5), "servers that are no dicts"),
    ],
)
def test_other_values_are_refused(value, message):
    with pytest.raises(AnsibleFilterError, match=f"^oceanbase.ocp.ocp_status: {message}.*; give registered results"):
        ocp_status(value)


@pytest.mark.parametrize("width", [39, "wide"])
def test_bad_width_is_refused(width):
    with pytest.raises(AnsibleFilterError, match=r"^oceanbase\.ocp\.ocp_status: width: "):
        ocp_status(CLUSTERS, width=width)


def test_first_line_counts_tasks_that_have_no_line():
    many = [task(number, "RUNNING" if number > 20 else "FAILED", STEPS) for number in range(12, 30)]
    lines = ocp_status(found(tasks=many), tasks=2).splitlines()
    assert lines[0] == "9 tasks running, 9 FAILED"
    assert [line.lstrip(" !").split()[1] for line in lines[1:5]] == ["21", "22", "12", "13"]
    assert lines[5] == "  14 tasks left out"
    with pytest.raises(AnsibleFilterError, match="tasks: -1 is too little; give 0 or more"):
        ocp_status(found(tasks=many), tasks=-1)
