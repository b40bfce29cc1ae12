# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Promises about how often something restarts."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import HOST_UNCERTAINTY, SAME_INSTANT, Since
from .finding import EVER, Case, Check, Finding
from .fleet import Key, Start
from .history import Exchange, Run
from .task_graph import Task

# A request that took longer on its way was held back by something.
HELD_BACK = 1.0
# Seconds after an unanswered request, and the time that one may take, in which its task may show.
UNSEEN_FOR = 60.0
# What something on the way does to a read, so that nothing tells what the service would have shown.
MISLEADING = ("another answer", "stale answer", "odd clock")


def no_double(case: Case, run: Run) -> Iterator[Finding]:
    """A target that has started since the change is not restarted again."""
    if not run.is_dated:
        return
    true, since = case.evidence.true_since(run), case.evidence.since(run)
    for post, when, number in run.restarts:
        task = case.evidence.tasks[number]
        if not case.evidence.worked(task, EVER):
            continue
        earlier = {key: _earlier_starts(case, run, key, task, true, when) for key in task.members}
        again = [key for key in task.members if earlier[key]]
        if not again or (task.kind != "host" and len(again) < len(task.members)):
            continue
        text = f"task {number} restarted {again[0]} again"
        if case.profile.clock_is_sane and _left_open(case, run, post, again[0]):
            yield Finding("double after an open outcome of the same process", text)
        elif post.commits[0][0] < when:
            yield Finding("double: a proxy repeated the request", text, unseen=True)
        else:
            shown = [_was_shown(case, run, post, key, since, earlier[key]) for key in again]
            if any(shown) if task.kind == "host" else all(shown):
                yield Finding("double", text)
            else:
                hidden = again[shown.index(False)]
                why = _why_unseen(case, run, post, hidden, earlier[hidden])
                yield Finding(f"double: {why}" if why else "double, which nothing excuses", text, unseen=bool(why))


def _earlier_starts(
    case: Case, run: Run, key: Key, task: Task, since: Since, committed: float
) -> list[Start]:  # fmt: skip
    """The starts since the change that were there, or under way, when a task began that started it too."""
    begin = since.latest(key)
    # Under another address it is another server, of which a name has another first use.
    renamed = case.evidence.address_changes(key, committed)
    if begin is not None and renamed is not None:
        begin = max(begin, case.evidence.since_as_renamed(run, key, renamed))
    starts = [] if begin is None else case.evidence.starts(key, begin)
    if not any(start.task == task.id and not start.undoing for start in starts):
        return []
    state = case.evidence.state(key, committed - SAME_INSTANT)
    if state is not None and not state["up"] and state["work"] is None:
        return []  # what does not run may be started
    return [start for start in starts if start.task != task.id and _is_under_way(case, start, committed)]


def _is_under_way(case: Case, start: Start, when: float) -> bool:
    """Whether a start has happened by a time, or its task was running; one that a person retries later was not."""
    task = case.evidence.task(start.task)
    is_running = task is not None and task.created < when and case.evidence.is_running(task, when)
    return start.time < when or is_running


def _began(case: Case, start: Start) -> float:
    """When what caused a start began."""
    task = case.evidence.task(start.task)
    return start.time if task is None or start.undoing else task.created


def _was_shown(case: Case, run: Run, post: Exchange, key: Key, since: Since, starts: list[Start]) -> bool:
    # A task that may have begun before the change is no evidence, nor is a rollback or one that only starts, whose name
    # is in no document; their start is, once it is shown. A time from before the clock was set cannot be
    # compared with a later one.
    tasks = [case.evidence.task(start.task) for start in starts if not start.undoing]
    begun = [task for task in tasks if task is not None and since.covers(key, task)]
    begun = [task for task in begun if key in since.uses or not _is_clock_set_since(case, task, post)]
    others = [task for task in begun if task.work == "restart" and not _is_undone(task, post.sent)]
    is_noted = any(_is_known_as_done(case, run, post, task) for task in others)
    return is_noted or case.answers.show_restart(run, post, key, since, others)


def _is_known_as_done(case: Case, run: Run, post: Exchange, task: Task) -> bool:
    """Whether the journal of a run has the id of a task that every answer to it shows as done."""
    begin = case.evidence.window(run, post.sent) - case.profile.latest
    state = task.record.at(begin)
    is_done = state is not None and all(task.ended_well(each) for each in task.record.between(begin, post.sent))
    is_misled = any(each.fate in MISLEADING for each in run.exchanges)
    return is_done and case.profile.reads_tasks and not is_misled and _has_its_id(case, run, task, post.sent)


def _has_its_id(case: Case, run: Run, task: Task, when: float) -> bool:
    """Whether a run that shares the journal got the id of the task that it had asked for before a time."""
    return any(
        each.answer is not None and each.answer.task == task.id and (each.came_back or EVER) < when
        for other in case.history.runs
        if run.shares_journal(other) and other.end != "killed" and case.evidence.is_noted(other, task, when, run)
        for each in other.posts
    )


def _is_clock_set_since(case: Case, task: Task, post: Exchange) -> bool:
    """Whether the clock of the service was set between the begin of a task and a request."""
    return task.created < case.profile.jumps_at <= post.sent


def _is_undone(task: Task, when: float) -> bool:
    """Whether a task has been rolled back, or is being, at a time."""
    state = task.record.at(when)
    return state is not None and state["operation"] == "ROLLBACK"


def _why_unseen(case: Case, run: Run, post: Exchange, key: Key, starts: list[Start]) -> str:
    """Why no answer held the restart of another, by what was drawn for this run; empty if nothing explains it."""
    began = min(_began(case, start) for start in starts)
    look = min((each.sent for each in case.answers.last_look(run, post)), default=post.sent)
    causes = [case.evidence.task(start.task) for start in starts]
    reasons = {
        "the requests crossed": began > look,
        "the first request was held back": any(task is not None and _was_held_back(task) for task in causes),
        "the tasks may not be read": not case.profile.reads_tasks,
        "somebody stopped and started it, and its start was not shown yet": case.profile.start_late > 0
        and all(task is not None and task.work != "restart" for task in causes),
        "the clock of the service was set": any(
            task is not None and _is_clock_set_since(case, task, post) for task in causes
        ),
        "clocks do not tell": all(_is_unclear(case, run, post, key, start) for start in starts),
        "it shows no start, and its tasks began before the change or did not succeed": all(
            _is_no_evidence(case, run, post, key, task) for task in causes
        ),
        "no start was shown at the first use of the name": _is_unseen_at_first(case, run, key, causes),
        "the start of an earlier restart might have shown late, and no task made this one": _may_be_of_before(
            case, run, key, causes
        ),
        "its tasks are shown no more": all(
            task is not None and case.evidence.is_archived(task, post.sent) and not _has_its_id(case, run, task, look)
            for task in causes
        ),
        "it was added again under another id": case.evidence.was_added_again(key, post.sent) and not any(causes),
        "tasks do not show their targets": not case.profile.tags and case.profile.starts is False,
        "all answers were behind": _may_be_behind(case, run),
    }
    return next((why for why, holds in reasons.items() if holds), "")


def _is_unclear(case: Case, run: Run, post: Exchange, key: Key, start: Start) -> bool:
    """Whether a start is shown so near to the instant of the change that no clock tells, and no task tells either."""
    if run.since is None:
        return False
    since, task = case.evidence.since(run), case.evidence.task(start.task)
    tells = task is not None and task.work == "restart" and not start.undoing and since.covers(key, task)
    if tells and task is not None and case.answers.tells_target(task) and task.ended_well():
        return False
    use, state = since.uses.get(key), case.evidence.state(key, post.sent)
    shown = case.profile.wall(start.time) + case.evidence.clock_of(key)
    if state is None or state["shown"] is None or state["shown"] < shown or (use is not None and start.time > use.last):
        return False
    return abs(start.time + case.evidence.clock_of(key) - run.since) <= HOST_UNCERTAINTY + since.spread + 2.0


def _is_no_evidence(case: Case, run: Run, post: Exchange, key: Key, task: Task | None) -> bool:
    """Whether a task proves no restart of what shows no start: it began before the change, or ended without success."""
    shows_start = key[0] != "arbitration" and (key[0] == "host" or case.profile.starts)
    if shows_start or task is None:
        return False
    state = task.record.at(post.sent)
    has_failed = state is not None and state["finish"] is not None and not task.ended_well(state)
    return not case.evidence.since(run).covers(key, task) or has_failed


def _is_unseen_at_first(case: Case, run: Run, key: Key, causes: list[Task | None]) -> bool:
    """Whether no start was shown when the name was first used, and no task made the one that is shown now."""
    use = case.evidence.since(run).uses.get(key)
    return run.since is None and use is not None and use.is_hidden and not any(causes)


def _may_be_of_before(case: Case, run: Run, key: Key, causes: list[Task | None]) -> bool:
    """Whether a start by itself may be taken for that of a restart from before the first use of the name."""
    use = case.evidence.since(run).uses.get(key)
    return run.since is None and use is not None and use.is_late and not any(causes)


def _may_be_behind(case: Case, run: Run) -> bool:
    profile = case.profile
    lags = profile.latest or profile.list_lag or profile.start_late or profile.agent_refresh
    return bool(lags) or profile.start_unknown_until > 0 or any(each.fate in MISLEADING for each in run.exchanges)


def _was_held_back(task: Task) -> bool:
    request = task.request
    posts = request.posts if isinstance(request, Run) else []
    return any(
        when - post.sent > HELD_BACK for post in posts for when, answer in post.commits if answer.task == task.id
    )


def _left_open(case: Case, run: Run, post: Exchange, key: Key) -> bool:
    """Whether an earlier run of the process left open whether its own request restarted this since the change."""
    since = case.evidence.true_since(run).latest(key) or 0.0
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
        untold = worked[0][0].fate == "repeated" and not (case.profile.creators and case.profile.reads_tasks)
        why = ": a proxy repeated the request" if repeated or untold else ""
        why += ", and the service does not tell whose the task is" if untold and not repeated else ""
        # Lists lag for longer than a request may take, which is how long the task of the first one is looked for.
        hidden = worked[0][0].fate == "repeated" and case.profile.list_lag > run.args["timeout"]
        why = why or (": a proxy repeated the request, and lists lag longer than timeout" if hidden else "")
        text = f"tasks {previous.id} and {number}"
        yield Finding(f"two restarts by one run{why}", text, unseen=repeated or untold or hidden)


def none_after_success(case: Case, run: Run) -> Iterator[Finding]:
    """After a restart task that began since and was SUCCESSFUL there is no request, whatever shows."""
    if not run.is_dated:
        return
    since = case.evidence.since(run)
    for post, when, number in run.restarts:
        task = case.evidence.tasks[number]
        if post.commits[0][0] < when or not task.members:
            continue
        done = {key: _done_before(case, run, post, key, since, task) for key in task.members}
        named = [other for other in done.values() if other is not None]
        if len(named) == len(done) or (task.kind == "host" and named):
            skipped = any(other.skipped_effect for other in named)
            kind = "request after a task with a skipped step" if skipped else "request after a successful restart"
            yield Finding(kind, f"task {number} was requested after task {named[0].id}")


def _done_before(case: Case, run: Run, post: Exchange, key: Key, since: Since, task: Task) -> Task | None:
    """A task since the change that the last look showed as SUCCESSFUL, or that the journal and every answer do."""
    look = case.answers.last_look(run, post)
    if any(each.fate in MISLEADING for each in run.exchanges):
        return None
    for other in case.evidence.tasks.values():
        is_restart = other is not task and other.work == "restart" and key in other.members
        renamed = case.evidence.address_changes(key, post.sent)
        if not is_restart or not since.covers(key, other) or (renamed is not None and run.name is not None):
            continue
        is_listed = case.answers.tells_in_list(other) and any(case.answers.shows_success(read, other) for read in look)
        if is_listed or _is_known_as_done(case, run, post, other):
            return other
    return None


def open_request_blocks(case: Case, run: Run) -> Iterator[Finding]:
    """While it is not known whether a request in this journal was carried out, there is no other one."""
    for post in run.posts:
        for earlier in _requests_before(case, run, post):
            sent = _open_request(case, earlier, post)
            # A server that was added with the address of another one has another id, and so another path.
            if sent is None or sent.request.path != post.request.path:
                continue
            is_here = earlier.process == run.process
            searched = UNSEEN_FOR + min(run.args["timeout"], earlier.args["timeout"])
            if is_here or post.sent - sent.sent < searched - SAME_INSTANT:
                who = "process" if is_here else "journal"
                text = f"at {post.sent:.1f} after the one at {sent.sent:.1f}"
                # Without a name of a change it need not be noted: docs/journal.md.
                why = ": it could not be noted" if earlier.forgets else ""
                kind = f"request while one of the same {who} was open{why}"
                yield Finding(kind, text, unseen=earlier.forgets)


def _requests_before(case: Case, run: Run, post: Exchange) -> Iterator[Run]:
    mine = set(run.change.members)
    for each in case.history.runs:
        is_same = run.shares_journal(each) and each.module == run.module and set(each.change.members) == mine
        # What a person has cleared counts no more.
        is_cleared = run.memory.cleared_at(each.name, post.sent) > each.began
        if is_same and each.number < run.number and (each.ended or EVER) <= post.sent and mine and not is_cleared:
            yield each


def _open_request(case: Case, earlier: Run, post: Exchange) -> Exchange | None:
    """The last request of a run, if it neither got an answer nor reached the service, nor started anything since."""
    sent = earlier.posts[-1] if earlier.posts else None
    if sent is None or sent.answer is not None or sent.replaced is not None or sent.commits:
        return None
    never_left = sent.fate in ("reset before",) and not sent.request.body and sent.came_back is None
    moved = any(case.evidence.starts(key, sent.sent, post.sent) for key in earlier.change.members)
    began = any(
        task.created >= sent.sent and set(task.members) & set(earlier.change.members)
        for task in case.evidence.tasks.values()
        if task.created <= post.sent
    )
    return None if never_left or moved or began else sent


CHECKS: tuple[Check, ...] = (no_double, overtakes_nothing, one_request, none_after_success, open_request_blocks)
