# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the oracle finds, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .answers import Answers
from .evidence import Evidence
from .history import History, Run
from .profile import Profile


@dataclass(frozen=True)
class Finding:
    """A promise that was broken. ``unseen``: no answer held what was needed to keep it, so it is counted apart.

    ``run`` is the number of the run that reported it.
    """

    kind: str
    text: str
    unseen: bool = False
    run: int = 0


@dataclass(frozen=True)
class Case:
    """One simulation after its end."""

    profile: Profile
    history: History
    evidence: Evidence
    answers: Answers
    # Whether nothing went wrong: no faults, no people, no failures, clocks that agree.
    undisturbed: bool


Check = Callable[[Case, Run], Iterator[Finding]]
EVER = 1e12
