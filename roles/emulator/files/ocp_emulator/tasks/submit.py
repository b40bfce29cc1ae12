# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Accepting an operation: find the target, refuse it when busy, insert the task (restart-operations.md, section 4).

Check and insert are one transaction, so that of two calls at the same time one is refused; and it has ended before the
call is answered, so that an answered task exists.

What is busy (our choice of a rule that no document gives): an operation on a server occupies that server; one on a zone
the zone and its servers; one on a cluster the cluster, its zones and its servers; a batch restart occupies the agents
of its hosts, which does not conflict with the servers on them. What is occupied takes no second operation. Two servers
or two zones of one cluster may be restarted at the same time. A start of what runs and a stop of what is stopped are
accepted and change nothing. How long a task occupies its targets is told in effects.py.

Whether the service refuses the call or lets the task fail is not known (ocp-api.md, section 5), so it can be chosen. A
task that is accepted all the same occupies nothing until a subtask of it finds the targets free: attempts.py.
"""

import json
import logging
import random
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.fleet.entities import User
from ocp_emulator.store.database import Store
from ocp_emulator.tasks import attempts, occupancy
from ocp_emulator.tasks.blueprints import (
    AGENT_RESTART,
    ARBITRATION_RESTART,
    CLUSTER_RESTART,
    SERVER_RESTARTS,
)
from ocp_emulator.tasks.engine import durations
from ocp_emulator.tasks.subtask_graph import Blueprint, Node, build

# What becomes of an operation on a busy target: it is refused, or accepted to fail in its first subtask.
Busy = Literal["refuse", "fail"]

_LOG = logging.getLogger(__name__)

# Ids grow, as those of the service do; the two kinds start apart, so that nobody takes one for the other.
_FIRST_TASK_ID = 1_001
_FIRST_SUBTASK_ID = 50_001

_IDS_SHOWN = 10


@dataclass(frozen=True)
class _Target:
    """What a task works on; its tags tell it."""

    object_type: str
    cluster_id: int | None = None
    zone_id: int | None = None
    server_id: int | None = None
    host_id: int | None = None
    arbitration_service_id: int | None = None


@dataclass(frozen=True)
class _Order:
    """A task to be inserted. `what` is the target, as a sentence begins with it; `batch` what split steps work on."""

    blueprint: Blueprint
    what: str
    targets: Sequence[_Target]
    strings: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    batch: Sequence[str] = ()

    def context(self) -> str:
        """JSON, in the form that the batch restart shows (section 2.2)."""
        return json.dumps(
            {"listMap": self.lists, "parallel": False, "parallelIdx": -1, "stringMap": self.strings}, sort_keys=True
        )


class Operations:
    """The four restarts and their neighbours. Each returns the id of the task it has started."""

    def __init__(self, store: Store, step_ms: int, executor: str, busy: Busy, switches: Switches) -> None:
        """`step_ms`: how long each subtask of a new task takes; `executor`: the address that runs them."""
        self._store = store
        self._ready_ms, self._run_ms = durations(step_ms)
        self._executor = executor
        self._busy = busy
        self._server_restart = SERVER_RESTARTS[switches.server_restart_steps]

    def restart_server(
        self, user: User, now: int, cluster_id: int, server_id: int, *, freeze: bool | None, force: bool
    ) -> int:
        """Restart one server (4.1). ApiError: 404 when the cluster has no such server, 409 when it is occupied.

        `freeze` is None where the service does not know of freezing.
        """
        return self.operate_server(self._server_restart, user, now, cluster_id, server_id, freeze=freeze, force=force)

    def operate_server(
        self,
        blueprint: Blueprint,
        user: User,
        now: int,
        cluster_id: int,
        server_id: int,
        *,
        freeze: bool | None = None,
        force: bool = False,
    ) -> int:
        """Restart, start or stop one server. ApiError as for the restart."""
        with self._store.transaction() as db:
            cluster = _cluster(db, cluster_id)
            server = db.execute(
                "SELECT servers.*, zones.name AS zone_name, zones.status AS zone_status"
                " FROM servers JOIN zones ON zones.id = zone_id WHERE servers.id = ? AND servers.cluster_id = ?",
                (server_id, cluster_id),
            ).fetchone()
            if server is None:
                raise errors.not_found(f"Server {server_id} of cluster {cluster_id} ({cluster['name']})")
            order = _Order(
                blueprint,
                f"Server {server_id} ({server['ip']}:{server['port']}) of cluster {cluster['name']}",
                [_Target("OB_SERVER", cluster_id, server["zone_id"], server_id, server["host_id"])],
                {
                    "cluster_id": str(cluster_id),
                    "cluster_name": cluster["name"],
                    "former_cluster_status": cluster["status"],
                    "former_zone_status": server["zone_status"],
                    "prohibit_rollback": _java(False),
                    "server_id": str(server_id),
                    "target_cluster_status": "RUNNING",
                    "target_zone_status": "RUNNING",
                    "zone_name": server["zone_name"],
                    **({} if freeze is None else {"freeze_server": _java(freeze)}),
                    "force": _java(force),
                },
                {"server_ids": [str(server_id)]},
            )
            self._refuse_if_occupied(db, order.what, server["operating_task"])
            task_id = self._insert(db, user, now, order)
        _report(task_id, order, user)
        return task_id

    def restart_cluster(self, user: User, now: int, cluster_id: int) -> int:
        """Restart all servers of a cluster (4.2). ApiError: 404, or 409 when it or a server of it is occupied."""
        return self.operate_cluster(CLUSTER_RESTART, user, now, cluster_id)

    def operate_cluster(self, blueprint: Blueprint, user: User, now: int, cluster_id: int) -> int:
        """Restart, start or stop a cluster. ApiError as for the restart."""
        with self._store.transaction() as db:
            cluster = _cluster(db, cluster_id)
            order = _Order(
                blueprint,
                f"Cluster {cluster_id} ({cluster['name']})",
                [_Target("OB_CLUSTER", cluster_id)],
                {
                    "cluster_name": cluster["name"],
                    "cluster_id": str(cluster_id),
                    "former_cluster_status": cluster["status"],
                },
                _members(db, cluster_id),
            )
            # What occupies a cluster occupies its servers too.
            occupied = db.execute(
                "SELECT operating_task FROM servers WHERE cluster_id = ? AND operating_task IS NOT NULL LIMIT 1",
                (cluster_id,),
            ).fetchone()
            if occupied is not None:
                self._refuse_if_occupied(db, order.what, occupied["operating_task"])
            task_id = self._insert(db, user, now, order)
        _report(task_id, order, user)
        return task_id

    def operate_zone(self, blueprint: Blueprint, user: User, now: int, cluster_id: int, zone_name: str) -> int:
        """Restart, start or stop the servers of a zone (ocp-api.md, 4.5).

        ApiError: 404 when the cluster has no such zone, 409 when it or a server of it is occupied.
        """
        with self._store.transaction() as db:
            cluster = _cluster(db, cluster_id)
            zone = db.execute(
                "SELECT * FROM zones WHERE cluster_id = ? AND name = ?", (cluster_id, zone_name)
            ).fetchone()
            if zone is None:
                raise errors.not_found(f"Zone {zone_name} of cluster {cluster_id} ({cluster['name']})")
            servers = db.execute("SELECT * FROM servers WHERE zone_id = ? ORDER BY id", (zone["id"],)).fetchall()
            batch = [str(server["id"]) for server in servers]
            order = _Order(
                blueprint,
                f"Zone {zone_name} of cluster {cluster['name']}",
                [_Target("OB_ZONE", cluster_id, zone["id"])],
                {
                    "cluster_id": str(cluster_id),
                    "cluster_name": cluster["name"],
                    "former_cluster_status": cluster["status"],
                    "prohibit_rollback": _java(False),
                    "zone_name": zone_name,
                },
                {"server_ids": batch},
                batch,
            )
            # What occupies a zone occupies its servers too.
            occupied = (server["operating_task"] for server in servers if server["operating_task"] is not None)
            self._refuse_if_occupied(db, order.what, next(occupied, None))
            task_id = self._insert(db, user, now, order)
        _report(task_id, order, user)
        return task_id

    def restart_agents(self, user: User, now: int, host_ids: Sequence[int]) -> int:
        """Restart the agents of hosts (4.3), of all or of none; a host that stands twice counts once.

        ApiError: 400 when there is no host, 404 when one is unknown, 409 when the agent of one is occupied.
        """
        host_ids = list(dict.fromkeys(host_ids))
        if not host_ids:
            raise errors.illegal_argument("The parameter 'hostIds' is empty: it needs at least one host.")
        with self._store.transaction() as db:
            rows = db.execute(
                "SELECT * FROM hosts WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(host_ids),)
            )
            hosts = {row["id"]: row for row in rows}
            unknown = [number for number in host_ids if number not in hosts]
            if unknown:
                raise errors.not_found(f"Host {_listed(unknown)}")
            for number, host in hosts.items():
                self._refuse_if_occupied(db, f"The agent of host {number} ({host['ip']})", host["operating_task"])
            batch = [str(number) for number in host_ids]
            order = _Order(
                AGENT_RESTART,
                f"Agent of host {_listed(host_ids)}",
                [_Target("HOST", host_id=number) for number in host_ids],
                {"prohibit_rollback": _java(False)},
                {"host_ids": batch},
                batch,
            )
            task_id = self._insert(db, user, now, order)
        _report(task_id, order, user)
        return task_id

    def restart_arbitration_service(self, user: User, now: int, service_id: int) -> int:
        """Restart an arbitration service (4.4). ApiError: 404, or 409 when it is occupied."""
        with self._store.transaction() as db:
            service = db.execute("SELECT * FROM arbitration_services WHERE id = ?", (service_id,)).fetchone()
            if service is None:
                raise errors.not_found(f"Arbitration service {service_id}")
            order = _Order(
                ARBITRATION_RESTART,
                f"Arbitration service {service_id} ({service['ip']}:{service['port']})",
                [_Target("ARBITRATION_SERVICE", host_id=service["host_id"], arbitration_service_id=service_id)],
            )
            self._refuse_if_occupied(db, order.what, service["operating_task"])
            task_id = self._insert(db, user, now, order)
        _report(task_id, order, user)
        return task_id

    def _refuse_if_occupied(self, db: sqlite3.Connection, what: str, task_id: int | None) -> None:
        if task_id is not None and self._busy == "refuse":
            task = db.execute("SELECT name, status FROM tasks WHERE id = ?", (task_id,)).fetchone()
            raise errors.busy(what, task_id, task["name"], task["status"])

    def _insert(self, db: sqlite3.Connection, user: User, now: int, order: _Order) -> int:
        blueprint = order.blueprint
        task_id = _next_id(db, "SELECT max(id) FROM tasks", _FIRST_TASK_ID)
        db.execute(
            "INSERT INTO tasks VALUES (?, ?, ?, 'EXECUTE', 'RUNNING', ?, ?, ?, ?, ?, ?, NULL)",
            (
                task_id,
                blueprint.kind,
                blueprint.task_name,
                user.id,
                user.name,
                self._executor,
                order.context(),
                now,
                now,
            ),
        )
        db.executemany(
            "INSERT INTO targets VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    task_id,
                    target.object_type,
                    target.cluster_id,
                    target.zone_id,
                    target.server_id,
                    target.host_id,
                    target.arbitration_service_id,
                )
                for target in order.targets
            ],
        )
        if self._busy == "refuse" or occupancy.blocking_task(db, task_id) is None:
            occupancy.occupy(db, task_id, now)
        self._insert_graph(db, task_id, now, build(blueprint, order.batch), blueprint.first_status)
        return task_id

    def _insert_graph(
        self, db: sqlite3.Connection, task_id: int, now: int, nodes: Sequence[Node], first_status: str
    ) -> None:
        """Neither ids nor series ids nor positions in the array follow the order of execution (section 2.3)."""
        chance = random.Random(task_id)
        first_id = _next_id(db, "SELECT max(id) FROM subtasks", _FIRST_SUBTASK_ID)
        ids = [first_id + place for place in _disorder(len(nodes), chance)]
        series = _disorder(len(nodes), chance)
        positions = _disorder(len(nodes), chance)
        db.executemany(
            "INSERT INTO subtasks VALUES"
            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'EXECUTE', 1, ?, ?, NULL, NULL, ?, NULL, NULL, 0)",
            [
                (
                    ids[index],
                    task_id,
                    series[index],
                    positions[index],
                    node.step.description,
                    node.step.action,
                    node.element,
                    node.parallel_idx,
                    node.step.timeout,
                    "PENDING" if node.upstreams else "READY",
                    self._ready_ms,
                    self._run_ms,
                    None if node.upstreams else now + self._ready_ms,
                )
                for index, node in enumerate(nodes)
            ],
        )
        db.executemany(
            "INSERT INTO links VALUES (?, ?)",
            [(ids[index], ids[downstream]) for index, node in enumerate(nodes) for downstream in node.downstreams],
        )
        if first_status == "RUNNING":
            first = db.execute("SELECT * FROM subtasks WHERE id = ?", (ids[0],)).fetchone()
            attempts.begin(db, first, now, self._ready_ms + self._run_ms)


def _cluster(db: sqlite3.Connection, cluster_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    return row


def _members(db: sqlite3.Connection, cluster_id: int) -> dict[str, list[str]]:
    """The lists that the context of a cluster restart names: its zones, and the servers and hosts of each."""
    lists: dict[str, list[str]] = {"zone_names": []}
    rows = db.execute(
        "SELECT zones.name AS zone, servers.id, servers.host_id FROM servers JOIN zones ON zones.id = zone_id"
        " WHERE servers.cluster_id = ? ORDER BY zones.id, servers.id",
        (cluster_id,),
    )
    for row in rows:
        if row["zone"] not in lists["zone_names"]:
            lists["zone_names"].append(row["zone"])
        lists.setdefault(f"{cluster_id}.{row['zone']}.server_ids", []).append(str(row["id"]))
        lists.setdefault(f"{cluster_id}.{row['zone']}.host_ids", []).append(str(row["host_id"]))
    return lists


def _next_id(db: sqlite3.Connection, largest: str, first: int) -> int:
    (value,) = db.execute(largest).fetchone()
    return first if value is None else value + 1


def _disorder(count: int, chance: random.Random) -> list[int]:
    """A permutation that begins with another than the first and ends with another than the last. `count` is from 3."""
    places = list(range(count))
    while places[0] == 0 or places[-1] == count - 1:
        chance.shuffle(places)
    return places


def _listed(ids: Sequence[int]) -> str:
    shown = ", ".join(map(str, ids[:_IDS_SHOWN]))
    return shown if len(ids) <= _IDS_SHOWN else f"{shown} and {len(ids) - _IDS_SHOWN} more"


def _java(value: bool) -> str:
    return "true" if value else "false"


def _report(task_id: int, order: _Order, user: User) -> None:
    _LOG.info("task %d (%s) accepted from %s: %s", task_id, order.blueprint.task_name, user.name, order.what)
