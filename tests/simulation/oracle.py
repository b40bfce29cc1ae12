# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The judge: what the modules did and reported, held against what really happened."""

from __future__ import annotations

from dataclasses import replace

from . import at_most_once, behaviour, majority, order, reports
from .answers import Answers
from .evidence import Evidence
from .finding import Case, Check, Finding
from .history import Run
from .simulation import Simulation

OF_RESTARTS = (
    *at_most_once.CHECKS, *order.CHECKS, *reports.RESTART_CHECKS, *behaviour.RESTART_CHECKS, *majority.RESTART_CHECKS,
    *behaviour.EVERY_CHECK,
)  # fmt: skip
OF_LOOKING = (*order.LOOKING_CHECKS, *behaviour.EVERY_CHECK)
OF_TASKS = (*reports.TASK_CHECKS, *behaviour.EVERY_CHECK)
# What is counted with these names may make a module fail, or a change that asks for a failure.
DISTURBANCES = (
    "network", "people", "task", "controller", "Ansible", "in_flight: fail", "starts shown late", "service clock",
    "clock", "reads lag", "lists lag", "host clocks", "start unknown", "end of tasks", "begin of tasks",
    "journal",
)  # fmt: skip


def judge(simulation: Simulation) -> list[Finding]:
    """All promises that one simulation broke."""
    evidence = Evidence(simulation)
    answers = Answers(simulation.profile, evidence)
    undisturbed = not any(name.startswith(DISTURBANCES) for name in simulation.choices.counts)
    case = Case(simulation.profile, simulation.history, evidence, answers, undisturbed)
    return [
        replace(finding, text=f"{run.label}: {finding.text}", run=run.number)
        for run in case.history.runs
        for check in _checks(run)
        for finding in check(case, run)
    ]


def _checks(run: Run) -> tuple[Check, ...]:
    if run.only_looks:
        return OF_LOOKING
    return OF_TASKS if run.module == "task" else OF_RESTARTS
