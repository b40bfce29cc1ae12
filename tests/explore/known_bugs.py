# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Bugs to be put back: those of the simulation that lie in the code that is explored, and inverted conditions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import RUNNING, Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import know, own_notes
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.evidence import may_have_started
from ansible_collections.oceanbase.ocp.tests.explore import doubles
from ansible_collections.oceanbase.ocp.tests.simulation import mutations

# Bugs of the network, of the records that it brings, of the journal's tables, and of a service that is not explored:
# long lists, words for a status, servers that are down or get another address or id, clocks that are set, names of
# steps in Chinese, a proxy that gets 429 for its repetition; of a journal that fails or loses its leases; check mode.
ELSEWHERE = frozenset(
    {
        "redirects-are-refusals",
        "cluster-is-not-checked",
        "task-is-not-checked",
        "answer-is-not-checked",
        "a-name-has-many-wishes",
        "only-the-newest-tasks-are-read",
        "new-ids-are-higher",
        "unknown-words-have-ended",
        "status-is-ignored",
        "others-are-believed-to-be-up",
        "clock-of-last-answer",
        "address-is-not-checked",
        "address-alone-is-the-target",
        "unknown-steps-do-no-harm",
        "limits-refuse-for-sure",
        "check-mode-notes-the-name",
        "journals-that-fail-stop-nothing",
        "names-that-cannot-be-noted-are-used",
        "outcomes-that-cannot-be-noted-end-the-run",
        "lost-leases-are-not-noticed",
        "requests-are-noted-without-a-lease",
    }
)


def _has_ended_a_start(task: Task) -> bool:
    return may_have_started(task) and not any(step.status == RUNNING for step in task.subtasks)


class _Forgetful(set[str]):
    """Has nothing, whatever was added."""

    def __contains__(self, _token: object) -> bool:
        return False


# Bugs that the simulation comes upon too seldom, or puts back in doubles of its own: what is patched, where, by what.
OWN: dict[str, tuple[object, str, object]] = {
    "a-step-that-runs-has-started-nothing": (know, "may_have_started", _has_ended_a_start),
    "a-late-start-is-since-a-name": (own_notes, "late_tasks", lambda *_given: frozenset()),
    "locks-are-not-taken": (doubles.Journal, "lock", lambda *_given: nullcontext()),
    "a-process-forgets-what-it-has-sent": (own_notes, "_SENT_HERE", _Forgetful()),
    "what-was-there-has-done-its-work": (own_notes, "may_start_yet", lambda _task: False),
}
FINDABLE = sorted((mutations.MUTATIONS.keys() - ELSEWHERE) | OWN.keys())


@contextmanager
def put_back(name: str) -> Iterator[None]:
    """Explore with this bug."""
    with mock.patch.object(*OWN[name]) if name in OWN else mutations.put_back(name):
        yield
