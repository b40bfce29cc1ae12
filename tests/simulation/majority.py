# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Promises about what a restart takes down: each zone of a cluster has a voter of its one tenant."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence
from .finding import Case, Check, Finding
from .fleet import Key
from .history import Exchange, Run

UNSAFE = "it is not safe"
# Seconds for which a restart counts that this controller has asked for, shown or not.
REMEMBERED = 60.0
# Further seconds for which the clock of a controller does not show that they have passed.
DOUBTED = 300.0


def majority_is_kept(case: Case, run: Run) -> Iterator[Finding]:
    """No restart is sent that takes the majority, where all answers before it showed who else was down."""
    if run.args.get("safety") != "majority" or any(each.replaced for each in run.exchanges):
        return
    for post in run.posts:
        if not any(answer.task for _when, answer in post.commits):
            continue
        if _zones(case, run) != _zones(case, run, case.evidence.window(run, post.sent) - case.profile.latest):
            continue  # replicas may still show a server where it was
        own = {case.evidence.state(key, post.sent)["zone"] for key in _taken(case, run, post)}
        others = [_zone_is_down(case, run, post, zone) for zone in _zones(case, run) if zone not in own]
        left = others.count(False)
        had = len(own) + sum(_zone_is_up(case, run, post, zone) for zone in _zones(case, run) if zone not in own)
        if own and 2 * left <= len(_zones(case, run)) < 2 * had:
            yield Finding("took the majority", f"{others.count(True)} other zones were down")


def _has_open_request(case: Case, run: Run) -> bool:
    """Whether a request that the journal has may still be carried out, since no task of it is known."""
    return any(
        post.sent >= run.began - float(earlier.args.get("timeout", 0)) - REMEMBERED - DOUBTED
        for earlier in case.history.runs
        if run.shares_journal(earlier) and earlier.change.cluster == run.change.cluster
        for post in earlier.posts
        if earlier is not run and earlier.result.get("task_id") is None
    )


def refusal_has_a_reason(case: Case, run: Run) -> Iterator[Finding]:
    """What is refused would have taken the majority: another zone was down or in flight, or there are too few."""
    if not run.failed or UNSAFE not in str(run.result.get("msg")) or any(each.replaced for each in run.exchanges):
        return
    begin = run.began - case.profile.latest - case.profile.list_lag - REMEMBERED
    times = (run.began, run.ended or run.began)
    servers = [key for key in _servers(case, run) if any(case.evidence.state(key, when) for when in times)]
    is_ill = any(not case.evidence.serves_throughout(key, begin, run.ended or run.began) for key in servers)
    restarted = any(
        task.kind in ("server", "zone", "cluster") and task.cluster == run.change.cluster and task.created >= begin
        for task in case.evidence.tasks.values()
    )
    # Where a server was moved meanwhile, a zone may have none left.
    zones = min(len(_zones(case, run, when)) for when in times)
    if zones > 2 and not (is_ill or restarted or _has_open_request(case, run)):
        yield Finding("refused though it is safe", str(run.result.get("msg")))


def _servers(case: Case, run: Run) -> list[Key]:
    return case.evidence.servers_of(run.change.cluster)


def _zones(case: Case, run: Run, when: float | None = None) -> list[str]:
    found = [case.evidence.state(key, run.began if when is None else when) for key in _servers(case, run)]
    return sorted({state["zone"] for state in found if state})


def _taken(case: Case, run: Run, post: Exchange) -> Iterator[Key]:
    """The servers of the target that served, as far as every answer showed."""
    begin = case.evidence.window(run, post.sent)
    for key in case.evidence.parts_of(run.change, post.sent):
        if key[0] == "server" and case.evidence.serves_throughout(key, begin, post.sent):
            yield key


def _zone_is_down(case: Case, run: Run, post: Exchange, zone: str) -> bool:
    """Whether every answer of the last look showed that a server of a zone does not serve."""
    begin = case.evidence.window(run, post.sent)
    return any(
        _is_of(case.evidence, key, zone, begin, post.sent) and case.evidence.is_down_throughout(key, begin, post.sent)
        for key in _servers(case, run)
    )


def _zone_is_up(case: Case, run: Run, post: Exchange, zone: str) -> bool:
    """Whether every answer of the last look showed that all servers of a zone serve."""
    begin = case.evidence.window(run, post.sent)
    servers = [key for key in _servers(case, run) if _is_of(case.evidence, key, zone, begin, post.sent)]
    return all(case.evidence.serves_throughout(key, begin, post.sent) for key in servers)


def _is_of(evidence: Evidence, key: Key, zone: str, begin: float, end: float) -> bool:
    states = [evidence.state(key, begin), evidence.state(key, end)]
    return all(state is not None and state["zone"] == zone for state in states)


RESTART_CHECKS: tuple[Check, ...] = (majority_is_kept, refusal_has_a_reason)
