# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many random fleets and schedules on all processors, and the outages that came of them."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ansible_collections.oceanbase.ocp.tests.outages.arbitrated import Arbitrated
from ansible_collections.oceanbase.ocp.tests.outages.schedule import Meeting, Run
from ansible_collections.oceanbase.ocp.tests.outages.verdicts import CAUSED, CROSSED, LOST_BEFORE, TOLERATED
from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices, Recorded, as_text
from ansible_collections.oceanbase.ocp.tests.simulation.shrink import shrink
from ansible_collections.oceanbase.ocp.tests.simulation.virtual_time import virtual_time

BATCH = 5


@dataclass(frozen=True)
class Setting:
    """What the runs of a campaign have in common."""

    safety: str = "majority"
    controllers: int = 1
    meeting: bool = False
    shared: bool = False
    arbitrated: bool = False


@dataclass
class Tally:
    """What runs came to; the outages that restarts of ours began, by kind, and the seeds that show what must not be."""

    runs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    outages: Counter[str] = field(default_factory=Counter)
    seeds: dict[int, list[str]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Add what others came to."""
        self.runs += other.runs
        self.counts.update(other.counts)
        self.outages.update(other.outages)
        self.seeds.update(other.seeds)


def batch(job: tuple[Setting, Iterable[int]]) -> Tally:
    """The runs of some seeds."""
    setting, seeds = job
    tally = Tally()
    with virtual_time() as current:
        for seed in seeds:
            run = _run_of(Choices(seed), setting)
            found = run.run(current)
            tally.runs += 1
            tally.counts.update(run.counts)
            tally.outages.update(each.kind for each in found)
            tally.counts["runs with an outage"] += bool(found)
            if any(each.kind == CAUSED for each in found):
                tally.seeds[seed] = [each.text for each in found if each.kind == CAUSED]
    return tally


def campaign(setting: Setting, first: int, runs: int, processes: int | None = None) -> Tally:
    """``runs`` runs from seed ``first`` on."""
    tally = Tally()
    jobs = [(setting, range(begin, min(begin + BATCH, first + runs))) for begin in range(first, first + runs, BATCH)]
    with multiprocessing.get_context("fork").Pool(processes or os.cpu_count(), maxtasksperchild=20) as pool:
        for part in pool.imap_unordered(batch, jobs):
            tally.add(part)
    return tally


def report(setting: Setting, tally: Tally) -> Iterator[str]:
    """The figures for a person."""
    counts, outages = tally.counts, tally.outages
    who = "one controller" if setting.controllers == 1 else f"{setting.controllers} controllers"
    who += " that begin within one second" if setting.meeting else ""
    who += ", with a shared journal" if setting.shared else ""
    who += ", 2F1A, 4F1A, three full and mixed" if setting.arbitrated else ""
    yield f"safety {setting.safety}, {who}: {tally.runs} fleets and schedules, {counts['requests']} requests"
    yield f"  restarts sent                     {counts['restarts']} of {counts['asked']} asked for"
    yield f"  refused as unsafe                 {counts['refused as unsafe']}"
    yield f"  failed otherwise                  {counts['failed otherwise']}"
    yield f"  outages that they caused          {outages[CAUSED]}"
    yield f"  runs with any outage by them      {counts['runs with an outage']}"
    yield f"    of tenants that were named      {outages[TOLERATED]}"
    yield f"    not shown before the request    {outages[CROSSED]}"
    yield f"    the tenant was lost before it   {outages[LOST_BEFORE]}"
    others = ("fleets", "waves", "rolling", "activities", "people")
    yield "  " + ", ".join(f"{name} {number}" for name, number in sorted(counts.items()) if name.startswith(others))
    for seed, texts in sorted(tally.seeds.items())[:3] if setting.safety != "none" else ():
        yield f"  SEED {seed}: {texts[0]}"


def story(choices: Choices, setting: Setting) -> Iterator[str]:
    """One run for a person."""
    with virtual_time() as current:
        run = _run_of(choices, setting)
        found = run.run(current)
    yield f"fleet: {run.fleet['clusters']}"
    yield from (f"  {words}" for words in run.told)
    yield from (f"  {words}" for words in run.said)
    yield from (f"  {each.kind}: {each.text}" for each in found)
    yield f"  REPLAY={as_text(choices.recorded())}"


def smallest(seed: int, setting: Setting, attempts: int) -> Choices:
    """The smallest choices found that cause an outage as a seed does."""
    with virtual_time() as current:

        def fails(recorded: Recorded) -> bool:
            found = _run_of(Choices(played=recorded), setting).run(current)
            return any(each.kind == CAUSED for each in found)

        choices = Choices(seed)
        _run_of(choices, setting).run(current)
        return Choices(played=shrink(choices.recorded(), fails, attempts))


def _run_of(choices: Choices, setting: Setting) -> Run:
    kind = Meeting if setting.meeting else Arbitrated if setting.arbitrated else Run
    return kind(choices, safety=setting.safety, controllers=setting.controllers, shared=setting.shared)
