# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""`make check-all`: its table, its log, and what counts as passed; and what `make eda` says without Java."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
MAKEFILE = """\
good:
\t@echo well
bad:
\t@echo NOT RUN of anything; exit 1
lacking:
\t@echo "NOT RUN: needs a thing"; exit 1
boasting:
\t@echo "NOT RUN: but it succeeds"
"""


@pytest.fixture
def check_all(tmp_path, monkeypatch):
    """Run targets of the Makefile above; returns the exit code, the lines, and those of the log."""
    # The make that runs this test may have variables, such as PYTHON.
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    (tmp_path / "Makefile").write_text(MAKEFILE)

    def run(*targets):
        words = [sys.executable, REPOSITORY / "tools/check-all", *targets]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), (tmp_path / ".build/check-all.log").read_text().splitlines()

    return run


def test_table_has_every_target_with_time_and_outcome(check_all):
    code, [*lines, _place], log = check_all("good", "bad", "lacking", "boasting")
    assert code == 1
    assert lines == log
    head, *rows, total = lines[lines.index("== make boasting") + 2 :]
    assert head == lines[0]
    assert re.match(r"check-all of (\w{40}|no commit)( with changes)?, Python 3\.\d+\.\d+, \d+ cores$", head)
    assert [re.fullmatch(r"  (\w+) +0:0\d  (.+)", row).groups() for row in rows] == [
        ("good", "passed"),
        ("bad", "FAILED"),
        ("lacking", "NOT RUN: needs a thing"),
        ("boasting", "passed"),
    ]
    assert total == "2 passed, 1 FAILED, 1 NOT RUN, in 0 minutes"


def test_head_tells_the_variables_that_make_was_given(check_all, monkeypatch):
    monkeypatch.setenv("MAKEFLAGS", " -j2 -- RUNS=3000 FLEETS=60")
    assert check_all("good")[1][0].endswith(" cores, RUNS=3000 FLEETS=60")


def test_jobs_of_the_make_around_it_add_no_line(check_all, monkeypatch):
    monkeypatch.setenv("MAKEFLAGS", " -j2 --jobserver-auth=3,4 -Otarget")
    assert check_all("good")[1][1:3] == ["== make good", "well"]


@pytest.mark.parametrize(("targets", "code"), [(["good"], 0), (["bad", "good"], 1), (["good", "lacking"], 0)])
def test_only_a_failure_fails(check_all, targets, code):
    assert check_all(*targets)[0] == code


def simulations(*words):
    """The options of the simulation that `make simulate-much` would run first."""
    command = ["make", "--dry-run", "--no-print-directory", "simulate-much", *words]
    shown = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    return re.findall(r"--runs (\d+) *\\?\s+--seed (\d+)", shown)[0], "--names-alone" in shown


def test_each_night_simulates_from_a_new_seed():
    nights = [simulations() for _night in range(3)]
    assert {(runs, names_alone) for (runs, _seed), names_alone in nights} == {("20000", True)}
    assert len({seed for (_runs, seed), _names_alone in nights}) > 1


def test_a_night_can_be_repeated_and_made_longer():
    assert simulations("SEED=7", "RUNS=100000") == (("100000", "7"), True)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ('openjdk version "17.0.15" 2025-04-15', None),
        ('openjdk version "21" 2023-09-19', None),
        ('java version "1.8.0_392"', "java is version 1;"),
        ('openjdk version "11.0.20" 2023-07-18', "java is version 11;"),
        (None, "java is missing;"),
    ],
)
def test_java_that_is_missing_or_old_is_told(version, said, tmp_path):
    for name in ("sh", "head", "expr", "echo"):
        (tmp_path / name).symlink_to(
            next(path for path in map(Path, os.get_exec_path()) if (path / name).exists()) / name
        )
    if version:
        (tmp_path / "java").write_text(f"#!/bin/sh\necho '{version}' >&2\necho more >&2\n")
        (tmp_path / "java").chmod(0o755)
    words = [tmp_path / "sh", REPOSITORY / "tools/find-java"]
    done = subprocess.run(words, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if said else 0), done.stderr
    assert done.stdout.startswith("NOT RUN: ansible-rulebook needs Java 17 or newer, ") is bool(said)
    assert (said or "") in done.stdout
