# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parts of the benchmarks that can go wrong unseen: what they measure on, and how they print it."""

import runpy
import sqlite3
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"


def test_the_database_has_as_many_tasks_as_asked_for_and_those_that_run_have_just_begun(tmp_path):
    fill = runpy.run_path(str(BENCH / "seeded.py"))["fill"]
    ids = fill(tmp_path / "state.db", 400, 25)
    db = sqlite3.connect(tmp_path / "state.db")
    assert db.execute("SELECT count(*) FROM tasks").fetchone() == (400,)
    running = db.execute("SELECT id, kind, start_time FROM tasks WHERE status = 'RUNNING' ORDER BY id").fetchall()
    assert [number for number, _kind, _start in running] == ids
    assert len(ids) == 25
    assert {kind for _number, kind, _start in running} == {"SERVER_RESTART"}
    assert len({start for _number, _kind, start in running}) == 1
    kinds = {kind for (kind,) in db.execute("SELECT kind FROM tasks")}
    assert kinds >= {"SERVER_RESTART", "SERVER_STOP", "CLUSTER_RESTART", "ZONE_RESTART", "AGENT_RESTART"}
    operations = {operation for (operation,) in db.execute("SELECT operation FROM tasks")}
    assert operations == {"EXECUTE", "RETRY", "ROLLBACK"}
    db.close()


def test_a_table_has_its_columns_under_each_other():
    table = runpy.run_path(str(BENCH / "table.py"))["table"]
    lines = list(table(("way", "median"), [("one", 12.34), ("another", 5)]))
    assert lines == ["way      median", "one        12.3", "another       5"]


def test_an_unknown_benchmark_is_named():
    run = subprocess.run([sys.executable, BENCH, "speed"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("There is no benchmark 'speed'; there are: ")
    assert "load" in run.stderr
