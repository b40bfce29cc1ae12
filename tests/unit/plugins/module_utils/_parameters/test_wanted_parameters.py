# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which wanted parameters are refused, with the option, the name and the value."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.records import parameter_record
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.parameter import parameters_by_name
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.wanted_parameters import (
    check_wanted,
    wanted_parameters,
)


def test_values_of_yaml_become_texts():
    given = {"a": True, "b": False, "c": 5, "d": 1.0, "e": "5M", "f": "", "_g": "/data/1;/data/2", "h": -1}
    wanted = {"a": "true", "b": "false", "c": "5", "d": "1.0", "e": "5M", "f": "", "_g": "/data/1;/data/2", "h": "-1"}
    assert wanted_parameters("parameters", given) == wanted


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "parameters: is empty; give at least one name with its value, as in stack_size: 5M."),
        ({"": "1"}, "parameters: an empty text is not the name of a parameter; give one as in stack_size."),
        ({"a b": "1"}, "parameters: a b is not the name of a parameter; give one as in stack_size."),
        ({5: "1"}, "parameters: 5 is not the name of a parameter; give one as in stack_size."),
        ({"a\n": "1"}, r"parameters: a\n is not the name of a parameter; give one as in stack_size."),
        ({"a" * 201: "1"}, "is not the name of a parameter; give one as in stack_size."),
        ({"a": "1", "A": "2"}, "parameters: a and A are the same parameter; give it once."),
        ({"a": None}, 'parameters: a is nothing; give a text, a number or a boolean, and "" for an empty text.'),
        ({"a": ["5M"]}, "parameters: a is a list or an object; give a text"),
        ({"a": float("nan")}, "parameters: a is nan; give a text"),
        ({"a": "5M\n"}, r"parameters: a is '5M\n'; give a printable value"),
        ({"a": " 5M"}, "a is ' 5M'; give a printable value of at most"),
        ({"a": "5" * 10_001}, "of at most 10000 characters"),
    ],
)
def test_option_that_cannot_be_used(given, message):
    with pytest.raises(OptionError) as raised:
        wanted_parameters("parameters", given)
    assert message in str(raised.value)


def shown(name, value=None, kind=None, least=None, most=None, allowed=None, **more):
    limits = {"type": kind, "minValue": least, "maxValue": most, "allowedValues": allowed}
    current = {"valueToServers": {} if value is None else {value: ["10.0.0.1:2882"]}}
    return parameter_record({"name": name, "currentValue": current, "valueRange": limits, **more})


PARAMETERS = parameters_by_name(
    [
        shown("stack_size", "512K", "CAPACITY", "512K", "20M", needRestart=True),
        shown("cluster_id", "1", "INT", readonly=True),
        shown("tcp_keepcnt", "10", "INT", "1", ""),
        shown("tcp_keepidle", "7200s", "TIME", "1s"),
        shown("enable_tcp_keepalive", "True", "ENUM", allowed="TRUE,FALSE"),
        shown("audit_mode", "NONE", "ENUM", allowed="NONE,ORACLE"),
        shown("ilog_index_expire_time", "7d"),
        shown("untyped_capacity", "1G"),
        shown("untyped_size", "5m"),
        shown("backup_dest", "", "STRING"),
        shown("ratio", "0.5", "DOUBLE", "0", "1"),
        shown("duty_time", "02:00", "MOMENT"),
        shown("odd_range", "5", "INT", "few", "many"),
    ]
)
GOOD = {
    "stack_size": ["512K", "5M", "20M", "20480k", "5mb"],
    "tcp_keepcnt": ["1", "9999"],
    "tcp_keepidle": ["1s", "60", "1h", "1000ms"],
    "enable_tcp_keepalive": ["true", "False"],
    "audit_mode": ["oracle", "NONE"],
    "ilog_index_expire_time": ["3d", "90", "anything", "5m"],
    "untyped_size": ["5g", "5h"],
    "backup_dest": ["", "file:///backup", "5M"],
    "ratio": ["0.5", "1", "0"],
    "duty_time": ["12:00", "anything"],
    "odd_range": ["-3"],
}
BAD = {
    ("stack_size", "21M"): "stack_size: 21M is out of range; give 512K or more and 20M or less",
    ("stack_size", "511K"): "stack_size: 511K is out of range",
    ("stack_size", "5"): "stack_size: 5 has no unit; give 5M if it is in megabytes",
    ("stack_size", "5s"): "stack_size: 5s is of another type; give a capacity, as in 512K or 5M",
    ("stack_size", ""): "stack_size: an empty text is of another type; give a capacity",
    ("stack_size", "05M"): "stack_size: 05M begins with a zero, so the database reads it as octal",
    ("cluster_id", "2"): "cluster_id: 2 cannot be set, since the parameter is read-only",
    ("tcp_keepcnt", "0"): "tcp_keepcnt: 0 is out of range; give 1 or more",
    ("tcp_keepcnt", "010"): "begins with a zero",
    ("tcp_keepcnt", "80%"): "tcp_keepcnt: 80% is of another type; give a whole number",
    ("tcp_keepcnt", "1.0"): "tcp_keepcnt: 1.0 is of another type; give a whole number",
    ("tcp_keepidle", "500ms"): "tcp_keepidle: 500ms is out of range; give 1s or more",
    ("tcp_keepidle", "5G"): "tcp_keepidle: 5G is of another type; give a time, as in 30s or 1h",
    ("enable_tcp_keepalive", "maybe"): "enable_tcp_keepalive: maybe is not allowed; give one of TRUE, FALSE",
    # The database takes it, but the service names two.
    ("enable_tcp_keepalive", "on"): "enable_tcp_keepalive: on is not allowed; give one of TRUE, FALSE",
    ("audit_mode", "true"): "audit_mode: true is not allowed; give one of NONE, ORACLE",
    ("ilog_index_expire_time", "5G"): "ilog_index_expire_time: 5G is of another type; give a time",
    ("untyped_capacity", "5h"): "untyped_capacity: 5h is of another type; give a capacity",
    ("ratio", "1.1"): "ratio: 1.1 is out of range; give 0 or more and 1 or less",
    ("ratio", "half"): "ratio: half is of another type; give a number",
    ("stack_sise", "5M"): "cluster orders has no parameter stack_sise. Did you mean stack_size?",
    ("Stack_Size", "5M"): "cluster orders has no parameter Stack_Size. Did you mean stack_size?",
    ("nothing_like_it", "5M"): "cluster orders has no parameter nothing_like_it. Check the name",
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in GOOD.items() for value in values])
def test_value_that_nothing_speaks_against(name, value):
    check_wanted("parameters", {name: value}, PARAMETERS, "orders")


@pytest.mark.parametrize(("name", "value"), BAD)
def test_value_that_is_refused(name, value):
    with pytest.raises(OptionError) as raised:
        check_wanted("parameters", {name: value}, PARAMETERS, "orders")
    assert str(raised.value).startswith("parameters: ")
    assert BAD[name, value] in str(raised.value)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(OptionError) as raised:
        check_wanted("parameters", {"stack_size": "1G", "ratio": "0.5", "cluster_id": "2"}, PARAMETERS, "orders")
    assert str(raised.value) == (
        "parameters: stack_size: 1G is out of range; give 512K or more and 20M or less; cluster_id: 2 cannot be set, "
        "since the parameter is read-only; leave it out."
    )


def test_cluster_that_shows_no_parameters():
    with pytest.raises(OptionError, match="the service shows no parameters of cluster orders"):
        check_wanted("parameters", {"x": "1"}, {}, "orders")
