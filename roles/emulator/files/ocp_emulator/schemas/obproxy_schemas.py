# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields and status words of OBProxy clusters and OBProxies. No documented field is a start time."""

from typing import Literal

from ocp_emulator.schemas.schema import Long, Schema, Timestamp

# No document lists the words; these are from samples and a page.
ObProxyStatus = Literal["RUNNING", "UNAVAILABLE"]
OperateStatus = Literal["NORMAL", "OPERATING"]


class ObProxy(Schema):
    """An OBProxy; `operateStatus` shows that a task works on it, but not which."""

    id: Long
    cluster_id: Long
    host_id: Long
    ip: str
    sql_port: int
    exporter_port: int
    architecture: str
    version: str
    status: ObProxyStatus
    operate_status: OperateStatus
    parameter_version: int
    idc_name: str
    last_active_time: Timestamp


class ObProxyTopology(Schema):
    """How many OBProxies of a cluster are in a data center."""

    idc_name: str
    count: int


class ObProxyVersion(Schema):
    """How many OBProxies of a cluster have a version."""

    version: str
    count: int


class ObProxyCluster(Schema):
    """An OBProxy cluster, in the list and one by one."""

    id: Long
    name: str
    address: str
    port: int
    work_mode: Literal["CONFIG_URL"]
    config_url: str
    creator_id: Long
    creator_name: str
    parameter_version: int
    ob_links: list[str]
    obproxies: list[ObProxy]
    topo: list[ObProxyTopology]
    versions: list[ObProxyVersion]
    create_time: Timestamp
    update_time: Timestamp
