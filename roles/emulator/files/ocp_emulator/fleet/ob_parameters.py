# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The parameters of clusters that the emulator knows: their defaults, ranges, and which need a restart.

Names, defaults, ranges and what needs a restart are those of OceanBase 4.x; a boolean is an ENUM, as OCP documents it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ParameterType = Literal["STRING", "INT", "TIME", "CAPACITY", "BOOL", "ENUM"]


@dataclass(frozen=True)
class Metadata:
    """The values that a parameter takes. `need_restart`: a static parameter, whose value a server takes at its start.

    `words` are those that the database takes where the service shows no `allowed` ones.
    """

    type: ParameterType
    description: str
    need_restart: bool = False
    readonly: bool = False
    section: str = "OBSERVER"
    least: str | None = None
    most: str | None = None
    allowed: str | None = None
    words: str | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter with the value of a new server. If the service shows only its values, it has no metadata."""

    name: str
    default: str
    metadata: Metadata | None

    @property
    def static(self) -> bool:
        """Whether a server takes its value at its start only."""
        return self.metadata is not None and self.metadata.need_restart


PARAMETERS = (
    Parameter(
        "server_permanent_offline_time",
        "3600s",
        Metadata("TIME", "How long a server may be away until its replicas are given up.", least="20s"),
    ),
    Parameter(
        "stack_size",
        "512K",
        Metadata("CAPACITY", "The stack of a thread.", need_restart=True, least="512K", most="20M"),
    ),
    Parameter(
        "net_thread_count",
        "0",
        Metadata("INT", "The threads for network traffic; 0 is by CPUs.", need_restart=True, least="0", most="64"),
    ),
    Parameter(
        "high_priority_net_thread_count",
        "0",
        Metadata("INT", "The threads for urgent messages; 0 is none.", need_restart=True, least="0", most="64"),
    ),
    Parameter(
        "use_large_pages",
        "false",
        Metadata("STRING", "Whether large memory pages are used.", need_restart=True, words="true,false,only"),
    ),
    Parameter("cpu_count", "0", Metadata("INT", "The CPUs of a server; 0 is what it has.", least="0")),
    Parameter(
        "memory_limit",
        "0M",
        Metadata("CAPACITY", "The memory of a server; 0 is by memory_limit_percentage.", least="0M"),
    ),
    Parameter(
        "memory_limit_percentage",
        "80",
        Metadata("INT", "The share of the memory of its host that a server takes.", least="10", most="95"),
    ),
    Parameter(
        "trace_log_slow_query_watermark",
        "1s",
        Metadata("TIME", "How long a query takes that is a slow one.", least="1ms"),
    ),
    Parameter(
        "internal_sql_execute_timeout",
        "30s",
        Metadata("TIME", "How long an internal request may take.", least="1000us", most="1h"),
    ),
    Parameter("tcp_keepcnt", "10", Metadata("INT", "The probes until a silent connection is given up.", least="1")),
    Parameter(
        "tcp_keepidle", "7200s", Metadata("TIME", "How long a connection is silent until it is probed.", least="1s")
    ),
    Parameter(
        "enable_tcp_keepalive",
        "True",
        Metadata("ENUM", "Whether silent connections are probed.", allowed="TRUE,FALSE"),
    ),
    Parameter("syslog_level", "WDIAG", Metadata("STRING", "From which level on messages are logged.")),
    Parameter("devname", "bond0", Metadata("STRING", "The network interface.", readonly=True)),
    Parameter("data_dir", "store", Metadata("STRING", "Where the data is.", readonly=True, section="SSTABLE")),
    Parameter("ilog_index_expire_time", "7d", None),
)
BY_NAME: Mapping[str, Parameter] = {parameter.name: parameter for parameter in PARAMETERS}
PARAMETER_NAMES = tuple(BY_NAME)
