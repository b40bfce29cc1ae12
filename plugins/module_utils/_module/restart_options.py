# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of restarts and waits: ranges of ``wait_timeout``, ``wait_interval`` and ``log_lines``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._base.change_name import parse_change_name
from .._base.checks import check_nonempty, check_range, check_tenants
from .._base.cli_hints import Hints
from .._base.text import LONGEST_LOG_LINES
from .._base.time_option import parse_instant_option
from .._journal.folder_lifetime import check_folder_lasts
from .._restart.failure_limit import FailureLimit
from .._restart.knowledge import InFlight
from .._restart.restart_request import RestartRequest, Safety
from .._safety.caps import Caps, parse_caps
from .._signs.metric_limit import LEAST_SAMPLES, LOOK_BACK, MetricLimit
from .._signs.offline_budget import OfflineBudget
from .._signs.sign_rules import Sign, Watch
from .._waiting.poll_pauses import DEFAULT_LOG_LINES, SHORTEST_PAUSE, PollPolicy
from .._waiting.progress_lines import show_nothing
from .._waiting.stop_refusals import MOST_LAG
from .bridge import RunMode
from .connection_options import Params, seconds_option

if TYPE_CHECKING:
    from .._base.windows import Calendar

WAIT_OPTIONS: dict[str, Any] = {
    "log_lines": {"type": "int", "default": DEFAULT_LOG_LINES},
    "show_progress": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 7200},
    "wait_interval": {"type": "float", "default": 10},
}

STEP_OPTIONS: dict[str, Any] = {"show_steps": {"type": "bool", "default": True}}
# What the restart is for, and so what needs none.
CHANGE_OPTIONS: dict[str, Any] = {"change": {"type": "str"}, "started_before": {"type": "str"}}
RESTART_OPTIONS: dict[str, Any] = {
    **CHANGE_OPTIONS,
    "in_flight": {"type": "str", "choices": [choice.value for choice in InFlight], "default": InFlight.ATTACH.value},
    "wait": {"type": "bool", "default": False},
    **WAIT_OPTIONS,
    **STEP_OPTIONS,
}

MAJORITY, NONE = "majority", "none"
SAFETY_OPTIONS: dict[str, Any] = {
    "safety": {"type": "str", "choices": [MAJORITY, NONE], "default": MAJORITY},
    "tolerate_outage_of": {"type": "list", "elements": "str"},
    "safety_timeout": {"type": "int", "default": 0},
}
# For restarts that are one of several of a run.
PART_OPTIONS: dict[str, Any] = {"planned": {"type": "list", "elements": "str"}}
# When restarts may be at work.
WINDOW_OPTIONS: dict[str, Any] = {"windows": {"type": "dict"}}
# For restarts that are part of a plan.
PLAN_OPTIONS: dict[str, Any] = {
    "require_healthy": {"type": "bool", "default": False},
    "finish_before": {"type": "str"},
    **WINDOW_OPTIONS,
}
PLANNED_SIGN_OPTIONS: dict[str, Any] = {
    "stop_on": {"type": "list", "elements": "str", "choices": [sign.value for sign in Sign]},
    "max_lag": {"type": "int", "default": MOST_LAG},
    "metric_limits": {
        "type": "list",
        "elements": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "most": {"type": "float"},
            "rise": {"type": "float"},
            "samples": {"type": "int", "default": LEAST_SAMPLES},
            "seconds": {"type": "int", "default": LOOK_BACK},
        },
        "required_one_of": [["most", "rise"]],
    },
}
SIGN_OPTIONS: dict[str, Any] = {
    **PLANNED_SIGN_OPTIONS,
    "alarms_before": {"type": "list", "elements": "int"},
    "metrics_before": {"type": "dict"},
}
BUDGET_OPTIONS: dict[str, Any] = {
    "offline_budget": {
        "type": "str",
        "choices": [choice.value for choice in OfflineBudget],
        "default": OfflineBudget.IGNORE.value,
    },
    "offline_time": {"type": "int"},
}
# How many restarts of one change may have failed anywhere.
FAILURE_OPTIONS: dict[str, Any] = {
    "max_failures": {"type": "int"},
    "judged_tasks": {"type": "list", "elements": "int"},
}
# How many servers may be down at the same time.
CAP_OPTIONS: dict[str, Any] = {"most_down": {"type": "dict"}}
EFFECT_OPTIONS: dict[str, Any] = {"until_effective": {"type": "dict"}}
# The demands on a cluster before its servers are restarted.
GATE_OPTIONS: dict[str, Any] = {
    **SAFETY_OPTIONS,
    **PLAN_OPTIONS,
    **SIGN_OPTIONS,
    **BUDGET_OPTIONS,
    **FAILURE_OPTIONS,
    **CAP_OPTIONS,
}


def watch(params: Params) -> Watch | None:
    """The signs of trouble in the options, if any; limits of metrics alone are one, too. Raises OptionError."""
    limits, before = _metric_limits(params)
    signs = frozenset(map(Sign, params["stop_on"] or ([Sign.METRICS] if limits else ())))
    lag = seconds_option(params, "max_lag", 0)
    found = Watch(signs, lag, frozenset(params.get("alarms_before") or ()), limits, before)
    return found if found.checked else None


def _metric_limits(params: Params) -> tuple[Sequence[MetricLimit], Mapping[str, float] | None]:
    """The limits of metrics, and what metrics were before the change, if that is given. Raises OptionError."""
    if not params["metric_limits"] and params.get("metrics_before") is None:
        return (), None
    from .._signs.metric_rules import parse_limit, parse_medians

    return [parse_limit(given) for given in params["metric_limits"] or ()], parse_medians(params.get("metrics_before"))


def poll_policy(params: Params, mode: RunMode) -> PollPolicy:
    """The policy of the waiting options. Raises OptionError."""
    check_range("log_lines", params["log_lines"], 0, LONGEST_LOG_LINES, " lines")
    return PollPolicy(
        seconds_option(params, "wait_timeout", 1),
        poll_interval(params, "wait_interval"),
        mode.show if params["show_progress"] else show_nothing,
        params["log_lines"],
        mode.announce,
        steps=params.get("show_steps", True),
        note=mode.note,
    )


def poll_interval(params: Params, option: str) -> float:
    """The longest pause between two polls, in seconds. Raises OptionError."""
    return seconds_option(params, option, SHORTEST_PAUSE)


def restart_options(params: Params, mode: RunMode) -> RestartRequest:
    """The options of all restart modules. Raises OptionError."""
    return RestartRequest(
        mode.check_mode,
        params["wait"],
        poll_policy(params, mode),
        started_before=given_instant(params, "started_before"),
        change=given_change(params),
        journal_url=params["journal_url"],
        in_flight=InFlight(params["in_flight"]),
        safety=_safety(params),
        finish_before=given_instant(params, "finish_before"),
        windows=given_windows(params),
        safety_timeout=seconds_option(params, "safety_timeout", 0) if "safety_timeout" in params else 0.0,
        **_signs(params),
        until_effective=wanted_values(params),
        failures=_failures(params),
        caps=given_caps(params),
        hints=Hints.of(params),
    )


def given_caps(params: Params) -> Caps | None:
    """How many servers may be down at the same time, if that is limited. Raises OptionError."""
    return parse_caps("most_down", params.get("most_down"))


def given_windows(params: Params) -> Calendar | None:
    """The windows of the option, if any. Raises OptionError."""
    given = params.get("windows")
    if given is None:
        return None
    from .._base.windows import parse_windows

    return parse_windows(Hints.of(params).named("windows"), given)


def _failures(params: Params) -> FailureLimit | None:
    """How many restarts of the change may have failed, if that is limited. Raises OptionError."""
    most = params.get("max_failures")
    if most is None:
        return None
    check_range("max_failures", most, 0)
    return FailureLimit(most, frozenset(params["judged_tasks"] or ()), Hints.of(params))


def wanted_values(params: Params) -> dict[str, str]:
    """The values of parameters that a restart is for; empty without. Raises OptionError."""
    given = params.get("until_effective")
    if given is None:
        return {}
    from .._parameters.wanted_parameters import wanted_parameters

    return wanted_parameters("until_effective", given)


def _signs(params: Params) -> dict[str, Any]:
    """What may prevent a restart besides tenants. Raises OptionError."""
    if "stop_on" not in params:
        return {}
    return {
        "watch": watch(params),
        "offline_budget": OfflineBudget(params["offline_budget"]),
        "offline_time": None if params["offline_time"] is None else seconds_option(params, "offline_time", 1),
    }


def given_change(params: Params) -> str | None:
    """The name of the change, where it is given. Raises OptionError, also where it alone would be forgotten."""
    if params["change"] is None:
        return None
    name = parse_change_name(params["change"])
    if not any(params.get(option) for option in ("journal_url", "started_before", "until_effective")):
        check_folder_lasts()
    return name


def given_instant(params: Params, option: str) -> datetime | None:
    """The instant, where the option is given. Raises OptionError."""
    given = params.get(option)
    return None if given is None else parse_instant_option(option, given)


def _safety(params: Params) -> Safety | None:
    """The demands on a cluster before the restart. Raises OptionError."""
    if "safety" not in params:
        return None
    check_tenants(Hints.of(params).named("tolerate_outage_of"), params["tolerate_outage_of"])
    zone = params["zone"] if "server" in params else None
    check_nonempty("zone", None if zone is None else [zone], "leave it out to take the server wherever it is")
    asked = Safety(
        frozenset(params["tolerate_outage_of"] or ()),
        params["safety"] == MAJORITY,
        params.get("require_healthy", False),
        zone,
    )
    return asked if asked.majority or asked.healthy or asked.zone else None
