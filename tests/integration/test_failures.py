# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the message of a failed restart says, at each subtask that may fail."""

from __future__ import annotations

import re

import pytest
import yaml
from credentials import BASIC
from expected_restarts import RESTARTS

TARGETS = 19
STEPS = {verb: steps for verb, (_options, steps, _verified) in RESTARTS.items()}
# What the name of the task is followed by; {} is the number of the case.
NAMED = {
    "server_restart": "10.2.0.{}",
    "cluster_restart": "c{}",
    "zone_restart": "c{} zone1",
    "agent_restart": "10.2.0.{}",
    "arbitration_service_restart": "10.2.1.{}:2888",
    "obproxy_restart": "10.2.0.{}",
}
ASK = "ansible localhost -m oceanbase.ocp.task -a"


def options_of(verb: str, number: int) -> dict[str, object]:
    """A target of its own for each case, since a failed task goes on holding its target."""
    server = {"cluster": f"c{number}", "server": f"10.2.0.{number}:2882", "freeze_server": False, "safety": "none"}
    return {
        "server_restart": server,
        "cluster_restart": {"cluster": f"c{number}"},
        "zone_restart": {"cluster": f"c{number}", "zone": "zone1", "safety": "none"},
        "agent_restart": {"hosts": [f"10.2.0.{number}"]},
        "arbitration_service_restart": {"arbitration_service": f"10.2.1.{number}:2888"},
        "obproxy_restart": {"obproxy_cluster": "entry", "obproxies": [f"10.2.0.{number}:2883"]},
    }[verb]


@pytest.fixture
def fleet(start_emulator, tmp_path):
    clusters = [
        {"name": f"c{number}", "zones": [{"name": "zone1", "servers": [{"ip": f"10.2.0.{number}"}]}]}
        for number in range(1, TARGETS + 1)
    ]
    services = [{"ip": f"10.2.1.{number}"} for number in range(1, TARGETS + 1)]
    file = tmp_path / "fleet.yml"
    entry = {"name": "entry", "obproxies": [{"ip": f"10.2.0.{number}"} for number in range(1, TARGETS + 1)]}
    fleet = {"clusters": clusters, "arbitration_services": services, "obproxy_clusters": [entry]}
    file.write_text(yaml.safe_dump(fleet))
    return start_emulator("--fleet", str(file))


@pytest.fixture
def graph(fleet, ansible):
    """The id of a restart without a fault, and its subtasks in execution order."""

    def first(verb: str) -> tuple[int, list[str]]:
        result = ansible.module(verb, url=fleet.url, **BASIC, wait=True, **options_of(verb, TARGETS))
        return result["task_id"], [step["description"] for step in result["task"]["subtasks"]]

    return first


def faults(descriptions: list[str], position: int, task_id: int) -> list[dict[str, object]]:
    """Let the subtask of this task at this position fail; those before it that have the same description go on."""
    description = descriptions[position - 1]
    match = {"subtask": description, "taskId": task_id}
    before = descriptions[: position - 1].count(description)
    passing = [{"kind": "subtask", "match": match, "action": "slow", "factor": 1, "times": before}] if before else []
    return [*passing, {"kind": "subtask", "match": match, "action": "fail"}]


@pytest.mark.nightly
@pytest.mark.parametrize("verb", STEPS)
def test_failure_of_each_subtask_is_reported(verb, graph, fleet, ansible):
    first, descriptions = graph(verb)
    assert len(descriptions) == STEPS[verb]
    tasks = []
    # The last target is taken by the restart above; it is free again.
    for position in range(1, len(descriptions) + 1):
        for fault in faults(descriptions, position, first + position):
            fleet.post("/emulator/faults", fault)
        options = {**options_of(verb, position), "wait": True, "show_progress": False, "detail": "full"}
        tasks.append({"name": f"case {position}", f"oceanbase.ocp.{verb}": options, "ignore_errors": True})
    defaults = {"group/oceanbase.ocp.ocp": {"url": fleet.url, **BASIC}}
    outcome = ansible.tasks(*tasks, module_defaults=defaults)
    assert outcome.rc == 0, outcome.output
    for position, description in enumerate(descriptions, 1):
        what = NAMED[verb].format(position)
        assert_told(outcome.results[f"case {position}"], what, position, description, len(descriptions))


def assert_told(result, named, position, description, total):
    task = result["task"]
    step = task["subtasks"][position - 1]
    assert (result["changed"], task["status"], step["status"]) == (True, "FAILED", "FAILED")
    [failed] = result["failed_subtasks"]
    assert failed == {
        "task_id": result["task_id"],
        "position": position,
        "attempt": 1,
        "log_tail": failed["log_tail"],
        **{key: step[key] for key in failed.keys() & step.keys()},
    }
    assert failed["description"] == description
    assert "made it fail" in failed["log_tail"]
    what, where, *lines = result["msg"].split("\n")
    assert re.fullmatch(r"The restart of .+ did not succeed\.", what)
    number = f"{result['task_id']} ({task['name']} {named})"
    place = f"subtask {position} of {total}, {description} (id {step['id']}), attempt 1"
    assert where == f"Task {number} FAILED at {place}. The end of its log:"
    log = failed["log_tail"].split("\n")
    assert lines[: len(log)] == [f"  {line}" for line in log]
    seconds, trace, advice, *commands = lines[len(log) :]
    state = r"(It serves now|It does not serve now: .+ is [A-Z]+.*)\. "
    durations = f"The task took {task['duration']:g} seconds, the subtask {step['duration']:g}."
    assert re.fullmatch(state + re.escape(durations), seconds), seconds
    assert trace == f"Trace id {result['trace_id']}."
    assert advice.startswith("Nothing restarts it until that is cleared.")
    states = [re.search(r"state=(\w+)", command)[1] for command in commands if "state=" in command]
    skip, back = not step["prohibit_skip"], not task["prohibit_rollback"]
    assert states[:3] == ["retried", *["skipped"] * skip, *["rolled_back"] * back]
    assert commands[-1] == "A retry that succeeds has restarted it. After a rollback, run the same command again."
    assert f"{ASK} 'task_id={result['task_id']} state=retried wait=true detail=compact'" in commands[0]
