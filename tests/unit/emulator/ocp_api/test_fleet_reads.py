# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What reads of clusters, zones, servers, hosts, agents and arbitration services show."""

import pytest
from ocp_emulator.base.compatibility import PROFILES, Switches


def ids(found):
    return [each["id"] for each in found["contents"]]


def test_default_fleet_has_two_clusters_of_three_zones(emulated):
    orders, payments = emulated.cluster(1), emulated.cluster(2)
    assert (orders["id"], orders["name"], payments["id"], payments["name"]) == (1, "orders", 2, "payments")
    assert [zone["name"] for zone in orders["zones"]] == ["zone1", "zone2", "zone3"]
    places = {
        cluster["name"]: [
            [(server["id"], f"{server['ip']}:{server['port']}", server["hostId"]) for server in zone["servers"]]
            for zone in cluster["zones"]
        ]
        for cluster in (orders, payments)
    }
    assert places["orders"] == [
        [(1, "10.0.0.1:2882", 1), (2, "10.0.0.2:2882", 2)],
        [(3, "10.0.0.3:2882", 3), (4, "10.0.0.4:2882", 4)],
        [(5, "10.0.0.5:2882", 5), (6, "10.0.0.6:2882", 6)],
    ]
    assert places["payments"] == [[(7, "10.0.0.7:2882", 7)], [(8, "10.0.0.8:2882", 8)], [(9, "10.0.0.9:2882", 9)]]
    assert (orders["serverCount"], payments["serverCount"]) == (6, 3)


def test_a_cluster_has_one_root_server(emulated):
    for cluster, root in ((1, 1), (2, 7)):
        servers = emulated.get(f"/api/v2/ob/clusters/{cluster}/servers")["contents"]
        assert [server["id"] for server in servers if server["withRootserver"]] == [root]
        zones = emulated.get(f"/api/v2/ob/clusters/{cluster}/zones")["contents"]
        assert [zone["rootServer"]["role"] for zone in zones] == ["LEADER", "FOLLOWER", "FOLLOWER"]
        assert zones[0]["rootServer"]["sql_port"] == 2881


def test_servers_started_before_the_emulator(emulated):
    for number in range(1, 10):
        assert emulated.server(number)["startTime"] == "2026-10-22T12:00:00+08:00"


def test_read_of_one_cluster_is_served_only_by_a_switch(start):
    emulated = start(switches=Switches(cluster_detail="served", cluster_servers="complete"))
    listed = emulated.get("/api/v2/ob/clusters")["contents"]
    assert [emulated.get(f"/api/v2/ob/clusters/{number}") for number in (1, 2)] == listed
    assert listed[0]["zones"][1]["servers"] == emulated.get("/api/v2/ob/clusters/1/zones/zone2/servers")["contents"]
    assert start().error(400, "GET", "/api/v2/ob/clusters/1")["code"] == 0


def test_ids_of_zones_are_shown_only_by_a_switch_and_only_in_the_list_of_clusters(start):
    emulated = start(switches=Switches(zone_ids="shown"))
    assert [zone["id"] for zone in emulated.cluster(2)["zones"]] == [4, 5, 6]
    assert not any("id" in zone for zone in emulated.get("/api/v2/ob/clusters/2/zones")["contents"])


@pytest.mark.parametrize("status", ["400", "404", "405", "500"])
def test_unknown_url_answers_with_the_configured_status(start, status):
    emulated = start(switches=Switches(unknown_url=status))
    for method, path in (("GET", "/api/v2/ob/clusters/1"), ("POST", "/api/v2/none"), ("PUT", "/api/v2/info")):
        assert emulated.error(int(status), method, path)["message"] == f"There is no {method} {path}."
    emulated.error(400, "GET", "/emulator/none")


def test_unknown_url_may_be_a_page_of_html(start):
    emulated = start(switches=Switches(unknown_url="html"))
    for method, status in (("GET", 200), ("POST", 405), ("DELETE", 405)):
        answer = emulated.request(method, "/api/v2/none")
        assert (answer.status_code, answer.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    emulated.error(401, "GET", "/api/v2/none", auth=None)


@pytest.mark.parametrize(
    ("path", "filters", "found"),
    [
        ("/api/v2/ob/clusters", {"name": "ORD"}, [1]),
        ("/api/v2/ob/clusters", {"status": "RUNNING"}, [1, 2]),
        ("/api/v2/ob/clusters", {"status": "STOPPED,OPERATING"}, []),
        ("/api/v2/ob/clusters", {"size": 1, "page": 2}, [2]),
        ("/api/v2/ob/clusters", {"sort": "id,desc"}, [2, 1]),
        ("/api/v2/compute/hosts", {"size": 2000}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("/api/v2/compute/hosts", {"keyword": "10.0.0.1"}, [1, 10]),
        ("/api/v2/ob/clusters", {"sort": "name,desc"}, [2, 1]),
        ("/api/v2/compute/hosts", {"keyword": "HOST7"}, [7]),
        ("/api/v2/compute/hosts", {"keyword": "Payments"}, [7, 8, 9]),
        ("/api/v2/compute/hosts", {"includedServiceType": "OB_CLUSTER,OB_PROXY"}, [8, 9]),
        ("/api/v2/compute/hosts", {"includedServiceType": "OCP_AGENT", "size": 20}, list(range(1, 11))),
        ("/api/v2/compute/hosts", {"excludedServiceType": "OB_PROXY,ARBITRATION_SERVICE"}, [1, 2, 3, 4, 5, 6, 7]),
        ("/api/v2/compute/hosts", {"includedServiceType": "OMS"}, []),
        ("/api/v2/compute/hosts", {"sort": "innerIpAddress,desc", "size": 1}, [9]),
        ("/api/v2/compute/hosts", {"status": "OFFLINE"}, []),
        ("/api/v2/compute/hosts", {"status": "ONLINE", "size": 3, "page": 2}, [4, 5, 6]),
        ("/api/v2/arbitration/services", {}, [1]),
        ("/api/v2/arbitration/services", {"hostId": 10}, [1]),
        ("/api/v2/arbitration/services", {"hostId": 9}, []),
        ("/api/v2/arbitration/services", {"keyword": "0.10"}, [1]),
        ("/api/v2/arbitration/services", {"keyword": "Service 1"}, [1]),
        ("/api/v2/arbitration/services", {"keyword": "else"}, []),
        ("/api/v2/arbitration/services", {"statusList": "RUNNING,STOPPED"}, [1]),
        ("/api/v2/arbitration/services", {"statusList": "STOPPED"}, []),
        ("/api/v2/arbitration/services", {"tagIdList": "1,2"}, []),
        (
            "/api/v2/ob/clusters/1/servers",
            {"regionName": "default_region", "idcName": "default_idc"},
            [1, 2, 3, 4, 5, 6],
        ),
        ("/api/v2/ob/clusters/1/servers", {"idcName": "elsewhere"}, []),
        ("/api/v2/ob/clusters/1/zones/zone2/servers", {}, [3, 4]),
        ("/api/v2/clusters/1/zones/zone2/servers", {}, [3, 4]),
    ],
)
def test_lists_can_be_filtered_and_paged(emulated, path, filters, found):
    assert ids(emulated.get(path, params=filters)) == found


def test_lists_below_a_cluster_are_not_paged(emulated):
    assert emulated.get("/api/v2/compute/hosts")["page"]["totalElements"] == 10
    assert emulated.get("/api/v2/arbitration/services")["page"] == {
        "number": 1,
        "size": 5000,
        "totalElements": 1,
        "totalPages": 1,
    }
    for path in ("servers", "zones", "zones/zone1/servers"):
        assert set(emulated.get(f"/api/v2/ob/clusters/1/{path}")) == {"contents"}


def test_host_shows_its_services_and_null_fields(emulated):
    host = emulated.get("/api/v2/compute/hosts/3")
    assert (host["innerIpAddress"], host["status"], host["hostAgentStatus"]) == ("10.0.0.3", "ONLINE", "AVAILABLE")
    assert [(service["name"], service["type"]) for service in host["services"]] == [("orders:101", "OB_CLUSTER")]
    assert (host["alias"], host["description"], host["serialNumber"]) == (None, None, None)
    services = emulated.get("/api/v2/compute/hosts/10")["services"]
    assert [(service["name"], service["type"]) for service in services] == [("10.0.0.10:2888", "ARBITRATION_SERVICE")]


@pytest.mark.parametrize("prefix", ["", "/api/v2"])
def test_agent_shows_its_running_processes(emulated, prefix):
    agent = emulated.get(f"{prefix}/compute/hosts/3/agent")
    assert (agent["hostId"], agent["hostInnerIpAddress"], agent["status"]) == (3, "10.0.0.3", "AVAILABLE")
    assert agent["lastAvailableTime"] == "2026-11-21T12:00:00+08:00"
    *running, stopped = agent["processes"]
    assert [stopped[key] for key in ("alias", "pid", "status", "elapsedTime")] == ["ob_cleaner", 0, "STOPPED", 0]
    for process in running:
        assert (process["status"], process["elapsedTime"]) == ("STARTED", 30 * 86_400)
        assert process["lastActiveTime"] == "2026-11-21T12:00:00+08:00"
    assert len({process["pid"] for process in running}) == 4


def test_default_arbitration_service_is_running(emulated):
    service = emulated.get("/api/v2/arbitration/services/1")
    assert (service["svrIp"], service["svrPort"], service["hostId"]) == ("10.0.0.10", 2888, 10)
    assert (service["status"], "startTime" in service) == ("RUNNING", False)
    assert emulated.get("/api/v2/arbitration/services")["contents"] == [service]


def test_service_reports_time_status_and_version(emulated):
    assert emulated.get("/api/v2/time", auth=None) == "2026-11-21T12:00:00+08:00"
    assert emulated.get("/api/v2/status", auth=None) == "UP"
    info = emulated.request("GET", "/api/v2/info").json()
    assert set(info) == {"artifact", "buildTime", "buildVersion", "edition", "group"}


def test_older_service_tells_the_time_as_text(start):
    old = start(switches=PROFILES["4.2"])
    answer = old.request("GET", "/api/v2/time", auth=None)
    assert (answer.text, answer.headers["Content-Type"]) == (
        "2026-11-21T12:00:00+08:00",
        "text/plain; charset=utf-8",
    )
    fault = {"kind": "answer", "action": "clock", "seconds": -10}
    old.data("POST", "/emulator/faults", json=fault)
    assert old.request("GET", "/api/v2/time", auth=None).text == "2026-11-21T11:59:50+08:00"


def test_health_is_the_word_okay(emulated):
    for query in ("", "?includeUnavailableComponent=true"):
        answer = emulated.request("GET", f"/api/status{query}")
        assert (answer.text, answer.headers["Content-Type"]) == ("okay", "text/plain; charset=utf-8")
    emulated.error(401, "GET", "/api/status", auth=None)
    emulated.error(400, "GET", "/api/status?includeUnavailableComponent=maybe")
