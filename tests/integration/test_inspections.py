# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Inspections of clusters around a run: in the result of the role, in the evidence, and where they are refused."""

from __future__ import annotations

import pytest
import yaml
from documentation_blocks import blocks
from evidence_files import Evidence
from rolling import PLAYBOOK, QUICK

FLEET = ("--clusters", "2", "--zones", "3", "--servers-per-zone", "1", *QUICK)
SERVERS = [{"cluster": f"cluster{number}", "server": f"10.0.0.{3 * number}:2882"} for number in (1, 2)]
INSPECTED = {"rolling_restart_clusters": ["cluster1"], "rolling_restart_inspection": "basic"}
FLEET_INSPECTED = {"fleet_restart_servers": SERVERS, "fleet_restart_inspection": "performance"}


@pytest.fixture
def evidence(ansible, tmp_path):
    ansible.environment["ANSIBLE_CALLBACKS_ENABLED"] = "oceanbase.ocp.evidence"
    ansible.environment["OCP_EVIDENCE"] = str(tmp_path / "run.json")
    return Evidence(tmp_path)


def inspections(evidence):
    found = evidence.read("run.json")["inspections"]
    return [(one["cluster"], one["moment"], one["scenario"], one["high_risks"]) for one in found]


def test_inspections_of_a_role_are_in_its_result_and_evidence(ansible, start_emulator, connect, evidence, change):
    emulator = start_emulator(*FLEET)
    connect(emulator)
    emulator.post("/emulator/inspection-risks", {"cluster": "cluster1", "item": "replica_count"})
    [check] = yaml.safe_load(next(text for text in blocks("docs/safety-reference.md", "yaml") if "high_risks" in text))
    run = {"name": "Restart", "ansible.builtin.import_role": {"name": "oceanbase.ocp.rolling_restart"}}
    variables = {**INSPECTED, "rolling_restart_started_before": change}
    play = {"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": [run, check]}
    outcome = ansible.playbook([play])
    # The check of the page refuses what the emulator was told to find.
    assert (outcome.rc, "Assertion failed" in outcome.output) == (2, True), outcome.output
    assert [*emulator.restarts("OB_SERVER").values()] == [1, 1, 1]
    assert inspections(evidence) == [("cluster1", "before", "basic", 1), ("cluster1", "after", "basic", 1)]


@pytest.mark.nightly
def test_fleet_is_inspected_in_one_task_for_all_clusters(ansible, start_emulator, connect, evidence, change):
    emulator = start_emulator(*FLEET)
    connect(emulator)
    variables = {**FLEET_INSPECTED, "fleet_restart_started_before": change}
    outcome = ansible.playbook([{"import_playbook": "oceanbase.ocp.fleet_restart", "vars": variables}])
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == {one["server"]: 1 for one in SERVERS}
    expected = [(name, moment, "performance", 0) for moment in ("before", "after") for name in ("cluster1", "cluster2")]
    assert inspections(evidence) == expected


@pytest.mark.nightly
def test_nothing_is_sent_where_task_files_and_an_inspection_are_given(ansible, start_emulator, connect, tmp_path):
    emulator = start_emulator(*FLEET)
    connect(emulator)
    (tmp_path / "gate.yml").write_text(yaml.safe_dump([{"name": "Pass", "ansible.builtin.meta": "noop"}]))
    variables = {**INSPECTED, "rolling_restart_change": "memory", "rolling_restart_gate": str(tmp_path / "gate.yml")}
    outcome = ansible.playbook([{"import_playbook": PLAYBOOK, "vars": variables}])
    assert outcome.rc != 0
    words = "basic does not go with task files; leave it out, or leave out rolling_restart_gate. Nothing was sent."
    assert f"rolling_restart_inspection: {words}" in outcome.output
    assert emulator.get("/emulator/requests?method=POST&size=10")["contents"] == []
