# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The small worlds that are explored."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.tests.explore.doubles import ENDINGS, Service
from ansible_collections.oceanbase.ocp.tests.explore.world import (
    ANSWERS,
    BY_PEOPLE,
    DELAYS,
    OF_THE_TARGET,
    OTHER_RUNS,
    Setting,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Thing

A_SERVER = Selector(Server, {"cluster": "orders", "server": "10.1.0.1:2882", "freeze_server": False, "force": False})
A_ZONE = Selector(Zone, {"cluster": "orders", "zone": "zone1"})
AN_ARBITER = Selector(ArbitrationService, {"arbitration_service": "10.1.0.8:2888"})
EVERYTHING = ("kill", *ANSWERS, *DELAYS, *BY_PEOPLE, *OF_THE_TARGET)

Targets = Sequence[Sequence[Thing]]


def server(service: Service) -> Targets:
    """One server."""
    del service.servers_there[1:]
    return [service.servers_there]


def zone(service: Service) -> Targets:
    """A zone of two servers."""
    del service.servers_there[2:]
    service.servers_there[1].zone = "zone1"
    return [service.servers_there]


def arbiter(service: Service) -> Targets:
    """An arbitration service, which shows no start."""
    return [service.arbitration]


_ALL = (
    Setting("a name", (A_SERVER,), server, events=EVERYTHING, endings=ENDINGS),
    Setting("an instant", (A_SERVER,), server, change=None, dated=True, events=EVERYTHING, endings=ENDINGS),
    Setting("a name and an instant", (A_SERVER,), server, dated=True, events=EVERYTHING, endings=ENDINGS),
    Setting("an arbitration service", (AN_ARBITER,), arbiter, events=EVERYTHING, endings=ENDINGS),
    Setting("a zone", (A_ZONE,), zone, events=EVERYTHING, endings=ENDINGS),
    Setting("two controllers with one journal", (A_SERVER,), server, controllers=2, events=("kill", OTHER_RUNS, *ANSWERS)),
)
SETTINGS = {setting.name: setting for setting in _ALL}
