# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What others do meanwhile: people in the console, and processes that die or move by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .choices import Stream
from .fleet import Fleet, Key, Versioned, is_gone
from .history import Change
from .network import Network
from .records import server_ip, server_port
from .scheduler import Scheduler
from .service import Service
from .task_graph import Task
from .tasks import Tasks

ALICE = "alice"
INSTANTS = (14.0, 25.0, 6.0, 21.0, 31.0, 45.0, 70.0, 110.0)


class People:
    """Carries out a few events at drawn instants."""

    def __init__(
        self, scheduler: Scheduler, fleet: Fleet, tasks: Tasks, service: Service, network: Network, choices: Stream,
        identities: Stream, story: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._scheduler = scheduler
        self._fleet = fleet
        self._tasks = tasks
        self._service = service
        self._network = network
        self._choices = choices
        self._story = story
        self._identities = identities
        self._addresses = 0
        self._kinds: dict[str, Callable[[], Any]] = {
            "mends a failed task": self._mend,
            "restarts a server": lambda: self._restart("server"),
            "restarts a zone": lambda: self._restart("zone"),
            "restarts a cluster": lambda: self._restart("cluster"),
            "restarts an agent": lambda: self._restart("host"),
            "restarts an arbitration service": lambda: self._restart("arbitration"),
            "stops a server": lambda: self._work_on_server("stop"),
            "starts a server": lambda: self._work_on_server("start"),
            "changes parameters": self._change_parameters,
            "moves a server": self._move,
            "crash": lambda: self._crash(come_back=False),
            "crash and restart by itself": lambda: self._crash(come_back=True),
            "service restarts": self._outage,
            "many tasks": self._flood,
            "gives a server another address": self._change_address,
            "credentials locked": lambda: self._service.lock_out(60.0),
        }

    def plan(self) -> None:
        """Draw the events of this run."""
        names = list(self._kinds)
        weights = [10, 4, 2, 2, 2, 2, 3, 2, 2, 2, 2, 3, 2, 2, 1.5, 0.7]
        for _number in range(self._choices.pick((0, 1, 2, 4, 6), (35, 25, 20, 12, 8))):
            name = self._choices.pick(names, weights)
            when = self._choices.pick(INSTANTS) + self._choices.below(10)
            self._scheduler.at(when, lambda name=name: self._happen(name))

    def plan_another_id(self, changes: Sequence[Change]) -> None:
        """Draw whether a server is taken out and added again, perhaps one of those that are to be restarted."""
        draw = self._identities
        if not draw.chance(0.08):
            return
        wanted = [key for change in changes for key in change.members if key[0] == "server"]
        others = [thing.key for thing in self._fleet.present("server")]
        key = draw.pick(wanted if wanted and draw.chance(0.75) else others)
        when = draw.pick(INSTANTS) + draw.below(10)
        self._scheduler.at(when, lambda: self._change_id(key, draw.pick((0.0, 3.0, 20.0))))

    def _happen(self, name: str) -> None:
        self._choices.counted(f"people: {name}")
        self._story(f"event: {name}")
        self._kinds[name]()

    def _pick(self, kind: str) -> Key:
        return self._choices.pick([thing.key for thing in self._fleet.present(kind)])

    def _restart(self, kind: str) -> None:
        key = self._pick(kind)
        state = self._fleet.things[key].now
        own = key if kind in ("zone", "cluster") else None
        cluster = key[1] if kind == "cluster" else state.get("cluster")
        members = [key]
        if own:
            zone = state["name"] if kind == "zone" else None
            members = [server.key for server in self._fleet.servers(int(cluster or 0), zone)]
        if not self._tasks.occupied(own, members, cluster):
            self._tasks.submit(kind, "restart", own, members, cluster, ALICE, None)

    def happen_meanwhile(self, change: Change) -> None:
        """Restart what a controller pauses for, or give it another address or id."""
        key = self._fleet.newest(change.members[0]) if change.members else None
        if change.kind == "server" and key is not None and self._identities.chance(0.3):
            self._identities.counted("people: adds what a controller pauses for again, under another id")
            self._change_id(key, 0.0)
        elif change.kind == "server" and self._choices.chance(0.25):
            self._choices.counted("people: gives another address to what a controller pauses for")
            self._readdress(self._fleet.things[self._fleet.newest(change.members[0])])
        else:
            self.restart_target(change)

    def restart_target(self, change: Change) -> None:
        """Restart what a controller is about to restart, unless something works on it."""
        newest = [self._fleet.newest(key) for key in change.members]
        members = [key for key in newest if not is_gone(self._fleet.things[key].now)]
        if members and not self._tasks.occupied(change.own, members, change.cluster):
            self._choices.counted("people: restarts what a controller pauses for")
            self._tasks.submit(change.kind, "restart", change.own, members, change.cluster, ALICE, None)

    def restart_other_cluster(self, change: Change) -> None:
        """Restart a cluster that a change is not for."""
        others = [thing.key for thing in self._fleet.of("cluster") if thing.key[1] != change.cluster]
        if others:
            self._choices.counted("people: restarts another cluster")
            members = tuple(server.key for server in self._fleet.servers(others[0][1]))
            self.restart_target(Change("cluster", members, others[0], others[0][1], 0.0))

    def _work_on_server(self, work: str) -> None:
        key = self._pick("server")
        cluster = self._fleet.things[key].now["cluster"]
        if not self._tasks.occupied(None, [key], cluster):
            self._tasks.submit("server", work, None, [key], cluster, ALICE, None)

    def _change_parameters(self) -> None:
        key = self._pick("cluster")
        if not self._tasks.occupied(key, [], key[1]):
            self._tasks.submit("cluster", "other", key, [], key[1], ALICE, None)

    def _flood(self) -> None:
        """So much work on a cluster that its older tasks are on later pages."""
        key = self._pick("cluster")
        for _number in range(40):
            self._tasks.past("cluster", "other", key, [], key[1], self._scheduler.now)

    def _move(self) -> None:
        """A server is replaced by itself in another zone, as scaling in and out would do."""
        thing = self._fleet.things[self._pick("server")]
        zones = [z.now["name"] for z in self._fleet.of("zone") if z.now["cluster"] == thing.now["cluster"]]
        if thing.now["operation"] is None:
            thing.set(self._scheduler.now, zone=self._choices.pick(zones))

    def _change_address(self) -> None:
        """Another machine takes the id of a server, or it gets another address and goes on."""
        self._readdress(self._fleet.things[self._pick("server")])

    def _readdress(self, thing: Versioned) -> None:
        self._addresses += 1
        ip = f"10.9.0.{self._addresses}"
        is_another = self._choices.chance(0.5)
        self._story(f"server {thing.key[1]} has the address {ip}" + (", and is another machine" if is_another else ""))
        thing.set(self._scheduler.now, ip=ip)
        if is_another and thing.now["operation"] is None:
            self._tasks.stop(thing.key)
            self._tasks.start(thing.key)
            self._tasks.activate(thing.key)

    def _change_id(self, key: Key, gap: float) -> None:
        """Take a server out of the service, and add what has its address then; nothing may work on it."""
        key, now = self._fleet.newest(key), self._scheduler.now
        thing = self._fleet.things[key]
        if is_gone(thing.now):
            return
        if self._tasks.occupied(None, [key], thing.now["cluster"]):
            if now < 100:
                self._scheduler.at(now + 7.0, lambda: self._change_id(key, gap))
            return
        self._identities.counted("people: adds a server again, under another id")
        before = thing.now
        self._fleet.take_out(key, now)
        self._story(f"server {key[1]} is taken out")
        if gap and self._fleet.present("server"):
            self._scheduler.at(now + gap, lambda: self._add_again(key, before))
        else:
            self._add_again(key, before)

    def _add_again(self, key: Key, before: dict[str, Any]) -> None:
        is_another = self._identities.chance(0.5)
        state = {**before, "ip": server_ip(before), "port": server_port(key, before)}
        if is_another:
            state.update(up=False, active=False)
        added = self._fleet.add_again(key, self._scheduler.now, state)
        words = ", and is another machine" if is_another else ""
        self._story(f"server {added.key[1]} is added with the address of server {key[1]}{words}")
        if is_another:
            self._tasks.start(added.key)
            self._tasks.activate(added.key)
        self._tasks.show_start(added)

    def _crash(self, *, come_back: bool) -> None:
        key = self._pick(self._choices.pick(("server", "host")))
        self._tasks.stop(key)
        self._fleet.things[key].set(self._scheduler.now, stopped=False)

        def start() -> None:
            if is_gone(self._fleet.things[key].now):
                return
            self._tasks.start(key)
            self._tasks.activate(key)

        if come_back:
            self._scheduler.at(self._scheduler.now + 1.0, start)

    def _outage(self) -> None:
        now = self._scheduler.now
        self._network.outages.append((now, now + self._choices.pick((2.0, 8.0, 25.0))))

    def _mend(self) -> None:
        """Bring the newest FAILED task on; if there is none yet, look again later."""
        failed = [task for task in self._tasks.all.values() if task.status == "FAILED"]
        if failed:
            self._bring_on(failed[-1])
        elif self._scheduler.now < 100:
            self._scheduler.at(self._scheduler.now + 7.0, self._mend)

    def _bring_on(self, task: Task) -> None:
        step = next(each for each in task.steps if each.status == "FAILED")
        how = self._choices.pick(("retry", "rollback", "skip", "abort"), (4, 3, 2, 1))
        self._choices.counted(f"people: {how} of a task")
        if how == "retry":
            self._tasks.retry(task, None, None)
        elif how == "rollback":
            self._tasks.roll_back(task, None)
        elif how == "skip":
            self._tasks.skip(task, step, None)
        else:
            self._tasks.abort(task)
