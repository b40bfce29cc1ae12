# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The pauses of a wait hold their bounds, for any options, jitter and retry_after."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import WaitTimeout
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.await_tasks import wait_for_tasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock, raw_task
from hypothesis import example, given
from hypothesis import strategies as st

PATIENT = PollPolicy(timeout=7200, interval=10)
NEARLY = 1e-6
policies = st.builds(
    PollPolicy,
    timeout=st.integers(1, 3000).map(float),
    interval=st.floats(0.5, 120, allow_nan=False),
)
jitters = st.floats(0, 1)
seeds = st.integers(0, 2**32)
retry_afters = st.floats(0, 300)


@dataclass
class OneTask:
    """A service with one task that ends after ``ends`` seconds; records the times of the polls."""

    ends: float
    time: FakeClock
    retry_after: float = 0.0
    trace_id: str | None = None
    looks: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._begun = self.time.time

    def task(self, number: int):
        self.looks.append(self.time.time - self._begun)
        return raw_task(number, "SUCCESSFUL" if self.looks[-1] >= self.ends else "RUNNING")


def looks_until(ends: float, policy: PollPolicy, seed: int = 1, retry_after: float = 0.0) -> list[float]:
    """The times of the polls of a task that ends after ``ends`` seconds, from the start."""
    time = FakeClock(at=50.0, jitter=random.Random(seed).random)
    service = OneTask(ends, time, retry_after)
    with suppress(WaitTimeout):
        wait_for_tasks(service, [1], policy, clock=time.clock)
    return service.looks


@given(policies, st.floats(0, 1, exclude_max=True), jitters, retry_afters)
@example(PollPolicy(3000, 0.5), 0.001, 1.0, 0.0)
def test_pause_stays_within_its_bounds(policy, share, jitter, retry_after):
    waited = share * policy.timeout
    pause = policy.pause(waited, jitter, retry_after)
    left = policy.timeout - waited
    assert min(0.5, left) <= pause <= min(max(policy.interval, retry_after), left) + NEARLY
    assert pause >= min(retry_after, left)
    if retry_after <= pause < left:
        most = min(max(0.6, 0.05 * waited), policy.interval)
        least = min(max(0.5, 0.04 * waited), policy.interval)
        assert pause == retry_after or least - NEARLY <= pause <= most + NEARLY


@given(policies, st.floats(0, 10_000), jitters, retry_afters)
def test_no_pause_follows_the_timeout(policy, over, jitter, retry_after):
    assert policy.pause(policy.timeout + over, jitter, retry_after) == 0


@given(policies, st.floats(0, 10_000))
def test_remaining_poll_policy_has_only_a_shorter_timeout(policy, waited):
    left = policy.left(waited)
    assert (left.interval, left.show) == (policy.interval, policy.show)
    assert left.timeout == max(0.0, policy.timeout - waited)
    assert policy.left(0) == policy
    assert left.left(waited).timeout <= left.timeout


@given(policies, seeds)
def test_first_poll_is_immediate_and_the_last_is_at_the_deadline(policy, seed):
    looks = looks_until(math.inf, policy, seed)
    assert looks[0] == 0
    assert looks[-1] == pytest.approx(policy.timeout)
    assert all(earlier < later for earlier, later in pairwise(looks))


@given(policies, st.floats(0, 1), seeds)
def test_end_is_detected_at_most_5_percent_late(policy, share, seed):
    ends = share * policy.timeout
    looks = looks_until(ends, policy, seed)
    assert looks[-1] >= ends
    assert looks[-1] - ends <= min(max(0.6, 0.05 * ends), policy.interval) + NEARLY


@given(seeds)
def test_ten_minutes_take_at_most_130_polls(seed):
    assert len(looks_until(600, PATIENT, seed)) <= 130


@pytest.mark.parametrize(("seconds", "most"), [(0, 1), (1, 3), (10, 21), (60, 65), (3600, 440), (7200, 800)])
def test_number_of_polls_is_bounded(seconds, most):
    assert len(looks_until(seconds, PATIENT)) <= most


@given(st.lists(seeds, min_size=2, max_size=2, unique=True))
def test_two_waits_do_not_poll_at_the_same_times(two):
    one, other = (set(looks_until(600, PATIENT, seed)[1:]) for seed in two)
    assert len(one & other) <= 1  # the deadline


@given(policies, st.floats(1, 100), seeds)
def test_polls_respect_retry_after(policy, retry_after, seed):
    looks = looks_until(math.inf, policy, seed, retry_after)
    gaps = [later - earlier for earlier, later in pairwise(looks)]
    assert all(gap >= retry_after - NEARLY for gap in gaps[:-1])
    assert looks[-1] == pytest.approx(policy.timeout)
