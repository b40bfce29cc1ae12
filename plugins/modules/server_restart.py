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
  - Restarts one server node of an OceanBase cluster through OCP, as a task of the service. With O(wait) the module
    waits until the task has ended, and proves that the server has restarted.
  - Required - O(cluster), O(server), O(freeze_server).
  - What and how - O(force), O(zone).
  - Once per change - O(change), O(started_before), O(until_effective), O(in_flight).
  - When not to restart - O(safety), O(tolerate_outage_of), O(safety_timeout), O(require_healthy), O(stop_on),
    O(max_lag), O(metric_limits), O(alarms_before), O(metrics_before), O(offline_budget), O(offline_time),
    O(max_failures), O(judged_tasks), O(most_down), O(finish_before), O(windows).
  - Waiting - O(wait), O(wait_timeout), O(wait_interval).
  - Output - O(show_progress), O(show_steps), O(log_lines), O(detail), O(hint_variables).
  - Connection and journal - O(url), O(username), O(password), O(access_key_id), O(access_key_secret),
    O(validate_certs), O(ca_path), O(client_cert), O(client_key), O(use_proxy), O(timeout), O(journal_url).
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
      - Whether a minor compaction is done before the node is stopped. It takes time, and shortens the recovery at the
        start. OCP requires a choice and documents no default; its console does the compaction by default.
    type: bool
    required: true
  force:
    description: Whether to restart the node forcibly.
    type: bool
    default: false
  zone:
    description:
      - Name of the zone that the server has to be in right before the request. If it is in another zone by then, it is
        not restarted.
      - Use it for plans that were made earlier. Without it the zone does not matter.
    type: str
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.detail
  - oceanbase.ocp.hints
  - oceanbase.ocp.journal
  - oceanbase.ocp.change
  - oceanbase.ocp.restart
  - oceanbase.ocp.safety
  - oceanbase.ocp.plan
  - oceanbase.ocp.signs
  - oceanbase.ocp.until_effective
  - oceanbase.ocp.known_alarms
  - oceanbase.ocp.offline_budget
  - oceanbase.ocp.failure_limit
  - oceanbase.ocp.caps
  - oceanbase.ocp.waiting
attributes:
  idempotent:
    support: partial
    details: With O(change) a server that has restarted since the name was first used is left alone, with
      O(started_before) one that has started since, with O(until_effective) one that shows the values. Without these
      each run restarts the server, unless a restart of it is running.
seealso:
  - module: oceanbase.ocp.server_info
  - module: oceanbase.ocp.task_wait
  - module: oceanbase.ocp.task_info
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
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
  ansible.builtin.debug: {msg: "{{ restart.target.name }}: {{ restart.task.status }}, verified: {{ restart.verified }}"}

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
        - {cluster: orders, server: "10.0.0.3:2882"}
        - {cluster: payments, server: "10.0.0.7:2882"}
      register: restarts

    - name: Wait for both
      oceanbase.ocp.task_wait:
        task_ids: "{{ restarts.results | map(attribute='task_id') }}"

- name: Restart nodes once for a change, however often this runs and whatever interrupts it
  module_defaults:
    group/oceanbase.ocp.ocp:
      url: https://ocp.example.com:8080
      username: admin
      password: "{{ ocp_password }}"
  block:
    - name: Set a static parameter
      oceanbase.ocp.cluster_parameter: {cluster: orders, parameters: {stack_size: 5M}}

    # It is refused as long as a tenant other than this one would lose its majority, or the cluster is not healthy.
    - name: Restart a node, unless it runs with that already, as soon as that is safe
      oceanbase.ocp.server_restart:
        cluster: orders
        server: 10.0.0.2:2882
        zone: zone1
        freeze_server: true
        until_effective: {stack_size: 5M}
        tolerate_outage_of: [test]
        require_healthy: true
        safety_timeout: 1800
        wait: true

    - name: Restart a node once for this change
      oceanbase.ocp.server_restart:
        cluster: orders
        server: 10.0.0.1:2882
        freeze_server: true
        change: memory-2026-11-20
        wait: true
"""

# Generated by `make returns` from tools/returns/modules.yml; edit there.
RETURN = r"""
changed:
  description: Whether a restart was started, or would be in check mode. Joining a restart that was already running is
    not a change.
  returned: always
  type: bool
action:
  description:
    - What was done, or would be in check mode.
    - V(submitted) - a new restart was started. V(attached) - a restart that was already running was joined. V(adopted)
      - the answer was lost, but the task of the restart was found. V(skipped) - no restart was needed. V(postponed) -
      it would not have ended before C(finish_before), or in one of the C(windows).
    - Null if the module failed before that.
  returned: once the target was found
  type: str
  sample: submitted
reason:
  description: Why it was done, in plain words, and why it is not verified if the service does not show enough; null if
    the module failed before it decided.
  returned: once the target was found
  type: str
task_id:
  description: Id of the task that restarts the target. Null if the restart was skipped, and in check mode unless it is
    already running. If the outcome is unknown, the id in the answer to the request, provided that it fits in all but
    not being the highest id.
  returned: once the target was found
  type: int
  sample: 1000001
task:
  description:
    - The task as last seen; null if there is no RV(task_id), or the task cannot be read.
    - A value that the service does not show is null. All times are as the service writes them, ISO 8601 with offset.
  returned: once the target was found
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
      sample: {"done": 3, "total": 13, "running": ["Stop observer process"]}
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
target:
  description: The target of the restart.
  returned: once the target was found
  type: dict
  contains:
    kind:
      description: V(server), V(zone), V(cluster), V(agents), V(arbitration_service) or V(obproxies).
      returned: always
      type: str
    cluster_id:
      description: Id of its cluster.
      returned: always
      type: int
    cluster_name:
      description: Name of its cluster.
      returned: always
      type: str
    id:
      description: Server id.
      returned: always
      type: int
    name:
      description: Its address.
      returned: always
      type: str
  sample: {"kind": "server", "id": 1, "name": "10.0.0.1:2882", "cluster_id": 1, "cluster_name": "orders"}
before:
  description: The target before the restart; null if it could not be read.
  returned: once the target was found
  type: dict
  contains:
    status:
      description: Status of the target as a whole; null if its members do not have the same, or none is shown.
      returned: always
      type: str
    members:
      description: What is restarted - servers, agents, OBProxies, or the arbitration service.
      returned: always
      type: list
      elements: dict
      contains:
        name:
          description: Its address.
          returned: always
          type: str
        status:
          description: Its status; null if not shown.
          returned: always
          type: str
        start_time:
          description: When it last started; null if not shown. OCP shows it only of servers.
          returned: always
          type: str
        pids:
          description: The process ids of an agent, by the names of its processes; null if not shown, and for everything
            else.
          returned: always
          type: dict
          sample: {"ocp_agentd": 2009, "ocp_mgragent": 2007, "ocp_monagent": 2008, "pos_proxy": 2010}
after:
  description: The target after the restart; null if it was not waited for or not restarted.
  returned: once the target was found
  type: dict
  contains:
    status:
      description: Status of the target as a whole; null if its members do not have the same, or none is shown.
      returned: always
      type: str
    members:
      description: What is restarted - servers, agents, OBProxies, or the arbitration service.
      returned: always
      type: list
      elements: dict
      contains:
        name:
          description: Its address.
          returned: always
          type: str
        status:
          description: Its status; null if not shown.
          returned: always
          type: str
        start_time:
          description: When it last started; null if not shown. OCP shows it only of servers.
          returned: always
          type: str
        pids:
          description: The process ids of an agent, by the names of its processes; null if not shown, and for everything
            else.
          returned: always
          type: dict
          sample: {"ocp_agentd": 2009, "ocp_mgragent": 2007, "ocp_monagent": 2008, "pos_proxy": 2010}
verified:
  description: Whether the server is proven to have restarted and to serve. The proof is a start time later than before,
    or later than O(started_before); for a server skipped by O(until_effective) it is its values. False if the service
    shows the opposite after the restart, or other values than O(until_effective) after a start that should have brought
    them. Null if it was not waited for, or the service does not show enough.
  returned: once the target was found
  type: bool
wait_command:
  description: The command that waits for the restart. It takes OCP_URL and the credentials from the environment.
  returned: when a restart was started or joined, and not waited for
  type: str
  sample: ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=1000001'
safety:
  description: The effect of the restart on the tenants of the cluster, and the health of the cluster, as seen right
    before the request. Null if that was not checked, as with V(safety=none), and if no restart was needed.
  returned: once the target was found
  type: dict
  contains:
    allowed:
      description: Whether that allowed the restart.
      returned: always
      type: bool
    problems:
      description: Why the cluster is not healthy, if that was checked, or that the server is in another zone.
      returned: always
      type: list
      elements: str
    evidence:
      description:
        - V(tenants) if the zones of the tenants were enough to judge by, V(units) if the module also had to read which
          servers have a part of some tenants, V(zones) if the tenants cannot be read. For an arbitration service with
          several clusters it may be several of these, as V(tenants, zones).
        - Null if tenants were not checked.
      returned: always
      type: str
    tenants:
      description: Names of the tenants that were checked.
      returned: always
      type: list
      elements: str
    outages:
      description: The tenants that would lose their majority.
      returned: always
      type: list
      elements: dict
      contains:
        tenant:
          description: Name of the tenant; null for the cluster as a whole, if its tenants cannot be read.
          returned: always
          type: str
        voters:
          description: How many voters it has.
          returned: always
          type: int
        needed:
          description: How many of them it needs.
          returned: always
          type: int
        remaining_zones:
          description: The zones whose voters would remain.
          returned: always
          type: list
          elements: str
        restarted_zones:
          description: The zones whose voters the restart would take away.
          returned: always
          type: list
          elements: str
        others_down:
          description: What else is down, in words.
          returned: always
          type: list
          elements: str
        tolerated:
          description: Whether the option C(tolerate_outage_of) has the tenant.
          returned: always
          type: bool
  sample: {"evidence": "tenants", "tenants": ["sys", "shop"], "outages": [], "problems": [], "allowed": true}
elapsed:
  description: Seconds that the module took.
  returned: once the target was found
  type: float
trace_id:
  description: Trace id of the request that started the restart, or of the answer that made the module fail, to find it
    in the logs of the service; null if there was neither.
  returned: once the target was found, and when a request made the module fail
  type: str
failed_subtasks:
  description: The subtasks that FAILED.
  returned: when the task did not succeed, or a FAILED task holds the target
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
url:
  description: Address of the request that made the module fail.
  returned: when a request made the module fail
  type: str
failed_task_ids:
  description: Ids of the tasks that did not succeed. That is only RV(task_id), or the FAILED task that holds the
    target.
  returned: when the task did not succeed, or a FAILED task holds the target
  type: list
  elements: int
unfinished_task_ids:
  description: Ids of the tasks that were still running - the restart itself, or with O(in_flight=queue) the tasks that
    it had to wait for.
  returned: when wait_timeout was used up
  type: list
  elements: int
tasks:
  description: The tasks that the restart had to wait for, each with the keys of RV(task).
  returned: when in_flight is queue and waiting failed
  type: list
  elements: dict
effective:
  description: For each name in O(until_effective) the C(value) that all restarted servers show, whether it is
    C(effective) on all of them, and the value on each of the C(servers), as last seen. A value is null if it is not
    shown, or servers differ; C(effective) is null if values are not shown.
  returned: once the target was found, with O(until_effective)
  type: dict
  sample: {"stack_size": {"value": "5M", "effective": true, "servers": {"10.0.0.1:2882": "5M"}}}
signs:
  description: The signs of trouble that prevented the restart, in words, each with its name in O(stop_on).
  returned: when signs of trouble stopped it
  type: list
  elements: str
"""

from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._module.server_options import COMMON_OPTIONS, SERVER_OPTIONS, restart_server

OPTIONS = {**SERVER_OPTIONS, **COMMON_OPTIONS}

DEFINITION = Definition(OPTIONS, restart_server)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
