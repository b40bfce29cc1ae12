# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parameters of a cluster as JSON: values by server or by OBProxy, and what is known of each."""

import sqlite3
from collections import defaultdict
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import Switches, Visibility
from ocp_emulator.fleet.ob_parameters import PARAMETERS, Parameter
from ocp_emulator.fleet.obproxy_parameters import OBPROXY_PARAMETERS
from ocp_emulator.schemas import parameter_schemas as schemas
from ocp_emulator.schemas.envelope import Listed
from ocp_emulator.tasks import set_parameters as parameters


def parameters_of(db: sqlite3.Connection, cluster_id: int, switches: Switches) -> Listed[schemas.ClusterParameter]:
    """All parameters of a cluster, by the servers that answer. ApiError: 404, or 400 when none answers."""
    parameters.check_connected(db, cluster_id)
    values: dict[str, list[sqlite3.Row]] = defaultdict(list)
    shown = "set_value" if switches.parameter_values == "set" else "value"
    for row in db.execute(
        f"SELECT parameters.name, {shown} AS value, servers.ip, servers.port, zones.name AS zone FROM parameters"
        " JOIN servers ON servers.id = server_id JOIN zones ON zones.id = servers.zone_id"
        f" WHERE servers.cluster_id = ? AND {parameters.ANSWERS} ORDER BY servers.id",
        (cluster_id,),
    ):
        values[row["name"]].append(row)
    return Listed[schemas.ClusterParameter](
        contents=[
            schemas.ClusterParameter(
                name=each.name,
                current_value=_current_value(values[each.name], switches.parameter_servers),
                **(_metadata(each) if switches.parameter_metadata == "shown" else {}),
            )
            for each in PARAMETERS
        ]
    )


def _current_value(rows: list[sqlite3.Row], by_server: Visibility) -> schemas.CurrentValue:
    servers: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        servers[row["value"]].append(f"{row['ip']}:{row['port']}")
    own: dict[str, Any] = {"ob_parameters": [_of_server(row) for row in rows], "value_to_servers": dict(servers)}
    return schemas.CurrentValue(
        single_value_in_cluster=len(servers) == 1,
        values=[*servers],
        **(own if by_server == "shown" else {}),
    )


def _of_server(row: sqlite3.Row) -> schemas.ObParameter:
    return schemas.ObParameter(
        name=row["name"],
        svr_ip=row["ip"],
        svr_port=row["port"],
        svr_type="observer",
        value=row["value"],
        zone=row["zone"],
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


def obproxy_parameters_of(db: sqlite3.Connection, cluster_id: int) -> Listed[schemas.ObProxyClusterParameter]:
    """All parameters of an OBProxy cluster, by the OBProxies that run. ApiError 404."""
    if db.execute("SELECT 1 FROM obproxy_clusters WHERE id = ?", (cluster_id,)).fetchone() is None:
        raise errors.not_found(f"OBProxy cluster {cluster_id}")
    found: dict[str, dict[str, list[str]]] = {name: defaultdict(list) for name in OBPROXY_PARAMETERS}
    for row in db.execute(
        "SELECT name, value, ip FROM obproxy_parameters JOIN obproxies ON obproxies.id = obproxy_id"
        " WHERE cluster_id = ? AND up ORDER BY obproxies.id",
        (cluster_id,),
    ):
        found[row["name"]][row["value"]].append(row["ip"])
    return Listed[schemas.ObProxyClusterParameter](
        contents=[
            schemas.ObProxyClusterParameter(
                name=name,
                description=OBPROXY_PARAMETERS[name].description,
                need_reboot=OBPROXY_PARAMETERS[name].need_reboot,
                value_string=",".join(values),
                values=[schemas.ObProxyValue(value=value, obproxies=ips) for value, ips in values.items()],
            )
            for name, values in found.items()
        ]
    )
