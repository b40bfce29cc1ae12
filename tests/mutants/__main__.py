# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Try the mutants of the list, and print the table; fails if too many survive, or one without a reason."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence

import pytest
from ansible_collections.oceanbase.ocp.tests.mutants import outcomes, search
from ansible_collections.oceanbase.ocp.tests.mutants.draw import Mutant, mutants_of
from ansible_collections.oceanbase.ocp.tests.mutants.hunt import OPTIONS, TESTS, Hunt
from ansible_collections.oceanbase.ocp.tests.mutants.keys import FILES, KEPT, Outcome


def main() -> int:
    """The exit code: 0 if enough were killed, and each other one is explained."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--file", action="append", metavar="WORD", help="only files with this in their names")
    parser.add_argument("--definition", metavar="WORD", help="only definitions with this in their names")
    parser.add_argument("--list", action="store_true", help="write the list of all mutants anew")
    parser.add_argument("--again", choices=["survivors", "all"], help="try also these anew")
    parser.add_argument("--show", action="store_true", help="print each survivor that is not explained")
    parser.add_argument("--only-table", action="store_true", help="try none")
    parser.add_argument("--judged", action="store_true", help="search the hundred by exploration and simulation")
    parser.add_argument("--budget", type=float, default=30, help="seconds of tests for each mutant (default: 30)")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="PATH", help="only by these tests")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    if given.judged:
        return _search(given.workers)
    files = [file for file in FILES if not given.file or any(word in file for word in given.file)]
    there = {mutant.key: mutant for file in files for mutant in mutants_of(file)}
    if given.list:
        outcomes.write_list(there, files)
    keys = [key for key in outcomes.listed() if key.file in files]
    chosen = [there[key] for key in keys if key in there and (given.definition or "") in key.definition]
    if not given.only_table:
        _hunt(_to_try(chosen, given.again), given.tests, given.workers, given.budget)
    reasons, found = outcomes.explained(), outcomes.noted()
    if given.show:
        _show(mutant for mutant in chosen if _has_survived(found.get(mutant.key)) and mutant.key not in reasons)
    rows = outcomes.table([mutant.key for mutant in chosen], found, reasons)
    print(outcomes.HEAD, *rows, sep="\n")
    problems = list(outcomes.complaints(rows, (key for key in keys if key not in there)))
    print(*problems, sep="\n")
    return 1 if problems else 0


def _search(workers: int) -> int:
    """0 if exploration and simulation find enough of the mutants that were judged to break a promise."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Orders of sets decide what a seed of the simulation means.
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})
    every = search.judged()
    # Those that break a promise first.
    every.sort(key=lambda each: not each.breaks)
    there = {mutant.key: mutant for file in FILES for mutant in mutants_of(file)}
    chosen = [there[each.key] for each in every if each.key in there]
    search.search(chosen, workers, lambda mutant, found: print(f"{mutant.words}\n  {found or 'NOT FOUND'}", flush=True))
    found = search.searched()
    print(*search.summary(found, every), sep="\n")
    tried = [found[each.key] for each in every if each.breaks and each.key in found]
    return 0 if 100 * sum(map(bool, tried)) >= search.LEAST * len(tried) else 1


def _to_try(mutants: Sequence[Mutant], again: str | None) -> list[Mutant]:
    if again == "all":
        return list(mutants)
    reasons = outcomes.explained()
    done = {key for key, found in outcomes.noted().items() if found.killed or again is None or key in reasons}
    return [mutant for mutant in mutants if mutant.key not in done]


def _hunt(mutants: Sequence[Mutant], tests: Sequence[str], workers: int, budget: float) -> None:
    if not mutants:
        return
    print(f"{len(mutants)} mutants to try", flush=True)
    words = {mutant.key: mutant.words for mutant in mutants}

    def tell(found: Outcome) -> None:
        outcomes.note(found)
        fate = f"killed by {found.by}" if found.killed else "SURVIVED"
        print(f"{words[found.key]}\n  {fate} ({found.tests} tests, {found.seconds} s)", flush=True)

    pytest.main([*OPTIONS, *tests], plugins=[Hunt(mutants, tell, workers, budget)])


def _show(mutants: Iterable[Mutant]) -> None:
    for mutant in mutants:
        print(mutant.words, f"\n  {mutant.key}")


def _has_survived(found: Outcome | None) -> bool:
    return found is not None and not found.killed


if __name__ == "__main__":
    sys.exit(main())
