# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fleet file, in YAML: its entries, their defaults, and its errors.

Omitted fields get defaults: ids are numbered in order of appearance, hosts follow from the addresses of what runs on
them, users and access keys are the default ones.

    clusters:
      - name: orders
        zones:
          - name: zone1
            servers: [{ip: 10.0.0.1}, {ip: 10.0.0.2}]
        tenants: [{name: shop, locality: "FULL{1}@zone1", units: [10.0.0.2]}]
    arbitration_services: [{ip: 10.0.0.10}]
    obproxy_clusters: [{name: entry, obproxies: [{ip: 10.0.0.1}, {ip: 10.0.0.2}]}]
    users: [{name: dba, password: secret, permissions: [CLUSTER_MANAGER, TASK_VIEWER]}]
    access_keys: [{id: key, secret: secret, user: dba}]
"""

import ipaddress
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ocp_emulator.base.permissions import Permission

_OB_VERSION = "4.3.5.2"
_ARBITRATION_PORT = 2888
_OBPROXY_VERSION = "4.3.3.0-5"
_OBPROXY_PORT = 2883


class FleetError(ValueError):
    """A fleet that is not valid; the message is one sentence that says where and why."""


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise ValueError(f"{text!r} is not an IP address") from None


Id = Annotated[int, Field(ge=1, le=2**53)]
Port = Annotated[int, Field(ge=1, le=65535)]
Text = Annotated[str, Field(min_length=1)]
Address = Annotated[str, AfterValidator(_address)]
TenantMode = Literal["MYSQL", "ORACLE"]
TenantStatus = Literal["NORMAL", "CREATING", "MODIFYING", "DELETING"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Numbered(_Entry):
    id: Annotated[Id | None, Field(strict=True)] = None


class _Process(_Numbered):
    ip: Address
    port: Port


class ServerEntry(_Process):
    """A server of a zone; it has the version and the parameters of its cluster unless it has its own."""

    port: Port = 2882
    sql_port: Port = 2881
    version: Text | None = None
    parameters: dict[str, str] = {}


class ZoneEntry(_Numbered):
    """A zone of a cluster."""

    name: Text
    region: Text = "default_region"
    idc: Text = "default_idc"
    servers: Annotated[list[ServerEntry], Field(min_length=1)]


class TenantEntry(_Numbered):
    """A tenant: by default a full replica in each zone, and units on all servers there. `sys` is always there.

    It has arbitration by default if its cluster names an arbitration service. `units` are addresses of servers.
    """

    name: Text
    mode: TenantMode = "MYSQL"
    locality: Text | None = None
    primary_zone: Text | None = None
    status: TenantStatus = "NORMAL"
    locked: bool = False
    readonly: bool = False
    arbitration: bool | None = None
    units: Annotated[list[Text] | None, Field(min_length=1)] = None


class ClusterEntry(_Numbered):
    """A cluster. Without `tenants` it has `sys` and `app`."""

    name: Text
    ob_cluster_id: Id | None = None
    type: Literal["PRIMARY", "STANDBY"] = "PRIMARY"
    version: Text = _OB_VERSION
    zones: Annotated[list[ZoneEntry], Field(min_length=1)]
    tenants: list[TenantEntry] | None = None
    arbitration_service: Address | None = None
    parameters: dict[str, str] = {}


class HostEntry(_Numbered):
    """A host. Needed only to set its id or name, or when nothing runs on it."""

    ip: Address
    name: Text | None = None


class ArbitrationEntry(_Process):
    """An arbitration service."""

    port: Port = _ARBITRATION_PORT
    version: Text = _OB_VERSION


class ObProxyEntry(_Process):
    """An OBProxy of an OBProxy cluster; `port` is the one for SQL."""

    port: Port = _OBPROXY_PORT
    exporter_port: Port = 2884
    idc: Text = "default_idc"
    version: Text = _OBPROXY_VERSION


class ObProxyClusterEntry(_Numbered):
    """An OBProxy cluster; its address is that of its first OBProxy unless it says another."""

    name: Text
    address: Text | None = None
    port: Port = _OBPROXY_PORT
    obproxies: Annotated[list[ObProxyEntry], Field(min_length=1)]


class UserEntry(_Numbered):
    """A user."""

    # A colon would end the name in HTTP Basic.
    name: Annotated[str, Field(min_length=1, pattern=r"^[^:\x00-\x1f]+$")]
    password: Text
    permissions: list[Permission]


class AccessKeyEntry(_Entry):
    """An access key of a user."""

    id: Annotated[str, Field(min_length=1, pattern=r"^[^:\s]+$")]
    secret: Text
    user: Text


class FleetFile(_Entry):
    """The whole file."""

    clusters: list[ClusterEntry] = []
    hosts: list[HostEntry] = []
    arbitration_services: list[ArbitrationEntry] = []
    obproxy_clusters: list[ObProxyClusterEntry] = []
    users: list[UserEntry] | None = None
    access_keys: list[AccessKeyEntry] | None = None


def read_fleet_file(path: Path) -> FleetFile:
    """The entries of a YAML file. Raises FleetError for a file that cannot be read or is not valid."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FleetError(f"the file cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FleetError("the file is not UTF-8 text") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FleetError(f"the file is not YAML: {' '.join(str(error).split())}") from error
    return parse_fleet(document)


def parse_fleet(document: object) -> FleetFile:
    """The entries in the content of a fleet file. Raises FleetError."""
    if not isinstance(document, dict):
        raise FleetError("the file has no mapping at its top, such as 'clusters: [...]'")
    try:
        return FleetFile.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FleetError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error
