# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The reason of each decision in words, and the errors of those that end a restart before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from .._base.cli_hints import (
    BY_OPTIONS,
    NEXT_STEPS_HEADING,
    ONCE,
    RUN_AGAIN,
    Hints,
    adhoc_command,
    look_lines,
    start_line,
)
from .._base.errors import NotVerified, OcpError, OptionError, OutcomeUnknown, TargetBusy
from .._base.parsing import instant
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.serving import is_in_flight, is_stopped
from .._targets.target import Member, Observation, Target
from .change import Begin
from .held import holder_of
from .knowledge import InFlight, Knowledge, Relative, Wish, Work
from .look import Look
from .restart_request import RestartRequest
from .rules import Case, Decision, Rule, Step
from .send_once import then_of_unknown
from .values_seen import ValuesSeen
from .way_out import TO_BRING_BACK, with_way_out

# What a reason begins with in check mode.
WOULD_RESTART, WOULD_JOIN = "would restart it: ", "would wait for the restart that runs: "
UNNAMED_KIND = "the service does not show whether such a task is a restart"


def _next_step(hints: Hints) -> str:
    queue = hints.given("in_flight", "queue")
    return f"run this again when it has ended{f', or wait for it with {queue}{ONCE}' if queue else ''}"


@dataclass(frozen=True)
class Told:
    """What a reason is told from. ``since`` is ``started_before`` by the clock of the service, ``name`` the change."""

    look: Look
    known: Knowledge
    wish: Wish
    since: datetime | None = None
    name: str | None = None
    values: ValuesSeen | None = None
    begin: Begin = field(default_factory=Begin)
    hints: Hints = BY_OPTIONS

    @property
    def case(self) -> Case:
        """The same as the rules see it."""
        return Case(self.known, self.wish)

    @property
    def observed(self) -> Observation:
        """The target as it was read."""
        return self.look.observed

    @property
    def has_all_started(self) -> bool:
        """Whether every member has started since the change, by its start or by a task."""
        return self.wish.is_dated and all(self.case.has_started(member) for member in self.known.members)

    @property
    def condition(self) -> str:
        """The change, in the time zone of the service, so that a reader can compare."""
        if self.since is None:
            return f"change {self.name} was first used" if self.name else "an unknown time"
        return instant_words(self.observed.in_its_zone(self.since))

    @property
    def condition_option(self) -> str:
        """The option that it is given by."""
        return "started_before" if self.since is not None or not self.name else f"change {self.name} was first used"

    def members(self, names: Iterable[str]) -> list[Member]:
        """The members with these names, as they were read."""
        wanted = set(names)
        return [member for member in self.observed.members if member.name in wanted]

    def label(self, task_id: int) -> str:
        """As in ``1001 (Restart OB cluster)``."""
        task = self.look.task(task_id)
        return str(task_id) if task is None else task.label

    def words(self, task_id: int) -> str:
        """As in ``task 1001 (Restart OB cluster)``; of a rollback, that too."""
        task = self.look.task(task_id)
        return f"task {task_id}" if task is None else task.words

    def starts(self, members: Iterable[Member]) -> str:
        """When each of the members started, or which task restarted it where no start is shown."""
        return join_names(map(self._start, members))

    def _start(self, member: Member) -> str:
        known = next(each for each in self.known.members if each.name == member.name)
        task = None
        if not known.start.is_sure:
            task = next(iter(self.case.restarted_by(member.name, Work.RESTARTED)), None)
        record = None if task is None else self.look.task(task.id)
        if record is None:
            return f"{member.name} started at {instant_words(member.started)}"
        return f"{member.name} was restarted by task {record.label}, begun at {_begin(record)}"


def instant_words(time: datetime | None) -> str:
    """In ISO 8601, with milliseconds where there are any."""
    if time is None:
        return "an unknown time"
    return time.isoformat(timespec="milliseconds" if time.microsecond else "seconds")


def reason_of(decision: Decision, told: Told) -> str:
    """Why this was decided, as a part of a sentence."""
    return _REASONS[decision.rule](decision, told)


def _held(decision: Decision, told: Told) -> str:
    return f"task {told.label(decision.tasks[0])} FAILED and holds it"


def _running(decision: Decision, told: Told) -> str:
    task = told.look.task(decision.tasks[0])
    since = f" since {_begin(task)}" if task is not None and task.start_time else ""
    return f"task {told.label(decision.tasks[0])} is restarting it{since}"


def _met(told: Told) -> str:
    """What is shown of the conditions that all members meet."""
    members = told.observed.members
    started = f"{told.starts(members)}, {_not_before(told)}" if told.has_all_started else ""
    return " and ".join(filter(None, (started, told.values.words(members) if told.values else "")))


def _not_before(told: Told) -> str:
    return f"not before {told.condition}" if told.since is not None else f"after {told.condition}"


def _done(_decision: Decision, told: Told) -> str:
    serves = told.observed.serves
    return _met(told) if serves else f"{_met(told)}; the service does not show whether it serves"


def _doubted(_decision: Decision, told: Told) -> str:
    return told.values.doubts(told.observed.members) if told.values else ""


def _not_serving(_decision: Decision, told: Told) -> str:
    return f"{_met(told)}, but {told.observed.trouble}"


def _busy(decision: Decision, told: Told) -> str:
    case = told.case
    running = case.satisfying or next(iter(case.running), None)
    if decision.step is Step.QUEUE:
        what = (
            f"{told.words(running.id)} is running"
            if running
            else f"{moving_words(told.observed)} without a visible task"
        )
        return f"{what} and has to end first"
    if running is None:
        return f"{moving_words(told.observed)}, but no task of it is visible; {_next_step(told.hints)}"
    label = f"{told.words(running.id)} is running"
    if told.wish.is_conditional and not case.stale:
        return f"{_met(told)}, but {told.observed.trouble}, and {label}; {_next_step(told.hints)}"
    if told.wish.in_flight is InFlight.FAIL:
        return f"{label}, and in_flight=fail is set; {_next_step(told.hints)}"
    if not running.restarts or not decision.members <= running.restarts or not decision.members:
        is_part = bool(running.restarts)
        why = "it does not restart everything that is asked for" if is_part else _other_work(running.id, told)
    else:
        why = _begun_words(running.id, told)
    return f"{label}, but {why}; {_next_step(told.hints)}"


def _other_work(task_id: int, told: Told) -> str:
    task = told.look.task(task_id)
    if task is not None and task.is_rolling_back:
        return "the target has not restarted after that"
    return "it is not known to restart this target"


def _begun_words(task_id: int, told: Told) -> str:
    task = told.look.task(task_id)
    if task is None or task.start_time is None:
        return "when it began is not known"
    known = next(each for each in told.known.tasks if each.id == task_id)
    if told.case.needed & known.unclear:
        return f"it is not known whether it began, at {_begin(task)}, before {told.condition_option} or since"
    return f"it began at {_begin(task)}, before {told.condition_option}"


def _begin(task: Task) -> str:
    return instant_words(instant(task.start_time))


def _values_late(decision: Decision, told: Told) -> str:
    if decision.tasks:
        due = join_names(sorted(told.case.due))
        return f"task {told.label(decision.tasks[0])} has restarted {due}, which may show start and values late"
    new = told.members(member.name for member in told.case.late if member.is_new)
    return f"{told.starts(new)}, and may show its values late; {_shown_values(told, new)}"


def _values_not_taken(_decision: Decision, told: Told) -> str:
    late = told.case.late
    if told.wish.is_dated:
        members = told.members(member.name for member in late)
        return f"{told.starts(members)}, {_not_before(told)}, but {_shown_values(told, members)}"
    members = told.members(member.name for member in late if member.was_tried)
    started = f"{told.starts(members)}, after this controller requested a restart for these values"
    return f"{started}, but {_shown_values(told, members)}"


def _shown_values(told: Told, members: Sequence[Member]) -> str:
    return told.values.words(members) if told.values else ""


def _start_late(decision: Decision, told: Told) -> str:
    case = told.case
    what = "it" if case.is_all_due else join_names(sorted(case.due))
    reason = f"task {told.label(decision.tasks[0])} has restarted {what}, and the service does not show the start yet"
    return f"{reason}; {told.observed.trouble}" if decision.step is Step.FAIL else reason


def _start_missing(decision: Decision, told: Told) -> str:
    members = told.members(decision.members)
    shown = f"{told.starts(members)}, before {told.condition}"
    return (
        f"task {told.label(decision.tasks[0])} has restarted it since {told.condition}, but the service shows no later "
        f"start: {shown}{_down(told)}"
    )


def _down(told: Told) -> str:
    """What of the target does not serve, for a reason that would read as if the process of before did."""
    return f"; now {told.observed.trouble}" if told.observed.serves is False else ""


def _step_skipped(decision: Decision, told: Told) -> str:
    return (
        f"task {told.label(decision.tasks[0])}, begun since {told.condition}, skipped a step that may stop or start "
        f"something, and no later start of {join_names(sorted(decision.members))} shows{_down(told)}"
    )


def _start_open(decision: Decision, told: Told) -> str:
    return (
        f"task {told.label(decision.tasks[0])} did not succeed, but may have started "
        f"{join_names(sorted(decision.members))} since {told.condition}; that start may still show{_down(told)}"
    )


def _task_gone(decision: Decision, told: Told) -> str:
    return (
        f"the service does not show task {told.label(decision.tasks[0])} any more, which this controller has requested "
        f"since {told.condition}, how it ended is not known, and no later start of "
        f"{join_names(sorted(decision.members))} shows{_down(told)}"
    )


def _request_open(_decision: Decision, _told: Told) -> str:
    return "a request of this controller may have started a task that does not show yet"


def _request_here(_decision: Decision, _told: Told) -> str:
    return "this process has requested one, the answer was lost, and something in between may still deliver the request"


def _request_unseen(decision: Decision, told: Told) -> str:
    requested = f"this controller has requested a restart of it since {told.condition} and got no answer"
    if not told.known.reads_tasks:
        return f"{requested}, these credentials may not read tasks (TASK_VIEWER), and no later start shows"
    members = told.members(decision.members)
    if not any(member.started for member in members):
        names = join_names(member.name for member in members)
        return f"{requested}; the service shows no start of {names}, and may no longer list the task of that request"
    shown = told.starts(members)
    return f"{requested}; the task of that request does not show, and it may have made the start that does: {shown}"


def _task_untold(decision: Decision, told: Told) -> str:
    return (
        f"the service does not show what task {told.label(decision.tasks[0])} restarted, which began since "
        f"{told.condition}, and its start may show later"
    )


def _nothing_shown(_decision: Decision, told: Told) -> str:
    why = "the service shows nothing of it, so it is not known whether a restart has happened"
    return f"{why} since {told.condition}" if told.wish.is_dated else why


def _tasks_hidden(decision: Decision, told: Told) -> str:
    hidden = [member.name for member in told.case.stale if not member.start.is_sure]
    is_shown = all(member.started is not None for member in told.members(hidden))
    shows = "clocks do not tell when" if is_shown else "the service shows no start of"
    what = f"{shows} {join_names(hidden)}{' started' if is_shown else ''}"
    gap = (
        f"{'the service ' if is_shown else ''}does not show what task {told.label(decision.tasks[0])} restarted"
        if decision.tasks
        else "these credentials may not read tasks (TASK_VIEWER)"
    )
    return f"{what}, and {gap}, so it is not known whether a restart has happened since {told.condition}"


def _clocks_overlap(decision: Decision, told: Told) -> str:
    in_doubt = [member for member in told.case.stale if member.name in decision.members]
    names = [member.name for member in in_doubt]
    if told.since is None and all(member.start is Relative.BEFORE for member in in_doubt):
        return (
            f"task {told.label(decision.tasks[0])} may have restarted it since {told.condition}, or ran before that or "
            f"before it joined, and the service shows no later start: {told.starts(told.members(decision.members))}"
        )
    if all(member.start is Relative.HIDDEN for member in in_doubt):
        return (
            f"the service shows no start of {join_names(names)}, and task {told.label(decision.tasks[0])} may have "
            f"restarted it since {told.condition}"
        )
    clocks = f"the clocks do not tell whether {join_names(names)} started since {told.condition}"
    unclear = _may_be_earlier(names, told) if told.since is None else clocks
    return f"{unclear}, and task {told.label(decision.tasks[0])} may have restarted it"


def _start_moved(decision: Decision, told: Told) -> str:
    sights = told.begin.sights or {}
    filled = [name for name in decision.members if name in sights and sights[name].filled]
    if filled:
        shown = told.starts(told.members(filled))
        return f"{shown}, no start was shown when {told.condition}, and no task shows what made it"
    shown = told.starts(told.members(decision.members))
    return (
        f"{shown}, which is not what was shown before, and yet before {told.condition}: the "
        "clock of its host was set, or is off, so it is not known whether it has started since"
    )


def _may_be_earlier(names: Sequence[str], told: Told) -> str:
    return f"the start of {join_names(names)} may be that of a restart which was there when {told.condition}"


def _earlier_start(_decision: Decision, told: Told) -> str:
    late = [member.name for member in told.case.stale if member.is_late]
    return f"the start of {join_names(late)} by an earlier restart may not show yet, and change {told.name} is new"


def _needed(decision: Decision, told: Told) -> str:
    stale = told.members(decision.members) if decision.members else []
    some = "" if len(stale) == len(told.observed.members) else f" ({len(stale)} of {len(told.observed.members)})"
    if not told.wish.is_dated:
        return (
            f"{told.values.words(stale)}{some}" if told.values else "started_before is not set, so this always restarts"
        )
    if told.since is None:
        return _needed_by_name(stale, some, told)
    known = {member.name: member for member in told.known.members}
    unknown = [member.name for member in stale if known[member.name].start is not Relative.BEFORE]
    if unknown:
        return f"it is not proven that {join_names(unknown)} started since {told.condition}"
    return f"{told.starts(stale)}, before {told.condition}{some}"


def _needed_by_name(stale: Sequence[Member], some: str, told: Told) -> str:
    sights = told.begin.sights or {}
    if not any(member.name in sights for member in stale):
        return f"change {told.name} is new for {join_names(member.name for member in stale)}{some}"
    unclear = [member.name for member in told.case.stale if member.start is Relative.UNCLEAR]
    if unclear:
        return f"{_may_be_earlier(unclear, told)}{some}"
    return f"{join_names(member.name for member in stale)} has not started since {told.condition}{some}"


_REASONS: Mapping[Rule, Callable[[Decision, Told], str]] = {
    Rule.OWN_TASK: lambda decision, told: f"task {told.label(decision.tasks[0])} is of our own request",
    Rule.HELD: _held,
    Rule.RUNNING: _running,
    Rule.NOT_THERE: lambda _decision, _told: Rule.NOT_THERE.value,
    Rule.DONE: _done,
    Rule.VALUES_PROVE_NOTHING: _doubted,
    Rule.NOT_SERVING: _not_serving,
    Rule.BUSY: _busy,
    Rule.VALUES_LATE: _values_late,
    Rule.VALUES_NOT_TAKEN: _values_not_taken,
    Rule.START_LATE: _start_late,
    Rule.START_MISSING: _start_missing,
    Rule.STEP_SKIPPED: _step_skipped,
    Rule.START_OPEN: _start_open,
    Rule.TASK_GONE: _task_gone,
    Rule.REQUEST_OPEN: _request_open,
    Rule.REQUEST_HERE: _request_here,
    Rule.REQUEST_UNSEEN: _request_unseen,
    Rule.NOTHING_SHOWN: _nothing_shown,
    Rule.TASKS_HIDDEN: _tasks_hidden,
    Rule.TASK_UNTOLD: _task_untold,
    Rule.CLOCKS_OVERLAP: _clocks_overlap,
    Rule.START_MOVED: _start_moved,
    Rule.EARLIER_START: _earlier_start,
    Rule.NEEDED: _needed,
}


def moving_words(observed: Observation) -> str:
    """As in ``10.0.0.1:2882 is RESTARTING``."""
    moving = [member.state for member in observed.members if is_in_flight(member.status)]
    return join_names(moving) or f"it is {observed.status}"


def refusal_of(
    api: OcpApi, target: Target, decision: Decision, reason: str, look: Look, request: RestartRequest
) -> OcpError:
    """The error of a decision that ends the restart without a success, before anything is sent."""
    from .._waiting.failure_report import not_serving, target_held

    log_lines, state = request.policy.log_lines, look.observed.serving_words
    nothing = f"Did not restart {target.label}: {reason}."
    if decision.rule is Rule.BUSY:
        return TargetBusy(_with_wait_for(nothing, decision.tasks))
    if decision.rule is Rule.HELD and (holder := holder_of(look)) is not None:
        return target_held(api, holder, nothing, state, log_lines, at_most_once=request.is_at_most_once)
    if decision.rule is Rule.VALUES_PROVE_NOTHING:
        return doubt_error(nothing)
    if decision.rule is Rule.REQUEST_HERE:
        return _request_here_error(target, at_most_once=request.is_at_most_once)
    if decision.rule in (Rule.NOT_SERVING, Rule.START_LATE) and look.failure is not None:
        return not_serving(api, look.failure, nothing, log_lines)
    starts = _starts_of_stopped(target, look) if decision.rule in (Rule.STEP_SKIPPED, Rule.NOT_SERVING) else []
    if starts:
        return NotVerified("\n".join([f"{nothing} {NEXT_STEPS_HEADING}", *starts, RUN_AGAIN]))
    words = f"{nothing} {_ADVICE.get(decision.rule, _LOOK_AT_IT)}"
    refusal = NotVerified(words if decision.rule in _HAS_NO_WAY_OUT else _with_way_out(words, target, decision, look))
    refusal.left_as_it_was = decision.rule in _IN_DOUBT
    return refusal


def _with_way_out(words: str, target: Target, decision: Decision, look: Look) -> str:
    """The message, and how its members are restarted once more; if it is about none, those that do not serve."""
    down = [member.name for member in look.observed.members if member.serves is False]
    if not decision.members and down:
        return with_way_out(words, target, down, TO_BRING_BACK)
    return with_way_out(words, target, [one.name for one in look.observed.members if one.name in decision.members])


def _with_wait_for(words: str, task_ids: Sequence[int]) -> str:
    """The message about a target that is busy, and the command that waits for the task, if one shows.

    The caller's own command comes after it, and decides anew: it has the caller's options, and the name of the change.
    """
    if not task_ids:
        return words
    line = f"  Wait for its end: {adhoc_command('task_wait', task_ids=task_ids[0])}"
    return "\n".join([f"{words} {NEXT_STEPS_HEADING}", line, RUN_AGAIN])


def _starts_of_stopped(target: Target, look: Look) -> list[str]:
    """How to start the server that is the target, if it is stopped: a line with the command."""
    if target.kind != "server":
        return []
    stopped = [member.name for member in look.observed.members if is_stopped(member.status)]
    return [start_line(target.result()["cluster_id"], name) for name in stopped]


_LOOK_AT_IT = "Look at its newest tasks and at the process itself."
_LATER = "Run this again with wait=true, or in three minutes."
_ADVICE = {
    Rule.NOT_THERE: "Look for it in OCP, name what is there now, and run this again.",
    Rule.VALUES_NOT_TAKEN: (
        "If it was set after that start, give a later started_before; else look at the parameter in OCP, since another "
        "restart would not change it."
    ),
    Rule.START_MISSING: "Look at the task and at the process itself.",
    Rule.STEP_SKIPPED: "Look at the task and at the process itself.",
    Rule.TASK_GONE: "Look at the process itself.",
    Rule.REQUEST_UNSEEN: (
        "Look at the newest tasks in OCP with credentials that may read them, and at the process itself. If there was "
        "no restart, clear the request with restart_journal_clear."
    ),
    Rule.TASK_UNTOLD: _LATER,
    Rule.START_OPEN: _LATER,
    Rule.CLOCKS_OVERLAP: "Look at the start of the process itself.",
    Rule.START_MOVED: "Look at the start of the process itself, and at the clock of its host.",
}


# What a person does instead is in the advice.
_HAS_NO_WAY_OUT = (Rule.NOT_THERE, Rule.VALUES_NOT_TAKEN, Rule.TASK_UNTOLD, Rule.START_OPEN)

# Nothing says that anything is wrong with the target; whether it needs the restart is not known.
_IN_DOUBT = (Rule.CLOCKS_OVERLAP, Rule.START_MOVED, Rule.TASKS_HIDDEN, Rule.TASK_UNTOLD, Rule.NOTHING_SHOWN)


def _request_here_error(target: Target, *, at_most_once: bool) -> OutcomeUnknown:
    words = (
        f"It is not known whether a restart of {target.label} is going to run: this process has requested one, the "
        "answer was lost, and something in between may still deliver the request. It is not sent again. "
        f"{NEXT_STEPS_HEADING}"
    )
    again = then_of_unknown(at_most_once=at_most_once)
    return OutcomeUnknown("\n".join([words, *look_lines(target.cluster_id), again]))


def doubt_error(nothing: str) -> OptionError:
    """The error if the shown values prove nothing; ``nothing`` is what was therefore not done."""
    return OptionError(
        f"until_effective: {nothing} Give started_before, the instant of the change, or a change with a name, so that "
        "the start decides too."
    )


def skip_gap(target: Target, told: Told) -> str | None:
    """Why a target that is left alone is not shown to have started since; None if it is."""
    if target.task_name is None:
        return UNNAMED_KIND
    if not told.wish.is_dated:
        return None
    hidden = [member.name for member in told.known.members if member.start is Relative.HIDDEN]
    return f"the service shows no start of {join_names(hidden)}" if hidden else None


def lacks_values(decision: Decision, told: Told) -> bool:
    """Whether members show other values than the wanted ones after a start that should have brought these."""
    if decision.rule is not Rule.VALUES_NOT_TAKEN or told.values is None:
        return False
    return any(told.values.is_in_effect(name) is False for name in decision.members)
