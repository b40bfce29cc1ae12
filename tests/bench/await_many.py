# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The wait of the collection, as a process of its own: `python await_many.py`, its job as JSON on standard input.

A job is {"url": the emulator, whose clock stands still, "pid": its process, "ids": [tasks], "polls": how many times to
look, "seconds": by how much to move the clock on then}. The result on standard output is {"polls": [{"cpu":
milliseconds, "requests": number, "emulator": its milliseconds}], "waiting": MB, "end": MB}: the peak memory before the
tasks have ended, and after the result was made.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.await_tasks import await_tasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from emulator import PASSWORD, USERNAME, Emulator


class Pauses:
    """In the place of the pauses between polls: takes down what the poll before cost, and ends the last one."""

    def __init__(self, emulator: Emulator, polls: int, seconds: float) -> None:
        self.polls: list[dict[str, float]] = []
        self.waiting = 0.0
        self._emulator = emulator
        self._left = polls
        self._seconds = seconds
        self._begin()

    def pause(self, _seconds: float) -> None:
        """Sleep of the injected clock."""
        cpu = time.process_time() - self._cpu
        used = self._emulator.cpu_seconds() - self._used
        sent = self._emulator.requests_so_far() - self._sent
        self.polls.append({"cpu": cpu * 1_000, "requests": sent, "emulator": used * 1_000})
        self.waiting = peak()
        if len(self.polls) == self._left:
            self._emulator.post("/emulator/clock/advance", {"seconds": self._seconds})
        self._begin()

    def _begin(self) -> None:
        self._sent = self._emulator.requests_so_far()
        self._used = self._emulator.cpu_seconds()
        self._cpu = time.process_time()


def peak() -> float:
    """The largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


def wait(job: dict[str, Any]) -> dict[str, Any]:
    """Do the job."""
    client = HttpClient(job["url"], basic_auth(USERNAME, PASSWORD), verify=True, timeout=60)
    pauses = Pauses(Emulator(job["url"], job["pid"]), job["polls"], job["seconds"])
    await_tasks(OcpApi(client), job["ids"], PollPolicy(7_200, 10), full=False, clock=Clock(sleep=pauses.pause))
    client.close()
    return {"polls": pauses.polls, "waiting": pauses.waiting, "end": peak()}


if __name__ == "__main__":
    json.dump(wait(json.load(sys.stdin)), sys.stdout)
