# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether exploration and simulation find those of a hundred mutants that break a promise, as was judged before."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ansible_collections.oceanbase.ocp.tests.mutants.draw import Mutant
from ansible_collections.oceanbase.ocp.tests.mutants.keys import JUDGED, KEPT, ROOT, Key
from ansible_collections.oceanbase.ocp.tests.mutants.put_in import put_into_import

SEARCHED = KEPT / "searched.jsonl"
# Seconds of a processor, and runs of the simulation in each of its worlds.
MOST_SECONDS, RUNS = 600, 200
Known = dict[str, list[str]]
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
    known, done = _without_a_mutant(), searched()
    queue = iter([mutant for mutant in mutants if mutant.key not in done])
    running = dict[int, tuple[Mutant, Path]]()
    while True:
        while len(running) < workers and (mutant := next(queue, None)) is not None:
            out = KEPT / f"search-{mutant.key.digest}-{mutant.key.nth}"
            running[_fork(lambda mutant=mutant: _first_break(mutant, known), out)] = mutant, out
        if not running:
            return
        process, _status = os.wait()
        mutant, out = running.pop(process)
        found = json.loads(_taken(out) or '""')
        with SEARCHED.open("a") as file:
            file.write(json.dumps([str(mutant.key), found]) + "\n")
        tell(mutant, found)


def searched() -> dict[Key, str]:
    """What has found each mutant that was searched; empty if nothing has."""
    rows = map(json.loads, SEARCHED.read_text().splitlines()) if SEARCHED.exists() else ()
    return {Key.of(line): found for line, found in rows}


def _without_a_mutant() -> Known:
    """What is broken by the code as it is, which no mutant has broken; kept. It should be nothing."""
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(ROOT.rglob("*.py")))).hexdigest()[:16]
    kept = KEPT / f"broken-{code}.json"
    if not kept.exists():
        os.waitpid(_fork(lambda: {place: sorted(broken) for place, broken in _searches({}) if broken}, kept, 0), 0)
    known: Known = json.loads(kept.read_text())
    for place, broken in known.items():
        print(f"broken without a mutant: {place}: {', '.join(broken)}", flush=True)
    return known


def _fork(work: Callable[[], object], out: Path, most_seconds: float = MOST_SECONDS) -> int:
    """Write the result of ``work`` in a process of its own into a file; nothing if it takes too long (0: no limit)."""
    process = os.fork()
    if process:
        return process
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        signal.setitimer(signal.ITIMER_PROF, most_seconds)
        out.write_text(json.dumps(work()))
    finally:
        os._exit(0)


def _taken(out: Path) -> str:
    text = out.read_text() if out.exists() else ""
    out.unlink(missing_ok=True)
    return text


def _first_break(mutant: Mutant, known: Known) -> str:
    put_into_import(mutant)
    new = ((place, broken.difference(known.get(place, ()))) for place, broken in _searches(known))
    return next((f"{place}: {min(broken)}" for place, broken in new if broken), "")


def _searches(known: Known) -> Iterator[tuple[str, set[str]]]:
    """Each search with what it finds broken: each world with one event, then each run of the simulation."""
    # Imported after the mutant was put in.
    from ansible_collections.oceanbase.ocp.tests.explore.explorer import explore
    from ansible_collections.oceanbase.ocp.tests.explore.settings import SETTINGS

    for world, setting in SETTINGS.items():
        place = f"exploration, {world}"
        explored = partial(explore, replace(setting, most_events=1), until_broken=place not in known)
        yield place, _broken(explored, lambda found: found.breaks)
    from ansible_collections.oceanbase.ocp.tests.simulation import campaign
    from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices

    with campaign.virtual_time() as current:
        for seed, (name, world) in product(range(1, RUNS + 1), campaign.WORLDS.items()):
            simulate = partial(campaign.simulate, Choices(seed, world), current)
            yield f"simulation, run {seed}, {name}", _broken(simulate, lambda found: _kinds(found[1]))


def _broken(search_one: Callable[[], Any], broken: Callable[[Any], Iterable[str]]) -> set[str]:
    try:
        return set(broken(search_one()))
    except Exception as error:
        return {f"raised {error!r}"}


def _kinds(findings: Iterable[Any]) -> list[str]:
    return [each.kind for each in findings if not each.unseen]


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
