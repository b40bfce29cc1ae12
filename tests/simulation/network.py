# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What may happen to a request and its answer between controller and service, and how likely."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from typing import Any

from .choices import Choices, Stream
from .history import Exchange, Run
from .profile import DAY, Profile
from .scheduler import Actor, Scheduler
from .service import Answer, Request, Service
from .wire import Connection, response_bytes

HTML = {"Content-Type": "text/html"}
TASK = re.compile(r"/api/v2/tasks/instances/\d+")
LISTS = ("/tasks/instances", "/ob/clusters", "/compute/hosts", "/arbitration/services")
JSON = {"Content-Type": "application/json"}
PAGE_STATUSES = (502, 503, 504, 500, 200, 404, 403, 409, 400, 408, 425, 499, 413, 429)
REDIRECTS = (302, 303, 307, 308, 301)
# How likely a fate is, where it may happen at all: of a read, of a POST.
FATES = {
    "slow": (3, 2),
    "reset before": (2, 2),
    "reset after": (2, 5),
    "silence before": (1, 2),
    "silence after": (1, 4),
    "held back": (0, 2),
    "repeated": (0, 3),
    "page before": (3, 2),
    "page after": (1, 4),
    "redirect before": (1, 1),
    "redirect after": (0, 4),
    "error before": (1, 1),
    "error after": (1, 3),
    "truncated": (1, 3),
    "garbage": (1, 2),
    "another answer": (2, 3),
    "stale answer": (4, 0),
    "odd clock": (2, 0),
    "too many requests": (2, 6),
    "forbidden": (0.3, 0),
    "empty list": (1, 0),
}


class Network:
    """The way of every request, drawn from the choices of its controller."""

    def __init__(
        self, scheduler: Scheduler, service: Service, profile: Profile, choices: Choices, weather: Weather,
        story: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._scheduler = scheduler
        self._service = service
        self._profile = profile
        self._choices = choices
        self._weather = weather
        self._story = story
        self._seen: dict[str, tuple[Answer, bytes]] = {}
        self.outages: list[tuple[float, float]] = []
        # The run ends with the last of them; None is as many as there are.
        self.most_requests: int | None = None
        self._carried_out = 0
        # What else happens while a controller pauses after a 429.
        self.on_pause: Callable[[Run], Any] = lambda _run: None
        self._fates: dict[str, Callable[[_Way], None]] = {
            "plain": lambda way: way.pass_on(),
            "slow": self._slow,
            "reset before": lambda way: way.end("reset"),
            "reset after": lambda way: way.pass_on(lambda: way.end("reset")),
            "silence before": lambda way: None,  # noqa: ARG005
            "silence after": lambda way: way.pass_on(lambda: None),
            "held back": self._hold_back,
            "repeated": self._repeat,
            "page before": lambda way: way.answer(self._page(way)),
            "page after": lambda way: way.pass_on(lambda: way.answer(self._page(way))),
            "redirect before": lambda way: way.answer(self._redirect(way)),
            "redirect after": lambda way: way.pass_on(lambda: way.answer(self._redirect(way))),
            "error before": lambda way: way.answer(self._error(way)),
            "error after": lambda way: way.pass_on(lambda: way.answer(self._error(way))),
            "truncated": lambda way: way.pass_on(way.truncate),
            "garbage": lambda way: way.pass_on(lambda: way.answer(Answer(200, b'{"data": {"id"', JSON))),
            "another answer": self._another,
            "stale answer": self._stale,
            "odd clock": self._odd_clock,
            "empty list": self._empty_list,
            "too many requests": self._too_many,
            "forbidden": lambda way: way.answer(self._service.envelope(403, error={"code": 30014})),
        }

    def connect(self, actor: Actor) -> Connection:
        """A new connection, unless the service is down."""
        now = self._scheduler.now
        if any(begin <= now < end for begin, end in self.outages):
            self._choices.counts["network: connection refused"] += 1
            raise ConnectionRefusedError(111, "Connection refused")
        return Connection(self._scheduler, actor, self._send)

    def _send(self, connection: Connection, request: Request) -> None:
        run: Run = connection.actor.data.run
        request.cause = run
        exchange = Exchange(request, self._scheduler.now, run.pause_ended)
        run.exchanges.append(exchange)
        choices = self._choices.stream(f"net {run.controller}")
        names, weights = self._weather.fates(exchange.reads)
        exchange.fate = choices.pick(names, weights)
        exchange.lag = choices.pick(self._profile.lags) if exchange.reads and len(self._profile.lags) > 1 else (
            self._profile.lags[0] if exchange.reads else 0.0
        )  # fmt: skip
        if exchange.fate != "plain":
            choices.counted(f"network: {exchange.fate}")
        if exchange.fate != "plain" or not exchange.reads:
            self._story(f"{run.label}: {request.method} {request.path} sent ({exchange.fate})")
        self._fates[exchange.fate](_Way(self, connection, exchange, choices))

    # Fates

    def _slow(self, way: _Way) -> None:
        way.up, way.down = way.choices.pick(((0.02, 3.0), (3.0, 0.02), (0.02, 20.0), (20.0, 0.02)))
        way.pass_on()

    def _hold_back(self, way: _Way) -> None:
        way.up = way.choices.pick((40.0, 8.0, 100.0, 400.0))
        way.pass_on(lambda: None)
        if way.choices.chance(0.5):
            self._scheduler.at(self._scheduler.now + 4.0, lambda: way.answer(Answer(504, b"<html></html>", HTML)))

    def _repeat(self, way: _Way) -> None:
        first, later = way.choices.pick(((0.1, 0.1), (0.1, 3.0), (2.0, 1.0))), way.choices.below(2)
        refusal = way.choices.pick((None, self._refusal(way), self._limit_page()), (50, 35, 15))
        way.up = first[0]
        way.pass_on(lambda: None)
        if refusal is not None:
            way.choices.counted("network: repeated, and the repetition gets 429")
            way.later(sum(first) + way.down, lambda: way.answer(refusal))
            return
        way.up = sum(first)
        way.pass_on(None if later == 0 else lambda: way.end("reset"))

    def _refusal(self, way: _Way) -> Answer:
        """429 as the service says it, which has not carried the request out."""
        seconds = way.choices.pick((2, 4, 1, 10, 60))
        name = way.choices.pick(("RateLimit-Reset", "Retry-After"))
        answer = self._service.envelope(429, error={"code": 0, "message": "Excessive number of requests."})
        answer.headers = {**answer.headers, name: str(seconds)}
        return answer

    def _limit_page(self) -> Answer:
        return Answer(429, b"<html><body>Too Many Requests</body></html>", HTML)

    def _page(self, way: _Way) -> Answer:
        return Answer(way.choices.pick(PAGE_STATUSES), b"<html><body>Gateway</body></html>", HTML)

    def _redirect(self, way: _Way) -> Answer:
        headers = {**HTML, "Location": "https://login.test/"}
        return Answer(way.choices.pick(REDIRECTS), b"", headers)

    def _error(self, way: _Way) -> Answer:
        status = way.choices.pick((500, 503, 408, 499, 425))
        return self._service.envelope(status, error={"code": 0, "message": "Unhandled exception"})

    def _another(self, way: _Way) -> None:
        tasks = [number for number in self._service.task_ids if not way.path.endswith(f"/{number}")]
        if TASK.fullmatch(way.path) and tasks:
            request = Request("GET", f"/api/v2/tasks/instances/{way.choices.pick(tasks[-3:])}", {}, {})
            way.pass_on(lambda: way.answer(self._service.handle(request, 0.0)))
            return
        others = [path for path in self._seen if path != way.path]
        if not others:
            way.pass_on()
            return
        found = self._seen[way.choices.pick(others[-6:])]
        way.pass_on(lambda: way.bring(*found))

    def _stale(self, way: _Way) -> None:
        found = self._seen.get(way.path)
        if found is None:
            way.pass_on()
        else:
            way.later(way.down, lambda: way.bring(*found))

    def _empty_list(self, way: _Way) -> None:
        """A page without entries that says there are many."""
        page = {"number": 1, "size": 10, "totalElements": 10**9, "totalPages": 10**8}
        if way.path.endswith(LISTS):
            way.answer(self._service.envelope(200, data={"contents": [], "page": page}))
        else:
            way.pass_on()

    def _odd_clock(self, way: _Way) -> None:
        way.clock_off = way.choices.pick((-2 * DAY, 2 * DAY, -3600.0, 250.0))
        way.pass_on()

    def _too_many(self, way: _Way) -> None:
        answer = self._refusal(way)
        way.later(way.down, lambda: way.answer(answer))
        if not way.exchange.reads and way.choices.chance(0.5):
            way.later(0.5, lambda: self.on_pause(way.exchange.request.cause))

    def carry_out(self, exchange: Exchange) -> Answer:
        """The service carries a request out."""
        answer = self._service.handle(exchange.request, exchange.lag)
        exchange.commits.append((self._scheduler.now, answer))
        self._carried_out += 1
        if self._carried_out == self.most_requests:
            self._scheduler.end()
        if not exchange.reads:
            self._story(f"{exchange.request.cause.label}: {exchange.request.path} reaches the service: {answer.status}")
        return answer

    def bytes_of(self, answer: Answer, way: _Way) -> bytes:
        """The answer as it travels, kept for proxies that mix answers up."""
        wall = self._profile.wall(self._scheduler.now) + answer.ahead + way.clock_off
        if way.clock_off:
            answer = replace(answer, body=self._service.dated(answer.body, wall))
        found = response_bytes(answer, formatdate(wall, usegmt=True))
        if way.exchange.reads:
            self._seen[way.path] = (answer, found)
        return found

    @property
    def wall(self) -> float:
        """The clock of the service."""
        return self._profile.wall(self._scheduler.now)

    @property
    def scheduler(self) -> Scheduler:
        """The time of the network."""
        return self._scheduler


class _Way:
    """One request on its way."""

    def __init__(self, network: Network, connection: Connection, exchange: Exchange, choices: Stream) -> None:
        self._network = network
        self._connection = connection
        self.exchange = exchange
        self.choices = choices
        self.path = exchange.request.path
        self.up, self.down = 0.02, 0.02
        self.clock_off = 0.0

    def later(self, seconds: float, action: Callable[[], Any]) -> None:
        """Do something after a time."""
        self._network.scheduler.at(self._network.scheduler.now + seconds, action)

    def pass_on(self, instead: Callable[[], Any] | None = None) -> None:
        """Let it reach the service, and the answer the client; or do ``instead`` when the answer would arrive."""

        def arrive() -> None:
            answer = self._network.carry_out(self.exchange)
            data = self._network.bytes_of(answer, self)
            self.later(self.down, instead or (lambda: self._whole(answer, data)))

        self.later(self.up, arrive)

    def _whole(self, answer: Answer, data: bytes) -> None:
        if self._connection.deliver(data):
            self.exchange.answer, self.exchange.came_back = answer, self._network.scheduler.now

    def answer(self, answer: Answer) -> None:
        """An answer that is not the service's to this request."""
        if self._network.scheduler.now == self.exchange.sent:
            self.later(self.down, lambda: self.answer(answer))
            return
        self.bring(answer, _plain_bytes(answer, self._network))

    def bring(self, answer: Answer, data: bytes) -> None:
        """Another answer in place of that of the service."""
        if self._connection.deliver(data):
            self.exchange.replaced, self.exchange.came_back = answer, self._network.scheduler.now

    def truncate(self) -> None:
        """The answer breaks off."""
        self.exchange.came_back = self._network.scheduler.now
        answer = self.exchange.commits[-1][1]
        data = _plain_bytes(answer, self._network)
        self._connection.deliver(data[: -max(1, len(answer.body) // 2)], self.choices.pick(("closed", "reset")))

    def end(self, ending: str) -> None:
        """The connection ends without an answer."""
        if self._network.scheduler.now == self.exchange.sent:
            self.later(self.down, lambda: self.end(ending))
            return
        self.exchange.came_back = self._network.scheduler.now
        self._connection.deliver(b"", ending)


def _plain_bytes(answer: Answer, network: Network) -> bytes:
    return response_bytes(answer, formatdate(network.wall, usegmt=True))


class Weather:
    """Which fates may happen in one run, and how often."""

    def __init__(self, choices: Stream) -> None:
        self.reads = choices.pick((0.0, 0.02, 0.08, 0.2), (35, 35, 20, 10))
        self.posts = choices.pick((0.0, 0.1, 0.4, 0.8), (30, 25, 25, 20))
        if choices.chance(0.3):
            # A few, so that each of them is frequent.
            enabled = [choices.pick(tuple(FATES)) for _number in range(4)]
            choices.counted("weather of a few fates")
        else:
            enabled = [name for name in FATES if not choices.chance(0.4)] or ["reset after"]
        self._read_names = self._named(enabled, 0, self.reads)
        self._post_names = self._named(enabled, 1, self.posts)

    def _named(self, enabled: list[str], place: int, rate: float) -> tuple[list[str], list[float]]:
        weights = {name: FATES[name][place] for name in enabled if FATES[name][place]}
        total = sum(weights.values())
        if not total or not rate:
            return ["plain"], [1.0]
        return ["plain", *weights], [1.0 - rate, *(rate * weight / total for weight in weights.values())]

    def fates(self, reads: bool) -> tuple[list[str], list[float]]:
        """The names of fates, and how likely each is."""
        return self._read_names if reads else self._post_names
