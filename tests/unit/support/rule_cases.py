# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What may be known of a target of the members a and b, and what is decided then: a case for each way out of a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import (
    InFlight,
    Knowledge,
    Member,
    Relative,
    Request,
    Task,
    Values,
    Wish,
    Work,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.rules import Decision, Rule, Step

BEFORE, SINCE, UNCLEAR, HIDDEN = Relative.BEFORE, Relative.SINCE, Relative.UNCLEAR, Relative.HIDDEN
MOVED = Relative.MOVED
ATTACH, FAIL, QUEUE = InFlight.ATTACH, InFlight.FAIL, InFlight.QUEUE
A, AB, NOBODY = frozenset("a"), frozenset("ab"), frozenset[str]()
# Begun long before the change, and not of this target.
OLD = {"since": NOBODY}
OTHER_WORK = {"restarts": NOBODY, "since": NOBODY}


@dataclass(frozen=True)
class RuleCase:
    """What is decided of what is known for a wish."""

    words: str
    known: Knowledge
    wish: Wish
    decision: Decision


def members(a: Relative = BEFORE, b: Relative | None = None, **more: Any) -> tuple[Member, ...]:
    """The member a, and b if its start is given; ``more`` is of both."""
    return tuple(Member(name, start, **more) for name, start in {"a": a, "b": b}.items() if start is not None)


def task(work: Work = Work.RESTARTED, number: int = 90, **more: Any) -> Task:
    """A task that restarts a, begun since the change."""
    return Task(number, work, **{"restarts": A, "since": A, **more})


def known(*tasks: Task, of: tuple[Member, ...] | None = None, **more: Any) -> Knowledge:
    """What is known of a target, by default of a that started before the change."""
    return Knowledge(members() if of is None else of, tasks, **more)


def dated(**more: Any) -> Wish:
    return Wish(True, **more)


def undated(**more: Any) -> Wish:
    return Wish(False, **more)


def effective(**more: Any) -> Wish:
    """A wish for values alone."""
    return Wish(False, has_values=True, **more)


def _case(words: str, seen: Knowledge, wish: Wish, rule: Rule, step: Step, names: str, *tasks: int) -> RuleCase:
    return RuleCase(words, seen, wish, Decision(rule, step, frozenset(names), tasks))


RUNNING, RAN, UNDONE = Work.RUNNING, Work.RAN, Work.UNDONE
SKIPPED, NOTHING, GONE = Work.SKIPPED, Work.NOTHING, Work.GONE
OTHERS, SHOWN_NOT, IN_EFFECT = Values.OTHERS, Values.HIDDEN, Values.IN_EFFECT
DUE = {"is_due": True}
UNSEEN = Request(A, is_searched=True, is_of_change=True)
OPEN, HERE = Request(A, is_searched=False), Request(A, is_searched=True, is_here=True)

OWN_CASES = [
    _case("a task of ours", known(own=frozenset([90])), dated(), Rule.OWN_TASK, Step.ADOPT, "a", 90),
    _case(
        "a task of ours, held by another",
        known(own=frozenset([90]), holder=70),
        dated(),
        Rule.OWN_TASK,
        Step.ADOPT,
        "a",
        90,
    ),
    _case("which of two is ours is not known", known(own=frozenset([90, 91])), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case("a request may run", known(requests=(OPEN,)), dated(), Rule.REQUEST_OPEN, Step.WAIT, "a"),
    _case("one may run, without a change", known(requests=(OPEN,)), undated(), Rule.REQUEST_OPEN, Step.WAIT, "a"),
    _case("a request of this process", known(requests=(HERE,)), dated(), Rule.REQUEST_HERE, Step.FAIL, "a"),
    _case(
        "one of an earlier process whose search is over",
        known(requests=(Request(A, is_searched=True),)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case(
        "one for the change, which no task can answer",
        known(requests=(UNSEEN,), reads_tasks=False),
        dated(),
        Rule.REQUEST_UNSEEN,
        Step.FAIL,
        "a",
    ),
    _case(
        "one for the change, and a start that nothing places",
        known(requests=(UNSEEN,), of=members(UNCLEAR)),
        dated(),
        Rule.REQUEST_UNSEEN,
        Step.FAIL,
        "a",
    ),
    _case(
        "one for the change of another member than that with such a start",
        known(requests=(Request(frozenset("b"), is_searched=True, is_of_change=True),), of=members(UNCLEAR, BEFORE)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "ab",
    ),
    _case(
        "one for the change, and a start from before",
        known(requests=(UNSEEN,)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case(
        "one for another change, which no task can answer",
        known(requests=(Request(A, is_searched=True),), reads_tasks=False),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
]

RUNNING_CASES = [
    _case("held", known(holder=70), dated(), Rule.HELD, Step.FAIL, "a", 70),
    _case("held while a restart runs", known(task(RUNNING), holder=70), dated(), Rule.HELD, Step.FAIL, "a", 70),
    _case("held, but new", known(of=members(SINCE), holder=70), dated(), Rule.HELD, Step.FAIL, "", 70),
    _case("being restarted", known(task(RUNNING)), dated(), Rule.RUNNING, Step.JOIN, "a", 90),
    _case("the same, to queue", known(task(RUNNING)), dated(in_flight=QUEUE), Rule.RUNNING, Step.JOIN, "a", 90),
    _case("the same, without a change", known(task(RUNNING, **OLD)), undated(), Rule.RUNNING, Step.JOIN, "a", 90),
    _case("being restarted again", known(task(RUNNING), of=members(SINCE)), dated(), Rule.RUNNING, Step.JOIN, "a", 90),
    _case(
        "of all that need it",
        known(task(RUNNING), of=members(BEFORE, SINCE)),
        dated(),
        Rule.RUNNING,
        Step.JOIN,
        "a",
        90,
    ),
    _case(
        "the second one is",
        known(task(RUNNING, 91, **OLD), task(RUNNING)),
        dated(),
        Rule.RUNNING,
        Step.JOIN,
        "a",
        90,
    ),
    _case("joining is not allowed", known(task(RUNNING)), dated(in_flight=FAIL), Rule.BUSY, Step.FAIL, "a", 90),
    _case("begun before", known(task(RUNNING, **OLD)), dated(), Rule.BUSY, Step.FAIL, "a", 90),
    _case("begun about then", known(task(RUNNING, since=NOBODY, unclear=A)), dated(), Rule.BUSY, Step.FAIL, "a", 90),
    _case("of a part", known(task(RUNNING), of=members(BEFORE, BEFORE)), dated(), Rule.BUSY, Step.FAIL, "ab", 90),
    _case("other work", known(task(RUNNING, **OTHER_WORK)), undated(), Rule.BUSY, Step.FAIL, "a", 90),
    _case("at work by its status", known(is_moving=True), dated(), Rule.BUSY, Step.FAIL, "a"),
    _case("the same, new", known(of=members(SINCE), serves=False, is_moving=True), dated(), Rule.BUSY, Step.FAIL, ""),
    _case(
        "all that runs is waited for",
        known(task(RUNNING, 91, **OTHER_WORK), task(RUNNING, **OLD)),
        dated(in_flight=QUEUE),
        Rule.BUSY,
        Step.QUEUE,
        "a",
        91,
        90,
    ),
    _case("by its status alone", known(is_moving=True), dated(in_flight=QUEUE), Rule.BUSY, Step.QUEUE, "a"),
    _case(
        "a new restart after what runs", known(task(RUNNING)), undated(in_flight=QUEUE), Rule.BUSY, Step.QUEUE, "a", 90
    ),
    _case(
        "values shown while something runs",
        known(task(RUNNING), of=members(HIDDEN, values=IN_EFFECT)),
        effective(in_flight=QUEUE),
        Rule.BUSY,
        Step.QUEUE,
        "",
        90,
    ),
]

DONE_CASES = [
    _case("started since", known(of=members(SINCE, SINCE)), dated(), Rule.DONE, Step.SKIP, ""),
    _case("whether it serves is not shown", known(of=members(SINCE), serves=None), dated(), Rule.DONE, Step.SKIP, ""),
    _case(
        "while something else runs",
        known(task(RUNNING, **OLD), of=members(SINCE)),
        dated(in_flight=QUEUE),
        Rule.DONE,
        Step.SKIP,
        "",
    ),
    _case("no start shows, but a task", known(task(), of=members(HIDDEN)), dated(), Rule.DONE, Step.SKIP, ""),
    _case("clocks do not tell, but a task", known(task(), of=members(UNCLEAR)), dated(), Rule.DONE, Step.SKIP, ""),
    _case("values in effect", known(of=members(HIDDEN, values=IN_EFFECT)), effective(), Rule.DONE, Step.SKIP, ""),
    _case(
        "new, and no value shows",
        known(of=members(SINCE, values=SHOWN_NOT), values_doubted=True),
        dated(has_values=True),
        Rule.DONE,
        Step.SKIP,
        "",
    ),
    _case(
        "values prove nothing",
        known(of=members(HIDDEN, values=IN_EFFECT), values_doubted=True),
        effective(),
        Rule.VALUES_PROVE_NOTHING,
        Step.FAIL,
        "",
    ),
    _case(
        "values prove nothing, while a restart from before they were set may run",
        known(task(RUNNING), of=members(HIDDEN, values=IN_EFFECT), values_doubted=True),
        effective(),
        Rule.VALUES_PROVE_NOTHING,
        Step.FAIL,
        "",
    ),
    _case(
        "no value shows, though it serves",
        known(of=members(HIDDEN, values=SHOWN_NOT), values_doubted=True),
        effective(),
        Rule.VALUES_PROVE_NOTHING,
        Step.FAIL,
        "",
    ),
    _case(
        "values in effect, and ill",
        known(of=members(HIDDEN, values=IN_EFFECT, serves=False), serves=False),
        effective(),
        Rule.NOT_SERVING,
        Step.FAIL,
        "",
    ),
    _case("new, and ill", known(of=members(SINCE), serves=False), dated(), Rule.NOT_SERVING, Step.FAIL, ""),
    _case(
        "no start shows, and ill",
        known(task(), of=members(HIDDEN), serves=False),
        dated(),
        Rule.NOT_SERVING,
        Step.FAIL,
        "",
    ),
]

VALUE_CASES = [
    _case(
        "it has just started",
        known(of=members(SINCE, values=OTHERS, is_new=True)),
        dated(has_values=True),
        Rule.VALUES_LATE,
        Step.WAIT,
        "a",
    ),
    _case(
        "it has just started, without a change",
        known(of=members(HIDDEN, values=OTHERS, is_new=True)),
        effective(),
        Rule.VALUES_LATE,
        Step.WAIT,
        "a",
    ),
    _case(
        "a task has just restarted it",
        known(task(**DUE), of=members(BEFORE, values=OTHERS)),
        dated(has_values=True),
        Rule.VALUES_LATE,
        Step.WAIT,
        "a",
        90,
    ),
    _case(
        "a task has just restarted one, and the other has started since",
        known(task(**DUE), of=(*members(BEFORE, values=OTHERS), *members(None, SINCE, values=OTHERS))),
        dated(has_values=True),
        Rule.VALUES_LATE,
        Step.WAIT,
        "ab",
        90,
    ),
    _case(
        "it has just started before the change",
        known(of=members(BEFORE, values=OTHERS, is_new=True)),
        dated(has_values=True),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case(
        "the time to wait is over",
        known(of=members(SINCE, values=OTHERS, is_new=True)),
        dated(has_values=True, settles=False),
        Rule.VALUES_NOT_TAKEN,
        Step.FAIL,
        "a",
    ),
    _case(
        "started since, long ago",
        known(of=members(SINCE, values=OTHERS)),
        dated(has_values=True),
        Rule.VALUES_NOT_TAKEN,
        Step.FAIL,
        "a",
    ),
    _case(
        "restarted for the values",
        known(of=members(HIDDEN, values=OTHERS, was_tried=True)),
        effective(),
        Rule.VALUES_NOT_TAKEN,
        Step.FAIL,
        "a",
    ),
    _case("other values", known(of=members(HIDDEN, values=OTHERS)), effective(), Rule.NEEDED, Step.SEND, "a"),
    _case(
        "no value shows of what does not serve",
        known(of=members(HIDDEN, values=SHOWN_NOT, serves=False), serves=False, values_doubted=True),
        effective(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
]

START_CASES = [
    _case("not yet", known(task(**DUE)), dated(), Rule.START_LATE, Step.WAIT, "", 90),
    _case(
        "not yet, of one",
        known(task(**DUE), of=members(BEFORE, BEFORE)),
        dated(),
        Rule.START_LATE,
        Step.WAIT,
        "b",
        90,
    ),
    _case(
        "the newest counts",
        known(task(number=91, **DUE), task(**DUE)),
        dated(),
        Rule.START_LATE,
        Step.WAIT,
        "",
        91,
    ),
    _case(
        "not yet, while other work runs",
        known(task(RUNNING, 91, **OTHER_WORK), task(**DUE)),
        dated(),
        Rule.START_LATE,
        Step.WAIT,
        "",
        90,
    ),
    _case(
        "not yet, of a task that may have begun before",
        known(task(since=NOBODY, unclear=A, **DUE)),
        dated(),
        Rule.START_LATE,
        Step.WAIT,
        "",
        90,
    ),
    _case("without a wait", known(task(**DUE)), dated(waits=False), Rule.START_LATE, Step.SKIP, "", 90),
    _case("with a wait for many", known(task(**DUE)), dated(proven_later=True), Rule.START_LATE, Step.SKIP, "", 90),
    _case(
        "the same, of a task that may have begun before",
        known(task(since=NOBODY, unclear=A, **DUE)),
        dated(proven_later=True),
        Rule.START_LATE,
        Step.WAIT,
        "",
        90,
    ),
    _case("the same, ill", known(task(**DUE), serves=False), dated(waits=False), Rule.START_LATE, Step.FAIL, "", 90),
    _case(
        "without a wait, of one",
        known(task(**DUE), of=members(BEFORE, BEFORE)),
        dated(waits=False),
        Rule.NEEDED,
        Step.SEND,
        "b",
    ),
    _case(
        "the same, and ill",
        known(task(**DUE), of=members(BEFORE, BEFORE), serves=False),
        dated(waits=False),
        Rule.NEEDED,
        Step.SEND,
        "b",
    ),
    _case(
        "of one, while other work runs",
        known(task(RUNNING, 91, **OTHER_WORK), task(**DUE), of=members(BEFORE, BEFORE)),
        dated(),
        Rule.BUSY,
        Step.FAIL,
        "ab",
        91,
    ),
    _case("no more", known(task()), dated(), Rule.START_MISSING, Step.FAIL, "a", 90),
    _case(
        "no more, of one",
        known(task(), of=members(BEFORE, BEFORE)),
        dated(),
        Rule.START_MISSING,
        Step.FAIL,
        "a",
        90,
    ),
    _case("a skipped step", known(task(SKIPPED)), dated(), Rule.STEP_SKIPPED, Step.FAIL, "a", 90),
    _case(
        "a skipped step, no start shows",
        known(task(SKIPPED), of=members(HIDDEN)),
        dated(),
        Rule.STEP_SKIPPED,
        Step.FAIL,
        "a",
        90,
    ),
    _case("a skipped step, but it started", known(task(SKIPPED), of=members(SINCE)), dated(), Rule.DONE, Step.SKIP, ""),
    _case(
        "of two skipped steps the task that is newer, whatever its id",
        known(
            task(SKIPPED, 80, restarts=frozenset("b"), since=frozenset("b")), task(SKIPPED), of=members(BEFORE, BEFORE)
        ),
        dated(),
        Rule.STEP_SKIPPED,
        Step.FAIL,
        "ab",
        80,
    ),
    _case("an own task that is gone", known(task(GONE)), dated(), Rule.TASK_GONE, Step.FAIL, "a", 90),
    _case(
        "an own task that is gone, and no start shows",
        known(task(GONE), of=members(HIDDEN)),
        dated(),
        Rule.TASK_GONE,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "an own task that is gone, but it started",
        known(task(GONE), of=members(SINCE)),
        dated(),
        Rule.DONE,
        Step.SKIP,
        "",
    ),
    _case("without a change it restarts again", known(task(**DUE)), undated(), Rule.NEEDED, Step.SEND, "a"),
]

UNKNOWN_CASES = [
    _case("it failed, and may have started it", known(task(RAN, **DUE)), dated(), Rule.START_OPEN, Step.WAIT, "a", 90),
    _case("it was undone", known(task(UNDONE, **DUE)), dated(), Rule.START_OPEN, Step.WAIT, "a", 90),
    _case(
        "it failed, and began about the time of the change",
        known(task(RAN, unclear=A, **OLD, **DUE)),
        dated(),
        Rule.START_OPEN,
        Step.WAIT,
        "a",
        90,
    ),
    _case(
        "it failed, and there is no wait",
        known(task(RAN, **DUE)),
        dated(waits=False),
        Rule.START_OPEN,
        Step.FAIL,
        "a",
        90,
    ),
    _case("it failed long ago, and the start is from before", known(task(RAN)), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case("a restart without a change", known(task(RAN, **DUE)), undated(), Rule.NEEDED, Step.SEND, "a"),
    _case(
        "no start and no task shows whether our request ran",
        known(of=members(HIDDEN), requests=(UNSEEN,)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case(
        "the task of our request is gone, and its start may show later",
        known(requests=(replace(UNSEEN, is_due=True),)),
        dated(),
        Rule.REQUEST_OPEN,
        Step.WAIT,
        "a",
    ),
    _case(
        "its start should have shown by now",
        known(requests=(UNSEEN,)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case("it is gone", known(is_there=False), dated(), Rule.NOT_THERE, Step.FAIL, "a"),
    _case("it is gone, without a change", known(is_there=False), undated(), Rule.NOT_THERE, Step.FAIL, "a"),
    _case(
        "it is gone, and a task since has restarted it",
        known(task(), of=members(HIDDEN), is_there=False),
        dated(),
        Rule.NOT_THERE,
        Step.FAIL,
        "",
    ),
    _case("nothing", known(of=()), dated(), Rule.NOTHING_SHOWN, Step.FAIL, ""),
    _case("nothing, for values", known(of=()), effective(), Rule.NOTHING_SHOWN, Step.FAIL, ""),
    _case("nothing, without a change", known(of=()), undated(), Rule.NEEDED, Step.SEND, ""),
    _case(
        "no start, no tasks", known(of=members(HIDDEN), reads_tasks=False), dated(), Rule.TASKS_HIDDEN, Step.FAIL, "a"
    ),
    _case(
        "clocks do not tell, no tasks",
        known(of=members(UNCLEAR), reads_tasks=False),
        dated(),
        Rule.TASKS_HIDDEN,
        Step.FAIL,
        "a",
    ),
    _case(
        "no start, and a task without a target",
        known(task(is_told=False, **OTHER_WORK), of=members(HIDDEN)),
        dated(),
        Rule.TASKS_HIDDEN,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "no start, and of two tasks without a target the newer one is named",
        known(task(is_told=False, **OTHER_WORK), task(number=80, is_told=False, **OTHER_WORK), of=members(HIDDEN)),
        dated(),
        Rule.TASKS_HIDDEN,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "no start, and a task without a target that skipped a step",
        known(task(SKIPPED, is_told=False, **OTHER_WORK), of=members(HIDDEN)),
        dated(),
        Rule.TASKS_HIDDEN,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "clocks do not tell, and a task without a target has run",
        known(task(RAN, is_told=False, **OTHER_WORK), of=members(UNCLEAR)),
        dated(),
        Rule.TASKS_HIDDEN,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "no start, and a task without a target that may have restarted it",
        known(task(RAN, is_told=False, **OTHER_WORK), of=members(HIDDEN)),
        dated(),
        Rule.TASKS_HIDDEN,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "a task without a target that skipped a step, whose start may show later",
        known(task(SKIPPED, is_told=False, **OTHER_WORK, **DUE)),
        dated(),
        Rule.TASK_UNTOLD,
        Step.WAIT,
        "a",
        90,
    ),
    _case(
        "a task without a target, whose start may show later",
        known(task(is_told=False, **OTHER_WORK, **DUE)),
        dated(),
        Rule.TASK_UNTOLD,
        Step.WAIT,
        "a",
        90,
    ),
    _case(
        "the same without a wait",
        known(task(is_told=False, **OTHER_WORK, **DUE)),
        dated(waits=False),
        Rule.TASK_UNTOLD,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "the same without a change",
        known(task(is_told=False, **OTHER_WORK, **DUE)),
        undated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case("no tasks, but a start", known(reads_tasks=False), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case(
        "a task without a target, but a start",
        known(task(is_told=False, **OTHER_WORK)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case("no tasks, without a change", known(reads_tasks=False), undated(), Rule.NEEDED, Step.SEND, "a"),
    _case("it has moved, and no task decides", known(of=members(MOVED)), dated(), Rule.START_MOVED, Step.FAIL, "a"),
    _case(
        "one has moved, and another has not started",
        known(of=members(MOVED, BEFORE)),
        dated(),
        Rule.START_MOVED,
        Step.FAIL,
        "a",
    ),
    _case(
        "clocks do not tell of one, and another has not started",
        known(task(RAN), of=members(UNCLEAR, BEFORE)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case("it has moved, by a task", known(task(), of=members(MOVED)), dated(), Rule.DONE, Step.SKIP, ""),
    _case(
        "it has moved, and a task has run",
        known(task(RAN), of=members(MOVED)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "it has moved, and a request may have moved it",
        known(of=members(MOVED), requests=(OPEN,)),
        dated(),
        Rule.REQUEST_OPEN,
        Step.WAIT,
        "a",
    ),
    _case(
        "it has moved, and tasks cannot be read",
        known(of=members(MOVED), reads_tasks=False),
        dated(),
        Rule.TASKS_HIDDEN,
        Step.FAIL,
        "a",
    ),
    _case(
        "clocks do not tell, and a task has run",
        known(task(RAN), of=members(UNCLEAR)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "no start, and a task has run",
        known(task(RAN), of=members(HIDDEN)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "no start, and a task was rolled back",
        known(task(UNDONE), of=members(HIDDEN)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
    _case(
        "clocks do not tell, and a task was rolled back",
        known(task(UNDONE), of=members(UNCLEAR)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "clocks do not tell, and of two tasks that have run the newer one is named",
        known(task(RAN), task(RAN, 80), of=members(UNCLEAR)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "clocks do not tell of the task",
        known(task(since=NOBODY, unclear=A), of=members(HIDDEN)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "clocks do not tell of the task, which skipped a step",
        known(task(SKIPPED, since=NOBODY, unclear=A), of=members(UNCLEAR)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "clocks do not tell of the start nor of the task, which FAILED",
        known(task(RAN, since=NOBODY, unclear=A), of=members(UNCLEAR)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "the task may have begun before, and no start shows",
        known(task(since=NOBODY, unclear=A)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "the same, just ended, without a wait",
        known(task(since=NOBODY, unclear=A, **DUE)),
        dated(waits=False),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "the task and the start that shows may be from before",
        known(task(since=NOBODY, unclear=A, **DUE), of=members(UNCLEAR)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
    _case(
        "clocks do not tell of either",
        known(task(since=NOBODY, unclear=A), of=members(UNCLEAR)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
]

LATE = {"is_late": True}
EARLIER_CASES = [
    _case("an earlier start may show", known(of=members(**LATE)), dated(), Rule.EARLIER_START, Step.WAIT, "a"),
    _case(
        "the same of one of them",
        known(of=(*members(**LATE), *members(None, BEFORE))),
        dated(waits=False),
        Rule.EARLIER_START,
        Step.WAIT,
        "ab",
    ),
    _case("an earlier start, and done", known(of=members(SINCE, **LATE)), dated(), Rule.DONE, Step.SKIP, ""),
    _case(
        "an earlier start, and one that clocks cannot place",
        known(task(RAN), of=members(UNCLEAR, **LATE)),
        dated(),
        Rule.CLOCKS_OVERLAP,
        Step.FAIL,
        "a",
        90,
    ),
]

NEEDED_CASES = [
    _case("without a change", known(of=members(SINCE, HIDDEN)), undated(), Rule.NEEDED, Step.SEND, "ab"),
    _case("old", known(of=members(BEFORE, BEFORE)), dated(), Rule.NEEDED, Step.SEND, "ab"),
    _case("one is old", known(of=members(BEFORE, SINCE)), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case("old, and ill: the remedy", known(serves=False), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case("no start shows", known(of=members(HIDDEN)), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case("clocks do not tell", known(of=members(UNCLEAR)), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case("restarted before", known(task(**OLD), of=members(UNCLEAR)), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case("FAILED since, and old", known(task(RAN)), dated(), Rule.NEEDED, Step.SEND, "a"),
    _case(
        "FAILED before it changed anything",
        known(task(NOTHING), of=members(UNCLEAR)),
        dated(),
        Rule.NEEDED,
        Step.SEND,
        "a",
    ),
]

RULE_CASES = [
    *OWN_CASES,
    *RUNNING_CASES,
    *DONE_CASES,
    *VALUE_CASES,
    *START_CASES,
    *UNKNOWN_CASES,
    *EARLIER_CASES,
    *NEEDED_CASES,
]
