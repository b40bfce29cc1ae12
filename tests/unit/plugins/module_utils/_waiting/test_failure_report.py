# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Failure reports of tasks: the message, line by line, and the facts."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ResponseLost,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.await_tasks import wait_for_success
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.failure_report import Purpose
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, chain, raw_task, step

HEADING = "############{EXECUTE}{2026-05-04T03:02:01.5+08:00}############\n"
RETRY = "############{RETRY}{2026-05-04T03:04:01.5+08:00}############\n"
ROLLBACK = "############{ROLLBACK}{2026-05-04T03:05:01.5+08:00}############\n"
NEXT = "Nothing restarts it until that is cleared. With OCP_URL and the credentials in the environment:"
ASK = "ansible localhost -m oceanbase.ocp.task -a"


def refused(status: int):
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, RequestRefused)
    return kind(f"Refused with {status}.", status=status, reason="", url=URL, trace_id=f"trace-{status}")


def failed(number: int = 5, steps=None, **fields):
    times = {"startTime": "2026-05-04T03:02:01+08:00", "finishTime": "2026-05-04T03:02:04.5+08:00"}
    steps = steps or chain(
        step(71, "Prepare", "SUCCESSFUL"),
        step(72, "Stop it", "FAILED", runTime=1, executor="10.1.0.9:8080", **times),
        step(73, "Start it"),
    )
    return raw_task(number, "FAILED", subtasks=steps[::-1], **fields)


def failure_of(api, time_passes, *numbers: int, log_lines: int = 20, purpose: Purpose = Purpose()) -> TaskFailed:  # noqa: B008
    policy = PollPolicy(7200, 10, log_lines=log_lines)
    with pytest.raises(TaskFailed) as raised:
        wait_for_success(api.double, numbers, policy, purpose=purpose, clock=time_passes.clock)
    return raised.value


def test_failure_message_has_all_parts_in_order(api, time_passes):
    times = {"startTime": "2026-05-04T03:02:00+08:00", "finishTime": "2026-05-04T03:02:05+08:00"}
    api.expect("task", 5, gives=failed(**times)).expect("subtask_log", 5, 72, gives=HEADING + "cannot stop\n")
    purpose = Purpose("The restart of server 10.1.0.1:2882", "trace-post")
    error = failure_of(api, time_passes, 5, purpose=purpose)
    assert str(error).split("\n") == [
        "The restart of server 10.1.0.1:2882 did not succeed.",
        "Task 5 (Restart 5) FAILED at subtask 2 of 3, Stop it (id 72), attempt 1. The end of its log:",
        f"  {HEADING.strip()}",
        "  cannot stop",
        "The task took 5 seconds, the subtask 3.5.",
        "Trace id trace-post.",
        NEXT,
        f"  Retry what failed: {ASK} 'task_id=5 state=retried wait=true detail=compact'",
        "  Skip this subtask, leaving its work undone: "
        f"{ASK} 'task_id=5 subtask_id=72 state=skipped wait=true detail=compact'",
        f"  Roll the task back: {ASK} 'task_id=5 state=rolled_back wait=true detail=compact'",
        "A retry that succeeds has done the work. After a rollback, run again what started the task.",
    ]


def test_task_that_ended_with_another_word_did_not_succeed(api, time_passes):
    """The service refuses to retry and to roll back what is not FAILED."""
    times = {"startTime": "2026-05-04T03:02:00+08:00", "finishTime": "2026-05-04T03:02:05+08:00"}
    api.expect("task", 5, gives=raw_task(5, "TERMINATED", **times))
    error = failure_of(api, time_passes, 5, purpose=Purpose("The restart of server 10.1.0.1:2882", "trace-post"))
    assert str(error).split("\n") == [
        "The restart of server 10.1.0.1:2882 did not succeed.",
        "Task 5 (Restart 5) ended without success: its status is TERMINATED.",
        "The task took 5 seconds.",
        "Trace id trace-post.",
        "With OCP_URL and the credentials in the environment:",
        "  See what it did: ansible localhost -m oceanbase.ocp.task_info -a 'task_id=5 detail=summary'",
        "Then run the same command again, if the restart is still wanted.",
    ]
    assert not error.at_first_step
    [task] = error.facts["tasks"]
    assert (task["status"], task["finished"], task["succeeded"]) == ("TERMINATED", True, False)


def test_task_that_ended_with_another_word_names_its_failed_subtask(api, time_passes):
    api.expect("task", 5, gives=failed(finishTime="2026-05-04T03:02:05+08:00") | {"status": "CANCELED"})
    api.expect("subtask_log", 5, 72, gives=HEADING + "cannot stop\n")
    assert str(failure_of(api, time_passes, 5)).split("\n", maxsplit=1)[0] == (
        "Task 5 (Restart 5) ended without success: its status is CANCELED. It failed at subtask 2 of 3, Stop it "
        "(id 72), attempt 1. The end of its log:"
    )


def test_failure_facts_describe_the_task_and_failed_subtasks(api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=HEADING + "cannot stop\n")
    facts = failure_of(api, time_passes, 5).facts
    assert (facts["task_id"], facts["failed_task_ids"], facts["trace_id"]) == (5, [5], "trace-last")
    [task] = facts["tasks"]
    assert (task["id"], task["succeeded"], task["status"]) == (5, False, "FAILED")
    assert facts["failed_subtasks"] == [
        {
            "task_id": 5,
            "id": 72,
            "position": 2,
            "name": "Stop it",
            "description": "Stop it",
            "status": "FAILED",
            "operation": "EXECUTE",
            "attempt": 1,
            "duration": 3.5,
            "start_time": "2026-05-04T03:02:01+08:00",
            "finish_time": "2026-05-04T03:02:04.5+08:00",
            "executor": "10.1.0.9:8080",
            "log_tail": f"{HEADING}cannot stop",
        }
    ]


# The log


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        pytest.param(HEADING + "one\ntwo\n", ["one", "two"], id="short"),
        pytest.param(
            HEADING + "".join(f"line {n}\n" for n in range(1, 31)), [f"line {n}" for n in range(19, 31)], id="long"
        ),
        pytest.param(HEADING + "first attempt\n" + RETRY + "second attempt\n", ["second attempt"], id="attempts"),
        pytest.param("no heading\nat all", ["no heading", "at all"], id="no heading"),
        pytest.param(HEADING + "\n\n  indented\n   \nend\n\n", ["indented", "end"], id="blank lines"),
        pytest.param(HEADING + "größer\r\n", ["größer"], id="CR LF"),
        pytest.param(HEADING + "\x1b[2Jcleared\u202e\n", ["\\x1b[2Jcleared\\u202e"], id="control characters"),
        pytest.param(HEADING + "<script>alert('\"')</script>", ["<script>alert('\"')</script>"], id="markup"),
    ],
)
def test_failure_shows_the_end_of_the_last_attempts_log(log, shown, api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=log)
    error = failure_of(api, time_passes, 5)
    message = str(error).split("\n")
    lines = message[1 : message.index(NEXT) - 2]
    assert [line.strip() for line in lines if "####" not in line] == shown
    assert len(lines) <= 12
    assert sum("####" in line for line in lines) <= 1
    [step_failed] = error.facts["failed_subtasks"]
    told = [line.strip() for line in step_failed["log_tail"].split("\n")]
    assert told[-len(lines) :] == [line.strip() for line in lines]
    assert len(told) <= 20


@pytest.mark.parametrize(
    ("log_lines", "width", "shown"), [(20, 100, 12), (20, 200, 6), (20, 3000, 2), (21, 200, 21)], ids=str
)
def test_message_has_as_much_of_the_log_as_fits_on_a_screen_unless_more_is_asked_for(
    log_lines, width, shown, api, time_passes
):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=("x" * width + "\n") * 30)
    message = str(failure_of(api, time_passes, 5, log_lines=log_lines))
    assert sum(line.startswith("  xxx") for line in message.split("\n")) == shown


@pytest.mark.parametrize("log_lines", [1, 3, 200])
def test_log_lines_option_limits_the_log_tail(log_lines, api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives="x\n" * 500)
    [step_failed] = failure_of(api, time_passes, 5, log_lines=log_lines).facts["failed_subtasks"]
    assert len(step_failed["log_tail"].split("\n")) == log_lines


def test_log_is_not_read_when_log_lines_is_zero(api, time_passes):
    api.expect("task", 5, gives=failed())
    error = failure_of(api, time_passes, 5, log_lines=0)
    assert "log" not in str(error).replace("task_id", "")
    assert error.facts["failed_subtasks"][0]["log_tail"] is None


@pytest.mark.parametrize("log", ["x" * 10_000_000, "x\n" * 5_000_000, "\x00" * 10_000_000], ids=len)
def test_ten_megabyte_log_is_truncated(log, api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=log)
    error = failure_of(api, time_passes, 5)
    assert len(str(error)) < 20_000
    assert len(error.facts["failed_subtasks"][0]["log_tail"]) < 300_000


@pytest.mark.parametrize("log", ["", "\n \n"], ids=repr)
def test_empty_log_is_omitted_from_the_message(log, api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=log)
    error = failure_of(api, time_passes, 5)
    assert str(error).startswith(
        "Task 5 (Restart 5) FAILED at subtask 2 of 3, Stop it (id 72), attempt 1.\nThe subtask"
    )
    assert error.facts["failed_subtasks"][0]["log_tail"] == ""


@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (refused(403), "these credentials may not read it (TASK_VIEWER)"),
        (refused(401), "these credentials may not read it (TASK_VIEWER)"),
        (refused(500), "Refused with 500"),
        (refused(404), "Refused with 404"),
        (ResponseLost("lost", url=URL), "lost"),
    ],
    ids=repr,
)
def test_unreadable_log_is_explained_and_the_rest_is_shown(refusal, why, api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=refusal)
    error = failure_of(api, time_passes, 5)
    assert str(error).split("\n")[:5] == [
        "Task 5 (Restart 5) FAILED at subtask 2 of 3, Stop it (id 72), attempt 1.",
        f"Its log is not shown, since {why}.",
        "The subtask took 3.5 seconds.",
        "Trace id trace-last.",
        NEXT,
    ]
    assert error.facts["failed_subtasks"][0]["log_tail"] is None


def test_logs_are_not_requested_after_a_refusal(api, time_passes):
    steps = chain(step(1, "First", "FAILED"), step(2, "Second", "FAILED"))
    api.expect("task", 5, gives=failed(steps=steps)).expect("subtask_log", 5, 1, gives=refused(403))
    assert [step["log_tail"] for step in failure_of(api, time_passes, 5).facts["failed_subtasks"]] == [None, None]


def test_only_the_first_ten_logs_are_read(api, time_passes):
    steps = [step(number, f"Host {number}", "FAILED", parallelIdx=number) for number in range(1, 31)]
    api.expect("task", 5, gives=failed(steps=steps))
    for number in range(1, 11):
        api.expect("subtask_log", 5, number, gives=f"host {number}")
    error = failure_of(api, time_passes, 5)
    assert "at subtask 1 of 30, Host 1 (id 1), and at 29 more. The end of its log:" in str(error)
    tails = [step["log_tail"] for step in error.facts["failed_subtasks"]]
    assert tails == [f"host {number}" for number in range(1, 11)] + [None] * 20


@pytest.mark.parametrize(
    ("run_time", "log", "attempt"),
    [
        (None, "", None),
        (1, "", 1),
        (3, HEADING, 3),
        (1, HEADING + "x\n" + RETRY + "y\n", 2),
        (1, HEADING + "x\n" + ROLLBACK + "y\n" + RETRY + "z\n", 2),
        (None, "no heading", None),
    ],
)
def test_attempt_number_comes_from_run_time_or_the_log(run_time, log, attempt, api, time_passes):
    api.expect("task", 5, gives=failed(steps=[step(1, "Only", "FAILED", runTime=run_time)]))
    api.expect("subtask_log", 5, 1, gives=log)
    error = failure_of(api, time_passes, 5)
    assert error.facts["failed_subtasks"][0]["attempt"] == attempt
    assert (f", attempt {attempt}." in str(error)) == (attempt is not None)


# Next steps


@pytest.mark.parametrize("prohibited", ["skip", "rollback"])
def test_prohibited_task_action_is_not_suggested(prohibited, api, time_passes):
    steps = [step(1, "Only", "FAILED", prohibitSkip=prohibited == "skip")]
    api.expect("task", 5, gives=failed(steps=steps, prohibitRollback=prohibited == "rollback"))
    api.expect("subtask_log", 5, 1, gives="")
    message = str(failure_of(api, time_passes, 5))
    assert ("state=skipped" in message, "state=rolled_back" in message) == (
        prohibited != "skip",
        prohibited != "rollback",
    )


def test_failed_rollback_suggests_rollback_not_retry(api, time_passes):
    api.expect("task", 5, gives=failed(operation="ROLLBACK")).expect("subtask_log", 5, 72, gives="")
    message = str(failure_of(api, time_passes, 5))
    assert message.startswith("Task 5 (Restart 5) FAILED while it was rolled back at subtask 2 of 3")
    assert ("state=retried" in message, "state=rolled_back" in message) == (False, True)


def test_no_log_is_read_without_a_failed_subtask(api, time_passes):
    api.expect("task", 5, gives=raw_task(5, "FAILED"))
    error = failure_of(api, time_passes, 5)
    assert str(error).startswith(f"Task 5 (Restart 5) FAILED.\nTrace id trace-last.\n{NEXT}")
    assert error.facts["failed_subtasks"] == []


@pytest.mark.parametrize("name", [None, ""], ids=repr)
def test_unnamed_failed_task_is_shown_by_its_id(name, api, time_passes):
    api.expect("task", 5, gives=raw_task(5, "FAILED", name=name))
    assert str(failure_of(api, time_passes, 5)).startswith("Task 5 FAILED.\n")


HOSTILE = "<script>alert('x')</script>\"\x1b[31m\n" + "x" * 10_000_000


def test_hostile_name_is_escaped_and_truncated(api, time_passes):
    steps = [step(1, HOSTILE, "FAILED")]
    api.expect("task", 5, gives=failed(steps=steps, name=HOSTILE)).expect("subtask_log", 5, 1, gives="")
    error = failure_of(api, time_passes, 5)
    assert len(repr((str(error), error.facts))) < 20_000
    assert "\x1b" not in str(error)
    assert str(error).startswith("Task 5 (<script>alert('x')</script>\"\\x1b[31m\\nxxx")


# Several tasks


def test_only_the_first_failure_is_explained(api, time_passes):
    api.expect("task", 1, gives=raw_task(1, "SUCCESSFUL"))
    api.expect("task", 5, gives=failed(5)).expect("task", 6, gives=failed(6))
    api.expect("subtask_log", 5, 72, gives="five").expect("subtask_log", 6, 72, gives="six")
    error = failure_of(api, time_passes, 1, 5, 6)
    assert "\nNot successful either: 6 (Restart 6); 2 of 3 tasks in all.\n" in str(error)
    assert "six" not in str(error)
    assert [(step["task_id"], step["log_tail"]) for step in error.facts["failed_subtasks"]] == [(5, "five"), (6, "six")]
    assert error.facts["failed_task_ids"] == [5, 6]
    assert [task["id"] for task in error.facts["tasks"]] == [1, 5, 6]


def test_failure_is_raised_after_all_tasks_have_ended(api, time_passes):
    api.expect("task", 5, gives=raw_task(5, "FAILED")).expect("task", 6, gives=raw_task(6))
    api.expect("task", 6, gives=raw_task(6, "SUCCESSFUL"))
    assert failure_of(api, time_passes, 5, 6).facts["failed_task_ids"] == [5]


@pytest.mark.parametrize(
    "raw",
    [
        raw_task(5, "SUCCESSFUL", operation="ROLLBACK"),
        raw_task(5, "SUCCESSFUL", operation="execute", subtasks=[step(1, "Stop it", "PENDING")]),
    ],
    ids=["operation", "pending step"],
)
def test_rolled_back_task_is_a_failure(raw, api, time_passes):
    api.expect("task", 5, gives=raw)
    error = failure_of(api, time_passes, 5)
    assert str(error).startswith(
        "Task 5 (Restart 5) FAILED and was rolled back: it ended SUCCESSFUL, but by undoing its work.\n"
    )
    assert f"task_info -a 'task_id={5} detail=summary'" in str(error)
    assert error.facts["tasks"][0]["rolled_back"] is True


def stop_failed(description, log, api, time_passes, *, log_lines=2):
    steps = chain(step(71, "Prepare", "SUCCESSFUL"), step(72, description, "FAILED", runTime=1), step(73, "Start it"))
    api.expect("task", 5, gives=failed(steps=steps)).expect("subtask_log", 5, 72, gives=log)
    return str(failure_of(api, time_passes, 5, log_lines=log_lines)).split("\n")


STOP_STEPS = ["Stop observer service", "stop OBServer service", "Stop server", "Stop zone"]


@pytest.mark.parametrize("description", STOP_STEPS)
@pytest.mark.parametrize(
    ("log", "explained"),
    [
        (
            "ERROR 4660 (HY000): -4660, cannot stop server or stop zone in multiple zones",
            "Error -4660: the database does not stop servers in two zones at once. Start what is stopped in the other "
            "zones, or let its restart end; then retry the task.",
        ),
        (
            "OB_OP_NOT_ALLOW(-4179)",
            "Error -4179: the database does not stop a server while a log stream has no leader, the locality of a "
            "tenant changes, too few voters would remain, or a replica is more than 5 seconds behind. Wait until that "
            "has ended; then retry the task. A tenant with one replica needs more of them first, or the retry fails "
            "again.",
        ),
    ],
)
def test_refusal_of_the_database_is_explained(description, log, explained, api, time_passes):
    lines = stop_failed(description, f"{HEADING}{log}\nmore\nand more\n", api, time_passes)
    assert lines[1:4] == ["  more", "  and more", explained]


@pytest.mark.parametrize(
    ("description", "log"),
    [
        ("Stop observer process", "error -4179"),
        ("Start observer service", "error -4660"),
        ("Stop observer service", "error -46601, 4660, x-4179x and 1-4660"),
        ("Stop observer service", f"-4660\n{RETRY}cannot stop"),
    ],
)
def test_other_errors_are_not_explained(description, log, api, time_passes):
    assert "Error -4" not in "\n".join(stop_failed(description, HEADING + log, api, time_passes))
