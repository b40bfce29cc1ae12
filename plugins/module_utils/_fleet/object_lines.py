# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""One line of text for each object that an info module returns: what ``detail: compact`` shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from .._base.parsing import Record, record, records
from .._ocp.task_model import FAILED

Line = Callable[[Record], str]

# What names an object in a list of others, and what is shown beside the name.
_NAMES = ("name", "server", "address")
_BESIDE = ("status", "works")


def line_of(first: str, *others: str) -> Line:
    """A line with the value of ``first``, and ``key=value`` for each of the ``others`` that has one.

    Null, false and empty values are left out. A list of objects has the names of these, and their states.
    """

    def line(facts: Record) -> str:
        shown = ((key, _value(facts.get(key))) for key in others)
        return " ".join([_value(facts.get(first)) or "?", *(f"{key}={value}" for key, value in shown if value)])

    return line


def task_line(facts: Record) -> str:
    """A task: id, name, status, and where it has FAILED or what it does now."""
    progress, steps = record(facts.get("progress")), records(facts.get("subtasks"))
    line = line_of(
        "id", "name", "status", "targets", "cluster_name", "start_time", "duration", "done", "now", "failed_at"
    )
    return line(
        {
            **facts,
            "done": f"{progress['done']}/{progress['total']}" if progress.get("total") else None,
            "now": progress.get("running"),
            "failed_at": [step.get("description") for step in steps if step.get("status") == FAILED],
        }
    )


def parameter_line(facts: Record) -> str:
    """A parameter of a cluster: its value, or each one with the number of servers that run with it."""
    shown = record(facts.get("server_values")).values()
    counted = Counter("unknown" if value is None else str(value) for value in shown)
    values = [f"{value} on {servers}" for value, servers in counted.items()] if len(counted) > 1 else list(counted)
    line = line_of("name", "value", "wanted", "pending", "needs_restart", "readonly", "default", "minimum", "maximum")
    return line({**facts, "value": values if len(values) > 1 else next(iter(values), None)})


def _value(value: Any) -> str:
    if isinstance(value, list):
        shown = [_value(each) for each in value]
        return f"[{', '.join(each for each in shown if each)}]" if any(shown) else ""
    if isinstance(value, dict):
        named = [str(value[key]) for key in (*_NAMES, *_BESIDE) if value.get(key)]
        return " ".join(named) or ", ".join(f"{key} {_value(each)}" for key, each in value.items() if _value(each))
    if value is None or value is False:
        return ""
    return "true" if value is True else str(value)
