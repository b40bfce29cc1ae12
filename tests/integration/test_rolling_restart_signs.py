# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Signs of trouble in the role: each stops its cluster before the next node, is in the plan, and can be left out."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
import yaml
from credentials import BASIC
from repository import REPOSITORY
from rolling import QUICK, message, plan_lines, posts

# What is planted once the first server of cluster1 has restarted, by the number of the cluster, and words that name it.
CALLS = {
    1: ("POST", "/emulator/alarms", {"alarmType": "observer_process_stop", "server": 3}, "(stop_on: alarms)"),
    2: ("POST", "/emulator/alarms", {"alarmType": "ob_no_frozen", "cluster": "cluster2"}, "ob_no_frozen"),
    3: (
        "POST", "/emulator/alarms",
        {"alarmType": "ob_tenant_log_stream_degraded", "cluster": "cluster3", "tenant": "app"}, "log_stream_degraded",
    ),
    4: ("POST", "/emulator/alarms", {"alarmType": "host_ntp_offset_too_large", "server": 10}, "(stop_on: ntp)"),
    5: ("POST", "/emulator/backups", {"cluster": "cluster5"}, "(stop_on: backup)"),
    6: ("POST", "/emulator/backups", {"cluster": "cluster6", "tenant": "sys"}, "(stop_on: backup)"),
    7: ("PUT", "/emulator/clusters/7/compaction", {"compactionStatus": "MERGING"}, "(stop_on: merge)"),
    8: (
        "PUT", "/emulator/clusters/8/compaction", {"compactionStatus": "MERGING", "zone": "zone3"}, "(stop_on: merge)",
    ),
    9: ("PUT", "/emulator/servers/26/version", {"version": "4.3.0.1"}, "have different versions"),
}  # fmt: skip
# These are there before: samples have a grid of seconds, and a restart has to have been.
LAGS, TOO_LONG = 10, 11
METRIC = {"name": "max_full_clog_sync_delay_second", "value": 45}
BUDGET = {"parameters": {"server_permanent_offline_time": "1s"}}
SLOW = {"kind": "subtask", "action": "slow", "seconds": 1.5, "match": {"subtask": "Stop observer process"}}


@pytest.fixture
def plants(tmp_path):
    """A task file that plants all of CALLS after a node."""
    auth = {"url_username": BASIC["username"], "url_password": BASIC["password"], "force_basic_auth": True}

    def write(emulator):
        tasks = [
            {
                "name": "Plant a sign",
                "ansible.builtin.uri": {
                    "url": emulator.url + path, "method": method, "body": body, "body_format": "json", **auth
                },
            }
            for method, path, body, _words in CALLS.values()
        ]  # fmt: skip
        (tmp_path / "plant.yml").write_text(yaml.safe_dump(tasks))
        return str(tmp_path / "plant.yml")

    return write


def clusters(*numbers):
    return [f"cluster{number}" for number in numbers]


@pytest.mark.nightly
def test_each_sign_stops_its_cluster_before_the_next_node(roll, start_emulator, plants):
    emulator = start_emulator("--clusters", "11", "--zones", "3", "--servers-per-zone", "1", *QUICK)
    last = 3 * TOO_LONG - 1
    emulator.post("/emulator/faults", SLOW)
    emulator.post(f"/api/v2/ob/clusters/{TOO_LONG}/servers/{last}/restart", {"freezeServer": True})
    emulator.put(f"/emulator/servers/{last}/parameters", BUDGET)
    while emulator.get("/api/v2/tasks/instances?status=RUNNING")["contents"]:
        time.sleep(0.2)
    emulator.put(f"/emulator/servers/{3 * LAGS}/metric", METRIC)
    began = datetime.now(UTC).isoformat()
    outcome = roll(
        emulator,
        clusters(*range(1, 12)),
        started_before=began,
        after_node=plants(emulator),
        max_failures=99,
        gate_timeout=1,
    )
    assert outcome.rc == 2
    assert posts(emulator) == [last, 2], message(outcome)
    # The first line counts them.
    told = dict(zip(clusters(*CALLS, LAGS, TOO_LONG), message(outcome).splitlines()[1:], strict=False))
    named = {number: words for number, (*_call, words) in CALLS.items()}
    for number, words in {
        **named,
        LAGS: "the database would refuse to stop it, since replicas lag 45 seconds behind",
        TOO_LONG: "and after server_permanent_offline_time=1",
    }.items():
        assert f"restart of cluster{number} stopped" in told[f"cluster{number}"]
        assert words in told[f"cluster{number}"]


@pytest.mark.nightly
def test_plan_names_the_signs_and_those_that_are_left_out_stop_nothing(roll, start_emulator):
    emulator = start_emulator(*QUICK)
    emulator.put("/emulator/clusters/2/compaction", {"compactionStatus": "MERGING"})
    emulator.put("/emulator/servers/7/version", {"version": "4.3.0.1"})
    emulator.post("/emulator/alarms", {"alarmType": "ob_cluster_no_frozen", "cluster": "payments"})
    checked = roll(emulator, ["payments"], check=True)
    assert checked.rc == 2
    plan = plan_lines(checked)
    assert "stops on: alarms, backup, lag, merge, ntp, versions (max_lag=5)" in plan
    assert "sign of trouble: cluster payments is merging: its compaction is MERGING (stop_on: merge)" in plan
    assert any("have different versions" in line for line in plan if line.startswith("blocked: payments"))
    # The alarm was there before.
    outcome = roll(emulator, ["payments"], stop_on=["alarms", "lag", "backup", "ntp"])
    assert outcome.rc == 0, outcome.output
    assert posts(emulator) == [8, 9, 7]
    none = roll(emulator, ["payments"], stop_on=[], offline_budget="ignore", check=True)
    assert not any("stops on" in line or "sign" in line for line in plan_lines(none))


def test_metric_above_its_limit_stops_before_the_first_node(roll, start_emulator):
    emulator = start_emulator(*QUICK)
    limits = [{"name": "max_full_clog_sync_delay_second", "most": 0.01}]
    outcome = roll(emulator, ["payments"], metric_limits=limits, gate_timeout=1)
    assert outcome.rc == 2
    words = "max_full_clog_sync_delay_second of payments is 0.05, more than 0.01 (stop_on: metrics)"
    assert words in message(outcome)
    assert posts(emulator) == []


def test_user_who_may_not_see_signs_is_warned_and_restarts(roll, start_emulator):
    emulator = start_emulator(*QUICK)
    emulator.post("/emulator/faults", {
        "kind": "http", "action": "error", "status": 403, "times": None, "match": {"path": "/api/v2/alarm/alarms"},
    })  # fmt: skip
    outcome = roll(emulator, ["payments"])
    assert outcome.rc == 0, outcome.output
    assert outcome.output.count("The service does not show alarms (status 403)") == 1
    assert posts(emulator) == [8, 9, 7]


@pytest.mark.parametrize(
    ("offline_times", "seconds"), [(None, 7200), ([None], 7200), ([3600, 14400, None], 28800), ([600], 7200)]
)
def test_wait_lasts_twice_as_long_as_a_server_may_be_away(offline_times, seconds, ansible):
    role = REPOSITORY / "roles/rolling_restart"
    plan = {} if offline_times is None else {"clusters": [{"offline_time": known} for known in offline_times]}
    show = {"name": "Show it", "ansible.builtin.debug": {"msg": "{{ rolling_restart_wait_timeout | int }}"}}
    play = {
        "hosts": "localhost", "gather_facts": False, "tasks": [show],
        "vars_files": [str(role / "defaults/main.yml"), str(role / "vars/main.yml")],
        "vars": {"rolling_restart_plan": plan} if plan else {},
    }  # fmt: skip
    outcome = ansible.playbook([play])
    assert int(outcome.results["Show it"]["msg"]) == seconds
