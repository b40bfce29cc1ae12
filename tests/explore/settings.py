# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The small worlds that are explored."""

from __future__ import annotations

from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.tests.explore.world import Setting
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, Thing

A_SERVER = Selector(Server, {"cluster": "orders", "server": "10.1.0.1:2882", "freeze_server": False, "force": False})
A_ZONE = Selector(Zone, {"cluster": "orders", "zone": "zone1"})
AN_ARBITER = Selector(ArbitrationService, {"arbitration_service": "10.1.0.8:2888"})
ENDINGS = ("FAILED", "REFUSED", "SKIPPED", "ROLLBACK")
EVERYTHING = ("kill", "lost", "person", "late start", "person retries")


def server(ocp: FakeOcp) -> list[Thing]:
    """One server."""
    return ocp.servers_there[:1]


def zone(ocp: FakeOcp) -> list[Thing]:
    """A zone of two servers."""
    ocp.servers_there[1].zone = "zone1"
    return ocp.servers_there[:2]


def arbiter(ocp: FakeOcp) -> list[Thing]:
    """An arbitration service, which shows no start."""
    return ocp.arbitration


_ALL = (
    Setting("a name", A_SERVER, server, events=EVERYTHING, endings=ENDINGS),
    Setting("an instant", A_SERVER, server, change=None, dated=True, events=EVERYTHING, endings=ENDINGS),
    Setting("a name and an instant", A_SERVER, server, dated=True, events=EVERYTHING, endings=ENDINGS),
    Setting("the clock of the service is ten minutes ahead", A_SERVER, server, clock_offset=600.0, endings=ENDINGS),
    Setting("the clocks of hosts are ahead", A_SERVER, server, change=None, dated=True, hosts_ahead=50.0),
    Setting("the clocks of hosts are behind", A_SERVER, server, change=None, dated=True, hosts_ahead=-50.0),
    Setting("a zone", A_ZONE, zone, events=EVERYTHING, endings=ENDINGS),
    Setting("an arbitration service", AN_ARBITER, arbiter, events=("kill", "lost"), endings=ENDINGS),
    Setting(
        "two controllers with one journal",
        A_SERVER,
        server,
        controllers=2,
        events=("kill", "lost", "other controller", "late start"),
        most_runs=2,
    ),
)
SETTINGS = {setting.name: setting for setting in _ALL}
