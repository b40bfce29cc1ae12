# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults that a test plans, and the message about faults that never hit."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ocp_emulator.service import Service
from ocp_emulator.testing.threaded_server import ThreadedServer
from ocp_emulator.web.request_log import RequestFilter

# So many requests or names are shown beside a fault.
_SHOWN = 12


class FaultControl:
    """The plan of faults."""

    def __init__(self, server: ThreadedServer) -> None:
        """Its faults are those of this server."""
        self._server = server
        self._optional: set[int] = set()

    def plan(
        self,
        kind: str,
        action: str,
        match: Mapping[str, object] | None = None,
        *,
        optional: bool = False,
        **fields: object,
    ) -> int:
        """Plan a fault; returns its id. The arguments are the fields of `POST /emulator/faults`.

        The test fails if the fault never hits, unless it is `optional`. Raises ControlError for an invalid fault.
        """
        given = {"kind": kind, "action": action, "match": dict(match or {}), **fields}
        fault_id: int = self._server.call("POST", "/emulator/faults", given)["id"]
        if optional:
            self._optional.add(fault_id)
        return fault_id

    def hits(self, fault_id: int) -> int:
        """How often a fault has hit. KeyError for one that is not planned."""
        return {fault["id"]: int(fault["hits"]) for fault in self.planned()}[fault_id]

    def planned(self) -> list[dict[str, Any]]:
        """All faults of the plan, used up or not, as `GET /emulator/faults` shows them."""
        contents: list[dict[str, Any]] = self._server.call("GET", "/emulator/faults")["contents"]
        return contents

    def remove(self, fault_id: int | None = None) -> None:
        """Take back a fault, or all of them. Raises ControlError for one that is not planned."""
        self._server.call("DELETE", "/emulator/faults" + ("" if fault_id is None else f"/{fault_id}"))

    def unused(self) -> str | None:
        """The message about the faults that have not hit and are not optional; None if there are none."""
        return self._server.run(self._unused)

    def _unused(self, service: Service) -> str | None:
        rows = [
            row
            for row in service.store.db.execute("SELECT * FROM faults WHERE NOT hits ORDER BY id")
            if row["id"] not in self._optional
        ]
        if not rows:
            return None
        lines = ["A planned fault never hit, so this test did not test what it plans:"]
        for row in rows:
            lines += [f"  fault {row['id']}: {_shown(json.loads(row['fault']))}", f"    {_near(service, row)}"]
        lines.append("Correct its match, take it back with ocp.faults.remove(id), or plan it with optional=True.")
        return "\n".join(lines)


def _shown(fault: Mapping[str, object]) -> str:
    """A fault without its empty fields."""
    match = fault.get("match")
    options = {
        **(
            {"match": {key: value for key, value in match.items() if value is not None}}
            if isinstance(match, dict)
            else {}
        ),
        **{key: value for key, value in fault.items() if value and key not in ("kind", "action", "match", "times")},
    }
    return f"{fault['kind']} {fault['action']} {json.dumps(options)}"


def _near(service: Service, row: sqlite3.Row) -> str:
    """The requests or tasks that the fault could have hit."""
    if row["matches"]:
        return (
            f"Requests that matched: {row['matches']}. None was hit, by its call or probability, or an earlier fault."
        )
    if row["kind"] in ("subtask", "busy"):
        return _names(service.store.db, row["kind"])
    requests = [f"{each.method} {each.path}" for each in service.request_log.find(RequestFilter())]
    return f"Requests: {_listed(requests)}"


def _names(db: sqlite3.Connection, kind: str) -> str:
    tasks = [row["name"] for row in db.execute("SELECT name FROM tasks ORDER BY id")]
    if kind == "busy":
        return f"Tasks: {_listed(tasks)}; none was asked for while another one had its target."
    subtasks = [
        row["description"]
        for row in db.execute(
            "SELECT description FROM subtasks WHERE start_time IS NOT NULL ORDER BY task_id, position"
        )
    ]
    return f"Tasks: {_listed(tasks)}. Subtasks that began: {_listed(subtasks)}"


def _listed(names: Sequence[str]) -> str:
    different = list(dict.fromkeys(names))
    more = f", and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
    return (", ".join(different[:_SHOWN]) or "none") + more
