# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The subtask graph of each operation: pure data and one pure function.

Steps, order and graph are those of restart-operations.md, section 2.4; time-outs (in seconds), `parallelIdx` and the
forks of a batch are those of ocp-api.md, section 4. The restart of a zone is a documented neighbour of them (4.5). Of
the starts and stops only the calls are documented there: their steps are our choice, made of those of the restarts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ocp_emulator.base.compatibility import ServerRestartSteps


class Kind(StrEnum):
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
    ARBITRATION_RESTART = "ARBITRATION_RESTART"


class Action(StrEnum):
    """What a step changes in the fleet; a step without one changes nothing that can be read through the API."""

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


@dataclass(frozen=True)
class Step:
    """One step as it is written down; with `split` it becomes one subtask for each element of the batch."""

    description: str
    timeout: int
    action: Action | None = None
    split: bool = False


@dataclass(frozen=True)
class Blueprint:
    """An operation: its task name, the state of its first subtask when the call returns, and its steps in order."""

    kind: Kind
    task_name: str
    first_status: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Node:
    """One subtask of a graph. Links are positions in the graph; `element` is the batch element it works on."""

    step: Step
    parallel_idx: int
    element: str | None
    upstreams: tuple[int, ...]
    downstreams: tuple[int, ...]


_WAIT = Step("Wait node", 30)

SERVER_RESTART = Blueprint(
    Kind.SERVER_RESTART,
    "Restart OB server",
    "READY",
    (
        Step("Prepare restart observer", 300),
        Step("Stop observer service", 300, Action.FREEZE),
        Step("Inactive agent modules", 3600),
        Step("Stop observer process", 1200, Action.STOP_OBSERVER),
        Step("Start observer process", 1200, Action.START_OBSERVER),
        Step("Wait observer active", 1800, Action.OBSERVER_ACTIVE),
        Step("Active agent modules", 1800),
        Step("Start observer service", 300, Action.START_SERVICE),
        Step("Set observer process oom_score_adj", 300),
        Step("Update observer status", 300, Action.SERVER_STATUS),
        Step("Update zone status", 1800, Action.ZONE_STATUS),
        Step("Sync cluster info", 60),
        Step("Update OB cluster status", 30, Action.CLUSTER_STATUS),
    ),
)

# As older versions of the service document it.
SERVER_RESTART_OF_11 = Blueprint(
    Kind.SERVER_RESTART,
    "Restart OB server",
    "READY",
    (
        Step("Prepare restart observer", 300),
        Step("Stop server", 300, Action.FREEZE),
        Step("Stop observer process", 1200, Action.STOP_OBSERVER),
        Step("Start observer process", 1200, Action.START_OBSERVER),
        Step("Wait observer active", 1800, Action.OBSERVER_ACTIVE),
        Step("Start ocp agent service", 1800),
        Step("Start server", 300, Action.START_SERVICE),
        Step("Update observer status", 300, Action.SERVER_STATUS),
        Step("Update zone status", 1800, Action.ZONE_STATUS),
        Step("Sync cluster info", 30),
        Step("Update OB cluster status", 30, Action.CLUSTER_STATUS),
    ),
)

SERVER_RESTARTS: Mapping[ServerRestartSteps, Blueprint] = {"13": SERVER_RESTART, "11": SERVER_RESTART_OF_11}

# The documented answer shows no time-outs for this operation; these are the ones the same steps have elsewhere.
CLUSTER_RESTART = Blueprint(
    Kind.CLUSTER_RESTART,
    "Restart OB cluster",
    "RUNNING",
    (
        Step("Prepare restart cluster", 300),
        Step("Set zone context", 300),
        Step("Prepare restart OB zone", 1800),
        Step("Prepare restart observer", 300),
        _WAIT,
        Step("Stop observer process", 1200, Action.STOP_OBSERVER),
        _WAIT,
        Step("Start observer process", 1200, Action.START_OBSERVER),
        Step("Wait observer accessible", 1800, Action.OBSERVER_ACTIVE),
        Step("Start ocp agent service", 1800),
        _WAIT,
        Step("Start server", 300, Action.START_SERVICE),
        _WAIT,
        Step("Update observer status", 300, Action.SERVER_STATUS),
        Step("Start zone", 1800, Action.START_ZONE),
        Step("Update zone status", 1800, Action.ZONE_STATUS),
        Step("Sync cluster info", 60),
        Step("Sync all tenant information", 60),
        Step("Update OB cluster status", 30, Action.CLUSTER_STATUS),
    ),
)

_PREPARE_OBSERVER = Step("Prepare restart observer", 300, split=True)
_STOP_EACH = Step("Stop observer process", 1200, Action.STOP_OBSERVER, split=True)
_START_EACH = Step("Start observer process", 1200, Action.START_OBSERVER, split=True)
_WAIT_ACTIVE = Step("Wait observer active", 1800, Action.OBSERVER_ACTIVE)
_AGENT_OF_EACH = Step("Start ocp agent service", 1800, split=True)
_STATUS_OF_EACH = Step("Update observer status", 300, Action.SERVER_STATUS, split=True)
_STOP_ZONE = Step("Stop zone", 1800, Action.STOP_ZONE)
_START_ZONE = Step("Start zone", 1800, Action.START_ZONE)
# How the operations on zones end.
_AFTER_ZONE = (
    Step("Update zone status", 1800, Action.ZONE_STATUS),
    Step("Sync cluster info", 30),
    Step("Update OB cluster status", 30, Action.CLUSTER_STATUS),
)

# The steps that are split are so by server: the documented answer, of a zone with one, has parallelIdx 0 on them.
ZONE_RESTART = Blueprint(
    Kind.ZONE_RESTART,
    "Restart OB zone",
    "READY",
    (
        Step("Prepare restart OB zone", 1800),
        _STOP_ZONE,
        _PREPARE_OBSERVER,
        _WAIT,
        _STOP_EACH,
        _WAIT,
        _START_EACH,
        _WAIT_ACTIVE,
        _AGENT_OF_EACH,
        _WAIT,
        _STATUS_OF_EACH,
        _START_ZONE,
        *_AFTER_ZONE,
    ),
)

ZONE_STOP = Blueprint(
    Kind.ZONE_STOP,
    "Stop OB zone",
    "READY",
    (Step("Prepare stop OB zone", 1800), _STOP_ZONE, _STOP_EACH, _WAIT, _STATUS_OF_EACH, *_AFTER_ZONE),
)

ZONE_START = Blueprint(
    Kind.ZONE_START,
    "Start OB zone",
    "READY",
    (
        Step("Prepare start OB zone", 1800),
        _START_EACH,
        _WAIT_ACTIVE,
        _AGENT_OF_EACH,
        _WAIT,
        _STATUS_OF_EACH,
        _START_ZONE,
        *_AFTER_ZONE,
    ),
)

# How the operations on one server end.
_AFTER_SERVER = (
    Step("Update observer status", 300, Action.SERVER_STATUS),
    Step("Update zone status", 1800, Action.ZONE_STATUS),
    Step("Sync cluster info", 60),
    Step("Update OB cluster status", 30, Action.CLUSTER_STATUS),
)

SERVER_START = Blueprint(
    Kind.SERVER_START,
    "Start OB server",
    "READY",
    (
        Step("Prepare start observer", 300),
        Step("Start observer process", 1200, Action.START_OBSERVER),
        Step("Wait observer active", 1800, Action.OBSERVER_ACTIVE),
        Step("Active agent modules", 1800),
        Step("Start observer service", 300, Action.START_SERVICE),
        *_AFTER_SERVER,
    ),
)

SERVER_STOP = Blueprint(
    Kind.SERVER_STOP,
    "Stop OB server",
    "READY",
    (
        Step("Prepare stop observer", 300),
        Step("Stop observer service", 300, Action.STOP_SERVICE),
        Step("Inactive agent modules", 3600),
        Step("Stop observer process", 1200, Action.STOP_OBSERVER),
        *_AFTER_SERVER,
    ),
)

# The process goes on, out of service.
SERVER_STOP_SERVICE = Blueprint(
    Kind.SERVER_STOP,
    "Stop OB server",
    "READY",
    (
        Step("Prepare stop observer", 300),
        Step("Stop observer service", 300, Action.STOP_SERVICE),
        *_AFTER_SERVER,
    ),
)

CLUSTER_START = Blueprint(
    Kind.CLUSTER_START,
    "Start OB cluster",
    "RUNNING",
    (
        Step("Prepare start cluster", 300),
        Step("Start observer process", 1200, Action.START_OBSERVER),
        Step("Wait observer accessible", 1800, Action.OBSERVER_ACTIVE),
        Step("Start ocp agent service", 1800),
        Step("Start server", 300, Action.START_SERVICE),
        Step("Update observer status", 300, Action.SERVER_STATUS),
        Step("Start zone", 1800, Action.START_ZONE),
        Step("Update zone status", 1800, Action.ZONE_STATUS),
        Step("Sync cluster info", 60),
        Step("Update OB cluster status", 30, Action.CLUSTER_STATUS),
    ),
)

CLUSTER_STOP = Blueprint(
    Kind.CLUSTER_STOP,
    "Stop OB cluster",
    "RUNNING",
    (
        Step("Prepare stop cluster", 300),
        Step("Stop zone", 1800, Action.STOP_ZONE),
        Step("Stop observer process", 1200, Action.STOP_OBSERVER),
        *_AFTER_SERVER,
    ),
)

AGENT_RESTART = Blueprint(
    Kind.AGENT_RESTART,
    "Batch restart OCP agent",
    "READY",
    (
        Step("Prepare restart OCP agent", 60, split=True),
        _WAIT,
        Step("Restart pos proxy", 60, Action.RESTART_POS_PROXY, split=True),
        _WAIT,
        Step("Stop all OCP agent processes", 600, Action.STOP_AGENT, split=True),
        _WAIT,
        Step("Start all OCP agent processes", 600, Action.START_AGENT, split=True),
        _WAIT,
        Step("Finish OCP agent operation", 60, Action.AGENT_STATUS, split=True),
    ),
)

ARBITRATION_RESTART = Blueprint(
    Kind.ARBITRATION_RESTART,
    "Restart arbitration service",
    "READY",
    (
        Step("Prepare restart arbitration service", 60),
        Step("Stop arbitration service", 1800, Action.STOP_ARBITRATION),
        Step("Start arbitration service", 1800, Action.START_ARBITRATION),
        Step("Clean arbitration status monitor records", 120),
        Step("Update arbitration service status", 60, Action.ARBITRATION_STATUS),
    ),
)


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
            Node(step, idx if step.split else -1, batch[idx] if step.split else None, upstreams, downstreams)
            for idx in range(len(level))
        )
    return tuple(nodes)
