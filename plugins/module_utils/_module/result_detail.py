# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How much of a result is returned: what ``summary``, ``compact`` and a failure leave out; the command that waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._base.cli_hints import adhoc_command
from .._base.parsing import Record, record, records
from .._base.text import join_names
from .._ocp.task_model import FAILED

Result = dict[str, Any]
# How each object below a key of the result is written in one line.
Lines = Mapping[str, Callable[[Record], str]]

FULL, SUMMARY, COMPACT = "full", "summary", "compact"
DETAIL_OPTION = {"detail": {"type": "str", "choices": [FULL, SUMMARY, COMPACT]}}

_TASK_KEYS = ("id", "name", "status", "succeeded", "duration", "targets")
_TARGET_KEYS = ("kind", "name", "cluster_name")
_PARTS = ("hosts", "obproxies")
_LONG_KEYS = ("before", "after", "safety", "failed_subtasks")
# Left out of a compact failure, since its message has them.
_MESSAGE_KEYS = ("elapsed", "reason", "target", "task", "tasks")
_LONGEST_LIST = 20
# What a failure is without whose detail nobody asked for.
LONG_LISTS = ("servers", "results", "plan")
_BRIEF_TASK_KEYS = ("id", "name", "status", "succeeded", "rolled_back", "duration")
_BRIEF_SUBTASK_KEYS = ("task_id", "id", "position", "name", "attempt")
_BRIEF_MEMBER_KEYS = ("name", "start_time", "pids")
_STARTED = ("submitted", "attached", "adopted")


def with_wait_command(result: Result, params: Record) -> Result:
    """The result, with the command that waits for a restart that was started without waiting."""
    if "wait" not in params or params["wait"]:
        return result
    is_started = "action" in result and result["action"] in _STARTED
    task_ids = [result.get("task_id")] if is_started else result.get("task_ids") or []
    if None in task_ids or not 0 < len(task_ids) <= _LONGEST_LIST:
        return result
    return {**result, "wait_command": adhoc_command("task_wait", task_ids=",".join(map(str, task_ids)))}


def in_detail(result: Result, detail: str | None, lines: Lines | None = None, *, failed: bool = False) -> Result:
    """The part of the result, or of the facts of a failure, that ``detail`` asks for.

    Without ``detail``, a failure has what a playbook may branch on, so that its message is not lost among the rest.
    With ``compact``, each object below a key of ``lines`` is one line of text, and what the message of a failure has is
    not in its facts.
    """
    if detail is None and failed:
        return _brief(result)
    if detail in (None, FULL):
        return result
    if detail == COMPACT:
        result = {key: _in_lines(value, (lines or {}).get(key)) for key, value in result.items()}
    shaped = {key: _with_tasks(key, value, detail) for key, value in result.items()}
    if detail == SUMMARY:
        return shaped
    left_out = _LONG_KEYS + (_MESSAGE_KEYS if failed else ())
    shown = {key: value for key, value in shaped.items() if key not in left_out}
    if isinstance(shown.get("target"), dict):
        shown["target"] = _target(shown["target"])
    if "msg" not in result:
        shown.pop("trace_id", None)
    # An empty list of what was asked for is an answer.
    empty = {key: value for key, value in shown.items() if key in (lines or {}) and value == []}
    compact: Result = {**_without_nothing(shown), **empty}
    return compact


def _in_lines(value: Any, line: Callable[[Record], str] | None) -> Any:
    if line is None or not isinstance(value, (dict, list)):
        return value
    return line(value) if isinstance(value, dict) else [line(each) for each in records(value)]


def _brief(facts: Result) -> Result:
    """The facts of a failure without what its message says, and without what a person does not read on a screen."""
    return {key: _brief_value(key, value) for key, value in facts.items() if key not in LONG_LISTS}


def _brief_value(key: str, value: Any) -> Any:
    if isinstance(value, list):
        return _brief_list(key, value)
    if not isinstance(value, dict):
        return value
    match key:
        case "task":
            return _part(value, _BRIEF_TASK_KEYS)
        case "target":
            return _target(value)
        case "before" | "after" if "members" in value:
            return {"members": [_part(one, _BRIEF_MEMBER_KEYS) for one in records(value["members"])]}
        case "safety":
            return _brief_safety(value)
    return value


def _brief_safety(safety: Record) -> Record:
    if safety["allowed"]:
        return {"allowed": True}
    tenants = [_part(outage, ("tenant",)) for outage in records(safety["outages"])]
    return {"allowed": False, "outages": tenants, "problems": safety["problems"]}


def _brief_list(key: str, value: list[Any]) -> list[Any]:
    if key == "tasks":
        return [_part(task, _BRIEF_TASK_KEYS) for task in records(value)]
    if key == "failed_subtasks":
        return [_part(step, _BRIEF_SUBTASK_KEYS) for step in records(value)]
    return value


def _part(value: Record, keys: tuple[str, ...]) -> Record:
    part: Record = _without_nothing({key: value[key] for key in keys if key in value})
    return part


def _with_tasks(key: str, value: Any, detail: str) -> Any:
    if key == "task" and isinstance(value, dict):
        return _task(value, detail)
    if key == "tasks" and isinstance(value, list):
        return [_task(task, detail) if isinstance(task, dict) else task for task in value]
    return value


def _task(task: Record, detail: str) -> Record:
    if detail == COMPACT:
        undone = {"rolled_back": True} if task.get("rolled_back") is True else {}
        return {**{key: task[key] for key in _TASK_KEYS if key in task}, **undone}
    return {**task, "subtasks": [step for step in records(task.get("subtasks")) if step.get("status") == FAILED]}


def _target(target: Record) -> Record:
    parts = [part for key in _PARTS for part in records(target.get(key))]
    named = {"name": join_names(str(part.get("name")) for part in parts)} if parts else {}
    return {key: value for key, value in {**target, **named}.items() if key in _TARGET_KEYS}


def _without_nothing(value: Any) -> Any:
    """Without null, empty texts, lists and dicts."""
    if isinstance(value, dict):
        kept = {key: _without_nothing(item) for key, item in record(value).items()}
        return {key: item for key, item in kept.items() if item is not None and item not in ("", [], {})}
    if isinstance(value, list):
        return [_without_nothing(item) for item in value]
    return value
