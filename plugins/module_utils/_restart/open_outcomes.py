# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Requests of this process whose outcome is unknown: they may be delivered and carried out later.

Another process cannot know of them; see docs/at-most-once.md.
"""

from __future__ import annotations

from .._ocp.endpoints import OcpApi
from .._targets.target import Target
from .task_adoption import Sent

_OPEN: dict[tuple[str, str], Sent] = {}


def remember_open(api: OcpApi, target: Target, sent: Sent) -> None:
    """Note that the outcome of this request is open."""
    _OPEN[api.url, target.label] = sent


def open_request(api: OcpApi, target: Target) -> Sent | None:
    """The request for this target whose outcome is open, if any."""
    return _OPEN.get((api.url, target.label))


def close_outcome(api: OcpApi, target: Target) -> None:
    """Forget it: its task was found."""
    _OPEN.pop((api.url, target.label), None)


def forget_all() -> None:
    """Forget every request, as a new process does."""
    _OPEN.clear()
