# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The clock of the emulator: it follows that of the machine until somebody stops or advances it."""

import json

from ocp_emulator.base.clock import Clock
from ocp_emulator.store.database import Store

_KEY = "clock"


class ControllableClock:
    """The clock of the emulator. The database keeps how it was stopped or advanced."""

    def __init__(self, store: Store, machine: Clock) -> None:
        """Continue as the database says."""
        self._store = store
        self._machine = machine
        self._offset = 0
        self._stopped_at: int | None = None
        self.read()

    def read(self) -> None:
        """Continue as the database says."""
        row = self._store.db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
        state = json.loads(row["value"]) if row else {}
        self._offset, self._stopped_at = state.get("offset", 0), state.get("stopped_at")

    @property
    def running(self) -> bool:
        """Whether time passes by itself."""
        return self._stopped_at is None

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return self._machine.now() + self._offset if self._stopped_at is None else self._stopped_at

    def set_running(self, running: bool) -> None:
        """Stop it, or let it run from where it stands."""
        now = self.now()
        if running:
            self._save(now - self._machine.now(), None)
        else:
            self._save(self._offset, now)

    def go_back(self, instant: int) -> None:
        """Continue at this instant, running or not as the database says."""
        self.read()
        if self._stopped_at is None:
            self._save(instant - self._machine.now(), None)

    def advance(self, milliseconds: int) -> None:
        """Move it forward."""
        if self._stopped_at is None:
            self._save(self._offset + milliseconds, None)
        else:
            self._save(self._offset, self._stopped_at + milliseconds)

    def _save(self, offset: int, stopped_at: int | None) -> None:
        with self._store.transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                (_KEY, json.dumps({"offset": offset, "stopped_at": stopped_at})),
            )
        self._offset, self._stopped_at = offset, stopped_at
