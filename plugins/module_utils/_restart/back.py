# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether the servers that a request took down serve again."""

from __future__ import annotations

from collections.abc import Iterable

from .._journal.rows import RequestRow
from .._targets.target import Member
from .change import has_moved, noted_member


def is_back(row: RequestRow, servers: Iterable[Member], *, has_ended: bool) -> bool:
    """Whether each server of the request serves, and shows a newer start than before, or else its task ``has_ended``.

    ``servers`` are all of its cluster. If the task has ended, a server that is missing there has left the cluster.
    """
    there = {member.name: member for member in servers}
    before = {key.address: noted_member(key.address, shown) for key, shown in row.members}
    for place in row.places:
        member = there.get(place.address)
        if member is not None and member.serves is not True:
            return False
        is_new = member is not None and place.address in before and has_moved(before[place.address], member) is True
        if not (is_new or has_ended):
            return False
    return True
