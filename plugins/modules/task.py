#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: task
short_description: Retry or roll back a task of OCP, or skip or cancel a subtask
version_added: 1.0.0
description:
  - Brings a task, or some of its subtasks, into a state.
  - Reads the task before it acts. If the state is already reached, it does nothing. If the service would refuse the
    action, it fails with the reason and sends nothing.
  - With O(wait), if the journal has the request that started the task, it gets the end of the task.
options:
  task_id:
    description: Id of the task, as the restart modules return it.
    type: int
    required: true
  state:
    description:
      - V(retried) runs FAILED subtasks again. A task that is running or SUCCESSFUL is not changed.
      - V(rolled_back) undoes what a FAILED task has done. It is refused where the service prohibits it.
      - V(skipped) counts a FAILED subtask as done, and the task goes on with the next one. The work of the subtask
        stays undone.
      - V(canceled) ends a RUNNING subtask, such as one that hangs. The subtask FAILS, and then its task.
      - V(skipped) and V(canceled) need O(subtask_id) or O(subtask), V(rolled_back) takes neither.
    type: str
    required: true
    choices: [retried, rolled_back, skipped, canceled]
  subtask_id:
    description: Id of one subtask of the task.
    type: int
  subtask:
    description:
      - Which subtasks, if you do not know the id. V(failed) are all that FAILED, to retry or skip them. V(running) are
        all that are RUNNING, to cancel them. If there are none, nothing is changed.
    type: str
    choices: [failed, running]
  wait:
    description:
      - Whether to wait until the task has ended.
      - With O(state=retried) and O(state=skipped) the module fails if the task fails again. With O(state=rolled_back),
        and with O(state=skipped) in a rollback, it fails if the rollback fails. With O(state=canceled) it accepts any
        end of the task.
    type: bool
    default: false
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.detail
  - oceanbase.ocp.hints
  - oceanbase.ocp.journal
  - oceanbase.ocp.waiting
attributes:
  check_mode:
    support: full
    details: Reads the task and decides as in a real run. Nothing is sent.
  diff_mode:
    support: full
    details: Shows the state of the task or the subtasks before and after.
  idempotent:
    support: full
    details: A task that is already in the wanted state is left alone.
notes:
  - A request is never blindly repeated. If its answer is lost, the module reads the task for as long as O(timeout) to
    see whether the action was done. If the task does not show that, the module fails and reports that the outcome is
    unknown.
seealso:
  - module: oceanbase.ocp.task_info
  - module: oceanbase.ocp.task_wait
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
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

- name: Restart an agent, and skip what failed
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
  description: What was done, as O(state) names it; null if there was nothing to do, or the module failed before.
  returned: unless an option was refused
  type: str
  sample: retried
reason:
  description: Why it was done or not, and also whether an answer was lost, or somebody else did it first. Null if the
    task could not be read, or its state does not allow it.
  returned: unless an option was refused
  type: str
  sample: it is FAILED
task_id:
  description: Id of the task.
  returned: unless an option was refused
  type: int
subtask_ids:
  description: Ids of the subtasks that it was done to; empty for the task as a whole, and if there was nothing to do.
  returned: unless an option was refused
  type: list
  elements: int
before:
  description: The task before; null if it could not be read.
  returned: unless an option was refused
  type: dict
  contains:
    status:
      description: Its status.
      returned: always
      type: str
    operation:
      description: Its operation.
      returned: always
      type: str
  sample: {"status": "FAILED", "operation": "EXECUTE"}
task:
  description:
    - The task as last read; null if it could not be read.
    - A value that the service does not show is null. Times are as the service writes them, ISO 8601 with offset.
  returned: unless an option was refused
  type: dict
  contains:
    id:
      description: Task id.
      returned: always
      type: int
    name:
      description: Task name.
      returned: always
      type: str
    status:
      description: V(RUNNING), V(SUCCESSFUL) or V(FAILED).
      returned: always
      type: str
    operation:
      description: V(EXECUTE), V(RETRY) or V(ROLLBACK).
      returned: always
      type: str
    finished:
      description: Whether the task has ended, successfully or not.
      returned: always
      type: bool
    succeeded:
      description: Whether it ended SUCCESSFUL and was not rolled back.
      returned: always
      type: bool
    rolled_back:
      description: Whether it ended SUCCESSFUL by undoing what it had done.
      returned: always
      type: bool
    targets:
      description: Names of the objects it works on; empty if the service does not show them.
      returned: always
      type: list
      elements: str
    progress:
      description: How far it is.
      returned: always
      type: dict
      contains:
        done:
          description: The number of subtasks that are done.
          returned: always
          type: int
        total:
          description: The number of all subtasks.
          returned: always
          type: int
        running:
          description: What the subtasks that are running do.
          returned: always
          type: list
          elements: str
    type:
      description: How it came to be, such as V(MANUAL); null if not shown.
      returned: always
      type: str
    creator:
      description: Name of the user who started it.
      returned: always
      type: str
    executor:
      description: Address of the OCP server that carries it out; null if not shown.
      returned: always
      type: str
    create_time:
      description: When it was created; null if it has not been read since the request that started it.
      returned: always
      type: str
    start_time:
      description: When it started.
      returned: always
      type: str
    finish_time:
      description: When it ended; null until then.
      returned: always
      type: str
    duration:
      description: Seconds from start to end; null until it has ended.
      returned: always
      type: float
    cluster_id:
      description: Id of the cluster that it works on; null for tasks on agents, arbitration services and OBProxies.
      returned: always
      type: int
    cluster_name:
      description: Name of that cluster; null if C(cluster_id) is, and if the task has not been read since the request
        that started it.
      returned: always
      type: str
    host_id:
      description: Id of the host that it works on; null if it works on several, or the service does not show it.
      returned: always
      type: int
    prohibit_rollback:
      description: Whether OCP refuses to roll it back; null if not shown.
      returned: always
      type: bool
    task_definition_id:
      description: V(-1) in everything that is known of OCP; null if not shown.
      returned: always
      type: int
    subtasks:
      description: The steps in execution order.
      returned: always
      type: list
      elements: dict
      contains:
        id:
          description: Subtask id.
          returned: always
          type: int
        name:
          description: Its name.
          returned: always
          type: str
        description:
          description: What it does.
          returned: always
          type: str
        status:
          description: Such as V(PENDING), V(READY), V(RUNNING), V(SUCCESSFUL) or V(FAILED).
          returned: always
          type: str
        operation:
          description: V(EXECUTE), V(RETRY), V(ROLLBACK), V(SKIP), V(ROLLBACK_SKIP) or V(CANCEL).
          returned: always
          type: str
        upstreams:
          description: Ids of the subtasks that it waits for.
          returned: always
          type: list
          elements: int
        downstreams:
          description: Ids of the subtasks that wait for it.
          returned: always
          type: list
          elements: int
        timeout:
          description: Seconds that it may take; null if not shown.
          returned: always
          type: int
        duration:
          description: Seconds from start to end; null until it has ended.
          returned: always
          type: float
        start_time:
          description: When it started; null until then.
          returned: always
          type: str
        finish_time:
          description: When it ended; null until then.
          returned: always
          type: str
        executor:
          description: Address of the OCP server that carries it out; null until it has started.
          returned: always
          type: str
        run_time:
          description: The number of its attempts, without retries of this subtask alone; null if not shown.
          returned: always
          type: int
        parallel_idx:
          description: Its number from 0 among subtasks that do the same on several hosts or servers, V(-1) for a
            subtask that is not one of several; null if not shown.
          returned: always
          type: int
        series_id:
          description: A number that OCP gives it, which is not its place in the order of execution; null if not shown.
          returned: always
          type: int
        node_type:
          description: What kind of step it is for OCP, such as V(JAVA_TASK); null if not shown.
          returned: always
          type: str
        class_name:
          description: The class of OCP that does it; null if not shown. It is known from the answers to requests that
            restart zones, agents, OBProxies and, on older versions, servers.
          returned: always
          type: str
        prohibit_rollback:
          description: Whether OCP refuses to roll back its task; null if not shown.
          returned: always
          type: bool
        prohibit_skip:
          description: Whether OCP refuses to skip it; null if not shown.
          returned: always
          type: bool
wait_command:
  description: The command that waits until the task has ended. It takes OCP_URL and the credentials from the
    environment.
  returned: when the task goes on and was not waited for
  type: str
  sample: ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=1000001'
failed_subtasks:
  description: The subtasks that FAILED.
  returned: when the task did not succeed while it was waited for
  type: list
  elements: dict
  contains:
    task_id:
      description: Id of its task.
      returned: always
      type: int
    id:
      description: Subtask id.
      returned: always
      type: int
    position:
      description: Its place in execution order, from 1.
      returned: always
      type: int
    name:
      description: Its name.
      returned: always
      type: str
    description:
      description: What it does.
      returned: always
      type: str
    status:
      description: V(FAILED).
      returned: always
      type: str
    operation:
      description: V(EXECUTE), V(RETRY), V(ROLLBACK) or V(CANCEL).
      returned: always
      type: str
    attempt:
      description: The number of the attempt; null if not shown.
      returned: always
      type: int
    duration:
      description: Seconds that the last attempt took; null if not shown.
      returned: always
      type: float
    start_time:
      description: When the last attempt started; null if not shown.
      returned: always
      type: str
    finish_time:
      description: When it failed; null if not shown.
      returned: always
      type: str
    executor:
      description: Address of the OCP server that carried it out; null if not shown.
      returned: always
      type: str
    log_tail:
      description:
        - The last O(log_lines) lines of the log of its last attempt. Characters that are not printable are shown as
          escapes like V(\\x1b).
        - Null if the log could not be read, and for all but the first ten subtasks.
      returned: always
      type: str
elapsed:
  description: Seconds that the module took.
  returned: unless an option was refused
  type: float
trace_id:
  description:
    - Trace id of the last request that was to change something, to find it in the logs of the service; null if there
      was none, unless the module failed.
  returned: unless an option was refused
  type: str
failed_task_ids:
  description: Ids of the tasks that did not succeed. That is only RV(task_id).
  returned: when the task did not succeed while it was waited for
  type: list
  elements: int
unfinished_task_ids:
  description: Ids of the tasks that were still running. That is only RV(task_id).
  returned: when wait_timeout was used up
  type: list
  elements: int
url:
  description: Address of the request that made the module fail.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._module.restart_options import WAIT_OPTIONS, poll_policy
from ..module_utils._restart.task_ends import noting_ends
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
    awaited = [params["task_id"]] if params["wait"] and not mode.check_mode else []
    with noting_ends(api, params["journal_url"], awaited):
        return act_on_task(api, params["task_id"], desired, waiting, wait=params["wait"], check_mode=mode.check_mode)


DEFINITION = Definition(OPTIONS, run, {"mutually_exclusive": [("subtask_id", "subtask")]})


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
