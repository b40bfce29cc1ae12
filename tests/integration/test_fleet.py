# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many servers at once: all restarts are started, then awaited together."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from credentials import BASIC
from documentation_blocks import blocks
from in_process import outcome_of

SERVERS = [f"10.0.0.{last}:2882" for last in range(1, 7)]
COMMAND = next(block for block in blocks("docs/fleet.md", "console") if "fleet_restart" in block)
SERVERS_FILE, WAVES_FILE, CAPS_FILE, PLAN, BY_HOSTS = blocks("docs/fleet.md", "yaml")
REFUSAL, SCREEN = blocks("docs/fleet.md", "text")
RUN = "Restart the servers, and wait until they serve"


@pytest.fixture
def change():
    """An instant before the test; what the service shows of a start is cut off to the second."""
    return (datetime.now(UTC) - timedelta(seconds=2)).isoformat()


@pytest.fixture
def environment(ansible, emulator):
    """The connection, where the playbook takes it from."""
    ansible.environment |= {"OCP_URL": emulator.url, **{f"OCP_{name.upper()}": value for name, value in BASIC.items()}}


@pytest.fixture
def own_journal(monkeypatch, tmp_path):
    """For a module in this process: other tests restart servers of the same names on emulators of their own."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


@pytest.fixture
def inventory(tmp_path):
    """Three hosts in a group, as arguments of ansible-playbook."""
    hosts = {f"node{last}": {"ocp_cluster": "orders", "ocp_server": SERVERS[last - 1]} for last in range(1, 4)}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"observers": {"hosts": hosts}}))
    return f"-i {tmp_path / 'hosts.yml'}"


def variables(**values):
    return "-e '" + json.dumps({f"fleet_restart_{name}": value for name, value in values.items()}) + "'"


def shape(line):
    """A line without the number of a task, and without times."""
    return re.sub(r"task \d+|\d+\.\d s|about \d+ s", "", line)


def on_orders(*servers):
    return [{"cluster": "orders", "server": server} for server in servers]


@pytest.mark.smoke
@pytest.mark.usefixtures("environment")
def test_documented_command_restarts_each_server_once_in_two_runs(ansible, emulator, change, tmp_path):
    (tmp_path / "servers.yml").write_text(SERVERS_FILE)
    words = COMMAND.replace("2026-05-04T03:00:00+08:00", change).replace("@servers.yml", f"@{tmp_path / 'servers.yml'}")
    _prompt, _program, playbook, *arguments = words.split()
    first, again = (ansible.playbook(playbook, arguments=" ".join(arguments)) for _run in range(2))
    assert (first.rc, again.rc) == (0, 0), first.output + again.output
    assert " changed=1 " in first.output
    assert " changed=0 " in again.output
    expected = {server["server"]: 1 for server in yaml.safe_load(SERVERS_FILE)["fleet_restart_servers"]}
    assert emulator.restarts("OB_SERVER") == expected
    done, later = (run.results[RUN]["servers"] for run in (first, again))
    assert [server["action"] for server in done] == ["submitted"] * 3
    assert [(server["action"], server["verified"]) for server in later] == [("skipped", True)] * 3


@pytest.mark.usefixtures("environment")
def test_started_server_is_skipped_and_running_restart_is_awaited(ansible, emulator, change):
    done, running, untouched = SERVERS[:3]
    options = {"url": emulator.url, "cluster": "orders", "freeze_server": True, **BASIC}
    ansible.module("server_restart", server=done, wait=True, **options)
    emulator.put("/emulator/clock", {"running": False})
    attached = ansible.module("server_restart", server=running, **options)["task_id"]
    given = {"started_before": change, "servers": on_orders(done, running, untouched), "safety": "none"}
    play = {
        "import_playbook": "oceanbase.ocp.fleet_restart",
        "vars": {f"fleet_restart_{name}": value for name, value in given.items()},
    }
    process = ansible.start([play], "fleet", quick=True)
    while len(emulator.requests("POST")) < 3 and process.poll() is None:
        time.sleep(0.05)
    emulator.put("/emulator/clock", {"running": True})
    assert process.wait(timeout=60) == 0, ansible.output("fleet").read_text()
    assert " changed=1 " in ansible.output("fleet").read_text()
    assert emulator.restarts("OB_SERVER") == {done: 1, running: 1, untouched: 1}
    assert emulator.get(f"/api/v2/tasks/instances/{attached}")["status"] == "SUCCESSFUL"


@pytest.mark.nightly
@pytest.mark.usefixtures("environment")
def test_inventory_group_is_restarted(ansible, emulator, change, inventory):
    given = variables(group="observers", started_before=change, freeze_server=False, safety="none")
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=f"{inventory} {given}")
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[:3], 1)


@pytest.mark.usefixtures("environment")
def test_group_of_which_a_limit_leaves_out_hosts_is_refused(ansible, emulator, change, inventory):
    """The playbook runs on localhost, so Ansible does not limit the group."""
    given = variables(group="observers", started_before=change, safety="none")
    limited = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=f"{inventory} --limit node1,localhost {given}")
    assert limited.rc == 2
    assert "--limit leaves out node2, node3 of observers, and this playbook restarts the whole group" in limited.output
    assert emulator.requests("POST") == []
    whole = ansible.playbook(
        "oceanbase.ocp.fleet_restart", arguments=f"{inventory} --limit observers,localhost {given}"
    )
    assert whole.rc == 0, whole.output


@pytest.mark.nightly
@pytest.mark.usefixtures("environment")
def test_variables_of_the_hosts_of_the_group_are_not_ignored(ansible, emulator, change, inventory, tmp_path):
    (tmp_path / "group_vars").mkdir()
    for given, said in (
        ({"fleet_restart_most_down": {"servers": 1}}, "fleet_restart_most_down: has a value for node1 that it does"),
        ({"fleet_restart_mostdown": 1}, "did you mean fleet_restart_most_down?"),
    ):
        (tmp_path / "group_vars/observers.yml").write_text(yaml.safe_dump(given))
        words = variables(group="observers", started_before=change, safety="none")
        refused = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=f"{inventory} {words}")
        assert (refused.rc, said in refused.output) == (2, True), refused.output
    assert emulator.requests("POST") == []


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("waves", [pytest.param(False, marks=pytest.mark.nightly), "false"])
def test_no_waves_are_no_waves_as_a_boolean_and_as_text(waves, ansible, emulator, change):
    given = variables(
        started_before=change, servers=on_orders(*SERVERS[:2]), most_down={"servers": 1}, waves=waves, safety="none"
    )
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert (outcome.rc, emulator.requests("POST")) == (2, [])


@pytest.mark.usefixtures("environment")
def test_two_zones_at_once_are_refused_before_anything_is_sent(ansible, emulator, change):
    given = variables(started_before=change, servers=on_orders(SERVERS[0], SERVERS[2]))
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 2
    said = outcome.result["msg"]
    assert "Tenant sys would lose its majority: 1 of 3 voters would remain (zone3), and it needs 2." in said
    assert f"These can restart together: orders {SERVERS[2]}. These cannot join them: orders {SERVERS[0]}." in said
    # The database stops servers of two zones for no tenant's sake, so to tolerate an outage does not help.
    assert said.endswith("give -e fleet_restart_waves=true this time.")
    assert "assertion" not in outcome.output
    assert emulator.requests("POST") == []


@pytest.mark.nightly
@pytest.mark.usefixtures("environment")
def test_waves_restart_all_and_no_tenant_is_lost(ansible, emulator, change):
    """The only one of zone2 that has not started since, then those of the primary zone together."""
    options = {"url": emulator.url, "cluster": "orders", "freeze_server": False, **BASIC}
    ansible.module("server_restart", server=SERVERS[3], wait=True, **options)
    given = variables(started_before=change, servers=on_orders(*SERVERS[:4]), waves=True)
    first, again = (ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given) for _run in range(2))
    assert (first.rc, again.rc) == (0, 0), first.output + again.output
    assert "  wave 2 of 2: " in first.output
    assert "  3 to restart in 2 waves, 1 left alone" in first.output
    assert f"  orders {SERVERS[2]}: submitted, task 1002" in first.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[:4], 1)
    assert emulator.get("/emulator/outages")["contents"] == []


@pytest.mark.usefixtures("environment")
def test_documented_waves_are_refused_in_one_go_and_run_as_waves(ansible, emulator, change, tmp_path):
    (tmp_path / "waves.yml").write_text(WAVES_FILE)
    given = f"-e @{tmp_path / 'waves.yml'} {variables(started_before=change)}"
    refused, waves = (
        ansible.playbook("oceanbase.ocp.fleet_restart", arguments=arguments)
        for arguments in (f"{given} -e fleet_restart_waves=false", given)
    )
    assert (refused.rc, refused.result["msg"].split()) == (2, REFUSAL.split())
    assert waves.rc == 0, waves.output
    # Each line of the page is that of a run, but for the times and the order of those side by side.
    shown, page = ([shape(line) for line in text.splitlines()] for text in (waves.output, SCREEN))
    assert [line for line in page if line not in shown and line.strip() != "..."] == []
    names = [server["server"] for server in yaml.safe_load(WAVES_FILE)["fleet_restart_servers"]]
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(names, 1)
    assert emulator.get("/emulator/outages")["contents"] == []


@pytest.mark.nightly
@pytest.mark.usefixtures("environment")
def test_documented_caps_split_a_wave_and_each_server_restarts_once(ansible, emulator, change, tmp_path):
    """A tenth of all servers is one."""
    (tmp_path / "caps.yml").write_text(CAPS_FILE)
    given = f"-e @{tmp_path / 'caps.yml'} {variables(started_before=change)}"
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 0, outcome.output
    assert "With most_down they take 2 waves, and 1 without." in outcome.output
    names = [server["server"] for server in yaml.safe_load(CAPS_FILE)["fleet_restart_servers"]]
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(names, 1)


@pytest.mark.nightly
@pytest.mark.usefixtures("environment", "emulator")
def test_documented_plan_shows_two_waves(ansible, change):
    outcome = ansible.playbook(yaml.safe_load(PLAN.replace("2026-05-04T03:00:00+08:00", change)))
    assert outcome.rc == 0, outcome.output
    assert f"2: {SERVERS[0]}" in outcome.output


@pytest.mark.usefixtures("environment")
def test_next_wave_does_not_begin_where_one_failed(ansible, emulator, change):
    emulator.fail_subtask("Wait observer active")
    given = variables(started_before=change, servers=on_orders(SERVERS[0], SERVERS[2]), waves=True)
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 2
    assert f"orders {SERVERS[2]} did not restart successfully: task 1001 did not succeed." in outcome.output
    assert f"\\nIt does not serve now: {SERVERS[2]} is " in outcome.output
    assert emulator.restarts("OB_SERVER") == {SERVERS[2]: 1}


SINGLE = """
clusters:
  - name: orders
    zones:
      - {name: zone1, servers: [{ip: 10.0.0.1}, {ip: 10.0.0.2}]}
      - {name: zone2, servers: [{ip: 10.0.0.3}]}
      - {name: zone3, servers: [{ip: 10.0.0.4}]}
    tenants:
      - {name: test, locality: "FULL{1}@zone1", units: [10.0.0.2]}
"""


def test_only_replica_is_refused_by_its_name_and_restarts_with_tolerance(ansible, start_emulator, change, tmp_path):
    (tmp_path / "fleet.yml").write_text(SINGLE)
    emulator = start_emulator("--fleet", str(tmp_path / "fleet.yml"), "--step-seconds", "0.1")
    ansible.environment |= {"OCP_URL": emulator.url, **{f"OCP_{name.upper()}": value for name, value in BASIC.items()}}
    given = {"started_before": change, "servers": on_orders(*SERVERS[:2]), "waves": True}
    refused = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=variables(**given))
    assert refused.rc == 2
    assert (
        f"{SERVERS[1]} of cluster orders (id 1) cannot be down at all. Tenant test would lose its majority"
        in refused.result["msg"]
    )
    assert emulator.requests("POST") == []
    tolerated = ansible.playbook(
        "oceanbase.ocp.fleet_restart", arguments=variables(**given, tolerate_outage_of=["test"])
    )
    assert tolerated.rc == 0, tolerated.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[:2], 1)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"zone": "zone3"}, f"servers: {SERVERS[0]} of cluster orders is in zone1 and not in zone3; look at it"),
        ({"until_effective": {"stack_size": "5M"}}, "waves: does not go with until_effective, whose values no plan"),
    ],
    ids=["zone", "values"],
)
def test_plan_that_cannot_keep_what_a_server_is_given_is_refused(emulator, change, given, sentence):
    zone = {name: value for name, value in given.items() if name == "zone"}
    more = {name: value for name, value in given.items() if name != "zone"}
    servers = [{"cluster": "orders", "server": SERVERS[0], **zone}]
    options = {"url": emulator.url, "freeze_server": False, "started_before": change, "wait": True, **BASIC, **more}
    outcome = outcome_of("fleet_restart", {**options, "servers": servers, "waves": False})
    assert outcome.failed
    assert outcome.result["msg"].startswith(sentence)
    assert emulator.requests("POST") == []


@pytest.mark.parametrize("tolerated", [["sys", "app"], pytest.param(["sys"], marks=pytest.mark.nightly)])
@pytest.mark.usefixtures("own_journal")
def test_tenants_that_one_server_tolerates_are_those_of_its_restart(emulator, change, tolerated):
    servers = [{"cluster": "orders", "server": server, "tolerate_outage_of": tolerated} for server in SERVERS[2:4]]
    options = {"url": emulator.url, "freeze_server": False, "started_before": change, "wait": True, **BASIC}
    outcome = outcome_of("fleet_restart", {**options, "servers": servers, "waves": False})
    assert not outcome.failed, outcome.result["msg"]
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[2:4], 1)


@pytest.mark.nightly
@pytest.mark.usefixtures("environment")
def test_empty_waves_are_those_of_the_default(ansible, emulator, change):
    given = variables(started_before=change, servers=on_orders(SERVERS[0], SERVERS[2]), waves=None)
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 2
    assert "To restart them in 2 waves, give -e fleet_restart_waves=true this time." in outcome.result["msg"]
    assert emulator.requests("POST") == []


@pytest.mark.usefixtures("environment")
def test_other_restarts_are_awaited_when_one_cannot_start(ansible, emulator, change):
    match = {"method": "POST", "path": "/api/v2/ob/clusters/1/servers/2/restart"}
    emulator.post("/emulator/faults", {"kind": "http", "action": "error", "status": 403, "times": None, "match": match})
    given = variables(started_before=change, servers=on_orders(*SERVERS[1::-1]))
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 2
    assert f"Did not restart server {SERVERS[1]}" in outcome.output
    servers = outcome.results[RUN]["servers"]
    assert [(server["failed"], server["verified"]) for server in servers] == [(True, None), (False, True)]
    assert emulator.restarts("OB_SERVER") == {SERVERS[0]: 1}


@pytest.mark.usefixtures("environment")
def test_misspelt_server_is_refused_before_anything_is_sent(ansible, emulator, change):
    given = variables(started_before=change, servers=on_orders("10.9.9.9:1", SERVERS[0]))
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 2
    assert "servers: 10.9.9.9:1 matches nothing" in outcome.result["msg"]
    assert emulator.requests("POST") == []


@pytest.mark.parametrize("by", ["servers", pytest.param("group", marks=pytest.mark.nightly)])
@pytest.mark.usefixtures("environment")
def test_wrong_password_is_sent_once_for_any_number_of_servers(ansible, emulator, change, inventory, by):
    ansible.environment["OCP_PASSWORD"] = "wrong"
    which = {"servers": {"servers": on_orders(*SERVERS)}, "group": {"group": "observers"}}[by]
    given = variables(started_before=change, **which)
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=f"{inventory} {given}")
    assert outcome.rc == 2
    assert "was refused with status 401" in outcome.result["msg"]
    assert [seen["status"] for seen in emulator.get("/emulator/requests")["contents"]] == [401]


@pytest.mark.usefixtures("environment")
def test_server_that_a_failed_task_holds_after_its_start_is_never_green(ansible, emulator, change):
    emulator.fail_subtask("Wait observer active")
    given = variables(started_before=change, servers=on_orders(*SERVERS[:2]))
    first, again = (ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given) for _run in range(2))
    assert (first.rc, again.rc) == (2, 2), again.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[:2], 1)
    assert "Wait observer active" in again.output
    for state in ("retried", "rolled_back"):
        assert f"oceanbase.ocp.task -a 'task_id=1001 state={state} wait=true detail=compact'" in again.output


@pytest.mark.parametrize(
    "servers",
    [pytest.param(SERVERS[:1], id="alone"), pytest.param(SERVERS[:2], id="with another", marks=pytest.mark.nightly)],
)
@pytest.mark.usefixtures("environment")
def test_server_that_does_not_serve_afterwards_fails_by_its_name(ansible, emulator, change, servers):
    given = variables(started_before=change, servers=on_orders(*servers))
    assert ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given).rc == 0
    emulator.put("/emulator/servers/1", {"available": False})
    again = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert again.rc == 2
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(servers, 1)
    assert f"{SERVERS[0]} is UNAVAILABLE" in again.output


@pytest.mark.usefixtures("environment")
@pytest.mark.nightly
def test_server_that_never_serves_again_fails_by_its_name_though_its_task_succeeded(ansible, emulator, change):
    match = {"record": "server", "id": 1, "afterTask": True}
    fault = {"kind": "answer", "action": "status", "status": "UNAVAILABLE", "match": match, "times": None}
    emulator.post("/emulator/faults", fault)
    given = variables(started_before=change, servers=on_orders(*SERVERS[:2]), _proof_timeout=1)
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 2
    said = outcome.results["Make sure that each has started since and serves"]["msg"]
    assert f"\norders {SERVERS[0]} is not proven to have started since {change} and to serve: " in said
    assert SERVERS[1] not in said
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[:2], 1)


@pytest.mark.usefixtures("environment")
@pytest.mark.nightly
def test_late_start_is_waited_for(ansible, emulator, change):
    emulator.post("/emulator/faults", {"kind": "answer", "action": "late_start", "seconds": 4, "times": None})
    given = variables(started_before=change, servers=on_orders(*SERVERS[:2]))
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=given)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[:2], 1)


@pytest.mark.usefixtures("environment")
def test_check_mode_shows_the_waves_and_starts_nothing(ansible, emulator, change):
    given = variables(started_before=change, servers=on_orders(SERVERS[0], SERVERS[2]), waves=True)
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=f"--check {given}")
    assert outcome.rc == 0, outcome.output
    assert "  would restart 2 servers in 2 waves, 0 left alone" in outcome.output
    assert f"  wave 2 of 2: orders {SERVERS[0]}" in outcome.output
    assert [server["action"] for server in outcome.results[RUN]["servers"]] == ["submitted"] * 2
    assert emulator.requests("POST") == []


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"servers": on_orders(SERVERS[0])}, "fleet_restart_change, fleet_restart_started_before: neither is given"),
        pytest.param(
            {"started_before": 1_700_000_000},
            "fleet_restart_servers, fleet_restart_group: neither is given",
            marks=pytest.mark.nightly,
        ),
        (
            {"started_before": 1_700_000_000, "servers": on_orders(SERVERS[0]), "group": "observers"},
            "fleet_restart_servers, fleet_restart_group: both are given",
        ),
        pytest.param(
            {"started_before": 1_700_000_000, "servers": []},
            "fleet_restart_servers: [] is not a list of servers",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            {"started_before": 1_700_000_000, "servers": [SERVERS[0]]},
            f'["{SERVERS[0]}"] is not a list of servers',
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            {"started_before": 1_700_000_000, "servers": [{"cluster": "orders"}]},
            "is not a list of servers",
            marks=pytest.mark.nightly,
        ),
        ({"started_before": 1_700_000_000, "group": "nowhere"}, "nowhere is not a group of the inventory"),
        ({"started_before": 1_700_000_000, "group": "unnamed"}, "of unnamed, node9 lack ocp_cluster or ocp_server"),
    ],
    ids=["change", "neither", "both", "empty", "address", "incomplete", "group", "host"],
)
@pytest.mark.usefixtures("environment")
def test_error_names_the_bad_option_before_any_request(ansible, emulator, tmp_path, given, sentence):
    inventory = {"observers": {"hosts": {"node1": {}}}, "unnamed": {"hosts": {"node9": {"ocp_cluster": "orders"}}}}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(inventory))
    arguments = f"-i {tmp_path / 'hosts.yml'} {variables(**given)}"
    outcome = ansible.playbook("oceanbase.ocp.fleet_restart", arguments=arguments)
    assert outcome.rc == 2
    assert sentence in outcome.result["msg"], outcome.output
    assert emulator.log.count("/api/") == 0


@pytest.mark.parametrize("forks", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_play_over_hosts_waits_once_for_all_tasks(ansible, emulator, change, inventory, forks):
    plays = yaml.safe_load(BY_HOSTS.replace("https://ocp.example.com:8080", emulator.url))
    plays[0]["vars"] = {"ocp_password": BASIC["password"], "change": change}
    plays[0]["tasks"][0]["oceanbase.ocp.server_restart"]["safety"] = "none"  # of two zones at once
    arguments = f"{inventory} --forks {forks}"
    first, again = (ansible.playbook(plays, arguments=arguments) for _run in range(2))
    assert (first.rc, again.rc) == (0, 0), first.output + again.output
    assert len(first.results["Wait for all of them at once"]["tasks"]) == 3
    assert "changed=1" not in again.output
    assert emulator.restarts("OB_SERVER") == dict.fromkeys(SERVERS[:3], 1)


@pytest.mark.nightly
def test_play_over_hosts_awaits_the_others_when_one_cannot_start(ansible, emulator, change, inventory):
    plays = yaml.safe_load(BY_HOSTS.replace("https://ocp.example.com:8080", emulator.url))
    plays[0]["vars"] = {"ocp_password": BASIC["password"], "change": change}
    plays[0]["tasks"][0]["oceanbase.ocp.server_restart"]["safety"] = "none"  # of two zones at once
    plays[0]["tasks"][0]["oceanbase.ocp.server_restart"]["server"] = (
        "{{ '10.9.9.9:1' if inventory_hostname == 'node1' else ocp_server }}"
    )
    outcome = ansible.playbook(plays, arguments=inventory)
    assert outcome.rc == 2
    assert len(outcome.results["Wait for all of them at once"]["tasks"]) == 2
