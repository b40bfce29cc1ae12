# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The role rolling_restart: task files, what it makes of failures, and what it refuses."""

from __future__ import annotations

import pytest
import yaml
from credentials import BASIC
from refused_roles import refusals
from rolling import QUICK, RUN, message, posts

HOOKS = ("before_run", "after_run", "before_zone", "after_zone", "before_node", "after_node", "gate")


@pytest.fixture
def hooks(tmp_path):
    """Task files that write down when they ran, for each of the variables."""
    log = tmp_path / "hooks.txt"
    log.write_text("")

    def write(**bodies):
        given = {}
        for name in HOOKS:
            where = "{{ rolling_restart_batch_now.zone | default('') }} {{ rolling_restart_node.id | default('') }}"
            note = {
                "name": "Note it",
                "ansible.builtin.shell": f"echo {name} {where} >> {log}",
            }
            (tmp_path / f"{name}.yml").write_text(yaml.safe_dump([note, *bodies.get(name, [])]))
            given[name] = str(tmp_path / f"{name}.yml")
        return given

    write.log = lambda: [line.strip() for line in log.read_text().splitlines()]
    return write


@pytest.mark.nightly
def test_task_files_run_before_and_after_each_node_zone_and_run(roll, start_emulator, hooks):
    emulator = start_emulator(*QUICK)
    outcome = roll(emulator, ["orders"], zones=["zone3", "zone1"], servers=["1", "5", "6"], **hooks())
    assert outcome.rc == 0, outcome.output
    assert hooks.log() == [
        "before_run",
        "gate zone3",
        "before_zone zone3",
        "before_node zone3 5",
        "gate zone3",
        "after_node zone3 5",
        "gate zone3",
        "before_node zone3 6",
        "gate zone3",
        "after_node zone3 6",
        "after_zone zone3",
        "gate zone1",
        "before_zone zone1",
        "before_node zone1 1",
        "gate zone1",
        "after_node zone1 1",
        "after_zone zone1",
        "after_run",
    ]


@pytest.mark.nightly
def test_failing_task_file_stops_the_run_but_after_run_still_runs(roll, start_emulator, hooks):
    emulator = start_emulator(*QUICK)
    refusal = {"name": "Ask the people", "ansible.builtin.fail": {"msg": "not before breakfast"}}
    outcome = roll(emulator, ["payments"], **hooks(gate=[refusal]))
    assert outcome.rc == 2
    assert 'at batch 1 of 3 (zone2: 10.0.0.8:2882) in "Ask the people". not before breakfast' in message(outcome)
    assert hooks.log() == ["before_run", "gate zone2", "after_run"]
    assert posts(emulator) == []


@pytest.mark.smoke
@pytest.mark.parametrize(("borne", "restarted"), [(0, 0), pytest.param(1, 3, marks=pytest.mark.nightly)])
def test_next_cluster_is_restarted_only_within_max_failures(roll, start_emulator, borne, restarted):
    emulator = start_emulator(*QUICK)
    emulator.fail_subtask("Prepare restart observer")
    # A text, as the command line gives it by -e name=value.
    outcome = roll(emulator, ["orders", "payments"], max_failures=str(borne))
    assert outcome.rc == 2
    assert f"{restarted} of 9 servers restarted, 1 failed (10.0.0.3:2882), {8 - restarted} not touched" in (
        message(outcome)
    )
    assert len(emulator.restarts("OB_SERVER")) == restarted
    assert posts(emulator)[0] == 3
    assert set(posts(emulator)[1:]) <= {7, 8, 9}


def test_others_in_a_batch_are_awaited_when_one_cannot_start(roll, start_emulator):
    emulator = start_emulator(*QUICK)
    fault = {"kind": "http", "match": {"method": "POST"}, "action": "error", "status": 403, "call": 1}
    emulator.post("/emulator/faults", fault)
    outcome = roll(emulator, ["orders"], batch=2)
    assert outcome.rc == 2
    assert "batch 1 of 4 (zone2: 10.0.0.3:2882, 10.0.0.4:2882)" in message(outcome)
    assert "Did not restart server 10.0.0.3:2882 (id 3) of cluster orders (id 1)" in message(outcome)
    assert "1 of 6 servers restarted, 1 failed (10.0.0.3:2882), 4 not touched" in message(outcome)
    assert emulator.restarts("OB_SERVER") == {"10.0.0.4:2882": 1}


@pytest.mark.nightly
def test_failed_task_of_a_batch_is_named_and_the_others_are_awaited(roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    second = {"taskId": 1002, "subtask": "Prepare restart observer"}
    emulator.post("/emulator/faults", {"kind": "subtask", "match": second, "action": "fail"})
    report = tmp_path / "failed.html"
    outcome = roll(emulator, ["orders"], batch=2, report=str(report))
    assert outcome.rc == 2
    assert "1 of 6 servers restarted, 1 failed (10.0.0.4:2882), 4 not touched" in message(outcome)
    assert "FAILED at subtask 1 of 13, Prepare restart observer" in message(outcome)
    assert "Prepare restart observer" in report.read_text()
    assert len(posts(emulator)) == 2


@pytest.mark.nightly
def test_failed_running_restart_counts_as_one_failure_of_its_cluster(ansible, roll, start_emulator, tmp_path):
    emulator = start_emulator(*QUICK)
    fault = {"kind": "subtask", "match": {"subtask": "Prepare restart observer"}, "seconds": 200, "action": "slow"}
    emulator.post("/emulator/faults", fault)
    emulator.fail_subtask("Stop observer service")
    options = {"url": emulator.url, "cluster": "orders", "server": "10.0.0.3:2882", "freeze_server": False, **BASIC}
    running = ansible.module("server_restart", **options)["task_id"]
    advance = {
        "name": "Let the running restart come to its failure",
        "ansible.builtin.uri": {
            "url": f"{emulator.url}/emulator/clock/advance",
            "method": "POST",
            "body_format": "json",
            "body": {"seconds": 200},
            "url_username": BASIC["username"],
            "url_password": BASIC["password"],
            "force_basic_auth": True,
        },
    }
    (tmp_path / "advance.yml").write_text(yaml.safe_dump([advance]))
    report = tmp_path / "failed.html"
    given = {"max_failures": 1, "before_run": str(tmp_path / "advance.yml"), "report": str(report)}
    outcome = roll(emulator, ["orders", "payments"], **given)
    assert outcome.rc == 2
    assert message(outcome).count("The rolling restart of ") == 1
    assert 'The rolling restart of orders stopped in "Wait for restarts that are already running"' in message(outcome)
    assert f"Task {running} (Restart OB server 10.0.0.3) FAILED" in message(outcome)
    assert "3 of 9 servers restarted, 0 failed, 6 not touched" in message(outcome)
    assert posts(emulator) == [3, 8, 9, 7]
    assert "Stop observer service" in report.read_text()


@pytest.mark.smoke
def test_refused_credentials_end_a_batch_before_another_request(roll, start_emulator):
    """Whoever goes on after a 401 locks the account."""
    emulator = start_emulator(*QUICK)
    match = {"method": "POST", "path": "*/restart"}
    emulator.post("/emulator/faults", {"kind": "http", "match": match, "action": "error", "status": 401})
    outcome = roll(emulator, ["orders"], batch=2)
    assert outcome.rc == 2
    assert "was refused with status 401" in message(outcome)
    assert "0 of 6 servers restarted, 1 failed (10.0.0.3:2882), 5 not touched" in message(outcome)
    outcomes = [(server["name"], server["outcome"]) for server in outcome.results[RUN]["results"]]
    assert outcomes == [("10.0.0.3:2882", "failed")]
    assert set(posts(emulator)) <= {3}


@pytest.mark.nightly
def test_each_use_in_a_play_keeps_its_own_record(ansible, connect, start_emulator, change):
    emulator = start_emulator(*QUICK)
    connect(emulator)
    emulator.fail_subtask("Prepare restart observer")

    def use(name, given):
        given = {"clusters": ["payments"], "started_before": change, "gate_timeout": 2, **given}
        role = {
            "ansible.builtin.include_role": {"name": "oceanbase.ocp.rolling_restart"},
            "vars": {f"rolling_restart_{key}": value for key, value in given.items()},
        }
        lengths = "{{ [rolling_restart_run.results | length, rolling_restart_run.failures | length] }}"
        noted = {"name": name, "ansible.builtin.debug": {"msg": lengths}}
        return {"block": [role], "rescue": [{"ansible.builtin.debug": {"msg": "It failed."}}], "always": [noted]}

    # Options may come from the record of an earlier use.
    servers = "{{ rolling_restart_run.results | map(attribute='id') }}"
    nothing_to_do = {"servers": servers, "started_before": "2000-01-01T00:00:00Z"}
    planned = {
        "name": "planned",
        "ansible.builtin.debug": {"msg": "{{ rolling_restart_run.plan.left_alone | length }}"},
    }
    outcome = ansible.tasks(
        use("first", {}), use("nothing to do", nothing_to_do), planned, use("no plan", {"clusters": ["nowhere"]})
    )
    recorded = {name: outcome.results[name]["msg"] for name in ("first", "nothing to do", "planned", "no plan")}
    # The failed task of the first use holds its server.
    assert recorded == {"first": [1, 1], "nothing to do": [0, 1], "planned": 1, "no plan": [0, 0]}, outcome.output


def test_cluster_with_fewer_zones_than_min_zones_is_refused(roll, start_emulator):
    emulator = start_emulator("--clusters", "1", "--zones", "2", "--servers-per-zone", "1", *QUICK)
    refused = roll(emulator, ["cluster1"], min_zones=3)
    assert refused.rc == 2
    assert "cluster1 (id 1) has 2 zones (zone1, zone2), and rolling_restart_min_zones=3 is required" in message(refused)
    assert posts(emulator) == []


@pytest.mark.nightly
def test_error_names_the_bad_option_before_any_request(ansible, connect, emulator, change):
    connect(emulator)
    good = {"clusters": ["payments"], "started_before": change}
    cases = {
        "rolling_restart_clusters": {"started_before": change},
        "rolling_restart_change, rolling_restart_started_before, rolling_restart_until_effective: none": {
            "clusters": ["payments"]
        },
        "change: ' memory' is not the name of a change": {**good, "change": " memory"},
        "started_before: yesterday is not an instant": {**good, "started_before": "yesterday"},
        "until_effective: stack size is not the name of a parameter": {**good, "until_effective": {"stack size": "5M"}},
        "rolling_restart_strategy": {**good, "strategy": "fast"},
        "batch: 0 is out of range": {**good, "batch": 0},
        "batch: all is not a number": {**good, "batch": "all"},
        "min_zones: -1 is out of range": {**good, "min_zones": -1},
        "tolerate_outage_of: is empty or has an empty entry": {**good, "tolerate_outage_of": [""]},
        "rolling_restart_safety": {**good, "safety": "maximal"},
        "rolling_restart_gate: gate.yml is not the absolute path of a file": {**good, "gate": "gate.yml"},
        "rolling_restart_after_run: /nowhere/after.yml is not the absolute": {
            **good,
            "after_run": "/nowhere/after.yml",
        },
    }
    for sentence, refused in refusals(ansible, "rolling_restart", cases).items():
        assert sentence in str(refused), refused
    assert emulator.log.count("/api/") == 0


def test_keyword_that_ignores_errors_does_not_let_a_failed_gate_pass(ansible, connect, start_emulator, change, hooks):
    """Each task of the role had it from the play, so that nothing stopped the run, and its end was green."""
    emulator = start_emulator(*QUICK)
    connect(emulator)
    refusal = {"name": "Refuse", "ansible.builtin.fail": {"msg": "not now"}}
    given = {"clusters": ["payments"], "started_before": change, "gate": hooks(gate=[refusal])["gate"]}
    role = {"role": "oceanbase.ocp.rolling_restart", "ignore_errors": True}
    variables = {f"rolling_restart_{name}": value for name, value in given.items()}
    play = {"hosts": "localhost", "gather_facts": False, "roles": [{**role, **variables}]}
    outcome = ansible.playbook([play])
    assert posts(emulator) == []
    assert "not now" in outcome.output


def test_keyword_check_mode_restarts_nothing_and_says_would(ansible, connect, start_emulator, change, hooks):
    """The variable ansible_check_mode is that of the command line, and false here."""
    emulator = start_emulator(*QUICK)
    connect(emulator)
    files = hooks(before_node=[{"name": "Drain", "ansible.builtin.debug": {"msg": "drained"}}])
    given = {"clusters": ["payments"], "started_before": change, **files}
    role = {"role": "oceanbase.ocp.rolling_restart", "check_mode": True}
    variables = {f"rolling_restart_{name}": value for name, value in given.items()}
    outcome = ansible.playbook([{"hosts": "localhost", "gather_facts": False, "roles": [{**role, **variables}]}])
    assert outcome.rc == 0, outcome.output
    assert outcome.results["Show the plan"]["lines"][0].startswith("would restart 3 servers")
    assert "restarted," not in outcome.output
    assert ("drained" in outcome.output, posts(emulator)) == (False, [])
