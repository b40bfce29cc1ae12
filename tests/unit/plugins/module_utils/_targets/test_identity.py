# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A target is named by its id and its address: an id that belongs to something else by now is not restarted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.obproxies import ObProxies, ObProxy
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    ORDERS,
    RESTART_CASES,
    SERVER_41,
    every_restart,
    failure,
    request,
)

OTHER_CLUSTER = Cluster(31, "stock")
BEFORE = {
    "server": (replace(SERVER_41, address="10.9.9.9:2882"), "server 10.1.0.1:2882"),
    "cluster": (OTHER_CLUSTER, "cluster orders"),
    "server of a cluster": (replace(SERVER_41, cluster=OTHER_CLUSTER), "cluster orders"),
    "zone": (replace(RESTART_CASES["zone"].target, cluster=OTHER_CLUSTER), "cluster orders"),
    "agents": (Agents(((51, "10.1.0.1"), (52, "10.9.9.9"))), "host 10.1.0.2"),
    "obproxies": (ObProxies(91, "entry", (ObProxy(81, "10.9.9.9:2883", 51),)), "OBProxy 10.1.0.1:2883"),
}


@pytest.mark.parametrize(("found_before", "shown"), BEFORE.values(), ids=BEFORE)
def test_id_that_shows_another_name_or_address_is_not_restarted(found_before, shown, service):
    case = replace(RESTART_CASES["server"], target=found_before)
    error = failure(service, case, request())
    assert isinstance(error, TargetError)
    assert f"The service now shows {shown} under the id of " in str(error)
    assert service.posts == []


def test_arbitration_service_at_another_address_is_not_restarted(api):
    target = ArbitrationService(61, "10.1.0.8:2888")
    shown = {"id": 61, "status": "RUNNING", "svrIp": "10.1.0.9", "svrPort": 2888}
    api.expect("arbitration_service", 61, gives=shown)
    with pytest.raises(TargetError, match=r"now shows arbitration service 10\.1\.0\.9:2888 under the id of"):
        target.observe(api.double)


@every_restart
def test_the_same_name_or_address_is_observed(case, service):
    assert case.target.observe(service).members


def test_record_without_an_address_is_taken_for_the_same(api):
    api.expect("cluster", 31, gives={"id": 31, "status": "RUNNING", "zones": []})
    assert ORDERS.read(api.double)["id"] == 31


def test_server_whose_record_lacks_the_address_keeps_its_own(api):
    api.expect("cluster", 31, gives={"id": 31, "status": "RUNNING", "zones": []})
    api.expect("servers", 31, gives=[{"id": 41, "status": "RUNNING", "port": 2882}])
    [member] = SERVER_41.observe(api.double).members
    assert member.name == SERVER_41.address
