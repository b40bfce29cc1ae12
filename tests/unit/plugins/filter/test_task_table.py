# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The terminal table of tasks: its content, its width, and no harm to the terminal."""

from __future__ import annotations

import re
import unicodedata

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.oceanbase.ocp.plugins.filter.task_table import FilterModule
from ansible_collections.oceanbase.ocp.tests.unit.support.html_pages import at, step, task, tasks, texts
from hypothesis import given
from hypothesis import strategies as st

task_table = FilterModule().filters()["task_table"]
COLOR = re.compile(r"\x1b\[(\d+)m")


def columns(line):
    """The columns a terminal takes: none for combining marks, two for wide characters."""
    shown = [c for c in COLOR.sub("", line) if unicodedata.category(c) not in ("Mn", "Me")]
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


EXAMPLE = task(
    step(begin=0, end=5),
    step("FAILED", begin=5, end=10, id=2, description="Start server", operation="RETRY", run_time=2, log_tail="a\nb"),
    step("PENDING", id=3, description="Check"),
    status="FAILED",
)


def test_table_shows_the_task_its_subtasks_and_the_log():
    assert task_table(EXAMPLE, title="Night shift", width=80) == "\n".join(
        [
            "Night shift",
            "",
            "✗ Restart OB server: FAILED",
            "  task 1001, cluster orders (id 1), host id 3, creator admin,",
            "  started 2026-05-04 03:00:00+08:00, duration 10 s, subtasks 3 of 3 done",
            "  1 ✓ Stop server                             5 s           █████████▌",
            "  2 ✗ Start server [RETRY, attempt 2]         5 s                    █████████▌",
            "  3 ○ Check                                   -                                ·",
            "  End of the log of 2, Start server:",
            "    a",
            "    b",
            "  With OCP_URL and the credentials in the environment:",
            "  Retry what failed:",
            "    ansible localhost -m oceanbase.ocp.task \\",
            "      -a 'task_id=1001 state=retried wait=true detail=compact'",
            "  Skip this subtask, leaving its work undone:",
            "    ansible localhost -m oceanbase.ocp.task \\",
            "      -a 'task_id=1001 subtask_id=2 state=skipped wait=true detail=compact'",
            "  Roll the task back:",
            "    ansible localhost -m oceanbase.ocp.task \\",
            "      -a 'task_id=1001 state=rolled_back wait=true detail=compact'",
        ]
    )


def test_narrow_terminal_has_no_bars():
    assert "█" in task_table(EXAMPLE, width=72)
    assert "█" not in task_table(EXAMPLE, width=71)


def test_tasks_are_listed_in_order_and_no_task_is_reported():
    both = task_table([task(), {"task": task(id=1002, name="Restart OCP agent")}])
    assert both.count("\n\n") == 1
    assert both.index("task 1001") < both.index("task 1002")
    assert task_table({"task": None}) == "There is no task to show."


@pytest.mark.parametrize(
    ("values", "sign", "color"),
    [
        ({"status": "SUCCESSFUL"}, "✓", 32),
        ({"status": "FAILED"}, "✗", 31),
        ({"status": "RUNNING"}, "…", 34),
        ({"status": "PENDING"}, "○", 90),
        ({"operation": "SKIP"}, "⊘", 36),
        ({"operation": "ROLLBACK"}, "↺", 33),
        ({"status": None}, "?", 35),
    ],
)
def test_each_state_has_a_color_and_a_sign(values, sign, color):
    shown = task_table(task(step(begin=0, end=1, **values)), color=True)
    assert f"  1 \x1b[{color}m{sign}\x1b[0m Stop server" in shown
    assert COLOR.sub("", shown) == task_table(task(step(begin=0, end=1, **values)))


def test_only_the_last_lines_of_a_log_are_shown():
    shown = task_table(task(step("FAILED", log_tail="\n".join(f"line {n}" for n in range(100)))))
    assert re.findall(r"line (\d+)", shown) == [str(n) for n in range(80, 100)]


@pytest.mark.parametrize("width", [40, 71, 72, 100])
@pytest.mark.parametrize("name", ["重启集群节点" * 30, "e\u0301" * 200, "x" * 10_000, "a 重" * 50])
def test_lines_fit_the_width(width, name):
    log = f"{name}\n\t{name}"
    wide = step("FAILED", begin=0, end=1, description=name, operation=name, run_time=2, log_tail=log)
    shown = task_table(task(wide, wide, name=name, creator=name), title=name, width=width)
    assert max(map(columns, shown.split("\n"))) <= width
    assert "重" in shown or "x" in shown or "e" in shown


def test_rows_with_wide_characters_are_aligned():
    shown = task_table(task(step(begin=0, end=1, description="停止"), step(begin=0, end=1, description="Stop")))
    one, other = (line for line in shown.split("\n") if "█" in line)
    assert columns(one.split("█")[0]) == columns(other.split("█")[0])


def test_running_subtask_shows_its_elapsed_time():
    running = step("RUNNING", begin=0)
    assert " ≥ 1 min 30 s " in task_table([task(running, status="RUNNING", finish_time=at(90))])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 39}, "width: 39 is too little; give 40 or more."),
        ({"width": "broad"}, "width: "),
        ({"color": "mauve"}, "color: "),
    ],
)
def test_invalid_option_is_an_error(options, message):
    with pytest.raises(AnsibleFilterError, match=f"^oceanbase.ocp.task_table: {message}") as error:
        task_table(EXAMPLE, **options)
    assert str(next(iter(options.values()))) in str(error.value)


def test_non_task_value_is_an_error():
    with pytest.raises(AnsibleFilterError, match=r"^oceanbase\.ocp\.task_table: a value of type str is not a task; "):
        task_table("1001")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.45, "0.45 s"),
        (59.94, "59.9 s"),
        (59.99, "1 min"),
        (61, "1 min 1 s"),
        (3599.6, "1 h"),
        (7500, "2 h 5 min"),
        (90000, "1 d 1 h"),
    ],
)
def test_durations_use_readable_units(seconds, shown):
    finish = f"2026-05-0{4 + int(seconds // 86400)}T{int(seconds % 86400 // 3600):02}{at(seconds % 3600)[13:]}"
    steps = [step(start_time=at(0).replace("T03", "T00"), finish_time=finish)]
    assert f" {shown}  " in task_table(task(*steps))


@given(st.lists(tasks, max_size=3), texts, st.integers(40, 120), st.booleans())
def test_any_text_is_harmless_to_the_terminal(given_tasks, title, width, color):
    shown = task_table(given_tasks, title=title, width=width, color=color)
    assert max(map(columns, shown.split("\n"))) <= width
    plain = COLOR.sub("", shown) if color else shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", plain)
    plain.encode()
