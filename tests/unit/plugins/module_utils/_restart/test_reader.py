# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One look at a target: what is read, in which order, how often, and what a look shows then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import PermissionDenied
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.awaited_start import RestartTask
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.held import holder_of
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.reader import Reader, look_at_named, observe
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation, TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import (
    ARBITRATION,
    CLUSTER,
    SERVER,
    ZONE,
    at,
    refused,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, chain, clock_ahead, raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import ORDERS, SERVER_41

SERVICE = ArbitrationService(61, "10.1.0.8:2888")
TAGS = [{"serverId": 41}]
STEPS = chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "SUCCESSFUL"))
FAILED_STEPS = chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "FAILED"))
ALL, NOTHING = None, frozenset[str]()
ENDED = {"finishTime": BEGINNING.isoformat()}


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def reader(api, time_passes, warnings):
    api.double.service_clock = clock_ahead(0)
    return Reader(api.double, SERVER_41, time_passes.clock, warnings)


def expect_target(api, *, operated_by: object = False, status="RUNNING", started=-3600.0):
    named = {} if operated_by is False else {"operatingTaskInstanceId": operated_by}
    shown = {} if started is None else {"startTime": at(started).isoformat()}
    found = {"id": 41, "ip": "10.1.0.1", "port": 2882, "hostId": 51, "zoneName": "zone1", "status": status}
    api.expect("cluster", 31, gives={"id": 31, "name": "orders", "status": "RUNNING"})
    api.expect("servers", 31, gives=[{**found, **named, **shown}])


def expect_look(api, *tasks, **target):
    api.expect("tasks", clusterId=31, gives=list(tasks))
    expect_target(api, **target)


def restart(number, status="SUCCESSFUL", *, began=10.0, ended=20.0, **fields):
    times = {"startTime": began, "finishTime": ended}
    shown = {name: None if seconds is None else at(seconds).isoformat() for name, seconds in times.items()}
    return {**raw_task(number, status, name=SERVER, tags=TAGS), **shown, "subtasks": STEPS, **fields}


def shown_tasks(look):
    return {entry.record["id"]: entry.restarts for entry in look.tasks}


# The order


def test_list_is_read_before_the_target(api, reader):
    """A restart that ends between the two reads then shows in the start."""
    expect_look(api)
    look = reader.look()
    assert api.calls == ["tasks", "cluster", "servers"]
    assert (list(look.tasks), look.reads_tasks, look.observed.serves) == ([], True, True)


@pytest.mark.parametrize(("seconds", "is_read_again"), [(2.0, False), (2.1, True)])
def test_list_is_read_again_after_a_long_look(seconds, is_read_again, api, reader, time_passes):
    """A restart may have begun and ended since the list and the start were read, as that of one host of many."""

    def servers(_cluster_id):
        time_passes.time += seconds
        return [{"id": 41, "ip": "10.1.0.1", "port": 2882, "status": "RUNNING", "startTime": at(-3600).isoformat()}]

    api.expect("tasks", clusterId=31, gives=[])
    api.expect("cluster", 31, gives={"id": 31, "name": "orders", "status": "RUNNING"})
    api.expect("servers", 31, gives=servers)
    if is_read_again:
        api.expect("tasks", clusterId=31, gives=[restart(9)])
    assert list(shown_tasks(reader.look())) == ([9] if is_read_again else [])


def test_all_tasks_of_the_list_are_judged_whatever_their_order(api, reader):
    tasks = [raw_task(number, name="Back up") for number in range(300, 400)]
    expect_look(api, restart(7), *tasks, restart(9), restart(500, tags=[{"serverId": 42}]))
    look = reader.look()
    assert list(shown_tasks(look)) == [9, 7]
    assert look.ids == {*range(300, 400), 500, 9, 7}


def test_work_without_a_task_is_looked_at_twice_at_first_and_once_later(api, reader):
    """It may have begun after the list was read."""
    expect_look(api, status="RESTARTING")
    expect_look(api, restart(94, "RUNNING"), status="RESTARTING")
    look = reader.look()
    assert [task.id for task in look.unfinished] == [94]
    reader.note(look)
    expect_look(api, restart(94, "RUNNING"), status="RESTARTING")
    reader.look()


def test_work_that_stays_without_a_task_is_not_looked_at_twice_again(api, reader):
    for _look in range(3):
        expect_look(api, status="RESTARTING")
    reader.note(reader.look())
    reader.look()


@pytest.mark.parametrize("ended", [raw_task(90, "SUCCESSFUL"), refused(404)], ids=["ended", "gone"])
def test_name_of_a_task_that_has_ended_causes_one_more_look(ended, api, reader):
    for _look in range(2):
        expect_look(api, operated_by=90)
        api.expect("task", 90, gives=ended)
    assert reader.look().is_outdated


def test_time_of_a_look_is_that_of_the_service(api, reader):
    api.double.service_clock = clock_ahead(-240)
    expect_look(api, started=-9000)
    assert reader.look().now == at(-240)


@pytest.mark.parametrize(("started", "is_ahead"), [(60, False), (61, True)])
def test_start_that_is_still_to_come_is_marked(started, is_ahead, api, time_passes):
    api.double.service_clock = clock_ahead(0)
    expect_target(api, started=started)
    [member] = observe(api.double, SERVER_41, time_passes.clock).members
    assert (member.started, member.is_ahead) == (at(started), is_ahead)


def test_start_that_no_clock_shows_is_still_to_come_and_none(api, time_passes):
    api.double.service_clock = clock_ahead(0)
    expect_target(api, started=3653 * 86400 + 61)
    [member] = observe(api.double, SERVER_41, time_passes.clock).members
    assert (member.started, member.start_time, member.is_ahead) == (None, None, True)


# Tasks by their id


def test_own_task_that_the_list_lacks_is_read(api, reader):
    api.expect("tasks", clusterId=31, gives=[])
    api.expect("task", 90, gives=restart(90))
    expect_target(api)
    assert shown_tasks(reader.look([90])) == {90: ALL}


def test_own_task_that_the_list_shows_is_not_read(api, reader):
    expect_look(api, restart(90), restart(91, tags=[{"serverId": 42}]))
    assert shown_tasks(reader.look([90, 91])) == {90: ALL}


@pytest.mark.parametrize(
    "found",
    [refused(404), refused(403), restart(90, tags=[{"serverId": 42}]), restart(90, clusterId=32)],
    ids=["gone", "forbidden", "of another server", "of another cluster"],
)
def test_own_task_that_is_gone_or_of_something_else_is_left_out(found, api, reader):
    api.expect("tasks", clusterId=31, gives=[])
    api.expect("task", 90, gives=found)
    expect_target(api)
    assert shown_tasks(reader.look([90])) == {}


def test_restart_that_one_look_has_shown_is_read_if_the_next_list_lacks_it(api, reader):
    expect_look(api, restart(90, "RUNNING"))
    reader.note(reader.look())
    expect_look(api)
    api.expect("task", 90, gives=restart(90))
    [task] = reader.look().tasks
    assert task.record["status"] == "SUCCESSFUL"


# Permission


def test_without_permission_to_read_tasks_there_is_a_warning(api, reader, warnings):
    api.expect("tasks", clusterId=31, gives=refused(403))
    expect_target(api)
    look = reader.look()
    assert (look.reads_tasks, list(look.tasks), look.ids) == (False, [], frozenset())
    assert warnings == [f"It is not known whether a restart of {SERVER_41.label} is running already: Refused with 403."]


def test_page_with_403_is_no_word_of_the_service_about_permissions(api, reader):
    api.expect("tasks", clusterId=31, gives=refused(403).without_envelope())
    with pytest.raises(PermissionDenied):
        reader.look()


def test_named_task_that_is_forbidden_is_unknown_work(api, reader):
    expect_look(api, operated_by=90)
    api.expect("task", 90, gives=refused(403))
    look = reader.look()
    assert shown_tasks(look) == {90: NOTHING}
    assert [task.id for task in look.unfinished] == [90]


def test_task_that_was_forbidden_is_no_restart_once_the_list_shows_what_it_is(api, reader):
    """The status of the target showed it at work, and no list had the task yet."""
    expect_look(api, operated_by=90, status="RESTARTING")
    api.expect("task", 90, gives=refused(403))
    reader.note(reader.look())
    expect_look(api, raw_task(90, "RUNNING", name="Start OB server", tags=TAGS), operated_by=90, status="RESTARTING")
    api.expect("task", 90, gives=raw_task(90, "RUNNING", name="Start OB server", tags=TAGS))
    assert shown_tasks(reader.look()) == {90: NOTHING}


# Tasks that the target names


@pytest.mark.parametrize(
    ("status", "more", "is_unfinished"),
    [
        ("RUNNING", {}, True),
        ("CANCELING", {}, True),
        ("RUNNING", ENDED, True),
        ("PAUSED", {}, True),
        (None, {}, True),
        ("FAILED", {}, False),
    ],
    ids=["RUNNING", "CANCELING", "RUNNING again", "another word", "no word", "FAILED"],
)
def test_named_task_that_has_not_ended_works_on_the_target(status, more, is_unfinished, api, reader):
    expect_look(api, operated_by=90)
    api.expect("task", 90, gives=raw_task(90, status, name=SERVER, **more))
    look = reader.look()
    assert [task.id for task in look.unfinished] == [90] * is_unfinished
    assert [task.id for task in look.named_failed] == [90] * (not is_unfinished)


@pytest.mark.parametrize(
    ("name", "restarts"),
    [
        (SERVER, ALL),
        (SERVER.upper(), ALL),
        (CLUSTER, {SERVER_41.address}),
        ("Stop OB server", NOTHING),
        (None, NOTHING),
    ],
    ids=["server", "in upper case", "its cluster", "other work", "no name"],
)
def test_named_task_is_known_by_its_name(name, restarts, api, reader):
    expect_look(api, operated_by=90)
    api.expect("task", 90, gives=raw_task(90, name=name))
    assert shown_tasks(reader.look()) == {90: restarts}


def test_task_both_listed_and_named_counts_once(api, reader):
    expect_look(api, raw_task(90, name=SERVER, tags=TAGS), operated_by=90)
    api.expect("task", 90, gives=raw_task(90, name=SERVER))
    assert shown_tasks(reader.look()) == {90: ALL}


def cluster_observation(*operated_by, whole=None):
    members = tuple(Member(f"m{n}", "RUNNING", operated_by=number) for n, number in enumerate(operated_by))
    return Observation("RUNNING", members, whole)


@pytest.mark.parametrize(
    ("name", "seen", "restarts"),
    [
        (CLUSTER, cluster_observation(90, 90, whole=90), ALL),
        (CLUSTER, cluster_observation(90, None), {"m0"}),
        (SERVER, cluster_observation(90, None), {"m0"}),
        (ZONE, cluster_observation(90, 90), {"m0", "m1"}),
        ("Stop OB cluster", cluster_observation(90, 90, whole=90), NOTHING),
    ],
    ids=["the cluster", "a cluster that does not name it", "one server", "a zone", "other work"],
)
def test_task_named_in_a_cluster_restarts_those_that_name_it(name, seen, restarts, api, time_passes, monkeypatch):
    api.double.service_clock = clock_ahead(0)
    monkeypatch.setattr(type(ORDERS), "observe", lambda _target, _api: seen)
    reader = Reader(api.double, ORDERS, time_passes.clock, [])
    api.expect("tasks", clusterId=31, gives=[])
    api.expect("task", 90, gives=raw_task(90, name=name))
    assert shown_tasks(reader.look()) == {90: restarts}


def named_apart_from_90(api, seen, clock):
    api.double.service_clock = clock_ahead(0)
    return look_at_named(api.double, ORDERS, seen, clock, but=90)


def test_named_tasks_are_newest_first(api, time_passes):
    for number, status in {93: "FAILED", 92: "RUNNING", 91: "FAILED"}.items():
        api.expect("task", number, gives=raw_task(number, status))
    seen = cluster_observation(92, 91, whole=93)
    found = named_apart_from_90(api, seen, time_passes.clock)
    assert (holder_of(found).id, [task.id for task in found.named_failed]) == (93, [93, 91])


def test_own_task_that_is_named_after_its_end_is_not_read_again(api, time_passes):
    assert holder_of(named_apart_from_90(api, cluster_observation(90), time_passes.clock)) is None


@pytest.mark.parametrize(
    ("number", "began", "is_later"),
    [(89, -20, True), (99, -20, True), (91, 0, False), (89, 0, False), (99, None, True)],
)
def test_later_task_is_one_that_began_later_whatever_the_ids(number, began, is_later):
    other = Task.from_api(raw_task(90, "FAILED", startTime=at(-10).isoformat()))
    assert RestartTask(number, None if began is None else at(began)).is_before(other) is is_later


# Details


def test_details_are_read_once_for_the_looks_to_come(api, reader):
    bare = restart(90, subtasks=[])
    expect_look(api, bare)
    [entry] = reader.look().tasks
    assert not reader.has_detail(entry)
    api.expect("task", 90, gives=restart(90))
    reader.read_details([entry])
    expect_look(api, bare)
    [again] = reader.look().tasks
    assert reader.has_detail(again)
    assert again.record["subtasks"] == STEPS


@pytest.mark.parametrize(("began", "failure"), [(-50.0, 90), (50.0, None)], ids=["before it", "after it"])
def test_failure_is_put_in_order_by_details_where_the_list_shows_no_begin(began, failure, api, reader):
    """Ids may fall, and a success that began later would explain what the target shows."""
    tasks = {94: restart(94, began=began, ended=began + 5), 90: restart(90, "FAILED", subtasks=FAILED_STEPS)}
    for is_first in (True, False):
        expect_look(api, *({**task, "startTime": None} for task in tasks.values()), status="RESTARTING")
        for number, task in tasks.items() if is_first else ():
            api.expect("task", number, gives=task)
    look = reader.look()
    assert (look.failure and look.failure.id) == failure


def test_details_are_not_of_the_next_attempt(api, reader):
    """A person has retried the task meanwhile."""
    first = reader_entry(api, reader, restart(90, "FAILED", subtasks=[]))
    api.expect("task", 90, gives=restart(90, "FAILED", subtasks=FAILED_STEPS))
    reader.read_details([first])
    expect_look(api, restart(90, subtasks=[], operation="RETRY"))
    [entry] = reader.look().tasks
    assert not reader.has_detail(entry)
    assert entry.record["subtasks"] == []


def test_details_of_a_failure_are_not_of_the_failure_of_the_next_attempt(api, reader):
    first = reader_entry(api, reader, restart(90, "FAILED", subtasks=[]))
    api.expect("task", 90, gives=restart(90, "FAILED", subtasks=FAILED_STEPS))
    reader.read_details([first])
    assert reader.has_detail(first)
    again = TaskOnTarget(restart(90, "FAILED", subtasks=[], operation="RETRY"), ALL)
    assert not reader.has_detail(again)


def test_operation_in_another_case_is_the_same_attempt(api, reader):
    first = reader_entry(api, reader, restart(90, subtasks=[], operation="execute"))
    api.expect("task", 90, gives=restart(90))
    reader.read_details([first])
    assert reader.has_detail(first)


@pytest.mark.parametrize("operation", ["EXECUTE", "ROLLBACK"])
def test_list_without_operations_has_the_details_that_were_read(operation, api, reader):
    listed = restart(90, subtasks=[])
    del listed["operation"]
    first = reader_entry(api, reader, listed)
    api.expect("task", 90, gives=restart(90, operation=operation))
    reader.read_details([first])
    again = reader_entry(api, reader, listed)
    assert reader.has_detail(again)
    assert (again.record["operation"], again.record["subtasks"]) == (operation, STEPS)


def test_details_that_are_gone_are_not_asked_for_again(api, reader):
    first = reader_entry(api, reader, restart(90, subtasks=[]))
    api.expect("task", 90, gives=refused(404))
    reader.read_details([first])
    assert reader.has_detail(first)


def reader_entry(api, reader, task):
    expect_look(api, task)
    [entry] = reader.look().tasks
    return entry


# A restart that failed


@pytest.mark.parametrize(
    ("status", "holder", "failure"),
    [("RESTARTING", 90, 90), ("UNAVAILABLE", None, 90), ("RUNNING", None, None)],
)
def test_failed_restart_holds_what_is_at_work_and_is_named_for_what_does_not_serve(
    status, holder, failure, api, reader
):
    for is_again in range(1 + (status == "RESTARTING")):
        expect_look(api, restart(90, "FAILED", subtasks=FAILED_STEPS), status=status)
        if failure and not is_again:
            api.expect("task", 90, gives=restart(90, "FAILED", subtasks=FAILED_STEPS))
    look = reader.look()
    held_by = holder_of(look)
    assert (held_by and held_by.id, look.failure and look.failure.id) == (holder, failure)


@pytest.mark.parametrize("listed", [[], FAILED_STEPS[::-1]], ids=["no steps", "steps in another order"])
def test_steps_of_the_failure_are_read_once(listed, api, reader):
    for is_first in (True, False):
        expect_look(
            api, restart(90, "FAILED", subtasks=[{**step, "downstreams": []} for step in listed]), status="UNAVAILABLE"
        )
        if is_first:
            api.expect("task", 90, gives=restart(90, "FAILED", subtasks=FAILED_STEPS))
        failure = reader.look().failure
        [step] = failure.failed_subtasks
        assert (step.label, failure.position(step)) == ("Start it", "2 of 2")


# Answers that are behind


@pytest.mark.parametrize(
    ("task", "looks"),
    [
        pytest.param(restart(90, "RUNNING"), 1, id="it is in its last steps"),
        pytest.param(restart(90, "RUNNING", began=None), 2, id="it shows no begin"),
        pytest.param(restart(90, "RUNNING", began=13.0), 2, id="it began after the start"),
        pytest.param(restart(90), 2, id="it has ended"),
        pytest.param(restart(90, "FAILED"), 2, id="it FAILED"),
    ],
)
def test_work_whose_effect_was_shown_at_once_is_not_waited_for(task, looks, api, time_passes):
    """A first read showed the server at work, but with its new start already; the status may be stale now."""
    api.double.service_clock = clock_ahead(0)
    at_work = (Member(SERVER_41.address, "RESTARTING", started=at(12.0)),)
    first = Observation("RESTARTING", at_work, names_operations=True)
    reader = Reader(api.double, replace(SERVER_41, first_observation=first), time_passes.clock, [])
    expect_look(api, task, operated_by=None, started=12.0)
    assert reader.may_be_behind(reader.look()) is (looks == 2)


def test_earlier_start_than_before_is_behind(api, reader):
    expect_look(api, started=-60)
    reader.note(reader.look())
    expect_look(api, started=-3600)
    assert reader.is_behind(reader.look())
    assert reader.first_shown[SERVER_41.address].started == at(-60)


@pytest.mark.parametrize(
    ("tags", "more", "restarts"),
    [([], {}, {SERVER_41.address}), ([], {"name": "Stop OB server"}, None), (TAGS, {}, ALL)],
    ids=["target not shown", "other work", "of the target"],
)
def test_only_running_task_counts_as_the_work_that_the_status_shows(tags, more, restarts, api, time_passes):
    api.double.service_clock = clock_ahead(0)
    target = replace(SERVER_41, alone=False, host_id=None)
    reader = Reader(api.double, target, time_passes.clock, [])
    task = restart(90, "RUNNING", tags=tags, **more)
    if more:
        # It is not on the target by the list, so its status may show other work that is new.
        expect_look(api, task, status="RESTARTING")
    expect_look(api, task, status="RESTARTING")
    reader.note(reader.look())
    expect_look(api, task)
    assert shown_tasks(reader.look()) == ({} if more else {90: restarts})


# Other kinds of target


@pytest.mark.parametrize(("tags", "restarts"), [([{"arbitrationServiceId": 61}], ALL), ([], NOTHING)])
def test_all_tasks_of_what_shows_no_start_are_read(tags, restarts, api, time_passes):
    api.double.service_clock = clock_ahead(0)
    reader = Reader(api.double, SERVICE, time_passes.clock, [])
    api.expect("tasks", name="arbitration", gives=[{**restart(90, began=-1e6), "name": ARBITRATION, "tags": tags}])
    api.expect("arbitration_service", 61, gives={"id": 61, "status": "RUNNING", "operatingTaskInstanceId": None})
    assert shown_tasks(reader.look()) == {90: restarts}


@pytest.mark.parametrize("is_listed_so", [False, True], ids=["no operation", "another operation"])
def test_detail_counts_though_the_list_shows_the_task_otherwise(is_listed_so, api, reader):
    """A list may show the operation that a task was begun with: only the detail shows that it was rolled back."""
    bare = restart(90, "SUCCESSFUL", subtasks=[], operation="EXECUTE" if is_listed_so else None)
    expect_look(api, bare)
    api.expect("task", 90, gives=restart(90, "SUCCESSFUL", operation="ROLLBACK"))
    reader.read_details(reader.look().tasks)
    expect_look(api, bare)
    [again] = reader.look().tasks
    assert (reader.has_detail(again), again.task.rolled_back) == (True, True)


def test_detail_is_not_of_an_attempt_that_ended_later(api, reader):
    expect_look(api, restart(90, "FAILED", subtasks=[], finishTime=at(-20).isoformat()))
    api.expect("task", 90, gives=restart(90, "FAILED", finishTime=at(-20).isoformat()))
    reader.read_details(reader.look().tasks)
    expect_look(api, restart(90, "FAILED", subtasks=[], finishTime=at(-10).isoformat()))
    [again] = reader.look().tasks
    assert not reader.has_detail(again)
