# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The progress lines of a wait, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from unicodedata import category, east_asian_width

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    RequestRefused,
    ResponseLost,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.await_tasks import NO_PURPOSE, wait_for_tasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.failure_report import Purpose
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.progress_lines import LONGEST_LINE, started_line
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, URL, FakeClock, chain, raw_task, step
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("Stop it", "Copy it", "Start it")
UNAVAILABLE = RequestRefused("Refused.", status=503, reason="", url=URL)
LOST = ResponseLost("Lost.", url=URL)


def after(seconds: float) -> str:
    return BEGINNING.replace(second=int(seconds) % 60, minute=int(seconds) // 60).isoformat()


def steps(done: int, *, last: str = "SUCCESSFUL", names: Sequence[str] = NAMES, took: float = 2):
    """Build the first ``done`` steps as ended, the last of them as ``last``, and the next one as RUNNING."""
    built = []
    for place, name in enumerate(names, 1):
        if place <= done:
            status = last if place == done else "SUCCESSFUL"
            times = {"startTime": after(0), "finishTime": after(took)}
            built.append(step(place, name, status, runTime=1, **times))
        else:
            runs = place == done + 1 and (last == "SUCCESSFUL" or not done)
            built.append(step(place, name, "RUNNING" if runs else "PENDING", runTime=1))
    return chain(*built)


def task(number: int, status: str = "RUNNING", done: int = 0, took: float = 6, **more):
    times = {"startTime": after(0), "finishTime": after(took)} if status in ("SUCCESSFUL", "FAILED") else {}
    last = "FAILED" if status == "FAILED" else "SUCCESSFUL"
    return {**raw_task(number, status, subtasks=steps(done, last=last)), **times, **more}


@dataclass
class Screen:
    """What was shown: all lines, the lines of failures, and the times."""

    time: FakeClock
    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def show(self, line: str, failed: bool) -> None:
        self.lines.append(line)
        self.times.append(self.time.time - 1000)
        if failed:
            self.failures.append(line)


class Service:
    """The results of the polls of each task in order; the last one repeats. An exception is raised."""

    retry_after = 0.0
    trace_id = None

    def __init__(self, looks) -> None:
        self._looks = {number: list(several) for number, several in looks.items()}

    def task(self, number: int):
        several = self._looks[number]
        found = several.pop(0) if len(several) > 1 else several[0]
        if isinstance(found, Exception):
            raise found
        return found

    def tasks(self, status: str):
        assert status == "RUNNING"
        running = []
        for number, several in self._looks.items():
            if isinstance(several[0], Exception):
                raise several.pop(0) if len(several) > 1 else several[0]
            if several[0]["status"] == "RUNNING":
                running.append({"id": number})
                if len(several) > 1:
                    several.pop(0)
        return running


def watch(
    looks, *, timeout: float = 7200, interval: float = 10, steps: bool = True, purpose: Purpose = NO_PURPOSE
) -> Screen:
    """Wait for the tasks; returns what was shown."""
    time = FakeClock()
    screen = Screen(time)
    with suppress(WaitTimeout):
        policy = PollPolicy(timeout, interval, screen.show, steps=steps)
        wait_for_tasks(Service(looks), looks, policy, purpose=purpose, clock=time.clock)
    return screen


def columns(line: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in line)


# Few tasks


def test_each_finished_subtask_is_one_line():
    screen = watch({1001: [task(1001), task(1001, done=1), task(1001, done=2), task(1001, "SUCCESSFUL", 3)]})
    assert screen.lines == [
        "  1001 (Restart 1001) RUNNING 0/3; now Stop it",
        "  1001 1/3 ok Stop it, 2.0 s; now Copy it",
        "  1001 2/3 ok Copy it, 2.0 s; now Start it",
        "  1001 3/3 ok Start it, 2.0 s",
        "  1001 (Restart 1001) SUCCESSFUL, 6.0 s",
    ]
    assert screen.failures == []


def test_failure_lines_are_marked_as_failed():
    screen = watch({1001: [task(1001), task(1001, "FAILED", 2)]})
    assert screen.lines == [
        "  1001 (Restart 1001) RUNNING 0/3; now Stop it",
        "  1001 1/3 ok Stop it, 2.0 s",
        "  1001 2/3 FAILED Copy it, 2.0 s",
        "  1001 (Restart 1001) FAILED, 6.0 s",
    ]
    assert screen.failures == screen.lines[2:]


def test_failed_subtask_of_a_running_task_is_shown_immediately():
    broken = {**task(1001), "subtasks": steps(1, last="FAILED")}
    screen = watch({1001: [task(1001), broken]}, timeout=1)
    assert screen.failures == ["  1001 1/3 FAILED Stop it, 2.0 s"]
    assert screen.times[1] == 0.5


def test_unchanged_polls_add_no_lines():
    same = [task(1001, done=1)] * 50
    screen = watch({1001: [*same, task(1001, "SUCCESSFUL", 3)]})
    assert len(screen.lines) == len(set(screen.lines)) == 4


def test_retried_subtask_is_shown_again():
    first = {**task(1001), "subtasks": steps(1, last="FAILED")}
    again = {**task(1001), "subtasks": steps(1, last="FAILED", took=9)}
    counted = {**task(1001), "subtasks": [{**subtask, "runTime": 2} for subtask in again["subtasks"]]}
    screen = watch({1001: [first, task(1001), again, counted, task(1001, "SUCCESSFUL", 3)]})
    assert screen.failures == ["  1001 1/3 FAILED Stop it, 2.0 s", *["  1001 1/3 FAILED Stop it, 9.0 s"] * 2]


def test_attaching_midway_shows_one_summary_line():
    screen = watch({1001: [task(1001, done=2), task(1001, "SUCCESSFUL", 3)]})
    assert screen.lines[0] == "  1001 (Restart 1001) RUNNING 2/3; now Start it"
    assert screen.lines[1] == "  1001 3/3 ok Start it, 2.0 s"


def test_attaching_shows_earlier_failures():
    broken = {**task(1001), "subtasks": steps(2, last="FAILED")}
    screen = watch({1001: [broken]}, timeout=1)
    assert screen.lines == ["  1001 (Restart 1001) RUNNING 2/3", "  1001 2/3 FAILED Copy it, 2.0 s"]


def test_rolled_back_task_is_shown_as_a_failure():
    screen = watch({1001: [task(1001, "SUCCESSFUL", 1, operation="ROLLBACK")]})
    assert screen.failures == ["  1001 (Restart 1001) ROLLED BACK, 6.0 s"]


def test_task_without_details_shows_id_and_status():
    screen = watch({1001: [{"id": 1001, "status": None}, {"id": 1001, "status": "SUCCESSFUL"}]})
    assert screen.lines == ["  1001 None", "  1001 SUCCESSFUL"]


def test_subtasks_with_the_same_name_share_one_line():
    names = ["Stop agent", "Stop agent", "Stop agent", "Start agent"]
    looks = [
        {**raw_task(7), "subtasks": steps(0, names=names)},
        {**raw_task(7), "subtasks": steps(3, names=names, took=12)},
    ]
    assert watch({7: looks}, timeout=1).lines[1] == "  7 3/4 ok Stop agent 3 times, 12 s; now Start agent"


def test_running_subtasks_are_counted():
    two = [step(1, "Stop a", "RUNNING"), step(2, "Stop b", "RUNNING"), step(3, "Stop c", "RUNNING")]
    assert watch({7: [raw_task(7, subtasks=two)]}, timeout=1).lines == [
        "  7 (Restart 7) RUNNING 0/3; now Stop a and 2 more"
    ]


def test_subtask_positions_are_aligned():
    names = [f"Step {place}" for place in range(1, 12)]
    looks = [{**raw_task(7), "subtasks": steps(done, names=names)} for done in (0, 9, 11)]
    lines = watch({7: looks}, timeout=2).lines
    assert lines[1] == "  7  1/11 ok Step 1, 2.0 s"
    assert lines[-1] == "  7 11/11 ok Step 11, 2.0 s"


# Many tasks


def test_many_tasks_are_shown_as_a_count():
    ending = {number: [task(number)] * number + [task(number, "SUCCESSFUL", 3)] for number in range(1, 7)}
    screen = watch(ending)
    assert screen.lines[:2] == ["  0 of 6 tasks ended after 0:00, 6 go on", "  1 of 6 tasks ended after 0:00, 5 go on"]
    assert "  2 of 6 tasks ended after 0:01, 4 go on: 3, 4, 5, 6" in screen.lines
    assert screen.lines[-1].startswith("  6 of 6 tasks ended after 0:0")
    assert len(screen.lines) == len(set(screen.lines))


def test_task_count_is_shown_only_after_a_change():
    screen = watch({number: [task(number)] for number in range(1, 7)}, timeout=59)
    assert screen.lines == ["  0 of 6 tasks ended after 0:00, 6 go on"]


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (task(3, "FAILED", 2), "  Task 3 (Restart 3) FAILED at subtask 2 of 3, Copy it"),
        (task(3, "SUCCESSFUL", 1, operation="ROLLBACK"), "  Task 3 (Restart 3) ROLLED BACK"),
    ],
    ids=["failed", "rolled back"],
)
def test_unsuccessful_task_among_many_is_named(end, line):
    screen = watch({number: [end if number == 3 else task(number)] for number in range(1, 7)}, timeout=30)
    assert screen.lines == [line, "  1 of 6 tasks ended (1 not successful) after 0:00, 5 go on"]
    assert screen.failures == [line]


def test_task_that_had_ended_before_has_one_line():
    """Its status in OCP alone would say SUCCESSFUL of one that was rolled back."""
    screen = watch({7: [task(7, "SUCCESSFUL", 1, operation="ROLLBACK")]})
    assert screen.lines == ["  7 (Restart 7) ROLLED BACK, 6.0 s"]


def test_skipped_step_is_not_called_ok():
    done = task(7, "SUCCESSFUL", done=3)
    done["subtasks"][1]["operation"] = "SKIP"
    screen = watch({7: [task(7, done=1), done]})
    assert [line for line in screen.lines if "Copy it" in line][-1] == "  7 2/3 skipped Copy it, 2.0 s"


# At least one line a minute


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 4, 5, 30])
@pytest.mark.parametrize("interval", [0.5, 10, 500])
@pytest.mark.parametrize("trouble", [False, True], ids=["well", "503"])
def test_wait_is_never_silent_for_more_than_a_minute(number, interval, trouble):
    looks = {each: [task(each, done=1), *([UNAVAILABLE] if trouble else [])] for each in range(1, number + 1)}
    screen = watch(looks, timeout=3600, interval=interval)
    times = [0.0, *screen.times, 3600.0]
    assert max(later - earlier for earlier, later in pairwise(times)) <= 60 + 1e-6
    assert len(screen.lines) <= 61 * min(number, 4) + 10


def test_few_tasks_have_one_heartbeat_each():
    screen = watch({7: [task(7, done=1)], 8: [task(8)]}, timeout=61)
    assert screen.lines[2:] == ["  7 RUNNING after 1:00; now Copy it", "  8 RUNNING after 1:00; now Stop it"]


def test_without_steps_a_line_each_minute_names_the_server_and_the_step():
    looks = [task(7, done=done) for done in (0, 1, 2)]
    purpose = Purpose(names={7: "10.0.0.4:2882"})
    screen = watch({7: looks}, timeout=4000, steps=False, purpose=purpose)
    # The step is seen with the third poll.
    assert screen.lines[:2] == [f"  10.0.0.4:2882 (task 7): Start it, for {time}" for time in ("0:59", "1:59")]
    assert screen.times == pytest.approx([60.0 * minute for minute in range(1, 67)])
    assert watch({7: [*looks, task(7, "SUCCESSFUL", done=3)]}, steps=False).lines == []


def test_without_steps_the_end_of_each_of_a_few_tasks_is_told_at_once():
    """A failure does not wait for the others; the end of the last one is told by who waits."""
    looks = {
        7: [task(7), task(7, "FAILED", 2)],
        8: [task(8), task(8), task(8, "SUCCESSFUL", 3)],
        9: [task(9), task(9), task(9), task(9, "SUCCESSFUL", 3)],
    }
    screen = watch(looks, steps=False, purpose=Purpose(names={7: "10.0.0.4:2882", 8: "10.0.0.5:2882"}))
    failed = "  10.0.0.4:2882 (task 7) FAILED at subtask 2 of 3, Copy it, 2 tasks left"
    assert screen.lines == [failed, "  10.0.0.5:2882 (task 8) SUCCESSFUL, 1 task left"]
    assert screen.failures == [failed]


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (task(7, done=1), "Task 7 (Restart 7): Copy it"),
        (raw_task(7, "RUNNING"), "Task 7 (Restart 7): RUNNING"),
        (raw_task(7, ""), "Task 7 (Restart 7): in an unknown state, since no status is shown"),
        (task(7, done=1, operation="ROLLBACK"), "Task 7 (Restart 7): rollback, Copy it"),
    ],
    ids=["unnamed", "no step", "no status", "rollback"],
)
def test_without_steps_a_line_says_what_is_known(look, words):
    assert watch({7: [look]}, timeout=61, steps=False).lines == [f"  {words}, for 1:00"]


def test_many_tasks_share_one_heartbeat():
    screen = watch({number: [task(number)] for number in range(1, 7)}, timeout=121)
    assert screen.lines == [f"  0 of 6 tasks ended after {minute}:00, 6 go on" for minute in range(3)]


def test_progress_lines_do_not_add_polls():
    asked = []
    time = FakeClock()
    service = Service({7: [task(7)]})
    service.task = lambda number: asked.append(time.time) or task(number)
    with suppress(WaitTimeout):
        wait_for_tasks(service, [7], PollPolicy(3600, 600, Screen(time).show), clock=time.clock)
    silent = FakeClock()
    quiet = []
    service.task = lambda number: quiet.append(silent.time) or task(number)
    with suppress(WaitTimeout):
        wait_for_tasks(service, [7], PollPolicy(3600, 600), clock=silent.clock)
    assert asked == pytest.approx(quiet)


@pytest.mark.parametrize(
    ("problem", "words"), [(UNAVAILABLE, "Service answers 503"), (LOST, "No answer from the service")], ids=str
)
def test_poll_error_is_shown_when_it_begins(problem, words):
    screen = watch({7: [task(7), problem, problem, task(7, done=1), problem, task(7, "SUCCESSFUL", 3)]})
    assert screen.lines[1] == f"  {words} after 0:00; the wait goes on"
    assert sum(words in line for line in screen.lines) == 2
    assert screen.failures == []


def test_lasting_poll_error_is_repeated_each_minute():
    screen = watch({7: [task(7), UNAVAILABLE]}, timeout=62)
    assert screen.lines[1:] == [
        "  Service answers 503 after 0:00; the wait goes on",
        "  Service answers 503 still after 1:00; the wait goes on",
    ]


# Service data on a terminal

texts = st.text(max_size=120)


@given(texts, texts, st.sampled_from(["RUNNING", "FAILED"]), st.integers(1, 6))
def test_any_text_stays_one_printable_line(name, description, status, number):
    wild = {**task(7, status), "name": name, "subtasks": steps(2, names=[description] * 3)}
    screen = watch({each: [{**wild, "id": each}] for each in range(1, number + 1)}, timeout=70)
    assert screen.lines
    for line in screen.lines:
        assert not {category(character) for character in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}, line


@pytest.mark.parametrize(
    "text", ["a\nb", "a\tb", "a\x1bb", "a\rb", "a\x9bb", "a\u202eb", "a\u2028b", "a\ud800b"], ids=ascii
)
def test_terminal_control_characters_are_escaped(text):
    escape = text[1].encode("unicode_escape").decode()
    assert watch({7: [raw_task(7, name=text)]}, timeout=1).lines == [f"  7 (a{escape}b) RUNNING"]


def test_line_of_a_start_is_truncated_before_the_task_id():
    assert started_line("server 1", "submitted, task 7") == "  server 1: submitted, task 7"
    line = started_line("server " + "orders" * 200, "submitted, task 1234567890")
    assert line.endswith("\N{HORIZONTAL ELLIPSIS}: submitted, task 1234567890")
    assert columns(line) == LONGEST_LINE
    wide = started_line("server " + "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 600 + "\x1b[31m", "attached, task 8")
    assert wide.endswith(": attached, task 8")
    assert columns(wide) <= LONGEST_LINE
    assert "\x1b" not in started_line("a\x1b", "attached, task 8")
