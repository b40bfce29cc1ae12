# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The switches that a recording shows; others are taken from the profile nearest to its version."""

import re
from dataclasses import replace
from typing import Any

from ocp_emulator.base.compatibility import DEFAULT_PROFILE, PROFILES, Switches
from ocp_emulator.base.paths import TIME
from ocp_emulator.recordings.recorded_fleet import CLUSTERS, SERVICES, clusters_of, servers_of, zones_of
from ocp_emulator.recordings.recording_file import Recording

TASKS = "/api/v2/tasks/instances"
# From this version on, that of the default profile.
_DEFAULT_SINCE = (4, 3)
_OPERATING = "operatingTaskInstanceId"


def recorded_switches(recording: Recording) -> Switches:
    """All switches."""
    shown: dict[str, Any] = {
        **_task_tags(recording),
        **_operating_task(recording),
        **_arbitration(recording),
        **_agent_paths(recording),
        **_tenant_paths(recording),
        **_time_answer(recording),
    }
    return replace(PROFILES[_profile(recording)], **shown)


def _profile(recording: Recording) -> str:
    version = re.match(r"(\d+)\.(\d+)", str(recording.record("/api/v2/info").get("buildVersion")))
    if version and tuple(map(int, version.groups())) < _DEFAULT_SINCE:
        return "4.2"
    return DEFAULT_PROFILE


def _task_tags(recording: Recording) -> dict[str, str]:
    tasks = recording.records(TASKS)
    return {"task_tags": "shown" if any("tags" in task for task in tasks) else "absent"} if tasks else {}


def _operating_task(recording: Recording) -> dict[str, str]:
    """Shown if anything shows it; absent if a task runs and nothing shows it; else unknown."""
    clusters = clusters_of(recording)
    parts = [part for each in clusters for part in (*zones_of(recording, each), *servers_of(recording, each))]
    if any(_OPERATING in each for each in (*clusters, *parts, *recording.records(SERVICES))):
        return {"operating_task": "shown"}
    runs = any(task.get("status") == "RUNNING" for task in recording.records(TASKS))
    return {"operating_task": "absent"} if runs else {}


def _arbitration(recording: Recording) -> dict[str, str]:
    answer = recording.of(SERVICES)
    if answer is None or answer.status == 403:
        return {}
    return {"arbitration": "served" if answer.is_data else "unknown"}


def _agent_paths(recording: Recording) -> dict[str, str]:
    known = {
        word: any(answer.is_data for answer in recording.answers if re.fullmatch(path, answer.path))
        for word, path in (
            ("prefixed", r"/api/v2/compute/hosts/\d+/agent"),
            ("plain", r"/compute/hosts/\d+/agent"),
        )
    }
    words = [word for word, is_known in known.items() if is_known]
    return {"agent_paths": "both" if len(words) == 2 else words[0]} if words else {}


def _tenant_paths(recording: Recording) -> dict[str, str]:
    found = {
        answer.is_data for answer in recording.answers if re.fullmatch(rf"{CLUSTERS}/\d+/tenants/\d+", answer.path)
    }
    old = any(re.fullmatch(r"/api/v2/ob/cluster/\d+/tenants/\d+", answer.path) for answer in recording.answers)
    return {"tenant_paths": "cluster"} if old and True not in found else {}


def _time_answer(recording: Recording) -> dict[str, str]:
    answer = recording.of(TIME)
    forms = {"json": "envelope", "text": "text"}
    return {"time_answer": forms[answer.form]} if answer and answer.status == 200 and answer.form in forms else {}
