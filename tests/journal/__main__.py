# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Run the shared journal against a real PostgreSQL, a real MariaDB, and SQLite.

Databases are those of this machine; MariaDB may be that of Debian's packages, which are unpacked into a temporary
folder. What cannot be had is named, and is no failure unless ``--required`` names it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from databases import Database, Mariadb, NotHere, Postgresql, Sqlite
from scenarios import Outcome, crossings, kills, stops

CONTRACT = Path(__file__).parents[1] / "unit/plugins/module_utils/_journal/test_journal.py"
# Five lines that two controllers run, one of which is killed.
PLAYBOOKS = Path(__file__).parents[1] / "integration/test_change.py"
PACKAGES = Path(__file__).parents[2] / ".build/journal"


def main() -> int:
    """The exit code: 1 if anything was wrong, or if a database that is required cannot be had."""
    given = _arguments()
    kinds: dict[str, Callable[[Path], Database]] = {
        "postgresql": Postgresql,
        "mariadb": lambda folder: Mariadb(folder, PACKAGES),
        "sqlite": Sqlite,
    }
    wrong, missing = 0, []
    for name in given.only or kinds:
        with tempfile.TemporaryDirectory(prefix=f"ocp-journal-{name}-") as made:
            folder = Path(made)
            # The database runs as another user if this is root.
            folder.chmod(0o755)
            (folder / "database").mkdir()
            os.environ["ANSIBLE_HOME"] = str(folder / "home")
            database = kinds[name](folder / "database")
            try:
                database.start()
            except NotHere as error:
                database.stop()
                missing.append(f"{name}: not run, because {str(error).rstrip('.')}.")
                wrong += name in given.required
                continue
            try:
                wrong += _run_all(name, database, folder, given)
            finally:
                database.stop()
    print(*missing, sep="\n", end="\n" if missing else "")
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crossings", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--stops", type=int, default=5)
    parser.add_argument("--only", action="append", help="postgresql, mariadb or sqlite")
    parser.add_argument("--required", action="append", default=[], help="a database that has to be had")
    return parser.parse_args()


def _run_all(name: str, database: Database, folder: Path, given: argparse.Namespace) -> int:
    """How many scenarios went wrong."""
    wrong = 0
    for scenario, changes in ((crossings, given.crossings), (kills, given.kills), (stops, given.stops)):
        began = time.monotonic()
        outcome: Outcome = scenario(database, folder, changes)
        taken = time.monotonic() - began
        measured = f" ({outcome.measured})" if outcome.measured else ""
        counts = f"{outcome.changes} {outcome.name}, {len(outcome.wrong)} wrong"
        print(f"{name}: {counts}, {taken:.0f} s{measured}", flush=True)
        for words in outcome.wrong[:10]:
            print(f"  {words}")
        wrong += bool(outcome.wrong)
    command = [sys.executable, "-m", "pytest", "--quiet", "-k", "shared", *map(str, (CONTRACT, PLAYBOOKS))]
    done = subprocess.run(command, env={**os.environ, "OCP_TEST_JOURNAL_URL": database.url}, check=False)
    return wrong + (done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
