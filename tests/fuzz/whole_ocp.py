# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The documented OCP with what newer documents add, and with tasks that fail: every call of the contract is served."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ansible_collections.oceanbase.ocp.tests.unit.support.documented_ocp import CLUSTER, ZONES, DocumentedOcp

ARBITRATION = 61
OBPROXY_CLUSTER, OBPROXY = 91, 71
# Two full replicas, and the arbitration service for both.
TENANTS = {1001: "sys", 1002: "pay"}
PARAMETERS = {
    "stack_size": {"type": "CAPACITY", "value": "512K", "static": True},
    "tcp_keepidle": {"type": "TIME", "value": "7200s", "static": False},
}
# A task that has FAILED, and some that run for a while.
FAILED_TASK = 30100
RUNNING_TASKS = [*range(30101, 30106)]
SUBTASK = 31900
RUNNING_SECONDS = 6
# What an action makes of the subtasks in a status: their new status and operation.
ACTIONS = {
    "retry": ("FAILED", "RUNNING", "RETRY"),
    "rollback": ("FAILED", "RUNNING", "ROLLBACK"),
    "skip": ("FAILED", "SUCCESSFUL", "SKIP"),
    "cancel": ("RUNNING", "CANCELING", "CANCEL"),
}
TAGS = {"Restart OB server": "serverId", "Batch restart OCP agent": "hostId", "Restart arbitration service": None}
# As the documented answer to a restart calls its task.
OBPROXY_TASK = "Offline obproxy"
TAGS[OBPROXY_TASK] = None


@dataclass
class WholeOcp(DocumentedOcp):
    """``newest``: with the details, tags and tasks that newer documents have. ``fails``: its tasks end FAILED."""

    newest: bool = False
    fails: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parameters = {name: dict(shown) for name, shown in PARAMETERS.items()}
        self.started[f"arbitration-{ARBITRATION}"] = -86_400.0
        self.started[f"obproxy-{OBPROXY}"] = -86_400.0
        self.tasks.append(self._earlier_task(FAILED_TASK, "FAILED"))
        self.tasks += [self._earlier_task(number, "RUNNING") for number in RUNNING_TASKS]

    def status_of(self, task_id: int) -> str:
        """The status of a task, whatever the answers say."""
        return next(str(task["status"]) for task in self.tasks if task["id"] == task_id)

    def _earlier_task(self, number: int, status: str) -> dict[str, Any]:
        steps = [
            {
                "id": SUBTASK + 10 * (number - FAILED_TASK) + place,
                "name": name,
                "description": f"{name} of the tenant",
                "status": state,
                "operation": "EXECUTE",
                "upstreams": [],
                "downstreams": [],
                "timeout": 60,
                "runTime": 1,
                "parallelIdx": -1,
                "executor": "172.20.1.51",
                "startTime": self._instant(-3600, 3),
                **({} if state == "RUNNING" else {"finishTime": self._instant(-3500, 3)}),
                "prohibitRollback": False,
                "prohibitSkip": False,
            }
            for place, (name, state) in enumerate((("Prepare", "SUCCESSFUL"), ("Back up", status)))
        ]
        return {
            "id": number,
            "name": "Backup tenant",
            "status": status,
            "operation": "EXECUTE",
            "creator": "root",
            "startTime": self._instant(-3600, 3),
            "createTime": self._instant(-3601, 3),
            "prohibitRollback": False,
            "clusterId": CLUSTER,
            "subtasks": steps,
            "hosts": {51},
            "restarts": [],
            "ends": self._now + RUNNING_SECONDS,
        }

    def _routes(self) -> dict[tuple[str, str], Callable[..., Any]]:
        task, services = "/api/v2/tasks/instances/{id}", "/api/v2/arbitration/services"
        actions = {
            **{f"{task}/{verb}": partial(self._act, verb) for verb in ("retry", "rollback")},
            **{f"{task}/subtasks/{{step}}/{verb}": partial(self._act, verb) for verb in ("retry", "skip", "cancel")},
        }
        tenants, obproxies = "/api/v2/ob/clusters/{id}/tenants", "/api/v2/obproxy/clusters"
        parameters = "/api/v2/ob/clusters/{id}/parameters"
        newest: dict[tuple[str, str], Callable[..., Any]] = {
            ("GET", tenants): lambda cluster, **_: self._page([self._tenant(cluster, number) for number in TENANTS]),
            ("GET", f"{tenants}/{{tenant}}"): lambda cluster, number, **_: self._tenant(cluster, number, whole=True),
            ("GET", parameters): self._parameters,
            ("PUT", parameters): self._set_parameters,
            ("GET", services): self._arbitration_services,
            ("GET", f"{services}/{{id}}"): lambda number, **_: self._arbitration_service(number),
            ("POST", f"{services}/{{id}}/restart"): self._restart_arbitration_service,
            ("GET", obproxies): lambda **_: self._page([self._obproxy_cluster(OBPROXY_CLUSTER)]),
            ("GET", f"{obproxies}/{{id}}/parameters"): lambda _number, **_: self._page([self._obproxy_parameter()]),
            ("GET", f"{obproxies}/{{id}}"): lambda number, **_: self._obproxy_cluster(number),
            ("POST", f"{obproxies}/{{id}}/obproxies/{{ids}}/restart"): self._restart_obproxy,
        }
        if self.newest:
            newest["GET", "/api/v2/ob/clusters/{id}"] = self._cluster
        return {**super()._routes(), **newest, **{("POST", path): act for path, act in actions.items()}}

    def _cluster(self, number: int, **_: Any) -> Any:
        found = next((one for one in self._clusters(query={})["contents"] if one["id"] == number), None)
        servers = self._servers(number)["contents"]
        zones = [
            {**zone, "servers": [server for server in servers if server["zoneName"] == zone["name"]]}
            for zone in (found or {"zones": []})["zones"]
        ]
        return found and {**found, "zones": zones, "operatingTaskInstanceId": None}

    def _servers(self, cluster: int, **_: Any) -> Any:
        found = super()._servers(cluster)
        if cluster != CLUSTER:
            # No two servers have one address.
            found["contents"] = [
                {**server, "id": server["id"] + 50, "ip": f"172.20.2.{place}"}
                for place, server in enumerate(found["contents"])
            ]
        if self.newest:
            working = {
                each: task["id"] for task in self.tasks if task["status"] == "RUNNING" for each in task["restarts"]
            }
            for server in found["contents"]:
                server |= {"operatingTaskInstanceId": working.get(server["id"]), "idcName": "hall3"}
        return found

    def _parameters(self, cluster: int, **_: Any) -> Any:
        servers = [(server["ip"], server["port"]) for server in self._servers(cluster)["contents"]]
        return {"contents": [self._parameter(name, servers) for name in self.parameters]}

    def _parameter(self, name: str, servers: list[tuple[str, int]]) -> dict[str, Any]:
        shown = self.parameters[name]
        value = shown["value"]
        return {
            "name": name,
            "defaultValue": "",
            "description": f"What {name} is.",
            "section": "OBSERVER",
            "readonly": False,
            "needRestart": shown["static"],
            "valueRange": {"type": shown["type"], "minValue": None, "maxValue": None, "allowedValues": None},
            "currentValue": {
                "singleValueInCluster": True,
                "values": [value],
                "valueToServers": {value: [f"{ip}:{port}" for ip, port in servers]},
                "obParameters": [
                    {"name": name, "svrIp": ip, "svrPort": port, "svrType": "observer", "value": value, "zone": "east"}
                    for ip, port in servers
                ],
            },
        }

    def _obproxy_parameter(self) -> dict[str, Any]:
        return {
            "name": "work_thread_num",
            "description": "proxy work thread num, [1, 128]",
            "needReboot": True,
            "valueString": "128",
            "values": [{"value": "128", "obproxies": ["172.20.1.71"]}],
        }

    def _set_parameters(self, _cluster: int, *, body: Any, **_: Any) -> Any:
        """A static one keeps the value that its servers run with."""
        for each in body:
            if not self.parameters[each["name"]]["static"]:
                self.parameters[each["name"]]["value"] = each["value"]
        return {}

    def _tenant(self, cluster: int, number: int, *, whole: bool = False) -> Any:
        if number not in TENANTS:
            return None
        placed = {zone: [{"serverId": server, "zoneName": zone} for server in found] for zone, found in ZONES.items()}
        zones = [{"name": zone, "replicaType": "FULL", "units": units} for zone, units in placed.items()]
        return {
            "id": number,
            "name": TENANTS[number],
            "clusterId": cluster,
            "locality": ", ".join(f"FULL{{1}}@{zone}" for zone in ZONES),
            "zoneList": ";".join(ZONES),
            "primaryZone": "RANDOM",
            "status": "NORMAL",
            **({"zones": zones} if whole else {}),
        }

    def _arbitration_services(self, **_: Any) -> Any:
        return self._page([self._arbitration_service(ARBITRATION)])

    def _arbitration_service(self, number: int) -> Any:
        if number != ARBITRATION:
            return None
        tenants = [{"id": each, "name": name, "degradedLsIdList": []} for each, name in TENANTS.items()]
        return {
            "id": number,
            "svrIp": "172.20.1.61",
            "svrPort": 2888,
            "hostId": 52,
            "status": "RUNNING",
            "version": "4.2.1.0",
            "description": "for billing",
            "updateTime": self._instant(-600),
            "clusters": [{"id": CLUSTER, "name": "billing", "tenants": tenants}],
            "operatingTaskInstanceId": None,
        }

    def _restart_arbitration_service(self, number: int, **_: Any) -> Any:
        return self._start("Restart arbitration service", [f"arbitration-{number}"])

    def _obproxy_cluster(self, number: int) -> Any:
        if number != OBPROXY_CLUSTER:
            return None
        working = any(task["status"] == "RUNNING" and task["name"] == OBPROXY_TASK for task in self.tasks)
        proxy = {
            "id": OBPROXY,
            "clusterId": number,
            "hostId": 52,
            "ip": "172.20.1.71",
            "sqlPort": 2883,
            "exporterPort": 2884,
            "status": "RUNNING",
            "operateStatus": "OPERATING" if working else "NORMAL",
            "version": "4.3.1.0",
            "idcName": "hall3",
            "lastActiveTime": self._instant(self._now - 20),
        }
        named = {"id": number, "name": "entry", "address": "172.20.1.70", "port": 2883, "workMode": "CONFIG_URL"}
        return {**named, "obproxies": [proxy]}

    def _restart_obproxy(self, cluster: int, number: int, **_: Any) -> Any:
        if (cluster, number) != (OBPROXY_CLUSTER, OBPROXY):
            return None
        started = self._start(OBPROXY_TASK, [f"obproxy-{number}"])
        if self.newest:
            self.tasks[-1]["tags"] = [{"obproxyId": number, "hostId": 52}]
        context = {"listMap": {"obproxy_server_ids": [str(number)], "host_ids": ["52"]}, "stringMap": {}}
        return {**started, "context": context}

    def _start(self, name: str, restarts: list[Any]) -> dict[str, Any]:
        started = super()._start(name, restarts)
        tag = TAGS.get(name, "zoneName")
        if self.newest and tag:
            zone = next((zone for zone, servers in ZONES.items() if restarts[0] in servers), "")
            values = {"serverId": restarts, "hostId": [int(str(each)[-2:]) for each in restarts], "zoneName": [zone]}
            self.tasks[-1]["tags"] = [{tag: value, "clusterId": CLUSTER} for value in values[tag]]
        return started

    def _act(self, verb: str, number: int, *_step: int, **_: Any) -> Any:
        task = next((task for task in self.tasks if task["id"] == number), None)
        if task is None:
            return None
        before, status, operation = ACTIONS[verb]
        task |= {"status": "RUNNING", "operation": operation, "ends": self._now + 2}
        for step in task["subtasks"]:
            if step["status"] == before:
                step |= {"status": status, "operation": operation, "runTime": 2}
        return {}

    def _move_on(self) -> None:
        due = [task for task in self.tasks if task["status"] == "RUNNING" and self._now >= task["ends"]]
        super()._move_on()
        if not self.fails:
            return
        for task in due:
            task["status"] = "FAILED"
            task["subtasks"][-1] |= {"status": "FAILED", "finishTime": self._instant(self._now, 3)}
