# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Bugs to be put back: those of the simulation that lie in the code that is explored, and inverted conditions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ansible_collections.oceanbase.ocp.tests.simulation import mutations

# Bugs of the network, of the records that it brings, of the journal's tables, and of a service that is not explored:
# long lists, words for a status, servers that are down, clocks that are set.
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
    }
)
FINDABLE = sorted(mutations.MUTATIONS.keys() - ELSEWHERE)


@contextmanager
def put_back(name: str) -> Iterator[None]:
    """Explore with this bug."""
    with mutations.put_back(name):
        yield
