# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The role restarts until the values of parameters are in effect: who needs it, once, as the emulator's history has it."""

from __future__ import annotations

import json
import re

import pytest
from rolling import PLAYBOOK, QUICK, message, names, planned

WANTED = {"stack_size": "5M"}
FLEET = ("--clusters", "1", "--zones", "3", "--servers-per-zone", "3", *QUICK)


@pytest.fixture
def until(ansible, connect):
    """Run the playbook on an emulator with these variables of the role."""

    def run(emulator, *arguments, **given):
        connect(emulator)
        given = {"clusters": ["cluster1"], "until_effective": WANTED, "gate_timeout": 2, **given}
        variables = {f"rolling_restart_{name}": value for name, value in given.items()}
        return ansible.playbook(PLAYBOOK, arguments=" ".join([*arguments, f"-e '{json.dumps(variables)}'"]))

    return run


def set_value(emulator, *effective):
    """Set the static parameter; these servers run with it already, without a restart that the history has."""
    emulator.put("/api/v2/ob/clusters/1/parameters", [{"name": "stack_size", "value": "5M"}])
    for number in effective:
        emulator.put(f"/emulator/servers/{number}/parameters", {"parameters": WANTED})


def running_with(emulator):
    """The values that servers really run with."""
    return {each["parameters"]["stack_size"] for each in emulator.get("/emulator/parameters")["contents"]}


def test_nine_servers_with_four_new_ones_are_five_restarts_and_then_none(until, start_emulator):
    emulator = start_emulator(*FLEET)
    # The clock of the service is that of the emulator: the controller's is two hours off.
    emulator.put("/emulator/clock", {"offset": 7200.0})
    set_value(emulator, 2, 3, 5, 9)
    there = names(emulator)
    check = until(emulator, "--check")
    assert (check.rc, len(planned(check))) == (0, 5), check.output
    first = until(emulator)
    assert first.rc == 0, first.output
    expected = {there[number]: int(number in (1, 4, 6, 7, 8)) for number in there}
    assert emulator.restarts("OB_SERVER") == expected
    assert "shows stack_size=512K instead of 5M" in first.output
    again = until(emulator)
    assert again.rc == 0, again.output
    assert emulator.restarts("OB_SERVER") == expected
    assert "0 to restart, 9 left alone" in again.output
