# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The last successful restart stands for the start of a target that shows none."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.last_restart import with_last_restart
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import ARBITRATION, at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, raw_task

SERVICE = ArbitrationService(61, "10.1.0.8:2888")


@pytest.mark.parametrize(
    ("started_at", "more", "started"),
    [
        (10, {}, 10),
        (0, {}, 0),
        (-10, {}, None),
        (None, {}, None),
        (10, {"operation": "rollback"}, None),
        (10, {"subtasks": [{"id": 1, "status": "PENDING"}]}, None),
    ],
    ids=repr,
)
def test_last_successful_restart_sets_the_start_time(started_at, more, started, api):
    tags = [{"arbitrationServiceId": 61}]
    task = {**raw_task(90, "SUCCESSFUL", name=ARBITRATION, tags=tags), **more}
    task["startTime"] = None if started_at is None else at(started_at).isoformat()
    api.expect("tasks", name="arbitration", status="SUCCESSFUL", gives=[task])
    [member] = with_last_restart(
        api.double, SERVICE, Observation("RUNNING", (Member("m", "RUNNING"),)), BEGINNING
    ).members
    assert member.started == (None if started is None else at(started))
