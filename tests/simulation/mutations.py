# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Bugs that were there once, to be put back: the proof that the oracle sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._base import service_clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import RateLimited
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import endpoints, redirects
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.records import task_record
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import RUNNING, Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import (
    aftermath,
    change,
    earlier_looks,
    knowledge,
    look,
    own_request,
    reader,
    rules,
    run,
    send_once,
    start_proof,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety import voters
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets import operating_tasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Observation

Patches = Iterator[AbstractContextManager[Any]]
# By name, what makes a bug for as long as it is entered.
MUTATIONS: dict[str, Callable[[], Patches]] = {}


def _mutation(function: Callable[[], Patches]) -> Callable[[], Patches]:
    MUTATIONS[function.__name__.replace("_", "-")] = function
    return function


@contextmanager
def put_back(name: str | None) -> Iterator[None]:
    """Run with the bug of this name, or with none."""
    with ExitStack() as stack:
        for patch in MUTATIONS[name]() if name else ():
            stack.enter_context(patch)
        yield


def _without(rule: Callable[[rules.Case], rules.Decision | None]) -> Callable[[], Patches]:
    def patches() -> Patches:
        yield mock.patch.object(rules, "RULES", tuple(each for each in rules.RULES if each is not rule))

    return patches


# The list without one of its rules: the last one always applies.
MUTATIONS.update({f"no-rule{rule.__name__.replace('_', '-')}": _without(rule) for rule in rules.RULES[:-1]})


@_mutation
def skip_by_start_alone() -> Patches:
    """What has started since is skipped, whether it serves or not."""

    def skips(case: rules.Case) -> rules.Decision | None:
        needs_none = case.wish.is_conditional and case.known.members and not case.stale
        return rules.Decision(rules.Rule.DONE, rules.Step.SKIP) if needs_none else None

    found = tuple(skips if rule is rules._none_needed else rule for rule in rules.RULES)
    yield mock.patch.object(rules, "RULES", found)


@_mutation
def held_is_ignored() -> Patches:
    """A FAILED task holds nothing."""
    yield mock.patch.object(look.Look, "holder", None)


@_mutation
def no_evidence_by_task() -> Patches:
    """Only the start that is shown says that a restart has happened."""
    yield mock.patch.object(rules.Case, "restarted_by", lambda *_args: [])
    yield mock.patch.object(rules.Case, "due", {})


@_mutation
def clock_of_last_answer() -> Patches:
    """The clock of the service is the one of its last answer, whatever that is."""
    yield mock.patch.object(service_clock, "_agreed_bounds", lambda answers: answers[-1] if answers else (0.0, 0.0))
    yield mock.patch.object(service_clock, "_bounds", lambda answers: answers[-1])
    yield mock.patch.object(service_clock, "_check_clock", lambda *_args: None)


@_mutation
def adoption_by_id_alone() -> Patches:
    """Any newer task is the own one, whenever and by whom it was begun."""

    def is_newer(sent: own_request.Sent, task: Task) -> bool:
        return task.id > max(sent.known or (), default=0)

    yield mock.patch.object(own_request.Sent, "may_have_started", is_newer)


@_mutation
def only_running_is_listed() -> Patches:
    """Tasks that the list does not call RUNNING are not seen."""

    def listed(each: reader.Reader) -> list[Any] | None:
        return each._if_permitted("anything", lambda: each._target.listed(each._api, status=RUNNING))

    yield mock.patch.object(reader.Reader, "_listed", listed)


@_mutation
def unknown_words_have_ended() -> Patches:
    """A task is unfinished only if its status is RUNNING."""
    yield mock.patch.object(Task, "finished", property(lambda task: task.status != RUNNING))


@_mutation
def status_is_ignored() -> Patches:
    """A target that is RESTARTING is not in flight."""
    yield mock.patch.object(Observation, "is_in_flight", False)


@_mutation
def repeated_without_a_look() -> Patches:
    """A POST that was refused with 429 is sent again after the pause, without a new look."""
    once = send_once.post_restart

    def again_and_again(api: endpoints.OcpApi, *args: Any) -> send_once.Started:
        while True:
            try:
                return once(api, *args)
            except RateLimited as refusal:
                run.SYSTEM_CLOCK.sleep(refusal.retry_after or 1.0)

    yield mock.patch.object(run, "post_restart", again_and_again)


@_mutation
def redirects_are_refusals() -> Patches:
    """A redirect after a POST means that there was no restart."""
    yield mock.patch.object(redirects, "may_have_run", lambda *_args, **_options: False)


@_mutation
def proof_without_serving() -> Patches:
    """What has restarted is verified, whether it serves or not."""
    yield mock.patch.object(
        start_proof.Proof, "complete", property(lambda found: bool(found.restarted) and all(found.restarted.values()))
    )
    yield mock.patch.object(
        start_proof.Proof, "contradiction", property(lambda found: "not started" if found.not_restarted else None)
    )


@_mutation
def proof_by_any_other_start() -> Patches:
    """A start that is another one than before is a new one, in whatever direction it moved."""
    moved = change.has_moved

    def differs(before: Any, after: Any) -> bool | None:
        if before.started is not None and after.started is not None:
            return bool(before.started != after.started)
        return moved(before, after)

    yield mock.patch.object(start_proof, "has_moved", differs)
    yield mock.patch.object(change.Span, "relative_to", lambda *_args: knowledge.Relative.UNCLEAR)


@_mutation
def cluster_is_not_checked() -> Patches:
    """The list is believed to hold the tasks of one cluster."""
    yield mock.patch.object(operating_tasks, "shown_cluster", lambda _task: None)


@_mutation
def task_is_not_checked() -> Patches:
    """The record that comes is believed to be that of the task that was asked for."""

    def any_task(api: endpoints.OcpApi, number: int) -> dict[str, Any]:
        found = task_record(api._object(f"/api/v2/tasks/instances/{number}").data)
        return {**found, "id": number} if found.get("status") else api.task_as_it_is(number)

    yield mock.patch.object(endpoints.OcpApi, "task_as_it_is", endpoints.OcpApi.task, create=True)
    yield mock.patch.object(endpoints.OcpApi, "task", any_task)


@_mutation
def a_later_look_is_believed() -> Patches:
    """What an earlier look of the same run has shown is forgotten."""
    yield mock.patch.object(earlier_looks.EarlierLooks, "note", lambda *_args, **_options: None)
    yield mock.patch.object(earlier_looks.EarlierLooks, "completed", lambda _earlier, shown, _read: list(shown))


@_mutation
def answer_is_not_checked() -> Patches:
    """Whatever comes with an id in answer to a start is its task."""
    yield mock.patch.object(endpoints, "is_of_a_task", lambda _raw: True)
    yield mock.patch.object(send_once, "is_answer", lambda *_args: True)


@_mutation
def missing_task_ends_the_wait() -> Patches:
    """A 404 of a task that has just begun ends the wait."""
    yield mock.patch.object(run, "UNSEEN_FOR", 0.0)
    yield mock.patch.object(aftermath, "UNSEEN_FOR", 0.0)


@_mutation
def others_are_believed_to_be_up() -> Patches:
    """Whoever is down in the cluster, the restart is safe."""
    yield mock.patch.object(voters.ServerState, "stays", property(lambda state: not state.taken))


NAMES = sorted(MUTATIONS)
