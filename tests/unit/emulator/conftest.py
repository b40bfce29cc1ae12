# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator in the process of a unit test, with a clock that only the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient, Response
from ocp_emulator.serve.app import create_app
from ocp_emulator.service import Settings

ENVELOPE = {"data", "duration", "server", "status", "successful", "timestamp", "traceId"}
ERROR_ENVELOPE = ENVELOPE - {"data"} | {"error"}

SERVER = "/api/v2/ob/clusters/1/servers/{}/restart"
CLUSTER = "/api/v2/ob/clusters/{}/restart"
AGENTS = "/compute/hosts/batchRestartAgents"
ARBITRATION = "/api/v2/arbitration/services/{}/restart"
OBPROXIES = "/api/v2/obproxy/clusters/1/obproxies/{}/restart"


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep an emulator for each test out of the inner loop."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("slow")


class HandClock:
    """Moved by hand."""

    def __init__(self) -> None:
        self.instant = int(datetime(2026, 11, 21, 4, 0, tzinfo=UTC).timestamp() * 1000)

    def now(self) -> int:
        return self.instant

    def pass_time(self, seconds: float) -> None:
        self.instant += round(seconds * 1000)


class Emulated:
    """A running emulator as a client sees it; logged on as admin unless told otherwise."""

    def __init__(self, app: FastAPI, clock: HandClock, runner: asyncio.Runner) -> None:
        self.app = app
        self.clock = clock
        self.agents = ("/api/v2" if app.state.service.switches.agent_paths == "prefixed" else "") + AGENTS
        self._runner = runner
        self.outages: list[tuple[float, bool]] = []
        self.transport(ASGITransport(self._on_a_connection, raise_app_exceptions=False))

    async def _on_a_connection(self, scope: Any, receive: Any, send: Any) -> None:
        """What the server hands to the application with each request, as far as it can be had without a socket."""
        connection = SimpleNamespace(
            outage=lambda seconds, *, reset: self.outages.append((seconds, reset)), abandonable=nullcontext
        )
        await self.app({**scope, "state": {"connection": connection}}, receive, send)

    def transport(self, transport: ASGITransport) -> None:
        """How requests get to it from now on."""
        self._client = AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")

    def request(self, method: str, path: str, **options: Any) -> Response:
        options.setdefault("auth", ("admin", "ocp-demo-1"))
        return self._runner.run(self._client.request(method, path, **options))

    def data(self, method: str, path: str, **options: Any) -> Any:
        """What a call answers that has to succeed."""
        answer = self.request(method, path, **options)
        body = answer.json()
        assert answer.status_code == 200, body
        assert set(body) == ENVELOPE
        return body["data"]

    def get(self, path: str, **options: Any) -> Any:
        return self.data("GET", path, **options)

    def error(self, status: int, method: str, path: str, **options: Any) -> dict[str, Any]:
        """The error of a call that has to be refused, after a look at its envelope."""
        answer = self.request(method, path, **options)
        body = answer.json()
        assert answer.status_code == status, body
        assert set(body) == ERROR_ENVELOPE
        assert body["successful"] is False
        assert body["status"] == status
        assert set(body["error"]) == {"code", "message"}
        error: dict[str, Any] = body["error"]
        return error

    def restart_server(self, server: int = 1, **options: Any) -> Any:
        options = options or {"params": {"freezeServer": "true"}}
        # In the default fleet cluster 1 has the servers 1 to 6.
        path = SERVER.format(server) if server <= 6 else SERVER.replace("/1/", "/2/").format(server)
        return self.data("POST", path, **options)

    def restart_cluster(self, cluster: int = 2) -> Any:
        return self.data("POST", CLUSTER.format(cluster))

    def restart_agents(self, *hosts: int) -> Any:
        return self.data("POST", self.agents, json={"hostIds": hosts or [1]})

    def restart_arbitration(self, service: int = 1) -> Any:
        return self.data("POST", ARBITRATION.format(service))

    def restart_obproxies(self, *obproxies: int) -> Any:
        return self.data("POST", OBPROXIES.format(",".join(map(str, obproxies or [1]))))

    def task(self, task_id: int) -> Any:
        return self.get(f"/api/v2/tasks/instances/{task_id}")

    def steps(self, task_id: int) -> list[dict[str, Any]]:
        """The subtasks of a task in the order of execution."""
        return in_order(self.task(task_id)["subtasks"])

    def step(self, task_id: int, description: str) -> dict[str, Any]:
        """The first subtask of a task with this description."""
        return next(step for step in self.steps(task_id) if step["description"] == description)

    def log(self, task_id: int, subtask_id: int) -> list[str]:
        """The lines of the log of a subtask."""
        text: str = self.get(f"/api/v2/tasks/instances/{task_id}/subtasks/{subtask_id}/log")["log"]
        return text.splitlines()

    def steer(self, task_id: int, verb: str, subtask_id: int | None = None) -> Response:
        """Retry, rollback, skip or cancel."""
        subtask = "" if subtask_id is None else f"/subtasks/{subtask_id}"
        return self.request("POST", f"/api/v2/tasks/instances/{task_id}{subtask}/{verb}")

    def plan(self, action: str, subtask: str | None = None, **fault: Any) -> Any:
        """Let something go wrong; `match` has to be given in full, or else `subtask` alone."""
        fault.setdefault("match", {"subtask": subtask})
        return self.data("POST", "/emulator/faults", json={"kind": "subtask", "action": action, **fault})

    def failed_restart(self, step: str, server: int = 2) -> Any:
        """The id of a restart of a server that failed at a step."""
        self.plan("fail", step)
        task_id = self.restart_server(server)["id"]
        self.pass_time(13)
        assert self.task(task_id)["status"] == "FAILED"
        return task_id

    def restarts(self) -> dict[tuple[str, int], int]:
        """How often each target was restarted, by type and id."""
        counts = self.get("/emulator/restarts")["contents"]
        return {(each["objectType"], each["id"]): each["restarts"] for each in counts}

    def server(self, server: int) -> dict[str, Any]:
        servers = [
            *self.get("/api/v2/ob/clusters/1/servers")["contents"],
            *self.get("/api/v2/ob/clusters/2/servers")["contents"],
        ]
        return next(each for each in servers if each["id"] == server)

    def cluster(self, cluster: int) -> dict[str, Any]:
        """A cluster of the list, with its servers in their zones."""
        [found] = [each for each in self.get("/api/v2/ob/clusters")["contents"] if each["id"] == cluster]
        servers = self.get(f"/api/v2/ob/clusters/{cluster}/servers")["contents"]
        for zone in found["zones"]:
            zone["servers"] = [server for server in servers if server["zoneName"] == zone["name"]]
        return found

    def pass_time(self, seconds: float) -> None:
        self.clock.pass_time(seconds)


def in_order(subtasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By links alone: each subtask after all of its upstreams, those of one level by `parallelIdx`."""
    left = {subtask["id"]: subtask for subtask in subtasks}
    done: list[dict[str, Any]] = []
    while left:
        level = [subtask for subtask in left.values() if not left.keys() & set(subtask["upstreams"])]
        assert level, "the links go round in a circle"
        done += sorted(level, key=lambda subtask: subtask.get("parallelIdx", -1))
        for subtask in level:
            del left[subtask["id"]]
    return done


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def start(clock: HandClock) -> Iterator[Callable[..., Emulated]]:
    """Start an emulator with settings of its own; it ends with the test."""
    with ExitStack() as stack:

        def begin(**settings: Any) -> Emulated:
            app = create_app(Settings(**settings), clock)
            stack.callback(app.state.service.close)
            return Emulated(app, clock, stack.enter_context(asyncio.Runner()))

        yield begin


@pytest.fixture
def emulated(start: Callable[..., Emulated]) -> Emulated:
    """The default fleet, a second for each step."""
    return start()


@pytest.fixture
def ordered() -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return in_order
