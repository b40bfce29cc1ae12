# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a database keeps, and when it is refused."""

import sqlite3
import stat

import pytest
from ocp_emulator.fleet.generate_fleet import default_fleet, generated_fleet
from ocp_emulator.store.database import Store, StoreError


def restarted(emulated, start, database, **settings):
    """The emulator on the same database again, as after its process has ended."""
    emulated.app.state.service.close()
    return start(database=database, **settings)


def test_tasks_resume_after_a_restart_and_the_downtime_counts(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database)
    task_id = emulated.restart_server(2)["id"]
    emulated.pass_time(3.5)
    before = emulated.task(task_id)

    again = restarted(emulated, start, database)
    assert again.task(task_id) == before
    assert again.server(2)["operatingTaskInstanceId"] == task_id
    again.error(409, "POST", "/api/v2/ob/clusters/1/restart")

    again.app.state.service.close()
    again.pass_time(5)
    third = start(database=database)
    done = [step["status"] for step in third.steps(task_id)].count("SUCCESSFUL")
    assert done == 8
    third.pass_time(5)
    assert third.task(task_id)["status"] == "SUCCESSFUL"


def test_started_task_keeps_its_step_duration(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database)
    first = emulated.restart_server(2)["id"]
    again = restarted(emulated, start, database, step_ms=100)
    second = again.restart_server(3)["id"]
    again.pass_time(1.3)
    assert [again.task(number)["status"] for number in (first, second)] == ["RUNNING", "SUCCESSFUL"]
    again.pass_time(11.7)
    assert again.task(first)["status"] == "SUCCESSFUL"


def test_ids_are_not_reused_after_a_restart(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database)
    first = emulated.restart_server(2)
    again = restarted(emulated, start, database)
    second = again.restart_server(3)
    assert second["id"] > first["id"]
    assert min(step["id"] for step in second["subtasks"]) > max(step["id"] for step in first["subtasks"])


def test_a_database_keeps_its_fleet(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database, fleet=generated_fleet(2, 1, 1))
    for fleet in (None, generated_fleet(2, 1, 1)):
        emulated = restarted(emulated, start, database, fleet=fleet)
        assert [cluster["name"] for cluster in emulated.get("/api/v2/ob/clusters")["contents"]] == [
            "cluster1",
            "cluster2",
        ]
    with pytest.raises(StoreError, match="another fleet"):
        restarted(emulated, start, database, fleet=default_fleet())


def test_database_file_is_private_to_its_owner(tmp_path):
    database = tmp_path / "state.db"
    store = Store(database, None, 0)
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    store.close()


def test_a_database_belongs_to_one_emulator_at_a_time(tmp_path):
    first = Store(tmp_path / "state.db", None, 0)
    with pytest.raises(StoreError, match="another process"):
        Store(tmp_path / "state.db", None, 0)
    first.close()
    Store(tmp_path / "state.db", None, 0).close()


def test_unusable_database_file_is_refused(tmp_path):
    with pytest.raises(StoreError, match="cannot be written"):
        Store(tmp_path / "no" / "such" / "folder", None, 0)
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path, None, 0)
    (tmp_path / "text").write_text("nothing of the kind " * 100)
    with pytest.raises(StoreError, match="not a database"):
        Store(tmp_path / "text", None, 0)
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE notes (text TEXT)")
    foreign.close()
    with pytest.raises(StoreError, match="not made by this version"):
        Store(tmp_path / "foreign.db", None, 0)


def test_a_transaction_is_all_or_nothing():
    store = Store(None, None, 0)
    with pytest.raises(RuntimeError), store.transaction() as db:
        db.execute("DELETE FROM users")
        raise RuntimeError
    assert [user.name for user in store.users()] == ["admin", "viewer"]
    with store.transaction() as db:
        db.execute("DELETE FROM access_keys")
    assert store.access_keys() == []
    store.close()
