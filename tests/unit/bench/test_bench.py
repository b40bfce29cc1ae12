# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parts of the benchmarks that can go wrong unseen: what they measure on, and how they print it."""

import runpy
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.slow
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


@pytest.fixture
def load(monkeypatch):
    """The names of a file of the benchmarks, which imports its neighbours."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(BENCH)
    yield lambda name: runpy.run_path(str(BENCH / f"{name}.py"))
    for name in (set(sys.modules) - known) & {path.stem for path in BENCH.glob("*.py")}:
        del sys.modules[name]


def test_only_running_restarts_are_made_in_a_fleet_as_large_as_they_need(load, tmp_path):
    ids = load("seeded")["start"](tmp_path / "state.db", 30)
    db = sqlite3.connect(tmp_path / "state.db")
    assert db.execute("SELECT kind, status, count(*) FROM tasks GROUP BY kind, status").fetchall() == [
        ("SERVER_RESTART", "RUNNING", 30)
    ]
    assert len(set(ids)) == 30
    db.close()


def test_a_cost_is_the_median_of_each_figure_and_time_beyond_that_of_another(load):
    names = load("measured")
    cost = names["Cost"]
    middle = names["median"]([cost(1.0, 9.0, 50.0), cost(2.0, 7.0, 70.0), cost(9.0, 8.0, 60.0)])
    assert middle == cost(2.0, 8.0, 60.0)
    assert middle.beyond(cost(0.5, 6.0, 40.0)) == cost(1.5, 2.0, 60.0)


def test_the_processor_time_of_what_a_command_starts_is_part_of_its_cost(load, tmp_path):
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}], check=True)\nprint('done')"
    cost = load("measured")["measured"]([sys.executable, "-c", parent], {}, tmp_path / "output.txt")
    assert (tmp_path / "output.txt").read_text() == "done\n"
    assert cost.cpu >= 0.3
    assert 1 < cost.memory < 1_000


def test_a_command_that_fails_is_an_error_with_what_it_printed(load, tmp_path):
    with pytest.raises(RuntimeError, match="out of order"):
        load("measured")["measured"]([sys.executable, "-c", "exit('out of order')"], {}, tmp_path / "output.txt")


def test_a_call_costs_its_share_of_what_is_beyond_the_empty_play(load):
    names = load("bench_calls")
    cost = load("measured")["Cost"]
    call = names["per_call"](cost(3.5, 2.0, 80.0), cost(0.5, 0.5, 60.0))
    assert (call.wall, call.cpu, call.memory) == (100.0, 50.0, 80.0)


def test_the_instant_at_which_a_play_went_on_is_read_from_its_output(load):
    printed = 'ok: [localhost] => {\n    "msg": "went on at 1795263600.25"\n}\n'
    assert load("bench_wait")["went_on"](printed) == 1795263600.25


def test_the_longest_restart_is_told_by_the_times_of_the_tasks(load):
    tasks = [
        {"startTime": "2026-05-04T03:00:00.000+08:00", "finishTime": "2026-05-04T03:00:10.250+08:00"},
        {"startTime": "2026-05-04T03:00:05.000+08:00", "finishTime": "2026-05-04T03:00:15.000+08:00"},
    ]
    assert load("bench_fleet")["longest"](tasks) == 10.25


def test_the_restarts_of_a_rolling_restart_are_counted_by_their_own_times(load):
    task = {"startTime": "2026-05-04T03:00:00.000+08:00", "finishTime": "2026-05-04T03:00:02.500+08:00"}
    names = load("bench_rolling")
    assert names["restart_seconds"]([task] * names["SERVERS"]) == 2.5 * names["SERVERS"]
    with pytest.raises(RuntimeError, match="1 tasks, not 24"):
        names["restart_seconds"]([task])


def test_the_first_poll_is_told_apart_from_the_others(load):
    polls = [{"requests": 9, "cpu": 90.0, "emulator": 50.0}]
    polls += [{"requests": 1, "cpu": cpu, "emulator": 4.0} for cpu in (2.0, 3.0, 100.0)]
    row = load("bench_await")["figures"]({"polls": polls, "waiting": 60.0, "end": 80.0})
    assert row == (1, 3.0, 4.0, 9, 90.0, 60.0, 80.0)
