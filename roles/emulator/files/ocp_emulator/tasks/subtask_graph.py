# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a blueprint becomes a graph of subtasks: batches, levels and links.

Links and `parallelIdx` of a batch are those of docs/dev/contract.md, "Task graphs".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class TaskKind(StrEnum):
    """Which operation a task carries out."""

    SERVER_RESTART = "SERVER_RESTART"
    SERVER_START = "SERVER_START"
    SERVER_STOP = "SERVER_STOP"
    ZONE_RESTART = "ZONE_RESTART"
    ZONE_START = "ZONE_START"
    ZONE_STOP = "ZONE_STOP"
    CLUSTER_RESTART = "CLUSTER_RESTART"
    CLUSTER_START = "CLUSTER_START"
    CLUSTER_STOP = "CLUSTER_STOP"
    AGENT_RESTART = "AGENT_RESTART"
    AGENT_STOP = "AGENT_STOP"
    ARBITRATION_RESTART = "ARBITRATION_RESTART"
    OBPROXY_RESTART = "OBPROXY_RESTART"
    INSPECTION = "INSPECTION"


class StepAction(StrEnum):
    """What a step changes in the fleet; a step without an action changes nothing that the API shows."""

    FREEZE = "FREEZE"
    STOP_SERVICE = "STOP_SERVICE"
    STOP_ZONE = "STOP_ZONE"
    STOP_OBSERVER = "STOP_OBSERVER"
    START_OBSERVER = "START_OBSERVER"
    OBSERVER_ACTIVE = "OBSERVER_ACTIVE"
    START_SERVICE = "START_SERVICE"
    SERVER_STATUS = "SERVER_STATUS"
    START_ZONE = "START_ZONE"
    ZONE_STATUS = "ZONE_STATUS"
    CLUSTER_STATUS = "CLUSTER_STATUS"
    RESTART_POS_PROXY = "RESTART_POS_PROXY"
    STOP_AGENT = "STOP_AGENT"
    START_AGENT = "START_AGENT"
    AGENT_STATUS = "AGENT_STATUS"
    STOP_ARBITRATION = "STOP_ARBITRATION"
    START_ARBITRATION = "START_ARBITRATION"
    ARBITRATION_STATUS = "ARBITRATION_STATUS"
    STOP_OBPROXY = "STOP_OBPROXY"
    START_OBPROXY = "START_OBPROXY"


@dataclass(frozen=True)
class Step:
    """One step; with `split` it becomes one subtask for each element of the batch."""

    description: str
    timeout: int
    action: StepAction | None = None
    split: bool = False


@dataclass(frozen=True)
class CompletedStep:
    """A step that is done or rolled back: its task, the batch element it worked on (or None), and when."""

    task_id: int
    element: str | None
    at: int

    @property
    def element_id(self) -> int | None:
        """The batch element as an id."""
        return None if self.element is None else int(self.element)


@dataclass(frozen=True)
class Blueprint:
    """An operation: its task name, the state of its first subtask when the call returns, and its steps in order."""

    kind: TaskKind
    task_name: str
    first_status: str
    steps: tuple[Step, ...]

    def stops_process(self) -> bool:
        """Whether a step of it ends database processes."""
        return any(step.action is StepAction.STOP_OBSERVER for step in self.steps)


@dataclass(frozen=True)
class Node:
    """One subtask of a graph: the step of its level. Links are positions in the graph.

    `element` is the batch element it works on.
    """

    step: Step
    level: int
    parallel_idx: int
    element: str | None
    upstreams: tuple[int, ...]
    downstreams: tuple[int, ...]


def build(blueprint: Blueprint, batch: Sequence[str] = ()) -> tuple[Node, ...]:
    """The graph in execution order. Each node of a level is linked to every node of the next level.

    A level is one step: one node, or for a split step one for each element of `batch`, with `parallelIdx` 0..n-1.
    Raises ValueError when a step is split and the batch is empty, since the chain would be broken.
    """
    levels: list[range] = []
    count = 0
    for step in blueprint.steps:
        width = len(batch) if step.split else 1
        if not width:
            raise ValueError(f"{blueprint.task_name}: step {step.description!r} needs at least one element")
        levels.append(range(count, count + width))
        count += width
    nodes: list[Node] = []
    for number, (step, level) in enumerate(zip(blueprint.steps, levels, strict=True)):
        upstreams = tuple(levels[number - 1]) if number else ()
        downstreams = tuple(levels[number + 1]) if number + 1 < len(levels) else ()
        nodes.extend(
            Node(step, number, idx if step.split else -1, batch[idx] if step.split else None, upstreams, downstreams)
            for idx in range(len(level))
        )
    return tuple(nodes)
