# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The commands that a refusal for good proposes."""

from __future__ import annotations

from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.way_out import with_way_out
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Target
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, SERVER

ADVICE = "No. If it is to restart for this change, restart it once more without the change. "
AGAIN = "Then run the same command again."


def test_command_restarts_the_member_and_the_same_command_comes_last():
    command = SERVER.target.command_for("10.1.0.1:2882")
    lines = with_way_out("No.", SERVER.target, ["10.1.0.1:2882"]).splitlines()
    assert lines[1:] == [f"  Restart 10.1.0.1:2882 once more: {command}", AGAIN]


def test_many_members_get_three_commands():
    servers = [f"10.1.0.{number}:2882" for number in range(1, 6)]
    lines = with_way_out("No.", RESTART_CASES["zone"].target, servers).splitlines()
    assert [line.split()[1] for line in lines[1:4]] == servers[:3]
    assert lines[4:] == ["  And so 2 others: 10.1.0.4:2882, 10.1.0.5:2882", AGAIN]


def test_kind_without_a_module_gets_no_command():
    own_kind = mock.Mock(command_for=lambda name: Target.command_for(mock.Mock(), name))
    assert with_way_out("No.", own_kind, ["logs-7"]) == f"{ADVICE}{AGAIN}"
    assert with_way_out("No.", SERVER.target, []) == f"{ADVICE}{AGAIN}"
