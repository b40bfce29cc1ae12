# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The journal of one controller: a file of SQLite in Ansible's folder and locks beside it; what is done without."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import JournalError
from .._base.private_folder import private_folder
from .._base.text import one_line
from .journal import Journal, acquire
from .journal_folder import FILE, ansible_home, is_local, journal_file
from .memory_journal import MemoryJournal
from .sqlite_run import sqlite_has_tables, sqlite_transaction
from .store import START_ANEW, Run, SqlJournal

# Seconds that a transaction waits for those of other processes.
BUSY_TIMEOUT = 10.0
WAYS_OUT = {
    sqlite3.SQLITE_BUSY: "Look which process holds it, and run this again.",
    sqlite3.SQLITE_CORRUPT: START_ANEW,
    sqlite3.SQLITE_FULL: "Give the disk more room.",
    sqlite3.SQLITE_NOTADB: START_ANEW,
}
ANOTHER_FOLDER = "Give it to this user alone, on a disk that can be written to, or set ANSIBLE_HOME to such a folder."
LOST = "This controller cannot remember what it restarts, so another run knows of it only what the service shows"


class LocalJournal(SqlJournal):
    """The journal in this folder. See ``Journal``.

    Each transaction has its own connection, so threads and forked processes need not know of each other.
    """

    def __init__(self, folder: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        super().__init__()
        self._file = folder / FILE
        self._clock = clock

    @property
    def place(self) -> str:
        """The path of its file."""
        return str(self._file)

    def prepare(self) -> None:
        if self._is_ready:
            return
        with self._explained():
            if not self._file.exists():
                self._file.touch(mode=0o600)
        super().prepare()
        # If another process uses the file now, a later one sets this.
        with self._explained(), closing(self._connection()) as connection, suppress(sqlite3.OperationalError):
            connection.execute(f"PRAGMA journal_mode = {'WAL' if is_local(self._file) else 'DELETE'}")

    @contextmanager
    def lock(self, names: Sequence[str], clock: Clock, timeout: float) -> Iterator[None]:
        """See ``Journal``. The kernel releases the locks of a process that is killed."""
        with ExitStack() as held:
            with self._explained():
                for digest in sorted(sha256(name.encode()).hexdigest()[:32] for name in set(names)):
                    attempt = partial(_lock, self._file.with_name(f"lock-{digest}"), held)
                    acquire(attempt, clock, timeout, holders="other restarts of this controller")
            yield

    def renew(self) -> None:
        """Nothing: a lock ends with who holds it."""

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Run]:
        with (
            self._explained(),
            closing(self._connection()) as connection,
            sqlite_transaction(connection, writes=writes) as run,
        ):
            yield run

    def _has_tables(self, run: Run) -> bool:
        return sqlite_has_tables(run)

    def _now(self, _run: Run) -> float:
        return self._clock.wall()

    def _connection(self) -> sqlite3.Connection:
        uri = f"{self._file.as_uri()}?{_mode(self._file)}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raises JournalError for an error of the file."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise _unusable(self._file, error) from error


def usable_journal(*, read_only: bool, is_required: bool, warnings: list[str], clock: Clock = SYSTEM_CLOCK) -> Journal:
    """The journal of this controller; with ``read_only`` a copy of it in memory, and nothing is written.

    If it cannot be written and is not ``is_required``, ``warnings`` gets a sentence, and the journal is a copy too.
    Raises JournalError if it is required; or if there is one that cannot be read, which may know of an open request.
    """
    journal = LocalJournal(journal_file().parent, clock)
    if read_only:
        return _copy(journal, clock)
    try:
        _make_folder(Path(journal.place))
        journal.prepare()
    except JournalError as error:
        if is_required:
            raise
        warnings.append(f"{LOST}: {error}")
        return _copy(journal, clock)
    return journal


def _copy(journal: LocalJournal, clock: Clock) -> MemoryJournal:
    copy = MemoryJournal(clock, journal.place)
    # A folder that this user may not look into is not this user's.
    with suppress(PermissionError):
        if Path(journal.place).exists():
            journal.copy_to(copy)
    return copy


def _make_folder(file: Path) -> None:
    """Make that of the journal. Raises JournalError if that cannot be used."""
    try:
        ansible_home().mkdir(parents=True, exist_ok=True)
        private_folder(file.parent)
    except OSError as error:
        raise _unusable(file, error) from error


def _mode(file: Path) -> str:
    """How SQLite has to open the file to read it, also where nothing can be written."""
    if os.access(file.parent, os.W_OK) and os.access(file, os.W_OK):
        return "mode=rw"
    is_in_use = any(file.with_name(f"{FILE}-{kind}").exists() for kind in ("wal", "journal"))
    return "mode=ro" if is_in_use else "mode=ro&immutable=1"


def _unusable(file: Path, error: sqlite3.Error | OSError) -> JournalError:
    if isinstance(error, OSError):
        code = sqlite3.SQLITE_FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else None
    else:
        # The lowest byte of a code is its kind.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return JournalError(
        f"The journal {file} cannot be used: {one_line(error)}. {WAYS_OUT.get(code, ANOTHER_FOLDER)}"  # type: ignore[arg-type]
    )


def _lock(path: Path, held: ExitStack) -> bool:
    """Whether the lock is held now, until ``held`` is closed."""
    while True:
        with ExitStack() as attempt:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            attempt.callback(os.close, file)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if _is_same(file, path):
                held.push(attempt.pop_all())
                return True


def _is_same(file: int, path: Path) -> bool:
    """Whether nobody has removed the file meanwhile."""
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False
