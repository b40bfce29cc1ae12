#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: task_wait
short_description: Wait until tasks of OCP have ended
version_added: 1.0.0
description:
  - Waits until all given tasks have ended, and fails if one of them did not succeed. A task that was rolled
    back counts as not successful.
  - More than a few tasks are watched by the task list, so that a look costs one request for 2000 running tasks, and
    one for each task that has ended since.
  - A look that fails is survived until O(wait_timeout), since the task runs on without it. Refused credentials,
    a missing permission and a task that does not exist end the wait at once.
options:
  task_ids:
    description: Ids of the tasks, as the restart modules return them.
    type: list
    elements: int
    required: true
  detail:
    description:
      - Which subtasks come back in RV(tasks). V(full) has all of them, V(summary) those that FAILED.
      - For hundreds of tasks V(summary) keeps the result small.
    type: str
    choices: [summary, full]
    default: full
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.patience
attributes:
  check_mode:
    support: full
    details: Only reads, and waits as it does otherwise.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: Only reads.
seealso:
  - module: oceanbase.ocp.task_info
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Start a restart
  oceanbase.ocp.cluster_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
  register: restart

- name: Wait for it
  oceanbase.ocp.task_wait:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    task_ids: "{{ restart.task_id }}"
    wait_timeout: 3600
"""

RETURN = r"""
tasks:
  description:
    - The tasks as last seen, in the order asked for. A failure has them too. When O(wait_timeout) is used up for
      more than a few tasks, those that are still running are in RV(unfinished_task_ids) only.
    - Each has the keys C(id), C(name), C(status), C(operation), C(type), C(creator), C(executor),
      C(create_time), C(start_time), C(finish_time), C(duration) in seconds, C(cluster_id), C(cluster_name),
      C(host_id), C(prohibit_rollback), C(task_definition_id), C(finished), C(succeeded), C(rolled_back),
      C(progress) and C(subtasks) in execution order.
  returned: unless an option was refused
  type: list
  elements: dict
elapsed:
  description: Seconds that were waited.
  returned: success
  type: float
failed_task_ids:
  description: Ids of the tasks that did not succeed.
  returned: when a task did not succeed
  type: list
  elements: int
failed_subtasks:
  description:
    - The subtasks that FAILED, each with C(task_id), C(id), C(position) in the order of execution, from 1, C(name),
      C(description), C(status), C(operation), C(attempt), C(duration) in seconds, C(start_time), C(finish_time),
      C(executor) and C(log_tail).
    - C(log_tail) is the end of the log of its last attempt, O(log_lines) lines of it, with what is not printable as
      escapes like V(\\x1b). It is null where the log could not be read, and after the first ten.
  returned: when a task did not succeed
  type: list
  elements: dict
trace_id:
  description: Trace id of the last answer, for whoever reads the logs of the service; null where none came.
  returned: when the wait failed
  type: str
unfinished_task_ids:
  description: Ids of the tasks that were still running.
  returned: when wait_timeout was used up
  type: list
  elements: int
task_id:
  description: Id of the first task that did not succeed, was still running, or could not be read.
  returned: when the wait failed
  type: int
url:
  description: Address of the request that the module failed by.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._module.bridge import PATIENCE_OPTIONS, Definition, patience, run_module
from ..module_utils._waiting.poll import await_tasks

OPTIONS = {
    "task_ids": {"type": "list", "elements": "int", "required": True},
    "detail": {"type": "str", "choices": ["summary", "full"], "default": "full"},
    **PATIENCE_OPTIONS,
}


def run(api, params, mode):
    return await_tasks(api, params["task_ids"], patience(params, mode), full=params["detail"] == "full")


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
