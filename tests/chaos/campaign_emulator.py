# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator of a campaign, and how often it says that a target really restarted."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml
from places import ADMIN


class Service:
    """An emulator as its administrator sees it, whom no fault hits."""

    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, method: str, path: str, **options: Any) -> Any:
        """The data of the answer. Where the service refuses connections for a while, it is asked again."""
        for _attempt in range(100):
            try:
                answer = requests.request(method, self.url + path, auth=ADMIN, timeout=30, **options)
            except requests.ConnectionError:
                time.sleep(0.1)
                continue
            answer.raise_for_status()
            return answer.json().get("data")
        raise RuntimeError(f"{self.url} is gone")

    def restarts(self) -> Counter[tuple[str, str]]:
        """How often each target has really been started."""
        counted = self.call("GET", "/emulator/restarts")["contents"]
        return Counter({(target["objectType"], target["name"]): target["restarts"] for target in counted})

    def tasks(self) -> int:
        """How many tasks there are."""
        return int(self.call("GET", "/api/v2/tasks/instances?size=1")["page"]["totalElements"])


@contextmanager
def emulator(profile: str, fleet: dict[str, Any], step_seconds: float, folder: Path) -> Iterator[Service]:
    """Run one, without faults yet."""
    fleet_file = folder / f"fleet-{profile}.yml"
    fleet_file.write_text(yaml.safe_dump(fleet))
    command = [sys.executable, "-m", "ocp_emulator", "serve", "--port", "0", "--step-seconds", str(step_seconds)]
    command += ["--fleet", str(fleet_file), "--profile", profile]
    with (
        (folder / f"emulator-{profile}.log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            line = process.stdout.readline() if process.stdout else ""
            yield Service(line.split()[-1])
        finally:
            process.terminate()
