# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Explore the small worlds, and print what was found; fails if a promise was broken."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from functools import partial

from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.rules import Rule
from ansible_collections.oceanbase.ocp.tests.explore.explorer import Explored, explore
from ansible_collections.oceanbase.ocp.tests.explore.known_bugs import FINDABLE, put_back
from ansible_collections.oceanbase.ocp.tests.explore.settings import SETTINGS

# Of the garbage collector, since nearly all that is made is kept.
RARELY = (200_000, 50, 1000)


def main() -> int:
    """The exit code: 1 if a promise was broken, or a bug that was put back was not found."""
    parser = argparse.ArgumentParser(prog="make explore")
    parser.add_argument("--world", choices=sorted(SETTINGS), action="append", help="only this one; may be repeated")
    parser.add_argument("--mutation", choices=["all", *FINDABLE], help="with a known bug put back, until it is found")
    parser.add_argument("--events", type=int, help="how many in each world, instead of what each has")
    options = parser.parse_args()
    worlds = options.world or list(SETTINGS)
    with ProcessPoolExecutor() as pool:
        if options.mutation:
            return _look_for_bugs(pool, FINDABLE if options.mutation == "all" else [options.mutation], worlds)
        return _explore_all(pool, worlds, options.events)


def _explore_all(pool: Executor, worlds: Sequence[str], events: int | None) -> int:
    began, found = time.monotonic(), []
    for each in pool.map(partial(_explored, events=events), worlds):
        _show(each)
        found.append(each)
    _show_rules(found)
    states, runs, broken = (sum(column) for column in zip(*map(_figures, found), strict=True))
    print(f"\n{states:,} states, {runs:,} runs, {broken} broken promises, {time.monotonic() - began:.0f} s")
    return 1 if broken else 0


def _look_for_bugs(pool: Executor, names: Sequence[str], worlds: Sequence[str]) -> int:
    found = list(pool.map(partial(_find_bug, worlds=worlds), names))
    for name, where in zip(names, found, strict=True):
        print(f"{name}: {where or 'NOT FOUND'}")
    print(f"\n{sum(map(bool, found))} of {len(names)} bugs found")
    return 0 if all(found) else 1


def _find_bug(name: str, worlds: Sequence[str]) -> str:
    """Where a bug that is put back is found, with one event in each world, then with two; "" for nowhere."""
    gc.set_threshold(*RARELY)
    with put_back(name):
        for events in (1, 2):
            for world in worlds:
                found = explore(replace(SETTINGS[world], most_events=events), until_broken=True)
                if found.story:
                    return f"{world}, {events} events, {found.runs:,} runs: promise {found.story[0]}"
    return ""


def _explored(name: str, events: int | None) -> Explored:
    gc.set_threshold(*RARELY)
    setting = SETTINGS[name]
    return explore(replace(setting, most_events=events or setting.most_events))


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
        print(f"  promise {first}")
        print(*lines, sep="\n", flush=True)


def _show_rules(found: list[Explored]) -> None:
    rules: Counter[str] = Counter()
    for each in found:
        rules.update(each.rules)
    print("\nhow often each rule decided:")
    for rule in Rule:
        print(f"  {rules[rule.name]:9,}  {rule.name}")
    never = [rule.name for rule in Rule if not rules[rule.name]]
    print(f"rules that never decided: {', '.join(never) or 'none'}")


if __name__ == "__main__":
    sys.exit(main())
