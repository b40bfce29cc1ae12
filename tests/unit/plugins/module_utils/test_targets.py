# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""From a name or id to a target; how it is observed, shown and restarted."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._errors import (
    NotFound,
    OptionError,
    PermissionDenied,
    TargetError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets import (
    Agents,
    ArbitrationService,
    Cluster,
    Member,
    Observation,
    Server,
)
from ansible_collections.oceanbase.ocp.tests.unit.plugins.module_utils._doubles import URL, answer

ORDERS = {"id": 31, "name": "orders", "status": "RUNNING"}
SERVERS = [
    {"id": 41, "ip": "10.1.0.1", "port": 2882, "status": "RUNNING", "startTime": "2026-05-04T03:02:01+08:00"},
    {"id": 42, "ip": "10.1.0.2", "port": 2882, "status": "STOPPED", "startTime": None},
]
HOSTS = [{"id": 51, "innerIpAddress": "10.1.0.1"}, {"id": 52, "innerIpAddress": "10.1.0.2"}, {"id": 53}]
SERVICES = [
    {"id": 61, "svrIp": "10.1.0.8", "svrPort": 2888, "status": "RUNNING"},
    {"id": 62, "svrIp": "10.1.0.9", "svrPort": 2888, "status": "STOPPED"},
]
CLUSTER = Cluster(31, "orders")
SERVER = Server(41, "10.1.0.1:2882", CLUSTER, True, False)
AGENTS = Agents(((51, "10.1.0.1"), (52, "10.1.0.2")))
ARBITRATION = ArbitrationService(61, "10.1.0.8:2888")


def find_server(api, cluster, server):
    return Server.find(api.double, cluster, server, freeze_server=True, force=False)


def not_found():
    return NotFound("no", status=404, reason="", url=URL, trace_id="trace-404")


def message_of(find, *args) -> str:
    with pytest.raises(TargetError) as raised:
        find(*args)
    return str(raised.value)


class TestCluster:
    def test_by_id(self, api):
        api.expect("cluster", 31, gives=ORDERS)
        assert Cluster.find(api.double, "31") == CLUSTER

    def test_by_name(self, api):
        # The service's filter is fuzzy.
        api.expect("clusters", "orders", gives=[{"id": 30, "name": "orders-old"}, ORDERS, {"id": 32, "name": "Orders"}])
        assert Cluster.find(api.double, "orders") == CLUSTER

    def test_unknown_id(self, api):
        api.expect("cluster", 31, gives=not_found())
        with pytest.raises(TargetError) as raised:
            Cluster.find(api.double, "31")
        assert str(raised.value) == "cluster: 31 matches nothing. Trace id trace-404. Check the name or id."
        assert raised.value.facts == {"trace_id": "trace-404"}

    @pytest.mark.parametrize("found", [[], [{"id": 30, "name": "orders-old"}], [{"id": 30}]], ids=repr)
    def test_unknown_name(self, found, api):
        api.expect("clusters", "orders", gives=found)
        message = message_of(Cluster.find, api.double, "orders")
        assert message.startswith("cluster: orders matches nothing")
        assert message.endswith("Check the name or id.")

    def test_name_of_several(self, api):
        api.expect("clusters", "orders", gives=[ORDERS, {"id": 39, "name": "orders"}])
        message = message_of(Cluster.find, api.double, "orders")
        assert message == "cluster: orders is the name of 2; give one of the ids 31, 39 instead."

    @pytest.mark.parametrize("cluster", ["31", "orders"])
    def test_other_errors_go_through(self, cluster, api):
        error = PermissionDenied("no", status=403, reason="", url=URL)
        if cluster == "31":
            api.expect("cluster", 31, gives=error)
        else:
            api.expect("clusters", cluster, gives=error)
        with pytest.raises(PermissionDenied) as raised:
            Cluster.find(api.double, cluster)
        assert raised.value is error

    def test_observed(self, api):
        api.expect("servers", 31, gives=SERVERS).expect("cluster", 31, gives=ORDERS)
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
    def test_found(self, cluster, server, api):
        if cluster == "31":
            api.expect("cluster", 31, gives=ORDERS)
        else:
            api.expect("clusters", "orders", gives=[ORDERS])
        api.expect("servers", 31, gives=SERVERS)
        assert find_server(api, cluster, server) == SERVER

    @pytest.mark.parametrize("server", ["43", "10.1.0.1", "10.1.0.1:2881", "0.1.0.1:2882", "4", "041"])
    def test_nothing(self, server, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=SERVERS)
        message = message_of(find_server, api, "31", server)
        assert message.startswith(f"server: {server} matches nothing in cluster orders (id 31)")
        assert "10.1.0.1:2882, 10.1.0.2:2882." in message

    def test_cluster_without_servers(self, api):
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=[])
        assert message_of(find_server, api, "31", "41") == (
            "server: 41 matches nothing in cluster orders (id 31). Check the name or id."
        )

    def test_several(self, api):
        twin = {**SERVERS[0], "id": 49}
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=[*SERVERS, twin])
        assert message_of(find_server, api, "31", "10.1.0.1:2882") == (
            "server: 10.1.0.1:2882 is the name of 2 in cluster orders (id 31); give one of the ids 41, 49 instead."
        )

    def test_only_so_many_are_named(self, api):
        many = [{"id": n, "ip": f"10.2.0.{n}", "port": 2882} for n in range(1, 31)]
        api.expect("cluster", 31, gives=ORDERS).expect("servers", 31, gives=many)
        message = message_of(find_server, api, "31", "99")
        assert "10.2.0.10:2882 and 20 more." in message
        assert "10.2.0.11" not in message

    def test_observed(self, api):
        api.expect("servers", 31, gives=SERVERS[::-1])
        expected = Member("10.1.0.1:2882", "RUNNING", "2026-05-04T03:02:01+08:00", None)
        assert SERVER.observe(api.double) == Observation("RUNNING", (expected,))

    def test_observed_after_it_has_gone(self, api):
        api.expect("servers", 31, gives=SERVERS[1:])
        assert SERVER.observe(api.double) == Observation(None, (Member("10.1.0.1:2882", None, None, None),))


class TestAgents:
    @pytest.mark.parametrize(
        "hosts",
        [["51", "52"], ["10.1.0.1", "10.1.0.2"], ["51", "10.1.0.2"], ["51", "10.1.0.1", "52", "51"]],
        ids=["ids", "addresses", "mixed", "duplicates"],
    )
    def test_found(self, hosts, api):
        api.expect("hosts", gives=HOSTS)
        assert Agents.find(api.double, hosts) == AGENTS

    def test_order_asked_for(self, api):
        api.expect("hosts", gives=HOSTS)
        assert Agents.find(api.double, ["52", "51", "52"]).hosts == ((52, "10.1.0.2"), (51, "10.1.0.1"))

    @pytest.mark.parametrize("hosts", [[], [""], ["51", ""]], ids=repr)
    def test_empty(self, hosts, api):
        with pytest.raises(OptionError, match=r"^hosts: the list is empty or has an empty entry"):
            Agents.find(api.double, hosts)

    @pytest.mark.parametrize("host", ["54", "10.1.0.3", "10.1.0", "5", "None"])
    def test_nothing(self, host, api):
        api.expect("hosts", gives=HOSTS[:2])
        message = message_of(Agents.find, api.double, ["51", host])
        assert message.startswith(f"host: {host} matches nothing")
        assert "10.1.0.1, 10.1.0.2." in message

    def test_several(self, api):
        api.expect("hosts", gives=[*HOSTS, {"id": 59, "innerIpAddress": "10.1.0.1"}])
        assert message_of(Agents.find, api.double, ["10.1.0.1"]) == (
            "host: 10.1.0.1 is the name of 2; give one of the ids 51, 59 instead."
        )

    def test_observed(self, api):
        processes = [
            {"alias": "ocp_agentd", "pid": 7},
            {"alias": "pos_proxy", "pid": 8},
            {"alias": "gone", "pid": None},
        ]
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

    def test_status_only_when_it_is_shared(self, api):
        api.expect("host_agent", 51, gives={"status": "AVAILABLE"}).expect(
            "host_agent", 52, gives={"status": "OFFLINE"}
        )
        observed = AGENTS.observe(api.double)
        assert observed.status is None
        assert [member.status for member in observed.members] == ["AVAILABLE", "OFFLINE"]


class TestArbitrationService:
    @pytest.mark.parametrize("name", ["61", "10.1.0.8:2888"])
    def test_found(self, name, api):
        api.expect("arbitration_services", gives=SERVICES)
        assert ArbitrationService.find(api.double, name) == ARBITRATION

    @pytest.mark.parametrize("name", ["63", "10.1.0.8", "10.1.0.8:2889"])
    def test_nothing(self, name, api):
        api.expect("arbitration_services", gives=SERVICES)
        message = message_of(ArbitrationService.find, api.double, name)
        assert message.startswith(f"arbitration_service: {name} matches nothing")
        assert "10.1.0.8:2888, 10.1.0.9:2888." in message

    def test_several(self, api):
        api.expect("arbitration_services", gives=[*SERVICES, {**SERVICES[0], "id": 69}])
        message = message_of(ArbitrationService.find, api.double, "10.1.0.8:2888")
        assert message == "arbitration_service: 10.1.0.8:2888 is the name of 2; give one of the ids 61, 69 instead."

    def test_observed(self, api):
        api.expect("arbitration_service", 61, gives=SERVICES[0])
        expected = Observation("RUNNING", (Member("10.1.0.8:2888", "RUNNING", None, None),))
        assert ARBITRATION.observe(api.double) == expected


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
            "the agents of 2 hosts: 10.1.0.1, 10.1.0.2",
            {"kind": "agents", "hosts": [{"id": 51, "name": "10.1.0.1"}, {"id": 52, "name": "10.1.0.2"}]},
        ),
        (
            Agents(((51, "10.1.0.1"),)),
            "the agents of 1 host: 10.1.0.1",
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
def test_how_it_is_shown(target, label, result):
    assert target.label == label
    assert target.result() == result


@pytest.mark.parametrize(
    ("target", "call", "args", "flags"),
    [
        (CLUSTER, "restart_cluster", (31,), {}),
        (SERVER, "restart_server", (31, 41), {"freeze_server": True, "force": False}),
        (Server(41, "a:1", CLUSTER, False, True), "restart_server", (31, 41), {"freeze_server": False, "force": True}),
        (AGENTS, "restart_agents", ([51, 52],), {}),
        (ARBITRATION, "restart_arbitration_service", (61,), {}),
    ],
    ids=["cluster", "server", "forced server", "agents", "arbitration service"],
)
def test_how_it_is_restarted(target, call, args, flags, api):
    started = answer({"id": 1})
    api.expect(call, *args, **flags, gives=started)
    assert target.restart(api.double) is started
