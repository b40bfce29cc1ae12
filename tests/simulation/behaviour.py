# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Promises about how a module behaves: what it waits for, and what it leaves alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .evidence import PROOF_TIMEOUT
from .finding import EVER, Case, Check, Finding
from .history import Run
from .majority import UNSAFE
from .task_graph import Task

# Seconds within which a wait notices the end of a task, and a module that somebody has to act.
NOTICED = 60.0
# No module sends more requests without a pause of so many seconds.
MOST_REQUESTS, PAUSE = 120, 0.4
# Said where a service does not tell what a running task is of.
UNKNOWN = "is running, but it is not known to restart this target"
UNTOLD = "does not show what task"
RESTART_OF_BEFORE = re.compile(
    r"task (\d+) \([^)]*\) is running(?:, but it began at .*, before change .* was first used|; run this again)"
)
PARTIAL_RESTART = re.compile(r"task (\d+) \([^)]*\) is running, but it does not restart everything that is asked for")
START_MISSING = re.compile(r"task (\d+) \([^)]*\) has restarted it since .*, but the service shows no later start")
HELD_BY = re.compile(r"task (\d+) \([^)]*\) FAILED and holds it")


def does_not_crash(_case: Case, run: Run) -> Iterator[Finding]:
    """A module fails with a message, never by a bug."""
    if "exception" in run.result or "crashed" in str(run.result.get("msg")):
        yield Finding("crash", str(run.result.get("msg")))


def credentials_once(_case: Case, run: Run) -> Iterator[Finding]:
    """A 401 ends everything, since repeating it locks the account."""
    refused = [each.came_back for each in run.exchanges if each.answer and each.answer.status == 401]
    first = min((when for when in refused if when is not None), default=1e12)
    if any(each.sent > first for each in run.exchanges):
        yield Finding("asks again after a 401", f"after {first:.1f}")


def no_advice_after_success(_case: Case, run: Run) -> Iterator[Finding]:
    """Nothing printed after a success advises to run again."""
    text = " ".join(str(warning) for warning in run.result.get("warnings", ()))
    if run.green and "run this again" in text:
        yield Finding("advice after a success", text)


def wait_ends(_case: Case, run: Run) -> Iterator[Finding]:
    """A wait ends in time; the start of an earlier restart is waited for, too."""
    lasted = (run.ended or run.began) - run.looks_from
    limit = run.args.get("wait_timeout", 0) + 2 * PROOF_TIMEOUT + 12 * run.args.get("timeout", 30)
    if run.end == "result" and lasted > limit:
        yield Finding("waits too long", f"{lasted:.0f} s")


def pauses_between_looks(_case: Case, run: Run) -> Iterator[Finding]:
    """A module that looks again and again pauses in between; one look may read many pages."""
    count, last = 0, 0.0
    for each in run.exchanges:
        count = 1 if each.sent - last >= PAUSE else count + 1
        last = each.sent
        if count > MOST_REQUESTS:
            yield Finding("looks without a pause", f"more than {MOST_REQUESTS} requests, {PAUSE:g} s apart at most")
            return


def end_is_noticed(case: Case, run: Run) -> Iterator[Finding]:
    """A wait for a task ends with it; a SUCCESSFUL one has PROOF_TIMEOUT to show its start."""
    task = case.evidence.task(run.result.get("task_id"))
    if not run.failed or task is None or run.ended is None or run.ended - run.began < run.args.get("wait_timeout", 1e9):
        return
    may_be_kept = not case.answers.tells_target(task) or _queues_behind_another(case, run, task)
    last = run.ended - NOTICED - _unanswered(run) - run.suspended
    # The start of another restart, which did nothing, is waited for.
    may_be_kept = may_be_kept or any(case.evidence.was_pretended(key, -EVER, last) for key in task.members)
    if task.idle or (task.fails_at == 0 and (may_be_kept or not case.evidence.is_cause(task, last))):
        return  # its start, or what may have kept it from beginning, is waited for
    last -= PROOF_TIMEOUT if task.ended_well() else 0.0
    state = task.record.at(last)
    if state and state["finish"] is not None and task.record.now is state and run.began <= last:
        text = f"{run.ended - run.began:.0f} s, task {task.id} is {task.status}"
        yield Finding("waits for a task that has ended", text)


def _unanswered(run: Run) -> float:
    """Seconds that a run waited for answers that never came, each until its next request."""
    ends = [*(each.sent for each in run.exchanges[1:]), run.ended or run.began]
    pairs = zip(run.exchanges, ends, strict=False)
    return sum(end - each.sent for each, end in pairs if each.came_back is None)


def _queues_behind_another(case: Case, run: Run, task: Task) -> bool:
    """Whether a run whose own ``task`` was refused in its first subtask waits for another restart of the target."""
    return run.args.get("in_flight") == "queue" and any(
        other is not task
        and other.work == "restart"
        and set(other.members) & set(task.members)
        and case.evidence.is_running(other, run.ended or 0.0)
        for other in case.evidence.tasks.values()
    )


def nobody_waits_for_a_person(case: Case, run: Run) -> Iterator[Finding]:
    """What only a person can clear fails at once, where its task can be seen."""
    # A request that gets no answer lasts until the next one, at most for its time-out.
    ends = [*(each.sent for each in run.exchanges[1:]), run.ended or run.began]
    asked = sum(
        (each.came_back or min(end, each.sent + run.args.get("timeout", 30))) - each.sent
        for each, end in zip(run.exchanges, ends, strict=False)
    )
    lasted = (run.ended or run.began) - run.looks_from - asked - run.suspended
    waits_for_a_task = run.posts or run.result.get("task_id") is not None
    if run.end != "result" or lasted <= NOTICED or waits_for_a_task or not case.profile.reads_tasks:
        return
    begin, end = run.began - case.profile.latest - case.profile.list_lag, run.began + NOTICED - 5
    held = [case.evidence.held_throughout(key, begin, end) for key in run.change.members]
    tasks = [task for task in held if task and case.answers.tells_target(task)]
    named = [task for task in tasks if case.answers.names(task)]
    newest = [
        task
        for task in tasks
        if case.evidence.is_newest_restart(task, end) and (task.fails_at != 0 or case.evidence.is_cause(task, end))
    ]
    holder = next(iter([*named, *newest]), None)
    if holder is not None:
        yield Finding("waits for a person", f"{lasted:.0f} s, though task {holder.id} holds it")


def wait_goes_on(case: Case, run: Run) -> Iterator[Finding]:
    """A task that runs is waited for until ``wait_timeout``."""
    task = case.evidence.task(run.result.get("task_id"))
    if not run.failed or not run.args.get("wait") or task is None or run.ended is None:
        return
    if run.knows_no_outcome:
        return  # the task may be of somebody else, so it is not waited for
    lasted = run.ended - run.began
    states = task.record.between(run.ended - case.profile.latest, run.ended)
    runs = all(state["finish"] is None for state in states)
    has_ended = any(case.answers.is_unfinished(read, task) is False for read in run.exchanges if read.reads)
    came = [each.answer or each.replaced for each in run.exchanges]
    stopped = any(answer.status in (401, 403) for answer in came if answer)
    # A cache shows a task as it was before somebody retried it.
    was_stale = any(each.fate == "stale answer" and each.request.path.endswith(f"/{task.id}") for each in run.exchanges)
    if runs and lasted < run.args["wait_timeout"] - 1 and not (stopped or has_ended or was_stale):
        yield Finding("wait ended though the task runs", f"after {lasted:.0f} s: {run.result.get('msg')}")


def missing_start_was_waited_for(case: Case, run: Run) -> Iterator[Finding]:
    """Who says that the start of a SUCCESSFUL restart is missing has given it its time to show."""
    task = _named_by_message(case, run, START_MISSING)
    finish = None if task is None else task.record.now["finish"]
    is_told = case.profile.task_ends != "none" and case.profile.clock_is_sane
    if task is None or finish is None or run.ended is None or not run.args.get("wait") or not is_told:
        return
    waited = case.profile.wall(run.ended) - finish
    uncertain = case.profile.spread * 2 + 10 + 2 * run.args.get("timeout", 30)
    is_misled = any(each.fate == "odd clock" for each in run.exchanges)
    if waited < PROOF_TIMEOUT - uncertain and not is_misled and not task.skipped_effect:
        yield Finding("missed a start too soon", f"{waited:.0f} s after task {task.id} ended")


def held_is_true(case: Case, run: Run) -> Iterator[Finding]:
    """What a module says to be held by a task is held by it."""
    task = _named_by_message(case, run, HELD_BY)
    # By clocks that are minutes apart tasks do not show which of them is the newest.
    if not run.failed or task is None or run.ended is None or case.profile.spread > NOTICED:
        return
    begin = run.began - case.profile.latest - case.profile.list_lag
    # Servers may have been moved since the change.
    keys = {*run.change.members, *case.evidence.parts_of(run.change, run.ended)}
    if not any(case.evidence.was_held_by(key, task, begin, run.ended) for key in keys):
        yield Finding("held by a task that holds nothing", str(run.result.get("msg")))


def undisturbed_is_green(case: Case, run: Run) -> Iterator[Finding]:
    """Where nothing goes wrong, a module succeeds."""
    lasted = (run.ended or run.began) - run.began
    message = str(run.result.get("msg"))
    # The first has a check of its own.
    excused = UNSAFE in message or ((UNKNOWN in message or UNTOLD in message) and not case.profile.tags)
    excused = excused or _is_name_taken(case, run) or _is_behind_a_partial_restart(case, run)
    excused = excused or _is_behind_a_restart_of_before(case, run)
    if case.undisturbed and run.failed and not excused and lasted < run.args.get("wait_timeout", 1e9):
        yield Finding("fails for no reason", message)


def _is_name_taken(case: Case, run: Run) -> bool:
    """Whether the name of a run asked for something else when it was first used in its journal."""
    earlier = [each for each in case.history.runs if run.shares_journal(each) and each.name == run.name]
    wishes = {each.args.get("started_before") for each in earlier}
    return run.name is not None and len(wishes) > 1 and "Give a new change a new name" in str(run.result.get("msg"))


def _is_behind_a_partial_restart(case: Case, run: Run) -> bool:
    """Whether the message names a running task that restarts a part of the target, and such a task is running."""
    task = _named_by_message(case, run, PARTIAL_RESTART)
    is_running = task is not None and run.ended is not None and case.evidence.is_running(task, run.ended)
    return is_running and task is not None and set(task.members) < set(run.change.members)


def _is_behind_a_restart_of_before(case: Case, run: Run) -> bool:
    """Whether the message names a running restart that began before the name was first used, and there is one.

    It may have started the target since, which does not serve yet.
    """
    task = _named_by_message(case, run, RESTART_OF_BEFORE)
    is_running = task is not None and run.ended is not None and case.evidence.is_running(task, run.ended)
    uses = case.evidence.since(run).uses.values()
    return is_running and task is not None and any(task.created < use.last for use in uses)


def _named_by_message(case: Case, run: Run, pattern: re.Pattern[str]) -> Task | None:
    """The task whose id is the first group of a pattern in the message of a run."""
    match = pattern.search(str(run.result.get("msg")))
    return case.evidence.task(int(match[1])) if match else None


RESTART_CHECKS: tuple[Check, ...] = (
    end_is_noticed, nobody_waits_for_a_person, wait_goes_on, held_is_true, missing_start_was_waited_for,
    undisturbed_is_green,
)  # fmt: skip
EVERY_CHECK: tuple[Check, ...] = (
    does_not_crash,
    credentials_once,
    wait_ends,
    pauses_between_looks,
    no_advice_after_success,
)
