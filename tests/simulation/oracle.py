# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The judge: what the modules did and reported, held against what really happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .evidence import BLUR, Evidence
from .fleet import Key
from .history import Exchange, Run
from .simulation import Simulation
from .task_graph import Task

GREEN_ACTIONS = ("submitted", "adopted", "attached", "skipped")


@dataclass(frozen=True)
class Finding:
    """A promise that was broken. ``unseen``: no answer before the request held the evidence."""

    kind: str
    text: str
    unseen: bool = False


Check = Callable[[Simulation, Evidence, Run], Iterator[Finding]]


def judge(simulation: Simulation) -> list[Finding]:
    """All promises that one simulation broke."""
    evidence = Evidence(simulation)
    found = []
    for run in simulation.history.runs:
        checks = TASK_CHECKS if run.module == "task" else RESTART_CHECKS
        for check in (*EVERY_CHECK, *checks):
            found += [
                Finding(each.kind, f"{run.label}: {each.text}", each.unseen)
                for each in check(simulation, evidence, run)
            ]
    return found


def counted(simulation: Simulation) -> int:
    """How many restarts were asked for and reports were made."""
    return sum(run.end == "result" for run in simulation.history.runs)


# At most once


def no_double(simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """A target that has started since the change is not restarted again."""
    if run.since is None:
        return
    for exchange, when, number in run.restarts:
        task = evidence.tasks[number]
        again = [key for key in task.members if _started_twice(evidence, key, task, run.since, when)]
        if not again or (task.kind != "host" and len(again) < len(task.members)):
            continue
        text = f"task {number} restarted {again[0]} again"
        if _open_in_same_process(simulation, evidence, run, exchange, again[0]):
            yield Finding("double after an open outcome of the same process", text)
            continue
        shown = all(_shown_at_look(evidence, run, exchange, key, task) for key in again)
        repeated = exchange.commits[0][0] < when
        yield Finding("double", text, unseen=repeated or not shown)


def _started_twice(evidence: Evidence, key: Key, task: Task, since: float, committed: float) -> bool:
    """Whether the task started a process that something earlier had started, or was about to start, since."""
    starts = evidence.starts(key, since + BLUR)
    if not any(start.task == task.id and not start.undoing for start in starts):
        return False
    for start in starts:
        other = evidence.task(start.task)
        before = start.time <= committed if other is None or start.undoing else other.created < committed
        if start.task != task.id and before:
            return True
    return False


def _shown_at_look(evidence: Evidence, run: Run, exchange: Exchange, key: Key, task: Task) -> bool:
    look = evidence.window(run, exchange.sent) if exchange.pause_ended <= _last_read(run, exchange) else exchange.sent
    return evidence.shows(key, run.since, look, task) and evidence.shows(key, run.since, exchange.sent, task)


def _last_read(run: Run, exchange: Exchange) -> float:
    return max((each.sent for each in run.exchanges if each.reads and each.sent <= exchange.sent), default=-1.0)


def _open_in_same_process(simulation: Simulation, evidence: Evidence, run: Run, exchange: Exchange, key: Key) -> bool:
    """Whether an earlier run of the process left open whether its own request restarted this."""
    for earlier in simulation.history.runs:
        if earlier.process != run.process or earlier.number >= run.number or earlier.change is not run.change:
            continue
        for each in earlier.posts:
            tasks = [evidence.tasks[a.task] for _when, a in each.commits if a.task is not None]
            started = any(start.task == task.id for task in tasks for start in evidence.starts(key, 0.0))
            if started and each.answer is None and earlier.failed and each.sent < exchange.sent:
                return True
    return False


def overtakes_nothing(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """No restart is sent while another task is seen to restart the target."""
    for exchange, when, number in run.restarts:
        task = evidence.tasks[number]
        look = (
            evidence.window(run, exchange.sent) if exchange.pause_ended <= _last_read(run, exchange) else exchange.sent
        )
        for other in evidence.tasks.values():
            touches = set(other.members) & set(task.members) and other.kind == task.kind and other.work == "restart"
            if other is task or not touches or other.created >= when or exchange.commits[0][0] < when:
                continue
            if evidence.in_flight(other, look) and evidence.in_flight(other, exchange.sent):
                yield Finding("overtakes", f"task {number} was sent while task {other.id} was listed as unfinished")


def one_request(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """One run restarts once, whatever happens to its requests."""
    worked = [each for each in run.restarts if evidence.worked(evidence.tasks[each[2]], 1e12)]
    for exchange, when, number in worked[1:]:
        previous = evidence.tasks[worked[0][2]]
        if previous.fails_at == 0 or set(previous.members).isdisjoint(evidence.tasks[number].members):
            continue
        repeated = exchange is worked[0][0] and when > exchange.commits[0][0]
        yield Finding("two restarts by one run", f"tasks {previous.id} and {number}", unseen=repeated)


# What was reported


def green_is_true(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """Green means started since, serves, is not held."""
    result = run.result
    if not run.green or run.ended is None:
        return
    begin = evidence.window(run, run.ended) - _simulation.profile.latest - _simulation.profile.agent_refresh
    task = evidence.task(result.get("task_id"))
    waited = bool(run.args.get("wait")) or result.get("action") == "skipped"
    ours = result.get("action") in ("submitted", "adopted")
    since = task.created if task and (ours or run.since is None) else run.since
    if not waited or since is None:
        return
    words = f"green, {result.get('action')}, verified {result.get('verified')}"
    claims = result.get("verified") is True or result.get("action") == "skipped"
    for key in run.change.members:
        if claims and not evidence.starts(key, since - BLUR, run.ended):
            yield Finding(f"green, not started ({result.get('action')})", f"{words}: {key} has not started")
        elif claims and not evidence.served(key, begin, run.ended):
            yield Finding(f"green, does not serve ({result.get('action')})", f"{words}: {key} does not serve")
        else:
            held = evidence.held_throughout(key, begin, run.ended)
            if held is not None:
                yield Finding(
                    f"green, held ({result.get('action')})", f"{words}: task {held.id} FAILED and holds {key}"
                )


def green_task_succeeded(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """A restart that was waited for ended well."""
    number = run.result.get("task_id")
    if run.green and run.args.get("wait") and number is not None:
        task = evidence.task(number)
        if task is None:
            yield Finding("task that does not exist", f"task {number}")
        elif not task.ended_well(task.record.at(run.ended or 0.0)):
            yield Finding("green, task did not succeed", f"task {number} is {task.status}")


def task_is_ours(simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """The task of a result restarts this target, and is our own where it is said to be."""
    number, action = run.result.get("task_id"), run.result.get("action")
    if number is None or action not in ("submitted", "adopted", "attached"):
        return
    task = evidence.task(number)
    if task is None:
        yield Finding("task that does not exist", f"{action} task {number}")
        return
    wanted = {key for key in run.change.members if task.kind != "host" or key in task.members}
    fits = task.work == "restart" and wanted and wanted <= set(task.members)
    if not fits:
        yield Finding(f"{action} a task of another target", f"task {number} ({task.name}) of {task.members}")
    elif action != "attached" and task.request is not run:
        post = run.posts[-1] if run.posts else None
        told = simulation.profile.creators and task.creator != run.user
        early = post is None or task.created < post.sent - 8.0
        yield Finding(
            f"{action} a task of somebody else", f"task {number} by {task.creator}", unseen=not (told or early)
        )


def changed_is_true(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """``changed`` says whether this run started something."""
    if not run.green:
        return
    if run.result.get("changed") and not run.restarts:
        yield Finding(
            "changed, though nothing was started", f"action {run.result.get('action')}", unseen=bool(run.posts)
        )
    worked = [when for _exchange, when, number in run.restarts if evidence.worked(evidence.tasks[number], 1e12)]
    if not run.result.get("changed") and any(when <= (run.ended or 0.0) for when in worked):
        answers = [answer.status for exchange in run.posts for _when, answer in exchange.commits]
        yield Finding("unchanged, though it started something", f"answers {answers}", unseen=200 not in answers[-1:])


def no_restart_is_true(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """Who says that there was no restart has started none."""
    if not run.failed:
        return
    denies = run.result.get("changed") is False or run.result.get("may_have_run") is False
    for exchange, when, number in run.restarts if denies else ():
        task = evidence.tasks[number]
        if not evidence.worked(task, 1e12):
            continue
        ended = run.ended or 0.0
        refused = bool(exchange.answer and 400 <= exchange.answer.status < 500)
        unseen = refused and not (when < ended and evidence.in_flight(task, ended))
        yield Finding(
            f"'no restart' after {exchange.fate}", f"task {number} began at {when:.1f}: {run.result.get('msg')}", unseen
        )


def task_id_is_told(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """The id of an accepted restart reaches the user."""
    accepted = [each for each in run.posts if each.answer and each.answer.task is not None]
    if not accepted or accepted[-1].answer is None:
        return
    number = accepted[-1].answer.task
    assert number is not None
    if not evidence.worked(evidence.tasks[number], 1e12):
        return
    if run.failed and run.result.get("task_id") is None:
        yield Finding("task id lost", f"task {number}: {run.result.get('msg')}")
    elif run.end == "timeout" and not any(str(number) in line for _when, line in run.lines):
        yield Finding("task id lost by Ansible's time-out", f"task {number}")


def alarm_is_true(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """Who says that a target has not restarted is right."""
    if not run.failed or run.result.get("verified") is not False or run.ended is None:
        return
    task = evidence.task(run.result.get("task_id"))
    since = run.since if run.since is not None else (task.created if task else None)
    begin = evidence.window(run, run.ended)
    if since is None:
        return
    members = run.change.members
    shown = all(evidence.shows(key, since, begin) and evidence.served(key, begin, begin) for key in members)
    if shown and all(evidence.starts(key, since, begin) for key in members):
        yield Finding("false alarm", f"it has started: {run.result.get('msg')}")


# How it behaves


def does_not_crash(_simulation: Simulation, _evidence: Evidence, run: Run) -> Iterator[Finding]:
    """A module fails with a message, never by a bug."""
    if "exception" in run.result or "crashed" in str(run.result.get("msg")):
        yield Finding("crash", str(run.result.get("msg")))


def credentials_once(_simulation: Simulation, _evidence: Evidence, run: Run) -> Iterator[Finding]:
    """A 401 ends everything, since repeating it locks the account."""
    refused = [each.came_back for each in run.exchanges if each.answer and each.answer.status == 401]
    first = min((when for when in refused if when is not None), default=1e12)
    if any(each.sent > first for each in run.exchanges):
        yield Finding("asks again after a 401", f"after {first:.1f}")


def wait_goes_on(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """A task that runs is waited for until ``wait_timeout``."""
    task = evidence.task(run.result.get("task_id"))
    if not run.failed or not run.args.get("wait") or task is None or run.ended is None:
        return
    refused = any(each.answer and each.answer.status in (401, 403) for each in run.exchanges)
    outside = any(each.fate in ("forbidden", "page before") for each in run.exchanges)
    state = task.record.at(run.ended - _simulation.profile.latest)
    lasted = run.ended - run.began
    if state and state["finish"] is None and lasted < run.args["wait_timeout"] - 1 and not refused and not outside:
        yield Finding("wait ended though the task runs", f"after {lasted:.0f} s: {run.result.get('msg')}")


def wait_ends(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """A wait ends in time, and nobody waits for a person."""
    lasted = (run.ended or run.began) - run.began
    limit = run.args.get("wait_timeout", 0) + 180 + 12 * run.args.get("timeout", 30)
    if run.end == "result" and lasted > limit:
        yield Finding("waits too long", f"{lasted:.0f} s")
    task = evidence.task(run.result.get("task_id"))
    if run.failed and task and lasted >= run.args.get("wait_timeout", 1e9):
        state = task.record.at((run.ended or 0.0) - 60)
        if state and state["finish"] is not None and task.record.now is state:
            yield Finding("waits for a task that has ended", f"{lasted:.0f} s, task {task.id} is {task.status}")
    if run.end == "result" and lasted > 45 and not run.posts and run.module != "task":
        begin = run.began - _simulation.profile.latest
        held = [evidence.held_throughout(key, begin, run.began + 40) for key in run.change.members]
        if any(held):
            yield Finding("waits for a person", f"{lasted:.0f} s, though task {next(h.id for h in held if h)} holds it")


def no_advice_after_success(_simulation: Simulation, _evidence: Evidence, run: Run) -> Iterator[Finding]:
    """Nothing printed after a success advises to run again."""
    text = " ".join(str(warning) for warning in run.result.get("warnings", ()))
    if run.green and "run this again" in text:
        yield Finding("advice after a success", text)


# Task actions


def action_is_true(_simulation: Simulation, evidence: Evidence, run: Run) -> Iterator[Finding]:
    """The module task did what it says, and nothing else."""
    task = evidence.task(run.args["task_id"])
    if task is None or run.end != "result":
        return
    done = [when for when, _kind, request in task.accepted_actions if request is run]
    if run.green and run.result.get("changed") and not done:
        yield Finding("task: changed, though nothing was done", str(run.result.get("reason")), unseen=bool(run.posts))
    if not run.result.get("changed") and done:
        yield Finding("task: unchanged, though it was done", str(run.result.get("msg") or run.result.get("reason")))
    if len(done) > 1 and run.args["state"] != "skipped":
        repeated = any(len(each.commits) > 1 for each in run.posts)
        yield Finding("task: done twice", str(done), unseen=repeated)


EVERY_CHECK: tuple[Check, ...] = (does_not_crash, credentials_once, wait_ends, no_advice_after_success)
TASK_CHECKS: tuple[Check, ...] = (action_is_true,)
RESTART_CHECKS: tuple[Check, ...] = (
    no_double, overtakes_nothing, one_request, green_is_true, green_task_succeeded, task_is_ours, changed_is_true,
    no_restart_is_true, task_id_is_told, alarm_is_true, wait_goes_on,
)  # fmt: skip
