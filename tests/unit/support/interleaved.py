# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many jobs that wait for each other, in virtual time: one runs at a time, and a seed says which one is next."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Sequence
from random import Random

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import Clock


class Interleaved:
    """Runs jobs as threads that hand over to each other whenever one sleeps by ``clock``."""

    def __init__(self, seed: int, wall: float) -> None:
        self.random = Random(seed)
        self.time = 0.0
        self.clock = Clock(
            now=lambda: self.time, sleep=self._sleep, wall=lambda: wall + self.time, jitter=self.random.random
        )
        self._waiting: list[tuple[float, float, threading.Semaphore]] = []
        self._ended = threading.Event()
        self._error: BaseException | None = None

    def run(self, jobs: Sequence[Callable[[], None]]) -> None:
        """Run all of them to their ends. Raises the first error of one; the others then stop at their next sleep."""
        threads = [threading.Thread(target=self._run, args=(job, self._queue(0.0)), daemon=True) for job in jobs]
        for thread in threads:
            thread.start()
        self._hand_over()
        self._ended.wait()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def _queue(self, seconds: float) -> threading.Semaphore:
        turn = threading.Semaphore(0)
        heapq.heappush(self._waiting, (self.time + max(0.0, seconds), self.random.random(), turn))
        return turn

    def _hand_over(self) -> None:
        if not self._waiting:
            self._ended.set()
            return
        self.time, _drawn, turn = heapq.heappop(self._waiting)
        turn.release()

    def _sleep(self, seconds: float) -> None:
        turn = self._queue(seconds)
        self._hand_over()
        turn.acquire()
        if self._error is not None:
            raise SystemExit

    def _run(self, job: Callable[[], None], turn: threading.Semaphore) -> None:
        turn.acquire()
        try:
            if self._error is None:
                job()
        except SystemExit:
            pass
        except BaseException as error:
            self._error = error
        self._hand_over()
