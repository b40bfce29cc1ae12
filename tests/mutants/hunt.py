# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Looks for a test that each mutant fails: all tests are collected once, then each mutant has a process of its own."""

from __future__ import annotations

import gc
import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.tests.mutants.draw import Mutant
from ansible_collections.oceanbase.ocp.tests.mutants.keys import KEPT, Key, Outcome
from ansible_collections.oceanbase.ocp.tests.mutants.measure import Measured, measure, passes
from ansible_collections.oceanbase.ocp.tests.mutants.put_in import functions_there, put_in_place, put_into_import

MEASURED = KEPT / "measured.json"
UNIT = Path("tests/unit")
PACKAGES = ("_restart", "_safety", "_health", "_signs", "_waiting", "_journal")
# What tests the rules and their parts.
TESTS = (
    *(f"{UNIT}/plugins/module_utils/{each}" for each in PACKAGES),
    f"{UNIT}/test_decision_table.py",
)
# As `make unit`, but with properties that hypothesis tries.
OPTIONS = (
    *("-q", "--capture=sys", "-p", "no:schemathesis", "-p", "no:anyio", "-p", "no:xdist", "-p", "no:pytest_cov"),
    *("-p", "no:logging", "-o", "timeout=0", "-m", "not nightly and not slow"),
)
# Seconds of a processor that one test may take, and by how much more than without the mutant.
MOST, FACTOR = 4.0, 10
# Seconds by the clock that one test may take, after which the mutant counts as not tried: it may wait for itself, or
# the machine may be busy. Bytes that a process may use.
SILENCE, MEMORY = 1800, 4 * 2**30
SURVIVED, KILLED, AGAIN = 0, 1, 2


class Hunt:
    """A plugin for pytest that hunts ``mutants`` instead of running the tests, and tells each outcome to ``tell``.

    A mutant that no test has killed within ``budget`` seconds of tests, without it, is said to have survived.
    """

    def __init__(self, mutants: Sequence[Mutant], tell: Callable[[Outcome], None], workers: int, budget: float) -> None:
        self._mutants = mutants
        self._tell = tell
        self._workers = workers
        self._budget = budget
        # Tests by how lately they have killed a mutant of a definition, and of a file.
        self._killers: dict[tuple[str, str], list[str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Hunt them."""
        self._items = {item.nodeid: item for item in session.items}
        self._measured = self._measure(session)
        functions = functions_there()
        # The collector would copy the memory that processes share.
        gc.freeze()
        queue = iter(self._mutants)
        running: dict[int, _Child] = {}
        while True:
            while len(running) < self._workers and (mutant := next(queue, None)) is not None:
                child = self._start(mutant, functions)
                running[child.process] = child
            if not running:
                return True
            process, status, usage = os.wait4(-1, 0)
            child = running.pop(process)
            outcome = child.outcome(status, usage.ru_utime + usage.ru_stime)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
                print(f"not tried, since a test took {SILENCE} seconds: {outcome.key}", flush=True)
                continue
            if outcome.killed and outcome.by in self._items:
                for name in ((outcome.key.file, outcome.key.definition), (outcome.key.file, "")):
                    killers = self._killers.setdefault(name, [])
                    killers[:] = [outcome.by, *(each for each in killers if each != outcome.by)]
            self._tell(outcome)

    def _measure(self, session: pytest.Session) -> Measured:
        KEPT.mkdir(parents=True, exist_ok=True)
        found = Measured.kept(MEASURED)
        new = [item for item in session.items if item.nodeid not in found.seconds]
        share = -(-len(new) // self._workers) or 1
        parts = [new[start : start + share] for start in range(0, len(new), share)]
        children = [_fork(lambda out, part=part: _tell_measured(out, part)) for part in parts]
        for child in children:
            os.waitpid(child.process, 0)
            part = Measured.kept(child.out)
            found.add(part)
        if new:
            found.keep(MEASURED)
            print(f"{len(new)} tests measured, {sum(found.seconds[item.nodeid] for item in new):.0f} s", flush=True)
        for test in sorted(found.failed & self._items.keys()):
            print(f"fails without a mutant: {test}", flush=True)
        return found

    def _start(self, mutant: Mutant, functions: dict) -> _Child:
        file, name = mutant.key.file, mutant.key.definition
        tests = self._measured.running(file, mutant.lines)
        known = [*self._killers.get((file, name), ()), *self._killers.get((file, ""), ())]
        killers = [each for each in dict.fromkeys(known) if each in tests][:8]
        direct = [test for test in tests if _is_direct(test, file)]
        tests = [test for test in dict.fromkeys([*killers, *direct, *tests]) if test in self._items]
        chosen, seconds = [], 0.0
        for test in tests:
            seconds += self._measured.seconds[test]
            if seconds > self._budget and chosen:
                break
            chosen.append(test)
        items = [self._items[test] for test in chosen]
        limits = [max(MOST, FACTOR * self._measured.seconds[test]) for test in chosen]

        def hunt(out: Path) -> int:
            if put_in_place(mutant, functions):
                return _first_failure(out, items, limits)
            return _import_and_run(out, mutant, self._measured)

        return _fork(hunt, mutant.key)


def _is_direct(test: str, file: str) -> bool:
    return Path(test.split("::")[0]).name == f"test_{Path(file).stem}.py"


@dataclass(frozen=True)
class _Child:
    process: int
    folder: Path
    key: Key | None = None

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def outcome(self, status: int, seconds: float) -> Outcome:
        """What a process has found that has ended with this status."""
        told = self.out.read_text().splitlines() if self.out.exists() else []
        shutil.rmtree(self.folder, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        last = told[-1] if told else ""
        by = "" if code == SURVIVED else last if code == KILLED else f"ended by {code} in {last}"
        return Outcome(self.key, code != SURVIVED, by, len(told), round(seconds, 2))


def _fork(work: Callable[[Path], int], key: Key | None = None) -> _Child:
    """Do this work in a process of its own, with a temporary folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="mutant-"))
    process = os.fork()
    if process:
        return _Child(process, folder, key)
    code = 3
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1) if os.environ.get("MUTANTS_SHOW") else (0, 1, 2):
            os.dup2(null, stream)
        tempfile.tempdir = str(folder)
        os.environ["TMPDIR"] = str(folder)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        code = work(folder / "out")
    finally:
        os._exit(code)


def _tell_measured(out: Path, items: Sequence[pytest.Item]) -> int:
    _own_folder(items, out.parent)
    measure(items).keep(out)
    return SURVIVED


def _first_failure(out: Path, items: Sequence[pytest.Item], limits: Iterable[float]) -> int:
    _own_folder(items, out.parent)
    with out.open("w", buffering=1) as told:
        for number, (item, limit) in enumerate(zip(items, limits, strict=True)):
            print(item.nodeid, file=told)
            _limit(limit)
            if not passes(item, items[number + 1 : number + 2]):
                return KILLED
    return SURVIVED


def _own_folder(items: Sequence[pytest.Item], folder: Path) -> None:
    """Where tests write, as those of other processes do not."""
    if items:
        base = folder / "tests"
        base.mkdir()
        items[0].config._tmp_path_factory._basetemp = base


def _limit(seconds: float) -> None:
    """End this process if the next test takes longer by its processor, or much longer by the clock."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, SILENCE)


def _import_and_run(out: Path, mutant: Mutant, measured: Measured) -> int:
    """Import the collection anew with the mutant, and run the tests of its file, then all others."""
    put_into_import(mutant)
    files = _test_files(mutant.key.file, measured)
    first = [file for file in files if _is_direct(file, mutant.key.file)] or files[:1]
    for chosen in (first, [file for file in files if file not in first]):
        if not chosen:
            continue
        reporter = _Reporter(out)
        code = pytest.main([*OPTIONS, "-x", f"--basetemp={out.parent}/tests", *chosen], plugins=[reporter])
        if code != pytest.ExitCode.OK:
            return KILLED
    return SURVIVED


def _test_files(file: str, measured: Measured) -> list[str]:
    """The files of tests, those first that run most of a file."""
    runs: dict[str, int] = {}
    for test, lines in measured.lines.items():
        path = test.split("::")[0]
        runs[path] = runs.get(path, 0) + (file in lines)
    return sorted(runs, key=lambda path: -runs[path])


class _Reporter:
    def __init__(self, out: Path) -> None:
        self._out = out

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        with self._out.open("a") as told:
            print(nodeid, file=told)
        _limit(10 * MOST)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            with self._out.open("a") as told:
                print(f"the import of {report.nodeid}", file=told)
