# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The database file: whose it is, when it is refused, and its transactions."""

import sqlite3
import stat

import pytest
from ocp_emulator.store.database import SCHEMA_VERSION, Store, StoreError


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


def test_database_of_an_older_emulator_is_refused(tmp_path):
    store = Store(tmp_path / "state.db", None, 0)
    with store.transaction() as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(int(SCHEMA_VERSION) - 1),))
    store.close()
    with pytest.raises(StoreError, match="not made by this version"):
        Store(tmp_path / "state.db", None, 0)


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
