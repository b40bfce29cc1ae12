# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which fields are absent when they have no value, and the constants that several kinds of records show."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from ocp_emulator.base.compatibility import Visibility

ARCHITECTURE = "x86_64"
RUN_USER = "admin"
HOST_TYPE = "emulated"
INSTALL_PATH = "/home/admin/oceanbase"


def without_none(**values: object) -> dict[str, Any]:
    """The fields that have a value; None stands for a field that is absent from the response."""
    return {name: value for name, value in values.items() if value is not None}


def operating_task(row: sqlite3.Row, operating: Visibility) -> dict[str, Any]:
    """The task that works on an object; absent when there is none, and in older versions of the service."""
    return without_none(operating_task_instance_id=row["operating_task"] if operating == "shown" else None)


def json_or_null(values: Sequence[object] | None) -> str | None:
    """A list as a parameter of SQL, for `json_each`; None stays NULL."""
    return None if values is None else json.dumps(values)
