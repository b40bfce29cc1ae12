# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""No wait of a restart is silent for more than a minute, and each line says what is waited for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotSafe,
    OcpError,
    OutcomeUnknown,
    TargetBusy,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_process
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import StaticParameter, lost
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import SERVER, request

LABEL = "server 10.1.0.1:2882 (id 41) of cluster orders (id 31)"
CHANGE = "memory-2026-11-20"


@pytest.fixture
def journal(service):
    return MemoryJournal(service.time.clock)


@pytest.fixture
def shown(service, journal):
    """Restart the server; the lines that were shown, each with its second, and the error."""

    def run(change=None, **options):
        lines, began = [], service.time.time

        def show(line, _failed):
            lines.append((service.time.time - began, line.strip()))

        more = {name: options.pop(name) for name in ("safety", "safety_timeout") if name in options}
        steps = options.pop("steps", True)
        asked = replace(request(**{"wait": True, "seconds": 600, "show": show, **options}), change=change, **more)
        asked = replace(asked, policy=replace(asked.policy, steps=steps))
        error = None
        try:
            restart_target(service, SERVER, asked, service.time.clock, journal)
        except OcpError as raised:
            error = raised
        times = [0.0, *(at for at, _line in lines), service.time.time - began]
        longest = max(later - earlier for earlier, later in pairwise(times))
        assert longest <= 61.0, lines
        return [line for _at, line in lines], error

    return run


def test_start_that_shows_late(service, shown):
    service.start_shown_late = 170
    lines, error = shown()
    waiting = [line for line in lines if "the new start" in line]
    assert error is None
    assert waiting[0] == "1001 has ended; waiting for OCP to show the new start, until 03:03:10+08:00 at the latest"
    assert waiting[1:] == [f"{LABEL}, for {time}: waiting for OCP to show the new start" for time in ("1:00", "2:00")]


def test_start_of_an_earlier_run_that_shows_late(service, shown):
    service.start_shown_late = 170
    shown(change=CHANGE, wait=False)
    service.passes(12)
    another_process()
    lines, error = shown(change=CHANGE)
    assert error is None
    assert len({line.partition("until ")[2][:8] for line in lines if "until " in line}) == 1
    assert len([line for line in lines if line.startswith(f"{LABEL}, for ")]) == 2


def test_lock_of_the_cluster(service, shown, journal):
    with journal.lock(SERVER.target.locks, service.time.clock, 0):
        lines, error = shown(seconds=150)
    assert isinstance(error, TargetBusy)
    why = "waiting until 19:02:30+00:00 at the latest for another restart that has the lock of its cluster"
    assert lines == [f"{LABEL}, for 1:00: {why}", f"{LABEL}, for 2:00: {why}"]


def test_tenants_that_would_lose_their_majority(service, shown):
    service.servers_there[1].status = "UNAVAILABLE"
    lines, error = shown(safety=Safety(), safety_timeout=200)
    assert isinstance(error, NotSafe)
    beats = [line for line in lines if ": not safe, waiting until 03:03:20+08:00 at the latest: " in line]
    assert len(beats) == 3
    # One wait has one end, and its first lines are shown once.
    assert {line.partition("until ")[2][:14] for line in lines if "until " in line} == {"03:03:20+08:00"}
    assert len([line for line in lines if "not safe yet" in line]) == 1


def test_wait_for_safety_whose_looks_take_time_has_one_end(service, shown):
    service.servers_there[1].status = "UNAVAILABLE"
    read = service.tenants

    def slowly(number):
        service.passes(0.7)
        return read(number)

    service.tenants = slowly
    lines, error = shown(safety=Safety(), safety_timeout=200)
    assert isinstance(error, NotSafe)
    ends = {line.partition("until ")[2][:8] for line in lines if "until " in line}
    assert len(ends) == 1
    assert service.now <= 203


def test_status_without_a_task(service, shown):
    service.servers_there[0].status = "RESTARTING"
    lines, error = shown(in_flight="queue", seconds=200)
    assert isinstance(error, WaitTimeout)
    assert len([line for line in lines if "at the latest: OCP shows that something works on it" in line]) == 3


def test_task_of_a_lost_answer(service, shown):
    service.timeout, service.lose_before = 150.0, [lost()]
    lines, error = shown()
    assert isinstance(error, OutcomeUnknown)
    assert len([line for line in lines if ": looking for the task" in line]) == 2


def test_values_that_show_late(service, shown):
    service.parameters["stack_size"] = StaticParameter("4M", "5M", never=True)
    lines, error = shown(until_effective={"stack_size": "5M"})
    assert error is not None
    assert len([line for line in lines if "the new values" in line]) >= 2


def test_rolling_run_names_server_and_step_each_minute(service, shown):
    service.seconds = 500.0
    lines, error = shown(steps=False)
    assert error is None
    beats = [line for line in lines if line.startswith("10.1.0.1:2882 (task 1001): ")]
    assert [line.rsplit(", for ")[1] for line in beats] == [f"{minute}:00" for minute in range(1, 9)]
