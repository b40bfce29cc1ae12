# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The way of each request to the emulator: how long it takes, and what is noted of looks and restarts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from random import Random
from typing import Any

from ansible_collections.oceanbase.ocp.tests.outages.emulated import Emulated
from ansible_collections.oceanbase.ocp.tests.simulation.machines import Machine
from ansible_collections.oceanbase.ocp.tests.simulation.profile import EPOCH
from ansible_collections.oceanbase.ocp.tests.simulation.scheduler import Actor, Scheduler
from ansible_collections.oceanbase.ocp.tests.simulation.service import Request
from ansible_collections.oceanbase.ocp.tests.simulation.wire import Connection, response_bytes

# Seconds that a request is on its way to the service, and an answer back.
FASTEST, SLOWEST = 0.002, 0.2
NEWEST_TASKS = "/api/v2/tasks/instances"


@dataclass
class _Run:
    lines: list[Any] = field(default_factory=list)
    pause_ended: float = 0.0
    process: str = ""


@dataclass
class Worker:
    """A process of a controller: ``user`` and ``machine`` (with its journal) are the controller's."""

    user: str
    machine: Machine
    tolerated: Sequence[str] = ()
    look_began: int = 0
    # What the simulation's clocks, screen and journals look at.
    run: Any = field(default_factory=_Run)
    sent_here: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Sent:
    """A restart that the service took: whose, its task, and when its look began and it arrived, in milliseconds."""

    user: str
    task_id: int
    look_began: int
    arrived: int
    tolerated: Sequence[str]


class Wire:
    """The network of one run."""

    def __init__(self, scheduler: Scheduler, emulated: Emulated, seed: str) -> None:
        self._scheduler = scheduler
        self._emulated = emulated
        self._delays = Random(seed)
        self.sent: list[Sent] = []
        self.requests = 0

    def connect(self, actor: Actor) -> Connection:
        """A connection of a worker."""
        return Connection(self._scheduler, actor, self._send)

    def _send(self, connection: Connection, request: Request) -> None:
        self._later(lambda: self._arrive(connection, request))

    def _arrive(self, connection: Connection, request: Request) -> None:
        self.requests += 1
        worker: Worker = connection.actor.data
        now = self._emulated.now()
        if request.path == NEWEST_TASKS and "clusterId" in request.query and "status" not in request.query:
            worker.look_began = now
        answer = self._emulated.answer(request, worker.user)
        if request.method == "POST" and answer.status == 200:
            task_id = json.loads(answer.body)["data"]["id"]
            self.sent.append(Sent(worker.user, task_id, worker.look_began, now, worker.tolerated))
        data = response_bytes(answer, formatdate(EPOCH + self._scheduler.now, usegmt=True))
        self._later(lambda: connection.deliver(data))

    def _later(self, action: Any) -> None:
        self._scheduler.at(self._scheduler.now + self._delays.uniform(FASTEST, SLOWEST), action)
