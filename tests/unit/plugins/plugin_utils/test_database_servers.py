# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Hosts that are database servers, and hosts whose play has OCP's address in a variable of the same name."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleError
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._database_servers import is_database_server
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._inventory_hosts import variables_of


def plain(value):
    return value


SERVERS = ["10.0.0.1:2882", "db1.example.com:2882", "[2001:db8::1]:2882"]
OTHERS = [
    "https://ocp.example.com",
    "http://10.0.0.50:8080",
    "ocp.example.com",
    "10.0.0.50",
    "",
    None,
    7,
    ["10.0.0.1:2"],
]


@pytest.mark.parametrize("server", SERVERS)
def test_address_with_a_port_and_a_cluster_is_a_database_server(server):
    assert is_database_server({"ocp_server": server, "ocp_cluster": "orders"}, plain)


@pytest.mark.parametrize("value", OTHERS, ids=str)
def test_other_value_is_not(value):
    assert not is_database_server({"ocp_server": value, "ocp_cluster": "orders"}, plain)


@pytest.mark.parametrize("variables", [{}, {"ocp_server": "10.0.0.50:8080"}, {"ocp_cluster": "orders"}], ids=str)
def test_both_variables_are_needed(variables):
    assert not is_database_server(variables, plain)


def test_hosts_of_the_inventory_are_database_servers():
    class Server(dict):
        def __missing__(self, _key):
            return None

    server = Server(name="10.0.0.1:2882", cluster_name="orders", ip="10.0.0.1")
    variables = variables_of(server, "http://ocp.test:8080")
    assert is_database_server(variables, plain)


def test_value_may_be_a_template():
    templated = {"ocp_server": "{{ ansible_host }}:2882", "ocp_cluster": "orders"}
    assert is_database_server(templated, lambda _text: "10.0.0.1:2882")

    def undefined(_text):
        raise AnsibleError("'ansible_host' is undefined")

    assert not is_database_server(templated, undefined)
