# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Events of a run of Ansible as a callback gets them, and the check of the evidence by its schema."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.plugin_utils._ansible_core import CORE
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence.run_recorder import RunRecorder
from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/evidence.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
URL = "https://ocp.example.com:8080"
SERVER = {"kind": "server", "id": 1, "name": "10.0.0.1:2882", "cluster_id": 1, "cluster_name": "orders"}


def checked(document: dict[str, Any]) -> dict[str, Any]:
    """The document. AssertionError if it is not as its schema says."""
    problems = [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]
    assert problems == []
    return document


def observed(*starts: str | None, names: tuple[str, ...] = ("10.0.0.1:2882",)) -> dict[str, Any]:
    members = zip(names, starts, strict=True)
    return {"status": "RUNNING", "members": [{"name": name, "start_time": at, "pids": None} for name, at in members]}


def restarted(**values: Any) -> dict[str, Any]:
    """The result of a server that was restarted."""
    task = {"id": 1001, "name": "Restart OB server", "status": "SUCCESSFUL", "creator": "admin", "subtasks": []}
    times = {"start_time": "2026-05-04T03:00:00+08:00", "finish_time": "2026-05-04T03:00:09+08:00", "duration": 9.0}
    return {
        "changed": True,
        "action": "submitted",
        "reason": "it started before the change",
        "task_id": 1001,
        "task": {**task, **times},
        "target": SERVER,
        "before": observed("2026-05-01T00:00:00+08:00"),
        "after": observed("2026-05-04T03:00:05+08:00"),
        "verified": True,
        "elapsed": 9.5,
        "trace_id": "abc",
        **values,
    }


class Task:
    """A task of a playbook, with its evaluated keywords."""

    def __init__(self, module: str, name: str = "Restart it", **keywords: Any) -> None:
        self.keywords = {"args": {}, "check_mode": False, "ignore_errors": None, "name": name, **keywords}
        self.action = self.resolved_action = module if "." in module else f"oceanbase.ocp.{module}"
        self._uuid = f"{module} {name}"
        self._name = name

    def get_name(self) -> str:
        return self._name


def task_result(host: Any, task: Task, shown: dict[str, Any]) -> SimpleNamespace:
    """What a callback gets, by the names of this ansible-core."""
    if CORE < (2, 19):
        return SimpleNamespace(_host=host, _task=task, _result=shown, _task_fields=task.keywords)
    if CORE < (2, 21):
        return SimpleNamespace(host=host, task=task, result=shown, task_fields=task.keywords)
    vars(task).update(task.keywords)
    return SimpleNamespace(host=host, task=task, result=shown)


class Run:
    """A run of which the evidence is written to ``file``."""

    def __init__(self, file: Path, ticket: str | None = "CHG-4711", **options: Any) -> None:
        self.shown: list[str] = []
        self.warnings: list[str] = []
        display = SimpleNamespace(display=lambda line, **_: self.shown.append(line), warning=self.warnings.append)
        self.file = file
        self.recorder = RunRecorder(str(file), ticket, options, display)  # type: ignore[arg-type]

    def begins(self, extra_vars: dict[str, Any] | None = None) -> None:
        self.recorder.playbook(SimpleNamespace(_file_name="/srv/restart.yml"))
        manager = SimpleNamespace(extra_vars=extra_vars or {})
        self.recorder.play(SimpleNamespace(get_name=lambda: "Restart", get_variable_manager=lambda: manager))

    def host(self, name: str = "localhost") -> SimpleNamespace:
        return SimpleNamespace(get_name=lambda: name)

    def result(self, module: str, shown: dict[str, Any], name: str = "Restart it", **fields: Any) -> SimpleNamespace:
        given = {"args": {"url": URL, "username": "admin", "password": "s3cr3t-word"}, **fields}
        return task_result(self.host(), Task(module, name, **given), shown)

    def ends(self, *, failed: bool = False) -> None:
        self.recorder.stats(SimpleNamespace(failures={"localhost": 1} if failed else {}, dark={}))

    @property
    def document(self) -> dict[str, Any]:
        return checked(json.loads(self.file.read_text()))

    @property
    def page(self) -> str:
        return self.file.with_suffix(".html").read_text()
