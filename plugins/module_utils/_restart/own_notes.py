# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What this controller has noted of a target in the journal: its requests, and what a name was first used on."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from math import inf
from typing import Any
from uuid import uuid4

from .._base.clock import Clock
from .._base.errors import JournalError
from .._base.parsing import Record, instant
from .._base.service_clock import ServiceClock, earliest_service_time, service_time, time_in
from .._journal.journal import Allows, Journal
from .._journal.rows import (
    REFUSED,
    WITHOUT_ADDRESS,
    FirstSight,
    MemberKey,
    Place,
    RequestRow,
    Shown,
    Wish,
    has_another_begin,
)
from .._ocp.endpoints import OcpApi
from .._ocp.task_list import STEPS
from .._ocp.task_model import FAILED, RUNNING, SUCCESSFUL, Task, is_finished
from .._parameters.parameter_value import same_value
from .._safety.server_states import OwnRestart
from .._targets.target import Member, Observation, Target, TaskOnTarget
from .._waiting.poll_pauses import UNSEEN_FOR
from .back import Ages, has_just_ended, is_back, is_by_this_clock, leaves_undone, noted_span, sent_at
from .change import Sight, begun_span, has_moved, newest_time, noted_member
from .evidence import GONE, may_start_yet
from .know import Ended, explains, late_tasks
from .knowledge import Relative, Request
from .look import Look
from .own_request import Sent
from .restart_request import RestartRequest
from .task_ends import DONE, ENDS, IN_EFFECT, ROLLED_BACK, SKIPPED, UNDONE, is_known_end, outcome_of, tells_another_end

# Seconds for which a service lists tasks after their end, at least. An older task in its list shows that it keeps more.
LISTED_FOR = 600

# Members by name, each with the ids of the tasks whose start may show later.
Late = Mapping[str, frozenset[int]]

# The requests of this process whose outcome is open: something on the way may deliver them later.
_SENT_HERE: set[str] = set()


def forget_process() -> None:
    """Forget which requests this process has sent, as a new process does."""
    _SENT_HERE.clear()


class Claim(Enum):
    """What the journal says of a task that was found for a request whose answer was lost.

    MADE: of no other request that the journal has, and all controllers share it. UNSURE: they may not. NOTED_BEFORE:
    somebody else has found it for this request first. OF_ANOTHER: another request has it.
    """

    MADE = "made"
    UNSURE = "unsure"
    NOTED_BEFORE = "noted before"
    OF_ANOTHER = "of another"


@dataclass(frozen=True)
class Change:
    """What restarts are for, as the options say it: an instant, a name, wanted values; any of them.

    ``values`` are those of ``until_effective``; ``journal_url`` names the journal, None for that of this controller.
    """

    started_before: datetime | None = None
    name: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    journal_url: str | None = None

    @property
    def is_dated(self) -> bool:
        """Whether it has an instant or a name."""
        return self.started_before is not None or self.name is not None

    @property
    def since(self) -> float | None:
        """Its instant, in seconds since 1970."""
        return None if self.started_before is None else self.started_before.timestamp()

    def has(self, row: RequestRow, clock: ServiceClock) -> bool:
        """Whether a request was for this change too, or its restart came since the instant."""
        by_time = self.since is not None and came_since(row, self.since, clock) >= self.since
        is_of_name = self.name is not None and row.change == self.name
        return by_time or is_of_name or self.is_for_values(row)

    def is_for_values(self, row: RequestRow) -> bool:
        """Whether a request was for the wanted values, in whatever spelling."""
        wanted, noted = self.values, json.loads(row.values or "{}")
        is_same = wanted.keys() == noted.keys() and all(same_value(noted[name], wanted[name]) for name in wanted)
        return bool(wanted) and is_same


class OwnNotes:
    """The journal as one restart sees it. ``refresh`` reads it; called with the lock of the cluster held."""

    def __init__(self, api: OcpApi, target: Target, request: RestartRequest, journal: Journal, clock: Clock) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._journal = journal
        self._clock = clock
        self._keys: Mapping[str, MemberKey] = {}
        self._rows: list[RequestRow] = []
        self._read_keys: list[MemberKey] = []
        self._own: RequestRow | None = None
        self._refused: RequestRow | None = None
        self._ages = Ages(api, clock)
        self._change = Change(request.started_before, request.change, request.until_effective)

    def refresh(self, observed: Observation) -> None:
        """Read what is noted of the target, and of the other servers of its cluster."""
        self._keys = self._target.member_keys(observed)
        others = self._target.neighbour_keys(observed)
        self._read_keys = [*self._own_keys, *others]
        self._rows = self.rows_of(self._read_keys)

    @property
    def keys(self) -> list[MemberKey]:
        """What the target's members are called in the journal."""
        return list(self._keys.values())

    @property
    def _own_keys(self) -> list[MemberKey]:
        """The same, with what the target is called itself: a request for it restarts what it has then."""
        whole = self._target.whole_key
        return [*self._keys.values(), *([] if whole is None else [whole])]

    def rows_of(self, keys: Iterable[MemberKey]) -> list[RequestRow]:
        """The requests for any of these."""
        return self._journal.requests(keys)

    def refused_for_sure(self) -> None:
        """Note that the request of this run that was refused has started nothing."""
        if self._refused is not None:
            self._note(self._refused, outcome=REFUSED)
            self._refused = None

    @property
    def _here(self) -> list[RequestRow]:
        """The requests for the target or a part of it that were not refused."""
        return [row for row in self._rows if row.outcome != REFUSED and self._touches(row)]

    # Names

    def sights(
        self, look: Look, late: Late, *, registers: bool, names: Collection[str] | None = None
    ) -> dict[str, Sight] | None:
        """What was shown when the name of the change was first used for each member; None without a name.

        ``late`` is that of this ``look``. ``registers``: note the first use, for the members with these ``names``, for
        all without; and what the name asks. Raises NameTaken and JournalError.
        """
        change = self._request.change
        if change is None:
            return None
        whole = self._target.whole_key
        keys = self._own_keys
        noted = self._journal.sights(change, keys)
        found = {sight.member: sight for sight in self._found(look, late, noted)}
        wish = wish_of(self._request.started_before, self._request.until_effective)
        if registers:
            used = [sight for key, sight in found.items() if names is None or key.address in names]
            self._journal.register(change, wish, used)
        else:
            self._journal.check(change, wish, keys)
        completed = {key: sight.completed_by(found.get(key, sight)) for key, sight in noted.items()}
        sights = _by_name(self._keys, completed, self._api.service_clock, self._clock.wall())
        if whole is not None and whole in noted:
            sights |= _joined(self._keys.keys() - sights.keys(), noted[whole], self._api.service_clock)
        return sights

    def shown_at_requests(self, since: float) -> dict[str, list[Member]]:
        """What members showed when this machine requested a restart of them since an instant."""
        return noted_at_requests(self._rows, self._keys, since, self._api.service_clock)

    def _found(self, look: Look, late: Late, noted: Mapping[MemberKey, FirstSight]) -> list[FirstSight]:
        """What a look shows of the members, as first sights. After a request of the name, that is none."""
        now, clocks, tasks = self._clock.wall(), self._api.service_clock.bounds, look.tasks
        starting, running = _may_start(look)
        asked = [row for row in self._here if row.change == self._request.change and not row.settled]
        requested = {key for row in asked for key, _shown in row.members}
        here = _sorted({*look.unseen, *(entry.record["id"] for entry in tasks)}) if look.reads_tasks else None
        newest = newest_time(entry.task for entry in tasks)
        whole = self._target.whole_key
        is_new = whole is not None and whole not in noted
        found = (
            [FirstSight(whole, Shown(), at=now, tasks=here, newest=newest, clocks=clocks)] if whole and is_new else []
        )
        for member in look.observed.members:
            key = self._keys.get(member.name)
            # What belongs to the whole since its first use has none of its own.
            has_joined = whole is not None and not is_new and key not in noted
            if key is None or has_joined:
                continue
            has_changed = key in noted and has_moved(noted_member(member.name, noted[key].shown), member) is not False
            # No clock tells whether a start that has moved is that of an earlier restart.
            unexplained = self._unexplained(noted[key].late, look, member) if has_changed else frozenset()
            found.append(
                FirstSight(
                    key,
                    Shown() if key in requested else _as_shown(member),
                    at=now,
                    tasks=here,
                    late=_sorted(late.get(member.name, ())),
                    starting=_sorted(starting | unexplained),
                    running=_sorted(running),
                    filled=has_changed,
                    newest=newest,
                    clocks=clocks,
                )
            )
        return found

    def _unexplained(self, late: Collection[int], look: Look, member: Member) -> frozenset[int]:
        """All ``late`` tasks, unless one of them explains the start that is shown of a member."""
        least, most = self._api.service_clock.bounds
        tasks = [entry.task for entry in look.tasks if entry.task.id in late]
        return frozenset() if any(explains(task, member, most - least) for task in tasks) else frozenset(late)

    def late(self, look: Look, ended: Ended) -> Late:
        """The members that may show another start later, made by an earlier restart; with the tasks of that."""
        found = {member.name: self._late_tasks(look, member, ended) for member in look.observed.members}
        return {name: numbers for name, numbers in found.items() if numbers}

    def _late_tasks(self, look: Look, member: Member, ended: Ended) -> frozenset[int]:
        """What one of our own has made is known by what was shown at its request."""
        key = self._keys.get(member.name)
        seen = {
            row.task_id
            for row in self._rows
            for each, before in row.members
            if row.task_id is not None and each == key and has_moved(noted_member(member.name, before), member)
        }
        return late_tasks(self._target.may_restart_part, look, member, ended, seen)

    def unbegun(self) -> dict[str, str]:
        """The name of the change, if that alone is asked for, by the servers of the cluster for which it is new."""
        change = self._request.change
        if change is None or self._request.started_before is not None or self._request.until_effective:
            return {}
        try:
            noted = self._journal.sights(change, self._read_keys)
        except JournalError:
            return {}
        return {key.address: change for key in self._read_keys if key not in noted}

    # Requests

    def open_task_ids(self) -> list[int]:
        """The tasks of own requests for this change that are not known to have ended well, or whose change is open."""
        return sorted({row.task_id for row in self._here if row.task_id is not None and self._is_of_change(row)})

    def requested_at(self) -> dict[int, dict[str, float]]:
        """See the function of this name; of the requests for the target or a part of it."""
        return requested_at(self._here, self._keys, self._change.since, self._api.service_clock)

    def open_requests(self, look: Look) -> tuple[Request, ...]:
        """The requests whose task is not known, and that a start has not answered since."""
        by_key = _names_by_key(self._keys)
        found = []
        for row in self._open_rows():
            parts = {by_key[key]: shown for key, shown in row.members if key in by_key}
            has_moved = _have_moved(parts, look.observed.members) and self._tells_moves(row, parts, look)
            if has_moved and not self._is_of_an_earlier_task(row, parts, look):
                continue
            is_over = self._ages.is_searched(row)
            is_here, is_of_change = row.token in _SENT_HERE, self._is_of_change(row)
            is_due = not self._ages.is_shown(row)
            found.append(
                Request(
                    frozenset(parts),
                    is_over,
                    is_here=is_here,
                    is_of_change=is_of_change,
                    is_due=is_due,
                    is_forgotten=self._ages.may_be(row, LISTED_FOR) and not _reaches_back(row, look),
                )
            )
        return tuple(found)

    def _tells_moves(self, row: RequestRow, parts: Collection[str], look: Look) -> bool:
        """Whether other starts than in the row have moved. Computed ones move with the clock of the service, too."""
        starts = [member.start_time for member in look.observed.members if member.name in parts]
        return all(starts) or is_by_this_clock(row, self._api.service_clock)

    def _is_of_an_earlier_task(self, row: RequestRow, parts: Collection[str], look: Look) -> bool:
        """Whether a task that began before a request explains the start of a part of it that shows since.

        When the request was sent, neither the task nor its start need have shown.
        """
        least, most = self._api.service_clock.bounds
        sent = noted_span(row.at, row.ahead, self._api.service_clock)
        members = [member for member in look.observed.members if member.name in parts]
        for entry in look.tasks:
            begun = begun_span(entry.task.start_time)
            if begun is None or begun.relative_to(sent) is not Relative.BEFORE:
                continue
            there = [member for member in members if entry.restarts is None or member.name in entry.restarts]
            if any(explains(entry.task, member, most - least) for member in there):
                return True
        return False

    def sent_before(self) -> Sent | None:
        """The newest of them for a target of this kind, as it was sent."""
        rows = self._open_rows_of_kind()
        if not rows:
            return None
        row = rows[-1]
        names = _names_by_key(self._keys)
        span = noted_span(row.at, row.ahead, self._api.service_clock)
        at = datetime.fromtimestamp((span.first + span.last) / 2, UTC)
        members = frozenset(names[key] for key, _shown in row.members if key in names)
        uncertain = timedelta(seconds=(span.last - span.first) / 2)
        noted = [each.task_id for each in self._rows if each.task_id is not None]
        known = None if row.known is None else frozenset(row.known).union(noted)
        wall = sent_at(row, self._api.service_clock)
        sent = Sent(at, uncertain, known, members, self._api.user, wall=wall, change=row.change, token=row.token)
        return replace(sent, is_old=self._ages.is_searched(row))

    def _open_rows(self) -> list[RequestRow]:
        rows = (row for row in self._here if row.task_id is None and not row.settled)
        return [row for row in rows if self._journal.is_of_service(row, self._api.url)]

    def _open_rows_of_kind(self) -> list[RequestRow]:
        """Those whose task is of the target's kind. One for a server may be open when its cluster is restarted."""
        return [row for row in self._open_rows() if row.kind == self._target.kind]

    def tried(self, members: Iterable[Member]) -> frozenset[str]:
        """The names of those that have started since a restart of them was requested for the wanted values."""
        if not self._change.values:
            return frozenset()
        there = {member.name: member for member in members}
        return frozenset(
            name
            for row in self._here
            if self._change.is_for_values(row) and row.outcome != IN_EFFECT
            for key, shown in row.members
            for name, mine in self._keys.items()
            if key == mine and name in there and has_moved(noted_member(name, shown), there[name])
        )

    def proven(self, members: Iterable[Member]) -> frozenset[str]:
        """The names of those that show a later start than at a request for the change whose task has SUCCEEDED.

        It does not matter how far the clock of a host is off.
        """
        there = {member.name: member for member in members}
        return frozenset(
            name
            for row in self._here
            if row.outcome == SUCCESSFUL and self._is_of_change(row) and not row.settled
            for key, shown in row.members
            for name, mine in self._keys.items()
            if key == mine and name in there and has_moved(noted_member(name, shown), there[name])
        )

    def took_effect(self, names: Collection[str]) -> None:
        """Note that these members show the wanted values: a restart for them is no longer a try in vain."""
        for row in self._here:
            mine = {name for key, _shown in row.members for name, each in self._keys.items() if key == each}
            if self._change.is_for_values(row) and mine and mine <= set(names) and row.outcome != IN_EFFECT:
                self._note(row, outcome=IN_EFFECT)

    def begin(
        self, look: Look, members: frozenset[str], late: Collection[str] = (), allows: Allows | None = None
    ) -> bool:
        """Note that a restart of these members is about to be requested. Raises JournalError: nothing may be sent.

        What those show is not noted that are ``late``: the start of an earlier restart would answer the request. False,
        and nothing is noted, if other requests do not allow it.
        """
        self.refused_for_sure()
        row = self._row(look, members, late)
        try:
            number = self._journal.begin(row, allows)
        except JournalError:
            self._withdraw(row)
            raise
        if number is None:
            return False
        self._own = replace(row, number=number)
        self._rows.append(self._own)
        _SENT_HERE.add(row.token)
        return True

    def _row(self, look: Look, members: frozenset[str], late: Collection[str]) -> RequestRow:
        parts = [
            (self._keys[member.name], Shown() if member.name in late else _as_shown(member))
            for member in look.observed.members
            if member.name in members
        ]
        parts += [] if (whole := self._target.whole_key) is None else [(whole, Shown())]
        known = _sorted(entry.record["id"] for entry in look.tasks) if look.reads_tasks else None
        return RequestRow(
            None,
            self._clock.wall(),
            self._target.kind,
            self._target.task_name,
            tuple(parts),
            self._change.name,
            values_text(self._change.values),
            self._api.url,
            known=known,
            token=uuid4().hex,
            places=taken_down(self._keys, look.observed, late),
            ahead=self._api.service_clock.bounds,
            timeout=self._api.timeout,
            since=self._change.since,
        )

    def _withdraw(self, row: RequestRow) -> None:
        """Note that a request is not sent: it may be in the journal, although the answer of that was lost."""
        with suppress(JournalError):
            there = self._journal.requests([key for key, _shown in row.members])
            for mine in (each for each in there if each.token == row.token and each.task_id is None):
                self._journal.note(mine.number or 0, outcome=REFUSED)

    def came_back(self, observed: Observation, listed: Iterable[Record] = ()) -> None:
        """Note the requests whose servers are shown to serve again; ``listed`` are the tasks of the cluster."""
        servers = [server.member for server in observed.servers]
        rows = [row for row in self._rows if row.takes_down]
        tasks = _listed_tasks(listed, rows)
        for row in rows:
            is_over = row.task_id is None and self._ages.is_searched(row)
            is_known = is_known_end(row) and not self._has_just_left_undone(row, tasks.get(row.task_id))
            if is_back(row, servers, has_ended=is_over or is_known):
                self._note(row, back=True)

    def end(self, task_id: int | None, began: str | None = None, *, refused: bool = False) -> None:
        """Note the task that was started and when it began; without any, the request stays open.

        So does one that was ``refused``, until that is known for sure: a proxy may have repeated it.
        """
        if self._own is None:
            return
        own, self._own = self._own, None
        if refused or task_id is not None:
            _SENT_HERE.discard(own.token)
        if refused:
            self._refused = own
        elif task_id is not None:
            self._note(own, task_id=task_id, began=began, outcome=RUNNING)

    def _note(self, row: RequestRow, **facts: Any) -> None:
        """After a request noting can only help: what cannot be noted is searched for by the next run."""
        self._rows = [each.with_facts(**facts) if each.number == row.number else each for each in self._rows]
        with suppress(JournalError):
            self._journal.note(row.number or 0, **facts)

    @property
    def noted_tasks(self) -> frozenset[int]:
        """The tasks of all requests, as they were read last, except of a request that this run sends or was refused.

        Another controller may have found and noted the task of that one, or have witnessed it.
        """
        own = {row.number for row in (self._own, self._refused) if row is not None}
        others = [row for row in self._rows if row.number not in own and not row.witnessed]
        rows = [row for row in others if self._journal.is_of_service(row, self._api.url)]
        return frozenset(row.task_id for row in rows if row.task_id is not None)

    def new_tasks(self) -> frozenset[int]:
        """The noted tasks that the service may not show yet, or that were requested after the look."""
        return frozenset(row.task_id for row in self._rows if row.task_id is not None and self._is_new(row))

    def noted_tasks_now(self) -> frozenset[int]:
        """``noted_tasks``, read anew where the journal can be read; the lock of the cluster is kept meanwhile."""
        with suppress(JournalError):
            self._rows = self.rows_of(self._read_keys)
            self._journal.renew()
        return self.noted_tasks

    def adopted(self, task: Task, sent: Sent) -> Claim:
        """Note that a task was found to be that of a request: of one that sent_before told, or else of this run's."""
        of_earlier = (row for row in self._rows if row.token == sent.token)
        row = self._own or next(of_earlier, None) or self._refused
        if row is None or row.number is None:
            return Claim.UNSURE
        facts: dict[str, Any] = {"task_id": task.id, "began": task.start_time, "outcome": RUNNING}
        try:
            is_claimed = self._journal.claim(row.number, task.id, task.start_time)
        except JournalError:
            self._answered(row)
            self._note(row, **facts)
            return Claim.UNSURE
        if is_claimed:
            self._rows = [each.with_facts(**facts) if each.number == row.number else each for each in self._rows]
        else:
            with suppress(JournalError):
                self._rows = self.rows_of(self._read_keys)
            if not any(each.number == row.number and each.task_id == task.id for each in self._rows):
                # Something on the way may still deliver this request.
                return Claim.OF_ANOTHER
        self._answered(row)
        if not is_claimed:
            return Claim.NOTED_BEFORE
        return Claim.MADE if self._request.journal_url else Claim.UNSURE

    def _answered(self, row: RequestRow) -> None:
        """The task of a request is known: it is neither on its way nor refused."""
        _SENT_HERE.discard(row.token)
        if self._is_refused(row):
            self._refused = None

    def _is_refused(self, row: RequestRow) -> bool:
        """Whether it is the request of this run that was refused last."""
        return self._refused is not None and self._refused.number == row.number

    def ended(self, task: Task) -> None:
        """Note how a task of ours has ended."""
        for row in [row for row in self._rows if row.task_id == task.id and tells_another_end(row, task)]:
            # The answer to the request may have shown another begin.
            self._note(row, outcome=outcome_of(task), began=task.start_time or row.began)

    def witnessed(self, task: Task, names: Iterable[str]) -> None:
        """See note_witness; ``names`` are those of the members."""
        keys = [self._keys[name] for name in names if name in self._keys]
        note_witness(self._journal, self._api, self._target, keys, task, self._change, self._clock)

    def skipped_tasks(self) -> frozenset[int]:
        """The tasks of own requests that are noted to have skipped a step."""
        return frozenset(row.task_id for row in self._here if row.task_id is not None and row.outcome == SKIPPED)

    def _is_of_change(self, row: RequestRow) -> bool:
        return self._change.has(row, self._api.service_clock)

    # What the service does not show

    def completed(self, look: Look) -> Iterator[TaskOnTarget]:
        """The tasks of own requests on the target that are too new to be shown, or are shown without a target."""
        members = look.observed.members
        shown = {entry.record["id"]: entry for entry in look.tasks}
        listed = {task["id"]: TaskOnTarget(task, frozenset()) for task in look.listed}
        for row in self._rows:
            if row.outcome == REFUSED or row.task_id is None or not self._journal.is_of_service(row, self._api.url):
                continue
            entry = shown.get(row.task_id)
            if entry is None and row.task_id in listed and not self._touches(row):
                continue
            entry = entry or listed.get(row.task_id)
            if entry is not None and self._is_of_another(row, entry):
                entry = None
            found = self._unseen(row, members) if entry is None else self._told(row, entry, members)
            if found is not None:
                yield found
        yield from self._gone(look)

    def _gone(self, look: Look) -> Iterator[TaskOnTarget]:
        """The tasks that might start a member when the name was first used, that no list shows any more.

        Unless its start decides, one of them may have started the member since.
        """
        change = self._request.change
        if change is None or not look.reads_tasks:
            return
        noted = self._journal.sights(change, self.keys)
        sights = _by_name(self._keys, noted, self._api.service_clock)
        for member in look.observed.members:
            sight = sights.get(member.name)
            if sight is None or sight.of_start(member).is_sure:
                continue
            at = datetime.fromtimestamp(noted[self._keys[member.name]].at, UTC).isoformat()
            for number in sight.starting - look.ids:
                record = {"id": number, "name": self._target.task_name, "status": GONE, "finishTime": at}
                yield TaskOnTarget(record, frozenset([member.name]))

    def _is_of_another(self, row: RequestRow, shown: TaskOnTarget) -> bool:
        """Whether the id of a request's task is now that of another one, which restarts no part of the target."""
        if shown.restarts != frozenset() or not self._touches(row):
            return False
        if row.kind == self._target.kind and not self._target.may_be_of(shown.record):
            return True
        is_done = row.outcome in (SUCCESSFUL, IN_EFFECT)
        return is_done and has_another_begin(row.began, shown.task.start_time)

    def own_restarts(
        self, tasks: Iterable[Mapping[str, object]], rows: Iterable[RequestRow] | None = None
    ) -> list[OwnRestart]:
        """The restarts requested by this controller that may be running, by all ``tasks`` of the cluster."""
        # Of what is noted as done nothing runs, whatever a list that lags shows.
        chosen = [row for row in (self._rows if rows is None else rows) if row.outcome not in DONE]
        listed = _listed_tasks(tasks, chosen)
        running = [row for row in chosen if self._may_run(row, listed.get(row.task_id))]
        return [
            replace(_restart_of(row), until=self._counts_until(row), has_ended=_has_ended(row, listed.get(row.task_id)))
            for row in running
        ]

    def _counts_until(self, row: RequestRow) -> str:
        """The time of the service until which a request without a task counts as a restart that runs."""
        shown = [instant(each.start) for _key, each in row.members]
        return time_in(self._ages.unseen_for(row), self._api.service_clock, self._clock, shown)

    def _touches(self, row: RequestRow) -> bool:
        mine = set(self._own_keys)
        return any(key in mine for key, _shown in row.members)

    def _is_new(self, row: RequestRow) -> bool:
        """Whether the service may not show its task yet."""
        is_open = row.outcome not in ENDS and self._journal.is_of_service(row, self._api.url)
        return is_open and not row.settled and self._ages.may_be_unseen(row)

    def _may_run(self, row: RequestRow, listed: Task | None) -> bool:
        """Whether it may run. A new installation of the service gives the same ids to other tasks."""
        if row.outcome == REFUSED or self._is_refused(row):
            return False
        if listed is None:
            return not row.back and (self._is_new(row) or self._has_just_left_undone(row, None))
        is_same = not has_another_begin(row.began, listed.start_time)
        return is_same and (not listed.finished or self._has_just_left_undone(row, listed))

    def _has_just_left_undone(self, row: RequestRow, listed: Task | None) -> bool:
        """Whether its task, as noted and as ``listed``, may just have left servers down, which does not show yet."""
        is_undone = row.outcome in UNDONE or (listed is not None and leaves_undone(listed))
        if row.back or not is_undone:
            return False
        if listed is None or instant(listed.finish_time) is None:
            return self._ages.may_be_within(row, UNSEEN_FOR)
        return has_just_ended(listed, earliest_service_time(self._api.service_clock, self._clock))

    def _unseen(self, row: RequestRow, members: Collection[Member]) -> TaskOnTarget | None:
        """Its task as far as it is known, if some of these members are its own and show the start of before.

        A task that the service does not show any more counts as it was noted, as long as its change is open.
        """
        is_new = self._is_new(row)
        if not is_new and (row.settled or not self._is_of_change(row)):
            return None
        by_key = _names_by_key(self._keys)
        parts = {by_key[key]: shown for key, shown in row.members if key in by_key}
        there = {member.name: member for member in members}
        waiting = [
            name
            for name, shown in parts.items()
            if name in there and not has_moved(noted_member(name, shown), there[name])
        ]
        if not waiting:
            return None
        began = {} if row.began is None else {"startTime": row.began}
        status = RUNNING if is_new else _NOTED.get(str(row.outcome), GONE)
        # The time of its end is not known; without one it would be at work.
        ended = {} if is_new else {"finishTime": row.began or datetime.fromtimestamp(row.at, UTC).isoformat()}
        record = {"id": row.task_id, "name": row.task_name, "status": status, **began, **ended}
        return TaskOnTarget(record, _all_or(frozenset(parts), there))

    def _told(self, row: RequestRow, shown: TaskOnTarget, members: Collection[Member]) -> TaskOnTarget | None:
        """Its task as shown, if the service does not show what that restarts; None if it is another task."""
        task = shown.task
        is_another = None in (row.began, task.start_time) or has_another_begin(row.began, task.start_time)
        if is_another or shown.restarts != frozenset():
            return None
        there = {member.name for member in members}
        by_key = _names_by_key(self._keys)
        parts = frozenset(by_key[key] for key, _shown in row.members if key in by_key)
        others = frozenset(key.address for key, _shown in row.members if key.kind not in WITHOUT_ADDRESS)
        return TaskOnTarget(shown.record, _all_or(parts, there) if parts else others)


def _reaches_back(row: RequestRow, look: Look) -> bool:
    """Whether the service still lists a task that had ended before a request, and so would list that of the request."""
    ended = {task["id"] for task in look.listed if is_finished(dict(task))}
    return not ended.isdisjoint(row.known or ())


def _listed_tasks(tasks: Iterable[Mapping[str, Any]], rows: Collection[RequestRow]) -> dict[Any, Task]:
    """The tasks of these rows, without the steps that do not matter: a batch reads them once for each server.

    What an ended task has left undone shows in its steps, and matters until its servers are back.
    """
    wanted = {row.task_id for row in rows}
    missing = {row.task_id for row in rows if not row.back}

    def read(task: Mapping[str, Any]) -> Task:
        is_whole = task["id"] in missing and is_finished(dict(task))
        shown = dict(task) if is_whole else {name: task[name] for name in task if name not in STEPS}
        return Task.from_api(shown)

    return {task["id"]: read(task) for task in tasks if task["id"] in wanted}


def note_witness(
    journal: Journal,
    api: OcpApi,
    target: Target,
    keys: Sequence[MemberKey],
    task: Task,
    change: Change,
    clock: Clock,
) -> None:
    """Note a restart of these members that proves the change, and that OCP may forget, unless it is noted for that.

    Somebody else has requested it, or we for another change. It is noted as a request of the time at which the task
    began, which has SUCCEEDED. Called with the lock of the cluster held.
    """
    began = instant(task.start_time)
    if began is None or not keys:
        return
    age = (service_time(api.service_clock, clock) - began).total_seconds()
    with suppress(JournalError):
        noted = (each for each in journal.requests(keys) if each.task_id == task.id and each.outcome != REFUSED)
        if not any(change.has(each, api.service_clock) for each in noted):
            number = journal.begin(_witness(api, target, keys, change, clock.wall() - age))
            journal.note(number or 0, task_id=task.id, began=task.start_time, outcome=SUCCESSFUL, back=True)


def _witness(api: OcpApi, target: Target, keys: Sequence[MemberKey], change: Change, at: float) -> RequestRow:
    """The row for a restart of these members that began at this time by this controller's clock."""
    return RequestRow(
        None,
        at,
        target.kind,
        target.task_name,
        tuple((key, Shown()) for key in keys),
        change.name,
        values_text(change.values),
        api.url,
        token=uuid4().hex,
        ahead=api.service_clock.bounds,
        timeout=api.timeout,
        witnessed=True,
        since=change.since,
    )


def taken_down(keys: Mapping[str, MemberKey], observed: Observation, late: Collection[str] = ()) -> tuple[Place, ...]:
    """Where the servers of a target are, all of which a restart of it takes down; none if it has no servers.

    ``keys`` are those of its members. Of ``late`` ones the start of an earlier restart may show later.
    """
    places = {server.member.name: server.place for server in observed.servers}
    servers = [member for member in observed.members if member.name in keys and keys[member.name].kind == "server"]
    return tuple(
        replace(places.get(member.name, Place(member.name)), shown=None if member.name in late else _as_shown(member))
        for member in servers
    )


def wish_of(started_before: datetime | None, until_effective: Mapping[str, str]) -> Wish:
    """What a change with a name asks for besides, by these options."""
    since = started_before.astimezone(UTC).isoformat() if started_before else None
    parts = {"started_before": since, "until_effective": values_text(until_effective)}
    given = {**parts, "started_before": started_before.isoformat() if started_before else None}
    words = ", ".join(f"{option}={value}" for option, value in given.items() if value) or "a restart"
    return Wish(json.dumps(parts, sort_keys=True), words)


def values_text(values: Mapping[str, str]) -> str | None:
    return json.dumps(dict(values), sort_keys=True) if values else None


def noted_sights(
    journal: Journal, change: str, keys: Mapping[str, MemberKey], whole: MemberKey, clock: ServiceClock
) -> dict[str, Sight]:
    """What was shown of servers with these ``keys`` when the name of a change was first used for them, by name.

    Those for which it was not used have joined ``whole``, their cluster, if it was used for that.
    """
    noted = journal.sights(change, [*keys.values(), whole])
    sights = _by_name(keys, noted, clock)
    return sights | (_joined(keys.keys() - sights.keys(), noted[whole], clock) if whole in noted else {})


def _joined(names: Iterable[str], first: FirstSight, clock: ServiceClock) -> dict[str, Sight]:
    """The first sights of members that belong to a whole since its own."""
    then = noted_span(first.at, first.clocks, clock)
    return {
        name: Sight(Member(name, None), frozenset(first.tasks or ()), newest=first.newest, joined=then)
        for name in names
    }


def _by_name(
    keys: Mapping[str, MemberKey],
    noted: Mapping[MemberKey, FirstSight],
    clock: ServiceClock,
    wall: float | None = None,
) -> dict[str, Sight]:
    return {name: _sight(name, noted[key], clock, wall) for name, key in keys.items() if key in noted}


def _sight(name: str, noted: FirstSight, clock: ServiceClock, wall: float | None) -> Sight:
    return Sight(
        noted_member(name, noted.shown),
        None if noted.tasks is None else frozenset(noted.tasks),
        late=bool(noted.late),
        filled=noted.filled,
        newest=noted.newest,
        starting=frozenset(noted.starting),
        running=frozenset(noted.running),
        at=noted_span(noted.at, noted.clocks, clock),
        age=None if wall is None or noted.filled else wall - noted.at,
    )


def _names_by_key(keys: Mapping[str, MemberKey]) -> dict[MemberKey, str]:
    """The names of the members that have these ``keys``."""
    return {key: name for name, key in keys.items()}


def came_since(row: RequestRow, since: float | None, clock: ServiceClock) -> float:
    """When the restart of a request came at the earliest, by this machine's clock, in seconds since 1970.

    One that was for the instant ``since``, or for a later one, came after it whatever the clocks show by now, since an
    instant that is still to come is refused: that is infinity. So did one that proves such an instant, although its
    task may have begun before.
    """
    is_for_it = row.since is not None and since is not None and row.since >= since
    return inf if is_for_it else sent_at(row, clock)


def requested_at(
    rows: Iterable[RequestRow], keys: Mapping[str, MemberKey], since: float | None, clock: ServiceClock
) -> dict[int, dict[str, float]]:
    """When the restart of each task came, by the names of its members; see came_since about ``since``.

    A task may have several rows: its request, and proofs of other changes for some of its members.
    """
    by_key = _names_by_key(keys)
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        if row.task_id is None:
            continue
        at, members = came_since(row, since, clock), found.setdefault(row.task_id, {})
        names = [by_key[key] for key, _shown in row.members if key in by_key]
        members.update({name: max(at, members.get(name, at)) for name in names})
    return found


def noted_at_requests(
    rows: Iterable[RequestRow], keys: Mapping[str, MemberKey], since: float, clock: ServiceClock
) -> dict[str, list[Member]]:
    """What members with these ``keys`` showed when a restart of them was requested since an instant, by name."""
    later = [row for row in rows if came_since(row, since, clock) >= since]
    noted = [(key, shown) for row in later for key, shown in row.members]
    return {name: [noted_member(name, shown) for key, shown in noted if key == mine] for name, mine in keys.items()}


def _all_or(parts: frozenset[str], everything: Collection[str]) -> frozenset[str] | None:
    return None if len(parts) == len(everything) else parts


def _has_ended(row: RequestRow, listed: Task | None) -> bool:
    """Whether its task has ended without doing its work, as noted or as ``listed``."""
    return row.outcome in UNDONE or (listed is not None and listed.finished and leaves_undone(listed))


def _restart_of(row: RequestRow) -> OwnRestart:
    """What it takes down."""
    names = frozenset(key.address for key, _shown in row.members)
    numbers = frozenset(key.id for key, _shown in row.members if key.id is not None)
    is_arbiter = row.kind == "arbitration_service"
    return OwnRestart(row.task_id, frozenset() if is_arbiter else names, numbers if is_arbiter else frozenset())


def _have_moved(parts: Mapping[str, Shown], members: Iterable[Member]) -> bool:
    there = {member.name: member for member in members}
    return bool(parts) and all(
        name in there and has_moved(noted_member(name, shown), there[name]) for name, shown in parts.items()
    )


def _may_start(look: Look) -> tuple[frozenset[int], frozenset[int]]:
    """The tasks that might start the target from now on, and those that might if they are rolled back."""
    # Somebody may retry a FAILED task that holds it.
    failed = {task.id for task in (*look.named_failed, look.failure) if task is not None}
    starting = {entry.task.id for entry in look.tasks if may_start_yet(entry.task) or entry.task.id in failed}
    running = {entry.task.id for entry in look.tasks if not entry.task.finished}
    return look.unseen | starting, look.unseen | running


def _sorted(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(numbers))


def _as_shown(member: Member) -> Shown:
    """A start that is computed from an uptime is noted too: processes may have the same numbers after each start."""
    computed = member.started.isoformat() if member.started is not None and member.pids else None
    return Shown(member.start_time or computed, tuple(sorted((member.pids or {}).items())), bool(member.is_ahead))


# What a noted outcome says of a task that the service does not show any more; GONE for every other. Somebody may have
# retried one that FAILED, or skipped its failed step.
_NOTED = {SUCCESSFUL: SUCCESSFUL, IN_EFFECT: SUCCESSFUL, ROLLED_BACK: FAILED}
