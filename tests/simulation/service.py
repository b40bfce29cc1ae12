# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The small model of the service behind HTTP: one request in, what it answers out, and what it does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .choices import Stream
from .fleet import Fleet, Key, is_gone
from .profile import Profile
from .records import Records
from .scheduler import Scheduler
from .task_graph import Task
from .tasks import Tasks

CONTROLLER_USER = "ops"


@dataclass
class Request:
    """A request as it left a controller. ``cause`` is what the history knows it by."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]
    cause: Any = None


@dataclass
class Answer:
    """An answer; ``task`` was started by it."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    task: int | None = None
    data: Any = None
    is_envelope: bool = False
    # Seconds by which the clock is ahead of the application server that answers.
    ahead: float = 0.0


class Refusal(Exception):
    """The service refuses a request."""

    def __init__(self, status: int, message: str, code: int | str = 0) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class Service:
    """Answers requests from the fleet and its tasks."""

    def __init__(
        self, scheduler: Scheduler, fleet: Fleet, profile: Profile, tasks: Tasks, choices: Stream
    ) -> None:  # fmt: skip
        self._scheduler = scheduler
        self._fleet = fleet
        self._profile = profile
        self._tasks = tasks
        self._choices = choices
        self._records = Records(fleet, profile)
        self._locked_until = -1.0
        clusters, tasks_path, hosts = "/api/v2/ob/clusters", "/api/v2/tasks/instances", "/api/v2/compute/hosts"
        agents = f"{profile.agents_below}/compute/hosts"
        services = "/api/v2/arbitration/services"
        self._routes: list[tuple[str, re.Pattern[str], Callable[..., Any]]] = [
            (method, re.compile(re.sub(r"\{\w+\}", r"([^/]+)", template)), handler)
            for method, template, handler in (
                ("GET", clusters, self._clusters),
                ("GET", f"{clusters}/{{c}}", self._cluster),
                ("GET", f"{clusters}/{{c}}/zones", self._zones),
                ("GET", f"{clusters}/{{c}}/servers", self._servers),
                ("GET", f"{clusters}/{{c}}/tenants", self._tenants),
                ("GET", f"{clusters}/{{c}}/tenants/{{t}}", self._tenant),
                ("GET", "/api/v2/monitor/metric", self._metric),
                ("GET", hosts, self._hosts),
                ("GET", f"{agents}/{{h}}/agent", self._agent),
                ("GET", services, self._services),
                ("GET", f"{services}/{{s}}", self._service),
                ("GET", tasks_path, self._task_list),
                ("GET", f"{tasks_path}/{{t}}", self._task),
                ("GET", f"{tasks_path}/{{t}}/subtasks/{{s}}/log", self._log),
                ("POST", f"{clusters}/{{c}}/restart", self._restart_cluster),
                ("POST", f"{clusters}/{{c}}/servers/{{s}}/restart", self._restart_server),
                ("POST", f"{clusters}/{{c}}/zones/{{z}}/restart", self._restart_zone),
                ("POST", f"{agents}/batchRestartAgents", self._restart_agents),
                ("POST", f"{services}/{{s}}/restart", self._restart_service),
                ("POST", f"{tasks_path}/{{t}}/(retry|rollback)", self._act),
                ("POST", f"{tasks_path}/{{t}}/subtasks/{{s}}/(retry|skip|cancel)", self._act_on_step),
            )
        ]

    @property
    def task_ids(self) -> list[int]:
        """The ids of all tasks, the oldest first."""
        return list(self._tasks.all)

    # HTTP

    def lock_out(self, seconds: float) -> None:
        """Refuse all credentials for a time."""
        self._locked_until = self._scheduler.now + seconds

    def handle(self, request: Request, lag: float) -> Answer:
        """Carry a request out; a read is answered by a replica that is behind by ``lag``."""
        try:
            if self._scheduler.now < self._locked_until:
                raise Refusal(401, "Wrong user name or password, or locked.", 30007)
            data, task = self._dispatch(request, self._scheduler.now - lag)
        except Refusal as refusal:
            error = {"code": refusal.code, "message": refusal.message}
            return self.envelope(refusal.status, error=error)
        answer = self.envelope(200, data=data)
        answer.task = task
        return answer

    def envelope(self, status: int, **content: Any) -> Answer:
        """An answer of the service itself."""
        servers = self._profile.servers
        place = self._choices.below(len(servers)) if len(servers) > 1 else 0
        envelope = {
            **content,
            "duration": 7,
            "server": f"ocp-{place + 1}",
            "status": status,
            "successful": status < 400,
            "timestamp": self._records.instant(self._profile.wall(self._scheduler.now) + servers[place], exact=True),
            "traceId": f"trace-{int(self._scheduler.now * 1000)}",
        }
        headers = {"Content-Type": "application/json"}
        body = json.dumps(envelope).encode()
        return Answer(status, body, headers, None, content.get("data"), is_envelope=True, ahead=servers[place])

    def dated(self, envelope: bytes, wall: float) -> bytes:
        """The same as it would be by another clock."""
        found = {**json.loads(envelope), "timestamp": self._records.instant(wall, exact=True)}
        return json.dumps(found).encode()

    def _dispatch(self, request: Request, when: float) -> tuple[Any, int | None]:
        for method, pattern, handler in self._routes:
            found = pattern.fullmatch(request.path) if method == request.method else None
            if found is None:
                continue
            if method == "GET":
                return handler(*found.groups(), when=when, query=request.query), None
            result = handler(*found.groups(), request=request)
            if isinstance(result, Task):
                return self._records.started_task(result), result.id
            return result, None
        raise Refusal(404, f"No handler for {request.method} {request.path}")

    # Reads

    def _thing(self, kind: str, number: str) -> Any:
        thing = self._fleet.things.get((kind, int(number) if number.isdigit() else -1))
        if thing is None or is_gone(thing.now):
            raise Refusal(404, f"The {kind} {number} does not exist.", 10002)
        return thing

    def _clusters(self, when: float, query: dict[str, str]) -> Any:
        found = [self._records.cluster(thing, when, listed=True) for thing in self._fleet.of("cluster")]
        return self._records.page([each for each in found if each and query.get("name", "") in each["name"]])

    def _cluster(self, cluster: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        if not self._profile.cluster_detail:
            raise Refusal(404, "Not served.")
        return self._records.cluster(self._thing("cluster", cluster), when, listed=False)

    def _zones(self, cluster: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        number = self._thing("cluster", cluster).key[1]
        zones = [zone for zone in self._fleet.of("zone") if zone.now["cluster"] == number]
        return {"contents": [self._records.zone(zone, when, servers=False) for zone in zones]}

    def _servers(self, cluster: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        number = self._thing("cluster", cluster).key[1]
        return {"contents": [self._records.server(each, when) for each in self._fleet.servers(number, when=when)]}

    def _tenants(self, cluster: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        number = self._thing("cluster", cluster).key[1]
        return self._records.page([self._records.tenant(number)])

    def _tenant(self, cluster: str, tenant: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        number = self._thing("cluster", cluster).key[1]
        return {**self._records.tenant(number), "zones": self._records.units(number, when)}

    def _metric(self, when: float, query: dict[str, str]) -> Any:
        return self._records.page([{"timestamp": int(when), query["metrics"]: 0.05}])

    def _hosts(self, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        return self._records.page([self._records.host(each, when) for each in self._fleet.of("host")])

    def _agent(self, host: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        return self._records.agent(self._thing("host", host), when)

    def _services(self, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        return self._records.page([self._records.arbitration(each, when) for each in self._fleet.of("arbitration")])

    def _service(self, number: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        return self._records.arbitration(self._thing("arbitration", number), when)

    def _task_list(self, when: float, query: dict[str, str]) -> Any:
        if not self._profile.reads_tasks:
            raise Refusal(403, "No permission TASK_VIEWER.", 30014)
        asked = {name: value for name, value in query.items() if name not in self._profile.ignores}
        found = []
        for task in self._tasks.all.values():
            state = task.record.at(when - self._profile.list_lag)
            is_kept = state is not None and not task.is_archived(when, self._profile.archives_after)
            if state is not None and is_kept and self._passes(task, state, asked):
                found.append((task, state))
        if asked.get("sort") == "id,desc":
            found.sort(key=lambda each: -each[0].id)
        size, page = min(int(query.get("size", "10")), self._profile.page_size), int(query.get("page", "1"))
        shown = [self._records.listed_task(*each) for each in found[(page - 1) * size : page * size]]
        return self._records.page(shown, page, size, len(found))

    def _passes(self, task: Task, state: dict[str, Any], asked: dict[str, str]) -> bool:
        hosts = {self._host_of(key) for key in task.members}
        return (
            ("status" not in asked or state["status"] in asked["status"].split(","))
            and ("clusterId" not in asked or str(task.cluster) == asked["clusterId"])
            and ("hostId" not in asked or int(asked["hostId"]) in hosts)
            and asked.get("name", "").casefold() in task.name.casefold()
        )

    def _host_of(self, key: Key) -> int:
        return int(self._fleet.things[key].now["host"]) if key[0] == "server" else key[1]

    def _found_task(self, number: str) -> Task:
        task = self._tasks.all.get(int(number) if number.isdigit() else -1)
        if task is None:
            raise Refusal(404, f"The {number} task does not exist.", 20000)
        return task

    def _task(self, number: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        if not self._profile.reads_tasks:
            raise Refusal(403, "No permission TASK_VIEWER.", 30014)
        task = self._found_task(number)
        state = task.record.at(when)
        if state is None or task.is_archived(when, self._profile.archives_after):
            raise Refusal(404, f"The {number} task does not exist.", 20000)
        return self._records.detailed_task(task, state)

    def _log(self, number: str, step: str, when: float, query: dict[str, str]) -> Any:  # noqa: ARG002
        self._found_task(number)
        return {"log": f"subtask {step} begins\nsubtask {step} ends\n"}

    # Restarts

    def _begin(self, request: Request, kind: str, own: Key | None, members: list[Key], cluster: int | None) -> Task:
        occupied = self._tasks.occupied(own, members, cluster)
        if occupied and self._profile.busy == "refuse":
            status, code = self._choices.pick(((409, 0), (400, 0), (409, "OBE19012"), (400, "OBE19004")))
            raise Refusal(status, "The last operation is still running.", code)
        fails = occupied and self._profile.busy == "fail"
        user = getattr(request.cause, "user", CONTROLLER_USER)
        return self._tasks.submit(kind, "restart", own, members, cluster, user, request.cause, fails_at_once=fails)

    def _restart_cluster(self, cluster: str, request: Request) -> Task:
        key = self._thing("cluster", cluster).key
        return self._begin(request, "cluster", key, [each.key for each in self._fleet.servers(key[1])], key[1])

    def _restart_server(self, cluster: str, server: str, request: Request) -> Task:
        thing = self._thing("server", server)
        if str(thing.now["cluster"]) != cluster:
            raise Refusal(404, f"The server {server} does not exist.", 10002)
        return self._begin(request, "server", None, [thing.key], thing.now["cluster"])

    def _restart_zone(self, cluster: str, zone: str, request: Request) -> Task:
        number = self._thing("cluster", cluster).key[1]
        thing = self._fleet.zone(number, zone)
        if thing is None:
            raise Refusal(404, f"The zone {zone} does not exist.", 10002)
        return self._begin(request, "zone", thing.key, [s.key for s in self._fleet.servers(number, zone)], number)

    def _restart_agents(self, request: Request) -> Task:
        hosts = [self._thing("host", str(number)).key for number in request.body.get("hostIds", [])]
        if not hosts:
            raise Refusal(400, "hostIds is missing")
        return self._begin(request, "host", None, hosts, None)

    def _restart_service(self, number: str, request: Request) -> Task:
        return self._begin(request, "arbitration", None, [self._thing("arbitration", number).key], None)

    # Task actions

    def _act(self, number: str, action: str, request: Request) -> Any:
        task = self._found_task(number)
        done = (
            self._tasks.retry(task, None, request.cause)
            if action == "retry"
            else self._tasks.roll_back(task, request.cause)
        )
        if not done:
            raise Refusal(400, f"This operation is not supported for the {number} task in its state.", 20003)
        return self._records.detailed_task(task, task.record.now)

    def _act_on_step(self, number: str, step: str, action: str, request: Request) -> Any:
        task = self._found_task(number)
        found = next((each for each in task.steps if str(each.id) == step), None)
        if found is None:
            raise Refusal(404, f"The {step} task does not exist.", 20000)
        act = {"retry": self._tasks.retry, "skip": self._tasks.skip, "cancel": self._tasks.cancel}[action]
        if not act(task, found, request.cause):
            raise Refusal(400, f"This operation is not supported for the {step} subtask in its state.", 20003)
        return None
