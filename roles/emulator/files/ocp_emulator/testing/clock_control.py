# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The clock of an emulator under test: stop it, start it, move it on, make it faster."""

from datetime import datetime

from ocp_emulator.testing.threaded_server import ThreadedServer


class ClockControl:
    """The clock by which tasks move on."""

    def __init__(self, server: ThreadedServer) -> None:
        """Of this server."""
        self._server = server

    @property
    def now(self) -> datetime:
        """What time it is."""
        return datetime.fromisoformat(self._server.call("GET", "/emulator/clock")["time"])

    def stop(self) -> None:
        """Let no time pass but by `advance`."""
        self._server.call("PUT", "/emulator/clock", {"running": False})

    def start(self) -> None:
        """Let time pass by itself again."""
        self._server.call("PUT", "/emulator/clock", {"running": True})

    def run_faster(self, factor: float) -> None:
        """Let it run so many times as fast as the machine's."""
        self._server.call("PUT", "/emulator/clock", {"speed": factor})

    def advance(self, seconds: float) -> None:
        """Move on; tasks have moved on by so much when this returns."""
        self._server.call("POST", "/emulator/clock/advance", {"seconds": seconds})
