# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""When a target is busy: which task occupies it, for how long, and the refusal of another task.

When a target is busy is our choice, because no rule is documented: an operation on a server occupies that server; one
on a zone the zone and its servers; one on a cluster the cluster, its zones and its servers; a batch restart occupies
the agents of its hosts, which does not conflict with the servers on them. An occupied target takes no second operation.
Two servers or two zones of one cluster may be restarted at the same time. An inspection occupies nothing, and runs
whatever occupies its clusters.

A task occupies its targets from the beginning until it is SUCCESSFUL, by EXECUTE, RETRY or ROLLBACK. A task that FAILED
keeps occupying them, which is our choice: its targets may be down, they still show RESTARTING and the task, and a
second operation on them is refused until somebody retries, skips or rolls back.

With the option to accept an operation on a busy target, the new task occupies nothing until an attempt of it finds the
targets free. Such a task fails when they are not; or it waits, as accepted ones do that are to be carried out, for the
task that occupies them to end, and takes them over from one that FAILED.
"""

import sqlite3
from collections.abc import Iterator, Mapping

from ocp_emulator.base import errors
from ocp_emulator.tasks import statuses
from ocp_emulator.tasks.operation_targets import NewTask
from ocp_emulator.tasks.subtask_graph import TaskKind

# What a target of each type occupies: the table, the column to find its rows by, and the column of `targets` for it.
_OCCUPIED: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "OB_SERVER": (("servers", "id", "server_id"),),
    "OB_ZONE": (("servers", "zone_id", "zone_id"), ("zones", "id", "zone_id")),
    "OB_CLUSTER": (
        ("servers", "cluster_id", "cluster_id"),
        ("zones", "cluster_id", "cluster_id"),
        ("clusters", "id", "cluster_id"),
    ),
    "HOST": (("hosts", "id", "host_id"),),
    "ARBITRATION_SERVICE": (("arbitration_services", "id", "arbitration_service_id"),),
    "OBPROXY": (("obproxies", "id", "obproxy_id"),),
}
# The documented code for a busy target; an arbitration service has none.
_BUSY = {
    "OB_SERVER": errors.SERVER_BUSY,
    "OB_ZONE": errors.ZONE_BUSY,
    "OB_CLUSTER": errors.CLUSTER_BUSY,
    "HOST": errors.AGENT_STATE,
}
# What is deleted is not worked on.
_THERE = {"servers": " AND status <> 'DELETED'", "zones": " AND status <> 'DELETED'"}
_TABLES = ("servers", "zones", "clusters", "hosts", "arbitration_services", "obproxies")


def is_occupied(new_task: NewTask) -> bool:
    """Whether a target of the new task is occupied, or a server of its cluster or zone."""
    return any(occupant.task_id is not None for occupant in new_task.occupants)


def refuse_if_occupied(db: sqlite3.Connection, new_task: NewTask) -> None:
    """Raise ApiError 409 when a target of the new task is occupied, or a server of its cluster or zone."""
    for occupant in new_task.occupants:
        if occupant.task_id is not None:
            task = db.execute("SELECT name, status FROM tasks WHERE id = ?", (occupant.task_id,)).fetchone()
            code = _BUSY.get(new_task.targets[0].object_type, errors.UNSPECIFIC)
            raise errors.busy(code, occupant.label, occupant.task_id, task["name"], task["status"])


def blocking_task(db: sqlite3.Connection, task_id: int) -> int | None:
    """The task that occupies a target of this one; None when all of its targets are free or its own."""
    for table, column, value in _needed(db, task_id):
        row = db.execute(
            f"SELECT operating_task FROM {table} WHERE {column} = ? AND operating_task <> ? LIMIT 1", (value, task_id)
        ).fetchone()
        if row is not None:
            return int(row["operating_task"])
    return None


def wait_or_take_over(db: sqlite3.Connection, task_id: int) -> int | None:
    """When a task that waits for its targets looks again: at the next event of the task that occupies one.

    None when there is nothing to wait for. Targets that a FAILED task occupies are released.
    """
    (waits,) = db.execute("SELECT waits FROM tasks WHERE id = ?", (task_id,)).fetchone()
    if not waits or occupies(db, task_id):
        return None
    blocking = blocking_task(db, task_id)
    (due,) = db.execute("SELECT min(due_at) FROM subtasks WHERE task_id = ?", (blocking,)).fetchone()
    if blocking is not None and due is None:
        _release_targets(db, task_id, blocking)
        return wait_or_take_over(db, task_id)
    return None if due is None else int(due)


def occupies(db: sqlite3.Connection, task_id: int) -> bool:
    """Whether the task occupies its targets: only then may it change them."""
    return any(
        db.execute(f"SELECT 1 FROM {table} WHERE operating_task = ? LIMIT 1", (task_id,)).fetchone()
        for table in _TABLES
    )


def occupy(db: sqlite3.Connection, task_id: int, now: int) -> None:
    """Occupy the targets of a task."""
    for table, column, value in _needed(db, task_id):
        db.execute(f"UPDATE {table} SET operating_task = ? WHERE {column} = ?{_THERE.get(table, '')}", (task_id, value))
    statuses.show_in_progress(db, task_id, now)


def occupy_if_free(db: sqlite3.Connection, task_id: int, now: int) -> str | None:
    """Occupy the targets of a task, unless it does already; if another task occupies one, the reason is returned."""
    if occupies(db, task_id):
        return None
    blocking = blocking_task(db, task_id)
    if blocking is None:
        occupy(db, task_id, now)
        return None
    task = db.execute("SELECT name, status FROM tasks WHERE id = ?", (blocking,)).fetchone()
    return errors.occupied_message("the target", blocking, task["name"], task["status"])


def _release_targets(db: sqlite3.Connection, task_id: int, blocking: int) -> None:
    """Release those targets of a task that another one occupies, which goes on occupying the rest."""
    for table, column, value in _needed(db, task_id):
        db.execute(
            f"UPDATE {table} SET operating_task = NULL WHERE {column} = ? AND operating_task = ?", (value, blocking)
        )


def release_unless_failed(db: sqlite3.Connection, task_id: int, status: str) -> None:
    """At the end of a task with this status: release its targets, unless it FAILED."""
    if status == "FAILED":
        return
    for table in _TABLES:
        db.execute(f"UPDATE {table} SET operating_task = NULL WHERE operating_task = ?", (task_id,))


def _needed(db: sqlite3.Connection, task_id: int) -> Iterator[tuple[str, str, int]]:
    """The rows that a task needs for itself: their table, the column to find them by, and its value."""
    targets = db.execute(
        "SELECT targets.* FROM targets JOIN tasks ON tasks.id = task_id WHERE task_id = ? AND kind <> ?",
        (task_id, TaskKind.INSPECTION),
    )
    for target in targets.fetchall():
        for table, column, of_target in _OCCUPIED[target["object_type"]]:
            yield table, column, target[of_target]
