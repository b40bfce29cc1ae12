# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How the parameters of a cluster are read and set."""

from __future__ import annotations

import json

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import connect
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import (
    RESET,
    Reply,
    envelope,
    refusal,
)

PATH = "/api/v2/ob/clusters/31/parameters"


def test_parameters_are_read_with_what_is_used_of_them(server):
    value = {"svrIp": "10.1.0.1", "svrPort": 2882, "value": "3600s"}
    shown = {"obParameters": [{**value, "zone": "z"}], "valueToServers": {"3600s": []}, "values": []}
    server.expect("GET", PATH, envelope({"contents": [{"name": "x", "section": "y", "new": 1, "currentValue": shown}]}))
    current = {"obParameters": [value], "valueToServers": {"3600s": []}, "values": []}
    found = OcpApi(connect(server.url)).cluster_parameters(31)
    assert found == [{"name": "x", "section": "y", "currentValue": current}]
    assert server.received[0].query == {"page": "1", "size": "2000"}


def test_parameters_of_obproxies_are_read_with_what_is_used_of_them(server):
    value = {"value": 4, "obproxies": ["10.1.0.1", None, "10.1.0.2"], "new": 1}
    shown = {"name": "x", "needReboot": True, "valueString": "4", "values": [value]}
    server.expect("GET", "/api/v2/obproxy/clusters/91/parameters", envelope({"contents": [shown]}))
    values = [{"value": "4", "obproxies": ["10.1.0.1", "10.1.0.2"]}]
    assert OcpApi(connect(server.url)).obproxy_parameters(91) == [{"name": "x", "needReboot": True, "values": values}]


@pytest.mark.parametrize("first", [RESET, refusal(502), refusal(503), refusal(429, RateLimit_Reset="1")])
def test_setting_is_repeated_where_its_outcome_is_unknown(first, server, pauses):
    server.expect("PUT", PATH, first, envelope(None))
    OcpApi(connect(server.url)).set_cluster_parameters(31, {"stack_size": "5M", "x": ""})
    body = [{"name": "stack_size", "value": "5M"}, {"name": "x", "value": ""}]
    assert [json.loads(each.body) for each in server.received] == [body, body]
    assert len(pauses) <= 1


def test_setting_whose_outcome_stays_unknown_advises_to_run_again(server, pauses):
    server.expect("PUT", PATH, *[RESET] * 3)
    with pytest.raises(ServiceError, match=r"not known whether .* Run this again; repeating it is safe") as raised:
        OcpApi(connect(server.url)).set_cluster_parameters(31, {"x": "1"})
    assert raised.value.may_have_run
    assert len(pauses) <= 2


@pytest.mark.parametrize("reply", [refusal(400, "No."), refusal(403)])
def test_setting_that_is_refused_is_not_repeated(reply: Reply, server):
    server.expect("PUT", PATH, reply)
    with pytest.raises(ServiceError) as raised:
        OcpApi(connect(server.url)).set_cluster_parameters(31, {"x": "1"})
    assert not raised.value.may_have_run
    assert len(server.received) == 1
