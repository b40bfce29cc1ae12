# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Calls of each module on emulators that together return everything that the module documents."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from credentials import ACCESS_KEY, BASIC
from documented_results import Comparison, documentation_of
from emulator_client import Emulator
from expected_restarts import RESTARTS
from in_process import outcome_of

PROFILES = ("4.3", "4.2")
# Longer than a call waits.
SLOW = ("--step-seconds", "5")
# A list of clusters has more than that of other versions.
WHOLE_LIST = ("--cluster-servers", "complete")
WANTED = {"stack_size": "5M"}
ORDERS = [{"cluster": "orders", "server": f"10.0.0.{last}:2882"} for last in (1, 2, 3)]
STEP = "Start observer process"
ALARMS = "/api/v2/alarm/alarms"
MOST_OF_A_DAY = {"time_zone": "UTC", "weekly": [{"start": "00:00", "end": "23:59"}]}


class Calls:
    """Calls one module on emulators; ``comparison`` has seen all results."""

    def __init__(self, module: str, start: Callable[..., Emulator], folder: Path) -> None:
        self.module = module
        self.comparison = Comparison(documentation_of(module))
        self._start = start
        self.folder = folder
        self._homes = 0

    def start(self, *options: str, fleet: str = "") -> Emulator:
        """A new emulator, and a controller that has restarted nothing there."""
        self._homes += 1
        os.environ["ANSIBLE_HOME"] = str(self.folder / f"home{self._homes}")
        if fleet:
            file = self.folder / f"{self.module}.yml"
            file.write_text(fleet)
            options = ("--fleet", str(file), *options)
        return self._start(*options)

    def __call__(self, emulator: Emulator, *, check_mode: bool = False, **options: Any) -> dict[str, Any]:
        """The result of the module with these options, by default whole, and as a user who may do everything."""
        credentials = {} if "access_key_id" in options else BASIC
        outcome = outcome_of(
            self.module, {"url": emulator.url, "detail": "full", **credentials, **options}, check_mode=check_mode
        )
        self.comparison.add(outcome.result, failed=outcome.failed, full=options.get("detail", "full") == "full")
        return outcome.result

    def fail(self, emulator: Emulator, **options: Any) -> None:
        """Call it with wrong credentials, and where no answer comes."""
        self(emulator, **options, username="admin", password="wrong")
        self(emulator, **{**options, "url": "http://127.0.0.1:1"})


def just_now() -> str:
    return (datetime.now(UTC) - timedelta(seconds=2)).isoformat()


def restart(emulator: Emulator, module: str = "server_restart", **options: Any) -> int:
    """Restart something, and return the id of the task."""
    return int(outcome_of(module, {"url": emulator.url, **BASIC, **RESTARTS[module][0], **options}).result["task_id"])


def end_process(emulator: Emulator, server: int) -> None:
    emulator.put(f"/emulator/servers/{server}/process", {"running": False})


def raise_alarm(emulator: Emulator, cluster: str = "orders") -> None:
    emulator.post("/emulator/alarms", {"alarmType": "ob_cluster_merge_error", "cluster": cluster})


def set_parameter(emulator: Emulator) -> None:
    emulator.put("/api/v2/ob/clusters/1/parameters", [{"name": name, "value": WANTED[name]} for name in WANTED])


def refuse(emulator: Emulator, path: str, status: int = 403, call: int = 1, *, method: str = "GET") -> None:
    """Refuse reads of this path from this call on, or requests of another method."""
    fault = {"kind": "http", "action": "error", "status": status, "match": {"method": method, "path": path}}
    emulator.post("/emulator/faults", {**fault, "call": call, "times": None})


# Restarts of one target


def restarts(call: Calls, step: str = STEP, profiles: tuple[str, ...] = PROFILES) -> None:
    options = RESTARTS[call.module][0]
    for profile in profiles:
        emulator, change = call.start("--profile", profile), just_now()
        call(emulator, **options, check_mode=True)
        call(emulator, **options, wait=True, started_before=change)
        call(emulator, **options, wait=True, started_before=change)
        call(emulator, **options)
    call.fail(emulator, **options)
    slow = call.start(*SLOW)
    call(slow, **options, detail="compact")
    call(slow, **options, wait=True, wait_timeout=1)
    call(slow, **options, wait=True, wait_timeout=1, in_flight="queue")
    failing = call.start()
    failing.fail_subtask(step)
    call(failing, **options, wait=True)
    call(failing, **options)


def restarts_of_servers(call: Calls) -> None:
    restarts(call)
    options = {**RESTARTS[call.module][0], "cluster": "orders"}
    emulator = call.start()
    set_parameter(emulator)
    call(emulator, **options, wait=True, until_effective=WANTED)
    other = call.start("--parameter-servers", "absent", "--zone-ids", "shown")
    call(other, **options, started_before=just_now(), until_effective=WANTED)
    raise_alarm(emulator)
    call(emulator, **options, stop_on=["alarms"])
    end_process(emulator, 5)
    call(emulator, **options, require_healthy=True)
    call(emulator, **options)


def restarts_of_clusters(call: Calls) -> None:
    restarts(call)
    emulator = call.start()
    end_process(emulator, 5)
    call(emulator, cluster="orders")


ARBITRATED = """
clusters:
  - name: shop
    zones: [{name: zone1, servers: [{ip: 10.1.0.1}]}, {name: zone2, servers: [{ip: 10.1.0.2}]}]
    arbitration_service: 10.0.0.10
    tenants: [{name: cart}]
arbitration_services: [{ip: 10.0.0.10}]
"""


def restarts_of_arbitration_services(call: Calls) -> None:
    restarts(call, "Start arbitration service", PROFILES[:1])
    emulator = call.start(fleet=ARBITRATED)
    end_process(emulator, 2)
    call(emulator, **RESTARTS[call.module][0])


# Restarts of several servers


def fleet_restarts(call: Calls) -> None:
    emulator, change = call.start(), just_now()
    options = {"servers": ORDERS[:2], "freeze_server": False, "started_before": change}
    call(emulator, **options, check_mode=True)
    call(emulator, **options)
    call(emulator, **options, wait=True)
    call(emulator, **{**options, "servers": [*ORDERS, {"cluster": "orders", "server": "10.9.9.9:2882"}]})
    call.fail(emulator, **options)
    slow = call.start(*SLOW)
    call(slow, **options, wait=True, wait_timeout=1)
    hidden = call.start(*SLOW)
    refuse(hidden, "*/tasks/instances/*")
    call(hidden, **options, wait=True)
    failing = call.start()
    failing.fail_subtask(STEP)
    call(failing, **options, wait=True)
    planned = {**options, "servers": [ORDERS[0], ORDERS[-1]], "wait": True}
    call.fail(call.start(), **planned, waves=False)
    # One in the first wave, then left alone beside the others.
    waves = call.start()
    waves.post("/emulator/inspection-risks", {"cluster": "orders", "item": "replica_count"})
    call(waves, **{**planned, "servers": ORDERS[:1]}, waves=True, tolerate_outage_of=["sys"], inspection="basic")
    refuse(waves, "*/inspection/run", method="POST")
    both = {**planned, "servers": ORDERS[:2], "inspection": "basic"}
    call(waves, **both, waves=True, tolerate_outage_of=["sys"], windows=MOST_OF_A_DAY)
    end_process(waves, 5)
    call(waves, **{**planned, "servers": ORDERS}, waves=True, tolerate_outage_of=["sys"])
    call(call.start(), **planned, plan_file=str(call.folder / "fleet.json"))


def fleet_plans(call: Calls) -> None:
    emulator = call.start()
    options = {"servers": ORDERS, "started_before": just_now(), "tolerate_outage_of": ["sys"]}
    restart(emulator, wait=True)
    call(emulator, **options)
    call(emulator, **options, windows=MOST_OF_A_DAY)
    call(emulator, **options, plan_file=str(call.folder / "fleet.json"))
    call.fail(emulator, **options)
    end_process(emulator, 5)
    call(emulator, **options)
    slow = call.start(*SLOW)
    restart(slow)
    call(slow, **{**options, "servers": ORDERS[-1:]})


def rolling_restarts(call: Calls) -> None:
    emulator, change = call.start("--servers-per-zone", "1"), just_now()
    options = {"cluster": "cluster1", "freeze_server": False, "started_before": change}
    call(emulator, **options, check_mode=True)
    call(emulator, **options, finish_before=change)
    call(emulator, **options, servers=["1"])
    record = call.folder / "record"
    record.write_text("failed 1.0 {}\n")
    run = {"record": str(record), "host": "cluster1", "clusters": 2}
    call(emulator, **options, run=run, max_failures=0)
    # The plan does not show the alarm yet.
    raise_alarm(emulator, "cluster1")
    replaced = {"kind": "proxy", "action": "replace", "path": f"{ALARMS}?obCluster=none", "match": {"path": ALARMS}}
    emulator.post("/emulator/faults", replaced)
    call(emulator, **options, stop_on=["alarms"])
    emulator.fail_subtask(STEP)
    call(emulator, **options)
    call.fail(emulator, **options)
    slow = call.start("--servers-per-zone", "1", *SLOW)
    call(slow, **options, wait_timeout=1)
    del options["cluster"]
    of_all = {**options, "clusters": ["cluster1", "cluster2"], "max_servers": 300, "canary": 1}
    several = call.start("--servers-per-zone", "1", "--clusters", "2")
    call(several, **of_all, check_mode=True)
    several.post("/emulator/inspection-risks", {"cluster": "cluster1", "item": "replica_count"})
    call(several, **of_all, servers=["1"], inspection="basic")
    refuse(several, "*/inspection/run", method="POST")
    call(several, **of_all, servers=["2"], inspection="basic")
    call(several, **of_all, windows=MOST_OF_A_DAY, plan_file=str(call.folder / "plan.json"))
    look = {"record": str(call.folder / "of-all.record"), "clusters": 2, "canaries": ["cluster1"]}
    call(several, **{**options, "clusters": ["cluster1", "cluster2"], "max_servers": 300, "max_failures": 1}, run=look)
    several.fail_subtask(STEP)
    call(several, **of_all)


def rolling_plans(call: Calls) -> None:
    for profile in PROFILES:
        emulator = call.start("--profile", profile, *SLOW)
        options = {"clusters": ["orders", "payments"], "started_before": just_now(), "stop_on": ["alarms", "backup"]}
        call(emulator, **options)
        call(emulator, **options, plan_file=str(call.folder / "plan.json"))
        raise_alarm(emulator)
        emulator.post("/emulator/backups", {"cluster": "orders"})
        emulator.put("/emulator/tenants/5002", {"locked": True})
        call(emulator, **options, offline_budget="warn")
        restart(emulator, safety="none")
        call(emulator, **{**options, "started_before": "2020-01-01T00:00:00Z"})
    call.fail(emulator, **options)
    quick = call.start()
    restart(quick, wait=True)
    call(quick, clusters=["orders"], change="once more", windows=MOST_OF_A_DAY)


# Tasks


def task_actions(call: Calls) -> None:
    emulator = call.start()
    emulator.fail_subtask(STEP, times=3)
    task_id = restart(emulator, wait=True)
    call(emulator, task_id=task_id, state="retried", check_mode=True)
    call(emulator, task_id=task_id, state="retried", wait=True)
    call(emulator, task_id=task_id, state="retried", subtask="failed", wait=True)
    call(emulator, task_id=task_id, state="rolled_back", wait=True)
    call(emulator, task_id=task_id, state="retried")
    call(emulator, task_id=77, state="retried")
    emulator.fail_subtask(STEP)
    call(emulator, task_id=restart(emulator, wait=True), state="retried")
    call.fail(emulator, task_id=task_id, state="retried")
    slow = call.start(*SLOW)
    for module in ("agent_restart", "cluster_restart"):
        call(slow, task_id=restart(slow, module), state="retried", wait=True, wait_timeout=1)


def waits_for_tasks(call: Calls) -> None:
    for profile in PROFILES:
        emulator = call.start("--profile", profile)
        emulator.fail_subtask(STEP)
        modules = ("agent_restart", "cluster_restart", "server_restart")
        # None of them fails before all have begun.
        emulator.put("/emulator/clock", {"running": False})
        task_ids = [restart(emulator, module) for module in modules]
        emulator.put("/emulator/clock", {"running": True})
        call(emulator, task_ids=task_ids)
        call(emulator, task_ids=task_ids[:1])
    call.fail(emulator, task_ids=[1001], wait_timeout=1)
    slow = call.start(*SLOW)
    call(slow, task_ids=[restart(slow)], wait_timeout=1)


def reads_of_tasks(call: Calls) -> None:
    for profile in PROFILES:
        emulator = call.start("--profile", profile, *SLOW)
        restart(emulator, "agent_restart")
        restart(emulator, "cluster_restart")
        call(emulator)
        emulator.advance(600)
        call(emulator)
    call.fail(emulator)


# Reads


def reads(call: Calls, *switches: str, **options: Any) -> None:
    """Of a fleet in which something is out of service, and something restarts."""
    for profile in PROFILES:
        emulator = call.start("--profile", profile, *switches, *SLOW)
        restart(emulator, "cluster_restart")
        call(emulator, **options)
        end_process(emulator, 7)
        call(emulator, **options)
    call.fail(emulator, **options)


def reads_of_arbitration_services(call: Calls) -> None:
    emulator = call.start(*SLOW, fleet=ARBITRATED)
    call(emulator)
    degraded = {"cluster": "shop", "tenant": "cart", "logStreams": [1001]}
    emulator.put("/emulator/arbitration-services/1", {"degraded": [degraded]})
    restart(emulator, "arbitration_service_restart", safety="none")
    call(emulator)
    call.fail(emulator)


def reads_of_obproxies(call: Calls) -> None:
    reads(call)
    call(call.start(), with_parameters=True)


def waits_for_clusters(call: Calls) -> None:
    for profile in PROFILES:
        emulator = call.start("--profile", profile, *WHOLE_LIST, *SLOW)
        call(emulator, cluster="orders")
        restart(emulator, "cluster_restart")
        end_process(emulator, 7)
        call(emulator, cluster="orders", wait_timeout=1)
        call(emulator, cluster="payments", wait_timeout=1)
    call.fail(emulator, cluster="orders", wait_timeout=1)


HIDING = ("--parameter-metadata", "--parameter-servers")


def reads_of_parameters(call: Calls) -> None:
    for hiding in ((), *((switch, "absent") for switch in HIDING)):
        emulator = call.start(*hiding)
        call(emulator, cluster="orders")
        set_parameter(emulator)
        end_process(emulator, 1)
        call(emulator, cluster="orders", parameters=WANTED)
    call.fail(emulator, cluster="orders")


def sets_parameters(call: Calls) -> None:
    wanted = {"cluster": "orders", "parameters": {**WANTED, "enable_tcp_keepalive": "FALSE"}, "settle_time": 1}
    for hiding in ((), *((switch, "absent") for switch in HIDING), ("--parameter-values", "set")):
        emulator = call.start(*hiding)
        call(emulator, **wanted, check_mode=True)
        end_process(emulator, 1)
        call(emulator, **wanted)
        call(emulator, **wanted)
    emulator = call.start()
    refuse(emulator, "*/parameters", call=2)
    call(emulator, **wanted)
    call.fail(emulator, **wanted)


def raises_the_offline_time(call: Calls) -> None:
    emulator = call.start(*SLOW)
    wanted = {"cluster": "orders", "state": "raised", "raise_to": "4h"}
    call(emulator, check_mode=True, **wanted)
    call(emulator, **wanted)
    call(emulator)
    call.fail(emulator, **wanted)


def reads_of_the_journal(call: Calls) -> None:
    emulator = call.start(*SLOW)
    restart(emulator, "server_restart", change="memory-2026-11-20")
    # It is refused, since the other restart is running, but the name is known from then on.
    other = {**RESTARTS["server_restart"][0], "change": "stack-2026-11-20"}
    outcome_of("server_restart", {"url": emulator.url, **BASIC, **other})
    restart(emulator, "agent_restart", change="agents-2026-11-20")
    restart(emulator, "cluster_restart", cluster="payments")
    restart(emulator, "server_restart", server="10.0.0.2:2882", safety="none", until_effective=WANTED)
    # After that the service is known to show old and new values apart.
    wanted = {"cluster": "orders", "parameters": {"stack_size": "6M"}, "settle_time": 1}
    outcome_of("cluster_parameter", {"url": emulator.url, **BASIC, **wanted})
    call(emulator)
    call(emulator, journal_url="nonsense")


def clears_the_journal(call: Calls) -> None:
    emulator = call.start(*SLOW)
    restart(emulator, "server_restart", change="memory-2026-11-20")
    call(emulator, change="memory-2026-11-20", check_mode=True)
    call(emulator, everything=True)
    call(emulator, request=1)


def checks_of_services(call: Calls) -> None:
    for profile in PROFILES:
        emulator = call.start("--profile", profile)
        call(emulator)
        call(emulator, **ACCESS_KEY)
    call.fail(emulator)
    refuse(emulator, "*/tenants", 401)
    call(emulator, recording=str(call.folder / "recording.json"))


CALLS: dict[str, Callable[[Calls], None]] = {
    "agent_restart": lambda call: restarts(call, "Stop all OCP agent processes"),
    "arbitration_service_info": reads_of_arbitration_services,
    "arbitration_service_restart": restarts_of_arbitration_services,
    "cluster_info": lambda call: reads(call, *WHOLE_LIST),
    "cluster_offline_time": raises_the_offline_time,
    "cluster_parameter": sets_parameters,
    "cluster_parameter_info": reads_of_parameters,
    "cluster_restart": restarts_of_clusters,
    "cluster_rolling_restart": rolling_restarts,
    "cluster_rolling_restart_info": rolling_plans,
    "cluster_wait": waits_for_clusters,
    "fleet_restart": fleet_restarts,
    "fleet_restart_info": fleet_plans,
    "host_info": reads,
    "restart_journal_clear": clears_the_journal,
    "restart_journal_info": reads_of_the_journal,
    "obproxy_info": reads_of_obproxies,
    "obproxy_restart": lambda call: restarts(call, "Start obproxy"),
    "server_info": reads,
    "server_restart": restarts_of_servers,
    "ocp_info": checks_of_services,
    "task": task_actions,
    "task_info": reads_of_tasks,
    "task_wait": waits_for_tasks,
    "text_display": lambda call: call(call.start(), text="FACTS\n  shown"),
    "zone_restart": restarts_of_servers,
}
