# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of a plan that is written to a file, or run as the file has it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .._base.cli_hints import Hints
from .._base.errors import OptionError
from .bridge import RunMode
from .connection_options import Params

if TYPE_CHECKING:
    from .._rolling.plan_basis import Approval

APPROVAL_OPTIONS: dict[str, Any] = {"plan_file": {"type": "path"}, "approved_plan": {"type": "path"}}


def approval(params: Params, mode: RunMode, *, of_fleet: bool = False) -> Approval | None:
    """What the options ask for; None if the plan is neither written nor approved. Raises OptionError."""
    plan_file, approved = given_path(params, "plan_file"), given_path(params, "approved_plan")
    if plan_file is None and approved is None:
        return None
    if plan_file is not None and approved is not None:
        raise OptionError("plan_file, approved_plan: both are given; give plan_file to write, or approved_plan to run.")
    from .._rolling.approved_plan import FLEET, ROLLING
    from .._rolling.plan_basis import Approval
    from .._rolling.plan_file import read_plan, write_plan

    if plan_file is not None:
        keep = None if mode.check_mode else partial(write_plan, plan_file, option="plan_file")
        return Approval(keep=keep, hints=Hints.of(params))
    hints, kind = Hints.of(params), FLEET if of_fleet else ROLLING
    plan = read_plan(str(approved), kind, "approved_plan")
    return Approval(plan, f"{hints.named('approved_plan')} {approved}", hints=hints)


def given_path(params: Params, name: str) -> str | None:
    """The path that an option has; None without one. Raises OptionError for an empty text."""
    given: str | None = params[name]
    if given == "":
        raise OptionError(f"{name}: is empty; give the path of a file, or leave it out.")
    return given


def refuse_approval(params: Params, with_what: str) -> None:
    """Raise OptionError if the options are given; they go ``with_what`` alone."""
    for name in APPROVAL_OPTIONS:
        if params[name] is not None:
            raise OptionError(f"{name}: {params[name]} is given, and it goes with {with_what}; leave it out.")
