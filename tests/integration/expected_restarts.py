# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart modules: options for each, and what its result has to show."""

from __future__ import annotations

import itertools

from credentials import BASIC

# Options of each verb on the default fleet, the number of its steps, and whether the service lets it be verified.
RESTARTS = {
    "server_restart": ({"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True}, 13, True),
    "cluster_restart": ({"cluster": "orders"}, 19, True),
    "zone_restart": ({"cluster": "payments", "zone": "zone2"}, 15, True),
    "agent_restart": ({"hosts": "10.0.0.1"}, 9, True),
    "arbitration_service_restart": ({"arbitration_service": "10.0.0.10:2888"}, 5, None),
    "obproxy_restart": ({"obproxy_cluster": "entry", "obproxies": ["10.0.0.8:2883"]}, 6, None),
}
RESULT_KEYS = {
    "action",
    "after",
    "before",
    "changed",
    "elapsed",
    "reason",
    "target",
    "task",
    "task_id",
    "trace_id",
    "verified",
}


def restart(verb, emulator, **options):
    """A task that restarts the target of this verb on an emulator."""
    return {f"oceanbase.ocp.{verb}": {"url": emulator.url, **BASIC, **RESTARTS[verb][0], **options}}


def assert_restarted(verb, result):
    _options, steps, verified = RESTARTS[verb]
    assert result["changed"] is True, result
    assert result.keys() >= RESULT_KEYS
    task = result["task"]
    assert (task["status"], task["succeeded"], task["finished"], task["rolled_back"]) == (
        "SUCCESSFUL",
        True,
        True,
        False,
    )
    assert task["progress"] == {"done": steps, "total": steps, "running": []}
    assert_in_execution_order(task["subtasks"])
    assert result["verified"] is verified
    assert task["creator"] == "admin"
    assert result["task_id"] == task["id"]
    assert result["trace_id"]


def assert_in_execution_order(subtasks):
    assert subtasks[0]["upstreams"] == []
    assert subtasks[-1]["downstreams"] == []
    for before, after in itertools.pairwise(subtasks):
        assert before["downstreams"] == [after["id"]]
        assert before["finish_time"] <= after["start_time"]
