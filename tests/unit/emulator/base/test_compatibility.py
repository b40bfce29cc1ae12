# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The switches one by one, and the profile of OCP 4.2 as a whole: answers, effects, busy targets, databases."""

import itertools
import json
import re
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import yaml
from ocp_emulator import cli
from ocp_emulator.base.compatibility import CHOICES, PROFILES, Switches

REPOSITORY = Path(__file__).parents[4]
RESTART = "/api/v2/ob/clusters/1/servers/1/restart"
LIST = "/api/v2/tasks/instances"
READS = ["/api/v2/ob/clusters", "/api/v2/ob/clusters/1/zones", "/api/v2/ob/clusters/1/servers"]
READS += ["/api/v2/ob/clusters/1/zones/zone1/servers", "/api/v2/arbitration/services", "/api/v2/arbitration/services/1"]

# Description and time-out, in the order of execution.
STEPS_OF_11 = [
    ("Prepare restart observer", 300),
    ("Stop server", 300),
    ("Stop observer process", 1200),
    ("Start observer process", 1200),
    ("Wait observer active", 1800),
    ("Start ocp agent service", 1800),
    ("Start server", 300),
    ("Update observer status", 300),
    ("Update zone status", 1800),
    ("Sync cluster info", 30),
    ("Update OB cluster status", 30),
]
STARTED = {"id", "name", "operation", "status", "startTime", "creator"}
MANUAL = STARTED | {"executor", "taskDefinitionId", "type", "subtasks"}
FULL = {
    "id",
    "name",
    "description",
    "status",
    "operation",
    "upstreams",
    "downstreams",
    "nodeType",
    "parallelIdx",
    "prohibitRollback",
    "runTime",
    "seriesId",
    "timeout",
}


@pytest.fixture
def old(start):
    return start(switches=PROFILES["4.2"])


@pytest.fixture
def switched(start):
    return lambda **switches: start(switches=Switches(**switches))


# --- Switches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["restart", "start", "stop"])
def test_cluster_operations_can_return_subtasks_like_the_others(switched, ordered, verb):
    emulated = switched(cluster_answer="subtasks", wrong_state="accept")
    task = emulated.data("POST", f"/api/v2/ob/clusters/2/{verb}")
    assert set(task) == MANUAL | {"clusterId", "prohibitRollback"}
    assert (task["clusterId"], task["creator"], task["type"]) == (2, "admin", "MANUAL")
    assert {frozenset(step) for step in task["subtasks"]} == {frozenset(FULL | {"prohibitSkip", "taskId"})}
    first, *others = ordered(task["subtasks"])
    # Only the form differs from the documented answer, whose first subtask RUNs at once.
    assert (first["status"], {step["status"] for step in others}) == ("RUNNING", {"PENDING"})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "left out"),
        ({"params": {"force": "true"}}, "left out"),
        ({"params": {"freezeServer": "true"}}, "finished"),
        ({"json": {"freezeServer": False}}, "left out"),
    ],
)
def test_freeze_server_may_be_optional(switched, options, told):
    emulated = switched(freeze_server="optional")
    task_id = emulated.data("POST", RESTART, **options)["id"]
    emulated.pass_time(2)
    assert f"minor compaction {told}" in "".join(emulated.log(task_id, emulated.steps(task_id)[1]["id"]))
    assert "freezeServer" in emulated.error(400, "POST", RESTART, params={"freezeServer": "x"})["message"]


@pytest.mark.parametrize(
    "options", [{}, {"params": {"freezeServer": "no matter what"}}, {"json": {"freezeServer": [7], "force": True}}]
)
def test_unknown_freeze_server_is_ignored(switched, options):
    emulated = switched(freeze_server="unknown")
    task_id = emulated.data("POST", RESTART, **options)["id"]
    emulated.pass_time(2)
    assert "compaction" not in "".join(emulated.log(task_id, emulated.steps(task_id)[1]["id"]))
    emulated.error(400, "POST", RESTART, params={"force": "x"})


@pytest.mark.parametrize(("place", "other"), [("query", "json"), ("body", "params")])
def test_parameters_are_read_only_from_the_configured_place(switched, place, other):
    emulated = switched(parameters_in=place)
    given = "params" if place == "query" else "json"
    error = emulated.error(400, "POST", RESTART, **{other: {"freezeServer": True}})
    assert error["message"].endswith(f"give it in the {place}.")
    contrary = {given: {"freezeServer": True}, other: {"freezeServer": "never read", "force": "nor this"}}
    task_id = emulated.data("POST", RESTART, **contrary)["id"]
    emulated.pass_time(20)
    stop = {given: {"type": "STOP_SERVICE"}, other: {"type": "STOP_PROCESS"}}
    emulated.data("POST", RESTART.replace("restart", "stop"), **stop)
    emulated.pass_time(20)
    assert (emulated.task(task_id)["status"], emulated.server(1)["innerStatus"]) == ("SUCCESSFUL", "ACTIVE")


def test_unread_body_is_not_validated(switched):
    emulated = switched(parameters_in="query")
    emulated.data("POST", RESTART, params={"freezeServer": "false"}, content="{", headers={"Content-Type": "text/csv"})


@pytest.mark.parametrize(
    ("paths", "served"),
    [("both", {"", "/api/v2"}), ("plain", {""}), ("prefixed", {"/api/v2"})],
)
def test_agents_are_served_only_under_the_configured_paths(switched, paths, served):
    emulated = switched(agent_paths=paths)
    for prefix in ("", "/api/v2"):
        restart, read = f"{prefix}/compute/hosts/batchRestartAgents", f"{prefix}/compute/hosts/2/agent"
        if prefix in served:
            assert emulated.get(read)["hostId"] == 2
            emulated.data("POST", restart, json={"hostIds": [2]})
            emulated.pass_time(20)
        else:
            for method, path in (("GET", read), ("POST", restart)):
                error = emulated.error(400, method, path, json={"hostIds": [2]})
                assert (error["code"], error["message"]) == (0, f"There is no {method} {path}.")
    assert emulated.get("/api/v2/compute/hosts/2")["hostAgentStatus"] == "AVAILABLE"


def test_unserved_path_requires_credentials(switched):
    emulated = switched(agent_paths="plain")
    emulated.error(401, "GET", "/api/v2/compute/hosts/2/agent", auth=None)


def test_tasks_without_tags_lack_the_fields_introduced_with_tags(switched):
    emulated = switched(task_tags="absent")
    task_id = emulated.restart_server(1)["id"]
    [listed] = emulated.get(LIST)["contents"]
    assert set(listed) == {"id", "name", "cluster", "creator", "status", "startTime", "subtasks"}
    read = emulated.task(task_id)
    times = {"createTime", "prohibitRollback", "cluster"}
    assert set(read) == MANUAL | times
    assert {frozenset(step) for step in read["subtasks"]} == {frozenset(FULL | {"createTime"})}
    assert [task["id"] for task in emulated.get(LIST, params={"clusterId": 1})["contents"]] == [task_id]


def test_retried_subtask_has_the_same_fields_as_a_read_one(switched):
    emulated = switched(task_tags="absent")
    emulated.plan("fail", "Prepare restart observer")
    task_id = emulated.restart_server(1)["id"]
    emulated.pass_time(1)
    step = emulated.steps(task_id)[0]
    assert set(emulated.steer(task_id, "retry", step["id"]).json()["data"]) == FULL | {"createTime"}


@pytest.mark.parametrize("operating", ["shown", "absent"])
def test_operating_task_can_be_hidden(switched, operating):
    emulated = switched(operating_task=operating)
    emulated.restart_cluster(1)
    emulated.restart_arbitration(1)
    for path in READS:
        answer = json.dumps(emulated.get(path))
        # No list of zones shows it.
        assert ("operatingTaskInstanceId" in answer) == (operating == "shown" and not path.endswith("zones")), path
        assert "RESTARTING" in answer


def test_service_without_arbitration_serves_none_of_its_paths(switched):
    emulated = switched(arbitration="unknown")
    paths = ["/api/v2/arbitration/services", "/api/v2/arbitration/services/1"]
    for method, path in [("GET", paths[0]), ("GET", paths[1]), ("POST", f"{paths[1]}/restart")]:
        assert emulated.error(400, method, path)["code"] == 0


@pytest.mark.parametrize("tags", ["shown", "absent"])
def test_rollback_can_return_the_task(switched, tags):
    emulated = switched(rollback_answer="task", task_tags=tags)
    emulated.plan("fail", "Prepare restart arbitration service")
    task_id = emulated.restart_arbitration()["id"]
    emulated.pass_time(1)
    task = emulated.steer(task_id, "rollback").json()["data"]
    assert task == emulated.task(task_id)
    assert (task["id"], task["status"], task["operation"]) == (task_id, "RUNNING", "ROLLBACK")


@pytest.mark.parametrize("version", CHOICES["reported_version"])
def test_configured_version_is_reported(switched, version):
    info = switched(reported_version=version).request("GET", "/api/v2/info").json()
    assert info["buildVersion"].startswith(f"{version}-emulator-")


# --- OCP 4.2 ------------------------------------------------------------------------------------------------------


def test_a_server_restart_has_its_11_steps_with_context_and_class_names(old, ordered):
    task = old.data("POST", RESTART, params={"force": "true"})
    assert set(task) == MANUAL | {"clusterId", "context"}
    steps = ordered(task["subtasks"])
    assert [(step["description"], step["timeout"]) for step in steps] == STEPS_OF_11
    assert {frozenset(step) for step in steps} == {frozenset(FULL | {"className"})}
    assert [step["status"] for step in steps] == ["READY"] + ["PENDING"] * 10
    for before, after in itertools.pairwise(steps):
        assert (before["downstreams"], after["upstreams"]) == ([after["id"]], [before["id"]])
    assert task["context"] == {
        "listMap": {"server_ids": ["1"]},
        "parallel": False,
        "parallelIdx": -1,
        "stringMap": {
            "cluster_id": "1",
            "cluster_name": "orders",
            "former_cluster_status": "RUNNING",
            "former_zone_status": "RUNNING",
            "ocpagent_service_name": "ocp_agent",
            "prohibit_rollback": "false",
            "server_id": "1",
            "target_cluster_status": "RUNNING",
            "target_zone_status": "RUNNING",
            "zone_name": "zone1",
        },
    }


def test_the_start_time_moves_at_the_start_step(old):
    before = old.server(1)
    begin = datetime.fromisoformat(old.data("POST", RESTART)["startTime"])
    old.pass_time(3)
    stopped = old.server(1)
    assert (stopped["innerStatus"], stopped["startTime"]) == ("INACTIVE", before["startTime"])
    old.pass_time(0.9)
    assert old.server(1)["startTime"] == before["startTime"]
    old.pass_time(0.1)
    assert datetime.fromisoformat(old.server(1)["startTime"]) == begin + timedelta(seconds=4)
    old.pass_time(3.9)
    assert old.server(1)["status"] == "RESTARTING"
    old.pass_time(0.1)
    assert old.server(1)["status"] == "RUNNING"


TIMES = re.compile(r'"20\d\d-[^"]*"')


def test_restarts_of_11_and_13_steps_leave_the_same_fleet_state(start):
    ends = []
    for steps, seconds in (("11", 11), ("13", 13)):
        emulated = start(switches=Switches(server_restart_steps=steps))
        task_id = emulated.restart_server(1)["id"]
        emulated.pass_time(seconds - 0.1)
        assert emulated.task(task_id)["status"] == "RUNNING"
        emulated.pass_time(0.1)
        assert emulated.task(task_id)["status"] == "SUCCESSFUL"
        ends.append((TIMES.sub("", json.dumps([emulated.get(path) for path in READS])), emulated.restarts()))
    assert ends[0] == ends[1]
    assert ends[0][1] == {("OB_SERVER", 1): 1}


@pytest.mark.parametrize(("step", "_timeout"), STEPS_OF_11)
def test_failure_of_each_step_can_be_retried_or_rolled_back(old, step, _timeout):
    for verb, operation in (("retry", "RETRY"), ("rollback", "ROLLBACK")):
        old.plan("fail", step)
        task_id = old.data("POST", RESTART)["id"]
        old.pass_time(12)
        assert (old.task(task_id)["status"], old.step(task_id, step)["status"]) == ("FAILED", "FAILED")
        assert old.steer(task_id, verb).status_code == 200
        old.pass_time(12)
        task = old.task(task_id)
        assert (task["status"], task["operation"]) == ("SUCCESSFUL", operation)
        server = old.server(1)
        assert (server["status"], server["innerStatus"]) == ("RUNNING", "ACTIVE")


OPERATIONS = {
    "server": (RESTART, {}),
    "neighbour": (RESTART.replace("servers/1", "servers/2"), {}),
    "zone": ("/api/v2/ob/clusters/1/zones/zone1/restart", {}),
    "cluster": ("/api/v2/ob/clusters/1/restart", {}),
    "agent": ("/api/v2/compute/hosts/batchRestartAgents", {"json": {"hostIds": [1]}}),
}
TOGETHER = {frozenset(("server", "neighbour"))} | {frozenset((name, "agent")) for name in OPERATIONS if name != "agent"}


@pytest.mark.parametrize(("first", "second"), list(itertools.product(OPERATIONS, repeat=2)))
def test_operations_exclude_each_other_as_in_other_versions(old, first, second):
    one, other = OPERATIONS[first], OPERATIONS[second]
    assert old.request("POST", one[0], **one[1]).status_code == 200
    old.pass_time(1)
    expected = 200 if frozenset((first, second)) in TOGETHER else 409
    assert old.request("POST", other[0], **other[1]).status_code == expected


# --- A database that is opened with another profile -----------------------------------------------------------------


def test_task_keeps_its_steps_but_shows_the_current_switches(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database)
    tasks = {13: emulated.restart_server(1)["id"]}
    arbitration = emulated.restart_arbitration()["id"]
    emulated.pass_time(3.5)
    emulated.app.state.service.close()

    old = start(database=database, switches=PROFILES["4.2"])
    tasks[11] = old.data("POST", RESTART.replace("servers/1", "servers/2"))["id"]
    assert {count: len(old.steps(number)) for count, number in tasks.items()} == {13: 13, 11: 11}
    assert "tags" not in old.task(tasks[13])
    assert old.request("GET", "/api/v2/arbitration/services/1").headers["Content-Type"].startswith("text/html")
    old.pass_time(9.5)
    assert [old.task(number)["status"] for number in (tasks[13], arbitration)] == ["SUCCESSFUL", "SUCCESSFUL"]
    old.app.state.service.close()

    again = start(database=database)
    assert {count: len(again.steps(number)) for count, number in tasks.items()} == {13: 13, 11: 11}
    [tag] = again.task(tasks[11])["tags"]
    assert (tag["serverId"], again.server(2)["operatingTaskInstanceId"]) == (2, tasks[11])
    again.pass_time(1.5)
    assert again.task(tasks[11])["status"] == "SUCCESSFUL"
    assert again.get("/api/v2/arbitration/services/1")["status"] == "RUNNING"
    assert again.restarts() == {("OB_SERVER", 1): 1, ("OB_SERVER", 2): 1, ("ARBITRATION_SERVICE", 1): 1}


# --- How they are given -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Switches()),
        (["--profile", "4.3"], Switches()),
        (["--profile", "4.2"], PROFILES["4.2"]),
        (["--agent-paths", "plain"], Switches(agent_paths="plain")),
        (
            ["--task-tags", "shown", "--profile", "4.2"],
            Switches(**{**asdict(PROFILES["4.2"]), "task_tags": "shown"}),
        ),
    ],
)
def test_a_switch_overrides_the_profile(monkeypatch, arguments, expected):
    served = []
    monkeypatch.setattr(cli, "serve", lambda settings, *_others: served.append(settings))
    assert cli.main(["serve", "--port", "0", *arguments]) == 0
    assert served[0].switches == expected


@pytest.mark.parametrize("name", CHOICES)
def test_every_switch_is_a_command_line_option(monkeypatch, capsys, name):
    served = []
    monkeypatch.setattr(cli, "serve", lambda settings, *_others: served.append(settings))
    option = f"--{name.replace('_', '-')}"
    for value in CHOICES[name]:
        cli.main(["serve", "--port", "0", option, value])
        assert asdict(served[-1].switches) == {**asdict(Switches()), name: value}
    assert cli.main(["serve", "--port", "0", option, "bent"]) == 2
    assert f"{option}: invalid choice: 'bent'" in capsys.readouterr().err


def test_role_accepts_the_same_switches_and_profiles():
    specs = yaml.safe_load((REPOSITORY / "roles/emulator/meta/argument_specs.yml").read_text())
    options = specs["argument_specs"]["main"]["options"]
    assert set(options["emulator_profile"]["choices"]) == set(PROFILES)
    switches = options["emulator_switches"]["options"]
    assert {name: set(option["choices"]) for name, option in switches.items()} == {
        name: set(values) for name, values in CHOICES.items()
    }


def test_emulator_page_documents_every_switch_and_profile():
    rows = re.findall(
        r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|",
        (REPOSITORY / "docs/emulator-reference.md").read_text(),
        re.MULTILINE,
    )
    told = {name: (values, newest.strip("` "), older.strip("` ")) for name, values, newest, older in rows}
    assert set(told) == set(CHOICES)
    for name, (values, newest, older) in told.items():
        assert set(re.findall(r"`([\w.]+)`", values)) == set(CHOICES[name])
        assert (newest, older) == (asdict(PROFILES["4.3"])[name], asdict(PROFILES["4.2"])[name])
