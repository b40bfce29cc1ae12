#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: cluster_rolling_restart
short_description: Restart the servers of one cluster one after another
version_added: 1.0.0
description:
  - Restarts the servers of a cluster that need it, one after another and zone by zone, as long as the cluster is
    healthy. A zone comes the later, the more tenants have it as their primary zone; of equal zones, the one that has
    the root server comes last. The root server is the last of its zone.
  - It does in one call what the role P(oceanbase.ocp.rolling_restart#role) does by default, with a fraction of the
    processor time. Use it for plays over many clusters, as the playbook C(oceanbase.ocp.rolling_restart) does. Only the
    role has batches of several servers, and task files between restarts.
  - It plans like M(oceanbase.ocp.cluster_rolling_restart_info), and restarts like M(oceanbase.ocp.server_restart) with
    O(ignore:require_healthy=true). It stops at the first problem. At the end the cluster has to be healthy, and no
    server in the scope may be left.
  - If you run it again, it continues where it stopped.
  - Required - O(cluster).
  - What and how - O(zones), O(servers), O(strategy), O(freeze_server), O(run).
  - Once per change - O(change), O(started_before), O(until_effective).
  - When not to restart - O(safety), O(tolerate_outage_of), O(safety_timeout), O(min_zones), O(stop_on), O(max_lag),
    O(offline_budget), O(max_failures), O(judged_tasks), O(most_down), O(finish_before).
  - Waiting - O(wait_timeout), O(wait_interval), O(soak).
  - Output - O(show_progress), O(show_steps), O(log_lines), O(detail), O(hint_variables).
  - Connection and journal - O(url), O(username), O(password), O(access_key_id), O(access_key_secret),
    O(validate_certs), O(ca_path), O(client_cert), O(client_key), O(use_proxy), O(timeout), O(journal_url).
options:
  cluster:
    description: Name or id of the cluster.
    type: str
    required: true
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
  soak:
    description: How many seconds the cluster has to stay healthy after its restarts. For canaries.
    type: int
    default: 0
  offline_budget:
    description:
      - What to do about a server whose past restarts took longer than a server may be offline
        (C(server_permanent_offline_time)), see O(oceanbase.ocp.server_restart#module:offline_budget).
    type: str
    choices: [refuse, warn, ignore]
    default: ignore
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
        file. Then a line shows how many have ended, how many failed, and about how long the rest will take.
      - No restart begins if more than O(max_failures) clusters of the run have failed.
    type: dict
    suboptions:
      record:
        description: Path of the file. It has to exist, and to be empty at the beginning of a run.
        type: str
        required: true
      host:
        description: The name of the cluster in the file, such as C(inventory_hostname).
        type: str
        required: true
      clusters:
        description: How many clusters the run has.
        type: int
        required: true
      forks:
        description: How many of them are restarted at the same time.
        type: int
        default: 1
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.detail
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
  returned: always, but for options that are refused
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
untouched:
  description: The names of the servers that need the restart but were not reached.
  returned: always, but for options that are refused
  type: list
  elements: str
postponed:
  description: Why the next restart would not have ended before O(finish_before); null if that did not stop the run.
  returned: always, but for options that are refused
  type: str
stopped:
  description: Why no further restart begins, if too much of the change or of the O(run) has failed elsewhere; null if
    that did not stop the run. Without O(run) the module fails in this case.
  returned: always, but for options that are refused
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

from ..module_utils._base.checks import check_range
from ..module_utils._base.errors import OptionError
from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._module.connection_options import seconds_option
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
    hints,
    restart_options,
    wanted_values,
    watch,
)
from ..module_utils._rolling.cluster_run import SHORTEST_WAIT, ClusterRun, roll_cluster
from ..module_utils._rolling.rolling_order import Strategy
from ..module_utils._rolling.rolling_plan import RollingRequest
from ..module_utils._rolling.run_record import RunRecord
from ..module_utils._signs.offline_budget import OfflineBudget

OPTIONS = {
    "cluster": {"type": "str", "required": True},
    "zones": {"type": "list", "elements": "str"},
    "servers": {"type": "list", "elements": "str"},
    "strategy": {"type": "str", "choices": [choice.value for choice in Strategy], "default": Strategy.SERVER.value},
    **CHANGE_OPTIONS,
    "freeze_server": {"type": "bool"},
    "min_zones": {"type": "int", "default": 0},
    "finish_before": PLAN_OPTIONS["finish_before"],
    "soak": {"type": "int", "default": 0},
    "offline_budget": BUDGET_OPTIONS["offline_budget"],
    **WAIT_OPTIONS,
    "wait_timeout": {"type": "int"},
    "show_steps": {"type": "bool", "default": False},
    "run": {
        "type": "dict",
        "options": {
            "record": {"type": "str", "required": True},
            "host": {"type": "str", "required": True},
            "clusters": {"type": "int", "required": True},
            "forks": {"type": "int", "default": 1},
        },
    },
    **SAFETY_OPTIONS,
    **PLANNED_SIGN_OPTIONS,
    **EFFECT_OPTIONS,
    **FAILURE_OPTIONS,
    **CAP_OPTIONS,
}
# For each restart of the plan, whatever the options.
OF_EACH = {"in_flight": "attach", "wait": True, "require_healthy": True, "alarms_before": None, "offline_time": None}


def run(api, params, mode):
    if params["freeze_server"] is not None and Strategy(params["strategy"]) is Strategy.ZONE:
        raise OptionError(
            f"freeze_server: {str(params['freeze_server']).lower()} does not go with strategy=zone, since OCP takes it "
            "for the restart of a server alone; leave it out."
        )
    wait_timeout = None if params["wait_timeout"] is None else seconds_option(params, "wait_timeout", 0)
    asked = {**params, **OF_EACH, "wait_timeout": SHORTEST_WAIT if wait_timeout is None else params["wait_timeout"]}
    request = restart_options(asked, mode)
    wanted = ClusterRun(
        plan=planned(params),
        restart=request,
        freeze_server=params["freeze_server"],
        wait_timeout=wait_timeout,
        soak=seconds_option(params, "soak", 0),
        record=record(params),
    )
    return roll_cluster(api, wanted)


def planned(params):
    return RollingRequest(
        clusters=[params["cluster"]],
        zones=params["zones"],
        servers=params["servers"],
        batch=1,
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
        hints=hints(params),
    )


def record(params):
    given = params["run"]
    if given is None:
        return None
    for option in ("clusters", "forks"):
        check_range(f"run.{option}", given[option], 1)
    return RunRecord(given["record"], given["host"], given["clusters"], given["forks"], params["max_failures"])


DEFINITION = Definition(OPTIONS, run, {"required_if": [("strategy", Strategy.SERVER.value, ["freeze_server"])]})


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
