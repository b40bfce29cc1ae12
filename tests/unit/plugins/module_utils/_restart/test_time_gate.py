# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart that has to be done before an instant: what is judged, and what is left alone."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import CLUSTER as CLUSTER_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER as SERVER_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import ZONE as ZONE_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES

SERVER, ZONE = RESTART_CASES["server"], RESTART_CASES["zone"]


def restart(service, seconds, case=SERVER, **options):
    """So many seconds are left."""
    request = RestartRequest(
        options.pop("check_mode", False), False, PollPolicy(600, 10), finish_before=at(service.now + seconds), **options
    )
    return restart_target(service, case, request, service.time.clock)


def past(service, seconds, name=SERVER_TASK, thing=1, **more):
    service.begin(name, service.servers_there[thing : thing + 1], seconds=seconds, **more)
    service.passes(seconds + 1)


@pytest.mark.parametrize(("left", "action"), [(40.0, "submitted"), (39.9, "postponed")])
def test_longest_past_restart_of_the_cluster_decides(service, left, action):
    past(service, 40)
    past(service, 10, thing=2)
    result = restart(service, left)
    assert (result["action"], result["changed"], len(service.posts)) == (action, left == 40, left == 40)
    if action == "postponed":
        assert result["reason"] == (
            "it would not be done before 2026-05-04T03:01:31+08:00, since task 1001 (Restart OB server) took 40 seconds"
        )
        assert (result["task_id"], result["verified"]) == (None, None)


def test_the_instant_is_told_in_the_time_zone_of_the_service(service):
    request = RestartRequest(
        False, False, PollPolicy(600, 10), finish_before=at(service.now - 1).astimezone(timezone(timedelta(hours=-5)))
    )
    result = restart_target(service, SERVER, request, service.time.clock)
    assert result["reason"] == "it would not be done before 2026-05-04T02:59:59+08:00"


def test_check_mode_says_the_same(service):
    past(service, 40)
    assert restart(service, 30, check_mode=True)["action"] == "postponed"
    assert restart(service, 50, check_mode=True)["action"] == "submitted"


@pytest.mark.parametrize(("left", "action"), [(0.1, "submitted"), (-0.1, "postponed")])
def test_without_past_restarts_the_instant_alone_counts(service, left, action):
    past(service, 40, CLUSTER_TASK)
    past(service, 40, ZONE_TASK)
    past(service, 40, end="FAILED")
    service.servers_there[1].operated_by = None
    past(service, 40, "Back up")
    assert restart(service, left)["action"] == action


def test_zone_is_judged_by_zones(service):
    past(service, 40)
    past(service, 20, ZONE_TASK)
    assert restart(service, 30, ZONE)["action"] == "submitted"


def test_restart_that_somebody_retried_says_nothing(service):
    past(service, 40)
    tasks = service.tasks

    def retried(*args, **filters):
        return [{**task, "operation": "retry"} for task in tasks(*args, **filters)]

    service.tasks = retried
    assert restart(service, 30)["action"] == "submitted"


def test_it_is_judged_after_the_wait_for_safety(service):
    past(service, 5)
    service.begin(SERVER_TASK, service.servers_there[1:2], seconds=50)
    assert restart(service, 52, safety=Safety(), safety_timeout=600)["action"] == "postponed"
    assert service.posts == []


def test_past_restarts_are_found_behind_newer_tasks(service):
    past(service, 40)
    for _task in range(31):
        past(service, 0, "Back up")
    assert restart(service, 30)["action"] == "postponed"


def test_running_restart_is_joined_however_late_it_is(service):
    past(service, 40)
    service.begin(SERVER_TASK, service.servers_there[:1])
    assert restart(service, 1)["action"] == "attached"


def test_it_costs_no_request(service):
    restart_target(service, SERVER, RestartRequest(False, False, PollPolicy(600, 10)), service.time.clock)
    without = service.calls.count("tasks")
    service.passes(100)
    service.calls.clear()
    assert restart(service, 1000)["action"] == "submitted"
    assert service.calls.count("tasks") == without
