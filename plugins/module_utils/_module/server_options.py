# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of a server restart that one server and many have in common, and the restart of one."""

from __future__ import annotations

from typing import Any

from .._ocp.endpoints import OcpApi
from .._restart.run import restart_target
from .._targets.server import Server
from .._targets.target import Selector
from .bridge import RunMode
from .connection_options import Params
from .restart_options import EFFECT_OPTIONS, GATE_OPTIONS, RESTART_OPTIONS, restart_options

Result = dict[str, Any]

# The options that one server and many have in common.
COMMON_OPTIONS: dict[str, Any] = {
    "freeze_server": {"type": "bool", "required": True},
    "force": {"type": "bool", "default": False},
    **RESTART_OPTIONS,
    **GATE_OPTIONS,
    **EFFECT_OPTIONS,
}
SERVER_OPTIONS: dict[str, Any] = {
    "cluster": {"type": "str", "required": True},
    "server": {"type": "str", "required": True},
    "zone": {"type": "str"},
}


def restart_server(api: OcpApi, params: Params, mode: RunMode) -> Result:
    """The result of the restart of one server. Raises an OcpError."""
    options = restart_options(params, mode)
    return restart_target(api, server_selector(params), options)


def server_selector(params: Params) -> Selector:
    """What finds the server, and how it is restarted."""
    return Selector(Server, {name: params[name] for name in ("cluster", "server", "freeze_server", "force")})
