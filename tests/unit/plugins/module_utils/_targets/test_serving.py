# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What serving is, and which status words say that something works on a target."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.serving import (
    agent_serves,
    database_serves,
    is_in_flight,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone

YES, NO, UNKNOWN = True, False, None
ORDERS = Cluster(31, "orders")
AT_WORK = (
    "RESTARTING",
    "STARTING",
    "STOPPING",
    "OPERATING",
    "CREATING",
    "DELETING",
    "TAKINGOVER",
    "MOVINGOUT",
    "SWITCHOVER",
    "FAILOVER",
)


@pytest.mark.parametrize("word", AT_WORK)
def test_status_that_says_something_works_on_the_target_is_in_flight(word):
    assert is_in_flight(word)
    assert is_in_flight(word.lower())
    assert Observation(word, ()).is_in_flight
    assert Observation("RUNNING", (Member("a", "RUNNING"), Member("b", word))).is_in_flight
    assert database_serves(word) is NO


@pytest.mark.parametrize("word", ["STOPPED", "UNAVAILABLE", "DELETED", "SERVICE_STOPPED", "RUNNING", "NEW", "", None])
def test_other_status_words_are_not_in_flight(word):
    assert not is_in_flight(word)
    assert not Observation(word, (Member("a", word),)).is_in_flight


@pytest.mark.parametrize(
    ("status", "inner_status", "serves"),
    [
        pytest.param("RUNNING", "ACTIVE", YES, id="a server RUNNING, with inner status ACTIVE"),
        pytest.param("RUNNING", None, YES, id="a server RUNNING, where the inner status is not told"),
        pytest.param("running", "active", YES, id="in lower case"),
        pytest.param("RUNNING", "INACTIVE", NO, id="RUNNING, but INACTIVE"),
        pytest.param("RUNNING", "NEW", NO, id="RUNNING, with another inner status"),
        pytest.param("UNAVAILABLE", "ACTIVE", NO, id="ACTIVE, but UNAVAILABLE"),
        pytest.param("STOPPED", None, NO, id="STOPPED"),
        pytest.param("NEW", None, NO, id="another word"),
        pytest.param(None, None, UNKNOWN, id="nothing is shown"),
        pytest.param(None, "ACTIVE", UNKNOWN, id="the inner status alone"),
        pytest.param(None, "INACTIVE", NO, id="INACTIVE alone"),
    ],
)
def test_server_serves_if_it_is_running_and_active_where_that_is_told(status, inner_status, serves):
    assert database_serves(status, inner_status) is serves


@pytest.mark.parametrize(
    ("whole", "servers", "serves"),
    [
        pytest.param(YES, [YES, YES], YES, id="itself RUNNING, with all its servers"),
        pytest.param(NO, [YES, YES], NO, id="itself not RUNNING"),
        pytest.param(YES, [YES, NO], NO, id="one of its servers does not serve"),
        pytest.param(YES, [YES, UNKNOWN], UNKNOWN, id="one of its servers is not shown"),
        pytest.param(UNKNOWN, [YES, YES], UNKNOWN, id="it does not show its own status"),
        pytest.param(UNKNOWN, [YES, NO], NO, id="it does not show its own status, and a server does not serve"),
        pytest.param(YES, [], UNKNOWN, id="it shows no servers"),
    ],
)
def test_zone_or_cluster_serves_if_it_is_running_with_all_its_servers(whole, servers, serves):
    members = tuple(Member(str(number), "RUNNING", serves=each) for number, each in enumerate(servers))
    assert Observation("RUNNING", members, whole_serves=whole).serves is serves


@pytest.mark.parametrize(
    ("status", "server", "serves"),
    [("RUNNING", "ACTIVE", YES), ("OPERATING", "ACTIVE", NO), (None, "ACTIVE", UNKNOWN), ("RUNNING", "INACTIVE", NO)],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["cluster", "zone"])
def test_own_status_of_a_zone_or_cluster_is_read(kind, status, server, serves, api):
    zone = {"id": 71, "name": "zone1", "status": status if kind == "zone" else "RUNNING"}
    record = {"id": 31, "name": "orders", "status": status if kind == "cluster" else "RUNNING", "zones": [zone]}
    one = {"id": 41, "ip": "10.1.0.1", "port": 2882, "zoneName": "zone1", "status": "RUNNING", "innerStatus": server}
    api.expect("cluster", 31, gives=record).expect("servers", 31, gives=[one])
    target = ORDERS if kind == "cluster" else Zone(71, "zone1", ORDERS, ((41, "10.1.0.1:2882"),), (51,), True)
    assert target.observe(api.double).serves is serves


BOTH = {"ocp_agentd", "pos_proxy"}


@pytest.mark.parametrize(
    ("status", "running", "stopped", "serves"),
    [
        pytest.param("AVAILABLE", BOTH, [], YES, id="ocp_agentd and pos_proxy run"),
        pytest.param(None, BOTH, [], YES, id="the host's agent status is not told"),
        pytest.param("ONLINE", BOTH, [], YES, id="another good status"),
        pytest.param("AVAILABLE", BOTH, ["ob_monitor"], YES, id="another process does not run"),
        pytest.param("AVAILABLE", ["agentd", "proxyd"], [], YES, id="the service's names for them"),
        pytest.param("AVAILABLE", ["ocp_agentd"], ["pos_proxy"], NO, id="pos_proxy does not run"),
        pytest.param("AVAILABLE", ["pos_proxy"], ["ocp_agentd"], NO, id="ocp_agentd does not run"),
        pytest.param("AVAILABLE", ["pos_proxy"], ["OCP-AgentD"], NO, id="another spelling of ocp_agentd does not run"),
        pytest.param("AVAILABLE", [], ["agentd", "proxyd"], NO, id="no process runs"),
        pytest.param("OFFLINE", BOTH, [], NO, id="the agent is OFFLINE"),
        pytest.param("RESTARTING", BOTH, [], NO, id="the agent is RESTARTING"),
        pytest.param("NEW", BOTH, [], UNKNOWN, id="an unknown status"),
        pytest.param("AVAILABLE", [], [], UNKNOWN, id="no process is shown"),
    ],
)
def test_agent_serves_if_its_processes_run_and_its_status_is_good(status, running, stopped, serves):
    assert agent_serves(status, running, stopped) is serves


@pytest.mark.parametrize(
    ("process", "serves", "state"),
    [
        ({"status": "STARTED", "pid": 7}, YES, "10.1.0.1 is AVAILABLE"),
        ({"status": "started", "pid": 7}, YES, "10.1.0.1 is AVAILABLE"),
        ({"pid": 7}, YES, "10.1.0.1 is AVAILABLE"),
        ({"status": "STARTED", "pid": 0}, NO, "10.1.0.1 is AVAILABLE, and pos_proxy does not run"),
        ({"status": "STOPPED", "pid": 7}, NO, "10.1.0.1 is AVAILABLE, and pos_proxy does not run"),
        ({"status": "STARTED"}, NO, "10.1.0.1 is AVAILABLE, and pos_proxy does not run"),
    ],
    ids=repr,
)
def test_agent_process_runs_if_it_is_started_with_a_pid(process, serves, state, api):
    processes = [{"alias": "ocp_agentd", "status": "STARTED", "pid": 6}, {"alias": "pos_proxy", **process}]
    api.expect("hosts", gives=[{"id": 51, "innerIpAddress": "10.1.0.1"}])
    api.expect("host_agent", 51, gives={"status": "AVAILABLE", "processes": processes})
    observed = Agents(((51, "10.1.0.1"),)).observe(api.double)
    assert (observed.serves, observed.members[0].state) == (serves, state)


@pytest.mark.parametrize(
    ("of_agent", "of_host", "status", "serves"),
    [
        ("AVAILABLE", "AVAILABLE", "AVAILABLE", YES),
        ("AVAILABLE", None, "AVAILABLE", YES),
        (None, "AVAILABLE", "AVAILABLE", YES),
        (None, None, None, YES),
        ("AVAILABLE", "OFFLINE", "OFFLINE", NO),
        ("OFFLINE", "AVAILABLE", "OFFLINE", NO),
        ("AVAILABLE", "RESTARTING", "RESTARTING", NO),
        ("AVAILABLE", "REINTSTALLING", "REINTSTALLING", NO),
    ],
    ids=repr,
)
def test_status_that_speaks_against_an_agent_counts(of_agent, of_host, status, serves, api):
    """The record of the host and that of its agent have one each."""
    processes = [{"alias": alias, "pid": 7} for alias in sorted(BOTH)]
    api.expect("hosts", gives=[{"id": 51, "innerIpAddress": "10.1.0.1", "hostAgentStatus": of_host}])
    api.expect("host_agent", 51, gives={"status": of_agent, "processes": processes})
    observed = Agents(((51, "10.1.0.1"),)).observe(api.double)
    assert (observed.status, observed.serves) == (status, serves)
    assert observed.is_in_flight is (status in ("RESTARTING", "REINTSTALLING"))


@pytest.mark.parametrize(
    ("status", "serves"),
    [("RUNNING", YES), ("STOPPED", NO), ("SERVICE_STOPPED", NO), ("RESTARTING", NO), (None, UNKNOWN)],
    ids=repr,
)
def test_arbitration_service_serves_if_it_is_running(status, serves, api):
    api.expect("arbitration_service", 61, gives={"id": 61, "status": status})
    assert ArbitrationService(61, "10.1.0.8:2888").observe(api.double).serves is serves


@pytest.mark.parametrize(
    ("member", "state"),
    [
        (Member("a", "RUNNING", inner_status="INACTIVE"), "a is RUNNING and INACTIVE"),
        (Member("a", "UNAVAILABLE"), "a is UNAVAILABLE"),
        (Member("a", None), "a is in an unknown state"),
        (Member("a", "AVAILABLE", stopped=("x", "y")), "a is AVAILABLE, and x, y does not run"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_state_of_a_member_is_told_in_words(member, state):
    assert member.state == state


def test_trouble_names_what_does_not_serve():
    ill = Member("a", "RUNNING", serves=False, inner_status="INACTIVE")
    well = Member("b", "RUNNING", serves=True)
    assert Observation("OPERATING", (ill, well), whole_serves=False).trouble == "a is RUNNING and INACTIVE"
    assert Observation("OPERATING", (well,), whole_serves=False).trouble == "it is OPERATING"
