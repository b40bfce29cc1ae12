# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator in this process, by the virtual clock of a run, without a network."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from typing import Any
from urllib.parse import urlencode

from ansible_collections.oceanbase.ocp.tests.simulation.profile import EPOCH
from ansible_collections.oceanbase.ocp.tests.simulation.scheduler import Scheduler
from ansible_collections.oceanbase.ocp.tests.simulation.service import Answer, Request
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve
from ocp_emulator.serve.app import create_app
from ocp_emulator.service import Service, Settings

PASSWORD = "not-a-secret"


class Emulated:
    """One emulator. Its pre-check of restarts is off: nothing but the collection refuses."""

    def __init__(self, fleet: dict[str, Any], scheduler: Scheduler, step_seconds: float) -> None:
        self._scheduler = scheduler
        self._loop = asyncio.new_event_loop()
        # The seeds that cross do so with these requests: fewer than where the servers have a list of their own.
        switches = Switches(cluster_servers="complete", cluster_detail="served", zone_ids="shown")
        fleet_entities = resolve(FleetFile.model_validate(fleet))
        settings = Settings(fleet=fleet_entities, step_ms=round(step_seconds * 1000), switches=switches)
        assert settings.switches.pre_check == "off"
        self._app = create_app(settings, self)

    @property
    def service(self) -> Service:
        """What the application keeps."""
        found: Service = self._app.state.service
        return found

    def now(self) -> int:
        """The clock of the machine that the emulator believes to run on, in milliseconds."""
        return round((EPOCH + self._scheduler.now) * 1000)

    def answer(self, request: Request, user: str) -> Answer:
        """The answer to a request of a user."""
        sent: dict[str, Any] = {}

        async def receive() -> dict[str, Any]:
            body = json.dumps(request.body).encode() if request.body else b""
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.setdefault("parts", []).append(message)

        self._loop.run_until_complete(self._app(_scope(request, user), receive, send))
        start, *bodies = sent["parts"]
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        headers = {name: value for name, value in headers.items() if name.lower() not in ("content-length", "date")}
        return Answer(start["status"], b"".join(each.get("body", b"") for each in bodies), headers)

    def call(self, method: str, path: str, user: str = "admin", **body: Any) -> Any:
        """The data of an answer, None if it is refused: for people and for the judge."""
        answer = self.answer(Request(method, path, {}, body), user)
        return json.loads(answer.body).get("data") if answer.status == 200 else None

    def close(self) -> None:
        """End it."""
        self.service.close()
        self._loop.close()


def _scope(request: Request, user: str) -> dict[str, Any]:
    login = b64encode(f"{user}:{PASSWORD}".encode())
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": urlencode(request.query).encode(),
        "headers": [(b"authorization", b"Basic " + login), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
        "state": {},
    }
