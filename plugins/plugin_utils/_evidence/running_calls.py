# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a module that has no result yet has noted: for what it runs, its plan, what has ended, what is in flight."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...module_utils._base.parsing import Record, integer
from ...module_utils._base.text import one_line
from .notes_of_workers import OF_CHANGE
from .place import Place, now_text
from .restart_entries import SERVERS, inspection_entry, is_restart, restart_entries
from .target_list import TargetList


@dataclass
class _Call:
    """One call of the module: for an item of a loop, or one try.

    ``plan`` is what it has planned, and when; ``ended`` has targets as in the document, ``in_flight`` those with the
    ids of their tasks and the names of their members. ``part`` has its targets, and all ``planned`` ones.
    ``inspections`` are as in the document.
    """

    place: Place
    part: Record | None = None
    plan: tuple[Record, str] | None = None
    ended: list[Record] = field(default_factory=list)
    in_flight: list[Record] = field(default_factory=list)
    inspections: list[Record] = field(default_factory=list)
    is_over: bool = False


class RunningCalls:
    """The calls of a module by one task on one host. ``place`` is the one of the task."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._begun_at = place.entry()
        self._calls: list[_Call] = []
        self._is_watched = False

    @property
    def is_known(self) -> bool:
        """Whether all that it may have restarted is noted; an ordinary module notes nothing."""
        return self._is_watched or not is_restart(self._place.module)

    @property
    def place(self) -> Place:
        """The place of the call that runs."""
        return self._calls[-1].place if self._calls else self._place

    def note(self, note: Record) -> None:
        """Add a note; those of a call begin with what it is for."""
        if "for" in note:
            change, instant = (one_line(note["for"][option]) for option in OF_CHANGE)
            place = replace(self._place, change=change, started_before=instant, check_mode=note["for"]["check_mode"])
            self._calls.append(_Call(place))
            self._is_watched = True
        if not self._calls:
            return
        call = self._calls[-1]
        call.is_over = call.is_over or "over" in note
        call.part = note.get("part", call.part)
        if "plan" in note:
            call.plan = note["plan"], now_text()
        if "ended" in note:
            module, checks = call.place.module, call.place.check_mode
            entries = restart_entries(module, {SERVERS[module]: [note["ended"]]}, checks)
            call.ended += [{**call.place.head(), **entry} for entry in entries]
        if "inspected" in note:
            call.inspections.append({**call.place.entry(), **inspection_entry(note["inspected"])})
        call.in_flight = list(_in_flight(call.in_flight, note))

    def returned(self) -> RunningCalls:
        """A call has given its result, the first one that is over: an item may fail before its call. Returns that."""
        alone = RunningCalls(self._place)
        alone._begun_at = self._begun_at
        over = next((call for call in self._calls if call.is_over), None)
        if over is not None:
            self._calls.remove(over)
            alone._calls = [over]
        return alone

    def leave_out(self, entries: list[Record]) -> None:
        """Leave out the targets of these entries of a result: they are known by that."""
        names = {name for entry in entries for name in (entry["name"], *(one["name"] for one in entry["members"]))}
        tasks = {entry["task"]["id"] for entry in entries if entry["task"] is not None}
        for call in self._calls:
            call.ended = [one for one in call.ended if one["name"] not in names]
            call.in_flight = [
                one for one in call.in_flight if one["task_id"] not in tasks and not names.issuperset(one["members"])
            ]

    def add_to(self, found: TargetList, *, have_result: bool) -> None:
        """Add the plan and what has ended; ``have_result``: what the calls were for is known by that."""
        for call in self._calls:
            if call.part is not None:
                begun = call.part["targets"] if have_result or call.in_flight else []
                found.add_part(call.place, call.part["planned"], begun)
            if call.plan is not None:
                plan, at = call.plan
                found.add_plan(call.place, {"plan": plan}, at)
            found.targets += call.ended

    @property
    def inspections(self) -> list[Record]:
        """What inspections have found."""
        return [one for call in self._calls for one in call.inspections]

    @property
    def is_in_flight(self) -> bool:
        """Whether anything is."""
        return any(call.in_flight for call in self._calls)

    @property
    def members_in_flight(self) -> set[str]:
        """The names of what is in flight, or a part of it."""
        return {name for call in self._calls for one in call.in_flight for name in one["members"]}

    def entry(self) -> Record:
        """As it stands in ``unfinished``."""
        flying = [one for call in self._calls for one in call.in_flight]
        shown = [{key: one[key] for key in ("target", "task_id")} for one in flying]
        return {**self._begun_at, "check_mode": self.place.check_mode, "in_flight": shown}


def _in_flight(before: list[Record], note: Record) -> list[Record]:
    """What is in flight after a note: a request that is sent, one that was refused, a task that began or ended."""
    sent, refused, began, ended = (note.get(key) for key in ("asked", "refused", "began", "ended"))
    if ended is not None:
        return [one for one in before if one["task_id"] is None or one["task_id"] != ended["task_id"]]
    if refused is not None:
        return [one for one in before if one["target"] != one_line(refused["target"])]
    new = began or sent
    if new is None:
        return before
    entry = {"target": one_line(new["target"]), "task_id": integer(new.get("task_id"))}
    members = [str(one_line(name)) for name in new["members"]]
    return [*(one for one in before if one["target"] != entry["target"]), {**entry, "members": members}]
