# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parameters of clusters that the emulator knows: their defaults, ranges, and which need a restart."""

from dataclasses import dataclass
from typing import Literal

ParameterType = Literal["STRING", "INT", "TIME", "CAPACITY", "BOOL", "ENUM"]


@dataclass(frozen=True)
class Metadata:
    """What a parameter takes. `need_restart`: a static parameter, whose value a server takes at its start."""

    type: ParameterType
    description: str
    need_restart: bool = False
    readonly: bool = False
    section: str = "OBSERVER"
    least: str | None = None
    most: str | None = None
    allowed: str | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter with the value of a new server. One that the service knows no more of has no metadata."""

    name: str
    default: str
    metadata: Metadata | None


PARAMETERS = (
    Parameter(
        "server_permanent_offline_time",
        "3600s",
        Metadata("TIME", "How long a server may be away until its replicas are given up.", least="20s"),
    ),
    Parameter(
        "stack_size",
        "1M",
        Metadata("CAPACITY", "The stack of a thread.", need_restart=True, least="512K", most="20M"),
    ),
    Parameter("clog_transport_compress_func", "lz4_1.0", None),
)
PARAMETER_NAMES = tuple(parameter.name for parameter in PARAMETERS)
