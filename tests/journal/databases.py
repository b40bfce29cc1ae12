# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Databases for a shared journal, each in a folder of its own, without any right of root: how they start and stop."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.journal_url import NamedDatabase
from sqlalchemy.exc import SQLAlchemyError

# Seconds that a database may take to start or to stop.
PATIENCE = 60.0
PASSWORD = "s3cret-wOrd"
# They refuse to run as root.
NOBODY = 65534
# Of Debian and Ubuntu; only what mariadbd itself needs.
MARIADB_PACKAGES = ("mariadb-server-core", "mariadb-server")
# Not each release has each, and a machine may have them already.
MARIADB_LIBRARIES = ("liburing2", "libaio1", "libaio1t64", "libpmem1", "libsnappy1v5")


class NotHere(Exception):
    """The database cannot be had here; the text says why."""


class Database(ABC):
    """A database below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """As ``journal_url`` has it."""

    @abstractmethod
    def start(self) -> None:
        """Start it, and wait until it answers. Raises NotHere if it does not."""

    @abstractmethod
    def stop(self) -> None:
        """Stop it, as if somebody pulled the plug; what is written stays."""

    def _run(self, command: Sequence[str | Path], **variables: str) -> None:
        environment = {**os.environ, "LC_ALL": "C", "HOME": str(self.folder), **variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **self._user())
        if done.returncode:
            raise NotHere(f"{Path(command[0]).name} fails: {(done.stderr or done.stdout).strip()[-300:]}")

    def _serve(self, command: Sequence[str | Path], **variables: str) -> None:
        with (self.folder / "log").open("ab") as log:
            environment = {**os.environ, "LC_ALL": "C", **variables}
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, **self._user())
        ends = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > ends:
                raise NotHere(f"{Path(command[0]).name} does not start: {(self.folder / 'log').read_text()[-300:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            NamedDatabase(self.url).engine.connect().close()
        except SQLAlchemyError:
            return False
        except OptionError as error:
            raise NotHere(str(error)) from error
        return True

    def _user(self) -> dict[str, int]:
        return {"user": NOBODY, "group": NOBODY} if os.getuid() == 0 else {}

    def _own(self) -> None:
        if os.getuid() == 0:
            for path in (*self.folder.rglob("*"), self.folder):
                os.chown(path, NOBODY, NOBODY)


class Sqlite(Database):
    """A file, which is only moved away and back."""

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/journal.db"

    def start(self) -> None:
        file, aside = self.folder / "journal.db", self.folder / "aside"
        if aside.exists():
            file.rmdir()
            aside.rename(file)

    def stop(self) -> None:
        file = self.folder / "journal.db"
        file.rename(self.folder / "aside")
        file.mkdir()


class Postgresql(Database):
    """PostgreSQL, with passwords."""

    @property
    def url(self) -> str:
        return f"postgresql://ops:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        programs, data = _postgresql_programs(), self.folder / "data"
        if not data.exists():
            (self.folder / "password").write_text(PASSWORD)
            self._own()
            given = ("--username=ops", f"--pwfile={self.folder}/password", "--auth=scram-sha-256", "--no-sync")
            self._run([programs / "initdb", f"--pgdata={data}", *given])
        sockets = f"unix_socket_directories={self.folder}"
        self._serve([programs / "postgres", "-D", data, "-p", str(self.port), "-h", "127.0.0.1", "-c", sockets])

    def stop(self) -> None:
        _end(self._process)


class Mariadb(Database):
    """MariaDB, of this machine or of the packages of Debian, which are unpacked into the folder."""

    def __init__(self, folder: Path, packages: Path) -> None:
        super().__init__(folder)
        self._packages = packages

    @property
    def url(self) -> str:
        # Otherwise the library reads the certificates of this machine for each connection.
        return f"mariadb://ops:{PASSWORD}@127.0.0.1:{self.port}/journal?ssl_disabled=true"

    def start(self) -> None:
        root = mariadb_root(self._packages, self.folder.parent / "root")
        libraries = (
            ":".join(map(str, sorted({path.parent for path in root.rglob("lib*.so.*")}))) if root != Path("/") else ""
        )
        variables = {"LD_LIBRARY_PATH": libraries}
        common = (
            "--no-defaults",
            "--skip-name-resolve",
            f"--datadir={self.folder}/data",
            f"--lc-messages-dir={root}/usr/share/mysql/english",
        )
        server = [root / "usr/sbin/mariadbd", *common]
        if not (self.folder / "data").exists():
            self._make(root, server, variables)
        self._serve(
            [*server, f"--port={self.port}", "--bind-address=127.0.0.1", f"--socket={self.folder}/socket"], **variables
        )

    def stop(self) -> None:
        _end(self._process)

    def _make(self, root: Path, server: Sequence[str | Path], variables: dict[str, str]) -> None:
        scripts = root / "usr/share/mysql"
        (self.folder / "data/mysql").mkdir(parents=True)
        begin = "CREATE DATABASE journal;\nUSE mysql;\n"
        system = "".join(
            (scripts / name).read_text() for name in ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
        )
        user = f"FLUSH PRIVILEGES;\nCREATE USER ops@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
        user += "GRANT ALL ON journal.* TO ops@'127.0.0.1';\n"
        (self.folder / "bootstrap.sql").write_text(f"{begin}{system}\n{user}")
        self._own()
        with (self.folder / "bootstrap.sql").open("rb") as script:
            command = [*server, "--bootstrap", "--skip-networking"]
            environment = {**os.environ, **variables}
            done = subprocess.run(
                command, stdin=script, env=environment, capture_output=True, text=True, check=False, **self._user()
            )
        if done.returncode:
            raise NotHere(f"mariadbd fails: {done.stderr.strip()[-300:]}")


def mariadb_root(packages: Path, root: Path) -> Path:
    """The root of the file system that has MariaDB, by default ``root``. Raises NotHere if there is none."""
    if Path("/usr/sbin/mariadbd").exists():
        return Path("/")
    if not list(packages.glob("mariadb-server-core_*.deb")):
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise NotHere("MariaDB is not installed, and there is no apt-get to get it with")
        packages.mkdir(parents=True, exist_ok=True)
        for library in MARIADB_LIBRARIES:
            _download(packages, library)
        if error := _download(packages, *MARIADB_PACKAGES):
            raise NotHere(f"MariaDB is not installed, and apt-get does not get it: {error[-300:]}")
    # Not beside the packages: the user of the database may not be allowed to enter there.
    if not root.exists():
        for package in packages.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
    return root


def _download(folder: Path, *packages: str) -> str:
    """Get packages of this machine's release, as an unprivileged user too; returns what is said if that fails."""
    command = ["apt-get", "--quiet", "download", *packages]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def _postgresql_programs() -> Path:
    found = [path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    if not found:
        if (program := shutil.which("initdb")) is None:
            raise NotHere("PostgreSQL is not installed; give this machine the package postgresql")
        found = [Path(program).resolve().parent]
    return found[-1]


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is not None and process.poll() is None:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
