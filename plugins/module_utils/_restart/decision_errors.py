# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The errors of decisions that end a restart before anything is sent."""

from __future__ import annotations

from .._base.errors import NotVerified, OptionError, TargetBusy
from .._ocp.endpoints import OcpApi
from .._targets.target import Target
from .._waiting.failure_report import not_serving, target_held
from .decision import Action, Decision, Look


def raise_if_refused(api: OcpApi, target: Target, decision: Decision, look: Look, log_lines: int) -> None:
    """Raise an error if the decision is to restart nothing, and that is not a success."""
    nothing = f"Did not restart {target.label}: {decision.reason}."
    if decision.action is Action.REFUSE:
        raise TargetBusy(nothing)
    if decision.action is Action.HELD and look.holder is not None:
        raise target_held(api, look.holder, nothing, log_lines)
    if decision.action is Action.ILL and look.failure is not None:
        raise not_serving(api, look.failure, nothing, log_lines)
    if decision.action is Action.ILL:
        raise NotVerified(
            f"{nothing} Look at its newest tasks and at the process itself; without started_before it is restarted in "
            "any case."
        )
    if decision.action is Action.NO_EFFECT:
        raise NotVerified(
            f"{nothing} If it was set after that start, give a later started_before; else look at the parameter in "
            "OCP, since another restart would not change it."
        )
    if decision.action is Action.DOUBT:
        raise doubt_error(nothing)


def doubt_error(nothing: str) -> OptionError:
    """The error if the shown values prove nothing; ``nothing`` is what was therefore not done."""
    return OptionError(
        f"until_effective: {nothing} Give started_before, the instant of the change, so that the start decides too."
    )
