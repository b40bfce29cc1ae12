# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How tasks move on: which subtask becomes READY next, and when a task is SUCCESSFUL or FAILED.

It has no thread. Each request first lets the engine catch up; it handles due events in the order of time, each at its
own instant. So the state depends only on the store and the clock, not on how often it is read. An event costs a few
look-ups by key, no matter how many tasks there are.

A task FAILs when a subtask is FAILED and none is READY, RUNNING or CANCELING. It is our interpretation that READY
counts: a subtask that was handed to a worker still runs, and when one of two FAILED subtasks is retried, the other does
not end the task.
"""

import heapq
import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from ocp_emulator.base.clock import SECOND
from ocp_emulator.store.database import Store
from ocp_emulator.tasks import attempts, inspections, occupancy, statuses
from ocp_emulator.tasks.task_actions import ROLLED_BACK_BELOW

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Direction:
    """A direction along the links: which subtasks come next, and which of those may go on."""

    next: str
    condition: str


_DOWNSTREAM = _Direction(
    "SELECT downstream FROM links WHERE upstream = ?",
    """
    status = 'PENDING' AND NOT EXISTS (
        SELECT 1 FROM links JOIN subtasks AS upstream ON upstream.id = links.upstream
        WHERE links.downstream = subtasks.id AND upstream.status <> 'SUCCESSFUL'
    )
    """,
)
_UPSTREAM = _Direction(
    "SELECT upstream FROM links WHERE downstream = ?", f"status = 'SUCCESSFUL' AND {ROLLED_BACK_BELOW}"
)


class Engine:
    """Moves tasks on. Only callers also change their states: task_actions.py."""

    def __init__(self, store: Store, *, checks_stops: bool = False) -> None:
        """Work on this store. `checks_stops`: the database may refuse to stop servers."""
        self._store = store
        self._checks_stops = checks_stops

    def advance(self, now: int) -> None:
        """Handle everything that is due at `now` or before. All of it becomes durable together."""
        due = self._store.db.execute("SELECT due_at, id FROM subtasks WHERE due_at <= ?", (now,)).fetchall()
        if not due:
            return
        ended_tasks: list[int] = []
        with self._store.transaction() as db:
            events = [(row["due_at"], row["id"]) for row in due]
            heapq.heapify(events)
            while events and events[0][0] <= now:
                instant = events[0][0]
                self._store.instant = instant
                subtasks = []
                while events and events[0][0] == instant:
                    subtasks.append(heapq.heappop(events)[1])
                for event in self._handle_instant(db, instant, subtasks, ended_tasks):
                    heapq.heappush(events, event)
        for task_id in ended_tasks:
            self._log_end(task_id)

    def _handle_instant(
        self, db: sqlite3.Connection, instant: int, subtask_ids: Sequence[int], ended_tasks: list[int]
    ) -> list[tuple[int, int]]:
        """Handle the events of one instant; return those that follow from them, as (instant, subtask id)."""
        rows = [
            db.execute("SELECT * FROM subtasks WHERE id = ?", (subtask_id,)).fetchone() for subtask_id in subtask_ids
        ]
        to_finish = [row for row in rows if row["status"] != "READY" or row["operation"] in attempts.SKIPS]
        to_begin = [row for row in rows if row["status"] == "READY" and row["operation"] not in attempts.SKIPS]
        next_events = [(attempts.begin(db, row, instant, row["run_ms"]), row["id"]) for row in to_begin]
        finished = {row["id"]: attempts.finish(db, row, instant, checks_stops=self._checks_stops) for row in to_finish}
        for direction, status in ((_DOWNSTREAM, "SUCCESSFUL"), (_UPSTREAM, "PENDING")):
            passed = [subtask_id for subtask_id, status_after in finished.items() if status_after == status]
            next_events += self._make_ready(db, instant, direction, passed)
        for task_id in dict.fromkeys(row["task_id"] for row in to_finish):
            if self._end_task_if_done(db, instant, task_id):
                ended_tasks.append(task_id)
        return next_events

    def _make_ready(
        self, db: sqlite3.Connection, instant: int, direction: _Direction, finished: Sequence[int]
    ) -> list[tuple[int, int]]:
        """Make every subtask READY that waited for nothing but these."""
        candidates = dict.fromkeys(
            chain.from_iterable(
                (subtask_id for (subtask_id,) in db.execute(direction.next, (subtask_id,))) for subtask_id in finished
            )
        )
        next_events = []
        for subtask_id in candidates:
            row = db.execute(
                "UPDATE subtasks SET status = 'READY', due_at = ? + ready_ms, start_time = NULL, finish_time = NULL"
                f" WHERE id = ? AND {direction.condition} RETURNING due_at",
                (instant, subtask_id),
            ).fetchone()
            if row is not None:
                next_events.append((row["due_at"], subtask_id))
        return next_events

    def _end_task_if_done(self, db: sqlite3.Connection, instant: int, task_id: int) -> bool:
        """End the task if nothing is left to do; its state follows from its subtasks."""
        active, failed = db.execute(
            "SELECT max(status IN ('READY', 'RUNNING', 'CANCELING')), max(status = 'FAILED') FROM subtasks"
            " WHERE task_id = ?",
            (task_id,),
        ).fetchone()
        if active:
            return False
        status = "FAILED" if failed else "SUCCESSFUL"
        task = db.execute(
            "UPDATE tasks SET status = ?, finish_time = ? WHERE id = ? RETURNING operation",
            (status, instant, task_id),
        ).fetchone()
        if not failed and task["operation"] == "ROLLBACK":
            statuses.show_rolled_back(db, task_id, instant)
        elif not failed:
            inspections.end_reports(db, task_id)
        occupancy.release_unless_failed(db, task_id, status)
        return True

    def _log_end(self, task_id: int) -> None:
        task = self._store.db.execute("SELECT * FROM tasks WHERE id = ?", (task_id,)).fetchone()
        seconds = (task["finish_time"] - task["start_time"]) / SECOND
        rolled_back = " by ROLLBACK" if task["operation"] == "ROLLBACK" else ""
        _LOG.info("task %d (%s) %s%s after %.1f s", task_id, task["name"], task["status"], rolled_back, seconds)
