# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the oracle of the simulation excuses, and that a bug does not hide in it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.tests.simulation.answers import Answers
from ansible_collections.oceanbase.ocp.tests.simulation.evidence import Evidence
from ansible_collections.oceanbase.ocp.tests.simulation.fleet import Start, Versioned
from ansible_collections.oceanbase.ocp.tests.simulation.history import Change, Run
from ansible_collections.oceanbase.ocp.tests.simulation.reports import _is_own
from ansible_collections.oceanbase.ocp.tests.simulation.task_graph import Task

SERVER = ("server", 111)
OURS, OTHERS = (SimpleNamespace(memory=object()) for _machine in range(2))
CHANGE = Change("server", (SERVER,), None, 1, 0.0)
ANOTHER = Change("server", (("server", 112),), None, 1, 0.0)


def run(number: int, machine: Any = OURS, user: str = "ops", change: Change = CHANGE, action: str = "adopted") -> Run:
    """A run of the controller on a machine that reports this action."""
    found = Run(number, "c1", "c1-1", "server_restart", {}, change, None, 0.0, user, machine)
    found.result = {"action": action, "task_id": 1001}
    return found


@pytest.mark.parametrize(
    ("first", "second", "creators", "is_own"),
    [
        pytest.param({}, {}, True, True, id="left open by a run of this journal and user"),
        pytest.param({"user": "c2"}, {}, False, True, id="of another user, and no record names creators"),
        pytest.param({"user": "c2"}, {}, True, False, id="of another user, whom the service names"),
        pytest.param({"machine": OTHERS}, {}, False, False, id="of another journal"),
        pytest.param({"change": ANOTHER}, {}, False, False, id="of another target"),
        pytest.param({}, {"action": "submitted"}, False, False, id="said to be the answer to a request of its own"),
    ],
)
def test_task_of_another_run_is_own_only_if_nothing_tells_it_apart(first, second, creators, is_own):
    case: Any = SimpleNamespace(profile=SimpleNamespace(creators=creators))
    task: Any = SimpleNamespace(id=1001, request=run(1, **first))
    assert _is_own(case, task, run(2, **second)) is is_own


@pytest.mark.parametrize("action", ["submitted", "adopted"])
def test_task_that_a_run_began_is_its_own(action):
    case: Any = SimpleNamespace(profile=SimpleNamespace(creators=True))
    mine = run(1, action=action)
    task: Any = SimpleNamespace(id=1001, request=mine)
    assert _is_own(case, task, mine) is True
    assert _is_own(case, SimpleNamespace(id=1001, request=None), mine) is False


@pytest.mark.parametrize(
    ("asked_at", "shown_from", "may_show"), [(50.0, 40.0, True), (39.0, 40.0, False), (50.0, 60.0, False)]
)
def test_start_may_have_been_seen_only_from_when_the_service_showed_it(asked_at, shown_from, may_show):
    """It happened at 10 s."""
    profile: Any = SimpleNamespace(wall=lambda time: 1000.0 + time, list_lag=0.0, agent_refresh=0.0)
    evidence: Any = SimpleNamespace(
        clock_of=lambda _key: 0.5,
        cluster_of=lambda _key: 1,
        starts=lambda _key, after: [Start(10.0, None)] if after < 10.0 else [],
        state=lambda _key, when: {"shown": 1010.5 if when >= shown_from else 900.0},
    )
    read: Any = SimpleNamespace(
        reads=True, commits=[(asked_at, None)], lag=0.0, request=SimpleNamespace(path="/api/v2/ob/clusters/1/servers")
    )
    seen: Any = replace(run(1), exchanges=[read])
    assert Answers(profile, evidence).may_show(seen, SERVER, 5.0) is may_show
    assert Answers(profile, evidence).may_show(seen, SERVER, 10.0) is False


@pytest.mark.parametrize(
    ("kind", "cluster", "tags", "created", "is_late"),
    [
        pytest.param("zone", 1, False, 90.0, True, id="of a zone that is not told"),
        pytest.param("zone", 1, True, 90.0, False, id="of another zone, as its tags tell"),
        pytest.param("zone", 2, False, 90.0, False, id="in another cluster"),
        pytest.param("server", 1, False, 90.0, False, id="of another server, which a host tells"),
        pytest.param("zone", 1, False, -200.0, False, id="long ago"),
    ],
)
def test_start_may_show_late_only_if_a_restart_may_have_been_of_its_server(kind, cluster, tags, created, is_late):
    task = Task(1001, kind, "restart", None, (("server", 121),), cluster, "alice", None, created)
    task.record = Versioned(("task", 1001), created, finish=created + 1.0)
    profile = SimpleNamespace(tags=tags, latest=0.0, agent_refresh=0.0, spread=0.0, start_late=0.0)
    things = {SERVER: Versioned(SERVER, 0.0, cluster=1, shown=5.0, up=True)}
    simulation: Any = SimpleNamespace(
        fleet=SimpleNamespace(things=things),
        profile=profile,
        history=SimpleNamespace(runs=[]),
        tasks=SimpleNamespace(all={1001: task}),
    )
    assert Evidence(simulation)._use(SERVER, [], 100.0).is_late is is_late


def test_first_use_of_a_name_is_not_one_after_the_end_of_a_run():
    """A person has cleared the name then, and a later run uses it anew."""
    memory = SimpleNamespace(
        noted=[SimpleNamespace(name="change-1", things=[SERVER], time=time) for time in (25.0, 145.0)],
        cleared_at=lambda _name, until: 85.0 if until >= 85.0 else -1e12,
    )
    profile = SimpleNamespace(tags=True, latest=0.0, agent_refresh=0.0, spread=0.0, start_late=0.0)
    things = {SERVER: Versioned(SERVER, 0.0, cluster=1, shown=5.0, up=True)}
    machine = SimpleNamespace(memory=memory)
    begun = ((1, 20.0), (2, 80.0), (3, 140.0))
    runs = [replace(run(number, machine=machine), began=began, name="change-1") for number, began in begun]
    for each, ended in zip(runs, (30.0, 85.0, 150.0), strict=True):
        each.ended = ended
    simulation: Any = SimpleNamespace(
        fleet=SimpleNamespace(things=things),
        profile=profile,
        history=SimpleNamespace(runs=runs),
        tasks=SimpleNamespace(all={}),
    )
    assert [Evidence(simulation)._uses(each)[SERVER].last for each in runs] == [25.0, 25.0, 145.0]
    memory.noted = memory.noted[1:]
    assert SERVER not in Evidence(simulation)._uses(runs[1])


@pytest.mark.parametrize(
    ("shown", "truth", "is_success"),
    [
        pytest.param({"operation": "EXECUTE"}, "EXECUTE", True, id="done"),
        pytest.param({"operation": "ROLLBACK"}, "ROLLBACK", False, id="undone"),
        pytest.param({}, "EXECUTE", True, id="done, and the list does not tell"),
        pytest.param({}, "ROLLBACK", False, id="undone, and the list does not tell"),
        pytest.param({"status": "RUNNING"}, "EXECUTE", False, id="not ended"),
    ],
)
def test_task_counts_as_a_success_by_what_it_is_where_the_list_does_not_tell(shown, truth, is_success):
    profile: Any = SimpleNamespace(list_lag=0.0, agent_refresh=0.0)
    record = {"id": 1001, "status": "SUCCESSFUL", **shown}
    read: Any = SimpleNamespace(
        commits=[(50.0, None)],
        lag=0.0,
        request=SimpleNamespace(path="/api/v2/tasks/instances"),
        answer=SimpleNamespace(status=200, data={"contents": [record]}),
    )
    task: Any = SimpleNamespace(id=1001, record=SimpleNamespace(at=lambda _when: {"operation": truth}))
    evidence: Any = None
    assert Answers(profile, evidence).shows_success(read, task) is is_success
