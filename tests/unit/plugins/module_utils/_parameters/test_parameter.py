# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is kept of a parameter, from both forms in which documents have the values of servers."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.records import parameter_record
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.parameter import (
    Parameter,
    parameters_by_name,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.parameter_value import Kind

A, B = "10.0.0.1:2882", "10.0.0.2:2882"


def parameter(**shown):
    return Parameter.from_api(parameter_record({"name": "x", **shown}))


def on_server(ip, value):
    return {"svrIp": ip, "svrPort": 2882, "value": value}


@pytest.mark.parametrize(
    ("current", "values"),
    [
        ({"obParameters": [on_server("10.0.0.1", "5M"), on_server("10.0.0.2", "4M")]}, {A: "5M", B: "4M"}),
        ({"valueToServers": {"5M": [A], "4M": [B]}}, {A: "5M", B: "4M"}),
        ({"valueToServers": {"5M": [A, B]}, "obParameters": [on_server("10.0.0.1", "5M")]}, {A: "5M", B: "5M"}),
        ({"valueToServers": {"5M": [A]}, "obParameters": [on_server("10.0.0.1", "4M")]}, {A: None}),
        ({"valueToServers": {"5M": [A], "4M": [A], "3M": [A]}}, {A: None}),
        ({"obParameters": [on_server("::1", "5M")]}, {"[::1]:2882": "5M"}),
        ({"valueToServers": {"5M": ["::1:2882"], "4M": ["[::2]:2882"]}}, {"[::1]:2882": "5M", "[::2]:2882": "4M"}),
        ({"obParameters": [on_server("10.0.0.1", "")]}, {A: ""}),
        ({"obParameters": [on_server("10.0.0.1", None), {"value": "5M"}, on_server("10.0.0.2", [1])]}, {}),
        ({"obParameters": [on_server("10.0.0.1", True), on_server("10.0.0.2", 0.5)]}, {A: "true", B: "0.5"}),
        ({"valueToServers": {"5M": None, "4M": "ab", "3M": [7, None, "x", ":1", "10.0.0.1:x"]}}, {}),
        ({"values": ["5M"], "singleValueInCluster": True}, {}),
        (None, {}),
    ],
)
def test_values_of_servers(current, values):
    assert parameter(currentValue=current).values == values


def test_all_that_is_documented():
    limits = {"type": "TIME", "minValue": "1s", "maxValue": None, "allowedValues": None}
    shown = parameter(
        section="OBSERVER",
        defaultValue="",
        needRestart=True,
        readonly=False,
        description="How long.",
        valueRange=limits,
        currentValue={"singleValueInCluster": False},
    )
    assert shown == Parameter(
        "x", {}, (), "TIME", Kind.TIME, "1s", None, (), "", "OBSERVER", "How long.", False, True, False
    )


@pytest.mark.parametrize(
    ("limits", "kind", "allowed"),
    [
        ({"type": "ENUM", "allowedValues": "TRUE,FALSE"}, Kind.BOOLEAN, ("TRUE", "FALSE")),
        ({"type": "ENUM", "allowedValues": " none, oracle,"}, Kind.CHOICE, ("none", "oracle")),
        ({"type": "STRING", "allowedValues": ["a", 1, True, None]}, Kind.CHOICE, ("a", "1", "true")),
        ({"type": "INT", "allowedValues": ""}, Kind.INTEGER, ()),
        ({"type": 5, "allowedValues": 7}, None, ()),
        (None, None, ()),
    ],
)
def test_kind_and_choices(limits, kind, allowed):
    found = parameter(valueRange=limits)
    assert (found.kind, found.allowed) == (kind, allowed)


def test_parameter_without_a_name_is_left_out():
    assert list(parameters_by_name([{"name": None}, {}, {"name": "x"}])) == ["x"]


def test_value_that_is_not_shown_is_the_same_as_none():
    assert not parameter().same(None, None)
