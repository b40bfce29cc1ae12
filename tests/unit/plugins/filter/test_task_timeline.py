# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The HTML page of tasks: its charts, its content, and no way for service data to break it."""

from __future__ import annotations

import html
import re

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.oceanbase.ocp.plugins.filter.task_timeline import FilterModule
from ansible_collections.oceanbase.ocp.tests.unit.support.html_pages import (
    NASTY,
    SVG,
    Page,
    at,
    step,
    task,
    tasks,
    texts,
)
from hypothesis import given
from hypothesis import strategies as st

task_timeline = FilterModule().filters()["task_timeline"]


def geometry(mark):
    return float(mark.get("x").rstrip("%")), float(mark.get("width").rstrip("%"))


def test_each_subtask_has_a_bar_from_its_start_to_its_finish():
    page = Page(task_timeline(task(step(begin=0, end=5), step(begin=5, end=10))))
    assert [geometry(drawn) for drawn in page.bars] == [(0, 50), (50, 50)]
    assert page.text.count("Stop server") >= 2


def test_pending_subtask_has_a_dot_right_of_all_bars():
    page = Page(task_timeline(task(step(begin=0, end=10), step("PENDING"))))
    finished, pending = page.bars
    assert pending.tag == f"{SVG}circle"
    assert float(pending.get("cx").rstrip("%")) > sum(geometry(finished))


def test_running_subtask_extends_to_the_newest_time_of_any_task():
    running = task(step("RUNNING", begin=0), status="RUNNING", finish_time=None)
    page = Page(task_timeline([running, task(step(begin=10, end=40), start_time=at(10), finish_time=at(40))]))
    assert geometry(page.bars[0]) == (0, 100)
    assert "≥ 40 s" in page.text


def test_short_subtask_is_visible_and_inside_the_chart():
    page = Page(task_timeline(task(step(begin=0, end=1000), step(begin=1000, end=1000.001))))
    x, width = geometry(page.bars[1])
    assert width > 0.5
    assert x + width <= 100


@pytest.mark.parametrize(
    ("values", "key", "sign"),
    [
        ({"status": "SUCCESSFUL"}, "successful", "✓"),
        ({"status": "FAILED"}, "failed", "✗"),
        ({"status": "RUNNING"}, "running", "…"),
        ({"status": "PENDING"}, "pending", "○"),
        ({"status": "READY"}, "pending", "○"),
        ({"status": "SUCCESSFUL", "operation": "SKIP"}, "skipped", "⊘"),
        ({"status": "SUCCESSFUL", "operation": "rollback"}, "rolled-back", "↺"),
        ({"status": "FAILED", "operation": "ROLLBACK"}, "failed", "✗"),
        ({"status": "SUCCESSFUL", "operation": "RETRY"}, "successful", "✓"),
        ({"status": None}, "unknown", "?"),
        ({"status": "BAFFLED"}, "unknown", "?"),
    ],
)
def test_each_state_has_a_color_and_a_sign(values, key, sign):
    document = task_timeline(task(step(begin=0, end=5, **values), status="BAFFLED"))
    [drawn] = Page(document).bars
    assert key in drawn.get("class").split()
    assert f'<span class="sign {key}" aria-hidden="true">{sign}</span>' in document
    assert document.count(f"--{key}: #") == 2, "a colour for light and one for dark"
    assert f".{key} {{" in document


@pytest.mark.parametrize("operation", ["RETRY", "SKIP", "ROLLBACK"])
def test_operation_and_attempt_are_shown(operation):
    page = Page(task_timeline(task(step(begin=0, end=5, operation=operation, run_time=3))))
    assert f"{operation}, attempt 3" in page.text


def test_header_describes_the_task():
    page = Page(task_timeline(task(step(begin=0, end=10))))
    shown = dict(
        zip(re.findall(r"<dt>(.*?)</dt>", page.document), re.findall(r"<dd><bdi>(.*?)<", page.document), strict=True)
    )
    assert shown == {
        "Task": "1001",
        "Cluster": "orders (id 1)",
        "Host": "id 3",
        "Creator": "admin",
        "Started": "2026-05-04 03:00:00+08:00",
        "Duration": "10 s",
        "Subtasks": "1 of 1 done",
    }
    assert "✓ SUCCESSFUL" in page.text
    assert "<h1><bdi>Restart OB server</bdi></h1>" in page.document


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (task(targets=["10.0.0.1"]), "Restart OB server 10.0.0.1"),
        (task(targets=["10.0.0.1", "10.0.0.2", "10.0.0.3"]), "Restart OB server 10.0.0.1 and 2 more"),
        ({"task": task(targets=["10.0.0.1"]), "target": {"name": "10.0.0.1:2882"}}, "Restart OB server 10.0.0.1:2882"),
        ({"task": task(), "target": {"hosts": [{"name": "a"}, {"name": "b"}]}}, "Restart OB server a and 1 more"),
        (task(targets="10.0.0.1"), "Restart OB server"),
        (task(targets=[None, ["x"]]), "Restart OB server"),
    ],
    ids=["tag", "tags", "result", "hosts", "text", "no texts"],
)
def test_task_has_the_name_of_its_target(value, name):
    page = Page(task_timeline([value, task()]))
    assert f"<h2><bdi>{name}</bdi>" in page.document


def test_failed_task_has_the_commands_that_go_on_from_it():
    document = html.unescape(Page(task_timeline(task(step("FAILED", id=7), status="FAILED"))).document)
    for command in ("state=retried wait=true", "subtask_id=7 state=skipped wait=true", "state=rolled_back wait=true"):
        assert re.search(
            rf"<code>ansible localhost -m oceanbase.ocp.task -a 'task_id=1001 .*{command} detail=compact'</code>",
            document,
        )
    assert "state=retried" not in Page(task_timeline(task(step("FAILED", id=7)))).document


@pytest.mark.parametrize("number", ["1001; reboot", None, {"x": 1}], ids=repr)
def test_no_command_has_an_id_that_is_no_number(number):
    document = Page(task_timeline(task(step("FAILED", id=number), status="FAILED", id=number))).document
    assert "<code>" not in document


def test_summary_shows_how_many_subtasks_are_listed():
    progress = {"done": 4, "total": 13, "running": []}
    assert "4 of 13 done, 1 shown" in Page(task_timeline(task(step("FAILED"), progress=progress))).text


def test_rolled_back_task_is_not_shown_as_successful():
    page = Page(task_timeline(task(rolled_back=True)))
    assert "↺ ROLLED BACK" in page.text
    assert "SUCCESSFUL" not in page.text


@pytest.mark.parametrize(
    "given_log",
    [
        pytest.param(lambda log: task(step("FAILED", begin=0, end=1, log_tail=log)), id="in the subtask"),
        pytest.param(
            lambda log: task(step("FAILED", begin=0, end=1), failed_subtasks=[{"id": 50001, "log_tail": log}]),
            id="in the task",
        ),
        pytest.param(
            lambda log: {
                "task": task(step("FAILED", begin=0, end=1)),
                "failed_subtasks": [
                    {"id": 50001, "task_id": 7, "log_tail": "of another task"},
                    {"subtask_id": 50001, "task_id": 1001, "log_tail": log},
                ],
            },
            id="in the result",
        ),
        pytest.param(lambda log: task(step("FAILED", begin=0, end=1, log_tail=log.split("\n"))), id="as lines"),
    ],
)
def test_failed_subtask_shows_its_log(given_log):
    page = Page(task_timeline(given_log("first\n\tERROR <disk> full\r\n")))
    assert "first\n\tERROR <disk> full" in page.text
    assert "of another task" not in page.text
    assert "Row 1, id 50001" in page.text


def test_failure_without_a_log_is_shown():
    page = Page(task_timeline(task(step(), step("FAILED"), step("FAILED"))))
    assert len(page.of_class("failure")) == 2
    assert "Row 2, id" in page.text
    assert "Row 3, id" in page.text
    assert page.text.count("Its log is not in the result.") == 2


@pytest.mark.parametrize(("piece", "times"), [("a line\n", 700_000), ("早", 5_000_000)], ids=["many lines", "one line"])
def test_only_the_end_of_a_long_log_is_shown(piece, times):
    document = task_timeline(task(step("FAILED", log_tail=piece * times + "the end")))
    assert len(document.encode()) < 100_000
    [shown] = re.findall(r"<pre .*?>(.*?)</pre>", document, re.DOTALL)
    assert shown.rstrip().endswith("the end")
    assert len(shown.splitlines()) <= 200
    assert "Only its end is shown: at most 200 lines and 64 KiB." in document


def test_short_log_has_no_truncation_note():
    assert "Only its end" not in task_timeline(task(step("FAILED", log_tail="x\n" * 200)))


def test_several_tasks_have_an_overview_first():
    failed = task(step("FAILED", begin=10, end=20), id=1002, name="Other", status="FAILED", start_time=at(10))
    page = Page(task_timeline([task(step(begin=0, end=10), step(begin=0, end=1)), failed]))
    overview, *charts = page.charts
    assert [mark.get("class").split()[0] for mark in overview.iter() if mark.get("class")] == [
        "axis",
        "bars",
        "span",
        "span",
    ]
    assert [sum("bar" in mark.get("class", "").split() for mark in chart.iter()) for chart in charts] == [2, 1]
    assert [anchor["href"] for anchor in page.named("a")] == ["#task-1", "#task-2"]
    assert [(one["id"], "open" in one) for one in page.of_class("task")] == [("task-1", False), ("task-2", True)]
    assert "<title>2 tasks</title>" in page.document
    assert "1 successful, 1 failed" in page.text


def test_tasks_are_found_in_lists_and_results():
    one = task(step(begin=0, end=1))
    registered = {"changed": True, "task": one, "target": {"name": "10.0.0.1:2882"}}
    skipped = {"changed": False, "skipped": True}
    page = Page(
        task_timeline([one, registered, {"tasks": [one, one]}, {"results": [registered, skipped, {"task": None}]}])
    )
    assert len(page.bars) == 5
    shown = re.findall(r"<dt>Target</dt><dd><bdi>(.*?)<", page.document)
    assert shown == ["10.0.0.1:2882"] * 2


@pytest.mark.parametrize("nothing", [None, [], {"task": None}, {"tasks": []}, [None, {"results": None}]])
def test_missing_task_is_not_an_error(nothing):
    assert "There is no task to show." in Page(task_timeline(nothing)).text


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("1001", "a value of type str"),
        (1001, "a value of type int"),
        (True, "a value of type bool"),
        ([{"task": 1.5}], "a value of type float"),
        ({"rc": 0}, "a dict that has neither subtasks nor id and status"),
        ({"results": "x"}, "a value of type str"),
    ],
)
def test_non_task_value_is_an_error(value, what):
    with pytest.raises(AnsibleFilterError) as error:
        task_timeline(value)
    assert str(error.value).startswith(f"oceanbase.ocp.task_timeline: {what} is not a task; give a task, ")


def test_task_without_subtasks_or_values_is_shown():
    nulls = dict.fromkeys(task()) | {"subtasks": [dict.fromkeys(step()), None]}
    page = Page(task_timeline([task(), nulls]))
    assert "No subtasks are known." in page.text
    assert len(page.bars) == 1
    assert "Subtask without a name" in page.text


def test_times_of_different_offsets_share_one_scale():
    utc = step(start_time="2026-05-03T19:00:05Z", finish_time="2026-05-03T19:00:10Z")
    page = Page(task_timeline(task(step(begin=0, end=5), utc)))
    assert [geometry(drawn) for drawn in page.bars] == [(0, 50), (50, 50)]
    assert "2026-05-04 03:00:05+08:00" in page.text


def test_invalid_times_do_not_break_the_chart():
    page = Page(task_timeline(task(step(start_time="2026-05-04T03:00:00"), step(begin=9, end=3), step(begin=2))))
    mark, backwards, unfinished = page.bars
    assert mark.tag == f"{SVG}circle"
    assert geometry(backwards)[1] < 1
    assert geometry(unfinished)[1] < 1
    assert "-6" not in page.text


def test_page_is_self_contained():
    page = Page(task_timeline([task(step(begin=0, end=1)), task()], title="All of them"))
    assert {tag for tag, _attributes in page.tags}.isdisjoint(
        {"script", "link", "img", "iframe", "object", "base", "form"}
    )
    addresses = re.findall(r"""(?:url\(|@import|src=|href=)["']?([^"')]*)""", page.document)
    assert all(address.startswith("#task-") for address in addresses)
    assert not [name for _tag, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "<title>All of them</title>" in page.document
    assert "default-src 'none'" in page.document


def test_chart_is_described_for_screen_readers():
    page = Page(task_timeline(task(step(begin=0, end=1), step("FAILED", begin=1, end=2))))
    [chart] = page.charts
    title, description = chart.find(f"{SVG}title"), chart.find(f"{SVG}desc")
    assert chart.get("role") == "img"
    assert chart.get("aria-labelledby").split() == [title.get("id"), description.get("id")]
    assert title.text == "Subtasks of Restart OB server"
    assert description.text == "1 successful, 1 failed"
    assert [drawn.find(f"{SVG}title").text for drawn in page.bars] == [
        "1. Stop server: SUCCESSFUL, 1 s",
        "2. Stop server: FAILED, 1 s",
    ]


def test_element_ids_are_unique():
    ids = re.findall(r' id="(.*?)"', task_timeline([task(step(), id=1), task(step(), id=1)]))
    assert len(ids) == len(set(ids)) == 8


def contrast(one, other):
    def luminance(color):
        parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast(mode):
    roots = re.findall(r":root \{(.*?)\}", task_timeline([]), re.DOTALL)
    colors = dict(re.findall(r"--([\w-]+): (#\w{6})", roots[mode]))
    assert len(colors) == 13
    for name in colors.keys() - {"page", "card", "log", "line"}:
        assert contrast(colors[name], colors["card"]) >= 4.5, name
    assert contrast(colors["text"], colors["log"]) >= 4.5


def assert_harmless(document, bars):
    page = Page(document)
    assert len(page.bars) == bars
    assert {tag for tag, _attributes in page.tags}.isdisjoint({"script", "img"})
    assert not [name for _tag, attributes in page.tags for name in attributes if name.startswith("on")]
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]", document
    )
    document.encode()


@pytest.mark.parametrize("nasty", NASTY)
def test_hostile_text_is_harmless_in_every_field(nasty):
    hostile = {key: nasty for key in step() if not key.endswith("_time")} | {"status": "FAILED", "log_tail": nasty}
    head = dict.fromkeys(
        ("id", "name", "status", "operation", "creator", "cluster_name", "cluster_id", "host_id"), nasty
    )
    registered = {"task": task(step(begin=0, end=1, **hostile), **head), "target": {"name": nasty}}
    assert_harmless(task_timeline(registered), 1)
    assert_harmless(task_timeline([registered, registered], title=nasty), 2)


def test_invisible_characters_are_escaped():
    text = Page(task_timeline(task(name="a\x1b[2J\u202eb\x00"))).text
    assert r"a\x1b[2J\u202eb\x00" in text


def test_overlong_name_is_truncated():
    assert len(task_timeline(task(name="x" * 10_000_000))) < 30_000


@given(st.lists(tasks, max_size=3), texts)
def test_any_text_is_shown_and_harmless(given_tasks, title):
    document = task_timeline(given_tasks, title=title)
    assert_harmless(document, sum(len(one["subtasks"] or []) for one in given_tasks))
    assert document == task_timeline(given_tasks, title=title)
