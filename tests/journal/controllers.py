# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Controllers that share a journal, each in a process of its own, and a service that counts what it is asked for.

A change is made as a restart is: under the lock of its cluster, look what is known; note the request; send it; note its
task. The service is a file with a line for each restart. It refuses nothing, so only the journal prevents a double.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import (
    SUCCESSFUL,
    FirstSight,
    MemberKey,
    RequestRow,
    Shown,
    Wish,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import SharedJournal

# Seconds that a controller waits for the others.
WAIT = 60.0
WISH = Wish("d1", "a restart")
# Under the lock before and after the request is noted, and after it is sent.
LOCKED, NOTED, SENT = "locked", "noted", "sent"
# For changes whose names begin so, it waits for a line of input before the request is sent.
HELD = "held"


class Service:
    """What was restarted for which change."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def restart(self, change: str) -> None:
        """Restart the only member once more."""
        # A line is written as a whole, whatever process writes beside it or is killed.
        held = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(held, f"{change}\n".encode())
        os.close(held)

    def restarts(self) -> Counter[str]:
        """How often there was one for each change."""
        return Counter(self._file.read_text().splitlines() if self._file.exists() else ())


def make(journal: SharedJournal, service: Service, change: str, cluster: str) -> None:
    """Make sure that the member of a cluster is restarted for a change. Raises OcpError if the journal fails."""
    member = MemberKey(cluster, "server", 1, "10.1.0.1:2882")
    with journal.lock([cluster], SYSTEM_CLOCK, WAIT):
        journal.register(change, WISH, [FirstSight(member, Shown(), SYSTEM_CLOCK.wall())])
        told(LOCKED)
        noted = [row for row in journal.requests([member]) if row.change == change]
        if service.restarts()[change]:
            for row in noted:
                journal.note(row.number or 0, task_id=1, outcome=SUCCESSFUL)
            return
        at = SYSTEM_CLOCK.wall()
        number = journal.begin(RequestRow(None, at, "server_restart", None, ((member, Shown()),), change, None, ""))
        told(NOTED)
        if change.startswith(HELD):
            sys.stdin.readline()
        service.restart(change)
        told(SENT)
        journal.note(number, task_id=1, outcome=SUCCESSFUL)


def told(words: str) -> None:
    """Tell who has started this process."""
    print(words, flush=True)


def main(url: str, lease: str, file: str) -> None:
    """Make each change that a line of the input names with its cluster; answer each with a last line."""
    journal, service = SharedJournal(url, lease=float(lease)), Service(Path(file))
    for line in sys.stdin:
        change, cluster = line.split()
        try:
            make(journal, service, change, cluster)
            told("made")
        except OcpError as error:
            told(f"failed: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
