# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many jobs on one service side by side: a few threads, each with its own connection, and what stops all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from threading import Event, Lock, Semaphore, get_ident, local
from typing import Any, Generic, TypeVar

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import Halted, ModuleCrashed, OcpError, OutcomeUnknown, RequestRefused, ServiceError
from .endpoints import OcpApi
from .session import Answered
from .shared_reads import SharedReads

Item = TypeVar("Item")
Found = TypeVar("Found")
Connect = Callable[[], AbstractContextManager[OcpApi]]

# This many jobs in a row without an answer of the service end the run.
MOST_UNANSWERED = 5
UNAUTHORIZED = 401
# Seconds within which a pausing thread sees that the run has stopped.
LONGEST_NAP = 1.0


@dataclass(frozen=True)
class Ended(Generic[Found]):
    """The end of a job: what it has ``found``, or its ``error``."""

    found: Found | None = None
    error: OcpError | None = None


class Halt:
    """Checked by all threads of a run before a request and during a pause.

    The very first request is answered before another one is sent: sixteen wrong passwords at once would lock the
    account.
    """

    def __init__(self) -> None:
        self._stopped = Event()
        self._answered = Event()
        self._guard = Lock()
        self._first_thread: int | None = None
        self._is_locked_out = False
        self._unanswered = 0
        self._why = ""

    def stop(self, why: str) -> None:
        """Begin nothing new: no job, and no request but reads. The first reason stays."""
        with self._guard:
            self._why = self._why or why
            self._stopped.set()
            self._answered.set()

    def see(self, answer: Answered) -> None:
        """After a 401 nothing is sent at all: a few wrong passwords lock the account."""
        if answer.status == UNAUTHORIZED:
            self._is_locked_out = True
            self.stop("another request was refused with status 401, and retrying only locks the account")
        self._answered.set()

    def count(self, error: OcpError | None) -> None:
        """Count a job by its end; several in a row without an answer mean that the service is down."""
        self._answered.set()
        with self._guard:
            self._unanswered = self._unanswered + 1 if error is not None and _is_unanswered(error) else 0
            is_too_much = self._unanswered >= MOST_UNANSWERED
        if is_too_much and error is not None:
            self.stop(f"the service did not answer {MOST_UNANSWERED} times in a row; the last error: {error.what}")

    def begin(self, url: str) -> None:
        """Raise Halted if nothing new may begin."""
        if self._stopped.is_set():
            raise self._halted(url)

    def permit(self, method: str, url: str) -> None:
        """Wait for the first answer; raise Halted if the request must no longer be sent."""
        with self._guard:
            self._first_thread = self._first_thread or get_ident()
        if self._first_thread != get_ident():
            self._answered.wait()
        if self._is_locked_out or (self._stopped.is_set() and method == "POST"):
            raise self._halted(url)

    def _halted(self, url: str) -> Halted:
        return Halted(f"The request was not sent, since {self._why.rstrip('.')}.", url=url)


class Crew:
    """At most this many ``threads``, each with a connection that ``connect`` opens."""

    def __init__(self, connect: Connect, threads: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self._connect = connect
        self._threads = threads
        self._clock = clock

    def shared_reads(self, lines: int) -> SharedReads:
        """For the jobs of a run with so many lines that share their reads."""
        return SharedReads(min(lines, self._threads), Semaphore(1), self._clock)

    def run(
        self,
        lines: Iterable[Sequence[Item]],
        job: Callable[[OcpApi, Item, Clock], Found],
        ended: Callable[[Item, Ended[Found]], Any],
    ) -> None:
        """Do the ``job`` for each item: those of a line one after another, the lines side by side.

        ``ended`` gets the end of each, in the thread of the job. An interruption of the caller ends the run: no further
        POST is sent, and running requests are awaited.
        """
        halt, mine, inside = Halt(), local(), Semaphore(self._threads)
        with ExitStack() as connections:
            pool = ThreadPoolExecutor(self._threads, thread_name_prefix="oceanbase.ocp")

            def worker() -> _Worker:
                if not hasattr(mine, "worker"):
                    mine.worker = _Worker(connections.enter_context(self._connect()), halt, self._clock)
                found: _Worker = mine.worker
                return found

            def walk(line: Sequence[Item]) -> None:
                with inside:
                    for item in line:
                        ended(item, worker().end_of(job, item))

            try:
                for walked in [pool.submit(walk, line) for line in lines]:
                    walked.result()
            except BaseException:
                halt.stop("the run was interrupted")
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
                # The pool does not know a thread whose start was interrupted.
                for _thread in range(self._threads):
                    inside.acquire()
                inside.release(self._threads)

    def each(self, items: Sequence[Item], job: Callable[[OcpApi, Item, Clock], Found]) -> list[Found]:
        """What the ``job`` finds for each item, in their order. Raises the first error in that order."""
        ends: dict[int, Ended[Found]] = {}
        lines = [[number] for number in range(len(items))]
        self.run(lines, lambda api, number, clock: job(api, items[number], clock), ends.__setitem__)
        errors = [end.error for _number, end in sorted(ends.items()) if end.error is not None]
        # The error of a job that was not begun says less.
        for error in sorted(errors, key=lambda error: isinstance(error, Halted)):
            raise error
        return [ends[number].found for number in range(len(items))]  # type: ignore[misc]


class _Worker:
    """One thread: its connection, and a clock whose pauses end with the run, unless a restart was requested."""

    def __init__(self, api: OcpApi, halt: Halt, clock: Clock) -> None:
        self._api = api
        self._halt = halt
        self._sleep = clock.sleep
        self._clock = replace(clock, sleep=self._pause)
        self._has_sent = False
        api.client.permit = self._permit
        api.client.observe = halt.see

    def end_of(self, job: Callable[[OcpApi, Any, Clock], Found], item: Any) -> Ended[Found]:
        """The end of a job, which is not begun if the run has stopped."""
        self._has_sent = False
        try:
            self._halt.begin(self._api.url)
            found = job(self._api, item, self._clock)
        except OcpError as error:
            self._halt.count(error)
            return Ended(error=error)
        except Exception as error:
            return Ended(error=ModuleCrashed(error))
        self._halt.count(None)
        return Ended(found)

    def _permit(self, method: str, url: str) -> None:
        self._halt.permit(method, url)
        self._has_sent = self._has_sent or method == "POST"

    def _pause(self, seconds: float) -> None:
        left = seconds
        while left > 0:
            self._sleep(min(left, LONGEST_NAP))
            left -= LONGEST_NAP
            # The search for what a POST has started is not cut short.
            if not self._has_sent:
                self._halt.begin(self._api.url)


def _is_unanswered(error: OcpError) -> bool:
    """Whether the service did not answer, or something else answered for it."""
    if isinstance(error, RequestRefused):
        return error.status >= 500
    return isinstance(error, (ServiceError, OutcomeUnknown)) and not isinstance(error, Halted)
