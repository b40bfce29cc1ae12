# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Workers that share a request limit, in virtual time: all get their turn, none is refused, little of it is wasted."""

from __future__ import annotations

import heapq
import json
import math
import random
from dataclasses import dataclass

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.request_queue import (
    LAPSES_AFTER,
    LONGEST_PAUSE,
    RequestQueue,
)

LOOK_AND_REQUEST = 5
ANSWER_TAKES = 0.02
CHANCE = random.Random(4)


class Service:
    """Counts requests in windows, each of which begins with the first request after the one before."""

    def __init__(self, limit, seconds):
        self.limit, self.seconds = limit, seconds
        self.used, self.ends, self.requests, self.refused = 0, 0.0, 0, 0

    def answer(self, now):
        """What is left and the seconds until the window ends; None for a refusal."""
        if now >= self.ends:
            self.used, self.ends = 0, now + self.seconds
        if self.used >= self.limit:
            self.refused += 1
            return None
        self.used += 1
        self.requests += 1
        return self.limit - self.used, math.ceil(self.ends - now)


@dataclass
class Worker:
    """Restarts one thing after another: finds it by one request, then a look of four and the request, as one turn.

    A read that is refused is repeated, a request is not: there is another look, with more room, after a longer pause.
    """

    name: str
    restarts: int
    queue: RequestQueue
    service: Service
    dies_after: float = math.inf
    looks: int = 0

    def steps(self):
        """Yields seconds to sleep, and is sent the time."""
        for _restart in range(self.restarts):
            yield from self._turn(1, 1)
            room = LOOK_AND_REQUEST
            while not (yield from self._turn(LOOK_AND_REQUEST, room)):
                room *= 2
            self.queue.leave(self.name)

    def _turn(self, requests, room):
        """Send so many requests; whether the last one was carried out."""
        self.looks += requests > 1
        pause = 0.001
        while pause:
            now = yield pause
            if now > self.dies_after:
                self.restarts = 0
                yield math.inf
            pause = self.queue.ask(self.name, room, now)
        for left in reversed(range(requests)):
            now = yield ANSWER_TAKES
            if now > self.dies_after:
                yield math.inf
            while (shown := self.service.answer(now)) is None:
                self.queue.shown(self.service.limit, 0, math.ceil(self.service.ends - now), now)
                now = yield (self.service.ends - now) * (1 + (CHANCE.random() if requests > 1 and not left else 0))
                if requests > 1 and not left:
                    return False
            self.queue.sent(self.name, now)
            self.queue.shown(self.service.limit, *shown, now)
        return True


def run(workers):
    """The seconds until all have ended."""
    CHANCE.seed(4)
    now, last, waiting = 0.0, 0.0, []
    for number, worker in enumerate(workers):
        steps = worker.steps()
        next(steps)
        heapq.heappush(waiting, (0.001 * number, number, steps))
    while waiting:
        now, number, steps = heapq.heappop(waiting)
        if now == math.inf:
            return last
        last = now
        assert now < 10_000, "they wait for ever"
        try:
            pause = steps.send(now)
        except StopIteration:
            continue
        heapq.heappush(waiting, (now + max(pause, 0.0001), number, steps))
    return now


@pytest.mark.parametrize(
    ("limit", "seconds", "workers", "restarts"),
    [(100, 10, 20, 3), (10, 1, 20, 3), (10, 1, 60, 1), (600, 60, 200, 2), (7, 10, 4, 2), (3, 10, 2, 2)],
)
def test_all_workers_end_in_little_more_than_the_limit_demands(limit, seconds, workers, restarts):
    queue, service = RequestQueue(limit=limit, seconds=seconds), Service(limit, seconds)
    taken = run([Worker(f"w{number}", restarts, queue, service) for number in range(workers)])
    demanded = (math.ceil(service.requests / limit) - 1) * seconds
    assert service.requests == workers * restarts * (1 + LOOK_AND_REQUEST)
    # A window that allows fewer requests than a turn has cannot be kept.
    assert service.refused == 0 or limit < LOOK_AND_REQUEST
    assert taken <= 1.5 * max(demanded, seconds)


@pytest.mark.parametrize("machines", [2, 4])
@pytest.mark.parametrize(("limit", "seconds"), [(100, 10), (10, 1)])
def test_machines_that_know_of_each_other_by_the_answers_alone_all_end(machines, limit, seconds):
    """They do not look for ever, and not much more often than once."""
    service = Service(limit, seconds)
    queues = [RequestQueue(limit=limit, seconds=seconds) for _machine in range(machines)]
    workers = [Worker(f"w{number}", 3, queues[number % machines], service) for number in range(20)]
    taken = run(workers)
    needed = 20 * 3 * (1 + LOOK_AND_REQUEST)
    assert sum(worker.looks for worker in workers) <= 2 * 20 * 3
    assert taken <= 2 * needed / limit * seconds


def test_turn_of_a_worker_that_died_is_given_to_others():
    queue, service = RequestQueue(limit=10, seconds=10), Service(10, 10)
    dead = [Worker(f"dead{number}", 1, queue, service, dies_after=0.03) for number in range(20)]
    taken = run([*dead, Worker("alive", 1, queue, service)])
    assert service.requests >= 1 + LOOK_AND_REQUEST
    assert taken <= 2 * 10 + LAPSES_AFTER


def queue_of(left, **claims):
    queue = RequestQueue(limit=10, left=left, ends=50.0, seconds=10)
    for worker, requests in claims.items():
        assert queue.ask(worker, requests, 41.0) == 0
    return queue


def test_whoever_waits_for_more_is_not_overtaken_by_those_who_want_less():
    queue = queue_of(10, first=4, second=4)
    assert queue.ask("many", 5, 42.0) > 0
    assert queue.ask("one", 1, 42.1) > 0
    for _request in range(4):
        queue.sent("first", 42.2)
    queue.leave("first")
    assert queue.ask("one", 1, 42.3) == 0
    assert queue.ask("many", 5, 42.4) == 0


def test_rest_of_a_window_goes_to_those_who_want_less():
    queue = queue_of(3)
    assert queue.ask("many", 5, 42.0) == LONGEST_PAUSE
    assert queue.ask("one", 1, 42.1) == 0


def test_next_window_is_first_for_who_has_waited_longest():
    queue = queue_of(0)
    assert queue.ask("many", 8, 49.0) > 0
    assert queue.ask("few", 3, 49.1) > 0
    assert queue.ask("few", 3, 50.1) > 0
    assert queue.ask("many", 8, 50.2) == 0


def test_requests_of_others_count_as_answers_show_them():
    queue = queue_of(9)
    queue.shown(10, 2, 8, 42.0)
    assert queue.ask("many", 5, 42.1) > 0
    # An answer that was overtaken.
    queue.shown(10, 9, 8, 42.2)
    assert queue.left == 2


def test_answer_of_the_next_window_is_told_from_an_old_one():
    queue = queue_of(0)
    queue.shown(10, 9, 10, 49.6)
    assert (queue.left, queue.ends) == (9, 59.6)


def test_window_of_a_time_before_the_machine_was_started_anew_is_over():
    queue = queue_of(0)
    assert queue.ask("many", 5, 3.0) == 0
    assert queue.ends == 13.0


def test_limit_that_is_not_shown_any_more_holds_nobody_up():
    queue, now = queue_of(10), 50.0
    for number in range(100):
        now += 0.1
        assert queue.ask(f"worker {number}", 5, now) == 0
        for _request in range(5):
            queue.sent(f"worker {number}", now)


def test_window_that_allows_less_than_a_turn_is_taken_as_a_whole():
    queue = queue_of(10)
    assert queue.ask("many", 1000, 42.0) == 0


@pytest.mark.parametrize(
    "text",
    [None, [], {}, {"limit": "x"}, {"limit": 1, "promised": [1]}, {"promised": [{"worker": "w"}], "waiting": []}],
)
def test_file_that_is_no_queue_is_an_empty_one(text):
    assert RequestQueue.from_json(text) == RequestQueue()


def test_queue_is_the_same_after_a_file():
    queue = queue_of(3, one=1)
    queue.ask("many", 5, 42.0)
    assert RequestQueue.from_json(json.loads(json.dumps(queue.to_json()))) == queue
