# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Random operations: tasks and targets move along documented transitions only, whatever their order."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from ocp_emulator.base.errors import ApiError
from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.subtask_faults import SubtaskFault
from ocp_emulator.serializers.task_serializers import task_detail
from ocp_emulator.service import Service, Settings
from ocp_emulator.tasks import blueprints

# The transitions, each with the operation that the subtask has after it.
FORWARD = {"EXECUTE", "RETRY"}
TRANSITIONS = {
    ("PENDING", "READY"): {"EXECUTE"},
    ("READY", "RUNNING"): FORWARD | {"ROLLBACK"},
    ("RUNNING", "SUCCESSFUL"): FORWARD,
    ("RUNNING", "FAILED"): FORWARD | {"ROLLBACK", "CANCEL"},
    ("RUNNING", "PENDING"): {"ROLLBACK"},
    ("RUNNING", "CANCELING"): {"CANCEL"},
    ("CANCELING", "FAILED"): {"CANCEL"},
    ("FAILED", "READY"): {"RETRY", "ROLLBACK", "SKIP", "ROLLBACK_SKIP"},
    ("SUCCESSFUL", "READY"): {"ROLLBACK"},
    ("READY", "SUCCESSFUL"): {"SKIP"},
    ("READY", "PENDING"): {"ROLLBACK_SKIP"},
}
TASK_TRANSITIONS = {("RUNNING", "FAILED"), ("RUNNING", "SUCCESSFUL"), ("FAILED", "RUNNING")}
WATCH = """
    CREATE TEMP TABLE seen (what TEXT, before TEXT, after TEXT, operation TEXT);
    CREATE TEMP TRIGGER subtask_moves AFTER UPDATE OF status ON subtasks WHEN OLD.status <> NEW.status
    BEGIN INSERT INTO seen VALUES ('subtask', OLD.status, NEW.status, NEW.operation); END;
    CREATE TEMP TRIGGER task_moves AFTER UPDATE OF status ON tasks WHEN OLD.status <> NEW.status
    BEGIN INSERT INTO seen VALUES ('task', OLD.status, NEW.status, NEW.operation); END;
"""

RESTARTS = some.sampled_from(
    [
        ("restart_server", (1, 1)),
        ("restart_server", (1, 2)),
        ("restart_server", (1, 3)),
        ("restart_cluster", (1,)),
        ("operate_zone", (blueprints.ZONE_RESTART, 1, "zone1")),
        ("operate_zone", (blueprints.ZONE_STOP, 1, "zone2")),
        ("operate_server", (blueprints.SERVER_START, 1, 3)),
        ("operate_server", (blueprints.SERVER_STOP_SERVICE, 1, 1)),
        ("operate_cluster", (blueprints.CLUSTER_STOP, 1)),
        ("restart_agents", ([1, 2],)),
        ("restart_agents", ([2, 3],)),
        ("restart_arbitration_service", (1,)),
    ]
)
FAULTS = some.builds(
    lambda action, operation, times, forbids: {
        "kind": "subtask",
        "action": action,
        "match": {"operation": operation},
        "times": times,
        "prohibitRollback": forbids,
        **({"factor": 3.5} if action == "slow" else {}),
    },
    some.sampled_from(["fail", "fail", "stall", "slow"]),
    some.sampled_from([None, "EXECUTE", "RETRY", "ROLLBACK"]),
    some.integers(1, 3),
    some.sampled_from([False, False, False, True]),
)
EVENTS = some.one_of(
    some.tuples(some.just("restart"), RESTARTS),
    some.tuples(some.just("fault"), FAULTS),
    some.tuples(some.just("pass"), some.sampled_from([1, 100, 450, 900, 1_000, 4_000, 30_000, 4_000_000])),
    some.tuples(some.just("task"), some.tuples(some.sampled_from(["retry_task", "rollback_task"]), some.integers(0))),
    some.tuples(
        some.just("subtask"),
        some.tuples(some.sampled_from(["retry_subtask", "skip_subtask", "cancel_subtask"]), some.integers(0)),
    ),
)

# Busy, of each kind of target; states that do not allow an action.
REFUSALS = {*((409, code) for code in (19012, 18008, 11020, 7019, 0)), (400, 10007), (400, 10009)}
REFUSALS |= {(400, code) for code in (19004, 18005, 11008)}


class StillClock:
    def now(self):
        return 1_800_000_000_000


class World:
    """A service to which events happen."""

    def __init__(self, busy):
        self.busy = busy
        self.service = Service(Settings(step_ms=1000, busy=busy), StillClock())
        self.db = self.service.store.db
        self.db.executescript(WATCH)
        self.admin = self.service.store.users()[0]
        self.now = StillClock().now()

    def happen(self, kind, what):
        try:
            if kind == "pass":
                self.now += what
            elif kind == "restart":
                name, arguments = what
                options = {"freeze": True, "force": False} if name == "restart_server" else {}
                blueprint = [arguments[0]] if name.startswith("operate") else []
                arguments = [*blueprint, self.admin, self.now, *arguments[len(blueprint) :]]
                getattr(self.service.submitter, name)(*arguments, **options)
            elif kind == "fault":
                with self.service.store.transaction() as db:
                    fault_plan.add(db, SubtaskFault.model_validate(what), self.now)
            else:
                self.steer(kind, *what)
        except ApiError as error:
            assert (error.status, error.code) in REFUSALS
        self.service.engine.advance(self.now)

    def steer(self, kind, verb, number):
        """Something for a task, or for a subtask in a state in which it could be meant."""
        wanted = "1" if kind == "task" else f"status = '{'RUNNING' if verb == 'cancel_subtask' else 'FAILED'}'"
        columns = "id" if kind == "task" else "task_id, id"
        rows = self.db.execute(f"SELECT {columns} FROM {kind}s WHERE {wanted} ORDER BY id").fetchall()
        if rows:
            getattr(self.service.task_actions, verb)(self.admin, self.now, *rows[number % len(rows)])

    def check(self):
        for what, before, after, operation in self.db.execute("SELECT DISTINCT * FROM seen"):
            if what == "task":
                assert (before, after) in TASK_TRANSITIONS
            else:
                assert operation in TRANSITIONS[before, after]
        for task in self.db.execute("SELECT * FROM tasks").fetchall():
            self.check_task(task)

    def check_task(self, task):
        rows = self.db.execute("SELECT * FROM subtasks WHERE task_id = ?", (task["id"],)).fetchall()
        states = Counter(row["status"] for row in rows)
        alive = states.keys() & {"READY", "RUNNING", "CANCELING"}
        whole = "PENDING" if task["operation"] == "ROLLBACK" else "SUCCESSFUL"
        if alive:
            assert task["status"] == "RUNNING"
        elif states["FAILED"]:
            assert task["status"] == "FAILED"
        else:
            assert (task["status"], set(states)) == ("SUCCESSFUL", {whole})
        assert (task["finish_time"] is None) == bool(alive)
        for row in rows:
            assert (row["due_at"] is not None) == (row["status"] in ("READY", "RUNNING", "CANCELING"))
            assert row["due_at"] is None or row["due_at"] > self.now
            assert row["status"] not in ("RUNNING", "FAILED", "SUCCESSFUL") or row["start_time"] is not None
            assert row["finish_time"] is None or row["start_time"] <= row["finish_time"] <= self.now
        shown = {subtask.id: subtask for subtask in task_detail(self.db, task["id"], "shown").subtasks}
        for number, subtask in shown.items():
            assert all(number in shown[upstream].downstreams for upstream in subtask.upstreams)
            assert all(number in shown[downstream].upstreams for downstream in subtask.downstreams)
        # What is occupied is occupied by a task that is not SUCCESSFUL, and all of its targets are.
        held = sum(
            self.db.execute(f"SELECT count(*) FROM {table} WHERE operating_task = ?", (task["id"],)).fetchone()[0]
            for table in ("servers", "zones", "clusters", "hosts", "arbitration_services")
        )
        expected = {"SERVER": 1, "ZONE": 3, "CLUSTER": 10, "AGENT": 2, "ARBITRATION": 1}
        whole = expected[task["kind"].partition("_")[0]]
        # Otherwise a task may wait for its targets, or lose them to another one when it has FAILED.
        allowed = {"refuse": {whole}, "fail": {0, whole}, "accept": set(range(whole + 1))}[self.busy]
        assert held in ({0} if task["status"] == "SUCCESSFUL" else allowed)


@pytest.mark.nightly
@settings(max_examples=60, deadline=None)
@given(some.lists(EVENTS, min_size=5, max_size=40), some.sampled_from(["refuse", "fail", "accept"]))
def test_invariants_hold_for_any_sequence_of_events(events, busy):
    world = World(busy)
    for event in events:
        world.happen(*event)
        world.check()
    # And everything can be brought to an end.
    with world.service.store.transaction() as db:
        fault_plan.remove(db, None)
    for _round in range(60):
        world.happen("pass", 4_000_000)
        failed = world.db.execute("SELECT id, operation FROM tasks WHERE status = 'FAILED'").fetchall()
        for task_id, operation in failed:
            verb = "rollback_task" if operation == "ROLLBACK" else "retry_task"
            try:
                getattr(world.service.task_actions, verb)(world.admin, world.now, task_id)
            except ApiError:
                subtask = world.db.execute(
                    "SELECT id FROM subtasks WHERE task_id = ? AND status = 'FAILED'", (task_id,)
                ).fetchone()
                world.service.task_actions.skip_subtask(world.admin, world.now, task_id, subtask["id"])
        if not failed:
            break
    world.check()
    assert {row["status"] for row in world.db.execute("SELECT status FROM tasks")} <= {"SUCCESSFUL"}
    for table in ("servers", "zones", "clusters", "hosts", "arbitration_services"):
        assert not world.db.execute(f"SELECT 1 FROM {table} WHERE operating_task IS NOT NULL").fetchall()
    world.service.close()
