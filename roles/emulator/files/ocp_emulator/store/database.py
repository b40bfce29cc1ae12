# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The state of the emulated service, in one SQLite database: the truth about fleet and tasks.

One process owns a database at a time. A transaction that has ended survives the end of the process (WAL; `synchronous`
NORMAL gives up only what a crash of the whole machine may take). SQL stands where its subject is: here only the tables,
and what fills them at first.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.base.permissions import Permission
from ocp_emulator.fleet.entities import AccessKey, Fleet, User
from ocp_emulator.fleet.fleet_file import default_fleet

SCHEMA_VERSION = "4"
AGENT_VERSION = "4.3.5"

# All that is there has been running for a month when the emulator starts for the first time.
_UPTIME = 30 * DAY

# Names of processes are documented: ocp-api.md, section 6.
_AGENT_PROCESSES = ("ocp_mgragent", "ocp_monagent", "ocp_agentd", "pos_proxy")

# Times are milliseconds since the epoch. `operating_task` is the task that occupies an object (a host: its agent);
# it is what makes a target busy, and NULL when nothing goes on. `up` tells whether a process runs, whatever the status
# says; `restarts` how often a start step has started it. `due_at` is when a subtask's state changes next, `outcome` and
# `reason` are how the attempt that is running will end.
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE users (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, password TEXT NOT NULL, permissions TEXT NOT NULL
);
CREATE TABLE access_keys (
    id TEXT PRIMARY KEY, secret TEXT NOT NULL, user_id INTEGER NOT NULL REFERENCES users
) WITHOUT ROWID;

CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, ip TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    agent_status TEXT NOT NULL, agent_unavailable_since INTEGER, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, restarts INTEGER NOT NULL
);
CREATE TABLE agent_processes (
    id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts, alias TEXT NOT NULL,
    pid INTEGER NOT NULL, status TEXT NOT NULL, start_time INTEGER NOT NULL, stop_time INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL
);
CREATE INDEX agent_processes_of_host ON agent_processes (host_id);
CREATE TABLE clusters (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, ob_cluster_id INTEGER NOT NULL, type TEXT NOT NULL,
    version TEXT NOT NULL, status TEXT NOT NULL, start_time INTEGER NOT NULL, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, restarts INTEGER NOT NULL
);
CREATE TABLE zones (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES clusters, name TEXT NOT NULL,
    region TEXT NOT NULL, idc TEXT NOT NULL, status TEXT NOT NULL, inner_status TEXT NOT NULL, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, restarts INTEGER NOT NULL,
    UNIQUE (cluster_id, name)
);
CREATE TABLE servers (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES clusters, zone_id INTEGER NOT NULL REFERENCES zones,
    host_id INTEGER NOT NULL REFERENCES hosts, ip TEXT NOT NULL, port INTEGER NOT NULL, sql_port INTEGER NOT NULL,
    root INTEGER NOT NULL, status TEXT NOT NULL, inner_status TEXT NOT NULL, start_time INTEGER NOT NULL,
    stop_time INTEGER NOT NULL, operating_task INTEGER, update_time INTEGER NOT NULL,
    up INTEGER NOT NULL, restarts INTEGER NOT NULL
);
CREATE INDEX servers_of_cluster ON servers (cluster_id);
CREATE INDEX servers_of_zone ON servers (zone_id);
CREATE INDEX servers_of_host ON servers (host_id);
CREATE TABLE arbitration_services (
    id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts, ip TEXT NOT NULL, port INTEGER NOT NULL,
    version TEXT NOT NULL, status TEXT NOT NULL, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL,
    up INTEGER NOT NULL, restarts INTEGER NOT NULL
);
CREATE TABLE degraded (
    service_id INTEGER NOT NULL REFERENCES arbitration_services, cluster_id INTEGER NOT NULL REFERENCES clusters,
    tenant TEXT NOT NULL, log_streams TEXT NOT NULL, PRIMARY KEY (service_id, cluster_id, tenant)
) WITHOUT ROWID;
CREATE INDEX occupied_hosts ON hosts (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_clusters ON clusters (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_zones ON zones (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_servers ON servers (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_services ON arbitration_services (operating_task) WHERE operating_task IS NOT NULL;

CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, operation TEXT NOT NULL, status TEXT NOT NULL,
    creator_id INTEGER NOT NULL, creator_name TEXT NOT NULL, executor TEXT NOT NULL, context TEXT NOT NULL,
    create_time INTEGER NOT NULL, start_time INTEGER NOT NULL, finish_time INTEGER
);
CREATE INDEX tasks_by_status ON tasks (status);
CREATE TABLE targets (
    task_id INTEGER NOT NULL REFERENCES tasks, object_type TEXT NOT NULL, cluster_id INTEGER, zone_id INTEGER,
    server_id INTEGER, host_id INTEGER, arbitration_service_id INTEGER
);
CREATE INDEX targets_of_task ON targets (task_id);
CREATE TABLE subtasks (
    id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks, series_id INTEGER NOT NULL,
    position INTEGER NOT NULL, description TEXT NOT NULL, action TEXT, element TEXT, parallel_idx INTEGER NOT NULL,
    timeout INTEGER NOT NULL, status TEXT NOT NULL, operation TEXT NOT NULL, run_time INTEGER NOT NULL,
    ready_ms INTEGER NOT NULL, run_ms INTEGER NOT NULL, start_time INTEGER, finish_time INTEGER, due_at INTEGER,
    outcome TEXT, reason TEXT, prohibit_rollback INTEGER NOT NULL
);
CREATE INDEX subtasks_of_task ON subtasks (task_id, position);
CREATE INDEX subtasks_due ON subtasks (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE links (
    upstream INTEGER NOT NULL, downstream INTEGER NOT NULL, PRIMARY KEY (upstream, downstream)
) WITHOUT ROWID;
CREATE INDEX links_upwards ON links (downstream, upstream);
CREATE TABLE log_lines (subtask_id INTEGER NOT NULL REFERENCES subtasks, line TEXT NOT NULL);
CREATE INDEX lines_of_subtask ON log_lines (subtask_id);

CREATE TABLE wrong_passwords (kind TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX wrong_passwords_of ON wrong_passwords (kind, name);
CREATE TABLE lockouts (
    kind TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE faults (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, fault TEXT NOT NULL, times INTEGER,
    matches INTEGER NOT NULL, hits INTEGER NOT NULL, create_time INTEGER NOT NULL
);
"""


class StoreError(ValueError):
    """A database that cannot be used; the message is one sentence that says why."""


class Store:
    """An open database. `db` reads at any time and writes inside `transaction()`."""

    def __init__(self, database: Path | None, fleet: Fleet | None, now: int) -> None:
        """Open `database`, or one in memory; fill a new one with `fleet`, or the default fleet.

        A database that is there already keeps its own fleet: StoreError when `fleet` is another one, when the file is
        no database of this emulator, or when another process has it open.
        """
        try:
            if database is not None:
                # Passwords and secrets are in it.
                database.touch(mode=0o600)
            self.db = sqlite3.connect(database or ":memory:", isolation_level=None, timeout=0, check_same_thread=False)
            self.db.row_factory = sqlite3.Row
            # Exclusive from the first access on: a second emulator on the same file would move the same tasks.
            self.db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = NORMAL")
            with self.transaction():
                self._prepare(fleet, now)
        except OSError as error:
            raise StoreError(f"the file cannot be written: {error.strerror or error}") from error
        except sqlite3.Error as error:
            self.close()
            if "locked" in str(error):
                raise StoreError("another process has it open") from error
            raise StoreError(f"it cannot be used: {error}") from error
        except StoreError:
            self.close()
            raise

    def close(self) -> None:
        """Close the database."""
        if hasattr(self, "db"):
            self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block, or none of it; what it wrote is there for good when the block has ended."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def users(self) -> list[User]:
        """All users."""
        return [
            User(row["id"], row["name"], row["password"], tuple(map(Permission, json.loads(row["permissions"]))))
            for row in self.db.execute("SELECT * FROM users")
        ]

    def access_keys(self) -> list[AccessKey]:
        """All access keys."""
        return [
            AccessKey(row["id"], row["secret"], row["user_id"]) for row in self.db.execute("SELECT * FROM access_keys")
        ]

    def _prepare(self, fleet: Fleet | None, now: int) -> None:
        tables = {row["name"] for row in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            self._fill(fleet or default_fleet(), now)
            return
        meta = dict(map(tuple, self.db.execute("SELECT key, value FROM meta"))) if "meta" in tables else {}
        if meta.get("schema") != SCHEMA_VERSION:
            raise StoreError("it was not made by this version of the emulator")
        if fleet is not None and fleet.fingerprint() != meta["fleet"]:
            raise StoreError("it was made with another fleet; give it the same one, or none, or take a new database")

    def _fill(self, fleet: Fleet, now: int) -> None:
        for statement in _TABLES.split(";"):
            self.db.execute(statement)
        since = now - now % SECOND - _UPTIME
        many = self.db.executemany
        many("INSERT INTO meta VALUES (?, ?)", [("schema", SCHEMA_VERSION), ("fleet", fleet.fingerprint())])
        many(
            "INSERT INTO users VALUES (?, ?, ?, ?)",
            [(user.id, user.name, user.password, json.dumps(user.permissions)) for user in fleet.users],
        )
        many(
            "INSERT INTO access_keys VALUES (?, ?, ?)",
            [(key.id, key.secret, key.user_id) for key in fleet.access_keys],
        )
        many(
            "INSERT INTO hosts VALUES (?, ?, ?, 'AVAILABLE', NULL, NULL, ?, ?, 0)",
            [(host.id, host.ip, host.name, since, since) for host in fleet.hosts],
        )
        many(
            "INSERT INTO agent_processes (host_id, alias, pid, status, start_time, create_time, update_time)"
            " VALUES (?, ?, ?, 'STARTED', ?, ?, ?)",
            [
                (host.id, alias, 2_000 + host.id * 7 % 20_000 + number, since, since, since)
                for host in fleet.hosts
                for number, alias in enumerate(_AGENT_PROCESSES)
            ],
        )
        many(
            "INSERT INTO clusters VALUES (?, ?, ?, ?, ?, 'RUNNING', ?, NULL, ?, ?, 0)",
            [
                (cluster.id, cluster.name, cluster.ob_cluster_id, cluster.type, cluster.version, since, since, since)
                for cluster in fleet.clusters
            ],
        )
        many(
            "INSERT INTO zones VALUES (?, ?, ?, ?, ?, 'RUNNING', 'ACTIVE', NULL, ?, ?, 0)",
            [(zone.id, zone.cluster_id, zone.name, zone.region, zone.idc, since, since) for zone in fleet.zones],
        )
        many(
            "INSERT INTO servers VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'RUNNING', 'ACTIVE', ?, 0, NULL, ?, 1, 0)",
            [
                (
                    server.id,
                    server.cluster_id,
                    server.zone_id,
                    server.host_id,
                    server.ip,
                    server.port,
                    server.sql_port,
                    server.root,
                    since,
                    since,
                )
                for server in fleet.servers
            ],
        )
        many(
            "INSERT INTO arbitration_services VALUES (?, ?, ?, ?, ?, 'RUNNING', NULL, ?, ?, 1, 0)",
            [
                (service.id, service.host_id, service.ip, service.port, service.version, since, since)
                for service in fleet.arbitration_services
            ],
        )
