# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How an operation is accepted: find the target, refuse if busy, insert; and what happens on a busy target.

Nothing else runs between check and insert, so of two simultaneous calls one is refused. The insert is a transaction
that has ended before the call is answered, so an answered task exists. It is not known whether the service refuses the
call, lets the task fail or carries it out too, so it is an option. A task that is accepted on a busy target occupies
nothing until a subtask of it finds the targets free: occupancy.py.
"""

import logging
import sqlite3
from collections.abc import Callable, Sequence

from ocp_emulator.base.compatibility import Switches
from ocp_emulator.faults import busy_faults
from ocp_emulator.faults.busy_faults import BusyPolicy
from ocp_emulator.fleet.entities import User
from ocp_emulator.store.database import Store
from ocp_emulator.tasks import durations, inspections, occupancy, operation_targets, pre_check
from ocp_emulator.tasks.blueprints import AGENT_RESTART, CLUSTER_RESTART, SERVER_RESTARTS
from ocp_emulator.tasks.insert_task import insert_subtasks, insert_task
from ocp_emulator.tasks.operation_targets import NewTask
from ocp_emulator.tasks.subtask_graph import Blueprint
from ocp_emulator.tasks.wrong_state import refuse_wrong_state

_LOG = logging.getLogger(__name__)


class Submitter:
    """Restarts, starts, stops and inspections. Each method returns the id of the task that it started."""

    def __init__(self, store: Store, executor: str, busy: BusyPolicy, switches: Switches) -> None:
        """`executor`: the address that runs the subtasks."""
        self._store = store
        self._executor = executor
        self._busy = busy
        self._pre_check = switches.pre_check
        self._wrong_state = switches.wrong_state
        self._server_restart = SERVER_RESTARTS[switches.server_restart_steps]

    def restart_server(
        self, user: User, now: int, cluster_id: int, server_id: int, *, freeze: bool | None, force: bool
    ) -> int:
        """Restart one server. ApiError: 404 when the cluster has no such server, 409 when it is occupied.

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
        return self._submit(
            user,
            now,
            lambda db: operation_targets.operation_on_server(db, blueprint, cluster_id, server_id, freeze, force),
        )

    def restart_cluster(self, user: User, now: int, cluster_id: int) -> int:
        """Restart all servers of a cluster. ApiError: 404, or 409 when it or a server of it is occupied."""
        return self.operate_cluster(CLUSTER_RESTART, user, now, cluster_id)

    def operate_cluster(self, blueprint: Blueprint, user: User, now: int, cluster_id: int) -> int:
        """Restart, start or stop a cluster. ApiError as for the restart."""
        return self._submit(user, now, lambda db: operation_targets.operation_on_cluster(db, blueprint, cluster_id))

    def operate_zone(self, blueprint: Blueprint, user: User, now: int, cluster_id: int, zone_name: str) -> int:
        """Restart, start or stop the servers of a zone.

        ApiError: 404 when the cluster has no such zone, 409 when it or a server of it is occupied.
        """
        return self._submit(
            user, now, lambda db: operation_targets.operation_on_zone(db, blueprint, cluster_id, zone_name)
        )

    def restart_agents(self, user: User, now: int, host_ids: Sequence[int]) -> int:
        """Restart the agents of hosts, of all or of none.

        ApiError: 400 when there is no host, 404 when one is unknown, 409 when the agent of one is occupied.
        """
        return self.operate_agents(AGENT_RESTART, user, now, host_ids)

    def operate_agents(self, blueprint: Blueprint, user: User, now: int, host_ids: Sequence[int]) -> int:
        """Restart or stop the agents of hosts, of all or of none. ApiError as for the restart."""
        return self._submit(user, now, lambda db: operation_targets.operation_on_agents(db, blueprint, host_ids))

    def operate_agent(self, blueprint: Blueprint, user: User, now: int, host_id: int) -> int:
        """Restart or stop the agent of one host. ApiError: 404, or 409 when it is occupied."""
        return self._submit(user, now, lambda db: operation_targets.operation_on_agent(db, blueprint, host_id))

    def restart_arbitration_service(self, user: User, now: int, service_id: int) -> int:
        """Restart an arbitration service. ApiError: 404, or 409 when it is occupied."""
        return self._submit(user, now, lambda db: operation_targets.restart_of_arbitration_service(db, service_id))

    def restart_obproxies(self, user: User, now: int, cluster_id: int, obproxy_ids: Sequence[int]) -> int:
        """Restart OBProxies, all of them or none.

        ApiError: 404 when one is unknown, 400 when one does not run, 409 when one is occupied.
        """
        return self._submit(user, now, lambda db: operation_targets.restart_of_obproxies(db, cluster_id, obproxy_ids))

    def inspect_clusters(self, user: User, now: int, cluster_ids: Sequence[int], tag: int) -> int:
        """Inspect clusters, all of them or none, in the scenario of this tag; no cluster is too busy for it.

        ApiError: 400 when there is no cluster, 404 when one is unknown.
        """
        return self._submit(
            user,
            now,
            lambda db: operation_targets.inspection_of_clusters(db, cluster_ids),
            lambda db, task_id: inspections.begin_reports(db, task_id, tag),
        )

    def _submit(
        self,
        user: User,
        now: int,
        describe: Callable[[sqlite3.Connection], NewTask],
        accompany: Callable[[sqlite3.Connection, int], None] = lambda _db, _task_id: None,
    ) -> int:
        new_task = describe(self._store.db)
        policy = self._policy(new_task, user)
        with self._store.transaction() as db:
            if self._wrong_state == "refuse" and not occupancy.is_occupied(new_task):
                refuse_wrong_state(db, new_task)
            if self._pre_check == "refuse":
                pre_check.refuse_outage(db, new_task)
            if policy == "refuse":
                occupancy.refuse_if_occupied(db, new_task)
            task_id = insert_task(db, new_task, user, self._executor, now, waits=policy == "accept")
            if policy == "refuse" or occupancy.blocking_task(db, task_id) is None:
                occupancy.occupy(db, task_id, now)
            insert_subtasks(db, task_id, new_task, now, durations.kept(db))
            accompany(db, task_id)
        task_name = new_task.blueprint.task_name
        _LOG.info("task %d (%s) accepted from %s: %s", task_id, task_name, user.name, new_task.label)
        return task_id

    def _policy(self, new_task: NewTask, user: User) -> BusyPolicy:
        """What happens to this operation if its target is busy. A refusal must not undo the hit of a fault."""
        if not occupancy.is_occupied(new_task):
            return self._busy
        with self._store.transaction() as db:
            return busy_faults.match_operation(db, new_task.blueprint.task_name, user.name) or self._busy
