# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Names of the restart tasks of the service."""

from __future__ import annotations

from .._base.parsing import Record

# See docs/contract.md, "Task graphs".
SERVER_RESTART = "Restart OB server"
ZONE_RESTART = "Restart OB zone"
CLUSTER_RESTART = "Restart OB cluster"
AGENT_RESTART = "Batch restart OCP agent"
ARBITRATION_RESTART = "Restart arbitration service"

# Filters for these names, compared whole afterwards. One word each, since services differ in how they encode a space.
AGENT_FILTER = "agent"
ARBITRATION_FILTER = "arbitration"


def is_named(task: Record, name: str) -> bool:
    """Whether the task has this name. Documents spell some names in two ways, which differ in case."""
    return str(task.get("name")).casefold() == name.casefold()
