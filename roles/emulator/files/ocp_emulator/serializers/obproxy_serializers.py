# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An OBProxy cluster as JSON, with its OBProxies: values of their fields, filters of the list."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ocp_emulator.base import errors
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import obproxy_schemas as schemas
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import ARCHITECTURE, json_or_null

_FILTERED = "FROM obproxy_clusters AS t WHERE (:name IS NULL OR instr(lower(t.name), lower(:name)))"
_SORTABLE = {"id": "t.id", "name": "lower(t.name)"}
# The same in every documented record.
_PARAMETER_VERSION = 1
_CREATOR = (100, "admin")


def obproxy_page(
    db: sqlite3.Connection, page_request: PageRequest, name: str | None, now: int
) -> Paged[schemas.ObProxyCluster]:
    """A page of the OBProxy clusters, as they are at `now`."""

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.ObProxyCluster]:
        obproxies = _obproxies(db, [row["id"] for row in rows], now)
        return [_cluster(row, obproxies[row["id"]]) for row in rows]

    return query_page(db, page_request, _FILTERED, {"name": name}, serialize, Paged[schemas.ObProxyCluster], _SORTABLE)


def obproxy_cluster_detail(db: sqlite3.Connection, cluster_id: int, now: int) -> schemas.ObProxyCluster:
    """One OBProxy cluster, as it is at `now`. ApiError 404."""
    row = db.execute("SELECT * FROM obproxy_clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"OBProxy cluster {cluster_id}")
    return _cluster(row, _obproxies(db, [cluster_id], now)[cluster_id])


def _obproxies(db: sqlite3.Connection, cluster_ids: Sequence[int], now: int) -> Mapping[int, list[schemas.ObProxy]]:
    found: dict[int, list[schemas.ObProxy]] = defaultdict(list)
    rows = db.execute(
        "SELECT * FROM obproxies WHERE cluster_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json_or_null(cluster_ids),),
    )
    for row in rows:
        found[row["cluster_id"]].append(_obproxy(row, now))
    return found


def _obproxy(row: sqlite3.Row, now: int) -> schemas.ObProxy:
    return schemas.ObProxy(
        id=row["id"],
        cluster_id=row["cluster_id"],
        host_id=row["host_id"],
        ip=row["ip"],
        sql_port=row["port"],
        exporter_port=row["exporter_port"],
        architecture=ARCHITECTURE,
        version=row["version"],
        status="RUNNING" if row["up"] else "UNAVAILABLE",
        operate_status="NORMAL" if row["operating_task"] is None else "OPERATING",
        parameter_version=_PARAMETER_VERSION,
        idc_name=row["idc"],
        last_active_time=iso(now if row["up"] else row["update_time"]),
    )


def _cluster(row: sqlite3.Row, obproxies: list[schemas.ObProxy]) -> schemas.ObProxyCluster:
    creator_id, creator_name = _CREATOR
    places, versions = Counter(each.idc_name for each in obproxies), Counter(each.version for each in obproxies)
    return schemas.ObProxyCluster(
        id=row["id"],
        name=row["name"],
        address=row["address"],
        port=row["port"],
        work_mode="CONFIG_URL",
        config_url=f"http://{row['address']}:8080/services?Action=GetObProxyConfig&ObproxyClusterName={row['name']}",
        creator_id=creator_id,
        creator_name=creator_name,
        parameter_version=_PARAMETER_VERSION,
        ob_links=[],
        obproxies=obproxies,
        topo=[schemas.ObProxyTopology(idc_name=idc, count=count) for idc, count in places.items()],
        versions=[schemas.ObProxyVersion(version=version, count=count) for version, count in versions.items()],
        create_time=iso(row["create_time"]),
        update_time=iso(row["create_time"]),
    )
