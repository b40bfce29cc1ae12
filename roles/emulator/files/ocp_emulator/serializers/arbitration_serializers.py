# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An arbitration service as JSON: values of its fields, degraded log streams, filters of the list.

`operating` is whether an object shows which task works on it, as it does in newer versions.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import Visibility
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import fleet_schemas as schemas
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import ARCHITECTURE, INSTALL_PATH, RUN_USER, json_or_null, operating_task

_SERVICES_FILTERED = """
    FROM arbitration_services AS t
    WHERE (:host_id IS NULL OR t.host_id = :host_id)
    AND (:keyword IS NULL OR instr(lower(:description || t.id), lower(:keyword)) OR instr(t.ip, :keyword))
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
    AND NOT :tagged
"""
_SERVED = """
    SELECT cluster_id, id, name, '[]' AS log_streams FROM tenants WHERE arbitration_service_id = :service
        AND NOT EXISTS (SELECT 1 FROM degraded
            WHERE service_id = :service AND degraded.cluster_id = tenants.cluster_id AND tenant = tenants.name)
    UNION ALL SELECT degraded.cluster_id, tenants.id, tenant, log_streams FROM degraded
        LEFT JOIN tenants ON tenants.cluster_id = degraded.cluster_id AND tenants.name = tenant
        WHERE service_id = :service
    ORDER BY 1, 3
"""
_SERVICE_DESCRIPTION = "arbitration service "
# Tenants of users have ids from 1002 on.
_FIRST_TENANT = 1002


def arbitration_page(
    db: sqlite3.Connection,
    page_request: PageRequest,
    host_id: int | None,
    keyword: str | None,
    statuses: Sequence[str] | None,
    tagged: bool,
    operating: Visibility,
) -> Paged[schemas.ArbitrationService]:
    """A page of the arbitration services. `tagged`: only those with certain tags, and here none has any."""
    values = {
        "host_id": host_id,
        "keyword": keyword,
        "statuses": json_or_null(statuses),
        "tagged": tagged,
        "description": _SERVICE_DESCRIPTION,
    }

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.ArbitrationService]:
        return [_service(db, row, operating) for row in rows]

    return query_page(db, page_request, _SERVICES_FILTERED, values, serialize, Paged[schemas.ArbitrationService])


def arbitration_detail(db: sqlite3.Connection, service_id: int, operating: Visibility) -> schemas.ArbitrationService:
    """One arbitration service. ApiError 404."""
    row = db.execute("SELECT * FROM arbitration_services WHERE id = ?", (service_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Arbitration service {service_id}")
    return _service(db, row, operating)


def _service(db: sqlite3.Connection, row: sqlite3.Row, operating: Visibility) -> schemas.ArbitrationService:
    return schemas.ArbitrationService(
        id=row["id"],
        host_id=row["host_id"],
        svr_ip=row["ip"],
        svr_port=row["port"],
        version=row["version"],
        architecture=ARCHITECTURE,
        description=f"{_SERVICE_DESCRIPTION}{row['id']}",
        install_path=INSTALL_PATH,
        run_path=INSTALL_PATH,
        run_user=RUN_USER,
        startup_parameters=[],
        clusters=_served(db, row["id"]),
        tags=[],
        status=row["status"],
        **operating_task(row, operating),
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _served(db: sqlite3.Connection, service_id: int) -> list[schemas.ServedCluster]:
    """The clusters with tenants that have arbitration by this service, or log streams that it shows as degraded."""
    tenants: dict[int, list[schemas.DegradedTenant]] = defaultdict(list)
    for row in db.execute(_SERVED, {"service": service_id}):
        # No tenant of the fleet has this name.
        number = _FIRST_TENANT + len(tenants[row["cluster_id"]]) if row["id"] is None else row["id"]
        tenants[row["cluster_id"]].append(
            schemas.DegradedTenant(id=number, name=row["name"], degraded_ls_id_list=json.loads(row["log_streams"]))
        )
    clusters = db.execute(
        "SELECT * FROM clusters WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id", (json_or_null([*tenants]),)
    )
    return [
        schemas.ServedCluster(
            id=row["id"], name=row["name"], ob_cluster_id=row["ob_cluster_id"], tenants=tenants[row["id"]]
        )
        for row in clusters
    ]
