# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An OCP that says in every text what the test wants it to say. It has no code in common with plugins or emulator."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

# What a field holds, by the name of the field and the number of the thing that has it.
Say = Callable[[str, int], Any]

# The things that can be restarted. Only what finds them is as it should be.
ORDERS, SERVERS, HOST, SERVICE = 9001, {9011: "10.9.0.1", 9012: "10.9.0.2", 9013: "10.9.0.3"}, 9021, 9031
ENTRY, OBPROXY = 9041, 9042
OTHER_TASK = 1000
RESTARTED = "/restart", "/batchRestartAgents"
REFUSED = 404404


def listed(contents: list[Any], pages: int = 1) -> dict[str, Any]:
    return {"contents": contents, "page": {"totalPages": pages}}


class HostileOcp:
    """The answers. Each list has ``count`` things whose numbers begin with 1, and tasks 1001 and so on, all FAILED.

    ``more_servers`` are in a cluster of their own. The thing with the number 0 is one that can be restarted; its
    restart is SUCCESSFUL at once.
    """

    def __init__(self, say: Say, count: int, more_servers: list[dict[str, Any]] | None = None) -> None:
        self._say = say
        self._count = count
        self._more_servers = more_servers or []
        self._restarts: list[datetime] = []
        self._lock = threading.Lock()

    def answer(self, method: str, target: str) -> tuple[int, dict[str, Any]]:
        """The status and the envelope for one request."""
        url = urlsplit(target)
        path, query = unquote(url.path), {key: values[0] for key, values in parse_qs(url.query).items()}
        data = self._data(method, path, query)
        words = {name: self._say(name, 0) for name in ("traceId", "server", "message")}
        if data is None:
            error = {"code": self._say("code", 0), "message": words["message"], "target": words["server"]}
            return 400, {"successful": False, "status": 400, "error": error, **words}
        return 200, {"successful": True, "status": 200, "data": data, **words}

    def _data(self, method: str, path: str, query: dict[str, str]) -> Any:
        if method == "POST":
            return self._restarted() if path.endswith(RESTARTED) else {}
        if method == "PUT":
            return {}
        path = path.removeprefix("/api/v2")
        for pattern, read in {
            "/ob/clusters": lambda: self._clusters(query.get("name", "")),
            r"/ob/clusters/(\d+)": self._cluster,
            r"/ob/clusters/(\d+)/zones": lambda number: listed(self._cluster(number)["zones"]),
            r"/ob/clusters/(\d+)/servers": self._servers,
            r"/ob/clusters/(\d+)/parameters": lambda _number: listed([*map(self._parameter, range(self._count + 1))]),
            "/compute/hosts": lambda: listed([*map(self._host, range(self._count + 1))]),
            r"/compute/hosts/(\d+)/agent": self._agent,
            "/arbitration/services": lambda: listed([*map(self._service, range(self._count + 1))]),
            rf"/arbitration/services/({SERVICE})": lambda _number: self._service(0),
            "/obproxy/clusters": lambda: listed([*map(self._obproxy_cluster, range(self._count + 1))]),
            rf"/obproxy/clusters/({ENTRY})": lambda _number: self._obproxy_cluster(0),
            "/tasks/instances": lambda: self._tasks(query),
            r"/tasks/instances/(\d+)": self._task,
            r"/tasks/instances/(\d+)/subtasks/(\d+)/log": self._log,
        }.items():
            found = re.fullmatch(pattern, path)
            if found:
                return read(*map(int, found.groups()))
        return None

    def _words(self, thing: str, number: int, *names: str) -> dict[str, Any]:
        return {name: self._say(f"{thing}-{name}", number) for name in names}

    # Clusters

    def _clusters(self, name: str) -> dict[str, Any]:
        orders = [self._cluster(ORDERS)] if name in "orders" else []
        return listed(orders if name else [*map(self._cluster, range(1, self._count + 1)), *orders])

    def _cluster(self, number: int) -> dict[str, Any]:
        words = self._words("cluster", number % ORDERS, "type", "obVersion", "obClusterId", "obStartTime", "tags")
        operated = self._words("cluster", number % ORDERS, "operatingTaskInstanceId")
        if number == ORDERS:
            names = {"name": "orders", "status": "RUNNING"}
        else:
            names = self._words("cluster", number, "name", "status")
            # By what its zones say, the facts of its server are completed.
            names["zones"] = [{**self._zone(number), "name": self._say("server-zoneName", number)}]
        zones = [{**self._zone(0), "name": self._zone_of(server), "status": "RUNNING"} for server in SERVERS]
        return {"id": number, "zones": zones, **words, **operated, **names}

    def _zone(self, number: int) -> dict[str, Any]:
        words = self._words("zone", number, "id", "regionName", "idcName", "status", "serverCount")
        return {**words, "servers": self._words("zone", number, "servers")}

    def _zone_of(self, server: int) -> str:
        return str(self._say("zone-name", 0)) + str(server)

    def _servers(self, cluster: int) -> dict[str, Any]:
        if cluster == ORDERS:
            return listed([self._server_to_restart(server) for server in SERVERS])
        if cluster == self._count:
            return listed([self._server(cluster), *self._more_servers])
        return listed([self._server(cluster)])

    def _server(self, number: int) -> dict[str, Any]:
        words = ("id", "hostId", "zoneName", "status", "innerStatus", "sqlPort", "withRootserver", "startTime")
        others = ("stopTime", "version", "operatingTaskInstanceId")
        # Without regionName and idcName, those of the zone count.
        places = () if number % 2 else ("regionName", "idcName")
        address = {"ip": f"10.1.{number // 250}.{number % 250}", "port": 2882}
        return {**self._words("server", number, *words, *others, *places), **address}

    def _server_to_restart(self, number: int) -> dict[str, Any]:
        good = {
            "id": number,
            "hostId": HOST,
            "ip": SERVERS[number],
            "port": 2882,
            "zoneName": self._zone_of(number),
            "status": "RUNNING",
            "innerStatus": "ACTIVE",
            "withRootserver": number == next(iter(SERVERS)),
            "startTime": self._started(),
        }
        return {**self._server(0), **good}

    def _parameter(self, number: int) -> dict[str, Any]:
        words = self._words(
            "parameter", number, "name", "section", "defaultValue", "description", "needRestart", "readonly"
        )
        limits = self._words("parameter", number, "type", "minValue", "maxValue", "allowedValues")
        value = self._say("parameter-value", number)
        of_servers = [{"svrIp": ip, "svrPort": 2882, "value": value} for ip in SERVERS.values()]
        current = {"obParameters": of_servers, "valueToServers": {str(value): ["10.9.0.1:2882"]}, "values": [value]}
        found = {**words, "currentValue": current, "valueRange": limits}
        # What is set must be found, and nothing must speak against it.
        good = {"name": "stack_size", "needRestart": True, "readonly": False, "valueRange": {}}
        return found if number else {**found, **good}

    # Hosts and arbitration services

    def _host(self, number: int) -> dict[str, Any]:
        words = ("name", "status", "regionName", "idcName", "hostAgentId", "hostAgentStatus", "hostAgentVersion")
        services = [self._words("service", number, "name", "type", "version")]
        host = {**self._words("host", number, "id", "innerIpAddress", *words), "services": services}
        return {**host, "id": HOST, "innerIpAddress": SERVERS[9011], "hostAgentStatus": None} if number == 0 else host

    def _agent(self, _host: int) -> dict[str, Any]:
        process = {"status": "STARTED", "pid": 100 + len(self._restarts), "elapsedTime": 1}
        process["lastActiveTime"] = datetime.now(UTC).isoformat(timespec="seconds")
        needed = [{**process, "alias": alias} for alias in ("ocp_agentd", "pos_proxy")]
        names = ("alias", "status", "pid", "elapsedTime", "lastActiveTime")
        others = [self._words("process", number, *names) for number in range(1, self._count + 1)]
        # What is hostile about these is the name alone, the key of a result.
        named = [{**process, **self._words("started", number, "alias")} for number in range(1, self._count + 1)]
        return {"status": "AVAILABLE", "processes": [*needed, *others, *named]}

    def _service(self, number: int) -> dict[str, Any]:
        words = ("svrIp", "svrPort", "hostId", "status", "version", "description", "updateTime")
        tenant = self._words("tenant", number, "tenantId", "tenantName", "degradedLsIdList")
        cluster = {**self._words("served", number, "clusterId", "clusterName"), "tenants": [tenant]}
        service = {**self._words("arbitration", number, "id", *words), "clusters": [cluster]}
        service |= self._words("arbitration", number, "operatingTaskInstanceId")
        if number:
            return service
        return {**service, "id": SERVICE, "svrIp": "10.9.0.9", "svrPort": 2888, "status": "RUNNING", "clusters": []}

    def _obproxy_cluster(self, number: int) -> dict[str, Any]:
        words = ("ip", "sqlPort", "exporterPort", "version", "idcName", "lastActiveTime")
        proxy = self._words("obproxy", number, *words, "id", "hostId", "status", "operateStatus")
        cluster = self._words("obproxies", number, "id", "name", "address", "port", "workMode")
        if number:
            return {**cluster, "obproxies": [proxy]}
        known = {"ip": "10.9.0.9", "sqlPort": 2883, "hostId": HOST, "status": "RUNNING", "operateStatus": "NORMAL"}
        return {**cluster, "id": ENTRY, "obproxies": [{**proxy, **known, "id": OBPROXY}]}

    # Tasks

    def _tasks(self, query: dict[str, str]) -> dict[str, Any]:
        """The newest first. None is RUNNING."""
        if "RUNNING" in query.get("status", ""):
            return listed([])
        numbers = range(OTHER_TASK + self._count + len(self._restarts), OTHER_TASK, -1)
        page, size = int(query["page"]), int(query["size"])
        return listed([*map(self._task, numbers[(page - 1) * size : page * size])], -(-len(numbers) // size))

    def _task(self, task: int) -> dict[str, Any] | None:
        number = task - OTHER_TASK
        if not 0 < number <= self._count + len(self._restarts):
            return None
        names = ("name", "type", "executor", "prohibitRollback", "taskDefinitionId", "clusterId", "hostId")
        words = self._words("task", number, *names, "operation", "createTime", "startTime", "tags")
        named = {"creator": self._words("creator", number, "id", "name")}
        named["cluster"] = self._words("cluster-of-task", number, "id", "name")
        status, steps = "FAILED", [self._step(number, place) for place in (1, 2)]
        begun = self._restarts[number - self._count - 1] if number > self._count else None
        if begun is not None:
            status, steps = "SUCCESSFUL", [{**step, "status": "SUCCESSFUL"} for step in steps]
            words |= {"operation": "EXECUTE", "startTime": begun.isoformat(), "finishTime": begun.isoformat()}
        return {**words, **named, "id": task, "status": status, "subtasks": steps}

    def _step(self, task: int, place: int) -> dict[str, Any]:
        names = ("name", "description", "operation", "executor", "nodeType", "className", "timeout", "runTime")
        others = ("parallelIdx", "seriesId", "startTime", "prohibitRollback", "prohibitSkip", "upstreams")
        words = self._words(f"step{place}", task, *names, *others)
        status = "FAILED" if place == 1 else self._say("step-status", task)
        return {**words, "id": 10 * task + place, "status": status}

    def _log(self, task: int, step: int) -> dict[str, Any]:
        return {"log": "\n".join(str(self._say("log", number)) for number in (task - OTHER_TASK, step, 0))}

    def _restarted(self) -> dict[str, Any]:
        with self._lock:
            self._restarts.append(datetime.now(UTC))
            return self._task(OTHER_TASK + self._count + len(self._restarts)) or {}

    def _started(self) -> str:
        begun = (
            self._restarts[-1] + timedelta(seconds=2 * len(self._restarts))
            if self._restarts
            else datetime(2026, 5, 4, tzinfo=UTC)
        )
        return begun.isoformat(timespec="seconds")


Answer = Callable[[str, str], tuple[int, dict[str, Any]]]


@contextmanager
def serve(answer: Answer, headers: dict[str, str] | None = None) -> Iterator[str]:
    """Serve these answers, each with these headers, on a free port; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body in one packet, or each answer waits for the acknowledgement of its head.
        wbufsize = -1

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, envelope = answer(self.command, self.path)
            body = json.dumps(envelope).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_GET  # noqa: N815 - the names that http.server looks for

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
