# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The task engine: brings every task to where it has to be at a given instant (ocp-api.md, section 3).

There is no thread behind it. Each request first lets the engine catch up; it handles what has fallen due in the order
of time, each event at its own instant, so what is read is a function of the store and the clock alone, however often
or seldom somebody looks. An event costs a few look-ups by key, no matter how many tasks there are.

A task FAILs when a subtask is FAILED and none is READY, RUNNING or CANCELING. That READY counts is our reading: what
has been handed to a worker still runs, and when one of two FAILED subtasks is retried, the other does not end the task.
"""

import heapq
import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from ocp_emulator.base.clock import SECOND
from ocp_emulator.store.database import Store
from ocp_emulator.tasks import attempts, occupancy, statuses
from ocp_emulator.tasks.task_actions import ROLLED_BACK_BELOW

_LOG = logging.getLogger(__name__)

# A subtask spends this share of its time READY, waiting for a worker, and the rest RUNNING.
_READY_SHARE = 0.1


@dataclass(frozen=True)
class _Way:
    """A direction to go along the links: where to from a subtask, and which of those may go on."""

    next: str
    condition: str


_DOWNSTREAM = _Way(
    "SELECT downstream FROM links WHERE upstream = ?",
    """
    status = 'PENDING' AND NOT EXISTS (
        SELECT 1 FROM links JOIN subtasks AS upstream ON upstream.id = links.upstream
        WHERE links.downstream = subtasks.id AND upstream.status <> 'SUCCESSFUL'
    )
    """,
)
_UPSTREAM = _Way("SELECT upstream FROM links WHERE downstream = ?", f"status = 'SUCCESSFUL' AND {ROLLED_BACK_BELOW}")


def durations(step_ms: int) -> tuple[int, int]:
    """How long a subtask that takes `step_ms` altogether is READY and RUNNING, in milliseconds."""
    ready = round(step_ms * _READY_SHARE)
    return ready, step_ms - ready


class Engine:
    """Moves tasks on. Besides it only what a caller asks for changes their states: steering.py."""

    def __init__(self, store: Store) -> None:
        """Work on this store."""
        self._store = store

    def advance(self, now: int) -> None:
        """Handle everything that is due at `now` or before. All of it becomes durable together."""
        due = self._store.db.execute("SELECT due_at, id FROM subtasks WHERE due_at <= ?", (now,)).fetchall()
        if not due:
            return
        ended: list[int] = []
        with self._store.transaction() as db:
            events = [(row["due_at"], row["id"]) for row in due]
            heapq.heapify(events)
            while events and events[0][0] <= now:
                instant = events[0][0]
                subtasks = []
                while events and events[0][0] == instant:
                    subtasks.append(heapq.heappop(events)[1])
                for event in self._at(db, instant, subtasks, ended):
                    heapq.heappush(events, event)
        for task_id in ended:
            self._report(task_id)

    def _at(
        self, db: sqlite3.Connection, instant: int, subtask_ids: Sequence[int], ended: list[int]
    ) -> list[tuple[int, int]]:
        """Handle the events of one instant; return those that follow from them, as (instant, subtask id)."""
        rows = [db.execute("SELECT * FROM subtasks WHERE id = ?", (number,)).fetchone() for number in subtask_ids]
        over = [row for row in rows if row["status"] != "READY" or row["operation"] in attempts.SKIPS]
        begun = [row for row in rows if row["status"] == "READY" and row["operation"] not in attempts.SKIPS]
        follow = [(attempts.begin(db, row, instant, row["run_ms"]), row["id"]) for row in begun]
        ends = [(row["id"], attempts.finish(db, row, instant)) for row in over]
        follow += self._make_ready(db, instant, _DOWNSTREAM, [number for number, end in ends if end == "SUCCESSFUL"])
        follow += self._make_ready(db, instant, _UPSTREAM, [number for number, end in ends if end == "PENDING"])
        for task_id in dict.fromkeys(row["task_id"] for row in over):
            if self._end(db, instant, task_id):
                ended.append(task_id)
        return follow

    def _make_ready(
        self, db: sqlite3.Connection, instant: int, way: _Way, finished: Sequence[int]
    ) -> list[tuple[int, int]]:
        """Every subtask that has waited for the last of these only becomes READY."""
        candidates = dict.fromkeys(
            chain.from_iterable((number for (number,) in db.execute(way.next, (number,))) for number in finished)
        )
        follow = []
        for number in candidates:
            row = db.execute(
                "UPDATE subtasks SET status = 'READY', due_at = ? + ready_ms, start_time = NULL, finish_time = NULL"
                f" WHERE id = ? AND {way.condition} RETURNING due_at",
                (instant, number),
            ).fetchone()
            if row is not None:
                follow.append((row["due_at"], number))
        return follow

    def _end(self, db: sqlite3.Connection, instant: int, task_id: int) -> bool:
        """End the task if nothing is left to do; its state follows from its subtasks'."""
        alive, failed = db.execute(
            "SELECT max(status IN ('READY', 'RUNNING', 'CANCELING')), max(status = 'FAILED') FROM subtasks"
            " WHERE task_id = ?",
            (task_id,),
        ).fetchone()
        if alive:
            return False
        task = db.execute(
            "UPDATE tasks SET status = ?, finish_time = ? WHERE id = ? RETURNING operation",
            ("FAILED" if failed else "SUCCESSFUL", instant, task_id),
        ).fetchone()
        if not failed:
            if task["operation"] == "ROLLBACK":
                statuses.show_rolled_back(db, task_id, instant)
            occupancy.release(db, task_id)
        return True

    def _report(self, task_id: int) -> None:
        task = self._store.db.execute("SELECT * FROM tasks WHERE id = ?", (task_id,)).fetchone()
        seconds = (task["finish_time"] - task["start_time"]) / SECOND
        rolled_back = " by ROLLBACK" if task["operation"] == "ROLLBACK" else ""
        _LOG.info("task %d (%s) %s%s after %.1f s", task_id, task["name"], task["status"], rolled_back, seconds)
