# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The graph of subtasks of a simulated task, and how its states move."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .fleet import Key, Versioned

NAMES = {
    ("server", "restart"): "Restart OB server",
    ("zone", "restart"): "Restart OB zone",
    ("cluster", "restart"): "Restart OB cluster",
    ("host", "restart"): "Batch restart OCP agent",
    ("arbitration", "restart"): "Restart arbitration service",
    ("server", "stop"): "Stop OB server",
    ("server", "start"): "Start OB server",
    ("cluster", "other"): "Modify OB parameters",
}
# Level by level: description, what happens at its end, and whether it is split by member.
LEVELS: dict[str, tuple[tuple[str, str | None, bool], ...]] = {
    "restart": (
        ("Prepare restart", None, False),
        ("Stop process", "stop", True),
        ("Start process", "start", True),
        ("Wait active", "activate", False),
        ("Update status", None, False),
    ),
    "stop": (("Prepare stop", None, False), ("Stop process", "stop", True), ("Update status", None, False)),
    "start": (("Prepare start", None, False), ("Start process", "start", True), ("Wait active", "activate", False)),
    "other": (("Modify", None, False), ("Check", None, False)),
}


CHINESE = {
    "Prepare restart": "准备重启",
    "Prepare stop": "准备停止",
    "Prepare start": "准备启动",
    "Stop process": "停止进程",
    "Start process": "启动进程",
    "Wait active": "等待进程可用",
    "Update status": "更新状态",
    "Modify": "修改参数",
    "Check": "检查",
}


@dataclass
class Step:
    """A subtask; ``members`` are what its effect happens to."""

    id: int
    level: int
    description: str
    effect: str | None
    members: tuple[Key, ...]
    parallel: int
    status: str = "PENDING"
    operation: str = "EXECUTE"
    attempts: int = 0
    began: float | None = None
    ended: float | None = None


@dataclass
class Task:
    """A task as it really is; ``record`` has its past. ``request`` is the POST that caused it, None for a person."""

    id: int
    kind: str
    work: str
    own: Key | None
    members: tuple[Key, ...]
    cluster: int | None
    creator: str
    request: object
    created: float
    steps: list[Step] = field(default_factory=list)
    level: int = -1
    generation: int = 0
    fails_at: int | None = None
    fails_after_effect: bool = False
    heals_after: int = 1
    duration: float = 0.6
    clock: float = 0.0  # of the application server that runs it, seconds ahead of the others
    idle: bool = False  # it ends well and does nothing
    record: Versioned = None  # type: ignore[assignment]
    accepted_actions: list[tuple[float, str, object]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As the service names it."""
        return NAMES[self.kind, self.work]

    @property
    def status(self) -> str:
        """Its true status word."""
        return str(self.record.now["status"])

    @property
    def rolls_back(self) -> bool:
        """Whether it undoes, or has undone, what it did."""
        return bool(self.record.now["operation"] == "ROLLBACK")

    @property
    def skipped_effect(self) -> bool:
        """Whether a subtask that stops or starts was skipped."""
        return any(step.effect in ("stop", "start") and step.operation == "SKIP" for step in self.steps)

    def is_archived(self, when: float, after: float) -> bool:
        """Whether it has ended so many seconds before, and holds nothing."""
        state = self.record.at(when - after)
        return state is not None and state["finish"] is not None and state["status"] != "FAILED"

    def ended_well(self, state: dict[str, Any] | None = None) -> bool:
        """Whether it is SUCCESSFUL and was not rolled back, in a state of its record."""
        state = state or self.record.now
        return bool(state["status"] == "SUCCESSFUL" and state["operation"] != "ROLLBACK")
