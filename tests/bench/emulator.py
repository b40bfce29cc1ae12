# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator that benchmarks measure, as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

USERNAME, PASSWORD = "admin", "ocp-demo-1"
# What every request carries.
HEADERS = {"Authorization": "Basic " + b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode()}
# The plain loops that are compared read the servers from the list of clusters, and so does the collection then.
_RECORDS = ("--cluster-servers", "complete", "--cluster-detail", "served")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Emulator:
    """A running emulator."""

    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """The processor time that it has used so far (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def get(self, path: str) -> requests.Response:
        """An answer that has to be a good one."""
        answer = requests.get(self.url + path, headers=HEADERS, timeout=60)
        answer.raise_for_status()
        return answer

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The data of the answer, which has to be a good one."""
        answer = requests.post(self.url + path, json=body, headers=HEADERS, timeout=120)
        answer.raise_for_status()
        return answer.json().get("data", {})

    def put(self, path: str, body: dict[str, Any]) -> None:
        """Change something of the emulator."""
        requests.put(self.url + path, json=body, headers=HEADERS, timeout=60).raise_for_status()

    def restart(self, cluster_id: int, server_id: int) -> int:
        """Start the restart of a server; the id of its task."""
        body = {"freezeServer": True, "force": False}
        return self.post(f"/api/v2/ob/clusters/{cluster_id}/servers/{server_id}/restart", body)["id"]

    def stop_clock(self) -> None:
        """Let its time go on only where `post` to /emulator/clock/advance moves it."""
        self.put("/emulator/clock", {"running": False})

    def requests(self) -> list[dict[str, Any]]:
        """The newest 10,000 requests to the service, oldest first."""
        pages, page = 1, 1
        found: list[dict[str, Any]] = []
        while page <= pages:
            data = self.get(f"/emulator/requests?page={page}&size=2000").json()["data"]
            found += data["contents"]
            pages, page = data["page"]["totalPages"], page + 1
        return found

    def requests_so_far(self) -> int:
        """How many requests the service has seen, however many are kept."""
        newest = self.get("/emulator/requests?size=1&sort=id,desc").json()["data"]["contents"]
        return newest[0]["id"] if newest else 0


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Emulator]:
    """An emulator on a free port; its log is in the folder."""
    command = [sys.executable, "-m", "ocp_emulator", "serve", "--port", "0", *_RECORDS, *options]
    log_file = folder / "emulator.log"
    with (
        log_file.open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            words = process.stdout.readline().split()
            if not words:
                raise RuntimeError(log_file.read_text())
            yield Emulator(words[-1], process.pid)
        finally:
            process.terminate()
