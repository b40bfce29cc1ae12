# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What may happen to controllers that share a journal: crossings, kills, and a database that stops in the middle."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.journal_url import NamedDatabase
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import SUCCESSFUL
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import SharedJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.store import digest
from controllers import HELD, LOCKED, NOTED, SENT, Service
from databases import Database
from sqlalchemy import text

# Seconds of a lease: of who is killed, and of the others.
LEASE, LONG = 2.0, 30.0
# How long after the end of such a lease the next one has it at last: it asks every second, on a machine that is busy.
TAKEN = 2.0
KILLS_AT_ONCE = 4
PAIRS = 4


@dataclass(frozen=True)
class Outcome:
    """How many changes were made in a scenario, what is wrong with it, if anything, and what was measured."""

    name: str
    changes: int
    wrong: tuple[str, ...]
    measured: str = ""


class Controller:
    """A process that makes changes."""

    def __init__(self, url: str, file: Path, lease: float) -> None:
        command = [sys.executable, str(Path(__file__).with_name("controllers.py")), url, str(lease), str(file)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, change: str, cluster: str) -> None:
        """Let it begin a change."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{change} {cluster}\n")
        self.process.stdin.flush()

    def go_on(self) -> None:
        """Let it send the request that it holds."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def said(self) -> Iterator[str]:
        """What it says of the change, until it is at its end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield line.strip()
            if line.startswith(("made", "failed")):
                return

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


@contextmanager
def _controllers(database: Database, file: Path, number: int, lease: float) -> Iterator[list[Controller]]:
    started = [Controller(database.url, file, lease) for _each in range(number)]
    try:
        yield started
    finally:
        for each in started:
            each.end()


def crossings(database: Database, folder: Path, changes: int) -> Outcome:
    """Two controllers make each change of one member at the same moment; several pairs have clusters of their own."""
    file = folder / "crossings"

    def pair(start: int) -> list[str]:
        wrong: list[str] = []
        with _controllers(database, file, 2, LONG) as both:
            for number in range(start, changes, PAIRS):
                for each in both:
                    each.ask(f"crossing-{number}", f"cluster-{start}")
                ends = [list(each.said())[-1:] for each in both]
                wrong += [f"crossing-{number}: {words}" for words in ends if words != ["made"]]
        return wrong

    with ThreadPoolExecutor(PAIRS) as pool:
        wrong = [words for found in pool.map(pair, range(PAIRS)) for words in found]
    return _judged("crossings of two controllers", file, [f"crossing-{number}" for number in range(changes)], wrong)


def kills(database: Database, folder: Path, changes: int) -> Outcome:
    """A controller is killed while it holds a lease, anywhere between its look and its note; the next one goes on."""
    file = folder / "kills"
    draw = random.Random(1)
    ends = [draw.choice([LOCKED, NOTED, SENT]) for _change in range(changes)]
    # Seconds that each lease still had after the kill, and until the next one had it.
    left: list[float] = []
    pauses: list[float] = []

    def one(number: int) -> list[str]:
        change, cluster = f"kill-{number}", f"cluster-{number}"
        with (
            _controllers(database, file, 1, LEASE) as [killed],
            _controllers(database, file, 1, LONG) as [after],
        ):
            # On a busy machine so short a lease may end before the request is noted; then it is refused.
            while killed.process.poll() is None:
                killed.ask(change, cluster)
                if ends[number] in killed.said():
                    killed.end()
            began, has = time.monotonic(), _left(database, cluster)
            after.ask(change, cluster)
            said = after.said()
            first, pause = next(said), time.monotonic() - began
            last = [first, *said][-1]
        left.append(has)
        pauses.append(pause)
        is_well = last == "made" and has <= LEASE and first == LOCKED and pause <= max(has, 0.0) + TAKEN
        return [] if is_well else [f"{change}: its lease had {has:.1f} s; {first} after {pause:.0f} s, {last}"]

    with ThreadPoolExecutor(KILLS_AT_ONCE) as pool:
        wrong = [words for found in pool.map(one, range(changes)) for words in found]
    outcome = _judged(
        "kills of a controller with a lease", file, [f"kill-{number}" for number in range(changes)], wrong
    )
    waits = f"{median(pauses):.1f} s (median), {max(pauses):.1f} s (longest)"
    measured = f"leases had {max(left):.1f} s or less, the next one had them after {waits}"
    return replace(outcome, measured=measured)


def stops(database: Database, folder: Path, changes: int) -> Outcome:
    """The database stops while a request is on its way, and before that of another controller, and starts again."""
    file, wrong, made = folder / "stops", [], []
    service = Service(file)
    for number in range(changes):
        change, other = f"{HELD}-{number}", f"other-{number}"
        made += [change, other]
        with _controllers(database, file, 2, LONG) as (first, second):
            first.ask(change, change)
            while next(first.said()) != NOTED:
                pass
            database.stop()
            second.ask(other, other)
            refused = list(second.said())[-1]
            if service.restarts()[other] or not refused.startswith("failed: The journal "):
                wrong.append(f"{other}: while the database is stopped: {refused}")
            first.go_on()
            ends = list(first.said())[-1:]
            database.start()
            second.ask(other, other)
            ends += list(second.said())[-1:]
            wrong += [f"{change}: {words}" for words in ends if words != "made"]
        # Any process of this controller brings the outcome in.
        requests = SharedJournal(database.url).entries()["requests"]
        outcomes = [each["outcome"] for each in requests if each["change"] == change]
        wrong += [] if outcomes == [SUCCESSFUL] else [f"{change}: its outcome is lost: {outcomes}"]
    return _judged("changes around stops of the database", file, made, wrong)


def _left(database: Database, cluster: str) -> float:
    """Seconds that the lease of a cluster still has, by the clock of the database."""
    named = NamedDatabase(database.url)
    sql = text("SELECT held_until FROM ocp_journal_leases WHERE name_key = :key")
    with named.engine.connect() as connection:
        until = connection.execute(sql, {"key": digest(cluster)}).scalar_one()
        return float(until) - float(connection.execute(text(named.kind.clock)).scalar_one())


def _judged(name: str, file: Path, made: list[str], wrong: list[str]) -> Outcome:
    restarts = Service(file).restarts()
    wrong += [f"{change}: {restarts[change]} restarts" for change in made if restarts[change] != 1]
    return Outcome(name, len(made), tuple(wrong))
