# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The role restarts until values of parameters are in effect: who needs it, once, by the history of the emulator."""

from __future__ import annotations

import json

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
    return {each["parameters"]["stack_size"]["value"] for each in emulator.get("/emulator/parameters")["contents"]}


@pytest.mark.nightly
def test_nine_servers_with_four_new_ones_are_five_restarts_and_then_none(until, start_emulator):
    emulator = start_emulator(*FLEET)
    # The clock of the service is that of the emulator: the controller's is two hours off.
    emulator.advance(7200)
    set_value(emulator, 2, 3, 5, 9)
    there = names(emulator)
    check = until(emulator, "--check")
    assert check.rc == 0, check.output
    assert len(planned(check)) == 5
    assert "shows stack_size=512K instead of 5M" in check.output
    first = until(emulator)
    assert first.rc == 0, first.output
    expected = {there[number]: 1 for number in (1, 4, 6, 7, 8)}
    assert emulator.restarts("OB_SERVER") == expected
    again = until(emulator)
    assert again.rc == 0, again.output
    assert emulator.restarts("OB_SERVER") == expected
    assert "0 to restart, 9 left alone" in again.output
    assert running_with(emulator) == {"5M"}


def test_service_that_shows_the_new_value_at_once_skips_nobody(until, start_emulator, change):
    emulator = start_emulator("--parameter-values", "set", *FLEET)
    set_value(emulator)
    refused = until(emulator)
    assert "No plan was made: " in message(refused)
    assert "Give started_before, the instant of the change" in message(refused)
    assert emulator.restarts("OB_SERVER") == {}
    # In a batch of several too.
    outcome = until(emulator, started_before=change, batch="3")
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(names(emulator).values(), 1)
    assert running_with(emulator) == {"5M"}


@pytest.mark.nightly
@pytest.mark.parametrize("given", [{"batch": "3"}, {"strategy": "zone"}, {"batch": "auto", "canary": 1, "soak": 1}])
def test_several_at_once_are_restarted_once_each(until, start_emulator, given):
    emulator = start_emulator(*FLEET)
    set_value(emulator, 5)
    first = until(emulator, **given)
    assert first.rc == 0, first.output
    restarted = emulator.restarts("OB_SERVER")
    assert set(restarted.values()) == {1}
    assert running_with(emulator) == {"5M"}
    again = until(emulator, **given)
    assert again.rc == 0, again.output
    assert emulator.restarts("OB_SERVER") == restarted


# The value is looked at for three minutes.
@pytest.mark.nightly
def test_parameter_without_effect_costs_one_restart_and_stops_the_run(until, start_emulator):
    emulator = start_emulator("--static-parameters", "never", *FLEET)
    set_value(emulator)
    outcome = until(emulator)
    assert outcome.rc != 0
    assert sum(emulator.restarts("OB_SERVER").values()) == 1
    [name] = emulator.restarts("OB_SERVER")
    assert f"but {name} shows stack_size=512K instead of 5M" in message(outcome)
    assert "0 of 9 servers restarted, 1 failed" in message(outcome)
