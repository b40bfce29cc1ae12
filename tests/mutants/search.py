# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether exploration and simulation find those of a hundred mutants that break a promise, as was judged before."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ansible_collections.oceanbase.ocp.tests.mutants.draw import Mutant
from ansible_collections.oceanbase.ocp.tests.mutants.keys import JUDGED, KEPT, Key
from ansible_collections.oceanbase.ocp.tests.mutants.put_in import put_into_import

SEARCHED = KEPT / "searched.jsonl"
# Seconds of a processor, and runs of the simulation in each of its worlds.
MOST_SECONDS, RUNS = 600, 200
# Per cent of those that break a promise.
LEAST = 80


@dataclass(frozen=True)
class Judged:
    """A mutant with the promise that it breaks; empty if it breaks none."""

    key: Key
    breaks: str
    why: str


def judged() -> list[Judged]:
    """The hundred."""
    rows = [line.split("\t") for line in JUDGED.read_text().splitlines()]
    return [Judged(Key.of("\t".join(row[:5])), "" if row[5] == "no" else row[5], row[6]) for row in rows]


def search(mutants: Iterable[Mutant], workers: int, tell: Callable[[Mutant, str], None]) -> None:
    """Search each one that was not searched before, in a process of its own; ``tell`` gets what has found it, or ""."""
    done, running = searched(), dict[int, tuple[Mutant, Path]]()
    queue = iter([mutant for mutant in mutants if mutant.key not in done])
    while True:
        while len(running) < workers and (mutant := next(queue, None)) is not None:
            out = KEPT / f"search-{len(running)}-{os.getpid()}-{mutant.key.digest}-{mutant.key.nth}"
            running[_fork(mutant, out)] = mutant, out
        if not running:
            return
        process, _status = os.wait()
        mutant, out = running.pop(process)
        found = out.read_text() if out.exists() else ""
        out.unlink(missing_ok=True)
        with SEARCHED.open("a") as file:
            file.write(json.dumps([str(mutant.key), found]) + "\n")
        tell(mutant, found)


def searched() -> dict[Key, str]:
    """What has found each mutant that was searched; empty if nothing has."""
    rows = map(json.loads, SEARCHED.read_text().splitlines()) if SEARCHED.exists() else ()
    return {Key.of(line): found for line, found in rows}


def _fork(mutant: Mutant, out: Path) -> int:
    process = os.fork()
    if process:
        return process
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        put_into_import(mutant)
        found = next(_found(), "")
        if found:
            out.write_text(found)
    finally:
        os._exit(0)


def _found() -> Iterator[str]:
    """What finds it, the exploration of each world with one event first, then runs of the simulation."""
    # Imported after the mutant was put in.
    from ansible_collections.oceanbase.ocp.tests.explore.explorer import explore
    from ansible_collections.oceanbase.ocp.tests.explore.settings import SETTINGS

    for world, setting in SETTINGS.items():
        try:
            story = explore(replace(setting, most_events=1), until_broken=True).story
        except Exception as error:
            yield f"exploration, {world}: raised {error!r}"
            return
        if story:
            yield f"exploration, {world}: promise {story[0]}"
    from ansible_collections.oceanbase.ocp.tests.simulation import campaign
    from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices

    with campaign.virtual_time() as current:
        for seed in range(1, RUNS + 1):
            for name, world in campaign.WORLDS.items():
                try:
                    _simulation, findings = campaign.simulate(Choices(seed, world), current)
                    kinds = [each.kind for each in findings if not each.unseen]
                except Exception as error:
                    kinds = [f"raised {error!r}"]
                if kinds:
                    yield f"simulation, run {seed}, {name}: {min(kinds)}"


def summary(found: dict[Key, str], every: Sequence[Judged]) -> list[str]:
    """How many of those that break a promise were found, and which were not."""
    breaking = [each for each in every if each.breaks]
    tried = [each for each in breaking if each.key in found]
    hit = [each for each in tried if found[each.key]]
    others = [each for each in every if not each.breaks and found.get(each.key)]
    share = f", {100 * len(hit) / len(tried):.0f} %" if tried else ""
    return [
        f"{len(every)} mutants were judged, {len(breaking)} of them to break a promise",
        f"of these {len(tried)} were searched, and {len(hit)} found{share}",
        f"found, though judged to break none: {len(others)}",
        *(f"NOT FOUND: promise {each.breaks}: {each.key}" for each in tried if not found[each.key]),
    ]
