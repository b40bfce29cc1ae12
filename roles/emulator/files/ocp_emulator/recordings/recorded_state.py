# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The state that a recording shows: words, starts and processes, and the tasks, which neither go on nor can be retried.

A word that the emulator does not have stays out of the database. It is shown until something changes it, as all that
was recorded.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, get_args

from ocp_emulator.base.clock import SECOND
from ocp_emulator.recordings.recorded_fleet import HOSTS, SERVICES, clusters_of, servers_of, zones_of
from ocp_emulator.recordings.recorded_parameters import apply_parameters
from ocp_emulator.recordings.recorded_switches import TASKS
from ocp_emulator.recordings.recording_file import Record, Recording
from ocp_emulator.schemas import fleet_schemas, task_schemas

_OPERATING = "operatingTaskInstanceId"
_KINDS = {
    "restart ob server": "SERVER_RESTART",
    "restart ob zone": "ZONE_RESTART",
    "restart ob cluster": "CLUSTER_RESTART",
    "restart arbitration service": "ARBITRATION_RESTART",
    "batch restart ocp agent": "AGENT_RESTART",
}
# The fields of a task do not depend on its kind.
_OTHER_KIND = "CLUSTER_START"


def recorded_at(recording: Recording) -> int | None:
    """The time of the service at the recording, in milliseconds since the epoch; None if no answer shows it."""
    times = (milliseconds(each.body.get("timestamp")) for each in recording.answers if isinstance(each.body, dict))
    return max((time for time in times if time is not None), default=None)


def milliseconds(value: object) -> int | None:
    """An ISO 8601 time with offset as milliseconds since the epoch."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return round(time.timestamp() * SECOND) if time.tzinfo else None


def apply_state(db: sqlite3.Connection, recording: Recording) -> None:
    """Change what was seeded with the recorded fleet into the recorded state."""
    tasks = _insert_tasks(db, recording)
    for cluster in clusters_of(recording):
        _cluster(db, cluster, tasks)
        for zone in zones_of(recording, cluster):
            _zone(db, cluster, zone, tasks)
        for server in servers_of(recording, cluster):
            _server(db, server, tasks)
        apply_parameters(db, recording, cluster.get("id"))
    for service in recording.records(SERVICES):
        status = _word(service.get("status"), fleet_schemas.ArbitrationStatus)
        up = None if status is None else status != "STOPPED"
        _update(db, "arbitration_services", service, status=status, up=up, operating_task=_task_of(service, tasks))
    for host in recording.records(HOSTS):
        _update(db, "hosts", host, agent_status=_word(host.get("hostAgentStatus"), fleet_schemas.AgentStatus))
        _agent(db, recording, host.get("id"))


def _cluster(db: sqlite3.Connection, cluster: Record, tasks: frozenset[int]) -> None:
    _update(
        db,
        "clusters",
        cluster,
        status=_word(cluster.get("status"), fleet_schemas.ClusterStatus),
        start_time=milliseconds(cluster.get("obStartTime")),
        create_time=milliseconds(cluster.get("createTime")),
        compaction=_word(cluster.get("compactionStatus"), fleet_schemas.CompactionStatus),
        operating_task=_task_of(cluster, tasks),
    )


def _zone(db: sqlite3.Connection, cluster: Record, zone: Record, tasks: frozenset[int]) -> None:
    row = db.execute(
        "SELECT id FROM zones WHERE cluster_id = ? AND name = ?", (_number(cluster.get("id")), str(zone.get("name")))
    ).fetchone()
    _update(
        db,
        "zones",
        {"id": row and row["id"]},
        status=_word(zone.get("status"), fleet_schemas.ZoneStatus),
        inner_status=_word(zone.get("innerStatus"), fleet_schemas.InnerStatus),
        operating_task=_task_of(zone, tasks),
    )


def _server(db: sqlite3.Connection, server: Record, tasks: frozenset[int]) -> None:
    status = _word(server.get("status"), fleet_schemas.ServerStatus)
    _update(
        db,
        "servers",
        server,
        status=status,
        inner_status=_word(server.get("innerStatus"), fleet_schemas.InnerStatus),
        start_time=milliseconds(server.get("startTime")),
        stop_time=milliseconds(server.get("stopTime")),
        root=server.get("withRootserver") if isinstance(server.get("withRootserver"), bool) else None,
        up=None if status is None else status not in ("STOPPED", "UNAVAILABLE", "DELETED"),
        operating_task=_task_of(server, tasks),
    )


def _agent(db: sqlite3.Connection, recording: Recording, host: object) -> None:
    """The recorded processes in place of those that were seeded."""
    number = _number(host)
    paths = (f"/api/v2/compute/hosts/{number}/agent", f"/compute/hosts/{number}/agent")
    answer = next((found for path in paths if (found := recording.of(path)) and found.is_data), None)
    processes = answer.data.get("processes") if answer and isinstance(answer.data, dict) else None
    now = answer and isinstance(answer.body, dict) and milliseconds(answer.body.get("timestamp"))
    if not isinstance(processes, list) or not now:
        return
    db.execute("DELETE FROM agent_processes WHERE host_id = ?", (number,))
    for each in processes:
        if isinstance(each, dict):
            _insert_process(db, number, each, now)


def _insert_process(db: sqlite3.Connection, host: int | None, process: Record, now: int) -> None:
    runs = process.get("status") == "STARTED"
    started = now - (_number(process.get("elapsedTime")) or 0) * SECOND
    created = milliseconds(process.get("createTime")) or started
    number = _number(process.get("id"))
    taken = db.execute("SELECT 1 FROM agent_processes WHERE id = ?", (number,)).fetchone()
    db.execute(
        "INSERT INTO agent_processes (id, host_id, alias, pid, status, start_time, stop_time, create_time,"
        " update_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            None if taken else number,
            host,
            str(process.get("alias")),
            _number(process.get("pid")) or 0,
            "STARTED" if runs else "STOPPED",
            started,
            None if runs else milliseconds(process.get("lastActiveTime")) or now,
            created,
            milliseconds(process.get("updateTime")) or created,
        ),
    )


def _insert_tasks(db: sqlite3.Connection, recording: Recording) -> frozenset[int]:
    """The tasks that are listed, with the subtasks of those that were read; their ids."""
    found: dict[int, Record] = {}
    for each in recording.records(TASKS):
        number = _number(each.get("id"))
        if number:
            found[number] = {**each, **recording.record(f"{TASKS}/{number}")}
    for number, task in found.items():
        _insert_task(db, number, task)
    return frozenset(found)


def _insert_task(db: sqlite3.Connection, number: int, task: Record) -> None:
    started = milliseconds(task.get("startTime")) or milliseconds(task.get("createTime")) or 0
    creator = _record(task.get("creator"))
    name = str(task.get("name"))
    db.execute(
        "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?, 0)",
        (
            number,
            _KINDS.get(name.lower(), _OTHER_KIND),
            name,
            _word(str(task.get("operation")).upper(), task_schemas.TaskOperation) or "EXECUTE",
            _word(task.get("status"), task_schemas.TaskStatus) or "RUNNING",
            _number(creator.get("id")) or 0,
            str(creator.get("name") or task.get("creator")),
            str(task.get("executor") or ""),
            milliseconds(task.get("createTime")) or started,
            started,
            milliseconds(task.get("finishTime")),
        ),
    )
    for tag in _targets(task):
        known = {key: value for key in _COLUMNS if (value := _known(db, key, tag.get(_COLUMNS[key])))}
        if known:
            columns = ", ".join(("task_id", "object_type", *known))
            marks = ", ".join("?" * (len(known) + 2))
            values = (number, str(tag.get("objectType") or "OB_CLUSTER"), *known.values())
            db.execute(f"INSERT INTO targets ({columns}) VALUES ({marks})", values)
    for place, step in enumerate(_list(task.get("subtasks"))):
        _insert_subtask(db, number, place, step)


_COLUMNS: Mapping[str, str] = {
    "cluster_id": "clusterId",
    "server_id": "serverId",
    "host_id": "hostId",
    "arbitration_service_id": "arbitrationServiceId",
}
_TABLES = {
    "cluster_id": "clusters",
    "server_id": "servers",
    "host_id": "hosts",
    "arbitration_service_id": "arbitration_services",
}


def _targets(task: Record) -> Iterable[Record]:
    """The tags of a task; without tags, its cluster."""
    return _list(task.get("tags")) or [{"clusterId": _record(task.get("cluster")).get("id")}]


def _known(db: sqlite3.Connection, column: str, value: object) -> int | None:
    row = db.execute(f"SELECT id FROM {_TABLES[column]} WHERE id = ?", (_number(value),)).fetchone()
    return None if row is None else int(row["id"])


def _insert_subtask(db: sqlite3.Connection, task: int, place: int, step: Record) -> None:
    number = _number(step.get("id"))
    if not number:
        return
    db.execute(
        "INSERT OR IGNORE INTO subtasks"
        " VALUES (?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?, ?, ?, 0, 0, ?, ?, NULL, NULL, NULL, ?)",
        (
            number,
            task,
            _number(step.get("seriesId")) or place,
            place,
            str(step.get("description") or step.get("name")),
            _number(step.get("parallelIdx")) or 0,
            _number(step.get("timeout")) or 0,
            _word(step.get("status"), task_schemas.SubtaskStatus) or "PENDING",
            _word(step.get("operation"), task_schemas.SubtaskOperation) or "EXECUTE",
            _number(step.get("runTime")) or 0,
            milliseconds(step.get("startTime")),
            milliseconds(step.get("finishTime")),
            bool(step.get("prohibitRollback")),
        ),
    )
    for downstream in step.get("downstreams") or ():
        if _number(downstream):
            db.execute("INSERT OR IGNORE INTO links VALUES (?, ?)", (number, downstream))


def _update(db: sqlite3.Connection, table: str, record: Record, **columns: Any) -> None:
    """Set the columns of a row that have a value."""
    given = {name: value for name, value in columns.items() if value is not None}
    number = _number(record.get("id"))
    if given and number:
        changes = ", ".join(f"{name} = ?" for name in given)
        db.execute(f"UPDATE {table} SET {changes} WHERE id = ?", (*given.values(), number))


def _task_of(record: Record, tasks: frozenset[int]) -> int | None:
    number = _number(record.get(_OPERATING))
    return number if number in tasks else None


def _word(value: object, words: Any) -> str | None:
    return str(value) if value in get_args(words) else None


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else None


def _record(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Record]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
