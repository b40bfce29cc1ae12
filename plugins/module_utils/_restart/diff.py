# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What diff mode shows of a restart."""

from __future__ import annotations

from typing import Any

from .._targets.target import Observation

Diff = dict[str, str]


def restart_diff(label: str, before: Observation, after: Observation | None, restarted: frozenset[str]) -> Diff:
    """``before`` and ``after`` as text, one line for each member; without ``after``, the members that will restart."""
    return {
        "before_header": label,
        "after_header": label,
        "before": _observation_text(before, frozenset()),
        "after": _observation_text(before, restarted) if after is None else _observation_text(after, frozenset()),
    }


def _observation_text(observed: Observation, restarted: frozenset[str]) -> str:
    return "".join(f"{_member_line(member.result(), member.name in restarted)}\n" for member in observed.members)


def _member_line(member: dict[str, Any], restarted: bool) -> str:
    if restarted:
        return f"{member['name']} restarted"
    pids = ", ".join(f"{alias} {pid}" for alias, pid in sorted((member["pids"] or {}).items()))
    shown = {"started": member["start_time"], "pids": pids}
    return " ".join(
        [f"{member['name']} {member['status']}", *(f"{key} {value}" for key, value in shown.items() if value)]
    )
