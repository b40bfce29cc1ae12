# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The look at a target: what is read, in which order, and what it means."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import PermissionDenied
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.look import NEWEST_TASKS, Viewer
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import ARBITRATION, SERVER, at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, chain, clock_ahead, raw_task, step

ORDERS = Cluster(31, "orders")
SERVER_41 = Server(41, "10.1.0.1:2882", ORDERS, 51, "zone1", True, True, False)
SERVICE = ArbitrationService(61, "10.1.0.8:2888")
NEWEST = {"clusterId": 31, "limit": NEWEST_TASKS}
TAGS = [{"serverId": 41}]
STEPS = chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "SUCCESSFUL"))


@pytest.fixture
def viewer(api, time_passes):
    api.double.service_clock = clock_ahead(0)
    return Viewer(api.double, SERVER_41, time_passes.clock)


def expect_target(api, *, operated_by: object = False, status="RUNNING", started=-3600.0):
    named = {} if operated_by is False else {"operatingTaskInstanceId": operated_by}
    shown = {} if started is None else {"startTime": at(started).isoformat()}
    found = {"id": 41, "ip": "10.1.0.1", "port": 2882, "hostId": 51, "zoneName": "zone1", "status": status}
    api.expect("cluster", 31, gives={"id": 31, "name": "orders", "status": "RUNNING"})
    api.expect("servers", 31, gives=[{**found, **named, **shown}])


def restart(number, status="SUCCESSFUL", *, began=10.0, ended=20.0, **fields):
    times = {"startTime": at(began).isoformat(), "finishTime": at(ended).isoformat()}
    return {**raw_task(number, status, name=SERVER, tags=TAGS), **times, "subtasks": STEPS, **fields}


# What is read


def test_list_is_read_before_the_target(api, viewer):
    """A restart that ends between the two reads then shows in the start."""
    api.expect("tasks", **NEWEST, gives=[])
    api.expect("tasks", clusterId=31, status="RUNNING", gives=[])
    expect_target(api)
    sight = viewer.see()
    assert api.calls == ["tasks", "tasks", "cluster", "servers"]
    assert (sight.tasks, sight.named.unfinished, sight.observed.serves) == ([], [], True)


def test_task_that_began_between_the_two_reads_is_seen(api, viewer):
    for listed in ([], [restart(94, "RUNNING")]):
        api.expect("tasks", **NEWEST, gives=listed).expect("tasks", clusterId=31, status="RUNNING", gives=listed)
        expect_target(api, status="RESTARTING")
    assert [task.task_id for task in viewer.see().unfinished] == [94]


def test_work_without_a_task_is_looked_at_twice_at_first_and_once_later(api, viewer):
    for _look in range(3):
        api.expect("tasks", **NEWEST, gives=[]).expect("tasks", clusterId=31, status="RUNNING", gives=[])
        expect_target(api, status="RESTARTING")
    viewer.see()
    viewer.see()
    assert api.calls.count("servers") == 3


def test_service_that_names_tasks_is_not_asked_for_the_running_ones_again(api, viewer):
    api.expect("tasks", **NEWEST, gives=[]).expect("tasks", clusterId=31, status="RUNNING", gives=[])
    expect_target(api, operated_by=None)
    viewer.see()
    api.expect("tasks", **NEWEST, gives=[])
    expect_target(api, operated_by=None)
    viewer.see()


@pytest.mark.parametrize(
    ("task", "looks"),
    [
        pytest.param(restart(90, "RUNNING"), 1, id="it is in its last steps"),
        pytest.param(restart(90, "RUNNING", startTime=None), 2, id="it shows no begin"),
        pytest.param(restart(90, "RUNNING", began=13.0), 2, id="it began after the start"),
        pytest.param(restart(90, "RUNNING", tags=[]), 2, id="it may be of another server"),
        pytest.param(restart(90), 2, id="it has ended"),
        pytest.param(restart(90, "FAILED"), 2, id="it FAILED"),
    ],
)
def test_work_whose_effect_was_shown_at_once_is_not_waited_for(task, looks, api, time_passes):
    """A first read showed the server at work, but with its new start already; the status may be stale now."""
    api.double.service_clock = clock_ahead(0)
    at_work = (Member("10.1.0.1:2882", "RESTARTING", started=at(12.0)),)
    first = Observation("RESTARTING", at_work, names_operations=True)
    viewer = Viewer(api.double, replace(SERVER_41, alone=False, first_observation=first), time_passes.clock)
    for started in (12.0, 40.0)[:looks]:
        api.expect("tasks", **NEWEST, gives=[task])
        if not task["tags"]:
            api.expect("tasks", hostId=51, **NEWEST, gives=[task]).expect("tasks", hostId=0, **NEWEST, gives=[])
        expect_target(api, operated_by=None, started=started)
    viewer.see()


@pytest.mark.parametrize("status", ["RUNNING", "PENDING", "READY", "PAUSED"])
def test_running_restart_on_the_list_is_seen_though_the_target_names_none(status, api, viewer):
    """The record of the target may be stale, and the list not."""
    viewer._names_operations = True
    api.expect("tasks", **NEWEST, gives=[raw_task(90, status, name=SERVER, tags=TAGS)])
    expect_target(api, operated_by=None)
    assert [task.task_id for task in viewer.judge(viewer.see(), None).operations] == [90]


def test_old_running_task_is_seen_behind_the_newest_ones(api, viewer):
    api.expect("tasks", **NEWEST, gives=[raw_task(200 - n, name="Back up") for n in range(NEWEST_TASKS)])
    api.expect("tasks", clusterId=31, status="RUNNING", gives=[raw_task(90, name=SERVER, tags=TAGS)])
    expect_target(api)
    sight = viewer.see()
    assert ([entry.record["id"] for entry in sight.tasks], sight.mark) == ([90], 200)


@pytest.mark.parametrize("ended", [raw_task(90, "SUCCESSFUL"), refused(404)], ids=["ended", "gone"])
def test_stale_name_of_a_task_causes_one_more_look(ended, api, viewer):
    viewer._names_operations = True
    for _look in range(2):
        api.expect("tasks", **NEWEST, gives=[])
        expect_target(api, operated_by=90)
        api.expect("task", 90, gives=ended)
    assert viewer.see().named.outdated


def test_task_both_listed_and_named_counts_once(api, viewer):
    viewer._names_operations = True
    api.expect("tasks", **NEWEST, gives=[raw_task(90, name=SERVER, tags=TAGS)])
    expect_target(api, operated_by=90)
    api.expect("task", 90, gives=raw_task(90, name=SERVER))
    [operation] = viewer.judge(viewer.see(), None).operations
    assert (operation.task_id, operation.restarts) == (90, None)


@pytest.mark.parametrize(
    ("tasks", "mark"),
    [
        ([raw_task(80), raw_task(79)], 80),
        ([raw_task(79), raw_task(80)], 80),
        ([raw_task(80, name=SERVER, tags=[{"serverId": 42}])], 80),
        ([], 0),
    ],
    ids=["newest first", "without the order", "of another target", "none"],
)
def test_highest_id_on_the_list_is_the_mark(tasks, mark, api, viewer):
    viewer._names_operations = True
    api.expect("tasks", **NEWEST, gives=tasks)
    expect_target(api, operated_by=None)
    assert viewer.see().mark == mark


def test_without_permission_to_read_tasks_there_is_no_mark_and_a_warning(api, viewer):
    api.expect("tasks", **NEWEST, gives=refused(403))
    expect_target(api)
    sight = viewer.see()
    assert (sight.mark, sight.tasks) == (None, [])
    assert viewer.warnings == [
        f"It is not known whether a restart of {SERVER_41.label} is running already: Refused with 403."
    ]


def test_page_with_403_is_no_word_of_the_service_about_permissions(api, viewer):
    api.expect("tasks", **NEWEST, gives=refused(403).without_envelope())
    with pytest.raises(PermissionDenied):
        viewer.see()


def test_time_is_that_of_the_service(viewer, api):
    api.double.service_clock = clock_ahead(-240)
    assert viewer.now == at(-240)


# What it means


@pytest.fixture
def seen(api, viewer, time_passes):
    """The look, 30 seconds after BEGINNING, at a server with these tasks."""

    def look(*tasks, since=0.0, **target):
        time_passes.time += 30
        viewer._names_operations = True
        # What is at work is looked at twice.
        for _look in range(1 + (target.get("status") == "RESTARTING")):
            api.expect("tasks", **NEWEST, gives=list(tasks))
            expect_target(api, operated_by=None, **target)
        return viewer.judge(viewer.see(), None if since is None else at(since))

    return look


@pytest.mark.parametrize(
    ("tasks", "target", "evidence"),
    [
        pytest.param([restart(90)], {}, [90], id="a restart whose start does not show yet"),
        pytest.param([restart(91), restart(90)], {}, [91, 90], id="two of them"),
        pytest.param([restart(90)], {"started": 15.0}, [], id="the start shows, so no task is needed"),
        pytest.param([restart(90, ended=-150.0, began=-200.0)], {}, [], id="it began before the change"),
        pytest.param([restart(90, "FAILED")], {}, [], id="it FAILED"),
        pytest.param([restart(90, name="Stop OB server")], {}, [], id="it is no restart"),
    ],
)
def test_restarts_whose_start_is_due_are_evidence(tasks, target, evidence, seen):
    assert [task.task_id for task in seen(*tasks, **target).finished] == evidence


def test_without_a_change_there_is_no_evidence(seen):
    assert seen(restart(90), since=None).finished == []


def test_restart_is_no_evidence_once_its_start_should_have_shown(seen, time_passes):
    time_passes.time += 170
    assert seen(restart(90)).finished == []


def test_subtasks_are_read_where_the_list_lacks_them(seen, api):
    """One that was skipped would show only there."""
    api_task = restart(90)
    skipped = [{**each, "operation": "SKIP"} for each in STEPS]
    listed = {**api_task, "subtasks": []}
    api.double.task.side_effect = lambda number: {**api_task, "id": number, "subtasks": skipped}
    assert seen(listed).finished == []
    api.double.task.side_effect = lambda number: {**api_task, "id": number}
    assert [task.task_id for task in seen(listed).finished] == [90]


# A start that is never shown


def test_restart_remains_evidence_for_what_shows_no_start(seen, time_passes):
    time_passes.time += 100_000
    found = seen(restart(90), raw_task(80, startTime=at(-1).isoformat()), started=None)
    assert [task.task_id for task in found.finished] == [90]


@pytest.mark.parametrize(
    "newest",
    [
        [raw_task(200 - n, startTime=at(500 - n).isoformat()) for n in range(NEWEST_TASKS)],
        [raw_task(200 - n) for n in range(NEWEST_TASKS)],
        [],
    ],
    ids=["too many since", "they show no begin", "none of the cluster"],
)
def test_evidence_that_the_newest_tasks_lack_is_searched_for(newest, seen, api, time_passes):
    time_passes.time += 100_000
    viewed = [*newest]
    real = api.double.tasks.side_effect

    def tasks(limit=None, above=0, **filters):
        if filters.get("status") == "SUCCESSFUL":
            return [restart(90)]
        return real(limit=limit, above=above, **filters)

    api.double.tasks.side_effect = tasks
    assert [task.task_id for task in seen(*viewed, started=None).finished] == [90]


@pytest.mark.parametrize("status", [403, 404])
def test_arbitration_service_without_permission_has_no_evidence(status, api, time_passes):
    api.double.service_clock = clock_ahead(0)
    viewer = Viewer(api.double, SERVICE, time_passes.clock)
    api.expect("tasks", name="arbitration", limit=NEWEST_TASKS, gives=[])
    api.expect("tasks", name="arbitration", status="RUNNING", gives=[])
    api.expect("arbitration_service", 61, gives={"id": 61, "status": "RUNNING"})
    api.expect("tasks", name="arbitration", status="SUCCESSFUL", gives=refused(status))
    if status == 403:
        assert viewer.judge(viewer.see(), BEGINNING).finished == []
        assert viewer.warnings == [f"It is not known when the last restart of {SERVICE.label} was: Refused with 403."]
    else:
        with pytest.raises(type(refused(404))):
            viewer.judge(viewer.see(), BEGINNING)


@pytest.mark.parametrize(
    ("began", "more", "is_evidence"),
    [
        (10, {}, True),
        (0, {}, True),
        (-10, {}, False),
        (10, {"operation": "rollback"}, False),
        (10, {"subtasks": [step(1, "Start it", "PENDING")]}, False),
        (10, {"tags": []}, False),
        (10, {"tags": [{"arbitrationServiceId": 62}]}, False),
    ],
    ids=repr,
)
def test_last_restart_of_an_arbitration_service_is_its_evidence(began, more, is_evidence, api, time_passes):
    api.double.service_clock = clock_ahead(0)
    viewer = Viewer(api.double, SERVICE, time_passes.clock)
    viewer._names_operations = True
    task = {**restart(90, began=began), "name": ARBITRATION, "tags": [{"arbitrationServiceId": 61}], **more}
    api.expect("tasks", name="arbitration", limit=NEWEST_TASKS, gives=[])
    api.expect("arbitration_service", 61, gives={"id": 61, "status": "RUNNING", "operatingTaskInstanceId": None})
    api.expect("tasks", name="arbitration", status="SUCCESSFUL", gives=[task])
    assert bool(viewer.judge(viewer.see(), BEGINNING).finished) is is_evidence


# A restart that failed


@pytest.mark.parametrize(
    ("status", "holder", "failure"),
    [("RESTARTING", 90, 90), ("UNAVAILABLE", None, 90), ("RUNNING", None, None)],
)
def test_failed_restart_holds_what_is_at_work_and_is_named_for_what_does_not_serve(status, holder, failure, seen):
    steps = chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "FAILED"))
    found = seen(restart(90, "FAILED", subtasks=steps), status=status)
    assert (found.holder and found.holder.id, found.failure and found.failure.id) == (holder, failure)


@pytest.mark.parametrize(
    ("later", "holds"),
    [
        (restart(94, name="Batch restart OCP agent", tags=[{"hostId": 51}]), True),
        (restart(94, tags=[{"serverId": 42}]), True),
        (restart(94, name="Start OB server"), False),
    ],
    ids=["agents", "another server", "work that may explain the status"],
)
def test_failure_that_changed_nothing_holds_unless_later_work_explains_the_status(later, holds, seen):
    failed = restart(93, "FAILED", subtasks=chain(step(1, "Stop it", "FAILED"), step(2, "Start it", "PENDING")))
    look = seen(later, failed, status="RESTARTING")
    assert (look.holder is not None and look.holder.id == 93) is holds


def test_looks_again_until_more_than_few_answers_tell_the_time(viewer, monkeypatch):
    clock, looks = clock_ahead(250, 250), []
    viewer.api.service_clock = clock

    def see():
        looks.append(viewer.now)
        clock.shown(BEGINNING, BEGINNING.timestamp() + 1, BEGINNING.timestamp())
        return SimpleNamespace(newest=[], tasks=[], observed=SimpleNamespace(members=()))

    monkeypatch.setattr(viewer, "see", see)
    viewer.see_with(lambda *_args: [])
    assert len(looks) == 3
    assert viewer.now < looks[0]
