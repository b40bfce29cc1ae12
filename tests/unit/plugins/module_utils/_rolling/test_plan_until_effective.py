# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of a rolling restart by the values of parameters: only those that do not run with them."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import (
    RollingRequest,
    plan_rolling_restart,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import StaticParameter, at

WANTED = {"stack_size": "5M"}


@pytest.fixture
def changed(service):
    """A service where stack_size was set ten minutes ago, and the second server has started since."""
    service.parameters["stack_size"] = StaticParameter("4M", "5M")
    service.servers_there[1].started = -500.0
    return service


def plan(service, started_before=None, **more):
    until_effective = more.get("until_effective", WANTED)
    wanted = RollingRequest(
        ["orders"], None, None, 1, Strategy.SERVER, started_before, majority=False, until_effective=until_effective
    )
    return plan_rolling_restart(service, wanted, service.time.clock)


def reasons(result):
    return {server["id"]: server["reason"] for batch in result["batches"] for server in batch["servers"]}


def test_plan_has_only_the_servers_that_show_another_value(changed):
    result = plan(changed)
    assert reasons(result) == {
        41: "10.1.0.1:2882 shows stack_size=4M instead of 5M",
        43: "10.1.0.3:2882 shows stack_size=4M instead of 5M",
    }
    assert [(server["id"], server["reason"]) for server in result["left_alone"]] == [
        (42, "10.1.0.2:2882 shows stack_size=5M")
    ]
    assert [zone["servers"][0]["id"] for zone in result["done"]] == [42]


def test_plan_is_empty_when_all_show_it(changed):
    plan(changed)
    for thing in changed.servers_there:
        thing.started = -400.0
    assert (plan(changed)["batches"], len(plan(changed)["left_alone"])) == ([], 3)


def test_with_an_instant_too_both_have_to_ask_for_a_restart(changed):
    """Of the other two, one has started since, and one shows the value."""
    changed.servers_there[0].started = -300.0
    assert reasons(plan(changed, at(-400))).keys() == {43}


def test_values_that_prove_nothing_are_refused(changed):
    changed.parameters["stack_size"].at_once = True
    with pytest.raises(
        OptionError, match=r"No plan was made: 10.1.0.1:2882 shows stack_size=5M, .* Give started_before"
    ):
        plan(changed)
    assert reasons(plan(changed, at(-570))).keys() == {41, 43}


def test_service_without_values_of_servers_asks_for_an_instant(changed):
    changed.parameters["stack_size"].servers = ()
    with pytest.raises(
        OptionError, match=r"does not show the value of stack_size on each server .* Give started_before"
    ):
        plan(changed)
    result = plan(changed, at(-570))
    assert reasons(result).keys() == {41, 43}
    assert "so started_before alone decides" in result["warnings"][-1]


def test_name_instant_or_values_have_to_be_given(changed):
    with pytest.raises(OptionError, match="change: is not given, nor is started_before or until_effective"):
        plan(changed, until_effective={})


def test_server_whose_value_is_not_shown_is_left_to_its_restart_to_judge(changed):
    changed.servers_there[2].status = "STOPPED"
    changed.parameters["stack_size"].servers = (41, 42)
    assert 43 in reasons(plan(changed))
