# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Promises about what comes right before a request: the last look, and the notes in the journal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .answers import CLUSTERS, TASKS
from .finding import Case, Check, Finding
from .fleet import Key
from .history import Exchange, Run

SERVER = re.compile(r"/servers/(\d+)/restart$")


def looks_last(_case: Case, run: Run) -> Iterator[Finding]:
    """Between the last look at the target and the request nothing is read but tasks, and there is no pause."""
    for post in run.posts:
        before = [each for each in run.exchanges if each.reads and each.sent < post.sent]
        look = next((each for each in reversed(before) if TASKS not in each.request.path), None)
        if look is None or not _shows_target(run, look):
            yield Finding("reads between look and request", "nothing" if look is None else look.request.path)
            continue
        if look.pause_ended != post.pause_ended and not _failed(before[before.index(look) :]):
            yield Finding("pauses between look and request", f"{post.sent - look.sent:.1f} s")
        lists = [each for each in before if each.request.path.endswith(TASKS)]
        if not lists:
            yield Finding("does not look at the tasks before a request", look.request.path)
            continue
        listed = lists[-1]
        since_list = before[before.index(listed) :]
        if listed.pause_ended != post.pause_ended and not _failed(since_list):
            yield Finding("pauses between the list of tasks and the request", f"{post.sent - listed.sent:.1f} s")


def notes_first(case: Case, run: Run) -> Iterator[Finding]:
    """The name and the request are in the journal before the request is sent."""
    noted = run.memory.noted
    for post in run.posts:
        before = [each for each in run.exchanges if each.reads and each.sent < post.sent]
        last = max((each.came_back or each.sent for each in before), default=run.began)
        target = requested_server(run, post)
        parts = {target} if target else set(case.evidence.parts_of(run.change, post.sent))
        members = parts if target else parts & set(run.change.members)
        own = [each for each in noted if each.process == run.process]
        requests = [each for each in own if each.name is None and last <= each.time <= post.sent]
        # It may be for a server alone that was moved into the zone later.
        if not any(each.things & parts for each in requests) and members:
            yield Finding("request that was not noted", post.request.path)
        cleared = run.memory.cleared_at(run.name, run.began)
        uses = [each for each in noted if each.name == run.name and cleared < each.time <= post.sent]
        named = {key for each in uses for key in each.things}
        if run.name is not None and not members <= named:
            yield Finding("name that was not noted", post.request.path)


def locks_first(_case: Case, run: Run) -> Iterator[Finding]:
    """Who notes a request has the lock of its cluster, and its lease has not ended."""
    own = [each for each in run.memory.noted if each.name is None and each.process == run.process]
    for post in run.posts:
        mine = [each for each in own if each.time <= post.sent]
        if mine and not mine[-1].is_locked:
            yield Finding("request without the lock of its cluster", post.request.path)


def name_has_one_wish(case: Case, run: Run) -> Iterator[Finding]:
    """A name is bound to what it asks: there is no request for it that asks for something else."""
    if run.name is None or not run.posts:
        return
    for earlier in case.history.runs:
        is_same = run.shares_journal(earlier) and (earlier.name, earlier.change) == (run.name, run.change)
        asks = earlier.args.get("started_before"), run.args.get("started_before")
        is_cleared = run.memory.cleared_at(run.name, run.began) > earlier.began
        if is_cleared:
            continue
        is_first = bool(earlier.posts) and earlier.posts[0].sent < run.posts[0].sent
        if is_same and is_first and asks[0] != asks[1]:
            yield Finding("a name with two wishes", f"{asks[0]} and {asks[1]}")
            return


def empty_list_is_an_error(_case: Case, run: Run) -> Iterator[Finding]:
    """A page without entries that says there are many decides nothing."""
    for post in run.posts:
        last = {(each.request.path, str(each.request.query)): each for each in run.exchanges if each.sent < post.sent}
        for each in last.values():
            page = each.replaced.data if each.replaced is not None and each.fate == "empty list" else None
            if page is not None and each.pause_ended == post.pause_ended:
                yield Finding("request after an empty list of many", each.request.path)


def same_server(case: Case, run: Run) -> Iterator[Finding]:
    """What shows another address under its id than the one that was named, or is there no more, is not restarted."""
    for post in run.posts:
        key = requested_server(run, post)
        if key is None or any(each.fate in ("another answer", "stale answer") for each in run.exchanges):
            continue
        seen = case.evidence.window(run, post.sent) - case.profile.latest
        changed, taken_out = (
            times(key, post.sent) for times in (case.evidence.address_changes, case.evidence.taken_out)
        )
        if changed is not None and changed < seen:
            yield Finding("restarted under another address", f"{run.change.args['server']} until {changed:.1f}")
        if taken_out is not None and taken_out < seen:
            yield Finding("request for a server that was taken out", f"server {key[1]} at {taken_out:.1f}")


def requested_server(run: Run, post: Exchange) -> Key | None:
    """The server that a request names by its id; None if it names none."""
    match = SERVER.search(post.request.path)
    return ("server", int(match[1])) if match and run.change.kind == "server" else None


def looking_changes_nothing(_case: Case, run: Run) -> Iterator[Finding]:
    """A run in check mode and a plan send nothing, and note nothing."""
    for post in run.posts:
        yield Finding("request of what only looks", post.request.path)
    for each in run.memory.noted:
        if each.process == run.process and run.began < each.time <= (run.ended or run.began):
            yield Finding("name noted by what only looks", str(each.name))


def _shows_target(run: Run, each: Exchange) -> bool:
    """Whether a read is of what shows the state of the target."""
    path = each.request.path
    if run.change.kind == "host":
        return path.endswith("/agent") or path.endswith("/hosts")
    if run.change.kind == "arbitration":
        return "/arbitration/" in path
    base = f"{CLUSTERS}/{run.change.cluster}"
    return path in (base, f"{base}/servers", f"{base}/zones", CLUSTERS)


def _failed(reads: list[Exchange]) -> bool:
    """Whether one of them was repeated, since no answer of the service came."""
    return any(each.answer is None for each in reads)


CHECKS: tuple[Check, ...] = (
    looks_last, notes_first, locks_first, name_has_one_wish, same_server, empty_list_is_an_error,
)  # fmt: skip
LOOKING_CHECKS: tuple[Check, ...] = (looking_changes_nothing,)
