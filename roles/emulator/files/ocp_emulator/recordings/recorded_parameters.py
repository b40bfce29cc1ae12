# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The values of parameters that a recording shows of each server, of those parameters that the emulator has."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from ocp_emulator.recordings.recorded_fleet import CLUSTERS
from ocp_emulator.recordings.recording_file import Record, Recording


def apply_parameters(db: sqlite3.Connection, recording: Recording, cluster_id: object) -> None:
    """Let each server of a cluster run with the values that it shows, and let them be those that were set."""
    for parameter in recording.records(f"{CLUSTERS}/{cluster_id}/parameters"):
        for address, value in _values(parameter.get("currentValue")):
            db.execute(
                "UPDATE parameters SET value = :value, set_value = :value, start_value = :value"
                " WHERE name = :name AND server_id = (SELECT id FROM servers WHERE ip || ':' || port = :address)",
                {"value": value, "name": str(parameter.get("name")), "address": address},
            )


def _values(current: Any) -> Iterator[tuple[str, str]]:
    """The address of each server with its value."""
    shown = current.get("obParameters") if isinstance(current, dict) else None
    servers: list[Record] = [each for each in shown if isinstance(each, dict)] if isinstance(shown, list) else []
    for each in servers:
        if isinstance(each.get("value"), str):
            yield f"{each.get('svrIp')}:{each.get('svrPort')}", each["value"]
