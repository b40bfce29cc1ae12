# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart that is one part of a run which calls a module for some of its targets after others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.checks import check_nonempty
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import OcpError
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._restart.reasons import WOULD_JOIN, WOULD_RESTART
from .._restart.restart_request import RestartRequest
from .._restart.run import restart_target
from .._targets.target import Selector
from .._waiting.progress_lines import progress_line
from .run_record import duration_words

Result = dict[str, Any]


def restart_part(
    api: OcpApi,
    selector: Selector,
    targets: Sequence[str],
    planned: Sequence[str] | None,
    request: RestartRequest,
    clock: Clock = SYSTEM_CLOCK,
) -> Result:
    """Restart some ``targets`` of a run (see restart_target), and show how far the run is.

    ``planned`` are all targets of the run; None for a restart that belongs to no run. The evidence gets both lists.
    Raises an OcpError.
    """
    check_nonempty("planned", planned, "name all targets of the run, or leave it out")
    if planned:
        request.policy.note({"part": {"planned": list(planned), "targets": list(targets)}})
    try:
        result = restart_target(api, selector, request, clock)
    except OcpError as error:
        if planned and error.facts.get("task_id") is not None:
            line = _line(f"{join_names(targets)} FAILED", targets, planned)
            request.policy.show(progress_line(line), True)
        raise
    if planned and result["action"] == "postponed":
        names = ", ".join(_left(result, targets, planned))
        # Whole, however narrow the terminal is.
        request.policy.announce(progress_line(f"Left for the next run, since {result['reason']}: {names}"), False)
    # A run that finds nothing to do says so once.
    elif planned and request.wait and (result["action"] != "skipped" or planned[-1] in targets):
        line = _of_check(result, targets, planned) if request.check_mode else _of_run(result, targets, planned)
        request.policy.show(progress_line(line), False)
    return result


def _line(what: str, targets: Sequence[str], planned: Sequence[str], pace: float | None = None) -> str:
    """As in ``4 of 9, 10.0.0.4 restarted in 5.7 s, 5 left, about 29 s``; ``pace`` is how many seconds a part takes."""
    there = [place for place, name in enumerate(planned, start=1) if name in targets]
    if not there:
        return what
    left = len(planned) - max(there)
    time_left = f", about {duration_words(math.ceil(left / len(targets)) * pace)}" if left and pace is not None else ""
    return f"{max(there)} of {len(planned)}, {what}, {left} left{time_left}"


def _of_run(result: Result, targets: Sequence[str], planned: Sequence[str]) -> str:
    took = result["elapsed"]
    pace = None if result["action"] == "skipped" else took
    return _line(_outcome("", result, f" restarted in {took:.1f} s"), targets, planned, pace)


def _of_check(result: Result, targets: Sequence[str], planned: Sequence[str]) -> str:
    would = "would wait for the restart of " if result["action"] == "attached" else "would restart "
    reason = str(result["reason"]).removeprefix(WOULD_RESTART).removeprefix(WOULD_JOIN)
    return f"{_line(_outcome(would, result, ''), targets, planned)}: {reason}"


def _left(result: Result, targets: Sequence[str], planned: Sequence[str]) -> list[str]:
    """The members that a postponed part would have restarted, and all targets after it."""
    last = max((place for place, name in enumerate(planned, start=1) if name in targets), default=len(planned))
    return [*_needing(result)[0], *planned[last:]]


def _needing(result: Result) -> tuple[list[str], list[str]]:
    """The members that need a restart, and those that do not."""
    every = [one["name"] for one in result["before"]["members"]]
    skipped = [host["name"] for host in result.get("skipped_hosts") or ()]
    alone = every if result["action"] == "skipped" else [name for name in every if name in skipped]
    return [name for name in every if name not in alone], alone


def _outcome(before: str, result: Result, after: str) -> str:
    """What became of the members that need a restart, between these words, and of those that do not."""
    names, alone = _needing(result)
    said = [f"{before}{join_names(names)}{after}"] if names else []
    return ", ".join([*said, *([f"{join_names(alone)} left alone"] if alone else [])])
