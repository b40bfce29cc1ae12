# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A new task as rows: its first ids, its targets, its subtasks and their links."""

import random
import sqlite3
from collections.abc import Sequence

from ocp_emulator.fleet.entities import User
from ocp_emulator.tasks import attempts
from ocp_emulator.tasks.durations import Durations
from ocp_emulator.tasks.operation_targets import NewTask
from ocp_emulator.tasks.subtask_graph import Node, build

# Ids grow, as in the service. Those of tasks and subtasks start far apart, so that nobody confuses them.
_FIRST_TASK_ID = 1_001
_FIRST_SUBTASK_ID = 50_001


def insert_task(db: sqlite3.Connection, new_task: NewTask, user: User, executor: str, now: int, *, waits: bool) -> int:
    """Insert the task and its targets; returns its id. `waits`: as in schema.sql."""
    task_id = _next_id(db, "SELECT max(id) FROM tasks", _FIRST_TASK_ID)
    db.execute(
        "INSERT INTO tasks VALUES (?, ?, ?, 'EXECUTE', 'RUNNING', ?, ?, ?, ?, ?, ?, NULL, ?)",
        (
            task_id,
            new_task.blueprint.kind,
            new_task.blueprint.task_name,
            user.id,
            user.name,
            executor,
            new_task.context(),
            now,
            now,
            waits,
        ),
    )
    db.executemany(
        "INSERT INTO targets VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                task_id,
                target.object_type,
                target.cluster_id,
                target.zone_id,
                target.server_id,
                target.host_id,
                target.arbitration_service_id,
                target.obproxy_id,
            )
            for target in new_task.targets
        ],
    )
    return task_id


def insert_subtasks(db: sqlite3.Connection, task_id: int, new_task: NewTask, now: int, durations: Durations) -> None:
    """Insert the graph of a task, with the time that each subtask takes."""
    nodes = build(new_task.blueprint, new_task.batch)
    of_steps = durations.of(new_task.blueprint)
    times = [
        attempts.shares(durations.by_chance(of_steps[node.level], node.step.timeout, task_id, place))
        for place, node in enumerate(nodes)
    ]
    ids = _insert_nodes(db, task_id, nodes, now, times)
    db.executemany(
        "INSERT INTO links VALUES (?, ?)",
        [(ids[index], ids[downstream]) for index, node in enumerate(nodes) for downstream in node.downstreams],
    )
    if new_task.blueprint.first_status == "RUNNING":
        first = db.execute("SELECT * FROM subtasks WHERE id = ?", (ids[0],)).fetchone()
        attempts.begin(db, first, now, sum(times[0]))


def _insert_nodes(
    db: sqlite3.Connection, task_id: int, nodes: Sequence[Node], now: int, times: Sequence[tuple[int, int]]
) -> list[int]:
    """Insert a subtask for each node, which is READY and RUNNING so long; returns their ids.

    Neither ids nor series ids nor positions in the array follow the order of execution.
    """
    generator = random.Random(task_id)
    first_id = _next_id(db, "SELECT max(id) FROM subtasks", _FIRST_SUBTASK_ID)
    ids = [first_id + place for place in _disorder(len(nodes), generator)]
    series = _disorder(len(nodes), generator)
    positions = _disorder(len(nodes), generator)
    db.executemany(
        "INSERT INTO subtasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'EXECUTE', 1, ?, ?, NULL, NULL, ?, NULL, NULL, 0)",
        [
            (
                ids[index],
                task_id,
                series[index],
                positions[index],
                node.step.description,
                node.step.action,
                node.element,
                node.parallel_idx,
                node.step.timeout,
                "PENDING" if node.upstreams else "READY",
                *times[index],
                None if node.upstreams else now + times[index][0],
            )
            for index, node in enumerate(nodes)
        ],
    )
    return ids


def _next_id(db: sqlite3.Connection, largest: str, first: int) -> int:
    (value,) = db.execute(largest).fetchone()
    return first if value is None else value + 1


def _disorder(count: int, generator: random.Random) -> list[int]:
    """A permutation that does not begin with the first and does not end with the last. `count` is at least 3."""
    places = list(range(count))
    while places[0] == 0 or places[-1] == count - 1:
        generator.shuffle(places)
    return places
