# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a fleet restart says of servers that were not restarted as asked: each thing once, and commands at the end."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import RUN_AGAIN
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotAllRestarted, OcpError, ResponseLost
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.side_by_side import Ended
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.fleet_outcome import FleetMember, FleetOutcome
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.send_once import outcome_unknown
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import SERVER, request

LOST = ResponseLost(
    "The answer did not arrive within 3 seconds.",
    url="http://ocp",
    may_have_run=True,
    advice="It is not known whether.",
)


def failed(*errors, check_mode=False):
    """The error that a run raises after these errors of its servers."""
    selector, asked = Selector(Server, {"cluster": "orders"}), request(check_mode=check_mode)
    members = [FleetMember("orders", f"10.0.0.{number}:2882", selector, asked) for number in range(len(errors))]
    outcome = FleetOutcome(members, SYSTEM_CLOCK)
    for number, error in enumerate(errors):
        outcome.asked(number, Ended(error=error))
    with pytest.raises(NotAllRestarted) as raised:
        outcome.raise_failures(None, lambda _task: "")
    return str(raised.value).splitlines()


def test_lost_answer_is_told_once_with_one_closing_line():
    unknown = outcome_unknown(
        SERVER.target, LOST, "For 3 seconds the task list did not show its task", at_most_once=True
    )
    first, second, *commands, last = failed(unknown)
    assert first == "1 of 1 server is not known to have restarted."
    assert second == (
        "orders 10.0.0.0:2882 is not known to have restarted: The answer did not arrive within 3 seconds. For 3 "
        "seconds the task list did not show its task. With OCP_URL and the credentials in the environment:"
    )
    assert [command.partition(":")[0] for command in commands] == ["  See the newest tasks", "  See what serves"]
    assert last == RUN_AGAIN


def test_servers_that_were_refused_are_counted_beside_those_that_are_not_known():
    unknown = outcome_unknown(SERVER.target, LOST, "Nothing was found", at_most_once=True)
    lines = failed(unknown, OcpError("Did not restart it: busy."))
    assert lines[0] == "1 of 2 servers is not known to have restarted, 1 not restarted as requested."
    assert failed(OcpError("No."))[0] == "1 of 1 server not restarted as requested."


def test_check_mode_says_what_would_not_be_restarted():
    first, second, *_more = failed(OcpError("It is held."), check_mode=True)
    assert first == "1 of 1 server would not be restarted as requested."
    assert second == "orders 10.0.0.0:2882 would not be restarted: It is held."
