# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The small worlds that are explored."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import InFlight
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.tests.explore.doubles import DELAYS, ENDINGS, PERSON, START_LATE, Service
from ansible_collections.oceanbase.ocp.tests.explore.world import (
    ANSWERS,
    BY_PEOPLE,
    OF_THE_TARGET,
    OTHER_RUNS,
    Setting,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, StaticParameter, Thing

A_SERVER = Selector(Server, {"cluster": "orders", "server": "10.1.0.1:2882", "freeze_server": False, "force": False})
ANOTHER = Selector(Server, {"cluster": "orders", "server": "10.1.0.2:2882", "freeze_server": False, "force": False})
A_ZONE = Selector(Zone, {"cluster": "orders", "zone": "zone1"})
AN_ARBITER = Selector(ArbitrationService, {"arbitration_service": "10.1.0.8:2888"})
TWO_AGENTS = Selector(Agents, {"hosts": ["10.1.0.1", "10.1.0.2"]})
ON_THE_WAY = ("kill", *ANSWERS, *DELAYS)
BY_OTHERS = ("kill", *BY_PEOPLE, *OF_THE_TARGET)
FEW = ("kill", "the answer is lost", "it is shown late", "a person restarts it", "the service forgets its tasks")
LATE = (*FEW, "it is listed late")
PARAMETER = "memory_limit"

Targets = Sequence[Sequence[Thing]]


def server(service: Service) -> Targets:
    """One server."""
    del service.servers_there[1:]
    return [service.servers_there]


def server_that_has_just_started(service: Service) -> Targets:
    """The same, started so short a time before the change that no clock tells."""
    service.servers_there[0].started = -30.0
    return server(service)


def server_in_restart(service: Service) -> Targets:
    """The same; somebody has begun a restart of it at the very instant of the change."""
    [things] = server(service)
    service.begin(SERVER, list(things), creator=PERSON)
    return [things]


def server_in_restart_that_shows_no_start(service: Service) -> Targets:
    """The same; no start of it was ever shown before."""
    service.servers_there[0].started = None
    return server_in_restart(service)


def server_in_restart_that_shows_late(service: Service) -> Targets:
    """The same; the start that it makes shows two minutes later."""
    targets = server_in_restart(service)
    service.late_starts[service.jobs[-1].id] = START_LATE
    return targets


def server_of_an_old_service(service: Service) -> Targets:
    """The same, by a service that shows neither what works on a target, nor what a task restarts, nor its creator."""
    service.names_operations = service.tags = service.shows_creators = False
    return server(service)


def server_without_permission(service: Service) -> Targets:
    """The same, for credentials that may not read tasks."""
    service.reads_tasks = False
    return server_that_has_just_started(service)


def server_with_late_values(service: Service) -> Targets:
    """The same, with a parameter whose value shows late after a start."""
    service.parameters = {PARAMETER: StaticParameter("8G", "16G", shown_late=60.0)}
    return server(service)


def server_without_values(service: Service) -> Targets:
    """The same, with a value that does not take effect."""
    service.parameters = {PARAMETER: StaticParameter("8G", "16G", never=True)}
    return server(service)


def server_with_early_values(service: Service) -> Targets:
    """The same, with a value that is shown before any restart."""
    service.parameters = {PARAMETER: StaticParameter("8G", "16G", at_once=True)}
    return server(service)


def two_servers(service: Service) -> Targets:
    """Two servers in two of three zones, one for each controller."""
    first, second, _third = service.servers_there
    return [[first], [second]]


def zone(service: Service) -> Targets:
    """A zone of two servers."""
    del service.servers_there[2:]
    service.servers_there[1].zone = "zone1"
    return [service.servers_there]


def arbiter(service: Service) -> Targets:
    """An arbitration service, which shows no start."""
    return [service.arbitration]


def arbiter_without_permission(service: Service) -> Targets:
    """The same, for credentials that may not read tasks."""
    service.reads_tasks = False
    return [service.arbitration]


def agents(service: Service) -> Targets:
    """The agents of two hosts, which show processes."""
    return [service.agents_there[:2]]


_SERVER, _NAMED, _DATED, _BOTH = (A_SERVER,), {}, {"change": None, "dated": True}, {"dated": True}
_VALUES = {"change": None, "values": {PARAMETER: "16G"}}
_ALL = (
    Setting("on the way, by a name", _SERVER, server, events=ON_THE_WAY, most_events=2),
    Setting("on the way, by an instant", _SERVER, server, events=ON_THE_WAY, most_events=2, **_DATED),
    Setting("on the way, by both", _SERVER, server, events=ON_THE_WAY, **_BOTH),
    Setting("by others, by a name", _SERVER, server, events=BY_OTHERS, endings=ENDINGS),
    Setting("by others, by an instant", _SERVER, server, events=BY_OTHERS, endings=ENDINGS, **_DATED),
    Setting("by others, by both", _SERVER, server, events=BY_OTHERS, endings=ENDINGS, **_BOTH),
    Setting(
        "two controllers",
        _SERVER,
        server,
        controllers=2,
        most_events=2,
        events=("kill", "the answer is lost", "it is held back", OTHER_RUNS),
    ),
    Setting(
        "two journals",
        _SERVER,
        server,
        controllers=2,
        shared=False,
        events=("kill", "the answer is lost", OTHER_RUNS),
        most_runs=2,
    ),
    Setting(
        "two controllers, two zones",
        (A_SERVER, ANOTHER),
        two_servers,
        controllers=2,
        most_events=2,
        events=("kill", "it is shown late", OTHER_RUNS),
        safety=Safety(),
        most_runs=2,
    ),
    Setting("a zone", (A_ZONE,), zone, most_events=2, events=(*FEW, "its servers are shown no more"), endings=ENDINGS),
    Setting("agents", (TWO_AGENTS,), agents, most_events=2, events=FEW, endings=ENDINGS),
    Setting("an arbitration service, by a name", (AN_ARBITER,), arbiter, events=LATE, endings=ENDINGS),
    Setting(
        "an arbitration service, by an instant",
        (AN_ARBITER,),
        arbiter,
        most_events=2,
        events=LATE,
        endings=ENDINGS,
        **_DATED,
    ),
    Setting("queue", _SERVER, server, events=FEW, endings=ENDINGS, in_flight=InFlight.QUEUE),
    Setting("fail if anything runs", _SERVER, server, events=FEW, in_flight=InFlight.FAIL),
    Setting("without a wait", _SERVER, server, events=(*FEW, "it shows its start late"), endings=ENDINGS, wait=False),
    Setting("without a change", _SERVER, server, change=None, events=FEW, endings=ENDINGS, most_runs=3),
    Setting(
        "it has just started",
        _SERVER,
        server_that_has_just_started,
        events=FEW,
        endings=ENDINGS,
        is_unclear=True,
        **_DATED,
    ),
    Setting("it restarts at the instant", _SERVER, server_in_restart, events=FEW, is_unclear=True, **_DATED),
    Setting(
        "it restarts at the first use",
        _SERVER,
        server_in_restart,
        events=(*FEW, "it shows its start late"),
        is_unclear=True,
    ),
    Setting(
        "it restarts at the first use, and shows no start",
        _SERVER,
        server_in_restart_that_shows_no_start,
        events=(*FEW, "it shows its start late"),
        is_unclear=True,
    ),
    Setting(
        "it restarts at the first use, and shows that late",
        _SERVER,
        server_in_restart_that_shows_late,
        events=("kill", "it is refused"),
        most_events=2,
        is_unclear=True,
    ),
    Setting("an old service", _SERVER, server_of_an_old_service, events=FEW, endings=ENDINGS, is_unclear=True),
    Setting("no permission for tasks", _SERVER, server_without_permission, events=("kill",), is_unclear=True, **_DATED),
    Setting(
        "an arbitration service, no permission for tasks",
        (AN_ARBITER,),
        arbiter_without_permission,
        events=("kill",),
        is_unclear=True,
    ),
    Setting("the service is four minutes ahead", _SERVER, server, events=FEW, clock_offset=240.0, **_DATED),
    Setting(
        "the service is ten minutes ahead", _SERVER, server, events=FEW, clock_offset=600.0, is_unclear=True, **_DATED
    ),
    Setting("two application servers, ten minutes apart, by a name", _SERVER, server, events=FEW, second_ahead=600.0),
    Setting(
        "two application servers, ten minutes apart, an arbitration service",
        (AN_ARBITER,),
        arbiter,
        events=FEW,
        second_ahead=-600.0,
    ),
    Setting(
        "the second application server is ahead",
        _SERVER,
        server,
        events=(*FEW, "it shows its start late"),
        second_ahead=40.0,
        is_unclear=True,
        **_DATED,
    ),
    Setting(
        "the second application server is behind",
        _SERVER,
        server,
        events=(*FEW, "it shows its start late"),
        second_ahead=-40.0,
        is_unclear=True,
        **_DATED,
    ),
    Setting(
        "hosts are ahead",
        _SERVER,
        server_that_has_just_started,
        events=FEW,
        hosts_ahead=50.0,
        is_unclear=True,
        **_DATED,
    ),
    Setting("hosts are behind", _SERVER, server, events=FEW, hosts_ahead=-50.0, is_unclear=True, **_DATED),
    Setting("hosts are ten minutes behind", _SERVER, server, events=FEW, hosts_ahead=-600.0, is_unclear=True, **_DATED),
    Setting("values show late", _SERVER, server_with_late_values, events=FEW, is_unclear=True, **_VALUES),
    Setting("values do not take effect", _SERVER, server_without_values, events=FEW, is_unclear=True, **_VALUES),
    Setting("values show early", _SERVER, server_with_early_values, events=FEW, is_unclear=True, **_VALUES),
    Setting(
        "values since an instant", _SERVER, server_with_late_values, events=FEW, is_unclear=True, dated=True, **_VALUES
    ),
)
SETTINGS = {setting.name: setting for setting in _ALL}
