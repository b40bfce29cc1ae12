# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which effect each kind of step has when it is done, and when it is rolled back.

The target of a step is whatever the task occupies (occupancy.py), for a step of a batch one element of it; so one
function serves the restart of one server and of a whole cluster. A step takes effect at the instant it is SUCCESSFUL:
what an unfinished task leaves behind is what its finished steps did. Each step acts on the actual state: a server that
was not stopped, because that step was skipped, is not started, so nothing looks restarted that was not.
"""

import sqlite3
from collections.abc import Callable, Mapping

from ocp_emulator.tasks import agent_effects, arbitration_effects, obproxy_effects, server_effects, statuses
from ocp_emulator.tasks.subtask_graph import CompletedStep, StepAction

# Changes the fleet; returns messages for the log of the subtask.
_Effect = Callable[[sqlite3.Connection, CompletedStep], list[str]]

_EFFECTS: Mapping[StepAction, _Effect] = {
    StepAction.FREEZE: server_effects.freeze,
    StepAction.STOP_SERVICE: server_effects.stop_service,
    StepAction.STOP_ZONE: server_effects.stop_zone,
    StepAction.STOP_OBSERVER: server_effects.stop_process,
    StepAction.START_OBSERVER: server_effects.start_process,
    StepAction.OBSERVER_ACTIVE: server_effects.activate,
    StepAction.START_SERVICE: server_effects.start_service,
    StepAction.SERVER_STATUS: statuses.update_server_status,
    StepAction.START_ZONE: server_effects.start_zone,
    StepAction.ZONE_STATUS: statuses.update_zone_status,
    StepAction.CLUSTER_STATUS: statuses.update_cluster_status,
    StepAction.RESTART_POS_PROXY: agent_effects.restart_pos_proxy,
    StepAction.STOP_AGENT: agent_effects.stop_agent,
    StepAction.START_AGENT: agent_effects.start_agent,
    StepAction.AGENT_STATUS: statuses.update_agent_status,
    StepAction.STOP_ARBITRATION: arbitration_effects.stop_arbitration,
    StepAction.START_ARBITRATION: arbitration_effects.start_arbitration,
    StepAction.ARBITRATION_STATUS: statuses.update_arbitration_status,
    StepAction.STOP_OBPROXY: obproxy_effects.stop_obproxy,
    StepAction.START_OBPROXY: obproxy_effects.start_obproxy,
}

_REVERTS: Mapping[StepAction, _Effect] = {
    StepAction.STOP_SERVICE: server_effects.revert_stop_service,
    StepAction.STOP_OBSERVER: server_effects.revert_stop_process,
    StepAction.START_OBSERVER: server_effects.revert_start_process,
    StepAction.STOP_AGENT: agent_effects.revert_stop_agent,
    StepAction.START_AGENT: agent_effects.stop_agent,
    StepAction.STOP_ARBITRATION: arbitration_effects.revert_stop_arbitration,
    StepAction.START_ARBITRATION: arbitration_effects.stop_arbitration,
    StepAction.STOP_OBPROXY: obproxy_effects.revert_stop_obproxy,
    StepAction.START_OBPROXY: obproxy_effects.stop_obproxy,
}


def apply(db: sqlite3.Connection, action: StepAction, step: CompletedStep) -> list[str]:
    """Carry out a step; returns messages for the log of the subtask."""
    return _EFFECTS[action](db, step)


def revert(db: sqlite3.Connection, action: StepAction, step: CompletedStep) -> list[str]:
    """Roll back a step; returns messages for the log.

    Changes only what is still in the state in which the step left it. Processes that the task stopped are started
    again: a new start, though not one by a start step. Processes that the task started are stopped. Statuses are
    changed by `show_in_progress` and `show_rolled_back`.
    """
    return _REVERTS[action](db, step) if action in _REVERTS else []
