#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: task_info
short_description: Read tasks of OCP
version_added: 1.0.0
description:
  - Returns one task, or the newest tasks that pass the filters, each with its subtasks in execution order.
options:
  task_id:
    description: Id of one task. A task that does not exist gives an empty list.
    type: int
  cluster:
    description: Only tasks of this cluster, by name or id.
    type: str
  host:
    description: Only tasks of this host, by id or inner IP address.
    type: str
  status:
    description: Only tasks in one of these states.
    type: list
    elements: str
    choices: [RUNNING, SUCCESSFUL, FAILED]
  name:
    description: Only tasks whose name holds this text.
    type: str
  limit:
    description: How many tasks to return at the most, the newest first. Each costs one request.
    type: int
    default: 10
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
attributes:
  check_mode:
    support: full
    details: Only reads.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: Only reads.
seealso:
  - module: oceanbase.ocp.task_wait
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Read what is running on a cluster
  oceanbase.ocp.task_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
    status: [RUNNING]
  register: running

- name: Show the steps of the newest of these tasks
  ansible.builtin.debug:
    msg: "{{ running.tasks[0].subtasks | map(attribute='description') }}"
  when: running.tasks | length > 0
"""

RETURN = r"""
tasks:
  description:
    - The tasks, the newest first.
    - Each has the keys C(id), C(name), C(status), C(operation), C(type), C(creator), C(executor),
      C(create_time), C(start_time), C(finish_time), C(duration) in seconds, C(cluster_id), C(cluster_name),
      C(host_id), C(prohibit_rollback), C(task_definition_id), C(finished), C(succeeded), C(rolled_back),
      C(progress) and C(subtasks) in execution order.
  returned: success
  type: list
  elements: dict
url:
  description: Address of the request that the module failed by.
  returned: when a request made the module fail
  type: str
trace_id:
  description: Trace id of the answer to it, for whoever reads the logs of the service; null where none came.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._fleet.task_queries import read_tasks
from ..module_utils._module.bridge import Definition, run_module

OPTIONS = {
    "task_id": {"type": "int"},
    "cluster": {"type": "str"},
    "host": {"type": "str"},
    "status": {"type": "list", "elements": "str", "choices": ["RUNNING", "SUCCESSFUL", "FAILED"]},
    "name": {"type": "str"},
    "limit": {"type": "int", "default": 10},
}


def run(api, params, _mode):
    return {"changed": False, "tasks": read_tasks(api, params)}


FILTERS = ("cluster", "host", "status", "name")
DEFINITION = Definition(OPTIONS, run, {"mutually_exclusive": [("task_id", name) for name in FILTERS]})


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
