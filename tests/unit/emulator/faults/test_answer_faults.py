# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind answer: what a client is shown, and that the service itself goes on rightly."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest
from ocp_emulator.base.compatibility import Switches

FAULTS, REQUESTS = "/emulator/faults", "/emulator/requests"
TASKS = "/api/v2/tasks/instances"
CLUSTER = "/api/v2/ob/clusters/1"
SERVER_RESTART_SECONDS = 14


@pytest.fixture
def emulated(detailed):
    """With a read of one cluster, where each record is shown."""
    return detailed()


@pytest.fixture
def detailed(start):
    return lambda: start(switches=Switches(cluster_detail="served", zone_ids="shown", cluster_servers="complete"))


def plan(emulated, action, **fault):
    fault.setdefault("times", None)
    return emulated.data("POST", FAULTS, json={"kind": "answer", "action": action, **fault})


def listed(emulated, **params):
    return [task["id"] for task in emulated.get(TASKS, params=params)["contents"]]


def instant(text):
    return datetime.fromisoformat(text)


def started(emulated, server=1):
    return instant(emulated.server(server)["startTime"])


# --- Reads that lag -----------------------------------------------------------------------------------------------


def test_lagging_reads_do_not_know_a_task_until_the_lag_has_passed(emulated):
    plan(emulated, "lag", seconds=3)
    task_id = emulated.restart_server()["id"]
    assert listed(emulated) == []
    assert "1001" in emulated.error(404, "GET", f"{TASKS}/{task_id}")["message"]
    assert "operatingTaskInstanceId" not in emulated.server(1)
    emulated.pass_time(2.999)
    emulated.error(404, "GET", f"{TASKS}/{task_id}")
    emulated.pass_time(0.001)
    assert (listed(emulated), emulated.task(task_id)["status"]) == ([task_id], "RUNNING")
    assert emulated.server(1)["operatingTaskInstanceId"] == task_id


def test_lagging_reads_show_each_state_by_the_lag_later_than_others(detailed, clock):
    lagging, right = detailed(), detailed()
    plan(lagging, "lag", seconds=2.5)
    for emulated in (lagging, right):
        emulated.restart_server()
        emulated.restart_agents(2)
        emulated.restart_cluster(2)
    shown = {lagging: [], right: []}
    for _tick in range(45):
        clock.pass_time(0.5)
        for emulated, states in shown.items():
            paths = (CLUSTER, TASKS, f"{TASKS}/1001", "/compute/hosts/2/agent")
            states.append([emulated.request("GET", path).json().get("data") for path in paths])
    assert shown[lagging][5:] == shown[right][:-5]
    assert shown[lagging] != shown[right]


def test_lagging_reads_show_nothing_from_before_the_fault_was_planned(emulated):
    task_id = emulated.restart_server()["id"]
    plan(emulated, "lag", seconds=600)
    emulated.pass_time(30)
    assert emulated.task(task_id)["status"] == "RUNNING"
    emulated.request("DELETE", FAULTS)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"


def test_lag_of_one_path_leaves_the_others_and_all_writes_alone(emulated):
    plan(emulated, "lag", seconds=5, match={"path": CLUSTER + "*"})
    task_id = emulated.restart_server()["id"]
    assert "operatingTaskInstanceId" not in emulated.server(1)
    assert emulated.task(task_id)["status"] == "RUNNING"
    assert emulated.request("POST", f"{CLUSTER}/servers/1/restart?freezeServer=true").status_code == 409
    assert emulated.restarts() == {}
    emulated.pass_time(SERVER_RESTART_SECONDS)
    assert emulated.restarts() == {("OB_SERVER", 1): 1}


def test_replicas_with_different_lags_each_show_their_own_past(emulated):
    plan(emulated, "lag", seconds=4, match={"path": CLUSTER + "/servers"})
    plan(emulated, "lag", seconds=1, match={"path": f"{TASKS}*"})
    task_id = emulated.restart_server()["id"]
    emulated.pass_time(1)
    assert (listed(emulated), emulated.server(1)["status"]) == ([task_id], "RUNNING")
    emulated.pass_time(3)
    assert emulated.server(1)["status"] == "RESTARTING"


def test_lag_hits_as_often_as_it_is_told_to(emulated):
    plan(emulated, "lag", seconds=5, times=1, call=2)
    task_id = emulated.restart_server()["id"]
    assert [listed(emulated) for _call in range(3)] == [[task_id], [], [task_id]]
    hits = [each["fault"] for each in emulated.get(f"{REQUESTS}?method=GET")["contents"]]
    assert hits == [None, {"id": 1, "action": "lag"}, None]


def test_lagging_reads_continue_with_the_database(start, tmp_path):
    first = start(database=tmp_path / "state.db")
    plan(first, "lag", seconds=2)
    first.restart_server()
    first.app.state.service.close()
    second = start(database=tmp_path / "state.db")
    task_id = second.restart_server(2)["id"]
    assert listed(second) == [task_id - 1]
    second.pass_time(2)
    assert listed(second) == [task_id, task_id - 1]


# --- Lists that ignore a parameter -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "params", "right"),
    [
        ("clusterId", {"clusterId": 1}, [1002, 1001]),
        ("clusterName", {"clusterName": "payments"}, [1003]),
        ("cluterName", {"cluterName": "payments"}, [1003]),
        ("hostId", {"hostId": 1}, [1001]),
        ("name", {"name": "cluster"}, [1003]),
        ("status", {"status": "FAILED"}, []),
        ("type", {"type": "SCHEDULED"}, []),
    ],
)
def test_list_ignores_a_filter(emulated, parameter, params, right):
    emulated.restart_server(1)
    emulated.restart_server(3)
    emulated.restart_cluster(2)
    assert listed(emulated, **params) == right
    fault = plan(emulated, "ignore", parameters=[parameter])
    assert listed(emulated) == [1003, 1002, 1001]
    assert emulated.get(FAULTS)["contents"][0]["hits"] == 0
    assert listed(emulated, **params) == [1003, 1002, 1001]
    assert listed(emulated, **params, size=2) == [1003, 1002]
    assert (fault["id"], emulated.get(FAULTS)["contents"][0]["hits"]) == (1, 2)


@pytest.mark.parametrize("rest", ["name=%C3%86", "name=\u00e6", "name=%FF%FE", "x=%ED%A0%80&&=&a=b=c", "size=5;name=x"])
def test_other_parameters_stay_as_they_are(emulated, rest):
    emulated.restart_server(1)
    before = emulated.request("GET", f"{TASKS}?{rest}")
    plan(emulated, "ignore", parameters=["clusterId"])
    after = emulated.request("GET", f"{TASKS}?clusterId=7&{rest}")
    assert (after.status_code, after.json().get("data")) == (before.status_code, before.json().get("data"))


def test_list_that_ignores_sort_has_the_oldest_first(emulated):
    emulated.restart_server(1)
    emulated.restart_server(3)
    plan(emulated, "ignore", parameters=["sort", "status"])
    assert listed(emulated, sort="id,desc", status="FAILED") == [1001, 1002]


# --- Clocks ----------------------------------------------------------------------------------------------------------


def clocks(answer):
    """The two clocks of an answer, as seconds ahead of the emulator's."""
    true = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
    shown = instant(answer.json()["timestamp"]), parsedate_to_datetime(answer.headers["Date"])
    return [(each - true).total_seconds() for each in shown]


def test_clock_is_off_by_seconds_in_every_answer(emulated):
    plan(emulated, "clock", seconds=-172_800)
    assert clocks(emulated.request("GET", TASKS)) == [-172_800, -172_800]
    assert clocks(emulated.request("GET", TASKS, auth=("admin", "wrong"))) == [-172_800, -172_800]
    assert clocks(emulated.request("POST", f"{CLUSTER}/restart")) == [-172_800, -172_800]
    assert emulated.get("/api/v2/time", auth=None) == "2026-11-19T12:00:00+08:00"
    assert emulated.task(1001)["startTime"] == "2026-11-21T12:00:00+08:00"


def test_clock_that_stands_still_shows_one_time(emulated):
    plan(emulated, "clock", time="1970-01-01T00:00:10Z")
    for _call in range(2):
        answer = emulated.request("GET", TASKS)
        assert answer.json()["timestamp"] == "1970-01-01T08:00:10+08:00"
        assert answer.headers["Date"] == "Thu, 01 Jan 1970 00:00:10 GMT"
        emulated.pass_time(60)


def test_one_answer_among_right_ones_has_a_wrong_clock(emulated):
    plan(emulated, "clock", seconds=-3600, call=2, times=1)
    assert [clocks(emulated.request("GET", TASKS))[0] for _call in range(3)] == [0, -3600, 0]


def test_clock_of_scope_all_moves_all_times_but_never(emulated):
    before = emulated.server(1)
    plan(emulated, "clock", seconds=-86_400, scope="all")
    answer = emulated.request("GET", f"{CLUSTER}/servers")
    server = answer.json()["data"]["contents"][0]
    assert clocks(answer) == [-86_400, -86_400]
    assert (instant(server["startTime"]) - instant(before["startTime"])).total_seconds() == -86_400
    assert server["stopTime"] == before["stopTime"] == "1970-01-01T08:00:00+08:00"


def test_date_and_timestamp_agree_without_a_fault(emulated):
    assert clocks(emulated.request("GET", TASKS)) == [0, 0]


@pytest.mark.parametrize("scope", ["now", "all"])
@pytest.mark.parametrize(
    ("fault", "year"),
    [({"time": "9999-12-31T23:59:59Z"}, 9964), ({"time": "0001-01-01T00:00:00Z"}, 1970), ({"seconds": -3e9}, 1970)],
)
def test_clock_never_leaves_the_years_that_can_be_written(emulated, scope, fault, year):
    plan(emulated, "clock", scope=scope, **fault)
    answer = emulated.request("GET", CLUSTER)
    assert (answer.status_code, instant(answer.json()["timestamp"]).year) == (200, year)
    assert parsedate_to_datetime(answer.headers["Date"]).year == year


# --- Status words -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["PENDING", "READY", "QUEUED"])
def test_running_task_shows_another_word_wherever_it_is_shown(emulated, word):
    plan(emulated, "status", status=word, match={"record": "task", "status": "RUNNING"})
    task = emulated.restart_server()
    assert task["status"] == word
    assert emulated.task(task["id"])["status"] == word
    assert [each["status"] for each in emulated.get(TASKS)["contents"]] == [word]
    emulated.pass_time(SERVER_RESTART_SECONDS)
    assert emulated.task(task["id"])["status"] == "SUCCESSFUL"


@pytest.mark.parametrize(
    ("record", "number", "path", "field", "key"),
    [
        ("server", 3, CLUSTER, "status", lambda data: data["zones"][1]["servers"][0]),
        ("server", 3, f"{CLUSTER}/servers", "status", lambda data: data["contents"][2]),
        ("zone", 2, CLUSTER, "status", lambda data: data["zones"][1]),
        ("cluster", 1, "/api/v2/ob/clusters", "status", lambda data: data["contents"][0]),
        ("agent", 2, "/api/v2/compute/hosts", "hostAgentStatus", lambda data: data["contents"][1]),
        ("agent", 2, "/compute/hosts/2/agent", "status", lambda data: data),
        ("arbitration_service", 1, "/api/v2/arbitration/services/1", "status", lambda data: data),
    ],
)
def test_record_shows_another_word_and_nothing_else_changes(emulated, record, number, path, field, key):
    before = emulated.get(path)
    plan(emulated, "status", status="STARTING", match={"record": record, "id": number})
    after = emulated.get(path)
    assert key(after)[field] == "STARTING"
    key(before)[field] = "STARTING"
    assert after == before
    assert emulated.get(FAULTS)["contents"][0]["hits"] == 1


def test_server_shows_unavailable_only_after_its_restart(emulated):
    plan(
        emulated,
        "status",
        status="UNAVAILABLE",
        innerStatus="INACTIVE",
        match={"record": "server", "id": 1, "afterTask": True},
    )
    assert emulated.server(1)["status"] == "RUNNING"
    task_id = emulated.restart_server()["id"]
    emulated.pass_time(5)
    assert emulated.server(1)["status"] == "RESTARTING"
    emulated.pass_time(SERVER_RESTART_SECONDS)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    shown = emulated.server(1)
    assert (shown["status"], shown["innerStatus"]) == ("UNAVAILABLE", "INACTIVE")
    assert emulated.server(2)["status"] == "RUNNING"
    emulated.request("DELETE", FAULTS)
    assert (emulated.server(1)["status"], emulated.server(1)["innerStatus"]) == ("RUNNING", "ACTIVE")


@pytest.mark.parametrize(
    ("restart", "shown"),
    [
        (lambda emulated: emulated.restart_server(7), {("server", 7), ("zone", 4), ("cluster", 2)}),
        (
            lambda emulated: emulated.data("POST", "/api/v2/ob/clusters/2/zones/zone1/restart"),
            {("server", 7), ("zone", 4), ("cluster", 2)},
        ),
        (
            lambda emulated: emulated.restart_cluster(2),
            {("server", 7), ("server", 8), ("server", 9), ("zone", 4), ("zone", 5), ("zone", 6), ("cluster", 2)},
        ),
        (lambda emulated: emulated.restart_agents(7), {("agent", 7)}),
        (lambda emulated: emulated.restart_arbitration(), {("arbitration_service", 1)}),
    ],
)
def test_after_task_means_the_records_that_a_task_has_worked_on(emulated, restart, shown):
    for record in ("server", "zone", "cluster", "agent", "arbitration_service"):
        plan(emulated, "status", status="ODD", match={"record": record, "afterTask": True})
    restart(emulated)
    emulated.pass_time(60)
    found = set()
    for cluster in emulated.get("/api/v2/ob/clusters")["contents"]:
        found |= {("cluster", cluster["id"])} if cluster["status"] == "ODD" else set()
        for zone in cluster["zones"]:
            found |= {("zone", zone["id"])} if zone["status"] == "ODD" else set()
            found |= {("server", each["id"]) for each in zone["servers"] if each["status"] == "ODD"}
    for host in emulated.get("/api/v2/compute/hosts?size=100")["contents"]:
        found |= {("agent", host["id"])} if host["hostAgentStatus"] == "ODD" else set()
    if emulated.get("/api/v2/arbitration/services/1")["status"] == "ODD":
        found.add(("arbitration_service", 1))
    assert found == shown


def test_faults_of_several_records_change_one_answer_together(emulated):
    plan(emulated, "status", status="STOPPING", match={"record": "server", "id": 1})
    plan(emulated, "status", status="STARTING", match={"record": "server", "id": 2})
    servers = emulated.get(f"{CLUSTER}/servers")["contents"]
    assert [each["status"] for each in servers[:3]] == ["STOPPING", "STARTING", "RUNNING"]


def test_answer_without_the_record_is_no_call(emulated):
    plan(emulated, "status", status="READY", match={"record": "task"}, call=2, times=1)
    emulated.restart_server()
    emulated.get(CLUSTER)
    assert [emulated.task(1001)["status"] for _call in range(2)] == ["READY", "RUNNING"]


# --- Starts -----------------------------------------------------------------------------------------------------------


def test_start_shows_only_so_many_seconds_after_the_task_has_ended(emulated):
    old = started(emulated)
    plan(emulated, "late_start", seconds=20, match={"record": "server"})
    task_id = emulated.restart_server()["id"]
    while emulated.task(task_id)["status"] == "RUNNING":
        assert started(emulated) == old
        emulated.pass_time(0.5)
    finish = instant(emulated.task(task_id)["finishTime"])
    emulated.clock.instant = round(finish.timestamp() * 1000) + 19_999
    assert (started(emulated), emulated.restarts()) == (old, {("OB_SERVER", 1): 1})
    emulated.pass_time(0.001)
    assert instant(emulated.task(task_id)["startTime"]) < started(emulated) < finish


def test_second_start_hides_behind_the_first_one(emulated):
    plan(emulated, "late_start", seconds=20)
    emulated.restart_server()
    emulated.pass_time(SERVER_RESTART_SECONDS)
    emulated.restart_server()
    emulated.pass_time(SERVER_RESTART_SECONDS)
    emulated.pass_time(8)
    between = started(emulated)
    emulated.pass_time(30)
    assert (started(emulated) - between).total_seconds() == SERVER_RESTART_SECONDS


@pytest.mark.parametrize("seconds", [-60, 0.001, 0])
def test_start_moves_by_so_many_seconds_with_each_restart(emulated, seconds):
    old = started(emulated)
    plan(emulated, "moved_start", seconds=seconds, match={"record": "server", "id": 1})
    for number in (1, 2):
        emulated.restart_server()
        emulated.pass_time(SERVER_RESTART_SECONDS)
        assert (started(emulated) - old).total_seconds() == pytest.approx(number * seconds)
    emulated.restart_server(2)
    emulated.pass_time(SERVER_RESTART_SECONDS)
    assert (started(emulated, 2) - old).total_seconds() > 60


def test_late_start_of_a_cluster_and_of_an_agent(emulated):
    def shown():
        cluster = emulated.cluster(2)
        (agent, *_others) = emulated.get("/compute/hosts/1/agent")["processes"]
        return instant(cluster["obStartTime"]), agent["elapsedTime"] < 3_600

    (old, _young) = shown()
    plan(emulated, "late_start", seconds=100)
    emulated.restart_cluster(2)
    emulated.restart_agents(1)
    emulated.pass_time(60)
    assert shown() == (old, False)
    emulated.pass_time(100)
    new, young = shown()
    assert (new > old, young) == (True, True)


# --- What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"action": "forget"}, ["'action'"]),
        ({"action": "lag"}, ["lag needs seconds"]),
        ({"action": "lag", "seconds": -1}, ["lag cannot be below 0"]),
        ({"action": "lag", "seconds": 1, "match": {"method": "POST"}}, ["lag hits GET only"]),
        ({"action": "lag", "seconds": 1, "status": "READY"}, ["status does not go with the action lag"]),
        ({"action": "lag", "seconds": 1, "match": {"id": 3}}, ["match.id does not go with the action lag"]),
        ({"action": "ignore"}, ["ignore needs parameters"]),
        ({"action": "ignore", "parameters": []}, ["'parameters'"]),
        ({"action": "ignore", "parameters": ["page"]}, ["'parameters.0'"]),
        ({"action": "clock"}, ["clock needs either seconds or time"]),
        ({"action": "clock", "seconds": 1, "time": "1970-01-01T00:00:00Z"}, ["either seconds or time"]),
        ({"action": "clock", "time": "1970-01-01T00:00:00"}, ["'time'", "timezone"]),
        ({"action": "clock", "seconds": 1e11}, ["'seconds'"]),
        ({"action": "clock", "seconds": 1, "scope": "some"}, ["'scope'"]),
        ({"action": "status", "match": {"record": "task"}}, ["status needs status or innerStatus"]),
        ({"action": "status", "status": "READY"}, ["status needs match.record"]),
        ({"action": "status", "status": "READY", "match": {"id": 3}}, ["match.id goes with match.record"]),
        (
            {"action": "status", "innerStatus": "INACTIVE", "match": {"record": "task"}},
            ["innerStatus", "server and zone"],
        ),
        ({"action": "status", "status": "READY", "match": {"record": "host"}}, ["'match.record'"]),
        ({"action": "late_start"}, ["late_start needs seconds"]),
        ({"action": "late_start", "seconds": -1}, ["late_start cannot be below 0"]),
        ({"action": "late_start", "seconds": 1, "match": {"record": "task"}}, ["record task shows no start"]),
        ({"action": "moved_start", "seconds": 1, "when": "after"}, ["'when'"]),
        ({"action": "moved_start", "seconds": 1, "call": 1, "probability": 0.5}, ["call", "probability"]),
    ],
)
def test_invalid_fault_is_400_and_named(emulated, fault, named):
    message = emulated.error(400, "POST", FAULTS, json={"kind": "answer", **fault})["message"]
    assert all(part in message for part in named), message
    assert emulated.get(FAULTS) == {"contents": []}
