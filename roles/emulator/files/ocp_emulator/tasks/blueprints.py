# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The steps of each operation, as data: their names, order, time-outs and effects.

Steps, order and time-outs (in seconds) are those of docs/dev/contract.md, "Task graphs". Those of the start and stop of
a server in the newest version are our choice, based on those of its restart.
"""

from collections.abc import Mapping
from dataclasses import replace

from ocp_emulator.base.compatibility import ServerRestartSteps
from ocp_emulator.tasks.subtask_graph import Blueprint, Step, StepAction, TaskKind

_WAIT = Step("Wait node", 30)

SERVER_RESTART = Blueprint(
    TaskKind.SERVER_RESTART,
    "Restart OB server",
    "READY",
    (
        Step("Prepare restart observer", 300),
        Step("Stop observer service", 300, StepAction.FREEZE),
        Step("Inactive agent modules", 3600),
        Step("Stop observer process", 1200, StepAction.STOP_OBSERVER),
        Step("Start observer process", 1200, StepAction.START_OBSERVER),
        Step("Wait observer active", 1800, StepAction.OBSERVER_ACTIVE),
        Step("Active agent modules", 1800),
        Step("Start observer service", 300, StepAction.START_SERVICE),
        Step("Set observer process oom_score_adj", 300),
        Step("Update observer status", 300, StepAction.SERVER_STATUS),
        Step("Update zone status", 1800, StepAction.ZONE_STATUS),
        Step("Sync cluster info", 60),
        Step("Update OB cluster status", 30, StepAction.CLUSTER_STATUS),
    ),
)

# As documented for older versions of the service.
SERVER_RESTART_OF_11 = Blueprint(
    TaskKind.SERVER_RESTART,
    "Restart OB server",
    "READY",
    (
        Step("Prepare restart observer", 300),
        Step("Stop server", 300, StepAction.FREEZE),
        Step("Stop observer process", 1200, StepAction.STOP_OBSERVER),
        Step("Start observer process", 1200, StepAction.START_OBSERVER),
        Step("Wait observer active", 1800, StepAction.OBSERVER_ACTIVE),
        Step("Start ocp agent service", 1800),
        Step("Start server", 300, StepAction.START_SERVICE),
        Step("Update observer status", 300, StepAction.SERVER_STATUS),
        Step("Update zone status", 1800, StepAction.ZONE_STATUS),
        Step("Sync cluster info", 30),
        Step("Update OB cluster status", 30, StepAction.CLUSTER_STATUS),
    ),
)

SERVER_RESTARTS: Mapping[ServerRestartSteps, Blueprint] = {"13": SERVER_RESTART, "11": SERVER_RESTART_OF_11}

# The documented response has no time-outs for this operation; these are those of the same steps elsewhere.
CLUSTER_RESTART = Blueprint(
    TaskKind.CLUSTER_RESTART,
    "Restart OB cluster",
    "RUNNING",
    (
        Step("Prepare restart cluster", 300),
        Step("Set zone context", 300),
        Step("Prepare restart OB zone", 1800),
        Step("Prepare restart observer", 300),
        _WAIT,
        Step("Stop observer process", 1200, StepAction.STOP_OBSERVER),
        _WAIT,
        Step("Start observer process", 1200, StepAction.START_OBSERVER),
        Step("Wait observer accessible", 1800, StepAction.OBSERVER_ACTIVE),
        Step("Start ocp agent service", 1800),
        _WAIT,
        Step("Start server", 300, StepAction.START_SERVICE),
        _WAIT,
        Step("Update observer status", 300, StepAction.SERVER_STATUS),
        Step("Start zone", 1800, StepAction.START_ZONE),
        Step("Update zone status", 1800, StepAction.ZONE_STATUS),
        Step("Sync cluster info", 60),
        Step("Sync all tenant information", 60),
        Step("Update OB cluster status", 30, StepAction.CLUSTER_STATUS),
    ),
)

_PREPARE_OBSERVER = Step("Prepare restart observer", 300, split=True)
_STOP_EACH = Step("Stop observer process", 1200, StepAction.STOP_OBSERVER, split=True)
_START_EACH = Step("Start observer process", 1200, StepAction.START_OBSERVER, split=True)
_WAIT_ACTIVE = Step("Wait observer active", 1800, StepAction.OBSERVER_ACTIVE)
_AGENT_OF_EACH = Step("Start ocp agent service", 1800, split=True)
_STATUS_OF_EACH = Step("Update observer status", 300, StepAction.SERVER_STATUS, split=True)
_STOP_ZONE = Step("Stop zone", 1800, StepAction.STOP_ZONE)
_START_ZONE = Step("Start zone", 1800, StepAction.START_ZONE)
# How the operations on zones end.
_AFTER_ZONE = (
    Step("Update zone status", 1800, StepAction.ZONE_STATUS),
    Step("Sync cluster info", 30),
    Step("Update OB cluster status", 30, StepAction.CLUSTER_STATUS),
)

# Split steps are split by server: in the documented response of a zone with one server, their parallelIdx is 0.
ZONE_RESTART = Blueprint(
    TaskKind.ZONE_RESTART,
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

_PREPARE_STOP = Step("Prepare stop observer", 300)
_PREPARE_START = Step("Prepare start observer", 300)

ZONE_STOP = Blueprint(
    TaskKind.ZONE_STOP,
    "Stop OB zone",
    "READY",
    (
        Step("Prepare stop OB zone", 1800),
        _STOP_ZONE,
        replace(_PREPARE_STOP, split=True),
        _WAIT,
        _STOP_EACH,
        _WAIT,
        _STATUS_OF_EACH,
        *_AFTER_ZONE,
    ),
)

ZONE_START = Blueprint(
    TaskKind.ZONE_START,
    "Start OB zone",
    "READY",
    (
        Step("Prepare start OB zone", 1800),
        replace(_PREPARE_START, split=True),
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

# How the operations on one server end.
_AFTER_SERVER = (
    Step("Update observer status", 300, StepAction.SERVER_STATUS),
    Step("Update zone status", 1800, StepAction.ZONE_STATUS),
    Step("Sync cluster info", 60),
    Step("Update OB cluster status", 30, StepAction.CLUSTER_STATUS),
)

SERVER_START = Blueprint(
    TaskKind.SERVER_START,
    "Start OB server",
    "READY",
    (
        _PREPARE_START,
        Step("Start observer process", 1200, StepAction.START_OBSERVER),
        _WAIT_ACTIVE,
        Step("Active agent modules", 1800),
        Step("Start observer service", 300, StepAction.START_SERVICE),
        *_AFTER_SERVER,
    ),
)

SERVER_STOP = Blueprint(
    TaskKind.SERVER_STOP,
    "Stop OB server",
    "READY",
    (
        _PREPARE_STOP,
        Step("Stop observer service", 300, StepAction.STOP_SERVICE),
        Step("Inactive agent modules", 3600),
        Step("Stop observer process", 1200, StepAction.STOP_OBSERVER),
        *_AFTER_SERVER,
    ),
)

# The process keeps running, out of service.
SERVER_STOP_SERVICE = Blueprint(
    TaskKind.SERVER_STOP,
    "Stop OB server",
    "READY",
    (
        _PREPARE_STOP,
        Step("Stop observer service", 300, StepAction.STOP_SERVICE),
        *_AFTER_SERVER,
    ),
)

# As documented for older versions of the service, with the time-outs of the same steps elsewhere.
SERVER_START_OF_9 = Blueprint(
    TaskKind.SERVER_START,
    "Start OB server",
    "RUNNING",
    (
        _PREPARE_START,
        Step("Start observer process", 1200, StepAction.START_OBSERVER),
        _WAIT_ACTIVE,
        Step("Start ocp agent service", 1800),
        Step("Start server", 300, StepAction.START_SERVICE),
        *_AFTER_SERVER,
    ),
)

SERVER_STOP_OF_8 = Blueprint(
    TaskKind.SERVER_STOP,
    "Stop OB server",
    "RUNNING",
    (
        _PREPARE_STOP,
        Step("Stop server", 300, StepAction.STOP_SERVICE),
        Step("Stop observer process", 1200, StepAction.STOP_OBSERVER),
        Step("Wait observer stop", 1800),
        *_AFTER_SERVER,
    ),
)

SERVER_STARTS: Mapping[ServerRestartSteps, Blueprint] = {"13": SERVER_START, "11": SERVER_START_OF_9}
SERVER_STOPS: Mapping[ServerRestartSteps, Blueprint] = {"13": SERVER_STOP, "11": SERVER_STOP_OF_8}

CLUSTER_START = Blueprint(
    TaskKind.CLUSTER_START,
    "Start OB cluster",
    "RUNNING",
    (
        Step("Prepare start cluster", 300),
        Step("Prepare start OB zone", 1800),
        _WAIT,
        _PREPARE_START,
        _WAIT,
        Step("Start observer process", 1200, StepAction.START_OBSERVER),
        Step("Wait observer accessible", 1800, StepAction.OBSERVER_ACTIVE),
        Step("Start ocp agent service", 1800),
        _WAIT,
        Step("Start server", 300, StepAction.START_SERVICE),
        _WAIT,
        _START_ZONE,
        _WAIT,
        Step("Update observer status", 300, StepAction.SERVER_STATUS),
        _WAIT,
        Step("Update zone status", 1800, StepAction.ZONE_STATUS),
        Step("Sync all tenant information", 60),
        Step("Update OB cluster status", 30, StepAction.CLUSTER_STATUS),
    ),
)

CLUSTER_STOP = Blueprint(
    TaskKind.CLUSTER_STOP,
    "Stop OB cluster",
    "RUNNING",
    (
        Step("Prepare stop cluster", 300),
        Step("Prepare stop OB zone", 1800),
        _WAIT,
        _PREPARE_STOP,
        _WAIT,
        Step("Stop observer process", 1200, StepAction.STOP_OBSERVER),
        _WAIT,
        Step("Update observer status", 300, StepAction.SERVER_STATUS),
        _WAIT,
        Step("Update zone status", 1800, StepAction.ZONE_STATUS),
        Step("Update OB cluster status", 30, StepAction.CLUSTER_STATUS),
    ),
)

AGENT_RESTART = Blueprint(
    TaskKind.AGENT_RESTART,
    "Batch restart OCP agent",
    "READY",
    (
        Step("Prepare restart OCP agent", 60, split=True),
        _WAIT,
        Step("Restart pos proxy", 60, StepAction.RESTART_POS_PROXY, split=True),
        _WAIT,
        Step("Stop all OCP agent processes", 600, StepAction.STOP_AGENT, split=True),
        _WAIT,
        Step("Start all OCP agent processes", 600, StepAction.START_AGENT, split=True),
        _WAIT,
        Step("Finish OCP agent operation", 60, StepAction.AGENT_STATUS, split=True),
    ),
)

AGENTS_STOP = Blueprint(
    TaskKind.AGENT_STOP,
    "Batch stop OCP agent",
    "READY",
    (
        Step("Prepare stop OCP agent", 60, split=True),
        _WAIT,
        Step("Stop all OCP agent processes", 600, StepAction.STOP_AGENT, split=True),
        _WAIT,
        Step("Finish OCP agent operation", 60, StepAction.AGENT_STATUS, split=True),
    ),
)

SINGLE_AGENT_RESTART = Blueprint(
    TaskKind.AGENT_RESTART,
    "Restart OCP agent",
    "READY",
    (
        Step("Prepare restart OCP agent", 60),
        Step("Restart pos proxy", 60, StepAction.RESTART_POS_PROXY),
        Step("Stop all OCP agent processes", 600, StepAction.STOP_AGENT),
        Step("Start all OCP agent processes", 600, StepAction.START_AGENT),
        Step("Finish OCP agent operation", 60, StepAction.AGENT_STATUS),
    ),
)

SINGLE_AGENT_STOP = Blueprint(
    TaskKind.AGENT_STOP,
    "Stop OCP agent",
    "READY",
    (
        Step("Prepare stop OCP agent", 60),
        Step("Stop all OCP agent processes", 600, StepAction.STOP_AGENT),
        Step("Finish OCP agent operation", 60, StepAction.AGENT_STATUS),
    ),
)

ARBITRATION_RESTART = Blueprint(
    TaskKind.ARBITRATION_RESTART,
    "Restart arbitration service",
    "READY",
    (
        Step("Prepare restart arbitration service", 60),
        Step("Stop arbitration service", 1800, StepAction.STOP_ARBITRATION),
        Step("Start arbitration service", 1800, StepAction.START_ARBITRATION),
        Step("Clean arbitration status monitor records", 120),
        Step("Update arbitration service status", 60, StepAction.ARBITRATION_STATUS),
    ),
)

# Its steps are not documented: the only sample is of another operation.
OBPROXY_RESTART = Blueprint(
    TaskKind.OBPROXY_RESTART,
    "Restart obproxy",
    "READY",
    (
        Step("Prepare restart obproxy", 60),
        Step("Stop obproxy", 300, StepAction.STOP_OBPROXY, split=True),
        _WAIT,
        Step("Start obproxy", 300, StepAction.START_OBPROXY, split=True),
        _WAIT,
        Step("Check obproxy status", 300),
    ),
)

# The name is documented, the steps are not.
INSPECTION = Blueprint(
    TaskKind.INSPECTION,
    "Inspection task",
    "READY",
    (
        Step("Prepare inspection", 60),
        Step("Check inspection items", 1800),
        Step("Make inspection reports", 300),
    ),
)

# All of them.
BLUEPRINTS = tuple(each for each in tuple(globals().values()) if isinstance(each, Blueprint))
