# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What diff mode shows of a restart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._targets.target import Observation

Diff = dict[str, str]


NONE: Mapping[str, str] = {}


def restart_diff(
    label: str,
    before: Observation,
    after: Observation | None,
    restarted: frozenset[str],
    values: tuple[Mapping[str, str], Mapping[str, str]] = (NONE, NONE),
) -> Diff:
    """``before`` and ``after`` as text, one line for each member; without ``after``, the members that will restart.

    ``values`` are words about the parameters of each member, before and after.
    """
    first, last = values
    then, those = (before, restarted) if after is None else (after, frozenset[str]())
    return {
        "before_header": label,
        "after_header": label,
        "before": _observation_text(before, frozenset(), first),
        "after": _observation_text(then, those, last),
    }


def _observation_text(observed: Observation, restarted: frozenset[str], values: Mapping[str, str]) -> str:
    lines = [(_member_line(member.result(), member.name in restarted), member.name) for member in observed.members]
    return "".join(f"{' '.join(filter(None, (line, values.get(name))))}\n" for line, name in lines)


def _member_line(member: dict[str, Any], restarted: bool) -> str:
    if restarted:
        return f"{member['name']} restarted"
    pids = ", ".join(f"{alias} {pid}" for alias, pid in sorted((member["pids"] or {}).items()))
    shown = {"started": member["start_time"], "pids": pids}
    return " ".join(
        [f"{member['name']} {member['status']}", *(f"{key} {value}" for key, value in shown.items() if value)]
    )
