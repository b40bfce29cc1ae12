#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: task
short_description: Steer a task of OCP - retry it, roll it back, skip or cancel a subtask
version_added: 1.0.0
description:
  - Brings a task that has begun, or some of its subtasks, into a state.
  - Reads the task before it acts. What is there already is not done again; what the service would refuse is refused
    with the reason, and nothing is sent.
options:
  task_id:
    description: Id of the task, as the restart modules return it.
    type: int
    required: true
  state:
    description:
      - V(retried) runs again what FAILED. Of a task that is running or SUCCESSFUL nothing is changed.
      - V(rolled_back) undoes what a FAILED task has done. It is refused where the service prohibits it.
      - V(skipped) counts a FAILED subtask as done and goes on behind it. Its work stays undone.
      - V(canceled) ends a RUNNING subtask, such as one that hangs; it FAILS, and then its task does.
      - V(skipped) and V(canceled) need O(subtask_id) or O(subtask), V(rolled_back) takes neither.
    type: str
    required: true
    choices: [retried, rolled_back, skipped, canceled]
  subtask_id:
    description: Id of one subtask of the task.
    type: int
  subtask:
    description:
      - Which subtasks, where the id is not at hand. V(failed) are all that FAILED, to be retried or skipped,
        V(running) all that are RUNNING, to be canceled. If there are none, nothing is changed.
    type: str
    choices: [failed, running]
  wait:
    description:
      - Whether to wait until the task has ended.
      - With O(state=retried) and O(state=skipped) the module fails if the task fails again, with
        O(state=rolled_back), and with O(state=skipped) in a rollback, if the rollback fails. With O(state=canceled)
        any end of the task will do.
    type: bool
    default: false
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.detail
  - oceanbase.ocp.waiting
attributes:
  check_mode:
    support: full
    details: Reads the task and decides as for real. Nothing is sent.
  diff_mode:
    support: full
    details: Shows the state of the task or the subtasks before and after.
  idempotent:
    support: full
    details: What is in the wanted state already is left alone.
notes:
  - Each request takes effect at most once, and is never sent again when its answer is lost. The task is looked at
    instead, for as long as O(timeout); if it does not show that it was done, the module fails and says that this is
    unknown.
seealso:
  - module: oceanbase.ocp.task_info
  - module: oceanbase.ocp.task_wait
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Restart a server, and retry what failed
  block:
    - name: Restart it
      oceanbase.ocp.server_restart:
        url: https://ocp.example.com:8080
        username: admin
        password: "{{ ocp_password }}"
        cluster: orders
        server: 10.0.0.1:2882
        freeze_server: true
        wait: true
      register: restart
  rescue:
    - name: Retry what failed, and wait for the end
      oceanbase.ocp.task:
        url: https://ocp.example.com:8080
        username: admin
        password: "{{ ocp_password }}"
        task_id: "{{ restart.task_id }}"
        state: retried
        wait: true

- name: Restart an agent, and do without what failed
  block:
    - name: Restart it
      oceanbase.ocp.agent_restart:
        url: https://ocp.example.com:8080
        username: admin
        password: "{{ ocp_password }}"
        hosts: 10.0.0.1
        wait: true
      register: agents
  rescue:
    - name: Skip the subtask that failed, and wait for the end
      oceanbase.ocp.task:
        url: https://ocp.example.com:8080
        username: admin
        password: "{{ ocp_password }}"
        task_id: "{{ agents.task_id }}"
        subtask_id: "{{ agents.failed_subtasks[0].id }}"
        state: skipped
        wait: true

- name: Restart a cluster, and undo it if it fails
  block:
    - name: Restart it
      oceanbase.ocp.cluster_restart:
        url: https://ocp.example.com:8080
        username: admin
        password: "{{ ocp_password }}"
        cluster: payments
        wait: true
      register: whole
  rescue:
    - name: Undo it, and wait for the end
      oceanbase.ocp.task:
        url: https://ocp.example.com:8080
        username: admin
        password: "{{ ocp_password }}"
        task_id: "{{ whole.task_id }}"
        state: rolled_back
        wait: true

- name: Cancel all subtasks of a restart that run now, so that the one that hangs ends
  oceanbase.ocp.task:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    task_id: "{{ restart.task_id }}"
    subtask: running
    state: canceled
"""

# Generated by `make returns` from tools/returns/modules.yml; edit there.
RETURN = r"""
action:
  description: What was done, as O(state) names it; null where nothing was to be done, or the module failed before.
  returned: unless an option was refused
  type: str
  sample: retried
reason:
  description: Why it was done or not. Tells too if an answer was lost, or someone else was faster. Null where the task
    could not be read, or is in no state for it.
  returned: unless an option was refused
  type: str
  sample: it is FAILED
task_id:
  description: Id of the task.
  returned: unless an option was refused
  type: int
subtask_ids:
  description: Ids of the subtasks that it was done to; empty for the task as a whole, and where nothing was to be done.
  returned: unless an option was refused
  type: list
  elements: int
before:
  description: C(status) and C(operation) of the task before; null where it could not be read.
  returned: unless an option was refused
  type: dict
  sample: {"status": "FAILED", "operation": "EXECUTE"}
task:
  description:
    - The task as last read, with the keys that M(oceanbase.ocp.task_wait) returns in C(tasks); null where it could not
      be read.
  returned: unless an option was refused
  type: dict
failed_subtasks:
  description:
    - The subtasks that FAILED, with the end of their logs, as M(oceanbase.ocp.task_wait) returns them.
  returned: when the task did not succeed while it was waited for
  type: list
  elements: dict
elapsed:
  description: Seconds that the module took.
  returned: unless an option was refused
  type: float
trace_id:
  description:
    - Trace id of the last request that was to change something, for whoever reads the logs of the service; null where
      there was none, unless the module failed.
  returned: unless an option was refused
  type: str
failed_task_ids:
  description: Ids of the tasks that did not succeed, which is RV(task_id) alone.
  returned: when the task did not succeed while it was waited for
  type: list
  elements: int
unfinished_task_ids:
  description: Ids of the tasks that were still running, which is RV(task_id) alone.
  returned: when wait_timeout was used up
  type: list
  elements: int
url:
  description: Address of the request that the module failed by.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._module.restart_options import WAIT_OPTIONS, poll_policy
from ..module_utils._task_actions.allowed_actions import DesiredState, State
from ..module_utils._task_actions.task_actions import act_on_task

OPTIONS = {
    "task_id": {"type": "int", "required": True},
    "state": {"type": "str", "required": True, "choices": [state.value for state in State]},
    "subtask_id": {"type": "int"},
    "subtask": {"type": "str", "choices": ["failed", "running"]},
    "wait": {"type": "bool", "default": False},
    **WAIT_OPTIONS,
}


def run(api, params, mode):
    status = params["subtask"]
    desired = DesiredState(State(params["state"]), params["subtask_id"], None if status is None else status.upper())
    waiting = poll_policy(params, mode)
    return act_on_task(api, params["task_id"], desired, waiting, wait=params["wait"], check_mode=mode.check_mode)


DEFINITION = Definition(OPTIONS, run, {"mutually_exclusive": [("subtask_id", "subtask")]})


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
