# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A clock for commands with this folder in PYTHONPATH: the clock of the machine, and how far it was moved ahead.

The file that ``MOVED_CLOCK`` names has the seconds. A sleep moves this clock and that of the emulator at ``OCP_URL``,
so nobody waits. ``MOVED_CLOCK_TOUCH`` is an instant in seconds since 1970 and a file that somebody makes then, as in
``1796086800 /ops/pause``.
"""

import os
import time
from pathlib import Path

# Shorter sleeps are those of Ansible itself, between two looks at its workers.
SHORTEST = 0.2
AHEAD = Path(os.environ["MOVED_CLOCK"])
machine_time, machine_monotonic, machine_sleep = time.time, time.monotonic, time.sleep


def ahead() -> float:
    """How many seconds this clock is ahead of the machine's."""
    return float(AHEAD.read_text())


def sleep(seconds: float) -> None:
    """Move both clocks, and make the file whose time has come."""
    if seconds < SHORTEST:
        machine_sleep(seconds)
        return
    import requests

    login = (os.environ["OCP_USERNAME"], os.environ["OCP_PASSWORD"])
    url = f"{os.environ['OCP_URL']}/emulator/clock/advance"
    requests.post(url, json={"seconds": seconds}, auth=login, timeout=60).raise_for_status()
    # At once, since other processes read it meanwhile.
    written = AHEAD.with_suffix(".written")
    written.write_text(str(ahead() + seconds))
    written.replace(AHEAD)
    at, _space, touched = os.environ.get("MOVED_CLOCK_TOUCH", "").partition(" ")
    if touched and time.time() >= float(at):
        Path(touched).touch()


time.time = lambda: machine_time() + ahead()
time.monotonic = lambda: machine_monotonic() + ahead()
time.sleep = sleep
