# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Members, sights, wishes and requests for tests of the journal."""

from __future__ import annotations

from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import (
    FirstSight,
    MemberKey,
    RequestRow,
    Shown,
    Wish,
)

CHANGE = "memory-2026-11-20"
WISH = Wish("d1", "a restart of each server")
OTHER_WISH = Wish("d2", "a restart of zone z1")
FIRST = MemberKey("orders 1", "server", 41, "10.1.0.1:2882")
SECOND = MemberKey("orders 1", "server", 42, "10.1.0.2:2882")
ELSEWHERE = MemberKey("stock 2", "server", 51, "10.2.0.1:2882")
START, LATER_START = "2026-03-01T10:00:00+08:00", "2026-03-02T10:00:00+08:00"


def sight(member: MemberKey = FIRST, start: str | None = START, at: float = 1000.0) -> FirstSight:
    return FirstSight(member, Shown(start), at)


def request(*members: MemberKey, **facts: Any) -> RequestRow:
    """A request for a restart of these members, by default of FIRST, for the change with the name CHANGE."""
    noted = {"at": 1000.0, "kind": "server_restart", "task_name": "Restart OB server", "change": CHANGE, "values": None}
    touched = tuple((member, Shown(START, (("observer", 7),))) for member in members or (FIRST,))
    return RequestRow(**{"number": None, "members": touched, "url": "https://ocp.test:8080", **noted, **facts})
