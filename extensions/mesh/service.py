# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator of a run: its fleet, its users, its faults, and the history that shows if the run kept the rules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from history import History
from nodes import PATIENCE, MeshFailed
from slices import Slice
from traces import NODE, RUN

ZONES = 3
ADMIN = "admin"
# Of a server's restart, and the one after which a server is held.
STEPS, FAILING_STEP = 13, "Start observer process"
FIRST_TASK = 1001
PERMISSIONS = [
    *("CLUSTER_VIEWER", "CLUSTER_MANAGER", "HOST_VIEWER", "TASK_VIEWER", "TASK_MANAGER"),
    *("ALARM_VIEWER", "BACKUP_VIEWER"),
]


def servers_of(clusters: int) -> dict[int, int]:
    """The cluster of each server, both by id: the emulator numbers them in the order of the file."""
    return {(cluster - 1) * ZONES + zone: cluster for cluster in range(1, clusters + 1) for zone in range(1, ZONES + 1)}


def _fleet(clusters: int, users: Mapping[str, str]) -> dict[str, Any]:
    zones = range(1, ZONES + 1)
    servers = {
        cluster: [{"name": f"zone{zone}", "servers": [{"ip": f"10.{cluster}.0.{zone}"}]} for zone in zones]
        for cluster in range(1, clusters + 1)
    }
    return {
        "clusters": [{"name": f"cluster{cluster:02}", "zones": found} for cluster, found in servers.items()],
        "users": [
            {"name": name, "password": password, "permissions": ["ADMIN"] if name == ADMIN else PERMISSIONS}
            for name, password in users.items()
        ],
    }


@dataclass(frozen=True)
class Service:
    """A running emulator, for its administrator."""

    url: str
    password: str

    def get(self, path: str) -> Any:
        """The data of an answer, which has to be a good one."""
        return self._sent("GET", path)

    def pages(self, path: str) -> list[dict[str, Any]]:
        """All entries of a list."""
        found: list[dict[str, Any]] = []
        page = pages = 1
        while page <= pages:
            data = self.get(f"{path}{'&' if '?' in path else '?'}page={page}&size=2000")
            found += data["contents"]
            page, pages = page + 1, data["page"]["totalPages"]
        return found

    def now(self) -> str:
        """The time by its clock."""
        return self.get("/emulator/clock")["time"]

    def fail(self, restart: int) -> None:
        """Let the restart of this number fail, counted from 1, after it has stopped its server."""
        match = {"taskId": FIRST_TASK + restart - 1, "subtask": FAILING_STEP}
        self._sent("POST", "/emulator/faults", {"kind": "subtask", "action": "fail", "match": match})

    def history(self) -> History:
        """All that it has seen and done so far."""
        started = self.get("/emulator/restarts")["contents"]
        starts = {each["id"]: each["restarts"] for each in started if each["objectType"] == "OB_SERVER"}
        return History(self.pages("/emulator/requests"), self.pages("/api/v2/tasks/instances"), starts)

    def _sent(self, method: str, path: str, body: object = None) -> Any:
        answer = requests.request(
            method, self.url + path, json=body, auth=(ADMIN, self.password), timeout=PATIENCE, allow_redirects=False
        )
        answer.raise_for_status()
        return answer.json().get("data")


@contextmanager
def serving(
    folder: Path, run: str, clusters: int, seconds: float, admin: str, slices: Sequence[Slice]
) -> Iterator[Service]:
    """An emulator on a free port with restarts of so many seconds; ``admin`` is the password of its administrator."""
    folder.mkdir(mode=0o700)
    users = {ADMIN: admin, **{part.user: part.password for part in slices}}
    (folder / "fleet.yml").write_text(json.dumps(_fleet(clusters, users)))
    command = [sys.executable, "-m", "ocp_emulator", "serve", "--port", "0", "--fleet", folder / "fleet.yml"]
    with (
        (folder / "log.txt").open("w") as log,
        subprocess.Popen(
            [*command, "--step-seconds", str(seconds / STEPS)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, RUN: run, NODE: "service"},
            start_new_session=True,
        ) as process,
    ):
        try:
            words = process.stdout.readline().split()
            if not words:
                raise MeshFailed(f"the emulator does not start: {(folder / 'log.txt').read_text()[-2000:]}")
            yield Service(words[-1], admin)
        finally:
            process.terminate()
