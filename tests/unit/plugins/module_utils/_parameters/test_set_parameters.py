# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is sent to set parameters, and what is returned about where they are in effect."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.read_parameters import read_parameters
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.set_parameters import set_parameters
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_parameters import (
    DYNAMIC,
    SERVERS,
    STATIC,
    ParametersOcp,
)

A, B, C = SERVERS
NEW = {STATIC: "5M", DYNAMIC: "12"}
SET_AT = "2026-05-03T19:00:01+00:00"


@pytest.fixture
def service():
    return ParametersOcp()


@pytest.fixture
def time(service):
    return service.time


def set_to(service, wanted, *, check_mode=False, settle_time=10.0):
    clock = service.time.clock
    return set_parameters(service, "orders", wanted, settle_time, check_mode=check_mode, clock=clock)


def of(result, key):
    return {each["name"]: each[key] for each in result["parameters"]}


def test_static_parameter_is_set_and_needs_restarts(service, time):
    result = set_to(service, {STATIC: "5M"})
    assert service.sent == [{STATIC: "5M"}]
    assert (result["changed"], result["in_effect"], result["needs_restart"]) == (True, False, [STATIC])
    assert (result["restart_servers"], result["previous"], result["set_at"]) == (SERVERS, {STATIC: "512K"}, SET_AT)
    assert (result["cluster"], result["servers"], result["warnings"]) == ({"id": 31, "name": "orders"}, SERVERS, [])
    assert (of(result, "pending"), of(result, "told_apart")) == ({STATIC: SERVERS}, {STATIC: True})
    who = f"3 of 3 servers have to restart: {', '.join(SERVERS)}"
    assert result["reason"] == f"Set stack_size=5M. stack_size takes effect at a restart; {who}."
    # An old value proves nothing until the new one could have come.
    assert sum(time.pauses) == 10


def test_dynamic_parameter_is_in_effect_once_all_servers_show_it(service, time):
    service.delay = 2
    result = set_to(service, {DYNAMIC: "12"})
    assert (result["changed"], result["in_effect"], result["needs_restart"]) == (True, True, [])
    assert (result["restart_servers"], result["warnings"], of(result, "pending")) == ([], [], {DYNAMIC: []})
    assert of(result, "previous") == {DYNAMIC: dict.fromkeys(SERVERS, "10")}
    assert sum(time.pauses) == 2
    assert result["reason"] == "Set tcp_keepcnt=12."


def test_dynamic_parameter_that_does_not_take_effect_is_warned_about(service, time):
    service.delay = 99
    result = set_to(service, {DYNAMIC: "12"}, settle_time=2.5)
    assert (result["in_effect"], result["needs_restart"], result["restart_servers"]) == (False, [], [])
    [warning] = result["warnings"]
    assert warning.startswith(f"tcp_keepcnt needs no restart, but is not in effect on {', '.join(SERVERS)} yet.")
    assert time.pauses == [1, 1, 0.5]


def test_only_what_differs_is_sent(service):
    service.show(STATIC, "5120K", "5m", "5M")
    result = set_to(service, NEW)
    assert service.sent == [{DYNAMIC: "12"}]
    assert (result["changed"], result["previous"]) == (True, {STATIC: "5M", DYNAMIC: "10"})


def test_nothing_is_sent_where_all_servers_show_the_wanted_value(service, time):
    result = set_to(service, {DYNAMIC: "10"})
    assert (service.sent, result["changed"], result["in_effect"], result["set_at"]) == ([], False, True, None)
    assert (result["reason"], result["restart_servers"]) == ("The wanted values are set already.", [])
    assert time.pauses == []


def test_server_that_shows_nothing_is_no_reason_to_set_again(service):
    service.show(DYNAMIC, "12", "12", None)
    result = set_to(service, {DYNAMIC: "12"})
    assert (service.sent, result["changed"], result["in_effect"]) == ([], False, False)
    assert of(result, "pending") == {DYNAMIC: [C]}


def test_some_servers_have_restarted(service):
    service.show(STATIC, "5M", "512K", "512K")
    result = set_to(service, {STATIC: "5M"})
    assert (result["changed"], result["restart_servers"], result["previous"]) == (True, [B, C], {STATIC: "512K"})
    assert result["diff"]["before"] == f"stack_size: 5M on {A}; 512K on {B}, {C}\n"
    assert result["diff"]["after"] == "stack_size: 5M\n"


def test_after_all_restarts_the_value_is_in_effect_if_old_and_new_were_told_apart(service):
    set_to(service, {STATIC: "5M"})
    service.show(STATIC, "5M", "5M", "5M")
    result = set_to(service, {STATIC: "5M"})
    assert (result["changed"], result["in_effect"], result["restart_servers"]) == (False, True, [])
    assert of(result, "told_apart") == {STATIC: True}


def test_static_value_that_is_shown_everywhere_is_not_known_to_be_in_effect(service):
    service.show(STATIC, "5M", "5M", "5M")
    result = set_to(service, {STATIC: "5M"})
    assert (result["changed"], result["in_effect"], result["restart_servers"]) == (False, None, None)
    assert (of(result, "told_apart"), result["needs_restart"]) == ({STATIC: None}, [])
    assert result["reason"] == (
        "The wanted values are set already. stack_size needs a restart; the service does not show whether all servers "
        "have restarted."
    )


def test_new_value_of_a_static_parameter_that_is_shown_at_once(service, time):
    service.is_told = False
    service.show(STATIC, "512K", "5M", "512K")
    result = set_to(service, {STATIC: "5M"})
    assert (result["in_effect"], result["needs_restart"], result["restart_servers"]) == (None, [STATIC], [A, C])
    assert of(result, "told_apart") == {STATIC: False}
    [warning] = result["warnings"]
    assert warning == (
        "stack_size takes effect only at a restart, but the service already shows the new value on all servers. So it "
        f"does not show which servers still run with the old one; restart those that started before {SET_AT}, with "
        "started_before."
    )
    assert time.pauses == []


@pytest.mark.parametrize("delay", [1, 5])
def test_value_that_is_on_its_way_is_no_proof_that_old_and_new_are_told_apart(service, delay):
    service.is_told, service.delay = False, delay
    assert of(set_to(service, {STATIC: "5M"}), "told_apart") == {STATIC: False}
    assert set_to(service, {STATIC: "5M"})["in_effect"] is None


def test_what_was_known_is_forgotten_when_it_is_not_so_any_more(service):
    set_to(service, {STATIC: "5M"})
    service.is_told = False
    assert of(set_to(service, {STATIC: "6M"}), "told_apart") == {STATIC: False}
    assert of(set_to(service, {STATIC: "6M"}), "told_apart") == {STATIC: None}


def test_check_mode_says_the_same_and_sends_nothing(service, time):
    result = set_to(service, NEW, check_mode=True)
    assert (service.sent, time.pauses, result["changed"], result["set_at"]) == ([], [], True, None)
    assert (result["needs_restart"], result["restart_servers"]) == ([STATIC], SERVERS)
    assert result["previous"] == {STATIC: "512K", DYNAMIC: "10"}
    assert result["diff"] == {
        "before_header": "parameters of cluster orders",
        "after_header": "parameters of cluster orders",
        "before": "stack_size: 512K\ntcp_keepcnt: 10\n",
        "after": "stack_size: 5M\ntcp_keepcnt: 12\n",
    }
    assert result["reason"].startswith("Would set stack_size=5M, tcp_keepcnt=12. stack_size takes effect at a restart")
    assert of(set_to(service, NEW, check_mode=True), "told_apart") == {STATIC: None, DYNAMIC: None}


def test_previous_is_what_most_servers_had_and_the_others_are_told(service):
    service.show(DYNAMIC, "8", "9", "9")
    result = set_to(service, {DYNAMIC: "12"})
    assert result["previous"] == {DYNAMIC: "9"}
    assert result["warnings"] == [
        "Servers had different values of tcp_keepcnt before: 9 on 2, 8 on 1. previous has one of them."
    ]


def test_service_without_values_of_servers(service):
    service.shows = None
    result = set_to(service, NEW)
    assert (result["changed"], result["in_effect"], result["restart_servers"]) == (True, False, None)
    assert of(result, "in_effect") == {STATIC: False, DYNAMIC: True}
    assert (of(result, "server_values"), result["previous"]) == (
        {STATIC: None, DYNAMIC: None},
        {STATIC: "512K", DYNAMIC: "10"},
    )
    assert f"does not show which servers need one: restart those that started before {SET_AT}." in result["reason"]
    assert set_to(service, {DYNAMIC: "12"})["changed"] is False


def test_service_without_any_values_is_always_set(service):
    service.shows = None
    service.values[DYNAMIC] = {}
    result = set_to(service, {DYNAMIC: "12"})
    assert (result["changed"], result["in_effect"], result["previous"]) == (True, False, {DYNAMIC: None})
    assert result["diff"]["before"] == "tcp_keepcnt: not shown\n"


def test_service_without_metadata(service):
    service.metadata = {}
    result = set_to(service, NEW)
    assert (of(result, "needs_restart"), of(result, "in_effect")) == (
        {STATIC: None, DYNAMIC: None},
        {STATIC: False, DYNAMIC: None},
    )
    assert (result["needs_restart"], result["restart_servers"]) == ([STATIC], SERVERS)
    [warning] = result["warnings"]
    assert warning.startswith("The service does not show whether stack_size needs a restart; it is not in effect on")
    assert of(result, "told_apart") == {STATIC: None, DYNAMIC: None}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({STATIC: "21M"}, "stack_size: 21M is out of range"),
        ({DYNAMIC: "12", "devname": "x"}, "devname: x cannot be set, since the parameter is read-only"),
        ({DYNAMIC: "12", "stack_sise": "5M"}, "cluster orders has no parameter stack_sise. Did you mean stack_size?"),
    ],
)
@pytest.mark.parametrize("check_mode", [False, True])
def test_wrong_value_is_refused_before_anything_is_sent(service, wanted, message, check_mode):
    with pytest.raises(OptionError, match=message):
        set_to(service, wanted, check_mode=check_mode)
    assert service.sent == []


def test_failure_after_the_set_says_what_was_set(service):
    service.failing = [refused(500)]
    with pytest.raises(ServiceError, match="tcp_keepcnt=12 was set, but the servers where") as raised:
        set_to(service, {DYNAMIC: "12"})
    assert {key: raised.value.facts[key] for key in ("changed", "set_at", "previous")} == {
        "changed": True,
        "set_at": SET_AT,
        "previous": {DYNAMIC: "10"},
    }


# Reads


def test_read_of_all_parameters(service):
    found = read_parameters(service, "orders", None, None)
    assert (found["cluster"], found["servers"], found["pending"]) == ({"id": 31, "name": "orders"}, SERVERS, None)
    assert [each["name"] for each in found["parameters"]] == [STATIC, DYNAMIC, "devname"]
    assert found["parameters"][0] == {
        "name": STATIC,
        "server_values": dict.fromkeys(SERVERS, "512K"),
        "wanted": None,
        "pending": None,
        "needs_restart": True,
        "readonly": False,
        "default": None,
        "type": "CAPACITY",
        "minimum": "512K",
        "maximum": "20M",
        "allowed": None,
        "section": None,
        "description": None,
        "single_value": None,
    }


def test_read_of_what_is_wanted(service):
    service.show(STATIC, "5M", "512K", None)
    found = read_parameters(service, "orders", ["devname", STATIC], {STATIC: "5120K", DYNAMIC: 10})
    assert [each["name"] for each in found["parameters"]] == ["devname", STATIC, DYNAMIC]
    assert of(found, "pending") == {"devname": None, STATIC: [B, C], DYNAMIC: []}
    assert of(found, "wanted") == {"devname": None, STATIC: "5120K", DYNAMIC: "10"}
    assert found["pending"] == [B, C]
    assert found["parameters"][1]["server_values"] == {A: "5M", B: "512K", C: None}


def test_read_only_parameter_can_be_wanted_but_no_impossible_value(service):
    assert read_parameters(service, "orders", None, {"devname": "bond0"})["pending"] == []
    with pytest.raises(OptionError, match="stack_size: 21M is out of range"):
        read_parameters(service, "orders", None, {STATIC: "21M"})


def test_read_without_values_of_servers(service):
    service.shows = None
    found = read_parameters(service, "orders", None, {STATIC: "5M"})
    assert (found["pending"], of(found, "pending")) == (None, {STATIC: None})


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "names: is empty or has an empty entry; leave it out for all."),
        ([""], "names: is empty or has an empty entry"),
        (
            ["stack_sise"],
            "names: cluster orders has no parameter stack_sise. Did you mean stack_size\\? Check the name.",
        ),
    ],
)
def test_names_that_cannot_be_read(service, names, message):
    with pytest.raises(OptionError, match=message):
        read_parameters(service, "orders", names, None)
