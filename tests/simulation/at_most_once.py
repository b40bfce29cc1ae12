# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Promises about how often something restarts."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import BLUR, SAME_INSTANT
from .finding import EVER, Case, Check, Finding
from .fleet import Key, Start
from .history import Exchange, Run
from .task_graph import Task

# A request that took longer on its way was held back by something.
HELD_BACK = 1.0


def no_double(case: Case, run: Run) -> Iterator[Finding]:
    """A target that has started since the change is not restarted again."""
    since = run.since
    if since is None:
        return
    for post, when, number in run.restarts:
        task = case.evidence.tasks[number]
        if not case.evidence.worked(task, EVER):
            continue
        earlier = {key: _earlier_starts(case, key, task, since, when) for key in task.members}
        again = [key for key in task.members if earlier[key]]
        if not again or (task.kind != "host" and len(again) < len(task.members)):
            continue
        text = f"task {number} restarted {again[0]} again"
        if case.profile.clock_is_sane and _left_open(case, run, post, again[0]):
            yield Finding("double after an open outcome of the same process", text)
        elif post.commits[0][0] < when:
            yield Finding("double: a proxy repeated the request", text, unseen=True)
        else:
            shown = [_was_shown(case, run, post, key, earlier[key]) for key in again]
            if any(shown) if task.kind == "host" else all(shown):
                yield Finding("double", text)
            else:
                hidden = again[shown.index(False)]
                yield Finding(f"double: {_why_unseen(case, run, post, earlier[hidden])}", text, unseen=True)


def _earlier_starts(case: Case, key: Key, task: Task, since: float, committed: float) -> list[Start]:
    """The starts since the change that were there, or under way, when a task began that started it too."""
    starts = case.evidence.starts(key, since + BLUR)
    if not any(start.task == task.id and not start.undoing for start in starts):
        return []
    state = case.evidence.state(key, committed - SAME_INSTANT)
    if state is not None and not state["up"] and state["work"] is None:
        return []  # what does not run may be started
    return [start for start in starts if start.task != task.id and _began(case, start) < committed]


def _began(case: Case, start: Start) -> float:
    """When what caused a start began."""
    task = case.evidence.task(start.task)
    return start.time if task is None or start.undoing else task.created


def _was_shown(case: Case, run: Run, post: Exchange, key: Key, starts: list[Start]) -> bool:
    # A task that may have begun before the change is no evidence, nor is a rollback or one that only starts, whose name
    # is in no document; their start is, once it is shown. A time from before the clock was set cannot be
    # compared with a later one.
    tasks = [case.evidence.task(start.task) for start in starts if not start.undoing]
    begun = [task for task in tasks if task is not None and task.created > (run.since or 0.0) + BLUR]
    begun = [task for task in begun if not _is_clock_set_since(case, task, post)]
    others = [task for task in begun if task.work == "restart" and not _is_undone(task, post.sent)]
    return case.answers.show_restart(run, post, key, others)


def _is_clock_set_since(case: Case, task: Task, post: Exchange) -> bool:
    """Whether the clock of the service was set between the begin of a task and a request."""
    return task.created < case.profile.jumps_at <= post.sent


def _is_undone(task: Task, when: float) -> bool:
    """Whether a task has been rolled back, or is being, at a time."""
    state = task.record.at(when)
    return state is not None and state["operation"] == "ROLLBACK"


def _why_unseen(case: Case, run: Run, post: Exchange, starts: list[Start]) -> str:
    """Why no answer held the restart of another."""
    began = min(_began(case, start) for start in starts)
    look = min((each.sent for each in case.answers.last_look(run, post)), default=post.sent)
    if began > look:
        return "the requests crossed"
    causes = [case.evidence.task(start.task) for start in starts]
    if any(task is not None and _was_held_back(task) for task in causes):
        return "the first request was held back"
    if not case.profile.reads_tasks:
        return "the tasks may not be read"
    if all(task is not None and task.work != "restart" for task in causes):
        return "somebody stopped and started it, and its start was not shown yet"
    if any(task is not None and _is_clock_set_since(case, task, post) for task in causes):
        return "the clock of the service was set"
    return "all answers were behind"


def _was_held_back(task: Task) -> bool:
    request = task.request
    posts = request.posts if isinstance(request, Run) else []
    return any(
        when - post.sent > HELD_BACK for post in posts for when, answer in post.commits if answer.task == task.id
    )


def _left_open(case: Case, run: Run, post: Exchange, key: Key) -> bool:
    """Whether an earlier run of the process left open whether its own request restarted this since the change."""
    since = (run.since or 0.0) + BLUR
    for earlier in case.history.runs:
        if earlier.process != run.process or earlier.number >= run.number or earlier.change is not run.change:
            continue
        for each in earlier.posts:
            tasks = [case.evidence.tasks[a.task] for _when, a in each.commits if a.task is not None]
            started = any(start.task == task.id for task in tasks for start in case.evidence.starts(key, since))
            other = each.replaced
            denied = other is not None and other.is_envelope and 400 <= other.status < 500
            is_open = each.answer is None and not denied and earlier.failed and earlier.result.get("task_id") is None
            if started and is_open and each.sent < post.sent:
                return True
    return False


def overtakes_nothing(case: Case, run: Run) -> Iterator[Finding]:
    """No restart is sent while another task is shown to restart the target."""
    for post, when, number in run.restarts:
        task = case.evidence.tasks[number]
        if post.commits[0][0] < when:
            continue
        look = case.answers.last_look(run, post)
        for other in case.evidence.tasks.values():
            touches = set(other.members) & set(task.members) and other.kind == task.kind and other.work == "restart"
            if not case.evidence.is_running(other, post.sent):
                continue  # as another answer may have shown
            if other is not task and touches and _is_unfinished(case, look, other):
                behind = any(case.answers.deny(look, other, key) for key in task.members)
                why = ": the list by host was behind" if behind else ""
                what = f"task {number} was sent while task {other.id} was shown as unfinished"
                yield Finding(f"overtakes{why}", what, unseen=behind)


def _is_unfinished(case: Case, look: list[Exchange], task: Task) -> bool:
    """Whether the last answer of a look that holds a task shows it as unfinished."""
    shown = [case.answers.is_unfinished(read, task) for read in look]
    return next((unfinished for unfinished in reversed(shown) if unfinished is not None), False)


def one_request(case: Case, run: Run) -> Iterator[Finding]:
    """One run restarts once, whatever happens to its requests."""
    worked = [each for each in run.restarts if case.evidence.worked(case.evidence.tasks[each[2]], EVER)]
    for post, when, number in worked[1:]:
        previous = case.evidence.tasks[worked[0][2]]
        if previous.fails_at == 0 or set(previous.members).isdisjoint(case.evidence.tasks[number].members):
            continue
        repeated = post is worked[0][0] and when > post.commits[0][0]
        # The refusal of the repetition came, and nothing tells the first task from that of somebody else.
        untold = worked[0][0].fate == "repeated" and not case.profile.creators
        why = ": a proxy repeated the request" if repeated or untold else ""
        why += ", and the service does not tell whose the task is" if untold and not repeated else ""
        yield Finding(f"two restarts by one run{why}", f"tasks {previous.id} and {number}", unseen=repeated or untold)


CHECKS: tuple[Check, ...] = (no_double, overtakes_nothing, one_request)
