# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a plan may expect of a server: whether its restart would be needed, by the same rules as that restart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from .._base.clock import Clock
from .._base.errors import JournalError, NotFound, TargetBusy
from .._base.parsing import Record
from .._base.service_clock import service_time, to_service_clock
from .._journal.open_journal import open_journal
from .._journal.rows import MemberKey, RequestRow
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.server import Server
from .._targets.serving import RUNNING
from .._targets.target import Member, Observation
from .._waiting.poll_pauses import UNSEEN_FOR
from .change import Begin, begun_by
from .failure_limit import begin_of
from .know import Memory, know, undecided
from .knowledge import Relative, Wish
from .look import Look, newest_first
from .own_notes import Change, note_witness, noted_at_requests, noted_sights, requested_at, wish_of
from .reader import with_starts_to_come
from .reasons import Told, reason_of
from .rules import Rule, Step, decide
from .values_seen import ValuesSeen


@dataclass(frozen=True)
class Outlook:
    """Whether a server needs the restart, and why.

    ``is_doubted``: its values prove nothing either way. ``restarted``: it has started since the change, so that no
    other restart is sent for it, whatever it still needs.
    """

    needed: bool
    reason: str
    is_doubted: bool = False
    restarted: bool = False


class Foresight:
    """Judges servers for one change, at this moment by the clocks of the service.

    Only ``note_proofs`` writes to the journal.

    Raises OptionError for a clock that cannot be trusted or a name that asks for something else, and JournalError.
    """

    def __init__(self, api: OcpApi, change: Change, clock: Clock) -> None:
        self.warnings: list[str] = []
        self._api = api
        self._change = change
        self._clock = clock
        self._since: datetime | None = None
        self._details: dict[int, Record] = {}
        self._unbegun: set[str] = set()
        # Servers that only a task proves to have restarted, each as the journal calls it, and with that task.
        self._proofs: list[tuple[Server, list[MemberKey], Task]] = []
        self._journal = open_journal(
            change.journal_url, read_only=True, is_required=change.name is not None, warnings=self.warnings
        )
        if change.started_before is not None:
            self._since, more = to_service_clock(change.started_before, api.service_clock, clock.wall())
            self.warnings += more

    @property
    def unbegun(self) -> dict[str, str]:
        """The name of the change, if that alone is asked for, by the servers that were judged and it is new for."""
        name = self._change.name
        is_alone = self._change.started_before is None and not self._change.values
        return dict.fromkeys(self._unbegun, name) if name is not None and is_alone else {}

    def began(self) -> datetime | None:
        """When the change began, by the clock of the service; None if it has not. Raises JournalError."""
        name = self._change.name
        uses = [] if name is None else self._journal.first_uses(name)
        return begin_of(self._change.started_before, uses, self._api.service_clock, self._clock.wall())

    def of(
        self, server: Server, member: Member, listed: Sequence[Record] | None, values: ValuesSeen | None = None
    ) -> Outlook:
        """The decision about a server by its start, its values and the ended ones of the ``listed`` tasks.

        Whether it serves, and what works on it, is judged with its cluster. ``listed`` are the tasks of its cluster,
        None if they cannot be read. Raises a ServiceError.
        """
        shown = replace(member, status=RUNNING, inner_status=None, serves=True, operated_by=None, stopped=())
        observed = with_starts_to_come(self._api, Observation(RUNNING, (shown,)), self._clock)
        [shown] = observed.members
        keys = server.member_keys(observed)
        rows = self._journal.requests(keys.values())
        begin = self._begin(keys, server.cluster.whole_key, rows)
        look = Look(observed, service_time(self._api.service_clock, self._clock), reads_tasks=listed is not None)
        if begin.of_start(shown) is not Relative.SINCE:
            look = self._with_tasks(look, server, listed or (), begin, values)
        memory = Memory(requested_at(rows, keys, self._change.since, self._api.service_clock))
        known = know(server.may_restart_part, look, begin, values, memory)
        wish = Wish(self._change.is_dated, has_values=values is not None)
        decision = decide(known, wish)
        told = Told(look, known, wish, self._since, self._change.name, values, begin)
        for number in told.case.proofs:
            if (task := look.task(number)) is not None:
                self._proofs.append((server, list(keys.values()), task))
        return Outlook(
            needed=decision.step is not Step.SKIP,
            reason=reason_of(decision, told),
            is_doubted=decision.rule is Rule.VALUES_PROVE_NOTHING,
            restarted=told.has_all_started,
        )

    def note_proofs(self) -> None:
        """Note the tasks that alone prove that servers have restarted: the service may not list them for long."""
        if not self._proofs:
            return
        change = self._change
        journal = open_journal(change.journal_url, read_only=False, is_required=False, warnings=self.warnings)
        with suppress(JournalError, TargetBusy):
            for server, keys, task in self._proofs:
                with journal.lock(server.locks, self._clock, UNSEEN_FOR):
                    note_witness(journal, self._api, server, keys, task, change, self._clock)

    def _begin(self, keys: Mapping[str, MemberKey], whole: MemberKey, rows: Sequence[RequestRow]) -> Begin:
        instant, name = self._change.started_before, self._change.name
        if name is not None:
            self._journal.check(name, wish_of(instant, self._change.values), keys.values())
        sights = None if name is None else noted_sights(self._journal, name, keys, whole, self._api.service_clock)
        self._unbegun.update(keys.keys() - (sights or {}).keys())
        if instant is None:
            return Begin(sights=sights)
        wall = instant.timestamp()
        requested = noted_at_requests(rows, keys, wall, self._api.service_clock)
        return Begin(begun_by(instant, self._api.service_clock), wall, sights, requested)

    def _with_tasks(
        self, look: Look, server: Server, listed: Sequence[Record], begin: Begin, values: ValuesSeen | None
    ) -> Look:
        """The same with the ended tasks on the server, those that decide with their details."""
        found = server.touching(self._api, list(listed))
        ended = replace(look, tasks=[entry for entry in found if entry.task.finished])
        for entry in undecided(server.may_restart_part, ended, begin, values):
            number = entry.record["id"]
            if number not in self._details:
                with suppress(NotFound):
                    self._details[number] = self._api.task(number)
        detailed = [replace(one, record=self._details.get(one.record["id"], one.record)) for one in ended.tasks]
        return replace(ended, tasks=newest_first(detailed))
