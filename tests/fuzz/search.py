# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a bad case is searched for and made small, and the limits of time and memory of a run."""

from __future__ import annotations

import resource
import signal
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import hypothesis
from ansible_collections.oceanbase.ocp.tests.fuzz.cases import WEIGHED, Case, cases
from ansible_collections.oceanbase.ocp.tests.fuzz.drive import TYPICAL, catalogue, drive
from ansible_collections.oceanbase.ocp.tests.fuzz.oracle import Finding, check, check_ended_well
from ansible_collections.oceanbase.ocp.tests.fuzz.virtual_time import LimitPassed
from hypothesis import HealthCheck, Phase, settings

MOST_MEMORY = 400 * 1024**2
# Of the whole process, in MiB: a few cases, Ansible and the bombs themselves.
MOST_PROCESS = 700
# Cases with one seed.
ROUND = 100
# Of the processor's time; all else is virtual.
MOST_SECONDS = 20


@dataclass
class Found:
    """A case, as small as it could be made, and what is wrong with it."""

    case: Case
    finding: Exception


@dataclass
class Search:
    """Counts of the cases that ran, by kind, and the first that was found, made small if it ``shrinks``."""

    shrinks: bool = True
    ran: Counter[str] = field(default_factory=Counter)
    found: Found | None = None

    def look(self, seed: int, cases_at_most: int, until: float = float("inf"), kinds: Sequence[str] = WEIGHED) -> None:
        """Run up to so many cases, or until a time of time.monotonic; the same seed draws the same cases."""
        last: list[Found] = []

        @hypothesis.seed(seed)
        @settings(
            max_examples=cases_at_most,
            database=None,
            deadline=None,
            derandomize=False,
            phases=[Phase.generate, *([Phase.shrink] if self.shrinks else [])],
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(cases(catalogue(), kinds))
        def try_case(case: Case) -> None:
            if not last and time.monotonic() > until:
                return
            self.ran[case.kind] += 1
            try:
                run_case(case)
            except Finding as finding:
                last[:] = [Found(case, finding)]
                raise

        try:
            try_case()
        except (Finding, hypothesis.errors.Flaky):
            # Hypothesis runs the smallest case last. What took too long once may be quicker then.
            self.found = last[0]


def run_case(case: Case) -> None:
    """Run one case; raises Finding."""
    measured = any(mutation.get("fault") == "bomb" for mutation in case.mutations)
    with _within_time(), _within_memory(measured):
        left, service = drive(case)
        check(case, left, service)


def check_undisturbed(kinds: Sequence[str]) -> None:
    """Raise Finding unless an undisturbed run of each kind ends well."""
    for kind in kinds:
        for options in TYPICAL.get(kind, [{}]):
            left, _service = drive(Case(kind, options))
            check_ended_well(left)


@contextmanager
def _within_time() -> Iterator[None]:
    def stop(*_args: Any) -> None:
        raise LimitPassed(f"it took more than {MOST_SECONDS} seconds of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _within_memory(measured: bool) -> Iterator[None]:
    if not measured:
        yield
    else:
        tracemalloc.start()
        try:
            yield
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if peak > MOST_MEMORY:
            raise Finding(f"it took {peak // 1024**2} MiB of memory")


def largest_process() -> int:
    """The most MiB that this process has taken so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024**2 if sys.platform == "darwin" else 1024)
