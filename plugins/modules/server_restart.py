#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: server_restart
short_description: Restart one database server node of a cluster
version_added: 1.0.0
description:
  - Restarts one server node of an OceanBase cluster through OCP. The service runs the restart as a task of its
    own; this module starts it and, with O(wait), stays until it has ended and proves that the server has
    started anew.
options:
  cluster:
    description: Name or id of the cluster.
    type: str
    required: true
  server:
    description: Id of the server, or its address as V(ip:port) with the port of the server's RPC, as OCP shows it.
    type: str
    required: true
  freeze_server:
    description:
      - Whether a minor compaction is done before the node is stopped. It takes time, and shortens the recovery
        at the start.
    type: bool
    required: true
  force:
    description: Whether to restart the node forcibly.
    type: bool
    default: false
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.restart
  - oceanbase.ocp.patience
attributes:
  idempotent:
    support: partial
    details: With O(started_before) a server that has started since is left alone. Without it each run restarts the
      server, unless a restart of it is running.
seealso:
  - module: oceanbase.ocp.server_info
  - module: oceanbase.ocp.task_wait
  - module: oceanbase.ocp.task_info
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Restart one node and wait until it serves again
  oceanbase.ocp.server_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
    server: 10.0.0.1:2882
    freeze_server: true
    wait: true
  register: restart

- name: Show what it did
  ansible.builtin.debug:
    msg: "{{ restart.target.name }}: {{ restart.task.status }}, verified: {{ restart.verified }}"

- name: Start the restart of two nodes of different clusters, and wait for both at once
  module_defaults:
    group/oceanbase.ocp.ocp:
      url: https://ocp.example.com:8080
      access_key_id: "{{ ocp_access_key_id }}"
      access_key_secret: "{{ ocp_access_key_secret }}"
  block:
    - name: Start the restarts
      oceanbase.ocp.server_restart:
        cluster: "{{ item.cluster }}"
        server: "{{ item.server }}"
        freeze_server: true
      loop:
        - cluster: orders
          server: 10.0.0.3:2882
        - cluster: payments
          server: 10.0.0.7:2882
      register: restarts

    - name: Wait for both
      oceanbase.ocp.task_wait:
        task_ids: "{{ restarts.results | map(attribute='task_id') }}"

# Whatever interrupts the playbook, running it again comes to the same end, and the server is restarted once.
- name: Restart a node once for a change, however often this runs
  oceanbase.ocp.server_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
    server: 10.0.0.2:2882
    freeze_server: true
    started_before: "2026-05-04T03:00:00+08:00"
    wait: true
"""

RETURN = r"""
changed:
  description: Whether a restart was started, or would be in check mode. A restart that was running already is no
    change.
  returned: always
  type: bool
action:
  description:
    - What was done, or would be in check mode.
    - V(submitted) means that a new restart was started, V(attached) that one was running already, V(adopted) that
      the answer was lost and the task of the restart was found, V(skipped) that none was needed.
    - Null where the module failed before any of it.
  returned: once the target was found
  type: str
  sample: submitted
reason:
  description: Why, in plain words, and why it was not verified, where the service leaves that open; null where the
    module failed before it decided.
  returned: once the target was found
  type: str
task_id:
  description: Id of the task that restarts the target; null in check mode, unless it is running already, and where
    it was skipped.
  returned: once the target was found
  type: int
  sample: 1000001
task:
  description:
    - The task as last seen, with its RV(task.subtasks) in execution order; null where there is no RV(task_id),
      or the task cannot be read.
    - What the service does not tell is null. All times are as the service writes them, ISO 8601 with offset.
  returned: once the target was found
  type: dict
  contains:
    id:
      description: Task id.
      type: int
      returned: always
    name:
      description: Task name.
      type: str
      returned: always
    status:
      description: V(RUNNING), V(SUCCESSFUL) or V(FAILED).
      type: str
      returned: always
    operation:
      description: V(EXECUTE), V(RETRY) or V(ROLLBACK).
      type: str
      returned: always
    finished:
      description: Whether the task has ended, well or not.
      type: bool
      returned: always
    succeeded:
      description: Whether it ended SUCCESSFUL and was not rolled back.
      type: bool
      returned: always
    rolled_back:
      description: Whether it ended SUCCESSFUL by undoing what it had done.
      type: bool
      returned: always
    progress:
      description: How many of the subtasks are done, how many there are, and the descriptions of those running.
      type: dict
      returned: always
      sample: {"done": 3, "total": 13, "running": ["Stop observer process"]}
    creator:
      description: Name of the user who started it.
      type: str
      returned: always
    start_time:
      description: When it started.
      type: str
      returned: always
    finish_time:
      description: When it ended.
      type: str
      returned: always
    duration:
      description: Seconds from start to end.
      type: float
      returned: always
    subtasks:
      description:
        - The steps in execution order, each with C(id), C(name), C(description), C(status), C(operation),
          C(upstreams), C(downstreams), C(timeout) and C(duration) in seconds, C(start_time), C(finish_time),
          C(run_time) and more.
      type: list
      elements: dict
      returned: always
target:
  description: What is restarted, with its C(kind), ids and names.
  returned: once the target was found
  type: dict
  sample: {"kind": "server", "id": 1, "name": "10.0.0.1:2882", "cluster_id": 1, "cluster_name": "orders"}
before:
  description:
    - The target before the restart; null where it could not be read. C(status), and C(members), each with C(name),
      C(status), C(start_time) and C(pids).
  returned: once the target was found
  type: dict
after:
  description: The same after it; null where it was not waited for or not restarted.
  returned: once the target was found
  type: dict
verified:
  description: Whether it is proven by the start time of the server that it has started anew, or since
    O(started_before); null where it was not waited for or the service shows no start time.
  returned: once the target was found
  type: bool
elapsed:
  description: Seconds that the module took.
  returned: once the target was found
  type: float
trace_id:
  description: Trace id of the request that started the restart, or of the answer that the module failed by, for
    whoever reads the logs of the service; null where there was neither.
  returned: once the target was found, and when a request made the module fail
  type: str
failed_subtasks:
  description:
    - The subtasks that FAILED, each with C(task_id), C(id), C(position) in the order of execution, from 1, C(name),
      C(description), C(status), C(operation), C(attempt), C(duration) in seconds, C(start_time), C(finish_time),
      C(executor) and C(log_tail).
    - C(log_tail) is the end of the log of its last attempt, O(log_lines) lines of it, with what is not printable as
      escapes like V(\\x1b). It is null where the log could not be read, and after the first ten.
  returned: when the task did not succeed
  type: list
  elements: dict
url:
  description: Address of the request that the module failed by.
  returned: when a request made the module fail
  type: str
failed_task_ids:
  description: Ids of the tasks that did not succeed, which is RV(task_id) alone.
  returned: when the task did not succeed
  type: list
  elements: int
unfinished_task_ids:
  description: Ids of the tasks that were still running; of the restart, or with O(in_flight=queue) of what it had to
    wait for.
  returned: when wait_timeout was used up
  type: list
  elements: int
tasks:
  description: What the restart had to wait for, with the keys of RV(task).
  returned: when in_flight is queue and waiting failed
  type: list
  elements: dict
"""

from ..module_utils._module.bridge import RESTART_OPTIONS, Definition, restart_options, run_module
from ..module_utils._restart.restart import perform
from ..module_utils._targets.cluster import Server

OPTIONS = {
    "cluster": {"type": "str", "required": True},
    "server": {"type": "str", "required": True},
    "freeze_server": {"type": "bool", "required": True},
    "force": {"type": "bool", "default": False},
    **RESTART_OPTIONS,
}


def run(api, params, mode):
    options = restart_options(params, mode)
    how = {"freeze_server": params["freeze_server"], "force": params["force"]}
    return perform(api, lambda: Server.find(api, params["cluster"], params["server"], **how), options)


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
