# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How faults of kind `answer` falsify an answer: older state, ignored filters, another clock."""

import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import parse_qsl, urlencode

from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.base.time_format import iso
from ocp_emulator.faults import request_faults
from ocp_emulator.faults.answer_faults import AnswerFault
from ocp_emulator.faults.request_faults import Planned, Received
from ocp_emulator.store.database import Store
from ocp_emulator.web.false_records import RecordChanges

_MODELS = {"answer": AnswerFault}
# Times are written with four digits for the year.
_LATEST = 8_000 * 365 * DAY
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+08:00")
_NEVER = iso(0)


def lags(store: Store) -> set[int]:
    """The lags in milliseconds that the plan needs replicas for."""
    planned = request_faults.planned(store.db, _MODELS)
    return {each.fault.milliseconds() for each in planned if each.fault.action == "lag"}


@dataclass
class AnswerChanges:
    """The changes of planned faults to the answer to one request.

    `db` is what it reads, `lag` how far that has to lag, in milliseconds; None for no change. `hits` are the id and the
    action of each fault that has hit it so far.
    """

    store: Store
    db: sqlite3.Connection
    lag: int | None = None
    offset: Callable[[int], int] = lambda _now: 0
    all_times: bool = False
    ignored: frozenset[str] = frozenset()
    hits: list[tuple[int, str]] = field(default_factory=list)
    _of_records: list[Planned[AnswerFault]] = field(default_factory=list)

    @classmethod
    def of_request(cls, store: Store, received: Received, user: Callable[[], str | None]) -> "AnswerChanges":
        """Match the plan against a request. Counts what matches and hits, but for faults that look at records."""
        changes = cls(store, store.db)
        names = {name for name, _value in _pairs(received.query)}
        found = [
            each
            for each in request_faults.planned(store.db, _MODELS)
            if each.fault.match.matches(received, user) and each.fault.changes_request(received.method, names)
        ]
        matching = [each for each in found if not each.fault.changes_records()]
        hits = [each for each in matching if each.hits_next()]
        request_faults.count(store, matching, hits)
        for each in reversed(hits):
            changes._take(each.fault)
        changes.hits = [(each.id, each.fault.action) for each in hits]
        changes._of_records = [each for each in found if each.fault.changes_records()]
        return changes

    def _take(self, fault: AnswerFault) -> None:
        if fault.action == "lag":
            self.lag = fault.milliseconds()
        elif fault.action == "ignore":
            self.ignored |= frozenset(fault.parameters or ())
        else:
            self.offset, self.all_times = fault.clock_offset, fault.scope == "all"

    def query(self, query: bytes) -> bytes:
        """The query without what is ignored; a list that ignores `sort` has the oldest first."""
        if not self.ignored:
            return query
        kept = [pair for pair in _pairs(query) if pair[0] not in self.ignored]
        oldest_first = [("sort", "id,asc")] if "sort" in self.ignored else []
        return urlencode([*kept, *oldest_first], encoding="latin-1").encode()

    def data(self, data: object, now: int) -> object:
        """The data of the answer as the faults show it. Counts those that change something."""
        for planned in self._of_records:
            changed = RecordChanges(self.db, now).apply(planned, data)
            if changed is data:
                continue
            hits = planned.hits_next()
            request_faults.count(self.store, [planned], [planned] if hits else [])
            if hits:
                data = changed
                self.hits.append((planned.id, planned.fault.action))
        return data

    def shown_time(self, instant: int) -> int:
        """An instant by the clock that is shown."""
        return max(0, min(instant + self.offset(instant), _LATEST))

    def shown_now(self, now: int) -> int:
        """The time of the answer for `shown_text`, which may move it."""
        return now if self.all_times else self.shown_time(now)

    def shown_text(self, text: str, now: int) -> str:
        """The text of an answer with all of its times by the shown clock, if the fault demands that."""
        if not self.all_times:
            return text
        offset = self.shown_time(now) - now
        return _TIME.sub(lambda found: _moved(found[0], offset), text)


def _pairs(query: bytes) -> list[tuple[str, str]]:
    """The parameters of a query, whatever its bytes are."""
    return parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="latin-1")


def _moved(text: str, milliseconds: int) -> str:
    if text == _NEVER:
        return text
    instant = round(datetime.fromisoformat(text).timestamp() * SECOND)
    return iso(max(1, min(instant + milliseconds, _LATEST)))
