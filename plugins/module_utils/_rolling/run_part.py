# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart that is one part of a run which calls a module for some of its targets after others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.checks import check_nonempty
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._restart.reasons import WOULD_RESTART
from .._restart.restart_request import RestartRequest
from .._restart.run import restart_target
from .._targets.target import Selector
from .._waiting.progress import progress_line
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
    result = restart_target(api, selector, request, clock)
    # A run that finds nothing to do has no lines but Ansible's.
    if planned and request.wait and result["action"] != "skipped":
        request.policy.show(progress_line(_words(result, targets, planned, would=request.check_mode)), False)
    return result


def _words(result: Result, targets: Sequence[str], planned: Sequence[str], *, would: bool) -> str:
    """As in ``4 of 9, 5 left, about 17 s: 10.0.0.3 and 10.0.0.4 restarted in 5.7 s``; what may be long comes last."""
    what = _outcome_words(result, would=would)
    there = [place for place, name in enumerate(planned, start=1) if name in targets]
    if not there:
        return what
    left = len(planned) - max(there)
    seconds = math.ceil(left / len(targets)) * result["elapsed"]
    time_left = f", about {duration_words(seconds)}" if left and not would else ""
    return f"{max(there)} of {len(planned)}, {left} left{time_left}: {what}"


def _outcome_words(result: Result, *, would: bool) -> str:
    reason = str(result["reason"])
    alone = [host["name"] for host in result.get("skipped_hosts") or ()]
    names = join_names(one["name"] for one in result["before"]["members"] if one["name"] not in alone)
    beside = f", {join_names(alone)} left alone" if alone else ""
    if would and result["action"] == "submitted":
        return f"would restart {names}{beside}: {reason.removeprefix(WOULD_RESTART)}"
    return reason if would else f"{names} restarted in {result['elapsed']:.1f} s{beside}"
