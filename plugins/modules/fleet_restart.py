#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: fleet_restart
short_description: Restart many database servers side by side
version_added: 1.0.0
description:
  - Restarts servers of one or many OceanBase clusters through OCP, all at the same time. Each follows the rules of
    M(oceanbase.ocp.server_restart), with the same checks, decision and lock.
  - With O(wait) it waits until all have ended, and proves that each has started since and serves.
  - If a server fails, the others are still restarted. At the end the module fails and names the servers that failed.
    After status 401, or if the service does not answer for five servers in a row, it begins no further restart.
  - Servers of one cluster are checked one after another, in the order of the list. A server that may not be down
    together with others is refused. With O(waves) it plans first, so that none is.
  - Required - O(servers), O(freeze_server).
  - What and how - O(waves), O(plan_file), O(approved_plan), O(pause_file), O(force), O(raise_offline_time).
  - Once per change - O(change), O(started_before), O(until_effective), O(in_flight).
  - When not to restart - O(safety), O(tolerate_outage_of), O(safety_timeout), O(require_healthy), O(stop_on),
    O(max_lag), O(metric_limits), O(alarms_before), O(metrics_before), O(offline_budget), O(offline_time),
    O(max_failures), O(judged_tasks), O(most_down), O(finish_before), O(windows).
  - Waiting - O(wait), O(wait_timeout), O(wait_interval), O(proof_timeout), O(threads).
  - Output - O(show_progress), O(show_steps), O(log_lines), O(detail), O(hint_variables), O(notify_url),
    O(inspection).
  - Connection and journal - O(url), O(username), O(password), O(access_key_id), O(access_key_secret),
    O(validate_certs), O(ca_path), O(client_cert), O(client_key), O(use_proxy), O(timeout), O(journal_url).
options:
  servers:
    description: The servers.
    type: list
    elements: dict
    required: true
    suboptions:
      cluster:
        description: Name or id of the cluster.
        type: str
        required: true
      server:
        description: Id of the server, or its address as V(IP:PORT).
        type: str
        required: true
      zone:
        description: Name of the zone that the server has to be in right before the request.
        type: str
      tolerate_outage_of:
        description: Names of tenants of its cluster, instead of O(tolerate_outage_of).
        type: list
        elements: str
      cluster_id:
        description: Id of the cluster, instead of its name, as M(oceanbase.ocp.fleet_restart_info) returns it.
        type: int
      id:
        description: Not used. The servers of a wave have it, so you can pass them unchanged.
        type: int
      reason:
        description: Not used, as above.
        type: str
  freeze_server:
    description: Whether a minor compaction is done before a server is stopped.
    type: bool
    required: true
  force:
    description: Whether to restart the servers forcibly.
    type: bool
    default: false
  waves:
    description:
      - Plan first, as M(oceanbase.ocp.fleet_restart_info) does. It needs O(change) or O(started_before). O(change)
        begins for all of the planned servers before the first request.
      - With V(true) servers that cannot all be down at once restart in waves, each after all servers of the one before
        have started since and serve. After a wave with a failure no other begins. It needs O(wait).
      - With V(false) they are refused before anything is sent.
      - Without it nothing is planned. All begin at once, and each is refused that may not be down together with those
        before it.
      - With O(plan_file) or O(approved_plan) it is V(true) if it is not given.
    type: bool
  plan_file:
    description:
      - Write the plan to this file, to be approved, and restart nothing. See
        O(oceanbase.ocp.fleet_restart_info#module:plan_file).
    type: path
  approved_plan:
    description:
      - The file of a plan that O(plan_file) has written. The run restarts exactly the waves that it has. If anything
        has changed that it rests on, all that differs is named, and nothing is sent. What the plan has restarted
        already is left alone, so the same command continues an interrupted run. It needs O(wait).
    type: path
  pause_file:
    description:
      - The path of a file, with O(waves=true). While it is there, no other wave begins. The restarts that are running
        end and are proven, and the run ends successfully. C(action) is V(postponed) for the servers that are left.
        Remove the file and run it again to go on.
    type: path
  notify_url:
    description:
      - An address that gets a JSON document by POST when the run begins and when it stops, pauses or ends, see
        U(https://github.com/oceanbase/ansible-collection-ocp/blob/main/docs/notify.md). The address is not shown.
      - What is not delivered within 5 seconds is a warning, and no reason to fail. Nothing is sent in check mode.
      - Taken from the environment variable E(OCP_NOTIFY_URL) if it is not set.
    type: str
  inspection:
    description:
      - Let OCP inspect each cluster with servers to restart for this scenario of its inspections, before the first
        restart and after the last one. RV(inspections) and the evidence have what it finds. High risks that only the
        second one finds are a warning. It needs O(waves)
        and O(wait).
      - It is no reason to fail. Where OCP makes no inspection, as in its Community Edition, or has no report after 15
        minutes, a warning says so. There is none in check mode, outside of O(windows) and after O(finish_before).
    type: str
    choices: [basic, performance, in_depth, installation]
  raise_offline_time:
    description:
      - For the length of the run, raise C(server_permanent_offline_time) of each cluster with servers to restart to
        this value, as in V(4h), and put it back at the end, also after a failure. A higher value is left as it is.
      - It needs O(waves) and O(wait).
      - The old value is noted in the journal before the new one is set. If the run is killed, the next run over the
        cluster puts it back, and so does M(oceanbase.ocp.cluster_offline_time).
      - It is refused if the servers of a cluster have different values, since OCP sets one for all.
    type: str
  proof_timeout:
    description:
      - How many seconds to keep checking, with O(wait), servers whose task has ended but that do not yet show that they
        have started and serve. A service may show a start up to 180 seconds late.
    type: int
    default: 180
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
  - oceanbase.ocp.threads
attributes:
  idempotent:
    support: partial
    details: With O(change) a server that has restarted since the name was first used is left alone, with
      O(started_before) one that has started since, with O(until_effective) one that shows the values. Without these
      each run restarts the servers, unless a restart of them is running.
notes:
  - O(wait) requires O(change) or O(started_before), because a start since then is the proof of a restart.
seealso:
  - module: oceanbase.ocp.server_restart
  - module: oceanbase.ocp.fleet_restart_info
  - module: oceanbase.ocp.task_wait
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Restart servers of two clusters at the same time, and wait for both
  oceanbase.ocp.fleet_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    servers:
      - {cluster: orders, server: "10.0.0.1:2882"}
      - {cluster: payments, server: "10.0.0.7:2882"}
    freeze_server: true
    started_before: "2026-05-04T03:00:00+08:00"
    wait: true
  register: fleet

- name: Restart three zones of a cluster, one after another
  oceanbase.ocp.fleet_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    servers:
      - {cluster: orders, server: "10.0.0.1:2882"}
      - {cluster: orders, server: "10.0.0.3:2882"}
      - {cluster: orders, server: "10.0.0.5:2882"}
    freeze_server: true
    change: memory-2026-11-20
    waves: true
    wait: true

- name: Show what became of each
  ansible.builtin.debug:
    msg: "{{ item.cluster }} {{ item.server }}: {{ item.action }}, verified: {{ item.verified }}"
  loop: "{{ fleet.servers }}"
"""

# Generated by `make returns` from tools/returns/modules.yml; edit there.
RETURN = r"""
changed:
  description: Whether a restart was started, or would be in check mode.
  returned: always
  type: bool
servers:
  description: The outcome of each server, in the order of O(servers); with O(waves) one that is there twice has one.
  returned: once a server was checked
  type: list
  elements: dict
  contains:
    cluster:
      description: The cluster as given, with O(waves) its name.
      returned: always
      type: str
    server:
      description: The server as given, with O(waves) its address.
      returned: always
      type: str
    name:
      description: Its address; null if it was not found.
      returned: always
      type: str
    failed:
      description: Whether it was not restarted as requested.
      returned: always
      type: bool
    refused:
      description: Whether it was not begun, since tenants, the cluster or an earlier failure did not allow it.
      returned: always
      type: bool
    msg:
      description: Why it failed.
      returned: when it failed
      type: str
    changed:
      description: Whether a restart of it was started, or would be in check mode.
      returned: always
      type: bool
    action:
      description: As RV(oceanbase.ocp.server_restart#module:action); null if not known.
      returned: always
      type: str
    reason:
      description: As RV(oceanbase.ocp.server_restart#module:reason); null if not known.
      returned: always
      type: str
    task_id:
      description: As RV(oceanbase.ocp.server_restart#module:task_id); null if there is none.
      returned: always
      type: int
    verified:
      description: As RV(oceanbase.ocp.server_restart#module:verified), with O(wait) by the last check; null if not
        known.
      returned: always
      type: bool
    trace_id:
      description: As RV(oceanbase.ocp.server_restart#module:trace_id); null if there is none.
      returned: always
      type: str
    start_before:
      description: Its start as shown before the restart; null if not known.
      returned: always
      type: str
    start_after:
      description: Its start as shown in the last check; null if not known, and without O(wait).
      returned: always
      type: str
    duration:
      description: How many seconds its task took; null if not known, and without O(wait).
      returned: always
      type: float
  sample: [{"cluster": "orders", "server": "10.0.0.1:2882", "failed": false, "task_id": 1000001, "verified": true}]
plan:
  description: The plan, as M(oceanbase.ocp.fleet_restart_info) returns it.
  returned: with O(waves), O(plan_file) or O(approved_plan), once it was made
  type: dict
  contains:
    waves:
      description: The waves in order; the servers of a wave restart together.
      returned: success
      type: list
      elements: dict
      contains:
        number:
          description: Its number from 1.
          returned: always
          type: int
        servers:
          description: Its servers. A server that is down or already restarting is in the first wave.
          returned: always
          type: list
          elements: dict
          contains:
            cluster:
              description: Name of its cluster.
              returned: always
              type: str
            cluster_id:
              description: Id of its cluster.
              returned: always
              type: int
            zone:
              description: Its zone.
              returned: always
              type: str
            server:
              description: Its address as V(ip:port).
              returned: always
              type: str
            id:
              description: Server id.
              returned: always
              type: int
            reason:
              description: Why it is restarted, left alone or refused.
              returned: always
              type: str
            tolerate_outage_of:
              description: The tolerated tenants of its cluster.
              returned: always
              type: list
              elements: str
    left_alone:
      description: The servers that have started since and serve, with the keys of RV(plan.waves.servers).
      returned: always
      type: list
      elements: dict
    refused:
      description: The servers that no wave can take, with the keys of RV(plan.waves.servers).
      returned: always
      type: list
      elements: dict
    message:
      description: Why the servers cannot all be down at once, with the tenants that would lose their majority, and why
        no wave can take some of them; one line for each cluster. Empty if one wave can take all.
      returned: always
      type: str
    lost_tenants:
      description: The names of the tenants for which servers are refused. If none is, those for which not all can be
        down at once.
      returned: always
      type: list
      elements: str
    obstacles:
      description: For what the database would refuse to stop the refused servers now, even if all outages were
        tolerated. Empty if there is nothing like that.
      returned: always
      type: list
      elements: str
    remedies:
      description: The commands that start the servers which are stopped, a line each. Empty if no server is refused.
      returned: always
      type: list
      elements: str
    forecast:
      description: How long it takes, by the durations of past restarts of this kind in OCP; of a wave the slowest.
      returned: success
      type: dict
      contains:
        seconds:
          description: How many seconds the restarts take one batch or wave after another, with the pauses between past
            restarts; null if no past restart is shown.
          returned: always
          type: float
        windows:
          description: In how many of the O(windows); null without them, and if that is not known.
          returned: always
          type: int
        ends:
          description: When the last one ends, in UTC, if it is run again in each window; null if that is not known.
          returned: always
          type: str
        message:
          description: The same in words.
          returned: always
          type: str
          sample: About 9 h 20 min, in 4 windows, until Thursday 2026-12-03 04:10 (Europe/Berlin).
    digest:
      description: The digest of the plan; that of the file with O(approved_plan).
      returned: with O(plan_file) or O(approved_plan)
      type: str
inspections:
  description: What OCP's inspections of the clusters with servers to restart have found; empty without O(inspection).
  returned: with O(waves), once the plan was made
  type: list
  elements: dict
  contains:
    cluster:
      description: Name of the cluster.
      returned: always
      type: str
    cluster_id:
      description: Id of the cluster.
      returned: always
      type: int
    moment:
      description: V(before) the first restart or V(after) the last one.
      returned: always
      type: str
    scenario:
      description: The scenario, as in O(inspection).
      returned: always
      type: str
    task_id:
      description: Id of its task; null if it was not started.
      returned: always
      type: int
    report_id:
      description: Id of its report in OCP; null if there is none.
      returned: always
      type: int
    start_time:
      description: When it began; null if there is no report.
      returned: always
      type: str
    end_time:
      description: When it ended; null if there is no report.
      returned: always
      type: str
    high_risks:
      description: How many items have a high risk; null if there is no report.
      returned: always
      type: int
    medium_risks:
      description: How many items have a medium risk; null if there is no report.
      returned: always
      type: int
    low_risks:
      description: How many items have a low risk; null if there is no report.
      returned: always
      type: int
    risks:
      description: The risks, the highest first, at most 100.
      returned: always
      type: list
      elements: dict
      contains:
        item:
          description: Name of the inspection item.
          returned: always
          type: str
        target:
          description: Of what the value is; null if that is not shown.
          returned: always
          type: str
        value:
          description: The value that is a risk; null if that is not shown.
          returned: always
          type: str
        level:
          description: V(HIGH), V(MEDIUM) or V(LOW).
          returned: always
          type: str
    reason:
      description: Why there is no report; null if there is one.
      returned: always
      type: str
task_ids:
  description: The ids of the tasks that restart the servers, including tasks that were joined.
  returned: once a server was checked
  type: list
  elements: int
  sample: [1000001]
wait_command:
  description: The command that waits for them, for up to 20 tasks. It takes OCP_URL and the credentials from the
    environment.
  returned: when restarts were started or joined, and not waited for
  type: str
  sample: ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=1000001'
failed_task_ids:
  description: The ids of the tasks that did not succeed, and of FAILED tasks that hold a server.
  returned: once a server was checked
  type: list
  elements: int
elapsed:
  description: Seconds that the module took.
  returned: once a server was checked
  type: float
failed_subtasks:
  description: The subtasks that FAILED.
  returned: when a task did not succeed
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
unfinished_task_ids:
  description: Ids of the tasks that were still running.
  returned: when wait_timeout was used up
  type: list
  elements: int
task_id:
  description: Id of the first task that did not succeed, was still running, or could not be read.
  returned: when the wait for the tasks failed
  type: int
trace_id:
  description: Trace id of the answer that made the module fail, to find it in the logs of the service; null if no
    answer came.
  returned: when the wait for the tasks failed, and when a request made the module fail
  type: str
url:
  description: Address of the request that made the module fail.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._module.connection_options import NOTIFY_OPTION
from ..module_utils._module.fleet_options import FLEET_OPTIONS, restart_servers
from ..module_utils._module.server_options import COMMON_OPTIONS

OPTIONS = {**FLEET_OPTIONS, **NOTIFY_OPTION, **COMMON_OPTIONS}


def run(api, params, mode):
    if not params["notify_url"]:
        return restart_servers(api, params, mode)
    from ..module_utils._module.notify_option import notified

    clusters = [server["cluster"] for server in params["servers"]]
    return notified("fleet_restart", clusters, params, mode, lambda: restart_servers(api, params, mode))


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
