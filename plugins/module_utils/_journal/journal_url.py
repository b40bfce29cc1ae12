# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which databases ``journal_url`` may name, with which libraries, and how their errors are told without a password."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._base.censor import Censor
from .._base.errors import JournalError, OptionError
from .._base.text import one_line

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

# Seconds.
CONNECT_TIMEOUT = 10
ANSWER_TIMEOUT = 20
_UTC_IN_MYSQL = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000.0"
_TIMEOUTS_OF_MYSQL = {
    "connect_timeout": CONNECT_TIMEOUT,
    "read_timeout": ANSWER_TIMEOUT,
    "write_timeout": ANSWER_TIMEOUT,
}
ACCEPTED = "Give one like postgresql://user:password@host:5432/database; others begin with mysql, mariadb or sqlite."


@dataclass(frozen=True)
class Database:
    """How a kind of database is used.

    ``clock`` selects the seconds since 1970, ``options`` are those of a connection, ``begin`` is executed at the start
    of each transaction that writes. ``long_text`` is the type of texts of more than 64 KiB.
    """

    driver: str
    library: str
    clock: str
    options: dict[str, Any]
    begin: tuple[str, ...] = ()
    long_text: str = "TEXT"


_MYSQL = Database(
    "pymysql",
    "PyMySQL",
    _UTC_IN_MYSQL,
    # Otherwise a text that is too long may be cut.
    {**_TIMEOUTS_OF_MYSQL, "sql_mode": "STRICT_ALL_TABLES"},
    long_text="MEDIUMTEXT",
)
DATABASES = {
    "postgresql": Database(
        "psycopg",
        "psycopg",
        "SELECT EXTRACT(EPOCH FROM clock_timestamp())",
        {
            "connect_timeout": CONNECT_TIMEOUT,
            "tcp_user_timeout": ANSWER_TIMEOUT * 1000,
            # Of a database without an encoding the library gives bytes.
            "client_encoding": "utf8",
            # A pool in between may give each transaction another connection.
            "prepare_threshold": None,
        },
        (
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            f"SET LOCAL lock_timeout = {ANSWER_TIMEOUT * 1000}",
            f"SET LOCAL idle_in_transaction_session_timeout = {ANSWER_TIMEOUT * 1000}",
        ),
    ),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlite": Database(
        "pysqlite",
        "sqlite3",
        "SELECT (julianday('now') - 2440587.5) * 86400.0",
        {"timeout": CONNECT_TIMEOUT, "isolation_level": None},
        ("BEGIN IMMEDIATE",),
    ),
}


class NamedDatabase:
    """The database that ``journal_url`` names. Raises OptionError if it cannot be one, or a library is missing."""

    def __init__(self, text: str) -> None:
        self._url = _parsed(text)
        self.kind = DATABASES[self._url.get_backend_name()]
        hidden = [value for key, value in self._url.query.items() if "pass" in key.lower()]
        self._censor = Censor([str(secret) for secret in (self._url.password, *hidden) if secret])
        self.engine = self._engine()

    @property
    def place(self) -> str:
        """Where it is, without user and password."""
        url, kind = self._url, self._url.get_backend_name()
        port = f":{url.port}" if url.port else ""
        # Not as a URL: Ansible would hide one that is the same as the option.
        host = f" on {url.host}{port}" if url.host else ""
        return f"{url.database}{host} ({kind})"

    @property
    def exists(self) -> bool:
        """Whether it is there, as far as that is known: SQLite makes a file that is missing."""
        return self._url.get_backend_name() != "sqlite" or Path(self._url.database or "").exists()

    def error(self, error: BaseException) -> JournalError:
        """What people are told of an error of the database."""
        cause = getattr(error, "orig", None) or error
        words = str(cause.args[-1] if cause.args else cause).strip().split("\n", maxsplit=1)[0].rstrip(".")
        told = self._censor.clean(one_line(words) or type(cause).__name__)
        return JournalError(
            f"The journal {self.place} cannot be used: {told}. Look whether the database runs, and whether "
            "this user may create, read and change tables there."
        )

    def _engine(self) -> Engine:
        from sqlalchemy import NullPool, create_engine
        from sqlalchemy.exc import SQLAlchemyError

        options = {key: value for key, value in self.kind.options.items() if key not in self._url.query}
        # Whatever driver is named, since each has options of its own.
        url = self._url.set(drivername=f"{self._url.get_backend_name()}+{self.kind.driver}")
        try:
            # Each transaction has its own connection, so threads and forked processes need not know of each other.
            return create_engine(url, poolclass=NullPool, connect_args=options)
        except ImportError as error:
            raise _missing(self.kind.library, error) from error
        except SQLAlchemyError as error:
            raise OptionError(f"journal_url: this URL cannot be used. {ACCEPTED}") from error


def _parsed(text: str) -> URL:
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise _missing("SQLAlchemy", error) from error
    try:
        url = make_url(text)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        # Its text may have a part of the password.
        raise OptionError(f"journal_url: this is not the URL of a database. {ACCEPTED}") from None
    if backend not in DATABASES:
        raise OptionError(f"journal_url: databases of the kind {backend} cannot be used. {ACCEPTED}")
    if "@" in (url.host or ""):
        raise OptionError("journal_url: an @ in the user name or password has to be written as %40. Give it so.")
    if not url.database:
        raise OptionError(f"journal_url: the name of the database is missing. {ACCEPTED}")
    return url


def _missing(library: str, error: ImportError) -> OptionError:
    return OptionError(
        f"journal_url: {library} cannot be imported: {one_line(error)}. Give {sys.executable} the libraries SQLAlchemy "
        "and psycopg (for PostgreSQL) or PyMySQL (for MySQL and MariaDB)."
    )
