# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The start of one server in the ``before`` or ``after`` of a restart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def start_shown(observed: Mapping[str, Any] | None, name: str | None = None) -> str | None:
    """The start of the member of this name, or of the only one; None if it is not shown."""
    members = observed["members"] if observed else []
    starts: list[str | None] = [one["start_time"] for one in members if name is None or one["name"] == name]
    return starts[0] if len(starts) == 1 else None
