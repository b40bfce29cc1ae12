# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fields that clusters, hosts and arbitration services have in common."""

import sqlite3
from typing import Any

from ocp_emulator.base.compatibility import Visibility
from ocp_emulator.serializers.fields import without_none

ARCHITECTURE = "x86_64"
RUN_USER = "admin"
INSTALL_PATH = "/home/admin/oceanbase"


def operating_task(row: sqlite3.Row, operating: Visibility) -> dict[str, Any]:
    """The task that works on an object; absent when there is none, and in older versions of the service."""
    return without_none(operating_task_instance_id=row["operating_task"] if operating == "shown" else None)
