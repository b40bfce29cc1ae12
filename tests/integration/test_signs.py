# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Signs of trouble: each stops a run before its next node, and none stops a healthy one; how long a server is away."""

from __future__ import annotations

import random

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotSafe
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.offline_budget import OfflineBudget
from rolling import posts
from steered_run import SteeredRun

# Servers of payments, in the order of a run; the root server is the last.
FIRST, SECOND = 8, 9
SLOW = {"kind": "subtask", "action": "slow", "match": {"subtask": "Stop observer process"}}


@pytest.fixture
def run(start_emulator, monkeypatch, tmp_path):
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return SteeredRun(start_emulator("--step-seconds", "2"), monkeypatch)


def alarm(**about):
    return lambda emulator: emulator.post("/emulator/alarms", {"alarmType": "ob_cluster_no_frozen", **about})


def lag(emulator, seconds=45.0):
    name = "max_full_clog_sync_delay_second"
    emulator.put(f"/emulator/servers/{SECOND}/metric", {"name": name, "value": seconds})


def backup(**of):
    return lambda emulator: emulator.post("/emulator/backups", {"cluster": "payments", **of})


def restore(emulator):
    emulator.post("/emulator/restores", {"cluster": "payments", "tenant": "app"})


def merge(emulator, cluster=2, **of):
    emulator.put(f"/emulator/clusters/{cluster}/compaction", {"compactionStatus": "MERGING", **of})


def version(emulator):
    emulator.put(f"/emulator/servers/{SECOND}/version", {"version": "4.3.0.1"})


NTP = "host_ntp_offset_too_large"
# What is planted while the first server restarts, and words that name it.
PLANTED = {
    "an alarm of the cluster": (alarm(cluster="payments"), "(stop_on: alarms)"),
    "an alarm of a tenant": (alarm(cluster="payments", tenant="app", alarmType="ob_degraded"), "ob_degraded"),
    "an alarm about another server": (alarm(server=SECOND), "(stop_on: alarms)"),
    "an alarm about a host alone": (alarm(host="10.0.0.9", alarmType="host_disk_readonly"), "host_disk_readonly"),
    "a clock that is off": (alarm(alarmType=NTP, host="10.0.0.9"), "(stop_on: ntp)"),
    "replicas that lag": (lag, "replicas lag 45 seconds behind, more than 5 (-4179)"),
    "a backup of the cluster": (backup(), "(stop_on: backup)"),
    "a backup of a tenant": (backup(tenant="sys"), "(stop_on: backup)"),
    "a restore of a tenant": (restore, "restore 1 of tenant app_restored of payments is RESTORING (stop_on: backup)"),
    "a merge of a zone": (lambda emulator: merge(emulator, zone="zone3"), "(stop_on: merge)"),
    "another version": (version, "(stop_on: versions)"),
}


def planting(run, plant, at):
    return lambda pause: plant(run.emulator) if pause == at else None


# The others stop it by the same code.
SHOWN = ("an alarm of the cluster", "replicas that lag")


@pytest.mark.parametrize(
    "sign", [pytest.param(sign, marks=[pytest.mark.nightly] * (sign not in SHOWN)) for sign in PLANTED]
)
def test_planted_sign_stops_the_run_before_the_next_node(sign, run):
    plant, words = PLANTED[sign]
    run.meanwhile = planting(run, plant, at=2)
    with pytest.raises(NotSafe) as raised:
        run.run("payments")
    assert words in str(raised.value)
    assert posts(run.emulator) == [FIRST]


@pytest.mark.nightly
def test_alarm_of_a_restart_stops_the_run_only_if_it_stays(run):
    """It is raised 30 seconds after the stop, and cleared 180 seconds after the start: a minute is slept each time."""

    def stays(pause):
        if pause == 3:
            alarm(alarmType="observer_process_stop", server=FIRST)(run.emulator)
            run.emulator.advance(301)
            run.elapsed += 301

    run.emulator.post("/emulator/faults", {**SLOW, "seconds": 20, "times": None})
    run.run("payments")
    assert posts_of_last(run) == [8, 9, 7]
    run.meanwhile = stays
    with pytest.raises(NotSafe, match=r"alarm \d+ \(observer_process_stop, critical\)"):
        run.run("payments")
    assert posts(run.emulator) == [FIRST]


def test_restart_that_took_too_long_before_stops_the_run_at_its_server(run):
    run.emulator.put("/emulator/servers/7/parameters", {"parameters": {"server_permanent_offline_time": "10m"}})
    run.emulator.post("/emulator/faults", {**SLOW, "seconds": 700})
    run.run("payments", budget=OfflineBudget.WARN)
    assert posts(run.emulator) == [8, 9, 7]
    with pytest.raises(NotSafe, match=r"10\.0\.0\.8:2882 .* one of its last restarts took 7\d\d seconds"):
        run.run("payments")
    assert len(posts(run.emulator)) == 3


@pytest.mark.timeout(1200)
@pytest.mark.nightly
def test_healthy_runs_are_never_stopped(run):
    """With all that is no sign: known alarms, those of restarts, of others, cautions, ended backups, a little lag."""
    dice, waited = random.Random(18), 0
    harmless = [
        alarm(cluster="orders"),
        alarm(host="10.9.9.9"),
        alarm(level=4, cluster="payments"),
        alarm(level=5, server=FIRST),
        alarm(alarmType=NTP, server=1),
        lambda emulator: lag(emulator, 5.0),
        lambda emulator: lag(emulator, 0.0),
        backup(status="DONE"),
        backup(cluster="orders"),
        lambda emulator: merge(emulator, cluster=1),
    ]
    for number in range(200):
        if dice.random() < 0.1:
            run.emulator.delete("/emulator/alarms")
        if dice.random() < 0.1:
            alarm(cluster="payments")(run.emulator)
        if dice.random() < 0.1:
            run.emulator.post("/emulator/faults", {**SLOW, "seconds": dice.uniform(20, 900)})
        run.meanwhile = planting(run, dice.choice(harmless), at=dice.randrange(1, 6))
        began = run.elapsed
        run.run("payments")
        waited += run.elapsed - began > 400
        assert len(posts_of_last(run)) == 3, number
    # Those in which a restart has raised an alarm.
    assert waited > 5


def posts_of_last(run):
    found = posts(run.emulator)
    run.emulator.delete("/emulator/requests")
    return found
