# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fleet as it really is, with its past: clusters, zones, servers, agents, arbitration services."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from .choices import Stream
from .profile import DAY, Profile

Key = tuple[str, int]
AGENT_PROCESSES = ("ocp_mgragent", "ocp_agentd", "pos_proxy")


class Versioned:
    """Fields that change over time; each state can be read later."""

    def __init__(self, key: Key, begin: float, **fields: Any) -> None:
        self.key = key
        self._times = [begin]
        self._states: list[dict[str, Any]] = [fields]

    @property
    def now(self) -> dict[str, Any]:
        """The newest state."""
        return self._states[-1]

    def set(self, when: float, **fields: Any) -> None:
        """Change fields at a time."""
        self._times.append(when)
        self._states.append({**self._states[-1], **fields})

    def at(self, when: float) -> dict[str, Any] | None:
        """The state at a time; None before there was any."""
        place = bisect_right(self._times, when)
        return self._states[place - 1] if place else None

    def last_change(self, name: str, until: float) -> float | None:
        """The last time until then at which a field got another value; None if it has none."""
        states = list(zip(self._times, self._states, strict=True))
        changes = [
            when for (_before, old), (when, new) in pairwise(states) if when <= until and old.get(name) != new.get(name)
        ]
        return changes[-1] if changes else None

    def between(self, begin: float, end: float) -> list[dict[str, Any]]:
        """All states from one time to another, with the one at its begin."""
        first = max(0, bisect_right(self._times, begin) - 1)
        return self._states[first : bisect_right(self._times, end)]


@dataclass(frozen=True)
class Start:
    """A start of a process. ``task`` caused it, ``undoing`` by its rollback; None for a person or a crash."""

    time: float
    task: int | None
    undoing: bool = False


@dataclass
class Fleet:
    """All there is. Keys are a kind and an id."""

    things: dict[Key, Versioned] = field(default_factory=dict)
    starts: dict[Key, list[Start]] = field(default_factory=dict)
    # The server that was added again in place of one that was taken out.
    successors: dict[Key, Key] = field(default_factory=dict)
    # Seconds by which the clock of a host is ahead, by its number.
    clocks: dict[int, float] = field(default_factory=dict)

    def add(self, kind: str, number: int, **fields: Any) -> Versioned:
        """Add a thing that has been there for a day."""
        thing = Versioned((kind, number), -DAY, **{"operation": None, **fields})
        self.things[thing.key] = thing
        return thing

    def of(self, kind: str) -> list[Versioned]:
        """All things of a kind that there have been."""
        return [thing for (its_kind, _number), thing in self.things.items() if its_kind == kind]

    def present(self, kind: str) -> list[Versioned]:
        """All things of a kind that are there now."""
        return [thing for thing in self.of(kind) if not is_gone(thing.now)]

    def take_out(self, key: Key, when: float) -> None:
        """A server is taken out of the service, which shows it no more."""
        self.things[key].set(when, gone=True, up=False, active=False)

    def add_again(self, key: Key, when: float, state: dict[str, Any]) -> Versioned:
        """A server that was taken out comes back in this ``state`` under another id, with the same address."""
        number = max(number for kind, number in self.things if kind == "server") + 789
        thing = Versioned(("server", number), when, **state)
        self.things[thing.key] = thing
        self.successors[key] = thing.key
        # No task that is shown has to do with this id.
        self.starts[thing.key] = [Start(each.time, None) for each in self.starts[key]]
        return thing

    def newest(self, key: Key) -> Key:
        """What has the address of a thing now: itself, or the server that was added in its place."""
        while key in self.successors:
            key = self.successors[key]
        return key

    def servers(self, cluster: int, zone: str | None = None, when: float | None = None) -> list[Versioned]:
        """The servers of a cluster, or of a zone of it, now or at a time."""
        found = []
        for thing in self.of("server"):
            state = thing.now if when is None else thing.at(when)
            is_there = state is not None and not is_gone(state)
            if state and is_there and state["cluster"] == cluster and zone in (None, state["zone"]):
                found.append(thing)
        return found

    def clock_of(self, key: Key) -> float:
        """Seconds by which the clock is ahead that shows the start of a thing."""
        return self.clocks[self.things[key].now["host"]] if key[0] == "server" else 0.0

    def zone(self, cluster: int, name: str) -> Versioned | None:
        """A zone of a cluster by its name."""
        return next((z for z in self.of("zone") if z.now["cluster"] == cluster and z.now["name"] == name), None)


STATUS_OF_WORK = {"restart": "RESTARTING", "stop": "STOPPING", "start": "STARTING", "other": "OPERATING"}


def is_gone(state: dict[str, Any]) -> bool:
    """Whether the service does not know it any more."""
    return bool(state.get("gone"))


def process_status(state: dict[str, Any]) -> str:
    """The status word of a server or arbitration service in this state."""
    if state["work"]:
        return STATUS_OF_WORK[state["work"]]
    if state["up"]:
        return "RUNNING"
    return "STOPPED" if state["stopped"] else "UNAVAILABLE"


def is_up(state: dict[str, Any]) -> bool:
    """Whether a process serves: the truth that no status word may hide."""
    return bool(state["up"] and state["active"])


def draw_fleet(choices: Stream, profile: Profile) -> Fleet:
    """One or two clusters of one to three zones, their hosts with agents, and arbitration services."""
    fleet = Fleet()
    clusters = choices.pick((1, 2), (20, 80) if "clusterId" in profile.ignores else (70, 30))
    for cluster in range(1, clusters + 1):
        fleet.add("cluster", cluster, name=f"c{cluster}", work=None)
        zones, per_zone = choices.pick((3, 1, 2), (70, 15, 15)), choices.pick((1, 2), (75, 25))
        shared_host = per_zone == 2 and choices.chance(0.3)
        for zone in range(1, zones + 1):
            fleet.add("zone", cluster * 10 + zone, cluster=cluster, name=f"zone{zone}", work=None)
            for place in range(1, per_zone + 1):
                number = cluster * 100 + zone * 10 + place
                host = number - (place - 1 if shared_host else 0)
                if host not in fleet.clocks:
                    several = len(profile.host_clocks) > 1
                    fleet.clocks[host] = choices.pick(profile.host_clocks) if several else profile.host_clocks[0]
                _add_server(fleet, number, cluster, f"zone{zone}", host, profile)
                if ("host", host) not in fleet.things:
                    _add_host(fleet, host, profile)
    for number in range(1, choices.pick((1, 2), (70, 30)) + 1):
        fleet.add("arbitration", number, up=True, active=True, stopped=False, work=None, shown=-DAY)
        fleet.starts["arbitration", number] = [Start(-DAY, None)]
    return fleet


def _add_server(fleet: Fleet, number: int, cluster: int, zone: str, host: int, profile: Profile) -> None:
    fleet.add(
        "server", number, cluster=cluster, zone=zone, host=host, up=True, active=True, stopped=False, work=None,
        shown=profile.wall(-DAY) + fleet.clocks[host],
    )  # fmt: skip
    fleet.starts["server", number] = [Start(-DAY, None)]


def _add_host(fleet: Fleet, number: int, profile: Profile) -> None:
    fleet.add(
        "host",
        number,
        up=True,
        active=True,
        stopped=False,
        work=None,
        pid=number * 100,
        shown=profile.wall(-DAY),
        born=-DAY,
    )
    fleet.starts["host", number] = [Start(-DAY, None)]
