# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Names of the restart tasks of the service."""

from __future__ import annotations

# See docs/contract.md, "Task graphs".
SERVER_RESTART = "Restart OB server"
ZONE_RESTART = "Restart OB zone"
CLUSTER_RESTART = "Restart OB cluster"
AGENT_RESTART = "Batch restart OCP agent"
ARBITRATION_RESTART = "Restart arbitration service"
