# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The task engine: brings every task to where it has to be at a given instant (ocp-api.md, section 3).

There is no thread behind it. Each request first lets the engine catch up; it handles what has fallen due in the order
of time, each event at its own instant, so what is read is a function of the store and the clock alone, however often
or seldom somebody looks. An event costs a few look-ups by key, no matter how many tasks there are.
"""

import heapq
import logging
import sqlite3
from collections.abc import Sequence
from itertools import chain

from ocp_emulator import effects, subtask_log
from ocp_emulator.clock import SECOND
from ocp_emulator.graphs import Action
from ocp_emulator.store import Store

_LOG = logging.getLogger(__name__)

# A subtask spends this share of its time READY, waiting for a worker, and the rest RUNNING.
_READY_SHARE = 0.1

_FINISHED_UPSTREAMS = """
    NOT EXISTS (
        SELECT 1 FROM links JOIN subtasks AS upstream ON upstream.id = links.upstream
        WHERE links.downstream = subtasks.id AND upstream.status <> 'SUCCESSFUL'
    )
"""


def durations(step_ms: int) -> tuple[int, int]:
    """How long a subtask that takes `step_ms` altogether is READY and RUNNING, in milliseconds."""
    ready = round(step_ms * _READY_SHARE)
    return ready, step_ms - ready


class Engine:
    """Moves tasks on; the only writer of their states once they are accepted."""

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
        follow = [self._run(db, instant, row) for row in rows if row["status"] == "READY"]
        finished = [row for row in rows if row["status"] == "RUNNING"]
        for row in finished:
            self._succeed(db, instant, row)
        follow += self._make_ready(db, instant, [row["id"] for row in finished])
        for task_id in dict.fromkeys(row["task_id"] for row in finished):
            if self._end(db, instant, task_id):
                ended.append(task_id)
        return follow

    def _run(self, db: sqlite3.Connection, instant: int, row: sqlite3.Row) -> tuple[int, int]:
        due = instant + row["run_ms"]
        db.execute(
            "UPDATE subtasks SET status = 'RUNNING', start_time = ?, due_at = ? WHERE id = ?", (instant, due, row["id"])
        )
        subtask_log.begin_attempt(db, row["id"], row["operation"], instant)
        return due, row["id"]

    def _succeed(self, db: sqlite3.Connection, instant: int, row: sqlite3.Row) -> None:
        done = effects.Done(row["task_id"], row["element"], instant)
        told = effects.apply(db, Action(row["action"]), done) if row["action"] else []
        db.execute(
            "UPDATE subtasks SET status = 'SUCCESSFUL', finish_time = ?, due_at = NULL WHERE id = ?",
            (instant, row["id"]),
        )
        subtask_log.tell(db, row["id"], instant, [*told, "status RUNNING -> SUCCESSFUL"])

    def _make_ready(self, db: sqlite3.Connection, instant: int, finished: Sequence[int]) -> list[tuple[int, int]]:
        """Every PENDING subtask whose last upstream has just finished becomes READY."""
        candidates = dict.fromkeys(
            chain.from_iterable(
                (row["downstream"] for row in db.execute("SELECT downstream FROM links WHERE upstream = ?", (number,)))
                for number in finished
            )
        )
        follow = []
        for number in candidates:
            row = db.execute(
                "UPDATE subtasks SET status = 'READY', due_at = ? + ready_ms"
                f" WHERE id = ? AND status = 'PENDING' AND {_FINISHED_UPSTREAMS} RETURNING due_at",
                (instant, number),
            ).fetchone()
            if row is not None:
                follow.append((row["due_at"], number))
        return follow

    def _end(self, db: sqlite3.Connection, instant: int, task_id: int) -> bool:
        """End the task if nothing is left to do; its state follows from its subtasks'."""
        unfinished = db.execute(
            "SELECT 1 FROM subtasks WHERE task_id = ? AND status <> 'SUCCESSFUL' LIMIT 1", (task_id,)
        ).fetchone()
        if unfinished is not None:
            return False
        db.execute("UPDATE tasks SET status = 'SUCCESSFUL', finish_time = ? WHERE id = ?", (instant, task_id))
        effects.release(db, task_id)
        return True

    def _report(self, task_id: int) -> None:
        task = self._store.db.execute("SELECT * FROM tasks WHERE id = ?", (task_id,)).fetchone()
        seconds = (task["finish_time"] - task["start_time"]) / SECOND
        _LOG.info("task %d (%s) %s after %.1f s", task_id, task["name"], task["status"], seconds)
