# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The settings and parts of one emulated service, and which of them a request gets."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

from starlette.requests import HTTPConnection

from ocp_emulator.base.clock import SECOND, Clock
from ocp_emulator.base.compatibility import DEFAULT_PROFILE, PROFILES, Switches
from ocp_emulator.faults.busy_faults import BusyPolicy
from ocp_emulator.faults.faults_at_start import plan_at_start
from ocp_emulator.faults.parse_fault import AnyFault
from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.recordings.exchange_file import Exchange
from ocp_emulator.recordings.exchanges import Exchanges
from ocp_emulator.recordings.recorded_answers import RecordedAnswers
from ocp_emulator.recordings.recorded_state import apply_state, recorded_at
from ocp_emulator.recordings.recording_file import Recording
from ocp_emulator.security.authentication import Authenticator
from ocp_emulator.security.lockout import LoginGuard
from ocp_emulator.security.rate_limit import Rate, RateLimiter
from ocp_emulator.store.controllable_clock import ControllableClock
from ocp_emulator.store.database import Store, StoreError
from ocp_emulator.store.lagging_replicas import Replicas
from ocp_emulator.store.snapshots import Snapshot, Snapshots
from ocp_emulator.tasks import durations
from ocp_emulator.tasks.durations import Durations
from ocp_emulator.tasks.engine import Engine
from ocp_emulator.tasks.submit import Submitter
from ocp_emulator.tasks.task_actions import TaskActions
from ocp_emulator.web.false_answers import lags
from ocp_emulator.web.held_requests import HeldRequests
from ocp_emulator.web.request_log import RequestLog


@dataclass(frozen=True)
class Settings:
    """How to run. No `database`: in memory. No `fleet`: that of the database, or the default one for a new database.

    `recording` is what `fleet` was made from. With `exchanges`, these are all answers but those of the control API.

    `faults` are planned in a new database; an existing one must have been made with the same, unless this is None.
    No `max_attempts`: as the switches say. No `speed`: the clock goes as in the database, or as the machine's.
    `durations` has what takes another time than `step_ms`.
    """

    database: Path | None = None
    fleet: Fleet | None = None
    step_ms: int = SECOND
    durations: Durations = field(default_factory=Durations)
    speed: float | None = None
    busy: BusyPolicy = "refuse"
    rates: tuple[Rate, ...] = ()
    max_attempts: int | None = None
    faults: Sequence[AnyFault] | None = None
    switches: Switches = PROFILES[DEFAULT_PROFILE]
    host: str = "127.0.0.1"
    port: int = 8080
    recording: Recording | None = None
    exchanges: tuple[Exchange, ...] | None = None

    @property
    def address(self) -> str:
        """Host and port as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Start:
    """The start of a replay: the recorded fleet in its recorded state, in memory, and the recorded answers."""

    def __init__(self, recording: Recording, fleet: Fleet | None, now: int) -> None:
        """`now` is the time of the recording if that does not show it."""
        self.at = recorded_at(recording) or now
        self.prepare = partial(apply_state, recording=recording)
        self.answers = RecordedAnswers(recording)
        self._store = Store(None, fleet, self.at, self.prepare)

    def service(self, live: "Service") -> "Service":
        """The service as it was then."""
        service = copy.copy(live)
        service.store = live.store.reading(self._store.db)
        return service

    def close(self) -> None:
        """Close the database."""
        self._store.close()


class Service:
    """One emulated service: its store, its clock, its engine and everything else."""

    def __init__(self, settings: Settings, machine_clock: Clock) -> None:
        """Opens the database; StoreError when that fails."""
        self.machine_clock = machine_clock
        self.address = settings.address
        self.switches = settings.switches
        now = machine_clock.now()
        recording = settings.recording
        self.start = None if recording is None else Start(recording, settings.fleet, now)
        if self.start is None:
            self.store = Store(settings.database, settings.fleet, now)
        else:
            self.store = Store(settings.database, settings.fleet, self.start.at, self.start.prepare)
            self.store.instant = now
        self.clock = ControllableClock(self.store, machine_clock, settings.speed)
        try:
            plan_at_start(self.store, settings.faults, self.clock.now())
        except StoreError:
            self.store.close()
            raise
        with self.store.transaction() as db:
            durations.keep(db, settings.durations.model_copy(update={"step_seconds": settings.step_ms / SECOND}))
        self.exchanges = None if settings.exchanges is None else Exchanges(settings.exchanges)
        self.snapshots = Snapshots(self.store.db, self.clock.now())
        self.replicas = Replicas(self.store.db, lambda: self.store.instant)
        self.held = HeldRequests()
        self.engine = Engine(self.store, checks_stops=settings.switches.stop_server == "refuse")
        self.submitter = Submitter(self.store, settings.host, settings.busy, settings.switches)
        self.task_actions = TaskActions(self.store)
        self.request_log = RequestLog()
        self.authenticator = Authenticator(self.store.users(), self.store.access_keys(), settings.switches.signed_query)
        self.login_guard = LoginGuard(
            self.store, self.authenticator, settings.max_attempts, settings.switches.lockout_attempts
        )
        self.rate_limiter = RateLimiter(settings.rates)

    def catch_up(self, now: int) -> None:
        """Bring all tasks to their state at `now`; what is changed from then on is changed at `now`."""
        self.replicas.keep(lags(self.store))
        self.engine.advance(now)
        self.store.instant = now

    def go_back(self, snapshot: Snapshot | None) -> None:
        """Be as in a snapshot, with its time; or as at the start, with the clock as it went then.

        Either forgets requests, those that a fault holds back, and the windows of the rate limit.
        """
        self.replicas.keep(())
        self.snapshots.restore(snapshot)
        if snapshot is None:
            self.clock.read()
        else:
            self.clock.go_back(snapshot.at)
        self.held.forget()
        if self.exchanges is not None:
            self.exchanges.rewind()
        self.request_log.clear()
        self.rate_limiter.forget()
        self.store.instant = self.clock.now()
        self.catch_up(self.clock.now())

    def lagging(self, lag: int, now: int) -> "Service":
        """The service as reads see it that are `lag` milliseconds behind `now`."""
        service = copy.copy(self)
        service.store = self.store.reading(self.replicas.read(lag, now))
        return service

    def close(self) -> None:
        """Close the database."""
        self.replicas.close()
        self.snapshots.close()
        self.store.close()
        if self.start is not None:
            self.start.close()


def service_of(request: HTTPConnection) -> Service:
    """The service that handles this request, or its lagging replica for a read."""
    return cast(Service, getattr(request.state, "service", None) or request.app.state.service)
