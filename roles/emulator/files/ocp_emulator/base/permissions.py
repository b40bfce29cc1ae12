# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The permissions of a user, and which include others (docs/dev/contract.md, "Permissions").

Each route names the one that it needs, by RequirePermission in ocp_api/dependencies.py.
"""

from collections.abc import Collection
from enum import StrEnum

from ocp_emulator.base import errors


class Permission(StrEnum):
    """All are documented, except ARBITRATION:VIEW, ALARM_VIEWER, BACKUP_VIEWER and those of OBProxies."""

    ADMIN = "ADMIN"
    TASK_VIEWER = "TASK_VIEWER"
    TASK_MANAGER = "TASK_MANAGER"
    CLUSTER_VIEWER = "CLUSTER_VIEWER"
    CLUSTER_MANAGER = "CLUSTER_MANAGER"
    HOST_VIEWER = "HOST_VIEWER"
    HOST_MANAGER = "HOST_MANAGER"
    AUDIT_VIEWER = "AUDIT_VIEWER"
    # The documents require permissions to read alarms and backups, but do not name them.
    ALARM_VIEWER = "ALARM_VIEWER"
    BACKUP_VIEWER = "BACKUP_VIEWER"
    # The permission to read arbitration services has no documented name. This name is our choice, like the one to
    # restart.
    ARBITRATION_VIEW = "ARBITRATION:VIEW"
    ARBITRATION_UPDATE = "ARBITRATION:UPDATE"
    # The permissions for OBProxies have no documented names either.
    OBPROXY_VIEWER = "OBPROXY_VIEWER"
    OBPROXY_MANAGER = "OBPROXY_MANAGER"


def require(user: str, granted: Collection[Permission], needed: Permission) -> None:
    """Raise ApiError 403 unless the user, who has the `granted` permissions, has the `needed` one.

    ADMIN includes all permissions. A manager's permission does not include the viewer's: a caller who may restart a
    target may lack the permission to read it.
    """
    if not {needed, Permission.ADMIN} & set(granted):
        raise errors.forbidden(user, needed)
