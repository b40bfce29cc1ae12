# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Targets: how they are found, observed, shown and restarted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotFound, PermissionDenied, TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, response

NOON = "2026-05-04T12:00:00Z"
ORDERS = {"id": 31, "name": "orders", "status": "RUNNING"}
STARTED = datetime(2026, 5, 4, 3, 2, 1, tzinfo=timezone(timedelta(hours=8)))
SERVERS = [
    {
        "id": 41,
        "ip": "10.1.0.1",
        "port": 2882,
        "hostId": 51,
        "zoneName": "zone1",
        "status": "RUNNING",
        "startTime": "2026-05-04T03:02:01+08:00",
    },
    {"id": 42, "ip": "10.1.0.2", "port": 2882, "hostId": 52, "status": "STOPPED", "startTime": None},
]
HOSTS = [{"id": 51, "innerIpAddress": "10.1.0.1"}, {"id": 52, "innerIpAddress": "10.1.0.2"}, {"id": 53}]
SERVICES = [
    {"id": 61, "svrIp": "10.1.0.8", "svrPort": 2888, "status": "RUNNING"},
    {"id": 62, "svrIp": "10.1.0.9", "svrPort": 2888, "status": "STOPPED"},
]
CLUSTER = Cluster(31, "orders")
SERVER = Server(41, "10.1.0.1:2882", CLUSTER, 51, "zone1", True, True, False)
AGENTS = Agents(((51, "10.1.0.1"), (52, "10.1.0.2")))
ARBITRATION = ArbitrationService(61, "10.1.0.8:2888")
FORCED = replace(SERVER, freeze_server=False, force=True)
EVERYONE = frozenset({"10.1.0.1", "10.1.0.2", "10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.8:2888"})


def find_server(api, cluster, server):
    return Server.find(api.double, cluster, server, freeze_server=True, force=False)


def not_found():
    return NotFound("no", status=404, reason="", url=URL, trace_id="trace-404")


def message_of(find, *args) -> str:
    with pytest.raises(TargetError) as raised:
        find(*args)
    return str(raised.value)


class TestCluster:
    def test_id_finds_the_cluster(self, api):
        api.expect("cluster", 31, gives=ORDERS)
        api.expect("servers", 31, gives=[])
        assert Cluster.find(api.double, "31") == CLUSTER

    def test_exact_name_finds_the_cluster(self, api):
        # The filter of the service matches parts of names.
        api.expect("clusters", "orders", gives=[{"id": 30, "name": "orders-old"}, ORDERS, {"id": 32, "name": "Orders"}])
        api.expect("servers", 31, gives=[])
        assert Cluster.find(api.double, "orders") == CLUSTER

    def test_numeric_name_finds_the_cluster(self, api):
        api.expect("cluster", 2026, gives=not_found())
        api.expect("clusters", "2026", gives=[{"id": 30, "name": "orders-2026"}, {"id": 32, "name": "2026"}])
        api.expect("servers", 32, gives=[])
        assert Cluster.find(api.double, "2026") == Cluster(32, "2026")

    @pytest.mark.parametrize(
        ("found", "hint"),
        [
            pytest.param([], "", id="nothing"),
            pytest.param(["orders-31"], "; to choose from: orders-31", id="one alike"),
            pytest.param(["Orders", "orders-31"], "; to choose from: Orders, orders-31", id="several alike"),
            pytest.param(
                [f"c{n}" for n in range(12)],
                f"; to choose from: {', '.join(f'c{n}' for n in range(10))} and 2 more",
                id="many alike",
            ),
        ],
    )
    @pytest.mark.parametrize("cluster", ["31", "orders"])
    def test_unknown_name_or_id_is_refused_with_choices(self, cluster, found, hint, api):
        if cluster == "31":
            api.expect("cluster", 31, gives=not_found())
        api.expect("clusters", cluster, gives=[{"id": 70 + n, "name": name} for n, name in enumerate(found)])
        api.expect("clusters", gives=[])
        with pytest.raises(TargetError) as raised:
            Cluster.find(api.double, cluster)
        assert str(raised.value).startswith(f"cluster: {cluster} matches nothing{hint}. ")
        assert str(raised.value).endswith("Check the name or id.")
        assert raised.value.facts == {}

    def test_misspelt_name_is_refused_with_all_choices_and_the_nearest(self, api):
        api.expect("clusters", "ordrs", gives=[])
        api.expect("clusters", gives=[{"id": 1, "name": "payments"}, {"id": 2, "name": "orders"}])
        assert message_of(Cluster.find, api.double, "ordrs") == (
            "cluster: ordrs matches nothing; to choose from: payments, orders. Did you mean orders? "
            "Check the name or id."
        )

    def test_all_clusters_are_choices_though_the_service_finds_one_alike(self, api):
        every = [{"id": 1, "name": "payments"}, {"id": 2, "name": "orders"}]
        api.expect("clusters", "order", gives=[every[1]])
        api.expect("clusters", gives=every)
        assert message_of(Cluster.find, api.double, "order") == (
            "cluster: order matches nothing; to choose from: orders, payments. Did you mean orders? "
            "Check the name or id."
        )

    @pytest.mark.parametrize("record", [{"name": "orders"}, {"name": "orders", "id": None}], ids=repr)
    def test_record_without_an_id_is_refused(self, record, api):
        api.expect("clusters", "orders", gives=[record])
        assert message_of(Cluster.find, api.double, "orders") == (
            "cluster: the service shows no id of orders. Check the version of the OCP."
        )

    def test_ambiguous_cluster_name_is_refused_with_the_ids(self, api):
        api.expect("clusters", "orders", gives=[ORDERS, {"id": 39, "name": "orders"}])
        message = message_of(Cluster.find, api.double, "orders")
        assert message == "cluster: orders is the name of 2; give one of the ids 31, 39 instead."

    @pytest.mark.parametrize("cluster", ["31", "orders"])
    def test_other_errors_propagate(self, cluster, api):
        error = PermissionDenied("no", status=403, reason="", url=URL)
        if cluster == "31":
            api.expect("cluster", 31, gives=error)
        else:
            api.expect("clusters", cluster, gives=error)
        with pytest.raises(PermissionDenied) as raised:
            Cluster.find(api.double, cluster)
        assert raised.value is error

    def test_observation_has_status_and_members(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=SERVERS)
        assert CLUSTER.observe(api.double).result() == {
            "status": "RUNNING",
            "members": [
                {
                    "name": "10.1.0.1:2882",
                    "status": "RUNNING",
                    "start_time": "2026-05-04T03:02:01+08:00",
                    "pids": None,
                },
                {"name": "10.1.0.2:2882", "status": "STOPPED", "start_time": None, "pids": None},
            ],
        }


class TestServer:
    @pytest.mark.parametrize("server", ["41", "10.1.0.1:2882"])
    @pytest.mark.parametrize("cluster", ["31", "orders"])
    def test_name_or_id_finds_the_target(self, cluster, server, api):
        if cluster == "31":
            api.expect("cluster", 31, gives=ORDERS)
        else:
            api.expect("clusters", "orders", gives=[ORDERS])
        api.expect("servers", 31, gives=SERVERS)
        assert find_server(api, cluster, server) == SERVER

    @pytest.mark.parametrize("server", ["43", "10.1.0.1", "10.1.0.1:2881", "0.1.0.1:2882", "4", "041"])
    def test_unknown_name_or_id_is_refused_with_choices(self, server, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=SERVERS)
        message = message_of(find_server, api, "31", server)
        assert message.startswith(f"server: {server} matches nothing in cluster orders (id 31)")
        assert "10.1.0.1:2882, 10.1.0.2:2882." in message

    def test_missing_port_is_said_with_the_address(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=SERVERS)
        message = message_of(find_server, api, "31", "10.1.0.1")
        assert message.endswith("The port is missing: give 10.1.0.1:2882.")

    def test_missing_port_of_ipv6_and_of_two_servers_on_a_host_is_said(self, api):
        servers = [{"id": n, "ip": "2001:db8::1", "port": port} for n, port in ((41, 2882), (42, 2982))]
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=servers)
        message = message_of(find_server, api, "31", "2001:db8::1")
        assert message.endswith("The port is missing: give [2001:db8::1]:2882 or [2001:db8::1]:2982.")

    def test_cluster_without_servers_matches_no_server(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=[])
        assert message_of(find_server, api, "31", "41") == (
            "server: 41 matches nothing in cluster orders (id 31). Check the name or id."
        )

    def test_ambiguous_name_is_refused_with_the_ids(self, api):
        twin = {**SERVERS[0], "id": 49}
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=[*SERVERS, twin])
        assert message_of(find_server, api, "31", "10.1.0.1:2882") == (
            "server: 10.1.0.1:2882 is the name of 2 in cluster orders (id 31); give one of the ids 41, 49 instead."
        )

    def test_only_the_first_ten_choices_are_named(self, api):
        many = [{"id": n, "ip": f"10.2.0.{n}", "port": 2882} for n in range(1, 31)]
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=many)
        message = message_of(find_server, api, "31", "99")
        assert "10.2.0.10:2882 and 20 more." in message
        assert "10.2.0.11" not in message

    def test_observation_has_status_and_members(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=SERVERS[::-1])
        expected = Member("10.1.0.1:2882", "RUNNING", "2026-05-04T03:02:01+08:00", None, STARTED, serves=True)
        assert SERVER.observe(api.double) == Observation("RUNNING", (expected,))

    @pytest.mark.parametrize("start_time", ["", "yesterday", "2026-05-04T03:02:01", 1777834921], ids=repr)
    def test_invalid_start_time_is_ignored(self, start_time, api):
        api.expect("cluster", 31, gives=ORDERS)
        api.expect("servers", 31, gives=[{**SERVERS[0], "startTime": start_time}])
        expected = Member("10.1.0.1:2882", "RUNNING", serves=True)
        assert SERVER.observe(api.double) == Observation("RUNNING", (expected,))

    @pytest.mark.parametrize(
        ("hosts", "alone"),
        [((51, 52), True), ((51, 51), False), ((None, 52), True), ((None, None), False), ((51, None), True)],
        ids=repr,
    )
    def test_server_alone_on_its_host_is_recognized(self, hosts, alone, api):
        found = [{**server, "hostId": host} for server, host in zip(SERVERS, hosts, strict=True)]
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=found)
        assert find_server(api, "31", "41") == replace(SERVER, host_id=hosts[0], alone=alone)

    def test_missing_server_is_observed_as_gone(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=SERVERS[1:])
        expected = Observation(None, (Member("10.1.0.1:2882", None, None, None),), is_there=False)
        assert SERVER.observe(api.double) == expected


class TestAgents:
    @pytest.mark.parametrize(
        "hosts",
        [["51", "52"], ["10.1.0.1", "10.1.0.2"], ["51", "10.1.0.2"], ["51", "10.1.0.1", "52", "51"]],
        ids=["ids", "addresses", "mixed", "duplicates"],
    )
    def test_name_or_id_finds_the_target(self, hosts, api):
        api.expect("hosts", gives=HOSTS)
        assert Agents.find(api.double, hosts) == AGENTS

    def test_agents_keep_the_requested_order(self, api):
        api.expect("hosts", gives=HOSTS)
        assert Agents.find(api.double, ["52", "51", "52"]).hosts == ((52, "10.1.0.2"), (51, "10.1.0.1"))

    @pytest.mark.parametrize("host", ["54", "10.1.0.3", "10.1.0", "5", "None"])
    def test_unknown_name_or_id_is_refused_with_choices(self, host, api):
        api.expect("hosts", gives=HOSTS[:2])
        message = message_of(Agents.find, api.double, ["51", host])
        assert message.startswith(f"hosts: {host} matches nothing")
        assert "10.1.0.1, 10.1.0.2." in message

    def test_ambiguous_name_is_refused_with_the_ids(self, api):
        api.expect("hosts", gives=[*HOSTS, {"id": 59, "innerIpAddress": "10.1.0.1"}])
        assert message_of(Agents.find, api.double, ["10.1.0.1"]) == (
            "hosts: 10.1.0.1 is the name of 2; give one of the ids 51, 59 instead."
        )

    def test_observation_has_status_and_members(self, api):
        processes = [
            {"alias": "ocp_agentd", "pid": 7},
            {"alias": "pos_proxy", "pid": 8},
            {"alias": "gone", "pid": None},
        ]
        api.expect("hosts", gives=HOSTS)
        api.expect("host_agent", 51, gives={"status": "AVAILABLE", "processes": processes})
        api.expect("host_agent", 52, gives={"status": "AVAILABLE"})
        assert AGENTS.observe(api.double).result() == {
            "status": "AVAILABLE",
            "members": [
                {
                    "name": "10.1.0.1",
                    "status": "AVAILABLE",
                    "start_time": None,
                    "pids": {"ocp_agentd": 7, "pos_proxy": 8},
                },
                {"name": "10.1.0.2", "status": "AVAILABLE", "start_time": None, "pids": None},
            ],
        }

    @pytest.mark.parametrize("processes", [None, {"agentd": 1}, ["agentd"], 5, [{}], [{"pid": "seven"}]], ids=repr)
    def test_malformed_processes_are_ignored(self, processes, api):
        api.expect("hosts", gives=HOSTS)
        api.expect("host_agent", 51, gives={"status": "AVAILABLE", "processes": processes})
        expected = Observation("AVAILABLE", (Member("10.1.0.1", "AVAILABLE", None, None),))
        assert Agents(((51, "10.1.0.1"),)).observe(api.double) == expected

    def test_stopped_process_does_not_count(self, api):
        """As documented: a process that is stopped keeps its record, with the pid 0 and an old time."""
        cleaner = {"alias": "ob_cleaner", "status": "STOPPED", "pid": 0, "elapsedTime": 0}
        runs = {"alias": "ocp_agentd", "status": "STARTED", "pid": 7, "elapsedTime": 60}
        processes = [
            {**cleaner, "lastActiveTime": "2026-05-01T09:00:00+08:00"},
            {**runs, "lastActiveTime": "2026-05-04T12:00:00+00:00"},
        ]
        api.expect("hosts", gives=HOSTS)
        api.expect("host_agent", 51, gives={"status": "AVAILABLE", "processes": processes})
        [member] = Agents(((51, "10.1.0.1"),)).observe(api.double).members
        assert member.pids == {"ocp_agentd": 7}
        assert member.started == datetime(2026, 5, 4, 11, 58, 59, tzinfo=UTC)

    def test_ipv6_address_finds_the_host(self, api):
        api.expect("hosts", gives=[*HOSTS, {"id": 54, "innerIpAddress": "fd00::1"}])
        assert Agents.find(api.double, ["fd00::1"]) == Agents(((54, "fd00::1"),))

    def test_agents_have_a_status_only_when_all_share_it(self, api):
        api.expect("hosts", gives=HOSTS).expect("host_agent", 51, gives={"status": "AVAILABLE"})
        api.expect("host_agent", 52, gives={"status": "OFFLINE"})
        observed = AGENTS.observe(api.double)
        assert observed.status is None
        assert [member.status for member in observed.members] == ["AVAILABLE", "OFFLINE"]


class TestArbitrationService:
    @pytest.mark.parametrize("name", ["61", "10.1.0.8:2888"])
    def test_name_or_id_finds_the_target(self, name, api):
        api.expect("arbitration_services", gives=SERVICES)
        assert ArbitrationService.find(api.double, name) == ARBITRATION

    @pytest.mark.parametrize("name", ["63", "10.1.0.8", "10.1.0.8:2889"])
    def test_unknown_name_or_id_is_refused_with_choices(self, name, api):
        api.expect("arbitration_services", gives=SERVICES)
        message = message_of(ArbitrationService.find, api.double, name)
        assert message.startswith(f"arbitration_service: {name} matches nothing")
        assert "10.1.0.8:2888, 10.1.0.9:2888." in message

    def test_ambiguous_name_is_refused_with_the_ids(self, api):
        api.expect("arbitration_services", gives=[*SERVICES, {**SERVICES[0], "id": 69}])
        message = message_of(ArbitrationService.find, api.double, "10.1.0.8:2888")
        assert message == "arbitration_service: 10.1.0.8:2888 is the name of 2; give one of the ids 61, 69 instead."

    def test_observation_has_status_and_members(self, api):
        api.expect("arbitration_service", 61, gives=SERVICES[0])
        expected = Observation("RUNNING", (Member("10.1.0.8:2888", "RUNNING", serves=True),))
        assert ARBITRATION.observe(api.double) == expected


class TestIPv6:
    """An IPv6 address with a port is in brackets, as in a URL."""

    SERVERS = ({**SERVERS[0], "ip": "::1"}, {**SERVERS[1], "ip": "fd00::2"})
    SERVICES = ({**SERVICES[0], "svrIp": "::1"}, {**SERVICES[1], "svrIp": "fd00::2"})

    def test_bracketed_address_finds_the_server(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=list(self.SERVERS))
        found = find_server(api, "31", "[::1]:2882")
        assert found.label == "server [::1]:2882 (id 41) of cluster orders (id 31)"
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=list(self.SERVERS))
        assert [member.name for member in found.observe(api.double).members] == ["[::1]:2882"]

    @pytest.mark.parametrize("server", ["::1:2882", "::1", "[::1]", "[::1]:2881"])
    def test_unbracketed_or_partial_address_matches_no_server(self, server, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=list(self.SERVERS))
        message = message_of(find_server, api, "31", server)
        assert message.startswith(f"server: {server} matches nothing in cluster orders (id 31)")
        assert "[::1]:2882, [fd00::2]:2882." in message

    def test_cluster_members_have_bracketed_names(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=list(self.SERVERS))
        names = [member.name for member in CLUSTER.observe(api.double).members]
        assert names == ["[::1]:2882", "[fd00::2]:2882"]

    def test_bracketed_address_finds_the_arbitration_service(self, api):
        api.expect("arbitration_services", gives=list(self.SERVICES))
        found = ArbitrationService.find(api.double, "[::1]:2888")
        assert found == ArbitrationService(61, "[::1]:2888")
        assert found.label == "arbitration service [::1]:2888 (id 61)"


@pytest.mark.parametrize(
    ("target", "label", "result"),
    [
        (CLUSTER, "cluster orders (id 31)", {"kind": "cluster", "id": 31, "name": "orders"}),
        (
            SERVER,
            "server 10.1.0.1:2882 (id 41) of cluster orders (id 31)",
            {"kind": "server", "id": 41, "name": "10.1.0.1:2882", "cluster_id": 31, "cluster_name": "orders"},
        ),
        (
            AGENTS,
            "the agents of 2 hosts (10.1.0.1, 10.1.0.2)",
            {"kind": "agents", "hosts": [{"id": 51, "name": "10.1.0.1"}, {"id": 52, "name": "10.1.0.2"}]},
        ),
        (
            Agents(((51, "10.1.0.1"),)),
            "the agents of 1 host (10.1.0.1)",
            {"kind": "agents", "hosts": [{"id": 51, "name": "10.1.0.1"}]},
        ),
        (
            ARBITRATION,
            "arbitration service 10.1.0.8:2888 (id 61)",
            {"kind": "arbitration_service", "id": 61, "name": "10.1.0.8:2888"},
        ),
    ],
    ids=["cluster", "server", "agents", "one agent", "arbitration service"],
)
def test_target_has_a_label_and_a_result(target, label, result):
    assert target.label == label
    assert target.result() == result


@pytest.mark.parametrize(
    ("target", "call", "args", "flags"),
    [
        (CLUSTER, "restart_cluster", (31,), {}),
        (SERVER, "restart_server", (31, 41), {"freeze_server": True, "force": False}),
        (FORCED, "restart_server", (31, 41), {"freeze_server": False, "force": True}),
        (AGENTS, "restart_agents", ([51, 52],), {}),
        (ARBITRATION, "restart_arbitration_service", (61,), {}),
    ],
    ids=["cluster", "server", "forced server", "agents", "arbitration service"],
)
def test_target_restart_calls_its_endpoint(target, call, args, flags, api):
    started = response({"id": 1})
    api.expect(call, *args, **flags, gives=started)
    assert target.restart(api.double, EVERYONE) is started


@pytest.mark.parametrize(
    ("members", "sent", "skipped"),
    [
        (["10.1.0.1", "10.1.0.2"], [51, 52], []),
        (["10.1.0.2"], [52], [{"id": 51, "name": "10.1.0.1"}]),
        (["10.1.0.1"], [51], [{"id": 52, "name": "10.1.0.2"}]),
    ],
)
def test_only_the_given_agents_are_restarted(members, sent, skipped, api):
    api.expect("restart_agents", sent, gives=response({"id": 1}))
    AGENTS.restart(api.double, frozenset(members))
    assert AGENTS.unchanged_facts(frozenset(members)) == {"skipped_hosts": skipped}


@pytest.mark.parametrize("target", [CLUSTER, SERVER], ids=["cluster", "server"])
def test_databases_are_restarted_as_a_whole(target, api):
    call, args = ("restart_cluster", (31,)) if target is CLUSTER else ("restart_server", (31, 41))
    flags = {} if target is CLUSTER else {"freeze_server": True, "force": False}
    api.expect(call, *args, **flags, gives=response({"id": 1}))
    target.restart(api.double, frozenset())
    assert target.unchanged_facts(frozenset()) == {}


@pytest.mark.parametrize("target", [CLUSTER, SERVER, ARBITRATION, AGENTS], ids=repr)
def test_skipped_hosts_are_null_before_the_decision(target):
    assert target.unchanged_facts(None) == ({"skipped_hosts": None} if target is AGENTS else {})


# Start times, and running tasks


@pytest.mark.parametrize(
    ("processes", "seconds"),
    [
        pytest.param([(NOON, 60)], 61, id="cut off to the second, so a second earlier"),
        pytest.param([(NOON, 60), (NOON, 90)], 91, id="the oldest process counts"),
        pytest.param([(NOON, 0)], 1, id="just now"),
        pytest.param([(NOON, 60), (NOON, None)], None, id="one does not tell its age"),
        pytest.param([(NOON, 60), (None, 60)], None, id="one does not tell when it was seen"),
        pytest.param([(NOON, "old")], None, id="age of no form"),
        pytest.param([("noon", 60)], None, id="time of no form"),
        pytest.param([("0001-01-01T00:00:00+08:00", 60)], None, id="before the calendar begins"),
        pytest.param([(NOON, 10**12)], None, id="an age beyond the calendar"),
        pytest.param([(NOON, 10**20)], None, id="an age beyond all numbers"),
        pytest.param([], None, id="no processes"),
    ],
)
def test_agent_start_comes_from_its_oldest_process(processes, seconds, api):
    records = [
        {"alias": f"p{n}", "pid": n, "lastActiveTime": active, "elapsedTime": elapsed}
        for n, (active, elapsed) in enumerate(processes, 1)
    ]
    api.expect("hosts", gives=HOSTS)
    api.expect("host_agent", 51, gives={"status": "AVAILABLE", "processes": records})
    [member] = Agents(((51, "10.1.0.1"),)).observe(api.double).members
    expected = None if seconds is None else datetime(2026, 5, 4, 12, tzinfo=UTC) - timedelta(seconds=seconds)
    assert member.started == expected
    assert member.start_time is None


def test_stopped_process_does_not_hide_the_start_of_an_agent(api):
    running = {"alias": "agentd", "pid": 7, "lastActiveTime": NOON, "elapsedTime": 60}
    api.expect("hosts", gives=HOSTS)
    api.expect("host_agent", 51, gives={"processes": [running, {"alias": "gone", "pid": None}]})
    assert Agents(((51, "10.1.0.1"),)).observe(api.double).members[0].started is not None


@pytest.mark.parametrize(
    ("of_cluster", "of_servers", "operations"),
    [
        (None, (None, None), []),
        (90, (90, 90), [90]),
        (None, (80, None), [80]),
        (80, (91, 85), [91, 85, 80]),
        ("x", (True, None), []),
        ("90", (None, None), [90]),
    ],
    ids=repr,
)
def test_cluster_operations_are_listed_newest_first(of_cluster, of_servers, operations, api):
    found = [{**s, "operatingTaskInstanceId": n} for s, n in zip(SERVERS, of_servers, strict=True)]
    api.expect("cluster", 31, gives={**ORDERS, "operatingTaskInstanceId": of_cluster})
    api.expect("servers", 31, gives=found)
    assert CLUSTER.observe(api.double).operations == operations


@pytest.mark.parametrize(
    ("of_cluster", "of_zone", "of_server", "told"),
    [
        (None, None, None, True),
        (90, 90, 90, True),
        (None, None, 90, True),
        (90, None, None, False),
        (None, 90, None, False),
        (91, None, 90, False),
    ],
    ids=repr,
)
def test_task_named_only_by_cluster_or_zone_needs_the_task_list(of_cluster, of_zone, of_server, told, api):
    zone = {"id": 71, "name": "zone1", "operatingTaskInstanceId": of_zone}
    record = {**ORDERS, "operatingTaskInstanceId": of_cluster, "zones": [zone]}
    found = [{**SERVERS[0], "zoneName": "zone1", "operatingTaskInstanceId": of_server}, SERVERS[1]]
    api.expect("cluster", 31, gives=record).expect("servers", 31, gives=found)
    assert find_server(api, "31", "41").first_observation.names_operations is told


def test_arbitration_service_names_its_task(api):
    api.expect("arbitration_service", 61, gives={**SERVICES[0], "operatingTaskInstanceId": 90})
    assert ARBITRATION.observe(api.double).operations == [90]


def test_task_of_another_server_is_ignored(api):
    found = [SERVERS[0], {**SERVERS[1], "operatingTaskInstanceId": 90}]
    api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=found)
    observed = SERVER.observe(api.double)
    assert (observed.operations, observed.names_operations) == ([], True)


# Servers in the record of a cluster


def with_servers(*servers, count=None):
    zones = [{"name": "zone1", "servers": list(servers[:1])}, {"name": "zone2", "servers": list(servers[1:])}]
    return {**ORDERS, "zones": zones, "serverCount": len(servers) if count is None else count}


def test_cluster_record_with_servers_is_read_once(api):
    api.expect("cluster", 31, gives=with_servers(*SERVERS)).expect("cluster", 31, gives=with_servers(*SERVERS))
    found = Cluster.find(api.double, "31")
    assert [member.name for member in found.first_observation.members] == ["10.1.0.1:2882", "10.1.0.2:2882"]
    assert found.observe(api.double) == found.first_observation


def test_server_in_the_cluster_record_takes_one_read(api):
    api.expect("cluster", 31, gives=with_servers(*SERVERS))
    found = find_server(api, "31", "10.1.0.1:2882")
    assert found == SERVER
    expected = Member("10.1.0.1:2882", "RUNNING", SERVERS[0]["startTime"], None, STARTED, serves=True)
    assert found.first_observation == Observation("RUNNING", (expected,))


@pytest.mark.parametrize(
    "record", [ORDERS, with_servers(), with_servers(*SERVERS, count=3)], ids=["none", "empty", "few"]
)
def test_servers_missing_from_the_cluster_record_are_read(record, api):
    api.expect("cluster", 31, gives=record).expect("servers", 31, gives=SERVERS)
    assert find_server(api, "31", "41") == SERVER


@pytest.mark.parametrize("count", [2, 3], ids=["not counted", "counted"])
@pytest.mark.parametrize("in_record", [True, False])
def test_record_of_a_deleted_server_beside_its_successor_is_none(in_record, count, api):
    deleted = {**SERVERS[0], "id": 40, "status": "DELETED", "innerStatus": "INACTIVE"}
    shown = [deleted, *SERVERS]
    api.expect("cluster", 31, gives=with_servers(*shown, count=count) if in_record else ORDERS)
    if not in_record:
        api.expect("servers", 31, gives=shown)
    assert find_server(api, "31", "10.1.0.1:2882") == SERVER


@pytest.mark.parametrize(
    ("others", "tells"),
    [({}, False), ({"operatingTaskInstanceId": None}, True), ({"operatingTaskInstanceId": 90}, True)],
)
def test_service_that_names_one_task_names_all(others, tells, api):
    servers = [SERVERS[0], {**SERVERS[1], **others}]
    api.expect("cluster", 31, gives=with_servers(*servers))
    found = find_server(api, "31", "41").first_observation
    assert (found.names_operations, found.operations) == (tells, [])
