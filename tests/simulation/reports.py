# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Promises about what a module reports."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import BLUR, Since
from .finding import EVER, Case, Check, Finding
from .fleet import Key
from .history import Exchange, Run
from .task_graph import Task

# Seconds that a task may have begun before its request was sent, by clocks that are uncertain.
LARGEST_LEAD = 8.0
# What a proxy does that shows the answer to another request.
OTHERS_ANSWERS = ("another answer", "stale answer")


def green_is_true(case: Case, run: Run) -> Iterator[Finding]:
    """Green means started since, serves, is not held."""
    result = run.result
    if not run.green or run.ended is None:
        return
    begin = case.evidence.window(run, run.ended) - case.profile.latest - case.profile.agent_refresh
    task = case.evidence.task(result.get("task_id"))
    waited = bool(run.args.get("wait")) or result.get("action") == "skipped"
    ours = result.get("action") in ("submitted", "adopted")
    began = case.evidence.true_since(run)
    words = f"green, {result.get('action')}, verified {result.get('verified')}"
    is_misled = result.get("verified") is None and any(each.replaced for each in run.exchanges)
    for key in case.evidence.present(run.change.members, run.ended) if waited else ():
        if case.evidence.address_changes(key, run.ended) is not None:
            continue  # by its name it is another server
        if not case.evidence.is_part_of(key, run.change, run.began, run.ended):
            continue
        of_task = task is not None and (ours or not run.is_dated) and key in task.members
        instants = [task.created if task and of_task else None, began.earliest(key)]
        since = min((each for each in instants if each is not None), default=None)
        if since is None:
            continue
        claims = result.get("verified") is True or (
            result.get("action") == "skipped" and not case.evidence.was_pretended(key, since, run.ended)
        )
        if claims and not case.evidence.starts(key, since - BLUR, run.ended):
            kind = f"green, not started ({result.get('action')})"
            # A name needs no clock.
            was_set = case.profile.jumps_at < run.ended and run.since is not None
            kind += ": the clock of the service was set" if was_set else ""
            has_joined = result.get("verified") is None and _has_joined(case, run, key, since)
            kind += ": it was moved into the zone of a restart since" if has_joined else ""
            unseen = was_set or has_joined or _saw_others_answers(case, run)
            yield Finding(kind, f"{words}: {key} has not started", unseen=unseen)
        elif claims and not (is_misled or case.evidence.served(key, begin, run.ended)):
            text = f"{words}: {key} does not serve"
            unseen = _saw_others_answers(case, run)
            yield Finding(f"green, does not serve ({result.get('action')})", text, unseen=unseen)
        elif claims:
            held = case.evidence.held_throughout(key, begin, run.ended)
            if held is not None:
                yield Finding(
                    f"green, held ({result.get('action')})", f"{words}: task {held.id} FAILED and holds {key}"
                )


def _has_joined(case: Case, run: Run, key: Key, since: float) -> bool:
    """Whether a server was moved into a zone after a restart of that, which so seems to have been one of it."""
    return any(
        task.kind == "zone"
        and task.work == "restart"
        and task.created >= since
        and key not in task.members
        and case.evidence.is_in(key, task.own, run.ended or EVER)
        and not case.evidence.is_in(key, task.own, task.created)
        for task in case.evidence.tasks.values()
    )


def _saw_others_answers(case: Case, run: Run) -> bool:
    """Whether a proxy put another answer into the last look of a run, or into one that noted its name."""
    last = case.evidence.window(run, run.ended or EVER)
    looks = [each for each in run.exchanges if each.sent >= last]
    users = [each for each in case.history.runs if run.shares_journal(each) and each.name == run.name]
    for use in case.evidence.since(run).uses.values():
        for user in users:
            first = case.evidence.window(user, use.last)
            looks += [each for each in user.exchanges if first <= each.sent <= use.last]
    return any(each.fate in OTHERS_ANSWERS for each in looks)


def green_task_succeeded(case: Case, run: Run) -> Iterator[Finding]:
    """A restart that was waited for ended well."""
    number = run.result.get("task_id")
    if run.green and run.args.get("wait") and number is not None:
        task = case.evidence.task(number)
        if task is None:
            yield Finding("task that does not exist", f"task {number}")
        elif not task.ended_well(task.record.at(run.ended or 0.0)):
            yield Finding("green, task did not succeed", f"task {number} is {task.status}")


def _completes(case: Case, run: Run, wanted: set[Key], members: set[Key]) -> bool:
    """Whether a restart of ``members`` leaves nothing of what is wanted that has not started since the change."""
    since, rest = case.evidence.true_since(run), wanted - members
    begins = [(key, since.earliest(key)) for key in rest]
    ended = run.ended or EVER
    has_started = [begin is not None and any(case.evidence.starts(key, begin, ended)) for key, begin in begins]
    return bool(wanted & members) and all(has_started)


def task_is_ours(case: Case, run: Run) -> Iterator[Finding]:
    """The task of a result restarts this target, and is our own where it is said to be."""
    number, action = run.result.get("task_id"), run.result.get("action")
    if number is None or action not in ("submitted", "adopted", "attached"):
        return
    task = case.evidence.task(number)
    if task is None:
        yield Finding("task that does not exist", f"{action} task {number}")
        return
    now = case.evidence.parts_of(run.change, run.ended or 0.0)
    wanted = {key for key in now if task.kind != "host" or key in task.members}
    at_first = set(case.evidence.parts_of(run.change, run.began))
    is_empty = not wanted and not at_first and task.kind == "cluster" and task.cluster == run.change.cluster
    # What nothing else has started since the change.
    since, ended = case.evidence.true_since(run), run.ended or EVER
    left = {
        key
        for key in wanted
        if (begin := since.earliest(key)) is not None
        and all(each.task == number for each in case.evidence.starts(key, begin, ended))
    }
    covers = is_empty or any(bool(parts) and parts <= set(task.members) for parts in (wanted, at_first, left))
    if action == "attached":
        # What is down shows no start, although another task has made one since.
        covers = covers or _completes(case, run, wanted, set(task.members))
    # The servers of a zone may have been moved to another since, or into it.
    moved = bool(wanted) and all(case.evidence.is_in(key, task.own, run.ended or 0.0) for key in wanted)
    fits = task.work == "restart" and (covers or moved or (task.own is not None and task.own == run.change.own))
    if not fits:
        fates = {each.fate for each in run.exchanges if each.reads}
        text = f"task {number} ({task.name}) of {task.members}"
        yield Finding(f"{action} a task of another target", text, unseen=not fates.isdisjoint(OTHERS_ANSWERS))
    elif action != "attached" and not _is_own(case, task, run):
        same = [each for each in case.history.runs if run.shares_journal(each) and each.change is run.change]
        posts = [post for each in same for post in each.posts if post.sent <= (run.ended or 0.0)]
        post = posts[-1] if posts else None
        early = post is None or task.created < post.sent - LARGEST_LEAD - case.profile.spread
        why = "" if early else _why_not_told_apart(case, run, task)
        kind = f"{action} a task of somebody else" + why
        yield Finding(kind, f"task {number} by {task.creator}", unseen=bool(why))
    elif action == "adopted" and _is_known_to_another(case, run, task):
        yield Finding("adopted a task that another run with this journal has", f"task {number}")


def _why_not_told_apart(case: Case, run: Run, task: Task) -> str:
    """Why nothing shows that a task of somebody else is not of this run, by what was drawn; empty if something does."""
    if not case.profile.creators:
        return ": the service does not tell whose it is"
    other = task.request
    is_same_account = isinstance(other, Run) and other.user == run.user and task.creator == run.user
    if is_same_account and isinstance(other, Run) and not run.shares_journal(other):
        return ": two controllers with one account share no journal"
    return ""


def _is_known_to_another(case: Case, run: Run, task: Task) -> bool:
    """Whether another run with this journal reported a task as its own before the last look of this one."""
    last = case.evidence.window(run, run.ended or EVER)
    others = [each for each in case.history.runs if each is not run and run.shares_journal(each)]
    return task.request is not run and any(
        each.result.get("task_id") == task.id
        and each.result.get("action") in ("submitted", "adopted")
        and (each.ended or EVER) < last
        and not (each.only_looks or each.knows_no_outcome)
        and case.evidence.is_noted(each, task, run.began, run)
        for each in others
    )


def _is_own(case: Case, task: Task, run: Run) -> bool:
    """Whether this run began a task, or adopts that of another one of its journal and user for the same target.

    That one left it open, see _is_known_to_another. The journal does not tell users apart, so the service has to.
    """
    request = task.request
    if request is run:
        return True
    if not isinstance(request, Run) or not run.shares_journal(request) or run.result.get("action") != "adopted":
        return False
    if request.user != run.user and case.profile.creators:
        return False
    return (request.change.kind, request.change.members) == (run.change.kind, run.change.members)


def changed_is_true(case: Case, run: Run) -> Iterator[Finding]:
    """``changed`` says whether this run started something."""
    if not run.green:
        return
    task = case.evidence.task(run.result.get("task_id"))
    if run.result.get("changed") and not run.restarts and not (task and _is_own(case, task, run)):
        action = run.result.get("action")
        unseen = bool(run.posts) or action == "adopted"
        yield Finding("changed, though nothing was started", f"action {action}", unseen)
    worked = [
        when for _exchange, when, number in run.restarts if case.evidence.worked(case.evidence.tasks[number], EVER)
    ]
    if not run.result.get("changed") and any(when <= (run.ended or 0.0) for when in worked):
        answers = [answer.status for exchange in run.posts for _when, answer in exchange.commits]
        unseen = len(answers) > len(run.posts) or 200 not in answers[-1:] or _hides_repeated(case, run)
        yield Finding("unchanged, though it started something", f"answers {answers}", unseen)


def _hides_repeated(case: Case, run: Run) -> bool:
    """Whether a proxy showed the refusal of its repetition, and no answer after it told that the task is our own."""
    repeated = [each for each in run.posts if each.fate == "repeated" and each.replaced is not None]
    tasks = [case.evidence.tasks[a.task] for each in repeated for _when, a in each.commits if a.task is not None]
    later = [each for each in run.exchanges if each.reads and repeated and each.sent > repeated[-1].sent]
    is_told = case.profile.creators and all(case.answers.tells_target(task) for task in tasks)
    is_listed = any(case.answers.is_unfinished(read, task) is not None for read in later for task in tasks)
    return bool(tasks) and not (is_told and is_listed)


def no_restart_is_true(case: Case, run: Run) -> Iterator[Finding]:
    """Who says that there was no restart has started none."""
    if not run.failed:
        return
    denies = run.result.get("changed") is False or run.result.get("may_have_run") is False
    for exchange, when, number in run.restarts if denies else ():
        task = case.evidence.tasks[number]
        if not case.evidence.worked(task, EVER):
            continue
        text = f"task {number} began at {when:.1f}: {run.result.get('msg')}"
        yield Finding(*_denial(case, run, exchange, task, when, text))


def _denial(case: Case, run: Run, post: Exchange, task: Task, when: float, text: str) -> tuple[str, str, bool]:
    """Kind, text and whether nothing showed it, of a "no restart" where there was one."""
    other = None if post.fate == "repeated" else post.replaced
    if other is not None and 400 <= other.status < 500 and other.is_envelope:
        return "'no restart': the refusal of another request came in place of the answer", text, True
    ended = run.ended or 0.0
    refused = post.answer is not None and 400 <= post.answer.status < 500
    if refused and run.result.get("task_id") == task.id:
        return "'changed: false' with its own task: a proxy repeated the request and showed the last answer", text, True
    # After a 401 and a 403 nothing more is asked.
    final = post.answer is not None and post.answer.status in (401, 403)
    if refused and (final or not (when < ended and case.evidence.in_flight(task, ended))):
        return "'no restart': a proxy repeated the request and showed the last answer", text, True
    if post.fate == "repeated" and not case.profile.creators:
        return "'no restart': a proxy repeated the request, and the service does not tell whose the task is", text, True
    clocks = {each.answer.ahead for each in run.exchanges if each.answer is not None}
    if post.fate == "repeated" and task.clock not in clocks:
        return "'no restart': a proxy repeated the request, and the clock that the task has was never shown", text, True
    if post.fate == "repeated" and not case.profile.reads_tasks:
        is_seen = any(case.answers.may_show(run, key, when) for key in task.members)
        why = "" if is_seen else ": a proxy repeated the request, and neither tasks nor a start may be seen"
        return f"'no restart'{why}", text, not is_seen
    later = [each for each in run.exchanges if each.reads and each.sent > post.sent]
    if post.fate == "repeated" and all(case.answers.is_unfinished(read, task) is None for read in later):
        return "'no restart': a proxy repeated the request, and no later answer showed the task", text, True
    return f"'no restart' after {post.fate}", text, False


def task_id_is_told(case: Case, run: Run) -> Iterator[Finding]:
    """The id of an accepted restart reaches the user."""
    accepted = [each for each in run.posts if each.answer and each.answer.task is not None]
    if not accepted or accepted[-1].answer is None:
        return
    number = accepted[-1].answer.task
    assert number is not None
    if not case.evidence.worked(case.evidence.tasks[number], EVER):
        return
    if run.failed and run.result.get("task_id") is None:
        is_misled = any(_lists(each, number) for each in run.exchanges if each.sent < accepted[-1].sent)
        why = ": an answer had shown it before the request" if is_misled else ""
        yield Finding(f"task id lost{why}", f"task {number}: {run.result.get('msg')}", unseen=is_misled)
    elif run.end == "timeout" and not any(str(number) in line for _when, line in run.lines):
        yield Finding("task id lost by Ansible's time-out", f"task {number}")


def _lists(read: Exchange, number: int) -> bool:
    """Whether an answer to another request, in place of a list, has a record with an id."""
    data = read.replaced.data if read.reads and read.replaced is not None else None
    contents = data.get("contents") if isinstance(data, dict) else None
    return any(isinstance(each, dict) and str(each.get("id")) == str(number) for each in contents or ())


def alarm_is_true(case: Case, run: Run) -> Iterator[Finding]:
    """Who says that a target has not restarted is right."""
    if not run.failed or run.result.get("verified") is not False or run.ended is None:
        return
    task = case.evidence.task(run.result.get("task_id"))
    since = case.evidence.since(run)
    if not run.is_dated and task is not None:
        since = Since(task.created)
    begin = case.evidence.window(run, run.ended)
    if (
        (task is None and not run.is_dated)
        or (task is not None and task.idle)
        or case.evidence.is_worked_on(run.change, begin, run.ended)
    ):
        return
    # Servers may have been moved into the zone meanwhile.
    members = {*run.change.members, *case.evidence.parts_of(run.change, run.ended)}
    shown = all(
        case.evidence.shows_by_itself(key, since, begin) and case.evidence.serves_throughout(key, begin, run.ended)
        for key in members
    )
    if any(case.evidence.address_changes(key, run.ended) is not None for key in members):
        return
    if shown and all(case.evidence.starts(key, since.latest(key) or EVER, begin) for key in members):
        was_set = case.profile.jumps_at < run.ended
        yield Finding("false alarm", f"it has started: {run.result.get('msg')}", unseen=was_set)


def action_is_true(case: Case, run: Run) -> Iterator[Finding]:
    """The module task did what it says, and nothing else."""
    task = case.evidence.task(run.args["task_id"])
    if task is None or run.end != "result":
        return
    done = [when for when, _kind, request in task.accepted_actions if request is run]
    if run.green and run.result.get("changed") and not done:
        yield Finding("task: changed, though nothing was done", str(run.result.get("reason")), unseen=bool(run.posts))
    repeated = any(len(each.commits) > 1 for each in run.posts)
    if not run.result.get("changed") and done:
        text = str(run.result.get("msg") or run.result.get("reason"))
        refused = any(each.replaced is not None and 400 <= each.replaced.status < 500 for each in run.posts)
        yield Finding("task: unchanged, though it was done", text, unseen=repeated or refused)
    if len(done) > 1 and run.args["state"] != "skipped":
        yield Finding("task: done twice", str(done), unseen=repeated)


RESTART_CHECKS: tuple[Check, ...] = (
    green_is_true, green_task_succeeded, task_is_ours, changed_is_true, no_restart_is_true, task_id_is_told,
    alarm_is_true,
)  # fmt: skip
TASK_CHECKS: tuple[Check, ...] = (action_is_true,)
