# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The clock of the emulator: it follows that of the machine, or is faster, until somebody stops or advances it."""

import json

from ocp_emulator.base.clock import Clock
from ocp_emulator.store.database import Store

_KEY = "clock"
# How many times as fast as the machine's it may be.
SLOWEST, FASTEST = 0.001, 10_000.0


class ControllableClock:
    """The clock of the emulator. The database keeps how it was stopped, advanced, or made faster."""

    def __init__(self, store: Store, machine: Clock, speed: float | None = None) -> None:
        """Continue as the database says, with this speed if one is given."""
        self._store = store
        self._machine = machine
        self.read()
        if speed is not None and speed != self.speed:
            self.set_speed(speed)

    def read(self) -> None:
        """Continue as the database says."""
        row = self._store.db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
        state = json.loads(row["value"]) if row else {}
        # It was `at` when the machine's clock was `since`.
        self._at: int = state.get("at", 0)
        self._since: int = state.get("since", 0)
        self.speed: float = state.get("speed", 1.0)
        self.running: bool = state.get("running", True)

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return self._at + (round((self._machine.now() - self._since) * self.speed) if self.running else 0)

    def set_running(self, running: bool) -> None:
        """Stop it, or let it run from where it stands."""
        self._continue(self.now(), self.speed, running)

    def set_speed(self, speed: float) -> None:
        """Let it run so many times as fast as the machine's from now on."""
        self._continue(self.now(), speed, self.running)

    def go_back(self, instant: int) -> None:
        """Continue at this instant, running or not as the database says."""
        self.read()
        if self.running:
            self._continue(instant, self.speed, running=True)

    def advance(self, milliseconds: int) -> None:
        """Move it forward."""
        self._continue(self.now() + milliseconds, self.speed, self.running)

    def _continue(self, at: int, speed: float, running: bool) -> None:
        since = self._machine.now()
        with self._store.transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                (_KEY, json.dumps({"at": at, "since": since, "speed": speed, "running": running})),
            )
        self._at, self._since, self.speed, self.running = at, since, speed, running
