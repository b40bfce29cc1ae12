# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The requests of a restart, from the first read on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from unittest.mock import ANY

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.sign_reads import LAG
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import (
    LOOK_AND_REQUEST,
    restart_target,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, URL, raw_task, response

NOW = BEGINNING.astimezone(UTC)
OPTIONS = RestartRequest(check_mode=False, wait=False, policy=PollPolicy(60, 10))
SAFELY = replace(OPTIONS, safety=Safety())


def cluster(**of_the_other):
    servers = [{"id": 40 + n, "ip": f"10.1.0.{n}", "port": 2882, "hostId": 50 + n, "status": "RUNNING"} for n in (1, 2)]
    servers[1].update(of_the_other)
    return {"id": 31, "name": "orders", "serverCount": 2, "zones": [{"name": "zone1", "servers": servers}]}


def restart(api, time_passes, options=OPTIONS):
    api.double.service_clock = ServiceClock()
    api.double.user = "admin"
    api.double.url, api.double.timeout = URL, 30.0
    named = {"cluster": "31", "server": "41", "freeze_server": True, "force": False}
    return restart_target(api.double, Selector(Server, named), options, time_passes.clock)


def expect_start(api):
    api.expect("wait_to_send", ANY)
    api.expect("restart_server", 31, 41, freeze_server=True, force=False, gives=response(raw_task(81)))


@pytest.mark.parametrize("other", [90, None])
def test_service_that_names_running_tasks_is_read_once(other, api, time_passes):
    """A service that names running tasks needs no list of those: the newest ones show the rest."""
    api.expect("cluster", 31, gives=cluster(operatingTaskInstanceId=other))
    api.expect("wait_for_room", LOOK_AND_REQUEST, ANY)
    api.expect("tasks", clusterId=31, gives=[{"id": 80}])
    api.expect("cluster", 31, gives=cluster(operatingTaskInstanceId=other))
    expect_start(api)
    assert restart(api, time_passes)["task_id"] == 81


def test_task_list_is_read_before_the_second_read_of_the_target(api, time_passes):
    """A restart that ends between the two reads then shows in the start."""
    api.expect("cluster", 31, gives=cluster())
    api.expect("wait_for_room", LOOK_AND_REQUEST, ANY)
    api.expect("tasks", clusterId=31, gives=[{"id": 80}])
    api.expect("cluster", 31, gives=cluster())
    expect_start(api)
    assert restart(api, time_passes)["task_id"] == 81


def spread(zones=3, **of_the_last):
    """A cluster of one server in each zone, as the newest service shows it."""
    names = [f"zone{n}" for n in range(1, zones + 1)]
    servers = [
        {"id": 40 + n, "ip": f"10.1.0.{n}", "port": 2882, "hostId": 50 + n, "status": "RUNNING", "zoneName": name}
        for n, name in enumerate(names, 1)
    ]
    servers[-1].update(of_the_last)
    found = [{"name": name, "servers": [server]} for name, server in zip(names, servers, strict=True)]
    return {"id": 31, "name": "orders", "serverCount": zones, "zones": found, "operatingTaskInstanceId": None}


def tenant(number, name, *zones):
    return {"id": number, "name": name, "clusterId": 31, "locality": ",".join(f"FULL{{1}}@zone{n}" for n in zones)}


def expect_look(api, found, tenants=()):
    """For the database the lag of the replicas is read before the tenants, but not again for a second look."""
    api.expect("wait_for_room", LOOK_AND_REQUEST + (2 if tenants else 0), ANY)
    if tenants:
        span = {"since": NOW - timedelta(seconds=120), "until": NOW}
        api.expect("lag_samples", "orders", **span, gives=[{"timestamp": 1, LAG: 0.05}])
        api.expect("tenants", 31, gives=list(tenants))
    api.expect("tasks", clusterId=31, gives=[{"id": 80}])
    api.expect("cluster", 31, gives=found)


def test_three_full_replicas_cost_two_requests_more_than_no_safety(api, time_passes):
    found = spread()
    api.expect("cluster", 31, gives=found)
    expect_look(api, found, [tenant(501, "sys", 1, 2, 3), tenant(502, "shop", 1, 2, 3)])
    expect_start(api)
    assert restart(api, time_passes, SAFELY)["task_id"] == 81


def test_arbitration_services_of_two_full_replicas_are_read_before_a_new_look(api, time_passes):
    found = spread(2)
    served = [{"id": 31, "tenants": [{"name": "sys"}]}]
    api.expect("cluster", 31, gives=found)
    expect_look(api, found, [tenant(501, "sys", 1, 2)])
    api.expect(
        "arbitration_services", gives=[{"id": 61, "svrIp": "h", "svrPort": 1, "status": "RUNNING", "clusters": served}]
    )
    api.expect("tasks", name="arbitration", gives=[])
    expect_look(api, found)
    expect_start(api)
    assert restart(api, time_passes, SAFELY)["task_id"] == 81


def test_units_of_the_tenants_in_question_are_read_before_a_new_look(api, time_passes):
    """What the service shows of servers is not older than the units."""
    found = spread(3, zoneName="zone1")
    units = [{"serverId": 43, "zoneName": "zone1"}]
    api.expect("cluster", 31, gives=found)
    expect_look(api, found, [tenant(501, "sys", 1, 2), tenant(502, "shop", 1)])
    api.expect("arbitration_services", gives=[])
    api.expect("tenant", 31, 501, gives={"zones": [{"name": "zone1", "units": units}]})
    api.expect("tenant", 31, 502, gives={"zones": [{"name": "zone1", "units": units}]})
    expect_look(api, found)
    expect_start(api)
    assert restart(api, time_passes, SAFELY)["task_id"] == 81


def test_after_a_pause_for_room_all_that_was_needed_is_read_again(api, time_passes):
    """What a gate has read before the pause may be of another day; what it needed is asked for in advance."""
    found, tenants = spread(2), [tenant(501, "sys", 1, 2)]
    served = [
        {
            "id": 61,
            "svrIp": "h",
            "svrPort": 1,
            "status": "RUNNING",
            "clusters": [{"id": 31, "tenants": [{"name": "sys"}]}],
        }
    ]
    api.expect("cluster", 31, gives=found)
    expect_look(api, found, tenants)
    api.expect("arbitration_services", gives=served)
    api.expect("tasks", name="arbitration", gives=[])
    api.expect("wait_for_room", LOOK_AND_REQUEST, ANY, gives=lambda _requests, clock: clock.sleep(30.0))
    api.expect("wait_for_room", LOOK_AND_REQUEST + 4, ANY)
    span = {"since": NOW - timedelta(seconds=90), "until": NOW + timedelta(seconds=30)}
    api.expect("lag_samples", "orders", **span, gives=[{"timestamp": 1, LAG: 0.05}])
    api.expect("tenants", 31, gives=tenants)
    api.expect("arbitration_services", gives=served)
    api.expect("tasks", name="arbitration", gives=[])
    api.expect("tasks", clusterId=31, gives=[{"id": 80}])
    api.expect("cluster", 31, gives=found)
    expect_start(api)
    assert restart(api, time_passes, SAFELY)["task_id"] == 81
