# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields of the parameters of a cluster, and of an OBProxy cluster."""

from typing import Annotated, Literal

from pydantic import Field

from ocp_emulator.fleet.ob_parameters import ParameterType
from ocp_emulator.schemas.schema import Schema, absent


class ObParameter(Schema):
    """The value of a parameter on a server."""

    name: str
    svr_ip: str
    svr_port: int
    svr_type: Literal["observer"]
    value: str
    zone: str


class CurrentValue(Schema):
    """The values of a parameter: all that there are, the servers of each, and the value of each server."""

    ob_parameters: list[ObParameter] = absent()
    single_value_in_cluster: bool
    value_to_servers: dict[str, list[str]] = absent()
    values: list[str]


class ValueRange(Schema):
    """The values that a parameter takes."""

    allowed_values: str | None
    max_value: str | None
    min_value: str | None
    type: ParameterType


class ClusterParameter(Schema):
    """A parameter of a cluster. If the service shows nothing else about it, it has only its name and values."""

    name: str
    current_value: CurrentValue
    default_value: str = absent()
    description: str = absent()
    need_restart: bool = absent()
    readonly: bool = absent()
    section: str = absent()
    value_range: ValueRange = absent()


class ParameterSetting(Schema):
    """A value to set."""

    name: Annotated[str, Field(strict=True)]
    value: Annotated[str, Field(strict=True)]


class ObProxyValue(Schema):
    """A value and the addresses of the OBProxies that have it."""

    obproxies: list[str]
    value: str


class ObProxyClusterParameter(Schema):
    """A parameter of an OBProxy cluster; `valueString` has all values."""

    description: str
    name: str
    need_reboot: bool
    value_string: str
    values: list[ObProxyValue]
