# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The decision: an ordered list of rules over what is known, the first that applies wins.

Each rule is a row of the table in docs/at-most-once-reference.md. Check mode makes no difference. Nothing is sent while
a task works on the target or holds it, nothing is skipped without proof, and no restart that has happened is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from .knowledge import InFlight, Knowledge, Member, Relative, Request, Task, Values, Wish, Work


class Step(Enum):
    """What to do next. QUEUE: wait for tasks; WAIT: wait for what has to show; both then look again."""

    SEND = "send"
    SKIP = "skip"
    JOIN = "join"
    ADOPT = "adopt"
    QUEUE = "queue"
    WAIT = "wait"
    FAIL = "fail"


class Rule(Enum):
    """Why, as a row of the table."""

    OWN_TASK = "a task of our own request runs, or has run"
    HELD = "a FAILED task holds it"
    RUNNING = "a restart of it is running, begun since the change"
    NOT_THERE = "the service no longer shows it, or a part of it"
    DONE = "all of it has started since the change, or shows the wanted values, and it serves"
    VALUES_PROVE_NOTHING = "it shows the wanted values, but nothing shows that it runs with them"
    NOT_SERVING = "all of it has started since the change, but it does not serve"
    BUSY = "anything else is running on it"
    VALUES_LATE = "it has just restarted, and may show its values late"
    VALUES_NOT_TAKEN = "it has started since the change, or for these values, and shows others"
    START_LATE = "a restart that began since has succeeded, and its start does not show yet"
    START_MISSING = "a restart that began since has succeeded, and its start does not show"
    STEP_SKIPPED = "a restart that began since has skipped a step"
    START_OPEN = "a restart that began since did not succeed, and the start that it may have made may show later"
    TASK_GONE = "a restart that this controller requested since is gone, and how it ended is not known"
    REQUEST_OPEN = "a request of this controller may have started a task that does not show yet"
    REQUEST_HERE = "a request of this process may still be delivered"
    REQUEST_UNSEEN = "this controller has requested it for the change, and no task and no start shows whether it ran"
    NOTHING_SHOWN = "the service shows nothing of it"
    TASKS_HIDDEN = "no start and no clock decides, and no task shows whether it was restarted"
    TASK_UNTOLD = "a restart that began since has succeeded, of what is not shown, and its start may show later"
    CLOCKS_OVERLAP = "no start and no clock decides, and a task may have restarted it"
    START_MOVED = "its start is another one than before, but is not since the change by any clock, and no task decides"
    EARLIER_START = "the name of the change is new, and the start of an earlier restart may show later"
    NEEDED = "nothing proves a start since the change"


@dataclass(frozen=True)
class Decision:
    """What to do with these ``members``, by which rule.

    ``tasks`` are the ids of those that are joined, adopted, waited for, or that decide. ``rest`` are members that need
    the restart although others have just had it.
    """

    rule: Rule
    step: Step
    members: frozenset[str] = frozenset()
    tasks: tuple[int, ...] = ()

    @property
    def sends(self) -> bool:
        """Whether it leads to a request."""
        return self.step is Step.SEND


@dataclass(frozen=True)
class Case:
    """What is known and wanted, and what several rules ask of it."""

    known: Knowledge
    wish: Wish

    @cached_property
    def stale(self) -> tuple[Member, ...]:
        """The members that need the restart."""
        return tuple(member for member in self.known.members if self._needs(member))

    @cached_property
    def names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(member.name for member in self.stale)

    @cached_property
    def needed(self) -> frozenset[str]:
        """The same; all members if none needs it."""
        return self.names or frozenset(member.name for member in self.known.members)

    @cached_property
    def running(self) -> tuple[Task, ...]:
        """The tasks that work on the target."""
        return tuple(task for task in self.known.tasks if task.work is Work.RUNNING)

    @cached_property
    def untold(self) -> tuple[Task, ...]:
        """The tasks since that may have been of the target, for all that the service shows."""
        return tuple(task for task in self.known.tasks if not task.is_told)

    @property
    def is_busy(self) -> bool:
        """Whether anything works on it."""
        return bool(self.running) or self.known.is_moving

    @cached_property
    def satisfying(self) -> Task | None:
        """The running restart of all that needs it."""
        return next((task for task in self.running if self._satisfies(task)), None)

    @cached_property
    def late(self) -> tuple[Member, ...]:
        """Of those, the ones that have started since, and need it for their values."""
        if not self.wish.has_values:
            return ()
        return tuple(member for member in self.stale if not self.wish.is_dated or self.has_started(member))

    @cached_property
    def due(self) -> Mapping[str, Task]:
        """Members whose start need not show yet, each with the newest restart that made it."""
        settled = {member.name for member in self.late if member.is_new}
        open_ones = [member for member in self.stale if member.name not in settled] if self.wish.is_conditional else ()
        done = [task for task in self.known.tasks if task.work is Work.RESTARTED and task.is_due]
        found = {
            member.name: next((task for task in done if self._may_show(task, member)), None) for member in open_ones
        }
        return {name: task for name, task in found.items() if task is not None}

    def _may_show(self, task: Task, member: Member) -> bool:
        """Whether the start that a task has made may still show. A task that may have begun before needs a wait."""
        is_unclear = self.wish.waits and member.start is Relative.BEFORE and member.name in task.unclear
        return member.name in task.since or is_unclear

    @property
    def newest_due(self) -> tuple[int, ...]:
        """The newest of the restarts whose start may still show."""
        return self.newest({task.id for task in self.due.values()})

    def newest(self, numbers: Collection[int]) -> tuple[int, ...]:
        """The newest of the tasks with these ids, as one of them."""
        return tuple(task.id for task in self.known.tasks if task.id in numbers)[:1]

    @property
    def is_all_due(self) -> bool:
        """Whether the start of each that needs it need not show yet."""
        return bool(self.due) and self.due.keys() == self.names

    def has_started(self, member: Member) -> bool:
        """Whether a member has started since: as shown, or by a task where no start is shown, or clocks do not tell."""
        if member.start.is_sure:
            return member.start is Relative.SINCE
        return self.wish.is_dated and bool(self.restarted_by(member.name, Work.RESTARTED))

    def restarted_by(self, member: str, *kinds: Work) -> list[Task]:
        """The tasks of these kinds that began since to restart a member."""
        return [task for task in self.known.tasks if task.work in kinds and member in task.since]

    @property
    def proofs(self) -> Mapping[int, frozenset[str]]:
        """The tasks that alone prove of members that they restarted since, by id, each with their names."""
        unsure = [member.name for member in self.known.members if member.start is not Relative.SINCE]
        found: dict[int, frozenset[str]] = {}
        for name in unsure if self.wish.is_dated else ():
            for task in self.restarted_by(name, Work.RESTARTED)[:1]:
                found[task.id] = found.get(task.id, frozenset()) | {name}
        return found

    def _needs(self, member: Member) -> bool:
        if not self.wish.is_conditional:
            return True
        if self.wish.has_values and member.values is Values.IN_EFFECT and not self.known.values_doubted:
            return False
        if self.wish.is_dated and not self.has_started(member):
            return True
        hidden = member.values is Values.HIDDEN and not self.wish.is_dated and member.serves is False
        return self.wish.has_values and (member.values is Values.OTHERS or hidden)

    def _satisfies(self, task: Task) -> bool:
        since = task.since if self.wish.is_dated else task.restarts
        return bool(task.restarts) and self.needed <= (task.restarts & since)


def _own_task(case: Case) -> Decision | None:
    if len(case.known.own) != 1:
        return None
    return Decision(Rule.OWN_TASK, Step.ADOPT, case.needed, tuple(case.known.own))


def _held(case: Case) -> Decision | None:
    if case.known.holder is None:
        return None
    return Decision(Rule.HELD, Step.FAIL, case.names, (case.known.holder,))


def _running(case: Case) -> Decision | None:
    joins = case.wish.in_flight is InFlight.ATTACH or (case.wish.in_flight is InFlight.QUEUE and case.wish.is_dated)
    # Without a date a restart from before the values were set would do.
    is_in_doubt = case.wish.has_values and not case.wish.is_dated and not case.stale
    if case.satisfying is None or not joins or is_in_doubt:
        return None
    return Decision(Rule.RUNNING, Step.JOIN, case.needed, (case.satisfying.id,))


def _not_there(case: Case) -> Decision | None:
    return None if case.known.is_there else Decision(Rule.NOT_THERE, Step.FAIL, case.names)


def _none_needed(case: Case) -> Decision | None:
    """All have started since, or show the wanted values: they are left alone if they serve, too."""
    if not case.wish.is_conditional or not case.known.members or case.stale:
        return None
    if case.running and not case.wish.is_dated and case.wish.in_flight is InFlight.QUEUE:
        return _conflict(case)
    if case.known.serves is not False:
        doubted = not case.wish.is_dated and case.known.values_doubted
        return Decision(Rule.VALUES_PROVE_NOTHING, Step.FAIL) if doubted else Decision(Rule.DONE, Step.SKIP)
    return _conflict(case) if case.is_busy else Decision(Rule.NOT_SERVING, Step.FAIL)


def _busy(case: Case) -> Decision | None:
    return _conflict(case) if case.is_busy and not case.is_all_due else None


def _conflict(case: Case) -> Decision:
    if case.wish.in_flight is InFlight.QUEUE:
        return Decision(Rule.BUSY, Step.QUEUE, case.names, tuple(task.id for task in case.running))
    first = case.satisfying or next(iter(case.running), None)
    return Decision(Rule.BUSY, Step.FAIL, case.names, () if first is None else (first.id,))


def _values(case: Case) -> Decision | None:
    """Members that have restarted, some by tasks that are due, and do not show the wanted values."""
    if not case.wish.has_values or not (case.due or case.late):
        return None
    names = frozenset(case.due) | {member.name for member in case.late}
    if case.due:
        return Decision(Rule.VALUES_LATE, Step.WAIT, names, case.newest_due)
    if case.wish.settles and any(member.is_new for member in case.late):
        return Decision(Rule.VALUES_LATE, Step.WAIT, names)
    if case.wish.is_dated or any(member.was_tried for member in case.late):
        return Decision(Rule.VALUES_NOT_TAKEN, Step.FAIL, names)
    return None


def _start_late(case: Case) -> Decision | None:
    if not case.due:
        return None
    tasks, rest = case.newest_due, case.names.difference(case.due)
    is_unclear = any(name not in task.since for name, task in case.due.items())
    if case.wish.waits and (is_unclear or not case.wish.proven_later):
        return Decision(Rule.START_LATE, Step.WAIT, rest, tasks)
    if case.is_all_due and case.known.serves is False:
        return Decision(Rule.START_LATE, Step.FAIL, frozenset(), tasks)
    # Without a wait there will be no other look.
    return None if rest else Decision(Rule.START_LATE, Step.SKIP, frozenset(), tasks)


def _start_missing(case: Case) -> Decision | None:
    """Of the members that need it, the work of a task says that it was done, or may have been: not a second time."""
    if not case.wish.is_dated:
        return None
    for rule, work in _FINAL:
        found = {name: tasks for name in case.names.difference(case.due) if (tasks := case.restarted_by(name, work))}
        if found:
            newest = case.newest({task.id for task, *_others in found.values()})
            return Decision(rule, Step.FAIL, frozenset(found), newest)
    return None


# What is not followed by another restart for the same change.
_FINAL = (
    (Rule.START_MISSING, Work.RESTARTED),
    (Rule.STEP_SKIPPED, Work.SKIPPED),
    (Rule.TASK_GONE, Work.GONE),
)


def _start_open(case: Case) -> Decision | None:
    """What did not succeed, or was undone, may have started what shows the start of before."""
    if not case.wish.is_dated:
        return None
    shown = {member.name for member in case.stale if member.start is Relative.BEFORE}
    ran = [task for task in case.known.tasks if task.is_due and task.work in (Work.RAN, Work.UNDONE)]
    found = {task.id: shown & (task.since | task.unclear) for task in ran}
    names: frozenset[str] = frozenset().union(*found.values())
    step = Step.WAIT if case.wish.waits else Step.FAIL
    numbers = {number for number, members in found.items() if members}
    return Decision(Rule.START_OPEN, step, names, case.newest(numbers)) if names else None


def _request_open(case: Case) -> Decision | None:
    for request in case.known.requests:
        if request.is_here:
            return Decision(Rule.REQUEST_HERE, Step.FAIL, request.members)
        if not request.is_searched:
            return Decision(Rule.REQUEST_OPEN, Step.WAIT, request.members)
        if request.is_of_change and (not case.known.reads_tasks or _may_have_made_it(case, request)):
            return Decision(Rule.REQUEST_UNSEEN, Step.FAIL, request.members)
        if request.is_of_change and request.is_due and not case.names.isdisjoint(request.members):
            return Decision(Rule.REQUEST_OPEN, Step.WAIT, request.members)
    return None


def _may_have_made_it(case: Case, request: Request) -> bool:
    """Whether a start may be that of a request: it is not known to be before it, or nothing of the request can show."""
    left_open = (Relative.UNCLEAR, Relative.HIDDEN) if request.is_forgotten else (Relative.UNCLEAR,)
    return any(member.start in left_open and member.name in request.members for member in case.stale)


def _nothing_shown(case: Case) -> Decision | None:
    is_hidden = not case.known.members and case.wish.is_conditional
    return Decision(Rule.NOTHING_SHOWN, Step.FAIL) if is_hidden else None


def _tasks_hidden(case: Case) -> Decision | None:
    open_ones = [member for member in case.stale if not member.start.is_sure]
    untold = [task for task in case.untold if any(_leaves_open(task, member) for member in open_ones)]
    if not case.wish.is_dated or not open_ones or (case.known.reads_tasks and not untold):
        return None
    return Decision(Rule.TASKS_HIDDEN, Step.FAIL, case.names, tuple(task.id for task in untold[:1]))


def _task_untold(case: Case) -> Decision | None:
    """A restart that may have been of the target, and whose start may still show."""
    if not case.wish.is_dated or not case.stale:
        return None
    tasks = [task.id for task in case.untold if task.work.is_final and task.is_due]
    step = Step.WAIT if case.wish.waits else Step.FAIL
    return Decision(Rule.TASK_UNTOLD, step, case.names, case.newest(tasks)) if tasks else None


def _clocks_overlap(case: Case) -> Decision | None:
    if not case.wish.is_dated:
        return None
    found = {
        member.name: [task.id for task in case.known.tasks if _may_have_restarted(task, member)]
        for member in case.stale
    }
    in_doubt = {name: tasks for name, tasks in found.items() if tasks}
    if not in_doubt:
        return None
    newest = case.newest({tasks[0] for tasks in in_doubt.values()})
    return Decision(Rule.CLOCKS_OVERLAP, Step.FAIL, frozenset(in_doubt), newest)


def _may_have_restarted(task: Task, member: Member) -> bool:
    """Whether a task that began about the time of the change, or since, may have restarted a member since."""
    # Of a task that is final and began since, the row about a start that is missing has decided.
    names = task.unclear if task.work.is_final else task.since | task.unclear
    return member.name in names and _leaves_open(task, member)


def _leaves_open(task: Task, member: Member) -> bool:
    """Whether a task of a member may have restarted it, as far as the start tells that is shown of the member."""
    # A start that clocks can place shows what a task has done that did not succeed.
    ran = (Work.RAN, Work.UNDONE)
    may_have = {Relative.MOVED: ran, Relative.UNCLEAR: ran, Relative.HIDDEN: (Work.RAN,)}
    return task.work.is_final or task.work in may_have.get(member.start, ())


def _start_moved(case: Case) -> Decision | None:
    moved = frozenset(member.name for member in case.stale if member.start is Relative.MOVED)
    return Decision(Rule.START_MOVED, Step.FAIL, moved) if case.wish.is_dated and moved else None


def _earlier_start(case: Case) -> Decision | None:
    """Later, no start that shows would tell whether it is since the name."""
    is_late = any(member.is_late for member in case.stale)
    return Decision(Rule.EARLIER_START, Step.WAIT, case.names) if is_late else None


def _needed(case: Case) -> Decision | None:
    return Decision(Rule.NEEDED, Step.SEND, case.names.difference(case.due))


RULES: tuple[Callable[[Case], Decision | None], ...] = (
    _own_task,
    _held,
    _running,
    _not_there,
    _none_needed,
    _busy,
    _values,
    _start_late,
    _start_missing,
    _start_open,
    _request_open,
    _nothing_shown,
    _tasks_hidden,
    _task_untold,
    _clocks_overlap,
    _start_moved,
    _earlier_start,
    _needed,
)


def decide(known: Knowledge, wish: Wish) -> Decision:
    """The decision by the first rule that applies; a pure function."""
    case = Case(known, wish)
    return next(decision for rule in RULES if (decision := rule(case)) is not None)
