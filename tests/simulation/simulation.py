# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One run: when things change, which controllers restart what, and all of it drawn from the choices."""

from __future__ import annotations

import tempfile
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from .choices import Choices, Stream
from .controllers import Controller, Plan
from .fleet import Fleet, Key, draw_fleet
from .history import Change, History
from .journals import Database, Faults, draw_faults, draw_leases
from .machines import Machine
from .network import Network, Weather
from .people import People
from .profile import DAY, HOUR, draw_profile, scatter_clocks
from .records import address, server_port
from .scheduler import Scheduler
from .service import Service
from .tasks import Tasks
from .virtual_time import Current

HORIZON = 4000.0
CHANGED_AT = (10.0, -120.0, -1500.0)
# Choices of a world in which a change has a name and no instant, and no clock is near another.
NAMES_ALONE = {"world": [1]}


class Simulation:
    """One run with its history."""

    def __init__(self, choices: Choices, *, tell: bool = False, most_requests: int | None = None) -> None:
        self.choices = choices
        self.history = History(told=[] if tell else None)
        self.machines: list[Machine] = []
        self.scheduler = Scheduler(HORIZON)
        self.profile = draw_profile(choices.stream("profile"))
        self._names_alone = choices.stream("world").chance(0.0)
        if self._names_alone:
            scatter_clocks(self.profile, choices.stream("clocks"))
        self.fleet = draw_fleet(choices.stream("fleet"), self.profile)
        weather = choices.stream("weather")
        failures = weather.pick((0.0, 0.25, 0.7), (50, 35, 15))
        self.tasks = Tasks(
            self.scheduler, self.fleet, self.profile, choices.stream("tasks"), failures, self.story
        )  # fmt: skip
        self.service = Service(self.scheduler, self.fleet, self.profile, self.tasks, choices.stream("service"))
        self.network = Network(self.scheduler, self.service, self.profile, choices, Weather(weather), self.story)
        self.network.most_requests = most_requests
        self.people = People(
            self.scheduler, self.fleet, self.tasks, self.service, self.network, choices.stream("people"),
            choices.stream("identities"), self.story,
        )  # fmt: skip

        self.network.on_pause = lambda run: self.people.happen_meanwhile(run.change)

    def story(self, text: str) -> None:
        """Tell what happens, if anyone listens."""
        if self.history.told is not None:
            self.history.told.append((self.scheduler.now, text))

    def run(self, current: Current) -> None:
        """Carry it out."""
        with TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            self._run(current)

    def _run(self, current: Current) -> None:
        current.scheduler, current.network = self.scheduler, self.network
        self._remember()
        draw = self.choices.stream("scenario")
        self.history.changes = [draw_change(draw, self.fleet) for _number in range(draw.pick((1, 2), (70, 30)))]
        for number, change in enumerate(self.history.changes, 1):
            change.name, change.at = f"change-{number}", draw.pick(CHANGED_AT, (50, 30, 20))
            draw_safety(self.choices.stream("safety"), self.fleet, change)
        noted_by = draw.pick((0.0, 2.0, -40.0, 5.0, 20.0, 50.0), (80, 4, 4, 3, 4, 5))
        for number in range(draw.pick((1, 2, 3), (55, 33, 12))):
            plan = draw_plan(draw, f"c{number + 1}", self.history.changes, noted_by, self._ways)
            machine = self._machine(draw, number)
            _count_lead(draw, plan, machine)
            Controller(plan, machine, self.scheduler, self.history, self.story).begin()
            if draw.chance(0.1):
                self._beside(plan)
        self.people.plan()
        self.people.plan_another_id(self.history.changes)
        self._forget_a_start()
        self.scheduler.run()

    @property
    def _ways(self) -> dict[str, float]:
        """How often a change has an instant, a name, both or neither. An instant needs hosts whose clocks are near."""
        if self._names_alone:
            return {"name": 1}
        if self.profile.hosts_are_near:
            return {"instant": 38, "name": 32, "both": 18, "always": 12}
        return {"name": 88, "always": 12}

    def _remember(self) -> None:
        """The tasks from before."""
        choices = self.choices.stream("past")
        number = self.profile.past_tasks
        for when in (-4000.0 + 60.0 * place * 60 / max(60, number) for place in range(number)):
            if choices.chance(0.3):
                server = choices.pick(self.fleet.of("server"))
                self.tasks.past("server", "restart", None, [server.key], server.now["cluster"], when)
            else:
                cluster = choices.pick(self.fleet.of("cluster"))
                self.tasks.past("cluster", "other", cluster.key, [], cluster.key[1], when)

    def _forget_a_start(self) -> None:
        """For a while the service does not show when a server started."""
        until = self.profile.start_unknown_until
        if not until:
            return
        server = self.choices.stream("past").pick(self.fleet.of("server"))
        shown = server.now["shown"]
        server.set(0.0, shown=None)

        def show() -> None:
            if server.now["shown"] is None:
                server.set(self.scheduler.now, shown=shown)

        self.scheduler.at(until, show)

    def _machine(self, draw: Stream, number: int) -> Machine:
        """That of a controller: its own, or the one of the controller before."""
        if self.machines and draw.chance(0.3):
            draw.counted("two controllers on one machine")
            return self.machines[-1]
        ahead = draw.pick((0.0, 2.0, -3.0, 90.0, -200.0, 1000.0), (85, 4, 4, 3, 3, 1))
        if self._names_alone:
            ahead = self.choices.stream("clocks").pick((0.0, 5 * HOUR, -3 * HOUR, 2 * DAY))
        if ahead:
            draw.counted("clock of a controller off")
        name = f"m{number + 1}"
        choices = self.choices.stream(f"journal {name}")
        faults, database = Faults(self.scheduler, choices, self.story), None
        draw_faults(faults, choices)
        shared = [each.database for each in self.machines if each.database is not None]
        if shared and choices.chance(0.5):
            choices.counted("journal shared by two machines")
            database = choices.pick(shared)
        elif choices.chance(0.15):
            choices.counted("journal shared by several controllers")
            database = Database(choices.pick((0.0, -200.0, HOUR)))
        if database is not None:
            draw_leases(faults, choices)
        self.machines.append(Machine(name, ahead, self.scheduler, faults, database))
        return self.machines[-1]

    def _beside(self, plan: Plan) -> None:
        """Somebody restarts another cluster right before a controller begins."""
        self.scheduler.at(plan.starts - 0.3, lambda: self.people.restart_other_cluster(plan.changes[0]))


def _count_lead(draw: Stream, plan: Plan, machine: Machine) -> None:
    """Count a plan whose instant is still to come when it begins."""
    instants = [change.at + plan.change_clock - machine.ahead for change in plan.changes]
    if plan.by_instant and any(each > plan.starts for each in instants):
        draw.counted("instant of the change still to come")


def draw_change(draw: Stream, fleet: Fleet) -> Change:
    """A target, as the options of its module name it."""
    kind = draw.pick(("server", "zone", "cluster", "host", "arbitration"), (47, 17, 13, 18, 5))
    draw.counted(f"change of a {kind}")
    key: Key = draw.pick([thing.key for thing in fleet.of(kind)])
    state = fleet.things[key].now
    if kind == "server":
        name = f"{address(('host', state['host']))}:{server_port(key, state)}"
        args: dict[str, Any] = {"cluster": f"c{state['cluster']}", "server": name, "freeze_server": True}
        return Change(kind, (key,), None, state["cluster"], 0.0, args)
    if kind == "host":
        hosts = [thing.key for thing in fleet.of("host")]
        members = tuple(dict.fromkeys([key, *([draw.pick(hosts)] if draw.chance(0.4) else [])]))
        return Change(kind, members, None, None, 0.0, {"hosts": [address(each) for each in members]})
    if kind == "arbitration":
        return Change(kind, (key,), None, None, 0.0, {"arbitration_service": f"10.1.200.{key[1]}:2888"})
    cluster = key[1] if kind == "cluster" else state["cluster"]
    zone = state["name"] if kind == "zone" else None
    args = {"cluster": f"c{cluster}", **({"zone": zone} if zone else {})}
    return Change(kind, tuple(each.key for each in fleet.servers(cluster, zone)), key, cluster, 0.0, args)


def draw_safety(draw: Stream, fleet: Fleet, change: Change) -> None:
    """What a change may take down. The tenant has a replica in each zone, so it can lose one of three."""
    if change.kind in ("cluster", "host"):
        return
    zones = [zone for zone in fleet.of("zone") if zone.now["cluster"] == change.cluster]
    majority = len(zones) > 2 or change.kind == "arbitration"
    change.args["safety"] = draw.pick(("majority", "none"), (80, 20) if majority else (10, 90))
    draw.counted(f"safety: {change.args['safety']}")


def draw_plan(draw: Stream, name: str, changes: list[Change], noted_by: float, ways: dict[str, float]) -> Plan:
    """What one controller does."""
    mine = changes if len(changes) == 1 or draw.chance(0.5) else [draw.pick(changes)]
    args: dict[str, Any] = {
        "wait": draw.pick((True, False), (85, 15)),
        "in_flight": draw.pick(("attach", "queue", "fail"), (60, 28, 12)),
        "wait_timeout": draw.pick((120, 30, 900), (60, 30, 10)),
        "timeout": draw.pick((10, 5, 30), (60, 20, 20)),
    }
    draw.counted(f"in_flight: {args['in_flight']}")
    late = draw.pick((0.0, 0.05, 1.0, 4.0, 13.0, 30.0), (5, 2, 7, 22, 32, 32))
    way = draw.pick(list(ways), list(ways.values()))
    draw.counted(f"restarts for: {way}")
    plan = Plan(name, 12.0 + late, mine, args, by_instant=way in ("instant", "both"), by_name=way in ("name", "both"))
    plan.change_clock = noted_by
    if noted_by:
        draw.counted("clock of the machine that noted the change off")
    plan.user = draw.pick((f"{name}-account", "ops"), (80, 20))
    plan.retries = draw.pick((0, 1, 2), (60, 25, 15))
    plan.reruns = draw.pick((2, 0, 1, 4))
    plan.pause = draw.pick((5.0, 1.0, 20.0, 60.0))
    plan.mend = draw.pick((None, "retried", "rolled_back", "skipped"), (60, 20, 12, 8))
    if draw.chance(0.2):
        plan.killed_at = [plan.starts + draw.pick((0.03, 0.1, 0.3, 1.0, 3.0, 6.0, 12.0))]
        draw.counted("controller killed")
    if draw.chance(0.1):
        plan.interrupted_at = plan.starts + draw.pick((0.5, 3.0, 8.0))
        draw.counted("Ansible's time-out")
    plan.looks_first = draw.pick((None, "check", "plan"), (90, 5, 5))
    if plan.looks_first:
        draw.counted(f"controller looks first: {plan.looks_first}")
    if plan.by_name and draw.chance(0.08):
        plan.clears_name = True
        draw.counted("people: clears the name of a change when it has restarted")
    return plan
