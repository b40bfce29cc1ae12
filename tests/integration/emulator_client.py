# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What tests ask an emulator process: tasks, restart counts, requests, faults."""

from __future__ import annotations

import contextlib
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from credentials import BASIC
from emulator_process import EmulatorProcess


@dataclass
class Emulator:
    """An emulator process: its address and the log of the requests it has seen."""

    url: str
    log_file: Path
    process: EmulatorProcess

    @property
    def log(self) -> str:
        """What it has logged of all that it has answered."""
        # A request gets its line after its answer, and before the next one is answered.
        with contextlib.suppress(requests.RequestException):
            self.get("/emulator/requests?size=1")
        return self.log_file.read_text()

    def requests(self, method: str) -> list[str]:
        """The requests to the service seen so far, without those to the control API."""
        return [line for line in self.log.splitlines() if f" {method} /" in line and " /emulator/" not in line]

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self.process.end(signal.SIGKILL)

    def end(self) -> None:
        """End it as an operator does."""
        self.process.end(signal.SIGTERM)

    def get(self, path: str) -> Any:
        answer = requests.get(self.url + path, auth=tuple(BASIC.values()), timeout=10)
        answer.raise_for_status()
        return answer.json()["data"]

    def restarts(self, object_type: str) -> dict[str, int]:
        """How often each target of this type was started by a restart."""
        counted = self.get("/emulator/restarts")["contents"]
        return {target["name"]: target["restarts"] for target in counted if target["objectType"] == object_type}

    def post(self, path: str, body: dict[str, Any] | None = None) -> None:
        requests.post(self.url + path, json=body, auth=tuple(BASIC.values()), timeout=10).raise_for_status()

    def put(self, path: str, body: dict[str, Any]) -> None:
        requests.put(self.url + path, json=body, auth=tuple(BASIC.values()), timeout=10).raise_for_status()

    def delete(self, path: str) -> None:
        requests.delete(self.url + path, auth=tuple(BASIC.values()), timeout=10).raise_for_status()

    def advance(self, seconds: float) -> None:
        """Let its clock go forward at once."""
        self.post("/emulator/clock/advance", {"seconds": seconds})

    def fail_subtask(self, description: str, times: int = 1) -> None:
        """Let the next subtasks with this description fail."""
        fault = {"kind": "subtask", "match": {"subtask": description}, "action": "fail", "times": times}
        self.post("/emulator/faults", fault)
