# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a controller does: loops, forks, fleet_restart, rolling restarts, as playbooks do, by the modules' own code."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import Outcome, RunMode, call_module
from ansible_collections.oceanbase.ocp.tests.outages.emulated import PASSWORD
from ansible_collections.oceanbase.ocp.tests.outages.wiring import Worker
from ansible_collections.oceanbase.ocp.tests.simulation.machines import Machine
from ansible_collections.oceanbase.ocp.tests.simulation.scheduler import Actor, Scheduler

MODULES = "ansible_collections.oceanbase.ocp.plugins.modules"
URL = "http://ocp.test:8080"
UNSAFE = "it is not safe"
PROOFS, BETWEEN_PROOFS = 36, 5.0
WAIT = {"wait_timeout": 3600, "wait_interval": 20}

Servers = Sequence[Mapping[str, str]]


@dataclass
class Controller:
    """Its user, its machine, and whether it looks after tenants."""

    user: str
    machine: Machine
    safety: str
    scheduler: Scheduler
    counts: Counter[str]
    said: list[str] = field(default_factory=list)

    def start(self, when: float, name: str, tolerated: Sequence[str], work: Callable[[], None]) -> None:
        """Start a process of it."""

        def begin(actor: Actor) -> None:
            actor.data = Worker(self.user, self.machine, tolerated)
            work()

        self.scheduler.start(when, name, begin)

    def module(self, name: str, **args: Any) -> Outcome:
        """Call a module as Ansible does."""
        definition = importlib.import_module(f"{MODULES}.{name}").DEFINITION
        options = {option: spec.get("default") for option, spec in definition.argument_spec.items()}
        login = {"url": URL, "username": self.user, "password": PASSWORD, "timeout": 30, "detail": "full"}
        if "safety" in options:
            worker: Worker = self.scheduler.current.data  # type: ignore[union-attr]
            login |= {"safety": self.safety, "tolerate_outage_of": list(worker.tolerated) or None}
        check = args.pop("check_mode", False)
        texts = {option for option, spec in definition.argument_spec.items() if spec.get("type") == "str"}
        given = {
            option: str(value) if option in texts and value is not None else value for option, value in args.items()
        }
        outcome = call_module(definition, {**options, **login, **given}, RunMode(check))
        self._count(name, outcome, check=check)
        return outcome

    def _count(self, name: str, outcome: Outcome, *, check: bool) -> None:
        message = str(outcome.result.get("msg"))
        self.said.append(f"{name}: {message if outcome.failed else outcome.result.get('action') or 'done'}")
        if "bug in the module" in message:
            raise AssertionError(message)
        if name == "fleet_restart":
            for server in outcome.result.get("servers", ()):
                self._count_restart(str(server["msg"]) if server["failed"] else None)
        elif name.endswith("_restart") and not check:
            self._count_restart(message if outcome.failed else None)

    def _count_restart(self, failure: str | None) -> None:
        self.counts["asked"] += 1
        self.counts["refused as unsafe"] += failure is not None and UNSAFE in failure
        self.counts["failed otherwise"] += failure is not None and UNSAFE not in failure

    def wait(self, tasks: Sequence[int | None]) -> bool:
        """Wait for tasks; whether all succeeded."""
        numbers = [task for task in tasks if task is not None]
        return not numbers or not self.module("task_wait", task_ids=numbers, **WAIT).failed

    def proven(self, server: Mapping[str, str], since: str) -> bool:
        """Whether a server has started since and serves, as the playbook and the role ask."""
        for _attempt in range(PROOFS):
            outcome = self.module("server_restart", **server, **FREEZE, started_before=since, check_mode=True)
            if outcome.result.get("verified") is True:
                return True
            SYSTEM_CLOCK.sleep(BETWEEN_PROOFS)
        return False


FREEZE = {"freeze_server": False, "force": False}


def now() -> str:
    """The instant of a change."""
    return datetime.fromtimestamp(SYSTEM_CLOCK.wall(), UTC).isoformat()


def loop(controller: Controller, servers: Servers, **options: Any) -> None:
    """One after the other, whatever becomes of those before it."""
    for server in servers:
        controller.module("server_restart", **server, **FREEZE, **options, **WAIT)


def zones(controller: Controller, cluster: str, names: Sequence[str], **options: Any) -> None:
    """Zones, one after the other."""
    for name in names:
        controller.module("zone_restart", cluster=cluster, zone=name, **options, **WAIT)


def arbitration(controller: Controller, service: str, **options: Any) -> None:
    """An arbitration service."""
    controller.module("arbitration_service_restart", arbitration_service=service, **options, **WAIT)


def fleet(controller: Controller, servers: Servers, *, waves: bool) -> None:
    """The playbook fleet_restart."""
    since = now()
    plan = controller.module("fleet_restart_info", servers=list(servers), started_before=since)
    if plan.failed:
        controller.counts["fleets that could not be planned"] += 1
        return
    controller.counts["fleets planned"] += 1
    if plan.result["refused"] or (len(plan.result["waves"]) > 1 and not waves):
        controller.counts["fleets refused before anything was sent"] += 1
        return
    for wave in plan.result["waves"]:
        controller.counts["waves"] += 1
        is_first = wave["number"] == 1
        chosen = wave["servers"] + (plan.result["left_alone"] if is_first else [])
        later = 0 if is_first else 180
        if controller.module(
            "fleet_restart",
            servers=chosen,
            freeze_server=False,
            started_before=since,
            safety_timeout=later,
            **WAIT,
            wait=True,
        ).failed:
            controller.counts["fleets that ended early"] += 1
            return


def rolling(controller: Controller, cluster: str, batch: str) -> None:
    """The role rolling_restart: the gate, a batch of a zone, and its proof."""
    since = now()
    plan = controller.module(
        "cluster_rolling_restart_info", clusters=[cluster], started_before=since, batch=batch, min_zones=1
    )
    if plan.failed or any(each["blocked"] for each in plan.result["clusters"]):
        controller.counts["rolling restarts that could not be planned"] += 1
        return
    controller.counts["rolling restarts planned"] += 1
    for part in plan.result["batches"]:
        gate = controller.module("cluster_wait", cluster=cluster, min_zones=1, wait_timeout=600, wait_interval=20)
        servers = [{"cluster": cluster, "server": server["name"]} for server in part["servers"]]
        if gate.failed or not _together(controller, servers, since):
            controller.counts["rolling restarts that ended early"] += 1
            return


def _together(controller: Controller, servers: Servers, since: str) -> bool:
    """Start all, wait once, make sure that each has started since; whether all is well."""
    found = [controller.module("server_restart", **server, **FREEZE, started_before=since) for server in servers]
    well = controller.wait([outcome.result.get("task_id") for outcome in found])
    return well and not any(each.failed for each in found) and all(controller.proven(each, since) for each in servers)
