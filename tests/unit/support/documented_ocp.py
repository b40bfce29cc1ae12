# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An OCP that answers like the documents of 4.2.2, below the HTTP client: written from them, not from the plugins.

It lacks what those documents lack: a cluster's own endpoint, ids of zones, servers within clusters, tags of tasks,
tasks that a target names. Values are its own. Time is the test's.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, FakeClock
from urllib3 import HTTPResponse

ADDRESS = "http://ocp.test:8080"
TASK_SECONDS = 2
HTML = b"<html><body>Login</body></html>"
CLUSTER, OTHER_CLUSTER = 7000031, 7000032
ZONES = {"east": (7000041, 7000042), "west": (7000043,)}
AGENT_PROCESSES = ("ocp_agentd", "pos_proxy", "ob_monitor")
# What a service answers to a path that it does not know: the status, and whether it is an envelope.
UNKNOWN = {
    "400": (400, True),
    "403": (403, True),
    "404": (404, True),
    "405": (405, True),
    "500": (500, True),
    "html": (200, False),
}

Change = Callable[[str, Any], Any]


def unchanged(_template: str, data: Any) -> Any:
    return data


@dataclass
class DocumentedOcp:
    """Send it requests by ``send``, in place of an adapter of ``requests``.

    ``change(template, data)`` gives what is answered in place of the documented ``data`` of a path.
    """

    time: FakeClock
    unknown: str = "404"
    agents_below: str = "/api/v2"
    change: Change = unchanged
    posts: list[str] = field(default_factory=list)
    requests: int = 0
    tasks: list[dict[str, Any]] = field(default_factory=list)
    starts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begin = self.time.time
        # Seconds since BEGINNING; everything has run for a day.
        self.started = dict.fromkeys([*(s for zone in ZONES.values() for s in zone), "agent-51", "agent-52"], -86_400.0)
        self.pids = {"agent-51": 900, "agent-52": 950}

    # HTTP

    def send(self, request: requests.PreparedRequest, **_options: Any) -> requests.Response:
        status, body = self.answer(str(request.method), str(request.url), request.body or "{}")
        raw = HTTPResponse(
            io.BytesIO(body), headers={"Content-Type": "application/json"}, status=status, preload_content=False
        )
        return requests.adapters.HTTPAdapter().build_response(request, raw)

    def answer(self, method: str, url: str, body: str | bytes) -> tuple[int, bytes]:
        """The status and the body of the answer to a request."""
        self.requests += 1
        self._move_on()
        parts = urlsplit(url)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        return self._answer(method, parts.path, query, json.loads(body))

    def _answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, bytes]:
        for (verb, template), handler in self._routes().items():
            found = re.fullmatch(re.sub(r"\{\w+\}", r"([^/]+)", template), path)
            if verb != method or found is None:
                continue
            if method == "POST":
                self.posts.append(path)
            data = handler(*(int(part) if part.isdigit() else part for part in found.groups()), query=query, body=body)
            if data is None:
                return 404, self._envelope(404, error={"code": 0, "message": "It does not exist."})
            return 200, self._envelope(200, data=self.change(template, data))
        status, enveloped = UNKNOWN[self.unknown]
        if not enveloped:
            return status, HTML
        message = f"Could not find the {method} method for URL {path}" if status == 400 else "Not served"
        return status, self._envelope(status, error={"code": 0, "message": message})

    def _envelope(self, status: int, **content: Any) -> bytes:
        return json.dumps(
            {
                **content,
                "duration": 7,
                "server": "4cab12",
                "status": status,
                "successful": status == 200,
                "timestamp": self._instant(self._now, 3),
                "traceId": "5d1c8e7a",
            }
        ).encode()

    def _routes(self) -> dict[tuple[str, str], Callable[..., Any]]:
        clusters, tasks, hosts = "/api/v2/ob/clusters", "/api/v2/tasks/instances", "/api/v2/compute/hosts"
        agents = f"{self.agents_below}/compute/hosts"
        return {
            ("GET", clusters): self._clusters,
            ("GET", f"{clusters}/{{id}}/zones"): self._zones,
            ("GET", f"{clusters}/{{id}}/servers"): self._servers,
            ("GET", hosts): self._hosts,
            ("GET", f"{agents}/{{host}}/agent"): self._agent,
            ("GET", tasks): self._task_list,
            ("GET", f"{tasks}/{{id}}"): self._task,
            ("GET", f"{tasks}/{{id}}/subtasks/{{step}}/log"): lambda _task, _step, **_: {"log": "begin\nend\n"},
            ("POST", f"{clusters}/{{id}}/restart"): self._restart_cluster,
            ("POST", f"{clusters}/{{id}}/servers/{{server}}/restart"): self._restart_server,
            ("POST", f"{clusters}/{{id}}/zones/{{zone}}/restart"): self._restart_zone,
            ("POST", f"{agents}/batchRestartAgents"): self._restart_agents,
        }

    # Reads

    def _clusters(self, *, query: dict[str, str], **_: Any) -> Any:
        names = {CLUSTER: "billing", OTHER_CLUSTER: "billing-archive"}
        found = [number for number, name in names.items() if query.get("name", "") in name]
        zones = [
            {
                "idcId": 3,
                "idcName": "hall3",
                "innerStatus": "ACTIVE",
                "name": name,
                "operateStatus": "NORMAL",
                "regionName": "north",
                "serverCount": len(servers),
                "servers": [],
                "status": "RUNNING",
            }
            for name, servers in ZONES.items()
        ]
        return self._page(
            [
                {
                    "createTime": "2024-03-01T10:00:00+08:00",
                    "creator": "admin",
                    "id": number,
                    "name": names[number],
                    "obClusterId": number - 7_000_000,
                    "obVersion": "3.2.4.1",
                    "regionCount": 1,
                    "serverCount": 3,
                    "status": "RUNNING",
                    "type": "PRIMARY",
                    "zones": zones,
                }
                for number in found
            ]
        )

    def _zones(self, cluster: int, **_: Any) -> Any:
        return {
            "contents": [
                {"clusterId": cluster, "name": name, "status": "RUNNING", "regionName": "north", "servers": []}
                for name in ZONES
            ]
        }

    def _servers(self, cluster: int, **_: Any) -> Any:
        return {
            "contents": [
                {
                    "clusterId": cluster,
                    "hostId": 51 if number < 7000043 else 52,
                    "id": number,
                    "innerStatus": "ACTIVE",
                    "ip": f"172.20.1.{number - 7000000}",
                    "port": 2882,
                    "sqlPort": 2881,
                    "startTime": self._instant(self.started[number]),
                    "status": "RUNNING",
                    "stopTime": "1970-01-01T08:00:00+08:00",
                    "updateTime": self._instant(-600),
                    "version": "3.2.4.1_2024",
                    "withRootserver": number == 7000041,
                    "zoneName": zone,
                }
                for zone, servers in ZONES.items()
                for number in servers
            ]
        }

    def _hosts(self, **_: Any) -> Any:
        return self._page(
            [
                {
                    "id": number,
                    "innerIpAddress": f"172.20.1.{number}",
                    "name": f"node{number}",
                    "status": "ONLINE",
                    "hostAgentStatus": "AVAILABLE",
                    "hostAgentId": number,
                    "services": None,
                }
                for number in (51, 52)
            ]
        )

    def _agent(self, host: int, **_: Any) -> Any:
        agent = f"agent-{host}"
        if agent not in self.pids:
            return None
        processes = [
            {
                "alias": alias,
                "elapsedTime": int(self._now - self.started[agent]),
                "hostId": host,
                "id": 180 + place,
                "lastActiveTime": self._instant(int(self._now)),
                "operable": False,
                "pid": self.pids[agent] + place,
                "status": "STARTED",
            }
            for place, alias in enumerate(AGENT_PROCESSES)
        ]
        stopped = {
            "alias": "ob_cleaner",
            "elapsedTime": 0,
            "hostId": host,
            "id": 190,
            "lastActiveTime": self._instant(-864_000),
            "operable": True,
            "pid": 0,
            "status": "STOPPED",
        }
        return {"hostId": host, "id": 6000 + host, "status": "AVAILABLE", "processes": [*processes, stopped]}

    def _task_list(self, *, query: dict[str, str], **_: Any) -> Any:
        found = [
            {
                **{key: task[key] for key in ("id", "name", "status", "startTime") if key in task},
                "creator": {"id": 100, "name": "admin"},
                "cluster": {"id": CLUSTER, "name": "billing"},
                "subtasks": task["subtasks"],
            }
            for task in reversed(self.tasks)
            if query.get("name", "").lower() in task["name"].lower()
            and query.get("status", task["status"]) == task["status"]
            and int(query.get("hostId", "51")) in task["hosts"]
            and query.get("clusterId", str(CLUSTER)) == str(CLUSTER)
        ]
        size = int(query.get("size", "10"))
        return self._page(found[:size])

    def _task(self, number: int, **_: Any) -> Any:
        found = next((task for task in self.tasks if task["id"] == number), None)
        if found is None:
            return None
        inside = ("hosts", "restarts", "ends")
        return {
            **{key: value for key, value in found.items() if key not in inside},
            "creator": {"id": 100, "name": "admin"},
        }

    # Restarts

    def _restart_server(self, _cluster: int, server: int, **_: Any) -> Any:
        return self._start("Restart OB server", [server])

    def _restart_zone(self, _cluster: int, zone: str, **_: Any) -> Any:
        return self._start("Restart OB Zone", list(ZONES[zone]))

    def _restart_cluster(self, cluster: int, **_: Any) -> Any:
        started = self._start("Restart OB cluster", [server for zone in ZONES.values() for server in zone])
        return {
            **{key: value for key, value in started.items() if key not in ("subtasks", "operation")},
            "tasks": started["subtasks"],
            "creator": {"id": 100, "name": "admin"},
            "cluster": {"id": cluster, "name": "billing", "obClusterId": 31},
            "context": "Context(parallelIdx=-1, stringMap={cluster_name=billing})",
        }

    def _restart_agents(self, *, body: Any, **_: Any) -> Any:
        agents = [f"agent-{host}" for host in body["hostIds"]]
        return self._start("Batch restart OCP agent", agents) if set(agents) <= self.pids.keys() else None

    def _start(self, name: str, restarts: list[Any]) -> dict[str, Any]:
        hosts = {51, 52} if "agent" not in name else {int(each[-2:]) for each in restarts}
        steps = [
            {
                "id": 31800 + place,
                "name": text,
                "description": text,
                "status": "PENDING",
                "operation": "EXECUTE",
                "upstreams": [31799 + place] if place else [],
                "downstreams": [31801 + place] if place < 2 else [],
                "timeout": 60,
                "runTime": 1,
                "parallelIdx": -1,
                "seriesId": 2 - place,
            }
            for place, text in enumerate(("Prepare", "Restart it", "Finish"))
        ]
        task = {
            "id": 30200 + len(self.tasks),
            "name": name,
            "status": "RUNNING",
            "operation": "EXECUTE",
            "creator": "admin",
            "startTime": self._instant(self._now, 3),
            "subtasks": steps,
            "hosts": hosts,
            "restarts": restarts,
            "ends": self._now + TASK_SECONDS,
        }
        self.tasks.append(task)
        for each in restarts:
            self.starts[str(each)] = self.starts.get(str(each), 0) + 1
        return {key: value for key, value in task.items() if key not in ("hosts", "restarts", "ends")}

    def _move_on(self) -> None:
        for task in self.tasks:
            if task["status"] != "RUNNING" or self._now < task["ends"]:
                continue
            task["status"] = "SUCCESSFUL"
            task["finishTime"] = self._instant(task["ends"], 3)
            for step in task["subtasks"]:
                step["status"] = "SUCCESSFUL"
            for each in task["restarts"]:
                self.started[each] = task["ends"] - TASK_SECONDS / 2
                if each in self.pids:
                    self.pids[each] += 10

    # Forms

    @property
    def _now(self) -> float:
        return self.time.time - self._begin

    @staticmethod
    def _instant(seconds: float, digits: int = 0) -> str:
        return (BEGINNING + timedelta(seconds=seconds)).isoformat(timespec="milliseconds" if digits else "seconds")

    @staticmethod
    def _page(contents: list[Any]) -> dict[str, Any]:
        return {
            "contents": contents,
            "page": {"number": 1, "size": 10, "totalElements": len(contents), "totalPages": 1},
        }
