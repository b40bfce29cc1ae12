# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The records of the service as it shows them at an instant, in the documented shapes; values are its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from .fleet import AGENT_PROCESSES, Fleet, Key, Versioned, process_status
from .profile import Profile
from .task_graph import LEVELS, Step, Task

ZONE = timezone(timedelta(hours=8))
BEGIN_1970 = datetime(1970, 1, 1, tzinfo=UTC)


def address(key: Key) -> str:
    """The address of a host, or of what runs on it."""
    return f"10.1.{key[1] // 100}.{key[1] % 100}"


def server_ip(state: dict[str, Any]) -> str:
    """The IP address of a server: that of its host, until it gets another."""
    return str(state.get("ip") or address(("host", state["host"])))


def server_port(key: Key, state: dict[str, Any]) -> int:
    """The port of a server: it tells the servers of a host apart."""
    return int(state.get("port") or 2882 + (key[1] - state["host"]) * 10)


class Records:
    """What the service shows. ``when`` is the instant that a replica knows."""

    def __init__(self, fleet: Fleet, profile: Profile) -> None:
        self._fleet = fleet
        self._profile = profile

    def instant(self, wall: float | None, *, exact: bool = False) -> str | None:
        """A time of the service's clock as text."""
        if wall is None:
            return None
        milliseconds = exact or self._profile.milliseconds
        moment = (BEGIN_1970 + timedelta(seconds=wall)).astimezone(ZONE)
        return moment.isoformat(timespec="milliseconds" if milliseconds else "seconds")

    def number(self, number: int | None) -> int | str | None:
        """An id."""
        return str(number) if self._profile.ids_as_text and number is not None else number

    def page(
        self, contents: list[Any], number: int = 1, size: int = 1000, total: int | None = None
    ) -> dict[str, Any]:  # fmt: skip
        """A page of a list."""
        elements = len(contents) if total is None else total
        pages = max(1, -(-elements // size))
        return {
            "contents": contents,
            "page": {"number": number, "size": size, "totalElements": elements, "totalPages": pages},
        }

    # Fleet

    def cluster(self, thing: Versioned, when: float, *, listed: bool) -> dict[str, Any] | None:
        state = thing.at(when)
        if state is None:
            return None
        number = thing.key[1]
        full = self._profile.servers_in_cluster
        servers = self._fleet.servers(number, when=when)
        zones = [z for z in self._fleet.of("zone") if z.now["cluster"] == number]
        worked_on = any((server.at(when) or {}).get("work") for server in servers)
        found = {
            "id": self.number(number),
            "name": state["name"],
            "obClusterId": number + 5000,
            "status": self._group_status(state, self._profile.cluster_word if worked_on else "RUNNING"),
            "type": "PRIMARY",
            "serverCount": len(servers),
            **self._operation(state, "cluster", servers, when),
        }
        if full or listed or not self._profile.cluster_detail:
            found["zones"] = [self.zone(zone, when, servers=full) for zone in zones]
        return found

    def zone(self, thing: Versioned, when: float, *, servers: bool) -> dict[str, Any]:
        state = thing.at(when) or thing.now
        own = self._fleet.servers(state["cluster"], state["name"], when)
        return {
            "name": state["name"],
            "status": self._group_status(state, "RUNNING"),
            "serverCount": len(own),
            "servers": [self.server(server, when) for server in own] if servers else [],
            **self._operation(state, "zone", own, when),
        }

    def _group_status(self, state: dict[str, Any], otherwise: str) -> str:
        return {"restart": "RESTARTING", "other": "OPERATING"}.get(state["work"], otherwise)

    def _operation(self, state: dict[str, Any], kind: str, servers: list[Versioned], when: float) -> dict[str, Any]:
        told = self._profile.operating
        if told == "none":
            return {}
        number = state["operation"]
        if number is None and told == "all" and kind in ("cluster", "zone"):
            below = ((server.at(when) or {}).get("operation") for server in servers)
            number = next((each for each in below if each is not None), None)
        return {"operatingTaskInstanceId": self.number(number)}

    def server(self, thing: Versioned, when: float) -> dict[str, Any]:
        state = thing.at(when) or thing.now
        found = {
            "clusterId": self.number(state["cluster"]),
            "hostId": self.number(state["host"]),
            "id": self.number(thing.key[1]),
            "ip": server_ip(state),
            "port": server_port(thing.key, state),
            "status": process_status(state),
            "zoneName": state["zone"],
            "withRootserver": thing.key[1] % 100 == 11,
            **self._operation(state, "server", [], when),
        }
        if self._profile.starts:
            found["startTime"] = self.instant(state["shown"])
        if self._profile.inner_status:
            found["innerStatus"] = "ACTIVE" if state["active"] else "INACTIVE"
        return found

    def host(self, thing: Versioned, when: float) -> dict[str, Any]:
        state = thing.at(when) or thing.now
        return {
            "id": self.number(thing.key[1]),
            "innerIpAddress": address(thing.key),
            "name": f"node{thing.key[1]}",
            "status": "ONLINE",
            "hostAgentStatus": _agent_status(state),
            "hostAgentId": thing.key[1] + 600_000,
        }

    def agent(self, thing: Versioned, when: float) -> dict[str, Any]:
        every = self._profile.agent_refresh
        seen_at = when // every * every if every else when
        state = thing.at(seen_at) or thing.now
        now = self._profile.wall(seen_at)
        running = state["up"]
        processes = [
            {
                "alias": alias,
                "status": "STARTED" if running else "STOPPED",
                "pid": state["pid"] + place if running else 0,
                "elapsedTime": int(seen_at - state["born"]) if running else 0,
                "lastActiveTime": self.instant(now),
            }
            for place, alias in enumerate(AGENT_PROCESSES)
        ]
        return {"hostId": thing.key[1], "id": thing.key[1], "status": _agent_status(state), "processes": processes}

    def tenant(self, cluster: int) -> dict[str, Any]:
        """The tenant of a cluster, with a full replica in each zone."""
        zones = [zone.now["name"] for zone in self._fleet.of("zone") if zone.now["cluster"] == cluster]
        return {
            "id": self.number(cluster * 1000 + 1),
            "name": "sys",
            "clusterId": self.number(cluster),
            "locality": ", ".join(f"FULL{{1}}@{zone}" for zone in zones),
            "zoneList": ";".join(zones),
        }

    def units(self, cluster: int, when: float) -> list[dict[str, Any]]:
        """The zones of that tenant, with a unit on each server."""
        found: dict[str, list[dict[str, Any]]] = {}
        for server in self._fleet.servers(cluster, when=when):
            zone = (server.at(when) or server.now)["zone"]
            unit = {
                "serverId": self.number(server.key[1]),
                "serverIp": server_ip(server.at(when) or server.now),
                "zoneName": zone,
            }
            found.setdefault(zone, []).append(unit)
        return [{"name": zone, "replicaType": "FULL", "units": units} for zone, units in found.items()]

    def arbitration(self, thing: Versioned, when: float) -> dict[str, Any]:
        state = thing.at(when) or thing.now
        return {
            "id": self.number(thing.key[1]),
            "svrIp": f"10.1.200.{thing.key[1]}",
            "svrPort": 2888,
            "status": process_status(state),
            "clusters": [],
            **self._operation(state, "arbitration", [], when),
        }

    # Tasks

    def listed_task(self, task: Task, state: dict[str, Any]) -> dict[str, Any]:
        """The entry of the list."""
        found = self._task(task, state)
        if self._profile.list_tells != "operation and steps":
            found.pop("operation")
        if self._profile.list_tells != "nothing":
            found["subtasks"] = [self._step(task, state, place, brief=True) for place in range(len(task.steps))]
        if self._profile.tags:
            found["tags"] = self._tags(task)
        if self._profile.task_begins == "detail":
            found.pop("startTime")
        # Of any other word only the time shows that it has ended.
        if self._profile.task_ends != "list" and state["status"] in ("SUCCESSFUL", "FAILED"):
            found.pop("finishTime", None)
        return found

    def detailed_task(self, task: Task, state: dict[str, Any]) -> dict[str, Any]:
        """The detail."""
        found = self.listed_task(task, state)
        found["subtasks"] = [self._step(task, state, place) for place in range(len(task.steps))]
        times = self._task(task, state)
        found["startTime"], found["operation"] = times["startTime"], times["operation"]
        if "finishTime" in times and self._profile.task_ends == "detail":
            found["finishTime"] = times["finishTime"]
        return found

    def started_task(self, task: Task) -> dict[str, Any]:
        """The answer to a start."""
        state = task.record.now
        steps = [self._step(task, state, place) for place in range(len(task.steps))]
        if task.kind == "cluster" and self._profile.cluster_task_shape == "reduced":
            return {**self._task(task, state), "tasks": steps}
        found = {**self._task(task, state), "subtasks": steps, "creator": task.creator}
        found.pop("cluster", None)
        if task.cluster is not None:
            found["clusterId"] = self.number(task.cluster)
        if task.kind == "server":
            found["hostId"] = self.number(self._fleet.things[task.members[0]].now["host"])
        return found

    def _task(self, task: Task, state: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {
            "id": self.number(task.id),
            "name": task.name,
            "status": state["status"],
            "operation": state["operation"],
            "startTime": self.instant(self._profile.wall(task.created) + task.clock, exact=True),
        }
        if state["finish"] is not None:
            found["finishTime"] = self.instant(state["finish"], exact=True)
        if task.cluster is not None:
            found["cluster"] = {"id": self.number(task.cluster), "name": f"c{task.cluster}"}
        if self._profile.creators:
            found["creator"] = {"id": 100, "name": task.creator}
        return found

    def _tags(self, task: Task) -> list[dict[str, Any]]:
        cluster = {} if task.cluster is None else {"clusterId": self.number(task.cluster)}
        if task.kind == "zone" and task.own:
            return [{**cluster, "zoneName": self._fleet.things[task.own].now["name"]}]
        if task.kind == "cluster":
            return [cluster]
        field = {"server": "serverId", "host": "hostId", "arbitration": "arbitrationServiceId"}[task.kind]
        tags = []
        for key in task.members:
            state = self._fleet.things[key].now
            more = {"zoneName": state["zone"], "hostId": self.number(state["host"])} if task.kind == "server" else {}
            tags.append({**cluster, field: self.number(key[1]), **more})
        return tags

    def _step(self, task: Task, state: dict[str, Any], place: int, *, brief: bool = False) -> dict[str, Any]:
        step = task.steps[place]
        status, operation, attempts, began, ended = state["steps"][place]
        found = {
            "id": step.id,
            "name": step.description,
            "description": step.description,
            "status": status,
            "operation": operation,
        }
        if brief:
            return found
        found.update(_links(task, step), runTime=max(1, attempts), parallelIdx=step.parallel, timeout=600)
        if began is not None:
            found["startTime"] = self.instant(self._profile.wall(began) + task.clock, exact=True)
        if ended is not None:
            found["finishTime"] = self.instant(self._profile.wall(ended) + task.clock, exact=True)
        return found


def _links(task: Task, step: Step) -> dict[str, list[int]]:
    return {
        "upstreams": [each.id for each in task.steps if each.level == step.level - 1],
        "downstreams": [each.id for each in task.steps if each.level == step.level + 1 < len(LEVELS[task.work])],
    }


def _agent_status(state: dict[str, Any]) -> str:
    if state["work"]:
        return "RESTARTING"
    return "AVAILABLE" if state["up"] else "OFFLINE"
