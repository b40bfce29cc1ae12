# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Run the simulation: ``make simulate RUNS=1000 SEED=1``."""

from __future__ import annotations

import argparse
import os
import sys
import time

from .choices import Choices, from_text

# Orders of sets decide what a seed means; other variables would reach the modules under test.
KEPT = ("PATH", "HOME", "TMPDIR", "ANSIBLE_HOME", "ANSIBLE_COLLECTIONS_PATH")


def main() -> int:
    """0 if no promise was broken."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        os.execve(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]], {**kept, "PYTHONHASHSEED": "0"})
    from . import campaign, mutations
    from .simulation import NAMES_ALONE

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first (default: %(default)s)")
    parser.add_argument("--names-alone", action="store_true", help="changes with a name alone, all clocks apart")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="(default: %(default)s)")
    parser.add_argument("--stories", type=int, default=3, help="broken promises to tell (default: %(default)s)")
    parser.add_argument("--attempts", type=int, default=600, help="runs to make each story smaller")
    parser.add_argument("--replay", type=_choices, help="choices that a report has named")
    parser.add_argument("--story", action="store_true", help="tell the run of the seed as it is")
    parser.add_argument("--mutation", choices=["all", *mutations.NAMES], help="with this bug put back, or each in turn")
    options = parser.parse_args()
    began, world = time.monotonic(), NAMES_ALONE if options.names_alone else {}
    if options.mutation == "all":
        found = []
        for each in campaign.catch_all(options.seed, options.runs, options.processes):
            found.append(each)
            campaign.note_seed(each)
            print(f"  {each.mutation}: " + (f"found by {each.by}" if each.by else "NOT FOUND"), flush=True)
        missed = [each.mutation for each in found if not each.by]
        print(f"mutations: {len(found) - len(missed)} of {len(found)} found, each in at most {options.runs} runs")
        if missed:
            print(f"NOT FOUND: {', '.join(missed)}")
        return 1 if missed else 0
    with mutations.put_back(options.mutation):
        if options.replay is not None:
            print(campaign.story(Choices(played=options.replay)))
            return 0
        if options.story:
            print(campaign.story(Choices(options.seed, world)))
            return 0
        again = f"make simulate RUNS={options.runs} SEED={options.seed}"
        again += " NAMES_ALONE=yes" if options.names_alone else ""
        print(f"simulation: {options.runs} runs from seed {options.seed}; again: {again}", flush=True)
        tally = campaign.campaign(options.seed, options.runs, options.processes, world, campaign.Progress(options.runs))
        print(campaign.report(tally, options.seed, began), flush=True)
        for story in campaign.stories(tally, options.stories, options.attempts, world):
            print(story, flush=True)
    return 1 if tally.broken else 0


def _choices(text: str) -> dict[str, list[int]]:
    try:
        return from_text(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} names no choices; give them as fleet=1.0.2,people=3") from None


if __name__ == "__main__":
    sys.exit(main())
