# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Set parameters of a cluster: a dynamic one is in effect at once, a static one at the next start of each server.

The start itself is a trigger in schema.sql, so it does not matter who starts a server, and how.
"""

import json
import sqlite3
from collections.abc import Sequence

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import StaticParameters
from ocp_emulator.fleet.ob_parameters import BY_NAME
from ocp_emulator.fleet.parameter_values import UnitMissing, check_value
from ocp_emulator.schemas.parameter_schemas import ParameterSetting

# The database asks each server for its values; a server that does not answer has none.
ANSWERS = "servers.up AND servers.inner_status = 'ACTIVE'"


def check_connected(db: sqlite3.Connection, cluster_id: int) -> None:
    """ApiError: 404 for an unknown cluster, 400 for one without a server that answers."""
    row = db.execute("SELECT name FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    if db.execute(f"SELECT 1 FROM servers WHERE cluster_id = ? AND {ANSWERS}", (cluster_id,)).fetchone() is None:
        raise errors.cluster_not_connected(row["name"])


def set_parameters(
    db: sqlite3.Connection, cluster_id: int, settings: Sequence[ParameterSetting], static: StaticParameters
) -> None:
    """Set all of them or none, in this order. ApiError: as above, or 400 for a value that is not taken."""
    check_connected(db, cluster_id)
    for setting in settings:
        _check(setting)
    for setting in settings:
        _set(db, cluster_id, setting, static)


def _check(setting: ParameterSetting) -> None:
    parameter = BY_NAME.get(setting.name)
    if parameter is None:
        raise errors.illegal_argument(f"There is no parameter '{setting.name}'.")
    known = parameter.metadata
    if known is None:
        return
    if known.readonly:
        raise errors.illegal_argument(f"The parameter '{setting.name}' cannot be set: it is read-only.")
    try:
        check_value(known, setting.value)
    except ValueError as reason:
        refuse = errors.unit_required if isinstance(reason, UnitMissing) else errors.illegal_argument
        message = f"The parameter '{setting.name}' does not take the value {json.dumps(setting.value)}: {reason}."
        raise refuse(message) from None


def _set(db: sqlite3.Connection, cluster_id: int, setting: ParameterSetting, static: StaticParameters) -> None:
    changes = "set_value = :value"
    if not BY_NAME[setting.name].static:
        changes += ", start_value = :value, value = :value"
    elif static == "at_start":
        changes += ", start_value = :value"
    db.execute(
        f"UPDATE parameters SET {changes}"
        " WHERE name = :name AND server_id IN (SELECT id FROM servers WHERE cluster_id = :cluster)",
        {"value": setting.value, "name": setting.name, "cluster": cluster_id},
    )
