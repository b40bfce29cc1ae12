#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: cluster_rolling_restart
short_description: Restart the servers of clusters one after another
version_added: 1.0.0
description:
  - Restarts the servers of clusters that need it, one after another and zone by zone, as long as the cluster is
    healthy. A zone comes the later, the more tenants have it as their primary zone; of equal zones, the one that has
    the root server comes last. The root server is the last of its zone, and by itself.
  - It does in one call what the role P(oceanbase.ocp.rolling_restart#role) does; only the role has task files between
    restarts. With O(clusters) it restarts one cluster after another, as the role does. With O(cluster) and O(run) it
    is for plays over many clusters, as the playbook C(oceanbase.ocp.rolling_restart) has them.
  - It plans like M(oceanbase.ocp.cluster_rolling_restart_info), and restarts like M(oceanbase.ocp.server_restart) with
    O(ignore:require_healthy=true). It stops at the first problem. At the end each cluster has to be healthy, and no
    server in the scope may be left.
  - If you run it again, it continues where it stopped.
  - Required, one of the two - O(cluster), O(clusters).
  - What and how - O(zones), O(servers), O(strategy), O(batch), O(canary), O(freeze_server), O(run), O(options_only),
    O(plan_file), O(approved_plan), O(pause_file), O(raise_offline_time).
  - Once per change - O(change), O(started_before), O(until_effective).
  - When not to restart - O(safety), O(tolerate_outage_of), O(safety_timeout), O(min_zones), O(stop_on), O(max_lag),
    O(metric_limits), O(offline_budget), O(max_failures), O(judged_tasks), O(most_down), O(max_servers),
    O(finish_before), O(windows).
  - Waiting - O(wait_timeout), O(wait_interval), O(soak).
  - Output - O(show_progress), O(show_steps), O(log_lines), O(detail), O(hint_variables), O(notify_url),
    O(inspection).
  - Connection and journal - O(url), O(username), O(password), O(access_key_id), O(access_key_secret),
    O(validate_certs), O(ca_path), O(client_cert), O(client_key), O(use_proxy), O(timeout), O(journal_url).
options:
  cluster:
    description:
      - Name or id of the cluster.
      - This or O(clusters) is required.
    type: str
  clusters:
    description:
      - Names or ids of clusters, in the order in which they are restarted. All are planned before the first restart.
      - With O(max_failures), so many of them may fail before no other one is begun.
    type: list
    elements: str
  batch:
    description:
      - How many servers of a zone are restarted at the same time.
      - V(auto) takes as many as the tenants allow, see O(oceanbase.ocp.cluster_rolling_restart_info#module:batch).
    type: str
    default: "1"
  canary:
    description:
      - How many servers of O(clusters) are restarted before all others, one at a time, see
        O(oceanbase.ocp.cluster_rolling_restart_info#module:canary).
      - After the last one, its cluster has to stay healthy for O(soak) seconds, if other servers are left.
    type: int
  max_servers:
    description: Refuse to begin if more servers of O(clusters) than this are to be restarted.
    type: int
  options_only:
    description:
      - Only check the options, and that what they name is there, and restart nothing. For a play that is to refuse bad
        options before it changes anything.
    type: bool
    default: false
  zones:
    description: Only servers in the zones of these names.
    type: list
    elements: str
  servers:
    description: Only these servers, each by id or as V(IP:PORT).
    type: list
    elements: str
  strategy:
    description:
      - With V(server) each server is restarted by itself.
      - With V(zone) all servers of a zone are restarted by one call, if at least one of them needs it.
    type: str
    choices: [server, zone]
    default: server
  started_before:
    description:
      - Restart what started before this instant, and leave alone what is proven to have started since. ISO 8601 with an
        offset, as in V(2026-05-04T03:02:01+08:00), or seconds since 1970, by the clock of the machine that runs the
        module.
      - This, O(change) or O(until_effective) is required.
    type: str
  freeze_server:
    description:
      - Whether a minor compaction is done before a server is stopped.
      - Required with O(strategy=server), refused with O(strategy=zone), because OCP takes it for a server alone.
    type: bool
  min_zones:
    description: Refuse a cluster that has fewer zones than this.
    type: int
    default: 0
  finish_before:
    description:
      - Do not begin a restart that would not end before this instant, judged by the longest past restart in the
        cluster. That is not a failure; RV(postponed) has the reason.
      - ISO 8601 with an offset, or seconds since 1970.
    type: str
  windows:
    description:
      - Begin a restart only in one of these maintenance windows, and if it would end there. The run then ends well,
        RV(postponed) says when the next window opens, and the next run goes on. RV(plan.forecast) is for these windows.
        See O(oceanbase.ocp.server_restart#module:windows).
    type: dict
  soak:
    description:
      - How many seconds a cluster has to stay healthy - O(cluster) after its restarts, or that of the last O(canary).
      - With O(run), other clusters wait for O(cluster). It is then watched also if an earlier run has restarted it.
    type: int
    default: 0
  offline_budget:
    description:
      - What to do about a server whose past restarts took longer than a server may be offline
        (C(server_permanent_offline_time)), see O(oceanbase.ocp.server_restart#module:offline_budget).
    type: str
    choices: [refuse, warn, ignore]
    default: ignore
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
        second one finds are a warning.
      - It is no reason to fail. Where OCP makes no inspection, as in its Community Edition, or has no report after 15
        minutes, a warning says so. There is none in check mode, outside of O(windows) and after O(finish_before).
    type: str
    choices: [basic, performance, in_depth, installation]
  raise_offline_time:
    description:
      - For the length of the run, raise C(server_permanent_offline_time) of a cluster with servers to restart to this
        value, as in V(4h), and put it back at the end, also after a failure. A higher value is left as it is.
      - O(offline_budget) and O(wait_timeout) are judged by it.
      - The old value is noted in the journal before the new one is set. If the run is killed, the next run over the
        cluster puts it back, and so does M(oceanbase.ocp.cluster_offline_time).
      - It is refused if the servers of a cluster have different values, since OCP sets one for all.
    type: str
  wait_timeout:
    description:
      - How many seconds to wait for each restart, and for restarts that are already running.
      - Without it, twice the time that a server may be offline, but at least 7200.
    type: int
  wait_interval:
    description: The longest pause between two polls, in seconds.
    type: float
    default: 10
  log_lines:
    description: How many of the last log lines of a failed subtask a failure shows, 0 to 200.
    type: int
    default: 20
  show_progress:
    description: Whether to show progress while restarts run. The id of each task is always shown.
    type: bool
    default: true
  show_steps:
    description: Whether to also show a line for each subtask of a restart.
    type: bool
    default: false
  run:
    description:
      - The run that this cluster is a part of, such as a play over many clusters. Each cluster adds its outcome to a
        file. Then a line shows how many have ended, how many failed, and about how long the rest will take. The last
        one shows what became of all, and writes it to a file with the ending C(.json), in place of the first one.
      - No restart begins if more than O(max_failures) clusters of the run have failed.
      - With O(clusters), this is the look at all of them before the run. It restarts nothing, and fails if more than
        O(max_failures) clusters are blocked. If nothing is to be restarted, there is no run, and each cluster has to be
        healthy here.
    type: dict
    suboptions:
      record:
        description: Path of the file, with the ending C(.record). It must not be there before a run.
        type: str
        required: true
      host:
        description: The name of the cluster in the file, such as C(inventory_hostname). Required with O(cluster).
        type: str
      clusters:
        description: How many clusters the run has.
        type: int
        required: true
      forks:
        description: How many of them are restarted at the same time.
        type: int
        default: 1
      servers:
        description: How many servers are to be restarted in all clusters, for the time that is left.
        type: int
      canaries:
        description: Names of the clusters that are restarted before all others. They are shown with O(clusters).
        type: list
        elements: str
        default: []
      ended_for:
        description:
          - Names of all clusters of the run, as in O(run.host), if no other one is begun. With it the module restarts
            nothing. It shows what became of all, and writes it, as after the last cluster.
        type: list
        elements: str
  plan_file:
    description:
      - Write the plan of O(clusters) to this file, to be approved, and restart nothing. See
        O(oceanbase.ocp.cluster_rolling_restart_info#module:plan_file).
    type: path
  approved_plan:
    description:
      - The file of a plan of O(clusters) that O(plan_file) has written. The run restarts exactly what it has, in its
        batches. If anything has changed that it rests on, all that differs is named, and nothing is sent. What the
        plan has restarted already is left alone, so the same command continues an interrupted run.
    type: path
  pause_file:
    description:
      - The path of a file. While it is there, no other batch begins. The restarts that are running end, the run ends
        successfully, and RV(postponed) says why. Remove the file and run it again to go on.
    type: path
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.detail
  - oceanbase.ocp.hints
  - oceanbase.ocp.journal
  - oceanbase.ocp.change
  - oceanbase.ocp.safety
  - oceanbase.ocp.signs
  - oceanbase.ocp.until_effective
  - oceanbase.ocp.failure_limit
  - oceanbase.ocp.caps
attributes:
  check_mode:
    support: full
    details: Plans, and restarts nothing. It fails if the cluster is not healthy, as a real run would.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: Leaves alone what has restarted since O(change) was first used, has started since O(started_before), or
      shows the values of O(until_effective).
seealso:
  - module: oceanbase.ocp.cluster_rolling_restart_info
  - module: oceanbase.ocp.server_restart
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Restart the servers of a cluster one after another
  oceanbase.ocp.cluster_rolling_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
    freeze_server: true
    change: memory-2026-11-20
    safety_timeout: 600
    stop_on: [alarms, lag, backup, merge, versions, ntp]
    max_failures: 0
  register: rolled

- name: Show what became of each server
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.outcome }} in {{ item.elapsed }} s"
  loop: "{{ rolled.results }}"
"""

# Generated by `make returns` from tools/returns/modules.yml; edit there.
RETURN = r"""
changed:
  description: Whether a restart was started, or would be in check mode.
  returned: always
  type: bool
cluster:
  description: The cluster.
  returned: with O(cluster), but for options that are refused
  type: dict
  contains:
    id:
      description: Its id; null if it was not found.
      returned: always
      type: int
    name:
      description: Its name.
      returned: always
      type: str
  sample: {"id": 1, "name": "orders"}
run:
  description: What the calls for each cluster take from the look at all of them.
  returned: with O(clusters) and O(run), but for options that are refused
  type: dict
  contains:
    record:
      description: As O(run.record).
      returned: always
      type: str
    canaries:
      description: As O(run.canaries).
      returned: always
      type: list
      elements: str
    max_servers:
      description: As O(max_servers).
      returned: always
      type: int
    max_failures:
      description: As O(max_failures), V(0) if it is not given.
      returned: always
      type: int
    blocked:
      description: The names of the clusters that are blocked.
      returned: always
      type: list
      elements: str
  sample: {"record": "/ops/1.record", "canaries": [], "max_servers": 300, "max_failures": 0, "blocked": ["shop"]}
planned:
  description: How many servers needed the restart when it was planned.
  returned: always, but for options that are refused
  type: int
left_alone:
  description: How many servers in the scope needed no restart.
  returned: always, but for options that are refused
  type: int
results:
  description: The outcome of each server that was reached, in order.
  returned: always, but for options that are refused
  type: list
  elements: dict
  contains:
    cluster:
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
    zone:
      description: Its zone.
      returned: always
      type: str
    outcome:
      description: V(failed), or a value of RV(oceanbase.ocp.server_restart#module:action).
      returned: always
      type: str
    task_id:
      description: Id of the task that restarts it; null if there is none.
      returned: always
      type: int
    verified:
      description: As RV(oceanbase.ocp.server_restart#module:verified); null if not known.
      returned: always
      type: bool
    reason:
      description: As RV(oceanbase.ocp.server_restart#module:reason); null if not known.
      returned: always
      type: str
    elapsed:
      description: Seconds that it took.
      returned: always
      type: float
    start_before:
      description: Its start as shown before; null if not shown.
      returned: always
      type: str
    start_after:
      description: Its start as shown after; null if not shown.
      returned: always
      type: str
plan:
  description: The plan, as M(oceanbase.ocp.cluster_rolling_restart_info) returns it.
  returned: with O(clusters), but for options that are refused
  type: dict
  contains:
    clusters:
      description: The clusters in order.
      returned: success
      type: list
      elements: dict
      contains:
        id:
          description: Its id.
          returned: always
          type: int
        name:
          description: Its name.
          returned: always
          type: str
        batches:
          description: The number of its batches.
          returned: always
          type: int
        task_ids:
          description: Ids of the restarts that are running on it or on a part of it.
          returned: always
          type: list
          elements: int
        waits_for:
          description: The same in words. A restart that is being rolled back is called a rollback.
          returned: always
          type: list
          elements: str
          sample: ["rollback of task 1000001 (Restart OB server 10.0.0.1)"]
        problems:
          description: Why it is not healthy now, one sentence for each reason; empty if it is healthy.
          returned: always
          type: list
          elements: str
        serves:
          description: Whether it and all its servers are in service, and no FAILED task holds a part of it.
          returned: always
          type: bool
        safe:
          description: Whether no batch takes the majority from a tenant while everything else serves, the database
            would not refuse the first batch for what only a person can clear, as far as that was checked, and no zone
            that restarts at once has more servers than O(most_down) allows.
          returned: always
          type: bool
        obstacles:
          description: For which states the database would refuse now to stop the first batch, one sentence each. What
            may end by itself is waited for at its turn.
          returned: always
          type: list
          elements: str
        blocked:
          description: Whether it is not safe, or has a problem that no running task explains. No restart should begin
            then.
          returned: always
          type: bool
        message:
          description: Why it is blocked, with the commands that clear what a FAILED task holds; empty if it is not.
          returned: always
          type: str
        signs:
          description: The signs of trouble in O(stop_on) that are there now, one sentence each.
          returned: always
          type: list
          elements: str
        alarms:
          description: The ids of its active alarms, for the option C(alarms_before) of the restart modules.
          returned: always
          type: list
          elements: int
        metrics:
          description: The medians of the metrics in O(metric_limits) before the change, by their names, for the option
            C(metrics_before) of the restart modules. Only of those with C(rise).
          returned: always
          type: dict
          sample: {"sql_all_rt": 12.5}
        offline_time:
          description: How many seconds one of its servers may be offline; null if O(offline_budget) does not need it,
            or the service does not show it.
          returned: always
          type: int
    batches:
      description: The batches in order; the servers of a batch restart at the same time.
      returned: success
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
        number:
          description: Its number from 1; null for those in the list of what is done.
          returned: always
          type: int
        servers:
          description: Its servers.
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
            id:
              description: Server id.
              returned: always
              type: int
            name:
              description: Its address.
              returned: always
              type: str
            with_rootserver:
              description: Whether the root service runs on it.
              returned: always
              type: bool
            needed:
              description: Whether it needs the restart; some servers of a whole zone may not.
              returned: always
              type: bool
            reason:
              description: Why it needs the restart or not.
              returned: always
              type: str
            serves:
              description: Whether it serves now.
              returned: always
              type: bool
            restarted:
              description:
                - Whether it has started since the change. If it needs the restart all the same, it shows other values
                  than wanted, and no other restart is sent for it.
              returned: always
              type: bool
        reason:
          description: Why it has this place in the order.
          returned: always
          type: str
        first_of_zone:
          description: Whether it is the first batch of its zone.
          returned: always
          type: bool
        last_of_zone:
          description: Whether it is the last batch of its zone.
          returned: always
          type: bool
        canary:
          description: Whether its servers are canaries.
          returned: always
          type: bool
    left_alone:
      description: The servers in the scope that are left alone.
      returned: success
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
        id:
          description: Server id.
          returned: always
          type: int
        name:
          description: Its address.
          returned: always
          type: str
        with_rootserver:
          description: Whether the root service runs on it.
          returned: always
          type: bool
        needed:
          description: Whether it needs the restart; some servers of a whole zone may not.
          returned: always
          type: bool
        reason:
          description: Why it needs the restart or not.
          returned: always
          type: str
        serves:
          description: Whether it serves now.
          returned: always
          type: bool
        restarted:
          description:
            - Whether it has started since the change. If it needs the restart all the same, it shows other values than
              wanted, and no other restart is sent for it.
          returned: always
          type: bool
    done:
      description: As there, with the keys of RV(plan.batches).
      returned: always
      type: list
      elements: dict
    forecast:
      description: How long it takes, by the durations of past restarts of this kind in OCP; clusters one after another.
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
failures:
  description: What stopped the run, or a cluster of it.
  returned: with O(clusters), but for options that are refused
  type: list
  elements: dict
  contains:
    cluster:
      description: Name of the cluster; empty if the last look at all clusters failed.
      returned: always
      type: str
    batch:
      description: Number of the batch of the plan in which it failed; null if none was begun or all had ended.
      returned: always
      type: int
    message:
      description: Why it failed.
      returned: always
      type: str
tasks:
  description: The tasks that made restarts fail.
  returned: with O(clusters), but for options that are refused
  type: list
  elements: dict
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
untouched:
  description: The names of the servers that need the restart but were not reached.
  returned: always, but for options that are refused
  type: list
  elements: str
postponed:
  description: Why the next restart would not have ended before O(finish_before), or that O(pause_file) is there; null
    if neither stopped the run.
  returned: always, but for options that are refused
  type: str
stopped:
  description: Why no further restart begins, if too much of the change or of the O(run) has failed elsewhere; null if
    that did not stop the run. Without O(run) the module fails in this case.
  returned: always, but for options that are refused
  type: str
inspections:
  description: What OCP's inspections of the clusters with servers to restart have found; empty without O(inspection).
  returned: always, but for options that are refused
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
elapsed:
  description: Seconds that the module took.
  returned: always, but for options that are refused
  type: float
failed_task_ids:
  description: Ids of the tasks that did not succeed, or that hold the target that they should restart.
  returned: when a FAILED task made it fail
  type: list
  elements: int
unfinished_task_ids:
  description: Ids of the tasks that were still running.
  returned: when a wait made it fail
  type: list
  elements: int
signs:
  description: The signs of trouble that prevented the restart, in words, each with its name in O(stop_on).
  returned: when signs of trouble stopped it
  type: list
  elements: str
url:
  description: Address of the request that made the module fail.
  returned: when a request made the module fail
  type: str
trace_id:
  description: Trace id of the answer, to find the request in the logs of the service; null if no answer came.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._base.checks import check_range
from ..module_utils._base.cli_hints import Hints
from ..module_utils._base.errors import OptionError
from ..module_utils._health.scenarios import SCENARIOS
from ..module_utils._module.approval_options import APPROVAL_OPTIONS, approval, given_path, refuse_approval
from ..module_utils._module.connection_options import NOTIFY_OPTION, seconds_option
from ..module_utils._module.restart_options import (
    BUDGET_OPTIONS,
    CAP_OPTIONS,
    CHANGE_OPTIONS,
    EFFECT_OPTIONS,
    FAILURE_OPTIONS,
    MAJORITY,
    PLAN_OPTIONS,
    PLANNED_SIGN_OPTIONS,
    SAFETY_OPTIONS,
    WAIT_OPTIONS,
    given_caps,
    given_change,
    given_instant,
    given_windows,
    restart_options,
    wanted_values,
    watch,
)
from ..module_utils._ocp.side_by_side import Crew
from ..module_utils._rolling.cluster_run import SHORTEST_WAIT, ClusterRun, end_run, roll_cluster
from ..module_utils._rolling.rolling_order import Strategy
from ..module_utils._rolling.rolling_plan import RollingRequest, batch_size, check_options
from ..module_utils._rolling.rolling_run import Ahead, RollingRun, roll_clusters
from ..module_utils._rolling.run_record import RunRecord
from ..module_utils._signs.offline_budget import OfflineBudget

OPTIONS = {
    "cluster": {"type": "str"},
    "clusters": {"type": "list", "elements": "str"},
    "batch": {"type": "str", "default": "1"},
    "canary": {"type": "int"},
    "max_servers": {"type": "int"},
    "options_only": {"type": "bool", "default": False},
    "zones": {"type": "list", "elements": "str"},
    "servers": {"type": "list", "elements": "str"},
    "strategy": {"type": "str", "choices": [choice.value for choice in Strategy], "default": Strategy.SERVER.value},
    **CHANGE_OPTIONS,
    "freeze_server": {"type": "bool"},
    "min_zones": {"type": "int", "default": 0},
    "finish_before": PLAN_OPTIONS["finish_before"],
    "windows": PLAN_OPTIONS["windows"],
    "soak": {"type": "int", "default": 0},
    "offline_budget": BUDGET_OPTIONS["offline_budget"],
    "raise_offline_time": {"type": "str"},
    "inspection": {"type": "str", "choices": [*SCENARIOS]},
    **NOTIFY_OPTION,
    **WAIT_OPTIONS,
    "wait_timeout": {"type": "int"},
    "show_steps": {"type": "bool", "default": False},
    "run": {
        "type": "dict",
        "options": {
            "record": {"type": "str", "required": True},
            "host": {"type": "str"},
            "clusters": {"type": "int", "required": True},
            "forks": {"type": "int", "default": 1},
            "servers": {"type": "int"},
            "canaries": {"type": "list", "elements": "str", "default": []},
            "ended_for": {"type": "list", "elements": "str"},
        },
    },
    **SAFETY_OPTIONS,
    **PLANNED_SIGN_OPTIONS,
    **EFFECT_OPTIONS,
    **FAILURE_OPTIONS,
    **CAP_OPTIONS,
    **APPROVAL_OPTIONS,
    "pause_file": {"type": "path"},
}
# Of a batch; servers of one cluster are requested one after another.
THREADS = 4
# For each restart of the plan, whatever the options.
OF_EACH = {"in_flight": "attach", "wait": True, "require_healthy": True, "alarms_before": None, "offline_time": None}


def run(api, params, mode):
    if not params["notify_url"]:
        return roll(api, params, mode)
    from ..module_utils._module.notify_option import notified

    clusters = params["clusters"] or [params["cluster"]]
    return notified("cluster_rolling_restart", clusters, params, mode, lambda: roll(api, params, mode))


def roll(api, params, mode):
    if params["freeze_server"] is not None and Strategy(params["strategy"]) is Strategy.ZONE:
        raise OptionError(
            f"freeze_server: {str(params['freeze_server']).lower()} does not go with strategy=zone, since OCP takes it "
            "for the restart of a server alone; leave it out."
        )
    wait_timeout = None if params["wait_timeout"] is None else seconds_option(params, "wait_timeout", 0)
    asked = {**params, **OF_EACH, "wait_timeout": SHORTEST_WAIT if wait_timeout is None else params["wait_timeout"]}
    request = restart_options(asked, mode)
    wanted = ClusterRun(
        plan=planned(params, mode),
        restart=request,
        freeze_server=params["freeze_server"],
        wait_timeout=wait_timeout,
        soak=seconds_option(params, "soak", 0),
        record=record(params),
        crew=Crew(mode.connect, THREADS),
        pause_file=given_path(params, "pause_file"),
        inspection=params["inspection"],
    )
    if params["max_servers"] is not None:
        check_range("max_servers", params["max_servers"], 0)
    if params["options_only"]:
        return check_options(api, wanted.plan)
    if params["clusters"] is None:
        names = params["run"]["ended_for"] if params["run"] else None
        return roll_cluster(api, wanted) if names is None else end_run(wanted, names)
    ahead = Ahead(params["run"]["forks"], params["run"]["canaries"]) if params["run"] else None
    most = params["max_failures"] or 0
    return roll_clusters(api, RollingRun(wanted, most, params["max_servers"], ahead, among_hosts=mode.among_hosts))


def planned(params, mode):
    if params["clusters"] is None or params["run"] is not None:
        approval(params, mode)
        refuse_approval(params, "clusters, and without run")
    return RollingRequest(
        clusters=[params["cluster"]] if params["clusters"] is None else params["clusters"],
        zones=params["zones"],
        servers=params["servers"],
        batch=batch_size(params["batch"]),
        canary=params["canary"] or 0,
        strategy=Strategy(params["strategy"]),
        started_before=given_instant(params, "started_before"),
        min_zones=params["min_zones"],
        majority=params["safety"] == MAJORITY,
        tolerated=params["tolerate_outage_of"],
        watch=watch(params),
        judges_budget=params["offline_budget"] != OfflineBudget.IGNORE.value,
        until_effective=wanted_values(params),
        change=given_change(params),
        journal_url=params["journal_url"],
        caps=given_caps(params),
        windows=given_windows(params),
        soak=seconds_option(params, "soak", 0),
        hints=Hints.of(params),
        approval=approval(params, mode),
        raised=params["raise_offline_time"],
    )


def record(params):
    given = params["run"]
    if given is None:
        return None
    for option in ("clusters", "forks"):
        check_range(f"run.{option}", given[option], 1)
    if params["clusters"] is None and not given["host"]:
        raise OptionError("run.host: is not given; give the name of the cluster in the run.")
    found = RunRecord(
        given["record"],
        given["host"] or "",
        given["clusters"],
        given["forks"],
        params["max_failures"],
        given["servers"],
    )
    found.check()
    return found


DEFINITION = Definition(
    OPTIONS,
    run,
    {
        "required_if": [("strategy", Strategy.SERVER.value, ["freeze_server"])],
        "required_one_of": [("cluster", "clusters")],
        "mutually_exclusive": [("cluster", "clusters")],
        "required_by": {"canary": ["clusters"], "max_servers": ["clusters"]},
    },
)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
