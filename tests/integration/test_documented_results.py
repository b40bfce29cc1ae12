# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each module returns what its RETURN documents: keys, types and nulls of calls on emulators."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process
from documented_calls import CALLS, Calls
from documented_results import Comparison
from repository import REPOSITORY

NO_PIDS = {"before.members[].pids", "after.members[].pids"}
NO_START = {"before.members[].start_time", "after.members[].start_time"}
NO_CLUSTER = {"task.cluster_id", "task.cluster_name"}
# What a module documents, and the calls never get a value of.
# What a plan shows of clusters in which there is something.
NOT_PLANNED = ("alarms", "obstacles", "offline_time", "problems", "signs", "task_ids", "waits_for")
WITHOUT_VALUE = {
    "agent_restart": {*NO_START, *NO_CLUSTER, "safety"},
    "arbitration_service_restart": {
        "verified",
        *NO_PIDS,
        *NO_START,
        *NO_CLUSTER,
        "safety.outages[].restarted_zones",
        "safety.problems",
        "task.subtasks[].class_name",
    },
    "cluster_restart": {
        *NO_PIDS,
        "safety.outages[].remaining_zones",
        "safety.problems",
        "task.host_id",
        "task.subtasks[].class_name",
    },
    # The plan is that of the info module, which is called for such clusters.
    "cluster_rolling_restart": {
        *(f"plan.clusters[].{key}" for key in NOT_PLANNED),
        "run.blocked",
        "tasks[].progress.running",
        "tasks[].subtasks[].class_name",
    },
    # That an OBProxy does not run afterwards is certain after three minutes.
    "obproxy_restart": {*NO_PIDS, *NO_START, *NO_CLUSTER, "safety", "verified"},
    "server_restart": NO_PIDS,
    "task": {"task.subtasks[].class_name"},
    "task_info": {"tasks[].subtasks[].class_name"},
    "task_wait": {"tasks[].subtasks[].class_name"},
    "zone_restart": {*NO_PIDS, "task.host_id"},
}


@pytest.fixture(autouse=True)
def _own_notes(tmp_path, monkeypatch):
    """What a process notes of its restarts."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    forget_process()


# What they return has the same source as that of a module beside them.
LIKE_OTHERS = {
    *("arbitration_service_info", "arbitration_service_restart", "host_info", "obproxy_info", "obproxy_restart"),
    *("agent_restart", "cluster_restart", "cluster_rolling_restart_info", "cluster_wait", "fleet_restart_info"),
    *("task_wait", "text_display", "zone_restart"),
}


@pytest.mark.parametrize(
    "module", [pytest.param(module, marks=[pytest.mark.nightly] * (module in LIKE_OTHERS)) for module in CALLS]
)
def test_results_are_as_return_documents_them(module, start_emulator, tmp_path):
    calls = Calls(module, start_emulator, tmp_path)
    CALLS[module](calls)
    assert calls.comparison.faults == []
    assert calls.comparison.never_returned == set()
    assert calls.comparison.without_value == WITHOUT_VALUE.get(module, set())


def test_every_module_is_called():
    assert sorted(CALLS) == sorted(path.stem for path in (REPOSITORY / "plugins/modules").glob("[!_]*.py"))


def key(kind: str, description: str = "One.", returned: str = "always", **more: Any) -> dict[str, Any]:
    return {"description": description, "returned": returned, "type": kind, **more}


DOCUMENTED = {
    "found": key("bool", returned="success"),
    "tasks": key("list", elements="dict", contains={"id": key("int"), "host": key("int", ["One.", "Null if lost."])}),
    "others": key("list", "Others, with the keys of RV(tasks).", returned="sometimes", elements="dict"),
    "values": key("dict", "By address.", sample={"10.0.0.1:2882": {"value": "5M", "servers": {"10.0.0.1:2882": 1}}}),
}
RIGHT: dict[str, Any] = {
    "found": True,
    "tasks": [{"id": 1, "host": 2}, {"id": 2, "host": None}],
    "values": {"10.0.0.2:2882": {"value": None, "servers": {"10.0.0.3:2882": 3}}},
    "msg": "Common to all modules.",
}
OF_VALUES = "values is a dictionary without contains and without a sample of the same form"


def test_right_result_has_no_fault():
    comparison = Comparison(DOCUMENTED)
    comparison.add(RIGHT)
    assert comparison.faults == []
    assert comparison.never_returned == {"others"}
    assert comparison.without_value == set()


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ({"more": 1}, "more is returned and not documented"),
        ({"tasks": [{"id": 1, "host": 2, "name": "One"}]}, "tasks[].name is returned and not documented"),
        ({"others": [{"id": 1, "host": 2, "name": "One"}]}, "others[].name is returned and not documented"),
        ({"tasks": [{"id": 1}]}, "tasks[].host is documented as returned: always, and is not"),
        ({"tasks": [{"id": None, "host": 2}]}, "tasks[].id is null, which is not documented"),
        ({"tasks": [{"id": "1", "host": 2}]}, "tasks[].id has the type str, and int is documented"),
        ({"tasks": [{"id": True, "host": 2}]}, "tasks[].id has the type bool, and int is documented"),
        ({"tasks": ["One"]}, "tasks[] has the type str, and dict is documented"),
        ({"values": {"10.0.0.2:2882": 1}}, OF_VALUES),
        ({"values": {"10.0.0.2:2882": {"value": "1"}}}, OF_VALUES),
        ({"values": {"10.0.0.2:2882": {"value": "1", "servers": {"10.0.0.3:2882": "3"}}}}, OF_VALUES),
    ],
)
def test_difference_is_named(result, fault):
    comparison = Comparison(DOCUMENTED)
    comparison.add({**RIGHT, **result})
    assert comparison.faults == [fault]


def test_success_has_more_keys_than_a_failure():
    comparison = Comparison(DOCUMENTED)
    comparison.add({"tasks": [], "values": {}}, failed=True)
    assert comparison.faults == []
    assert comparison.without_value == {"tasks"}
    comparison.add({"tasks": [], "values": {}})
    assert comparison.faults == ["found is documented as returned: success, and is not"]
    comparison.add({}, full=False)
    assert len(comparison.faults) == 1
