# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a restart would take down more servers than ``most_down`` allows, and its wait for its turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence

from .._base.cli_hints import sentence
from .._base.clock import Clock
from .._base.errors import AuthenticationFailed, NotSafe, ServiceError
from .._base.text import in_seconds, join_names
from .._journal.journal import Allows, Journal
from .._journal.rows import Place, RequestRow
from .._ocp.endpoints import OcpApi
from .._safety.caps import Crossing
from .._targets.cluster import servers_in_all
from .._targets.target import Target
from .down_servers import DownServers
from .look import Look
from .own_notes import taken_down
from .restart_request import RestartRequest
from .verdicts import Go, Judgement, Refuse, Wait

# Seconds. How long the number of servers of the service is used.
TOTAL_FOR = 3600.0
# The shortest pause of a restart that waits for its turn, and after how long it looks at everything again.
TURN_PAUSE, LOOK_AGAIN = 2.0, 60.0
TOTAL = "servers"


class CapGate:
    """Judges how many servers are down at the same time. Without ``most_down`` it allows everything, and reads nothing.

    What is noted of other restarts is judged at the request: see ``allows``.
    """

    def __init__(self, api: OcpApi, target: Target, request: RestartRequest, journal: Journal, clock: Clock) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._caps = request.caps
        self._journal = journal
        self._clock = clock
        self._down = DownServers(api, journal, clock)
        self._total = 0
        self._problem: ServiceError | None = None
        # The requests that this one waits for, and since when they are the same.
        self._ahead: frozenset[int | None] = frozenset()
        self._ahead_since = 0.0

    @property
    def requests(self) -> int:
        """The list of clusters, once, if a share of all servers is asked for."""
        return 1 if self._caps is not None and self._caps.needs_total and not self._total else 0

    def read(self) -> None:
        """Read how many servers the service has, unless the journal has that of the last hour.

        One of those who share the journal reads it, and the others wait for that.
        """
        self._problem = None
        if self._caps is not None and self._journal.is_shared:
            self._down.read()
        if not self.requests or self._is_noted():
            return
        with self._journal.lock([" ".join([TOTAL, *self._total_key])], self._clock, self._request.policy.timeout):
            if self._is_noted():
                return
            try:
                self._total = servers_in_all(self._api)
            except AuthenticationFailed:
                raise
            except ServiceError as error:
                self._problem = error
                return
            self._journal.remember(TOTAL, self._total_key, json.dumps([self._total, self._journal.now()]))

    @property
    def _total_key(self) -> list[str]:
        """What is noted is of all servers that these credentials see."""
        return [self._api.url, self._api.account]

    def _is_noted(self) -> bool:
        """Whether the journal has the number, which is used then."""
        count, at = json.loads(self._journal.recall(TOTAL, self._total_key) or "[0, 0]")
        if abs(self._journal.now() - at) >= TOTAL_FOR:
            return False
        self._total = count
        return True

    def judge(self, look: Look, waited: float) -> Judgement:
        """Refuse what no wait allows; wait while servers are down that no restart of this journal took down."""
        if self._caps is None:
            return Judgement(Go())
        if self._problem is not None:
            self._problem.add_advice(f"Without {self._named}.percent, this is not read.")
            raise self._problem
        warnings = self._unplaced(look)
        found = self._crossed(look, ())
        if not found:
            meaning = self._turn_words(look) if self._request.check_mode else ""
            return Judgement(Go(), warnings=warnings, meaning=meaning)
        words = tuple(crossing.words for crossing in found)
        after = f" after {in_seconds(round(waited))}" if waited else ""
        refusal = NotSafe(
            f"Did not restart {self._target.label}: {self._named} allows no more{after}: {'; '.join(words)}. "
            f"{self._way_out(found)}"
        )
        is_vain = any(crossing.fits_never for crossing in found)
        return Judgement(Refuse(refusal) if is_vain else Wait(refusal, words), problems=words, warnings=warnings)

    def allows(self, look: Look) -> Allows | None:
        """What judges by the requests of the journal whether the caps allow this restart; None if there are no caps."""
        if self._caps is None:
            return None
        return lambda rows: not self._crossed(look, self._down.of_service(rows))

    def await_turn(self, look: Look, show: Callable[[Sequence[str]], None]) -> None:
        """Wait until the caps may allow it, or for a minute; ``show`` gets once what it waits for.

        Raises NotSafe if the restarts that it waits for have been the same for ``wait_timeout`` seconds.
        """
        began, is_shown = self._clock.now(), False
        while True:
            rows = self._down.rows()
            found = self._crossed(look, rows)
            if not found:
                return
            ahead = _ahead_of(rows, found)
            if self._down.look_after(ahead):
                continue
            self._note_ahead(ahead)
            if not is_shown:
                show([crossing.words for crossing in found])
                is_shown = True
            unchanged, timeout = self._clock.now() - self._ahead_since, self._request.policy.timeout
            if unchanged >= timeout:
                raise self._stuck(found, ahead, unchanged)
            if self._clock.now() - began >= LOOK_AGAIN:
                return
            pause = max(min(TURN_PAUSE, self._request.policy.interval), self._api.retry_after)
            self._clock.sleep(min(pause * (1 + self._clock.jitter()), timeout - unchanged))

    def _note_ahead(self, ahead: Iterable[RequestRow]) -> None:
        numbers = frozenset(row.number for row in ahead)
        if numbers != self._ahead:
            self._ahead, self._ahead_since = numbers, self._clock.now()

    def _crossed(self, look: Look, rows: Iterable[RequestRow]) -> list[Crossing]:
        """The caps that this restart would pass: requests of these ``rows`` and what the look shows count as down."""
        if self._caps is None:
            return []
        down = {place.address: place for row in rows for place in row.places}
        for server in look.observed.servers:
            if server.member.serves is False:
                down.setdefault(server.member.name, server.place)
        return self._caps.crossings(self._total, down.values(), self._taken(look))

    def _taken(self, look: Look) -> tuple[Place, ...]:
        return taken_down(self._target.member_keys(look.observed), look.observed)

    def _turn_words(self, look: Look) -> str:
        words = [crossing.words for crossing in self._crossed(look, self._down.rows())]
        return f"it would wait for its turn first, since {'; '.join(words)}" if words else ""

    def _unplaced(self, look: Look) -> tuple[str, ...]:
        """A sentence if it is not shown where the servers are."""
        asked = self._caps.most if self._caps is not None else {}
        taken = self._taken(look)
        return tuple(
            f"OCP does not show the {what} of {join_names(names)}, so for {self._named}.{key} it may be any."
            for key, what, names in (
                ("idc", "IDC", [place.address for place in taken if place.idc is None]),
                ("region", "region", [place.address for place in taken if place.region is None]),
            )
            if key in asked and names
        )

    def _stuck(self, found: Iterable[Crossing], ahead: Collection[RequestRow], waited: float) -> NotSafe:
        words = "; ".join(crossing.words for crossing in found)
        restarts = join_names(
            f"request {row.number}" + (f" (task {row.task_id})" if row.task_id is not None else "") for row in ahead
        )
        return NotSafe(
            f"Did not restart {self._target.label}: {self._named} allows no more: {words}, and that has not changed "
            f"for {in_seconds(round(waited))}. It waits for {restarts} of the journal {self._journal.place}. Look at "
            "these servers in OCP; what does not count any more is cleared with oceanbase.ocp.restart_journal_clear. "
            f"{self._way_out(found)}"
        )

    @property
    def _named(self) -> str:
        """The option, as the caller gives it."""
        return self._request.hints.named("most_down")

    def _way_out(self, found: Iterable[Crossing]) -> str:
        larger = "" if self._caps is None else self._request.hints.given("most_down", self._caps.allowing(found))
        return sentence(f"To go on regardless, give {larger}") if larger else ""


def _ahead_of(rows: Iterable[RequestRow], found: Iterable[Crossing]) -> list[RequestRow]:
    """The requests whose servers count in one of the caps that are passed."""
    names = frozenset().union(*(crossing.down for crossing in found))
    return [row for row in rows if names.intersection(place.address for place in row.places)]
