# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The five restarts by real ad-hoc commands and playbooks against a running emulator."""

from __future__ import annotations

import pytest
from credentials import ACCESS_KEY, BASIC
from execution_path import ORDINARY, ran_as
from expected_restarts import RESTARTS, RESULT_KEYS, assert_restarted, restart


@pytest.mark.smoke
@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=[pytest.mark.nightly] * (verb != "server_restart")) for verb in RESTARTS]
)
def test_a_restart_is_started_awaited_and_verified(ansible, emulator, verb):
    result = ansible.module(verb, url=emulator.url, wait=True, **BASIC, **RESTARTS[verb][0])
    assert_restarted(verb, result)
    assert result["before"]["status"] == result["after"]["status"] != "RESTARTING"


def every_restart(ansible, arguments="", **connection):
    """The results of all restarts by name, one after the other in one play."""
    tasks = {verb: {f"oceanbase.ocp.{verb}": {**options, "wait": True}} for verb, (options, *_rest) in RESTARTS.items()}
    defaults = {"group/oceanbase.ocp.ocp": connection}
    return ansible.each(tasks, arguments=arguments, module_defaults=defaults).results


def test_restarts_work_with_an_access_key_over_https(ansible, start_emulator, tls_options, ca_path):
    emulator = start_emulator(*tls_options)
    results = every_restart(ansible, url=emulator.url, ca_path=ca_path, **ACCESS_KEY)
    for verb in RESTARTS:
        assert_restarted(verb, results[verb])


@pytest.mark.nightly
def test_restarts_work_with_other_profiles_and_switches(ansible, start_emulator):
    cases = [
        ("server_restart", "--profile 4.2", 11),
        ("server_restart", "--parameters-in query", 13),
        ("server_restart", "--parameters-in body", 13),
        ("cluster_restart", "--cluster-answer subtasks --task-tags absent", 19),
        ("cluster_restart", "--profile 4.2", 19),
        ("zone_restart", "--profile 4.2", 15),
        ("agent_restart", "--profile 4.2", 9),
        ("agent_restart", "--agent-paths plain", 9),
    ]
    tasks = {
        f"{verb} {options}": restart(verb, start_emulator(*options.split()), wait=True)
        for verb, options, _steps in cases
    }
    outcome = ansible.each(tasks)
    for verb, options, steps in cases:
        result = outcome.results[f"{verb} {options}"]
        assert (result["changed"], result["task"]["succeeded"]) == (True, True), result
        assert result["task"]["progress"] == {"done": steps, "total": steps, "running": []}
        assert result["verified"] is RESTARTS[verb][2]


def test_restarts_without_wait_return_a_running_task(ansible, start_emulator):
    outcome = ansible.each({verb: restart(verb, start_emulator("--step-seconds", "60")) for verb in RESTARTS})
    for verb in RESTARTS:
        result = outcome.results[verb]
        assert (result["changed"], result["after"], result["verified"]) == (True, None, None), verb
        task = result["task"]
        assert (task["status"], task["finished"], task["progress"]["done"]) == ("RUNNING", False, 0)
        assert task["subtasks"][0]["status"] in ("READY", "RUNNING")
        assert {step["status"] for step in task["subtasks"][1:]} == {"PENDING"}


def test_check_mode_sends_no_post(ansible, emulator):
    results = every_restart(ansible, arguments="--check", url=emulator.url, **BASIC)
    for verb in RESTARTS:
        result = results[verb]
        assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", None), verb
        assert result.keys() >= RESULT_KEYS
    assert emulator.requests("GET")
    assert emulator.requests("POST") == []


def test_reads_in_check_mode_send_no_post(ansible, emulator):
    started = ansible.module("cluster_restart", url=emulator.url, **BASIC, cluster="orders")
    reads = {
        "info": {"oceanbase.ocp.task_info": {"task_id": started["task_id"]}},
        "waited": {"oceanbase.ocp.task_wait": {"task_ids": started["task_id"]}},
    }
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    results = ansible.each(reads, arguments="--check", module_defaults=defaults).results
    info, waited = results["info"], results["waited"]
    assert [info["tasks"][0]["id"], waited["tasks"][0]["id"]] == [started["task_id"]] * 2
    assert (info["changed"], waited["changed"]) == (False, False)
    assert len(emulator.requests("POST")) == 1


@pytest.mark.nightly
def test_targets_are_found_by_id(ansible, emulator):
    targets = {
        "server_restart": {"cluster": 1, "server": 1, "freeze_server": False, "force": True},
        "cluster_restart": {"cluster": 2},
        "zone_restart": {"cluster": 2, "zone": "zone3"},
        "agent_restart": {"hosts": [1, 2]},
        "arbitration_service_restart": {"arbitration_service": 1},
    }
    tasks = {verb: {f"oceanbase.ocp.{verb}": {**options, "wait": True}} for verb, options in targets.items()}
    outcome = ansible.each(tasks, module_defaults={"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}})
    for verb in targets:
        assert outcome.results[verb]["task"]["succeeded"] is True, outcome.output


def test_agents_of_many_hosts_are_restarted_by_one_task(ansible, emulator):
    result = ansible.module("agent_restart", url=emulator.url, wait=True, hosts=["10.0.0.1", 2, "10.0.0.3"], **BASIC)
    assert len(result["task"]["subtasks"]) == 5 * 3 + 4
    assert [member["name"] for member in result["after"]["members"]] == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    assert result["verified"] is True
    assert len(emulator.requests("POST")) == 1


@pytest.mark.nightly
def test_the_connection_comes_from_the_environment(ansible, emulator):
    ansible.environment = {"OCP_URL": emulator.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": "ocp-demo-1"}
    result = ansible.module("cluster_restart", cluster="payments", wait=True)
    assert result["task"]["succeeded"] is True


@pytest.mark.smoke
def test_module_defaults_supply_the_connection(ansible, emulator):
    outcome = ansible.tasks(
        {
            "name": "restart",
            "oceanbase.ocp.cluster_restart": {"cluster": "orders", "wait": True},
            "register": "restart",
        },
        {
            "name": "check",
            "ansible.builtin.assert": {
                "that": [
                    "restart is changed",
                    "restart.task.succeeded",
                    "restart.task.subtasks | length == 19",
                    "restart.task.progress.done == 19",
                ]
            },
        },
        module_defaults={"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}},
    )
    assert outcome.rc == 0, outcome.output


def test_error_names_the_failed_task_that_holds_the_target(ansible, emulator):
    emulator.fail_subtask("Stop observer process")
    options = {"url": emulator.url, **BASIC, **RESTARTS["server_restart"][0]}
    failed = ansible.module("server_restart", wait=True, **options)
    second = ansible.module("server_restart", **options)
    # The command leaves out what is null.
    assert (second["rc"], second["changed"], second.get("task_id")) == (2, False, None)
    assert second["msg"].startswith(
        "Did not restart server 10.0.0.1:2882 (id 1) of cluster orders (id 1): "
        f"task {failed['task_id']} (Restart OB server 10.0.0.1) FAILED and holds it.\n"
    )
    assert f"task_id={failed['task_id']} state=rolled_back" in second["msg"]


def test_wait_timeout_returns_the_running_task(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    result = ansible.module(
        "server_restart",
        url=emulator.url,
        wait=True,
        wait_timeout=1,
        detail="full",
        **BASIC,
        **RESTARTS["server_restart"][0],
    )
    assert result["rc"] == 2
    assert result["task"]["status"] == "RUNNING"
    assert f"oceanbase.ocp.task_wait -a 'task_ids={result['task_id']} detail=compact'" in result["msg"]
    assert result["changed"] is True


LAGGING_TASKS = {"kind": "answer", "action": "lag", "seconds": 3, "match": {"path": "/api/v2/tasks/*"}, "times": None}


@pytest.mark.smoke
def test_task_that_a_lagging_replica_does_not_show_yet_is_awaited(ansible, emulator):
    emulator.post("/emulator/faults", LAGGING_TASKS)
    result = ansible.module("server_restart", url=emulator.url, wait=True, **BASIC, **RESTARTS["server_restart"][0])
    assert_restarted("server_restart", result)
    [warning] = [warning for warning in result["warnings"] if "the wait went on" in warning]
    assert "status 404" in warning


@pytest.mark.nightly
def test_task_wait_awaits_a_task_that_a_lagging_replica_does_not_show_yet(ansible, emulator):
    emulator.post("/emulator/faults", LAGGING_TASKS)
    started = ansible.module("server_restart", url=emulator.url, **BASIC, **RESTARTS["server_restart"][0])
    waited = ansible.module("task_wait", url=emulator.url, **BASIC, task_ids=started["task_id"])
    assert [task["succeeded"] for task in waited["tasks"]] == [True], waited


def test_failed_restart_names_the_subtask_and_returns_the_task(ansible, emulator):
    emulator.fail_subtask("Start observer process")
    options = {**RESTARTS["server_restart"][0], "detail": "full"}
    result = ansible.module("server_restart", url=emulator.url, wait=True, **BASIC, **options)
    assert (result["rc"], result["changed"], result["verified"]) == (2, True, None)
    first, second, log, *_lines = result["msg"].splitlines()
    assert first == "The restart of server 10.0.0.1:2882 (id 1) of cluster orders (id 1) did not succeed."
    assert "FAILED at subtask 5 of 13, Start observer process" in second
    assert "{EXECUTE}" in log
    assert f"oceanbase.ocp.task -a 'task_id={result['task_id']} state=retried wait=true " in result["msg"]
    assert (result["task"]["status"], result["task"]["progress"]["done"]) == ("FAILED", 4)


def test_task_wait_fails_for_a_failed_retry_and_for_a_rollback(ansible, emulator):
    emulator.fail_subtask("Start arbitration service", times=2)
    options = {"url": emulator.url, **BASIC}
    failed = ansible.module("arbitration_service_restart", wait=True, arbitration_service=1, **options)
    task = f"/api/v2/tasks/instances/{failed['task_id']}"
    emulator.post(f"{task}/retry")
    again = ansible.module("task_wait", task_ids=failed["task_id"], detail="full", **options)
    assert (again["rc"], again["tasks"][0]["status"]) == (2, "FAILED")
    emulator.post(f"{task}/rollback")
    rolled_back = ansible.module("task_wait", task_ids=failed["task_id"], detail="full", **options)
    assert (rolled_back["rc"], rolled_back["tasks"][0]["status"]) == (2, "SUCCESSFUL")
    assert (rolled_back["tasks"][0]["rolled_back"], rolled_back["tasks"][0]["succeeded"]) == (True, False)
    assert "was rolled back" in rolled_back["msg"]


FLEET_WITH_SECRETS = """
clusters: [{name: orders, zones: [{name: zone1, servers: [{ip: 10.2.0.1}]}]}]
users: [{name: dba, password: hidden-password, permissions: [ADMIN]}]
access_keys: [{id: dba-key, secret: hidden-key-secret, user: dba}]
"""


SECRETS = {
    "password": {"username": "dba", "password": "hidden-password"},
    "wrong password": {"username": "dba", "password": "hidden-but-wrong"},
    "access key": {"access_key_id": "dba-key", "access_key_secret": "hidden-key-secret"},
    "wrong access key": {"access_key_id": "dba-key", "access_key_secret": "hidden-but-wrong"},
}


@pytest.mark.nightly
def test_no_secret_is_printed_at_the_highest_verbosity(ansible, start_emulator, tmp_path):
    fleet = tmp_path / "fleet.yml"
    fleet.write_text(FLEET_WITH_SECRETS)
    emulators, tasks = [], {}
    for name, credentials in SECRETS.items():
        emulators.append(start_emulator("--fleet", str(fleet)))
        templates = {option: f"{{{{ secrets['{name}'].{option} }}}}" for option in credentials}
        options = {"cluster": "orders", "url": emulators[-1].url, **templates}
        tasks[name] = {"oceanbase.ocp.cluster_restart": options}
        tasks[f"{name}, ordinary"] = {**tasks[name], **ORDINARY}
    outcome = ansible.each(tasks, arguments="-vvvv", vars={"secrets": SECRETS})
    assert ran_as(outcome.output) == {"in-process": 4, "ordinary": 4}
    assert {name for name, result in outcome.results.items() if result["changed"]} == {
        name for name in tasks if not name.startswith("wrong")
    }
    for printed in outcome.output, *(emulator.log for emulator in emulators):
        assert "hidden" not in printed
        assert "Authorization" not in printed
        assert "HMACSHA1" not in printed
