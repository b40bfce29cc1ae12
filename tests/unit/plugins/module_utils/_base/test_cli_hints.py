# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The order of a message: what happened, what is known, the commands, and last that the same command is run again."""

from __future__ import annotations

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import (
    NEXT_STEPS_HEADING,
    RUN_AGAIN,
    RUN_AGAIN_UNLESS_RETRIED,
    commands_last,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError

START = "  Start 10.0.0.2:2882 by a restart: ansible localhost -m oceanbase.ocp.server_restart -a 'server=2'"
RETRY = "  Retry what failed: ansible localhost -m oceanbase.ocp.task -a 'task_id=1001 state=retried'"


def cause(words, line, ending=RUN_AGAIN):
    return f"{words} {NEXT_STEPS_HEADING}\n{line}\n{ending}"


def test_one_cause_stays_as_it_is():
    assert commands_last(["Did not restart it.", cause("It is stopped.", START)]) == (
        f"Did not restart it. It is stopped. {NEXT_STEPS_HEADING}\n{START}\n{RUN_AGAIN}"
    )


def test_two_causes_have_one_heading_and_one_ending():
    error = OcpError(cause("It is stopped.", START))
    error.add_context(cause("The task failed.", RETRY))
    assert str(error) == (f"The task failed. It is stopped. {NEXT_STEPS_HEADING}\n{RETRY}\n{START}\n{RUN_AGAIN}")


def test_advice_comes_before_the_commands():
    error = OcpError(cause("It is stopped.", START))
    error.add_advice("With safety=none, tenants are not checked.")
    assert str(error) == (
        f"It is stopped. With safety=none, tenants are not checked. {NEXT_STEPS_HEADING}\n{START}\n{RUN_AGAIN}"
    )


def test_causes_on_lines_of_one_message():
    message = f"{cause('One is stopped.', START)}\n{cause('Another failed.', RETRY)}"
    assert commands_last([message]) == (
        f"One is stopped.\nAnother failed.\n{NEXT_STEPS_HEADING}\n{START}\n{RETRY}\n{RUN_AGAIN}"
    )


def test_an_ending_with_a_condition_wins():
    parts = [cause("One.", START), cause("Another.", RETRY, RUN_AGAIN_UNLESS_RETRIED)]
    assert commands_last(parts).endswith(f"{START}\n{RETRY}\n{RUN_AGAIN_UNLESS_RETRIED}")


def test_the_same_command_is_shown_once():
    assert commands_last([cause("One.", START), cause("Another.", START)]).count(START) == 1


def test_lines_of_a_log_stay_with_their_words():
    log = "The end of its log:\n  INFO one\n  ERROR two"
    assert commands_last([cause(f"{log}\nIt failed.", RETRY), "It is not over."]) == (
        f"{log}\nIt failed. It is not over.\n{NEXT_STEPS_HEADING}\n{RETRY}\n{RUN_AGAIN}"
    )


def test_a_message_without_commands_is_left_alone():
    assert commands_last(["A.", f"B. {RUN_AGAIN}", "C."]) == f"A. B. {RUN_AGAIN} C."
