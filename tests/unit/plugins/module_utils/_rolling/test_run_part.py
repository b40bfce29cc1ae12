# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The line after a restart that is one part of a run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, TaskFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.windows import parse_windows
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.run_part import restart_part
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, request

AGENTS = RESTART_CASES["agents"]
HOSTS = ["10.1.0.1", "10.1.0.2"]
PLANNED = ("10.1.0.9", *HOSTS, "10.1.0.3", "10.1.0.4", "10.1.0.5")


@pytest.fixture
def part(service):
    """Restart the agents of two hosts as one part of a run; returns the lines about the run."""

    def restart(planned=PLANNED, windows=None, **options):
        lines = []

        def show(line, _failed):
            lines.append(line.strip())

        asked = request(wait=True, show=show, **options)
        asked = replace(asked, policy=replace(asked.policy, steps=False, announce=show), windows=windows)
        with suppress(TaskFailed):
            restart_part(service, AGENTS, HOSTS, planned, asked, service.time.clock)
        return [line for line in lines if " of 6, " in line or line.startswith("Left for")]

    return restart


def test_line_tells_what_is_left_and_how_long_that_takes(part):
    assert part() == ["3 of 6, 10.1.0.1, 10.1.0.2 restarted in 10.0 s, 3 left, about 20 s"]


@pytest.mark.parametrize(
    ("check_mode", "words"),
    [
        (False, "3 of 6, 10.1.0.1 restarted in 10.0 s, 10.1.0.2 left alone, 3 left, about 20 s"),
        (True, "3 of 6, would restart 10.1.0.1, 10.1.0.2 left alone, 3 left: 10.1.0.1 started at "),
    ],
    ids=["run", "check mode"],
)
def test_line_tells_who_was_left_alone(check_mode, words, part, service):
    service.agents_there[1].started = 0
    service.time.time += 400
    [line] = part(started_before=at(300 - 600), check_mode=check_mode)
    assert line.startswith(words)


def test_last_line_tells_that_all_were_left_alone(part):
    last = ("10.1.0.9", "10.1.0.8", "10.1.0.7", "10.1.0.6", *HOSTS)
    assert part(last, started_before=at(-7200)) == ["6 of 6, 10.1.0.1, 10.1.0.2 left alone, 0 left"]
    assert part(started_before=at(-7200)) == []


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(("alone", "left"), [(0, "10.1.0.1, 10.1.0.2"), (1, "10.1.0.1")])
def test_line_tells_why_the_rest_is_left_for_the_next_run(part, service, check_mode, alone, left):
    if alone:
        service.agents_there[1].started = 0
    service.time.time += 400
    closed = parse_windows(
        "windows", {"time_zone": "UTC", "weekly": [{"days": ["sat"], "start": "01:00", "end": "04:00"}]}
    )
    [line] = part(started_before=at(300 - 600), check_mode=check_mode, windows=closed)
    assert line.startswith("Left for the next run, since no window is open; the next window opens on Saturday")
    assert line.endswith(f", run the same command again then: {left}, 10.1.0.3, 10.1.0.4, 10.1.0.5")
    assert service.posts == []


def test_line_tells_what_would_be_waited_for(part, service):
    service.begin(AGENTS.task_name, service.agents_there[:2], seconds=100.0)
    [line] = part(check_mode=True)
    assert line.startswith("3 of 6, would wait for the restart of 10.1.0.1, 10.1.0.2, 3 left: ")


def test_line_tells_what_failed(part, service):
    service.end = "FAILED"
    assert part() == ["3 of 6, 10.1.0.1, 10.1.0.2 FAILED, 3 left"]


def test_part_of_nothing_has_no_line(part):
    assert part(planned=None) == []


def test_empty_plan_is_refused(part, service):
    with pytest.raises(OptionError, match="planned"):
        part(planned=[])
    assert service.posts == []
