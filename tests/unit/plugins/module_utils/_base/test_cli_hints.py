# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Messages whose next steps can be pasted: of several, the commands of all come last."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import (
    NEXT_STEPS_HEADING,
    RUN_AGAIN,
    Hints,
    ways_last,
)

FIRST = f"Task 11 FAILED.\nIt holds a. {NEXT_STEPS_HEADING}\n  Retry it: one\n{RUN_AGAIN}"
SECOND = f"Task 12 FAILED.\n  12:30 a log line\nIt holds b. {NEXT_STEPS_HEADING}\n  Retry it: two\n{RUN_AGAIN}"


def test_commands_of_several_failures_are_below_what_happened():
    assert "\n".join(ways_last([FIRST, SECOND])).splitlines() == [
        "Task 11 FAILED.",
        "It holds a.",
        "Task 12 FAILED.",
        "  12:30 a log line",
        "It holds b.",
        NEXT_STEPS_HEADING,
        "  Retry it: one",
        "  Retry it: two",
        RUN_AGAIN,
    ]


@pytest.mark.parametrize("messages", [[FIRST], ["It is gone."], ["1 of 2 servers failed.", FIRST]])
def test_messages_of_which_only_the_last_has_commands_stay_as_they_are(messages):
    assert ways_last(messages) == messages


def test_command_of_several_failures_is_proposed_once():
    look = f"It is not known whether b restarted. {NEXT_STEPS_HEADING}\n  Retry it: one\n{RUN_AGAIN}"
    assert ways_last([FIRST, look])[-3:] == [NEXT_STEPS_HEADING, "  Retry it: one", RUN_AGAIN]


def test_messages_without_commands_stay_as_they_are_and_say_once_to_run_again():
    assert ways_last(["a is gone.", "b is gone."]) == ["a is gone.", "b is gone."]
    assert ways_last([f"a is at work.\n{RUN_AGAIN}", "b is gone."]) == ["a is at work.", "b is gone.", RUN_AGAIN]


def test_what_comes_after_the_commands_is_not_lost():
    rolled_back = f"Task 13 was rolled back.\n{NEXT_STEPS_HEADING}\n  See it: three\nRun it again if it is wanted."
    assert ways_last([rolled_back, FIRST])[-4:] == [
        "  See it: three",
        "  Retry it: one",
        "Run it again if it is wanted.",
        RUN_AGAIN,
    ]


def test_part_of_an_option_is_named_by_the_variable_of_the_option():
    hints = Hints({"most_down": "fleet_restart_most_down"})
    message = hints.by_caller("most_down.servers: 0 is no such number; give a whole one, 1 or more.")
    assert message == "fleet_restart_most_down.servers: 0 is no such number; give a whole one, 1 or more."
