# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether the search finds the known defects, each put back in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from ansible_collections.oceanbase.ocp.tests.fuzz.cases import KINDS
from ansible_collections.oceanbase.ocp.tests.fuzz.defects import DEFECTS
from ansible_collections.oceanbase.ocp.tests.fuzz.drive import catalogue
from ansible_collections.oceanbase.ocp.tests.fuzz.search import ROUND, Search, check_undisturbed

# As many as a search of ten minutes runs.
MOST_CASES = 8_000


def find_defects(seed: int, words: Sequence[str]) -> int:
    """Look for each defect with one of the ``words`` in its name, or for each one, as many at once as there are cores.

    Prints a line for each; the exit code is 1 if one was not found.
    """
    wanted = [name for name in DEFECTS if not words or any(word in name for word in words)]
    print(f"fuzz: {len(wanted)} defects, seed {seed}", flush=True)
    missed = 0
    with ProcessPoolExecutor(mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for search in as_completed([pool.submit(find_defect, name, seed) for name in wanted]):
            found, line = search.result()
            missed += not found
            print(line, flush=True)
    return int(missed > 0)


def find_defect(name: str, seed: int) -> tuple[bool, str]:
    """Put a defect back and look for it. Returns whether it was found, and a line that says how."""
    catalogue()
    search, began = Search(shrinks=False), time.monotonic()
    with DEFECTS[name]():
        # It bites only if the service is hostile; otherwise the patch is broken, or no longer a defect.
        check_undisturbed(KINDS)
        for ahead in range(MOST_CASES // ROUND):
            if search.found is None:
                search.look(seed + ahead, ROUND)
    outcome = f"{search.found.case.kind}: {_headline(search.found.finding)}" if search.found else "NOT FOUND"
    line = f"  {search.ran.total():5} cases {time.monotonic() - began:6.1f} s  {name}: {outcome}"
    return bool(search.found), line


def _headline(finding: Exception) -> str:
    lines = str(finding).strip().splitlines()
    return (lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}")[:160]
