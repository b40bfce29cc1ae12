# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of restarts and waits: ranges of ``wait_timeout``, ``wait_interval`` and ``log_lines``."""

from __future__ import annotations

from typing import Any

from .._base.checks import check_nonempty, check_range
from .._base.text import LONGEST_LOG_LINES
from .._base.time_option import parse_instant_option
from .._restart.decision import InFlight
from .._restart.restart_request import RestartRequest, Safety
from .._waiting.failure_report import DEFAULT_LOG_LINES
from .._waiting.poll import SHORTEST_PAUSE, PollPolicy
from .._waiting.progress import show_nothing
from .bridge import RunMode
from .connection_options import Params, seconds_option

WAIT_OPTIONS: dict[str, Any] = {
    "log_lines": {"type": "int", "default": DEFAULT_LOG_LINES},
    "show_progress": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 7200},
    "wait_interval": {"type": "float", "default": 10},
}

RESTART_OPTIONS: dict[str, Any] = {
    "started_before": {"type": "str"},
    "in_flight": {"type": "str", "choices": [choice.value for choice in InFlight], "default": InFlight.ATTACH.value},
    "wait": {"type": "bool", "default": False},
    **WAIT_OPTIONS,
}

MAJORITY, NONE = "majority", "none"
SAFETY_OPTIONS: dict[str, Any] = {
    "safety": {"type": "str", "choices": [MAJORITY, NONE], "default": MAJORITY},
    "tolerate_outage_of": {"type": "list", "elements": "str"},
    "safety_timeout": {"type": "int", "default": 0},
}


def poll_policy(params: Params, mode: RunMode) -> PollPolicy:
    """The policy of the waiting options. Raises OptionError."""
    check_range("log_lines", params["log_lines"], 0, LONGEST_LOG_LINES, " lines")
    return PollPolicy(
        seconds_option(params, "wait_timeout", 1),
        poll_interval(params, "wait_interval"),
        mode.show if params["show_progress"] else show_nothing,
        params["log_lines"],
        mode.announce,
    )


def poll_interval(params: Params, option: str) -> float:
    """The longest pause between two polls, in seconds. Raises OptionError."""
    return seconds_option(params, option, SHORTEST_PAUSE)


def restart_options(params: Params, mode: RunMode) -> RestartRequest:
    """The options of all restart modules. Raises OptionError."""
    given = params["started_before"]
    return RestartRequest(
        mode.check_mode,
        params["wait"],
        poll_policy(params, mode),
        None if given is None else parse_instant_option("started_before", given),
        InFlight(params["in_flight"]),
        _safety(params),
    )


def _safety(params: Params) -> Safety | None:
    """What a restart may not take away. Raises OptionError."""
    if "safety" not in params:
        return None
    check_nonempty("tolerate_outage_of", params["tolerate_outage_of"], "leave it out to tolerate none")
    timeout = seconds_option(params, "safety_timeout", 0)
    return None if params["safety"] == NONE else Safety(frozenset(params["tolerate_outage_of"] or ()), timeout)
