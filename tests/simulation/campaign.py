# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many runs on all processors, and what came of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, product
from pathlib import Path

from . import with_bug
from .choices import Choices, Recorded, as_text
from .history import Run
from .mutations import NAMES, RARE, put_back
from .oracle import Finding, judge
from .shrink import shrink
from .simulation import NAMES_ALONE, Simulation
from .virtual_time import Current, virtual_time

# The seed and the world that have found a bug before, by the name of its mutation.
KNOWN_SEEDS = Path(__file__).with_name("known_seeds.json")
WORLDS: dict[str, Recorded] = {"any change": {}, "names alone": NAMES_ALONE}
BATCH = 25
# A process keeps some memory of each run.
BATCHES_OF_A_PROCESS = 40
SECONDS_BETWEEN_LINES = 60
# In the search for bugs: the few runs that take more would be most of the time.
MOST_REQUESTS = 300


@dataclass
class Tally:
    """What many runs came to. Kinds of broken promises have the seeds that show them."""

    runs: int = 0
    reports: int = 0
    requests: int = 0
    restarts: int = 0
    unseen_reports: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    broken: dict[str, list[int]] = field(default_factory=dict)
    unseen: dict[str, list[int]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Add what others came to."""
        self.runs += other.runs
        self.reports += other.reports
        self.requests += other.requests
        self.restarts += other.restarts
        self.unseen_reports += other.unseen_reports
        self.counts.update(other.counts)
        for mine, theirs in ((self.broken, other.broken), (self.unseen, other.unseen)):
            for kind, seeds in theirs.items():
                mine.setdefault(kind, []).extend(seeds)


def simulate(
    choices: Choices, current: Current, *, tell: bool = False, most_requests: int | None = None
) -> tuple[Simulation, list[Finding]]:
    """One run, judged. It ends early after ``most_requests``."""
    simulation = Simulation(choices, tell=tell, most_requests=most_requests)
    simulation.run(current)
    return simulation, judge(simulation)


def batch(job: tuple[Iterable[int], Recorded]) -> Tally:
    """The runs of some seeds, in the world of these choices."""
    seeds, world = job
    tally = Tally()
    with virtual_time() as current:
        for seed in seeds:
            simulation, findings = simulate(Choices(seed, world), current)
            tally.runs += 1
            tally.counts.update(simulation.choices.counts)
            for run in simulation.history.runs:
                _count(tally, run)
            for finding in findings:
                (tally.unseen if finding.unseen else tally.broken).setdefault(finding.kind, []).append(seed)
            tally.unseen_reports += len({finding.run for finding in findings if finding.unseen})
    return tally


def _count(tally: Tally, run: Run) -> None:
    tally.requests += len(run.exchanges)
    tally.restarts += len(run.restarts)
    tally.reports += run.end == "result"
    tally.counts[f"reports: {_report(run)}"] += 1


def _report(run: Run) -> str:
    if run.end != "result":
        return run.end
    verified = run.result.get("verified")
    words = "failed" if run.failed else "green"
    return f"{words} {run.result.get('action') or 'without action'}" + (f", verified {verified}" if verified else "")


def campaign(
    first: int, runs: int, processes: int, world: Recorded, progress: Callable[[Tally], None] = lambda _tally: None
) -> Tally:
    """``runs`` runs from seed ``first`` on. ``progress`` gets what they came to so far, again and again."""
    tally = Tally()
    seeds = [range(begin, min(begin + BATCH, first + runs)) for begin in range(first, first + runs, BATCH)]
    jobs = [(each, world) for each in seeds]
    if processes == 1:
        for job in jobs:
            tally.add(batch(job))
            progress(tally)
        return tally
    with multiprocessing.get_context("fork").Pool(processes, maxtasksperchild=BATCHES_OF_A_PROCESS) as pool:
        for part in pool.imap_unordered(batch, jobs):
            tally.add(part)
            progress(tally)
    return tally


def story(choices: Choices, kind: str | None = None) -> str:
    """The events of one run for a person, with what it broke."""
    with virtual_time() as current:
        simulation, findings = simulate(choices, current, tell=True)
    lines = [f"  {when:9.2f} s  {text}" for when, text in simulation.history.told or []]
    broken = [f"  BROKEN     {each.kind}: {each.text}" for each in findings if kind in (None, each.kind)]
    return "\n".join([f"  service: {simulation.profile.told()}", *lines, *broken])


def smallest(seed: int, kind: str, attempts: int, world: Recorded) -> dict[str, list[int]]:
    """The smallest choices that break the same promise as a seed."""
    with virtual_time() as current:

        def fails(recorded: Recorded) -> bool:
            _simulation, findings = simulate(Choices(played=recorded), current)
            return any(each.kind == kind and not each.unseen for each in findings)

        choices = Choices(seed, world)
        simulate(choices, current)
        small = shrink(choices.recorded(), fails, attempts)
        choices = Choices(played=small)
        simulate(choices, current)
        return choices.recorded()


@dataclass(frozen=True)
class Caught:
    """What has found a bug that was put back, with the seed and the world of the run; empty if nothing has."""

    mutation: str
    by: str = ""
    seed: int = 0
    world: str = ""


def catch(mutation: str, first: int, most: int) -> Caught:
    """Run each seed in both worlds with a bug put back until the oracle sees a promise broken that holds without.

    First the seed that has found it before, then at most ``most`` of them. A bug that they meet too seldom is left to
    its unit test.
    """
    if mutation in RARE:
        return _catch_by_test(mutation, RARE[mutation])
    with virtual_time() as current:

        def broken(seed: int, world: str) -> set[str]:
            _simulation, findings = simulate(Choices(seed, WORLDS[world]), current, most_requests=MOST_REQUESTS)
            return {each.kind for each in findings if not each.unseen}

        for seed, world in chain(_seeds_known_for(mutation), product(range(first, first + most), WORLDS)):
            with put_back(mutation):
                kinds = broken(seed, world)
            kinds -= broken(seed, world) if kinds else set()
            if kinds:
                return Caught(mutation, f"seed {seed} ({world}): {min(kinds)}", seed, world)
    return Caught(mutation)


def _seeds_known_for(mutation: str) -> list[tuple[int, str]]:
    found = json.loads(KNOWN_SEEDS.read_text()).get(mutation)
    return [(found["seed"], found["world"])] if found else []


def note_seed(caught: Caught) -> None:
    """Keep the seed that has found a bug: the next search for it begins there."""
    found = json.loads(KNOWN_SEEDS.read_text())
    found.pop(caught.mutation, None)
    if caught.seed:
        found[caught.mutation] = {"seed": caught.seed, "world": caught.world}
    written = KNOWN_SEEDS.with_suffix(".new")
    written.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")
    # Another process may be reading it.
    written.replace(KNOWN_SEEDS)


def _catch_by_test(mutation: str, test: str) -> Caught:
    """Like ``catch``, by a test that has to pass without the bug."""
    return Caught(mutation, "" if _first_failure(test) else _first_failure(test, mutation))


def _first_failure(test: str, mutation: str = "") -> str:
    options = ["--quiet", "--exitfirst", "-p", "no:schemathesis", "-p", with_bug.__name__]
    command = [sys.executable, "-m", "pytest", *options, test]
    environment = {**os.environ, "PUT_BACK": mutation}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    failed = re.search(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else ""


def catch_all(first: int, most: int, processes: int) -> Iterator[Caught]:
    """All mutations, as they are found."""
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap_unordered(partial(catch, first=first, most=most), NAMES)


class Progress:
    """Prints how far a campaign is, each minute, and each kind of broken promise when it is first seen."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._began = self._told_at = time.monotonic()
        self._told: set[str] = set()

    def __call__(self, tally: Tally) -> None:
        for kind in sorted(tally.broken.keys() - self._told):
            self._told.add(kind)
            print(f"  broken: {kind} (seed {tally.broken[kind][0]})", flush=True)
        now = time.monotonic()
        if now - self._told_at >= SECONDS_BETWEEN_LINES:
            self._told_at = now
            broken = sum(map(len, tally.broken.values()))
            passed = now - self._began
            print(f"  {tally.runs:,} of {self._runs:,} runs in {passed:.0f} s, {broken} broken promises", flush=True)


def report(tally: Tally, first: int, began: float) -> str:
    """The result for a person."""
    lines = [
        f"simulation: seeds {first} to {first + tally.runs - 1}, {tally.reports} reports of modules, "
        f"{tally.restarts} restarts, {tally.requests} requests, in {time.monotonic() - began:.0f} s"
    ]
    for group, names in _grouped(tally.counts).items():
        lines.append(f"  {group}: " + ", ".join(f"{name} {number}" for name, number in names))
    share = tally.unseen_reports / max(1, tally.reports)
    lines.append(f"  not shown by any answer before: {tally.unseen_reports} reports ({share:.2%})")
    lines += [f"    {len(seeds)} {kind} (seed {seeds[0]})" for kind, seeds in _most(tally.unseen)]
    lines.append(f"  broken promises: {sum(map(len, tally.broken.values()))}")
    lines += [
        f"    {len(seeds)} {kind}, in {len(set(seeds))} runs (seeds {', '.join(map(str, sorted(set(seeds))[:5]))})"
        for kind, seeds in _most(tally.broken)
    ]
    return "\n".join(lines)


def stories(tally: Tally, number: int, attempts: int, world: Recorded) -> Iterator[str]:
    """The smallest run that is found for each of the most frequent broken promises."""
    for kind, seeds in _most(tally.broken)[:number]:
        small = smallest(seeds[0], kind, attempts, world)
        told = story(Choices(played=small), kind)
        yield f"\n{kind}: SEED={seeds[0]} RUNS=1, or REPLAY={as_text(small)}\n{told}"


def _most(kinds: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    return sorted(kinds.items(), key=lambda item: -len(item[1]))


def _grouped(counts: Counter[str]) -> dict[str, list[tuple[str, int]]]:
    groups: dict[str, list[tuple[str, int]]] = {}
    for name, number in sorted(counts.items()):
        group, found, rest = name.partition(": ")
        groups.setdefault(group if found else "drawn", []).append((rest or name, number))
    return groups
