# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Explore the small worlds, and print what was found; fails if a promise was broken."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.rules import Rule
from ansible_collections.oceanbase.ocp.tests.explore.explorer import Explored, explore
from ansible_collections.oceanbase.ocp.tests.explore.settings import SETTINGS
from ansible_collections.oceanbase.ocp.tests.simulation.mutations import MUTATIONS, put_back


def main() -> int:
    """The exit code: 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="make explore")
    parser.add_argument("--world", choices=sorted(SETTINGS), action="append", help="only this one; may be repeated")
    parser.add_argument("--mutation", choices=sorted(MUTATIONS), help="with a known bug put back, until it is found")
    options = parser.parse_args()
    worlds = options.world or list(SETTINGS)
    began, found = time.monotonic(), []
    with ProcessPoolExecutor() as pool:
        for each in pool.map(partial(_explored, mutation=options.mutation), worlds):
            _show(each)
            found.append(each)
    _show_rules(found)
    states, runs, broken = (sum(column) for column in zip(*map(_figures, found), strict=True))
    print(f"\n{states:,} states, {runs:,} runs, {broken} broken promises, {time.monotonic() - began:.0f} s")
    return 1 if broken else 0


def _explored(name: str, mutation: str | None) -> Explored:
    # Nearly all that is made is kept.
    gc.set_threshold(200_000, 50, 1000)
    with put_back(mutation):
        return explore(SETTINGS[name], until_broken=mutation is not None)


def _figures(found: Explored) -> tuple[int, int, int]:
    return found.states, found.runs, sum(found.breaks.values())


def _show(found: Explored) -> None:
    states, runs, broken = _figures(found)
    extent = "whole" if found.is_whole else "cut off"
    print(
        f"{found.name}: {states:,} states, {runs:,} runs, depth {found.depth} ({extent}), {broken} broken promises "
        f"{dict(found.breaks) or ''}, {found.seconds:.0f} s",
        flush=True,
    )
    if found.story:
        first, lines = found.story
        print(f"  promise {first.promise}: {first.words}")
        print(*lines, sep="\n", flush=True)


def _show_rules(found: list[Explored]) -> None:
    rules: Counter[str] = Counter()
    for each in found:
        rules.update(each.rules)
    print("\nhow often each rule decided:")
    for rule in Rule:
        print(f"  {rules[rule.name]:9,}  {rule.name}")


if __name__ == "__main__":
    sys.exit(main())
