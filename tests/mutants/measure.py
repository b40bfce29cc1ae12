# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which test runs which line of the deciding code, and how long it takes; measured once and kept."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import coverage
import pytest
from _pytest.runner import runtestprotocol
from ansible_collections.oceanbase.ocp.tests.mutants.keys import FILES, ROOT


def digest(*paths: Path) -> str:
    """Of the contents of files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


@dataclass
class Measured:
    """For each test its seconds of a processor, and the lines that it runs of each file; ``failed`` do not count."""

    code: str = field(default_factory=lambda: digest(*(ROOT / file for file in FILES)))
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    @classmethod
    def kept(cls, path: Path) -> Measured:
        """What was measured before of the same code, or nothing."""
        now = cls()
        if not path.exists():
            return now
        found = json.loads(path.read_text())
        if found["code"] != now.code:
            return now
        return cls(found["code"], found["seconds"], found["lines"], set(found["failed"]))

    def keep(self, path: Path) -> None:
        """Write it."""
        path.write_text(json.dumps({**self.__dict__, "failed": sorted(self.failed)}))

    def add(self, other: Measured) -> None:
        """Add what was measured of other tests."""
        self.seconds.update(other.seconds)
        self.lines.update(other.lines)
        self.failed |= other.failed

    def running(self, file: str, lines: Collection[int] = ()) -> list[str]:
        """The tests that run one of these lines, or any of a file; the quickest first."""
        found = [test for test, files in self.lines.items() if file in files and test not in self.failed]
        if lines:
            found = [test for test in found if any(line in lines for line in self.lines[test][file])]
        return sorted(found, key=lambda test: self.seconds[test])


def measure(items: Sequence[pytest.Item]) -> Measured:
    """Run tests, and see which lines they run."""
    found = Measured()
    paths = {str(ROOT / file): file for file in FILES}
    tracer = coverage.Coverage(data_file=None, include=list(paths), config_file=False)
    tracer.start()
    for number, item in enumerate(items):
        tracer.switch_context(str(number))
        began = time.process_time()
        if not passes(item, items[number + 1 : number + 2]):
            found.failed.add(item.nodeid)
        found.seconds[item.nodeid] = round(time.process_time() - began, 4)
        found.lines[item.nodeid] = {}
    tracer.stop()
    data = tracer.get_data()
    for path in data.measured_files():
        for line, tests in data.contexts_by_lineno(path).items():
            for test in filter(None, tests):
                found.lines[items[int(test)].nodeid].setdefault(paths[str(Path(path).resolve())], []).append(line)
    return found


def passes(item: pytest.Item, following: Iterable[pytest.Item]) -> bool:
    """Run one test, and whether it passed or was skipped; ``following`` has the next one, which may share fixtures."""
    reports = runtestprotocol(item, log=False, nextitem=next(iter(following), None))
    return not any(report.failed for report in reports)
