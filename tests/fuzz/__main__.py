# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Structured fuzzing: ``python tests/fuzz [--seconds 60] [--seed N] [--case FILE] [--defects [WORDS]]``."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from ansible_collections.oceanbase.ocp.tests.fuzz.cases import Case
from ansible_collections.oceanbase.ocp.tests.fuzz.drive import catalogue
from ansible_collections.oceanbase.ocp.tests.fuzz.find_defects import find_defects
from ansible_collections.oceanbase.ocp.tests.fuzz.oracle import Finding
from ansible_collections.oceanbase.ocp.tests.fuzz.search import (
    MOST_PROCESS,
    ROUND,
    Search,
    largest_process,
    run_case,
)

KEPT = Path(".build/fuzz/case.json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--case", type=Path, default=None)
    parser.add_argument("--defects", nargs="*", metavar="WORDS", help="those with these words in their names, or all")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    # Kept in memory as long as the process lives, so not part of any case.
    catalogue()
    if given.case:
        return replay(given.case)
    return fuzz(given.seconds, seed) if given.defects is None else find_defects(seed, given.defects)


def replay(path: Path) -> int:
    """Run one case that was kept."""
    try:
        run_case(Case.from_json(path.read_text()))
    except Finding as finding:
        print(f"fuzz: {finding}")
        return 1
    print("fuzz: nothing found")
    return 0


def fuzz(seconds: float, seed: int) -> int:
    """Look for so many seconds, in rounds with a seed each."""
    began = time.monotonic()
    search = Search()
    print(f"fuzz: {seconds:g} seconds, seed {seed}", flush=True)
    while search.found is None and time.monotonic() - began < seconds:
        search.look(seed, ROUND, until=began + seconds)
        seed += 1
    for kind, count in sorted(search.ran.items()):
        print(f"  {count:6} {kind}")
    took = f"{search.ran.total()} cases in {time.monotonic() - began:.0f} s, {largest_process()} MiB"
    if search.found is None and largest_process() > MOST_PROCESS:
        print(f"fuzz: {took}: more memory than {MOST_PROCESS} MiB")
        return 1
    if search.found is None:
        print(f"fuzz: nothing found, {took}")
        return 0
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_text(search.found.case.to_json() + "\n")
    print(f"fuzz: found in {search.found.case.kind}, {took}: {search.found.finding}")
    print(f"The smallest case: {search.found.case.to_json()}")
    print(f"Again: make fuzz CASE={KEPT}, or make fuzz SEED={seed - 1}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
