# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The requests of a restart, from the first read on."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.look import NEWEST_TASKS
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart import (
    LOOK_AND_REQUEST,
    restart_target,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task, response

OPTIONS = RestartRequest(check_mode=False, wait=False, policy=PollPolicy(60, 10))


def cluster(**of_the_other):
    servers = [{"id": 40 + n, "ip": f"10.1.0.{n}", "port": 2882, "hostId": 50 + n, "status": "RUNNING"} for n in (1, 2)]
    servers[1].update(of_the_other)
    return {"id": 31, "name": "orders", "serverCount": 2, "zones": [{"name": "zone1", "servers": servers}]}


def restart(api, time_passes):
    api.double.service_clock = ServiceClock()
    api.double.user = "admin"
    named = {"cluster": "31", "server": "41", "freeze_server": True, "force": False}
    return restart_target(api.double, Selector(Server, named), OPTIONS, time_passes.clock)


def expect_start(api):
    api.expect("restart_server", 31, 41, freeze_server=True, force=False, gives=response(raw_task(81)))


@pytest.mark.parametrize("other", [90, None])
def test_service_that_names_running_tasks_is_read_once(other, api, time_passes):
    """A service that names running tasks needs no list of those: the newest ones show the rest."""
    api.expect("cluster", 31, gives=cluster(operatingTaskInstanceId=other))
    api.expect("wait_for_room", LOOK_AND_REQUEST, time_passes.clock)
    api.expect("tasks", NEWEST_TASKS, clusterId=31, gives=[{"id": 80}])
    api.expect("cluster", 31, gives=cluster(operatingTaskInstanceId=other))
    expect_start(api)
    assert restart(api, time_passes)["task_id"] == 81


def test_task_list_is_read_before_the_second_read_of_the_target(api, time_passes):
    """A restart that ends between the two reads then shows in the start."""
    api.expect("cluster", 31, gives=cluster())
    api.expect("wait_for_room", LOOK_AND_REQUEST, time_passes.clock)
    api.expect("tasks", NEWEST_TASKS, clusterId=31, gives=[{"id": 80}])
    api.expect("tasks", clusterId=31, status="RUNNING", gives=[])
    api.expect("cluster", 31, gives=cluster())
    expect_start(api)
    assert restart(api, time_passes)["task_id"] == 81
