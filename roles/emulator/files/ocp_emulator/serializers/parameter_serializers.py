# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parameters of a cluster as JSON: values by server, and what is known of each."""

import sqlite3
from collections import defaultdict
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.fleet.ob_parameters import PARAMETERS, Parameter
from ocp_emulator.schemas import parameter_schemas as schemas
from ocp_emulator.schemas.envelope import Listed


def parameters_of(db: sqlite3.Connection, cluster_id: int) -> Listed[schemas.ClusterParameter]:
    """All parameters of a cluster. ApiError 404."""
    if db.execute("SELECT 1 FROM clusters WHERE id = ?", (cluster_id,)).fetchone() is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    values: dict[str, list[sqlite3.Row]] = defaultdict(list)
    for row in db.execute(
        "SELECT parameters.*, servers.ip, servers.port, zones.name AS zone FROM parameters"
        " JOIN servers ON servers.id = server_id JOIN zones ON zones.id = servers.zone_id"
        " WHERE servers.cluster_id = ? ORDER BY servers.id",
        (cluster_id,),
    ):
        values[row["name"]].append(row)
    return Listed[schemas.ClusterParameter](
        contents=[
            schemas.ClusterParameter(
                name=parameter.name, current_value=_current_value(values[parameter.name]), **_metadata(parameter)
            )
            for parameter in PARAMETERS
        ]
    )


def _current_value(rows: list[sqlite3.Row]) -> schemas.CurrentValue:
    servers: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        servers[row["value"]].append(f"{row['ip']}:{row['port']}")
    return schemas.CurrentValue(
        ob_parameters=[
            schemas.ObParameter(
                name=row["name"],
                svr_ip=row["ip"],
                svr_port=row["port"],
                svr_type="observer",
                value=row["value"],
                zone=row["zone"],
            )
            for row in rows
        ],
        single_value_in_cluster=len(servers) == 1,
        value_to_servers=dict(servers),
        values=[*servers],
    )


def _metadata(parameter: Parameter) -> dict[str, Any]:
    known = parameter.metadata
    if known is None:
        return {}
    return {
        "default_value": parameter.default,
        "description": known.description,
        "need_restart": known.need_restart,
        "readonly": known.readonly,
        "section": known.section,
        "value_range": schemas.ValueRange(
            allowed_values=known.allowed, max_value=known.most, min_value=known.least, type=known.type
        ),
    }
