# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Agents in batches of hosts, and arbitration services one after another."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from credentials import BASIC
from rolling import OPEN, closed_windows

AGENTS, ARBITRATION = "agent_rolling_restart", "arbitration_service_rolling_restart"
HOSTS = [f"10.0.0.{last}" for last in range(1, 6)]
FLEET = """
clusters:
  - name: orders
    zones: [{name: zone1, servers: [{ip: 10.0.0.1}, {ip: 10.0.0.2}, {ip: 10.0.0.3}]}]
arbitration_services: [{ip: 10.0.0.10}, {ip: 10.0.0.11}, {ip: 10.0.0.12}]
"""
SERVICES = [f"10.0.0.{last}:2888" for last in (10, 11, 12)]


@pytest.fixture
def run(ansible):
    def playbook(emulator, name, password=BASIC["password"], **given):
        connection = {f"OCP_{key.upper()}": value for key, value in {**BASIC, "password": password}.items()}
        ansible.environment |= {"OCP_URL": emulator.url, **connection}
        change = (datetime.now(UTC) - timedelta(seconds=30)).isoformat()
        variables = {f"{name}_{key}": value for key, value in {"started_before": change, **given}.items()}
        return ansible.playbook(f"oceanbase.ocp.{name}", arguments=f"-e '{json.dumps(variables)}'")

    return playbook


def agents(run, emulator, **given):
    return run(emulator, AGENTS, **given)


def services(run, emulator, **given):
    return run(emulator, ARBITRATION, **given)


@pytest.fixture
def arbitrated(start_emulator, tmp_path):
    (tmp_path / "fleet.yml").write_text(FLEET)
    return start_emulator("--fleet", str(tmp_path / "fleet.yml"), "--step-seconds", "0.005")


def degrade(emulator, *log_streams):
    ill = [{"cluster": "orders", "tenant": "shop", "logStreams": list(log_streams)}] if log_streams else []
    emulator.put("/emulator/arbitration-services/2", {"degraded": ill})


def test_agents_are_restarted_once_in_batches(run, emulator):
    first = agents(run, emulator, hosts=HOSTS, batch=2)
    assert first.rc == 0, first.output
    assert emulator.restarts("HOST") == dict.fromkeys(HOSTS, 1)
    assert len(emulator.requests("POST")) == 3
    # As the command line gives it by -e name=value.
    again = agents(run, emulator, hosts=", ".join(HOSTS), batch=2)
    assert again.rc == 0, again.output
    assert " changed=0 " in again.output
    assert len(emulator.requests("POST")) == 3


def test_failed_agent_batch_ends_the_run(run, ansible, emulator, tmp_path):
    ansible.environment |= {
        "ANSIBLE_CALLBACKS_ENABLED": "oceanbase.ocp.evidence",
        "OCP_EVIDENCE": str(tmp_path / "run.json"),
    }
    emulator.post("/emulator/faults", {"kind": "subtask", "action": "fail", "match": {"taskId": 1002}})
    outcome = agents(run, emulator, hosts=HOSTS, batch=2)
    assert outcome.rc == 2
    assert len(emulator.requests("POST")) == 2
    assert "They do not serve now: 10.0.0.3 is RESTARTING, 10.0.0.4 is RESTARTING. " in outcome.output
    assert "nextitem" not in outcome.output
    assert emulator.restarts("HOST") == dict.fromkeys(HOSTS[:2], 1)
    targets = json.loads((tmp_path / "run.json").read_text())["targets"]
    assert [(one["name"], one["outcome"]) for one in targets] == [
        (", ".join(HOSTS[:2]), "proven"),
        (", ".join(HOSTS[2:4]), "failed"),
        (HOSTS[4], "not_begun"),
    ]


def test_arbitration_services_are_restarted_one_after_another(run, arbitrated):
    outcome = services(run, arbitrated, services=SERVICES)
    assert outcome.rc == 0, outcome.output
    assert arbitrated.restarts("ARBITRATION_SERVICE") == dict.fromkeys(SERVICES, 1)
    assert re.findall(r"^  (\d of 3), ", outcome.output, re.MULTILINE) == ["1 of 3", "2 of 3", "3 of 3"]
    # Its steps are shown with -v.
    assert "Stop arbitration service" not in outcome.output


def test_arbitration_service_is_refused_until_log_streams_recover(run, arbitrated):
    degrade(arbitrated, 1001, 1002)
    refused = services(run, arbitrated, services=SERVICES)
    assert refused.rc == 2
    assert arbitrated.restarts("ARBITRATION_SERVICE") == {SERVICES[0]: 1}
    said = refused.results["Make sure that no log stream is degraded"]["msg"]
    assert f"Arbitration service {SERVICES[1]} was not restarted, nor any after it" in said
    assert "degraded log streams of shop in orders" in said
    degrade(arbitrated)
    gone_on = services(run, arbitrated, services=",".join(SERVICES))
    assert gone_on.rc == 0, gone_on.output
    assert arbitrated.restarts("ARBITRATION_SERVICE") == dict.fromkeys(SERVICES, 1)


@pytest.mark.parametrize(
    ("kind", "given", "left"),
    [
        pytest.param(agents, {"hosts": HOSTS[:3], "batch": 2}, HOSTS[:3], marks=pytest.mark.nightly),
        (services, {"services": SERVICES}, SERVICES),
    ],
)
def test_outside_its_windows_nothing_begins_and_the_next_run_restarts_each_once(run, arbitrated, kind, given, left):
    outside = kind(run, arbitrated, windows=closed_windows(), **given)
    assert (outside.rc, arbitrated.requests("POST")) == (0, []), outside.output
    said = " ".join(outside.output.split())
    assert said.count("Left for the next run, since no window is open; the next window opens on ") == 1
    assert f", run the same command again then: {', '.join(left)}" in said
    inside = kind(run, arbitrated, windows=OPEN, **given)
    assert inside.rc == 0, inside.output
    restarted = {**arbitrated.restarts("HOST"), **arbitrated.restarts("ARBITRATION_SERVICE")}
    assert restarted == dict.fromkeys(left, 1)


@pytest.mark.parametrize(
    ("kind", "given"),
    [pytest.param(agents, {"hosts": HOSTS, "batch": 2}, marks=pytest.mark.nightly), (services, {"services": SERVICES})],
)
def test_a_wrong_password_is_sent_once(run, emulator, kind, given):
    outcome = kind(run, emulator, password="wrong", **given)
    assert outcome.rc == 2
    assert [seen["status"] for seen in emulator.get("/emulator/requests")["contents"]] == [401]


@pytest.mark.parametrize(
    ("kind", "given", "sentence"),
    [
        (agents, {}, f"{AGENTS}_hosts, {AGENTS}_change, {AGENTS}_started_before: give a list"),
        (agents, {"hosts": "10.0.0.1,"}, f"{AGENTS}_hosts, {AGENTS}_change, {AGENTS}_started_before: give a list"),
        (agents, {"hosts": HOSTS, "started_before": None}, f"{AGENTS}_hosts, {AGENTS}_change, {AGENTS}_started_before"),
        (agents, {"hosts": HOSTS, "batch": 0}, f"{AGENTS}_batch: 0 is out of range"),
        (services, {}, f"{ARBITRATION}_services, {ARBITRATION}_change, {ARBITRATION}_started_before: give a list"),
    ],
    ids=["no hosts", "a host without a name", "no change", "batch", "no services"],
)
def test_error_names_the_bad_option_before_any_request(run, emulator, kind, given, sentence):
    outcome = kind(run, emulator, **given)
    assert outcome.rc == 2
    assert sentence in outcome.result["msg"], outcome.output
    assert emulator.log.count("/api/") == 0
