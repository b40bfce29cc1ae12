# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One run: a fleet, what controllers do in it and when, and what people do meanwhile; all of it drawn from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ansible_collections.oceanbase.ocp.tests.outages import activities
from ansible_collections.oceanbase.ocp.tests.outages.activities import Controller
from ansible_collections.oceanbase.ocp.tests.outages.emulated import Emulated
from ansible_collections.oceanbase.ocp.tests.outages.fleets import CONTROLLERS, draw_fleet
from ansible_collections.oceanbase.ocp.tests.outages.verdicts import Found, classify
from ansible_collections.oceanbase.ocp.tests.outages.wiring import Wire
from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices, Stream
from ansible_collections.oceanbase.ocp.tests.simulation.machines import Machine
from ansible_collections.oceanbase.ocp.tests.simulation.scheduler import Scheduler
from ansible_collections.oceanbase.ocp.tests.simulation.virtual_time import Current

HORIZON = 8_000.0
# Seconds of the subtasks of restarts.
STEPS = (1.0, 3.0, 8.0)
# Tenths of seconds until all activities have begun.
BEGINS = 1200


class Run:
    """One run. With ``safety`` none the same is asked for, and nothing is refused.

    With ``shared`` all controllers have one journal.
    """

    def __init__(
        self, choices: Choices, *, safety: str = "majority", controllers: int = 1, shared: bool = False
    ) -> None:
        draw = choices.stream("fleet")
        self.counts: Counter[str] = Counter()
        self.scheduler = Scheduler(HORIZON)
        self.fleet = self.draw_fleet(draw)
        self.emulated = Emulated(self.fleet, self.scheduler, draw.pick(STEPS))
        self.wire = Wire(self.scheduler, self.emulated, str(choices.recorded()))
        self._choices = choices
        self._safety = safety
        self._controllers = controllers
        self._shared = shared
        self.told: list[str] = []
        self.said: list[str] = []

    def run(self, current: Current) -> list[Found]:
        """Carry it out; returns the outages that restarts of ours began."""
        current.scheduler, current.network = self.scheduler, self.wire  # type: ignore[assignment]
        controllers = [self._controller(name) for name in CONTROLLERS[: self._controllers]]
        if self._shared:
            for controller in controllers:
                controller.machine.journal = controllers[0].machine.journal
        self.plan(controllers)
        self.scheduler.run()
        for controller in controllers:
            self.said += [f"{controller.user} {words}" for words in controller.said]
        found = classify(self.emulated, self.wire.sent, shared=self._shared)
        self.counts["restarts"] += len(self.wire.sent)
        self.counts["requests"] += self.wire.requests
        self.emulated.close()
        return found

    def _controller(self, name: str) -> Controller:
        machine = Machine(name, 0.0, self.scheduler)
        return Controller(name, machine, self._safety, self.scheduler, self.counts)

    def draw_fleet(self, draw: Stream) -> dict[str, Any]:
        """The fleet file."""
        return draw_fleet(draw)

    def plan(self, controllers: Sequence[Controller]) -> None:
        """Begin all that happens."""
        draw = self._choices.stream("controllers")
        begin = 0.0
        for number in range(draw.pick((2, 1, 3, 4), (40, 15, 30, 15))):
            # At night many things are planned for the same minute.
            begin = begin + draw.below(20) / 10 if draw.chance(0.5) else draw.below(BEGINS) / 10
            self._begin(draw, controllers[number % len(controllers)], number, begin)
        self._plan_people(self._choices.stream("people"))

    # What controllers do

    def _begin(self, draw: Stream, controller: Controller, number: int, begin: float) -> None:
        cluster = draw.pick(self.fleet["clusters"])
        tolerated = [draw.pick(["sys", *(each["name"] for each in cluster["tenants"])])] if draw.chance(0.1) else []
        for place, (name, work) in enumerate(self._activities(draw, controller, cluster)):
            self.told.append(f"at {begin:.1f} {controller.user} {name}, tolerating {tolerated}")
            moment = begin + (draw.below(40) / 10 if place else 0.0)
            controller.start(moment, f"{number}.{place}", tolerated, work)

    def _activities(
        self, draw: Stream, controller: Controller, cluster: dict[str, Any]
    ) -> Iterator[tuple[str, Callable[[], None]]]:
        kind = draw.pick(("loop", "forks", "fleet", "rolling", "zones", "arbitration"), (20, 25, 25, 15, 10, 5))
        services = self.fleet["arbitration_services"]
        kind = "loop" if kind == "arbitration" and not services else kind
        servers = _some(draw, _servers(cluster))
        options: dict[str, Any] = {"wait": draw.chance(0.5), "in_flight": draw.pick(("attach", "queue", "fail"))}
        if draw.chance(0.5):
            options["safety_timeout"] = 300
        self.counts[f"activities: {kind}"] += 1
        if kind == "loop":
            yield f"loop over {_names(servers)} {options}", partial(activities.loop, controller, servers, **options)
        elif kind == "forks":
            for server in servers:
                yield f"fork {_names([server])} {options}", partial(activities.loop, controller, [server], **options)
        elif kind == "fleet":
            every = [server for one in self.fleet["clusters"] for server in _servers(one)]
            chosen, waves = _some(draw, every), draw.chance(0.6)
            yield f"fleet {_names(chosen)} waves {waves}", partial(activities.fleet, controller, chosen, waves=waves)
        elif kind == "rolling":
            batch = draw.pick(("auto", "1", "2"))
            yield (
                f"rolling {cluster['name']} by {batch}",
                partial(activities.rolling, controller, cluster["name"], batch),
            )
        elif kind == "zones":
            chosen = _some(draw, [zone["name"] for zone in cluster["zones"]])
            yield f"zones {chosen} {options}", partial(activities.zones, controller, cluster["name"], chosen, **options)
        else:
            name = f"{draw.pick(services)['ip']}:2888"
            yield f"arbitration {name} {options}", partial(activities.arbitration, controller, name, **options)

    # What people do

    def _plan_people(self, draw: Stream) -> None:
        servers = [(place, server) for place, one in enumerate(self.fleet["clusters"], 1) for server in _servers(one)]
        services = len(self.fleet["arbitration_services"])
        for _event in range(draw.pick((0, 1, 2, 4), (35, 30, 20, 15))):
            number, when = draw.below(len(servers)) + 1, draw.below(3000) / 10
            kind = draw.pick(("available", "restart", "stop", "process", "arbiter"), (40, 20, 20, 10, 10))
            service = draw.below(max(1, services)) + 1
            if kind == "arbiter" and not services:
                continue
            self.told.append(f"at {when:.1f} people: {kind} of server {number} or service {service}")
            self.counts[f"people: {kind}"] += 1
            calls = _calls_of_people(kind, f"{servers[number - 1][0]}/servers/{number}", number, service)
            for call, again in zip(calls, (when, when + 1 + draw.below(3000) / 10), strict=False):
                if call is calls[0] or draw.chance(0.7):
                    self.scheduler.at(again, partial(self.emulated.call, **call))


def _calls_of_people(kind: str, place: str, number: int, service: int) -> list[dict[str, Any]]:
    """What takes a server or an arbitration service away, and what brings it back later."""
    if kind == "restart":
        return [{"method": "POST", "path": f"/api/v2/ob/clusters/{place}/restart", "freezeServer": False}]
    if kind == "stop":
        return [{"method": "POST", "path": f"/api/v2/ob/clusters/{place}/{verb}"} for verb in ("stop", "start")]
    path, word = {
        "available": (f"/emulator/servers/{number}", "available"),
        "process": (f"/emulator/servers/{number}/process", "running"),
        "arbiter": (f"/emulator/arbitration-services/{service}/process", "running"),
    }[kind]
    return [{"method": "PUT", "path": path, word: value} for value in (False, True)]


class Meeting(Run):
    """Two controllers restart a server of two zones of one cluster, and begin within one second."""

    def draw_fleet(self, draw: Stream) -> dict[str, Any]:
        """Three zones of one server each, with full replicas."""
        fleet = draw_fleet(draw)
        zones = [{"name": f"z{zone}", "servers": [{"ip": f"10.1.{zone}.1"}]} for zone in (1, 2, 3)]
        return {**fleet, "clusters": [{"name": "c1", "zones": zones, "tenants": []}], "arbitration_services": []}

    def plan(self, controllers: Sequence[Controller]) -> None:
        """One restart each."""
        draw = self._choices.stream("controllers")
        for controller, server in zip(controllers, _servers(self.fleet["clusters"][0]), strict=False):
            begin = 10.0 + draw.below(1000) / 1000
            self.told.append(f"at {begin:.3f} {controller.user} {_names([server])}")
            controller.start(begin, controller.user, [], partial(activities.loop, controller, [server], wait=True))


def _servers(cluster: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"cluster": cluster["name"], "server": f"{server['ip']}:2882"}
        for zone in cluster["zones"]
        for server in zone["servers"]
    ]


def _names(servers: Sequence[Mapping[str, str]]) -> str:
    return ", ".join(server["server"] for server in servers)


def _some(draw: Stream, every: Sequence[Any]) -> list[Any]:
    """Some of them, in any order; all in their order is the plainest."""
    left, chosen = list(every), []
    for _place in range(len(every) - draw.below(len(every))):
        chosen.append(left.pop(draw.below(len(left))))
    return chosen
