# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a line of a wait says that it has lasted."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.heartbeat import Heartbeat
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock


@pytest.fixture
def lines():
    return []


@pytest.fixture
def time():
    return FakeClock()


@pytest.fixture
def beat(time, lines):
    return Heartbeat("Server 1", PollPolicy(600, 10, lambda line, _failed: lines.append(line.strip())), time.clock)


def test_looks_between_the_pauses_of_a_wait_count(beat, lines, time):
    for _look in range(11):
        with beat.about("not safe"):
            beat.clock.sleep(8.0)
        time.time += 4.0
    assert lines == ["Server 1, for 1:00: not safe", "Server 1, for 2:00: not safe"]


def test_wait_with_another_one_between_its_looks_is_one(beat, lines):
    for _look in range(6):
        with beat.about("waiting for OCP to show the same start twice in a row"):
            beat.clock.sleep(4.0)
        with beat.about("not safe"):
            beat.clock.sleep(8.0)
    with beat.about("not safe"):
        beat.clock.sleep(50.0)
    assert lines == ["Server 1, for 0:56: not safe", "Server 1, for 1:56: not safe"]


def test_same_wait_after_a_long_time_is_another_one(beat, lines, time):
    for _wait in range(2):
        with beat.about("not safe"):
            beat.clock.sleep(70.0)
        time.time += 300.0
    assert lines == ["Server 1, for 1:00: not safe", "Server 1, for 0:00: not safe", "Server 1, for 1:00: not safe"]
