# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which URLs name a journal, what is told of the others, and that no message shows a password."""

from __future__ import annotations

import sys

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.journal_url import NamedDatabase
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import closed_port
from sqlalchemy.exc import OperationalError

SECRET = "s3cret-wOrd"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "this is not the URL of a database"),
        (f"postgresql://ops:{SECRET}@db:port/ocp", "this is not the URL of a database"),
        (f"oracle://ops:{SECRET}@db/ocp", "databases of the kind oracle cannot be used"),
        (f"postgresql://ops:p@{SECRET}@db/ocp", "an @ in the user name or password has to be written as %40"),
        (f"mysql://ops:{SECRET}@db", "the name of the database is missing"),
        ("sqlite://", "the name of the database is missing"),
    ],
)
def test_url_that_names_no_database_is_refused(url, words):
    with pytest.raises(OptionError) as raised:
        NamedDatabase(url)
    assert str(raised.value).startswith(f"journal_url: {words}. Give ")
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "module", "library"),
    [
        ("sqlite:////tmp/journal.db", "sqlalchemy", "SQLAlchemy"),
        (f"postgresql://ops:{SECRET}@db/ocp", "psycopg", "psycopg"),
        (f"mysql://ops:{SECRET}@db/ocp", "pymysql", "PyMySQL"),
        (f"mariadb://ops:{SECRET}@db/ocp", "pymysql", "PyMySQL"),
    ],
)
def test_missing_library_is_told(url, module, library, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(OptionError) as raised:
        NamedDatabase(url)
    words = str(raised.value)
    assert words.startswith(f"journal_url: {library} cannot be imported: ")
    assert words.endswith(
        f" Give {sys.executable} the libraries SQLAlchemy and psycopg (for PostgreSQL) or PyMySQL (for MySQL and "
        "MariaDB)."
    )
    assert SECRET not in words


def test_error_shows_neither_user_nor_password():
    port = closed_port()
    database = NamedDatabase(f"mysql://ops:{SECRET}@127.0.0.1:{port}/ocp")
    with pytest.raises(OperationalError) as raised:
        database.engine.connect()
    words = str(database.error(raised.value))
    assert words.startswith(
        f"The journal ocp on 127.0.0.1:{port} (mysql) cannot be used: Can't connect to MySQL server on "
    )
    assert words.endswith(
        " Look whether the database runs, and whether this user may create, read and change tables there."
    )
    assert SECRET not in words


@pytest.mark.parametrize("query", ["", "?password={}", "?sslpassword={}"])
def test_secret_in_an_error_is_masked(query):
    user = "ops" if query else f"ops:{SECRET}"
    database = NamedDatabase(f"mysql://{user}@127.0.0.1/ocp{query.format(SECRET)}")
    words = str(database.error(RuntimeError(f"Access denied with {SECRET}\nmore")))
    assert words.startswith("The journal ocp on 127.0.0.1 (mysql) cannot be used: Access denied with ********. Look ")


def test_url_that_the_library_refuses_is_refused():
    with pytest.raises(OptionError, match=r"^journal_url: this URL cannot be used\. Give "):
        NamedDatabase(f"sqlite://ops:{SECRET}@db/ocp")


def test_known_driver_is_used_whatever_the_url_names():
    assert NamedDatabase("mysql+mysqldb://db/ocp").engine.driver == "pymysql"
