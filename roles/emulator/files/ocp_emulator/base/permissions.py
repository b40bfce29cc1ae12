# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rights a user can hold (restart-operations.md, section 5; ocp-api.md, section 7)."""

from enum import StrEnum


class Permission(StrEnum):
    """A documented right, with the exception of ARBITRATION:VIEW."""

    ADMIN = "ADMIN"
    TASK_VIEWER = "TASK_VIEWER"
    TASK_MANAGER = "TASK_MANAGER"
    CLUSTER_VIEWER = "CLUSTER_VIEWER"
    CLUSTER_MANAGER = "CLUSTER_MANAGER"
    HOST_VIEWER = "HOST_VIEWER"
    HOST_MANAGER = "HOST_MANAGER"
    AUDIT_VIEWER = "AUDIT_VIEWER"
    # No document names the right to read arbitration services; this name is our choice, after the one to restart them.
    ARBITRATION_VIEW = "ARBITRATION:VIEW"
    ARBITRATION_UPDATE = "ARBITRATION:UPDATE"
