# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Explore the small worlds, and print what was found; fails if a promise was broken."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.rules import Rule
from ansible_collections.oceanbase.ocp.tests.explore.explorer import Explored, explore
from ansible_collections.oceanbase.ocp.tests.explore.settings import SETTINGS


def main() -> int:
    """The exit code: 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="make explore")
    parser.add_argument("--world", choices=sorted(SETTINGS), help="only this one")
    wanted = parser.parse_args().world
    began = time.monotonic()
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(explore, [SETTINGS[wanted]] if wanted else SETTINGS.values()))
    rules: Counter[str] = Counter()
    for each in found:
        rules.update(each.rules)
        _show(each)
    print("\nhow often each rule decided:")
    for rule in Rule:
        print(f"  {rules[rule.name]:9,}  {rule.name}")
    states, runs, broken = (sum(column) for column in zip(*map(_figures, found), strict=True))
    print(f"\n{states:,} states, {runs:,} runs, {broken} broken promises, {time.monotonic() - began:.0f} s")
    return 1 if broken else 0


def _figures(found: Explored) -> tuple[int, int, int]:
    return found.states, found.runs, sum(found.breaks.values())


def _show(found: Explored) -> None:
    states, runs, broken = _figures(found)
    print(f"{found.setting.name}: {states:,} states, {runs:,} runs, depth {found.depth}, {broken} broken promises")
    if found.story:
        first, lines = found.story
        print(f"  promise {first.promise}: {first.words}")
        print(*lines, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
