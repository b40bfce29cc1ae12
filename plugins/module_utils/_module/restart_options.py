# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of waiting, and those that all restart modules share."""

from __future__ import annotations

from typing import Any

from .._base.checks import within
from .._base.clock import instant_option
from .._base.text import LOG_LINES
from .._restart.decision import InFlight
from .._restart.restart import Options
from .._waiting.failure_report import DEFAULT_LOG_LINES
from .._waiting.poll import SHORTEST_PAUSE, Patience
from .._waiting.progress import silent
from .bridge import Mode
from .connection_options import Params, seconds_option

PATIENCE_OPTIONS: dict[str, Any] = {
    "log_lines": {"type": "int", "default": DEFAULT_LOG_LINES},
    "show_progress": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 7200},
    "wait_interval": {"type": "float", "default": 10},
}

RESTART_OPTIONS: dict[str, Any] = {
    "started_before": {"type": "str"},
    "in_flight": {"type": "str", "choices": [choice.value for choice in InFlight], "default": InFlight.ATTACH.value},
    "wait": {"type": "bool", "default": False},
    **PATIENCE_OPTIONS,
}


def patience(params: Params, mode: Mode) -> Patience:
    """The waiting options. Raises OptionError."""
    within("log_lines", params["log_lines"], 0, LOG_LINES, " lines")
    return Patience(
        seconds_option(params, "wait_timeout", 1),
        longest_pause(params, "wait_interval"),
        mode.show if params["show_progress"] else silent,
        params["log_lines"],
    )


def longest_pause(params: Params, option: str) -> float:
    """The seconds that ``option`` allows between two looks. Raises OptionError."""
    return seconds_option(params, option, SHORTEST_PAUSE)


def restart_options(params: Params, mode: Mode) -> Options:
    """The options that all restart verbs share. Raises OptionError."""
    given = params["started_before"]
    return Options(
        mode.check_mode,
        params["wait"],
        patience(params, mode),
        None if given is None else instant_option("started_before", given),
        InFlight(params["in_flight"]),
    )
