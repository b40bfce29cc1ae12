#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: cluster_rolling_restart_info
short_description: Plan a rolling restart of database clusters
version_added: 1.0.0
description:
  - Plans which servers of clusters are restarted, in which order and why, and which need no restart. It restarts
    nothing; the role P(oceanbase.ocp.rolling_restart#role) does that.
  - One cluster comes after another, one zone after another. A zone comes the later, the more tenants have it as their
    primary zone, so that their leaders move least; of equal zones, the one that has the root server comes last. The
    root server is the last of its zone, and by itself. A batch never has servers of two zones.
options:
  clusters:
    description: Names or ids of the clusters, in the order in which they are restarted.
    type: list
    elements: str
    required: true
  zones:
    description: Only servers in the zones of these names.
    type: list
    elements: str
  servers:
    description: Only these servers, each by id or as V(IP:PORT).
    type: list
    elements: str
  batch:
    description:
      - How many servers of a zone are restarted at the same time.
      - V(auto) takes as many as tenants allow. That is the whole zone, but at most 25 of its servers. More servers of
        the same zone make no difference, because a tenant loses its replica there with the first of them.
    type: str
    default: "1"
  strategy:
    description:
      - With V(server) each server is restarted by itself, O(batch) of them at a time.
      - With V(zone) all servers of a zone are restarted by one call, if at least one of them needs it.
    type: str
    choices: [server, zone]
    default: server
  started_before:
    description:
      - Plan the restart of what started before this instant, and leave alone what is proven to have started since. ISO
        8601 with an offset, as in V(2026-05-04T03:02:01+08:00), or seconds since 1970.
      - It is an instant by the clock of the machine that runs the module. If the clock of the service differs by more
        than 5 minutes, it is refused.
      - This, O(change) or O(until_effective) is required.
    type: str
  min_zones:
    description:
      - Refuse a cluster that has fewer zones than this. Otherwise the tenants decide, see O(safety).
    type: int
    default: 0
  canary:
    description:
      - How many servers are restarted before all others, one at a time. They are the first in the order. With
        O(strategy=zone), the zones of these servers.
    type: int
    default: 0
  safety:
    description:
      - V(majority) blocks a cluster if a batch would leave a tenant without the voters that it needs, even while
        everything else serves. See M(oceanbase.ocp.server_restart).
      - V(none) does not check.
    type: str
    choices: [majority, none]
    default: majority
  tolerate_outage_of:
    description: Names of tenants that may be without a majority during the restart, such as those with one replica.
    type: list
    elements: str
  most_down:
    description:
      - At most so many servers may be down at the same time, as in V({"idc":1,"percent":10}). No batch has more,
        whatever O(batch) says. With O(strategy=zone), a cluster with a zone that has more is blocked. See
        O(oceanbase.ocp.server_restart#module:most_down).
    type: dict
  offline_budget:
    description:
      - With V(refuse) and V(warn) the plan has how long a server of each cluster may be offline, for the options of the
        same name of the restart modules.
    type: str
    choices: [refuse, warn, ignore]
    default: ignore
  raise_offline_time:
    description: How long a server may be offline during the run, as in V(4h), see
      O(oceanbase.ocp.cluster_rolling_restart#module:raise_offline_time). The plan is judged by it; nothing is raised.
    type: str
  windows:
    description:
      - The maintenance windows in which it restarts; RV(forecast) is for them.
        See O(oceanbase.ocp.server_restart#module:windows).
    type: dict
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.approval
  - oceanbase.ocp.detail
  - oceanbase.ocp.hints
  - oceanbase.ocp.journal
  - oceanbase.ocp.change
  - oceanbase.ocp.signs
  - oceanbase.ocp.until_effective
attributes:
  check_mode:
    support: full
    details: Only reads, and writes no O(plan_file) in check mode.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: Only reads.
seealso:
  - module: oceanbase.ocp.cluster_wait
  - module: oceanbase.ocp.server_restart
author:
  - contributors of oceanbase.ocp (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Plan the restart of what started before a change of parameters
  oceanbase.ocp.cluster_rolling_restart_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    clusters: [orders, payments]
    started_before: "2026-05-04T03:00:00+08:00"
  register: plan

- name: Plan the restart of what does not run with a value yet
  oceanbase.ocp.cluster_rolling_restart_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    clusters: [orders]
    until_effective:
      stack_size: 5M
  register: plan

- name: Write the plan to a file, to be approved
  oceanbase.ocp.cluster_rolling_restart_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    clusters: [orders]
    change: memory-2026-11-20
    plan_file: plan.json
  register: written

- name: Show who is restarted, in order
  ansible.builtin.debug:
    msg: "{{ plan.batches | map(attribute='servers') | flatten | map(attribute='name') }}"
"""

# Generated by `make returns` from tools/returns/modules.yml; edit there.
RETURN = r"""
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
      description: Whether no batch takes the majority from a tenant while everything else serves, the database would
        not refuse the first batch for what only a person can clear, as far as that was checked, and no zone that
        restarts at once has more servers than O(most_down) allows.
      returned: always
      type: bool
    obstacles:
      description: For which states the database would refuse now to stop the first batch, one sentence each. What may
        end by itself is waited for at its turn.
      returned: always
      type: list
      elements: str
    blocked:
      description: Whether it is not safe, or has a problem that no running task explains. No restart should begin then.
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
      description: How many seconds one of its servers may be offline; null if O(offline_budget) does not need it, or
        the service does not show it.
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
            - Whether it has started since the change. If it needs the restart all the same, it shows other values than
              wanted, and no other restart is sent for it.
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
  description:
    - The same servers by zone, with the keys of RV(batches), and those of RV(batches) that have started since the
      change. A zone is C(last_of_zone) if no server of it is in RV(batches).
  returned: success
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
check_mode:
  description: Whether it ran in check mode, by the command line or by a keyword. Who follows the plan then restarts
    nothing.
  returned: success
  type: bool
digest:
  description: The digest of the plan, as in V(sha256:2c26b4...); that of the file with O(approved_plan).
  returned: with O(plan_file) or O(approved_plan)
  type: str
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
from ..module_utils._base.cli_hints import Hints
from ..module_utils._fleet.object_lines import line_of
from ..module_utils._module.approval_options import APPROVAL_OPTIONS, approval
from ..module_utils._module.restart_options import (
    BUDGET_OPTIONS,
    CAP_OPTIONS,
    CHANGE_OPTIONS,
    EFFECT_OPTIONS,
    MAJORITY,
    PLANNED_SIGN_OPTIONS,
    SAFETY_OPTIONS,
    WINDOW_OPTIONS,
    given_caps,
    given_change,
    given_instant,
    given_windows,
    wanted_values,
    watch,
)
from ..module_utils._rolling.rolling_order import Strategy
from ..module_utils._rolling.rolling_plan import RollingRequest, batch_size, plan_rolling_restart
from ..module_utils._signs.offline_budget import OfflineBudget

OPTIONS = {
    "clusters": {"type": "list", "elements": "str", "required": True},
    "zones": {"type": "list", "elements": "str"},
    "servers": {"type": "list", "elements": "str"},
    "batch": {"type": "str", "default": "1"},
    "strategy": {"type": "str", "choices": [choice.value for choice in Strategy], "default": Strategy.SERVER.value},
    **CHANGE_OPTIONS,
    "min_zones": {"type": "int", "default": 0},
    "canary": {"type": "int", "default": 0},
    "safety": SAFETY_OPTIONS["safety"],
    "tolerate_outage_of": SAFETY_OPTIONS["tolerate_outage_of"],
    **PLANNED_SIGN_OPTIONS,
    "offline_budget": BUDGET_OPTIONS["offline_budget"],
    "raise_offline_time": {"type": "str"},
    **EFFECT_OPTIONS,
    **CAP_OPTIONS,
    **APPROVAL_OPTIONS,
    **WINDOW_OPTIONS,
}


def run(api, params, mode):
    wanted = RollingRequest(
        clusters=params["clusters"],
        zones=params["zones"],
        servers=params["servers"],
        batch=batch_size(params["batch"]),
        strategy=Strategy(params["strategy"]),
        started_before=given_instant(params, "started_before"),
        min_zones=params["min_zones"],
        canary=params["canary"],
        majority=params["safety"] == MAJORITY,
        tolerated=params["tolerate_outage_of"],
        watch=watch(params),
        judges_budget=params["offline_budget"] != OfflineBudget.IGNORE.value,
        until_effective=wanted_values(params),
        change=given_change(params),
        journal_url=params["journal_url"],
        caps=given_caps(params),
        windows=given_windows(params),
        hints=Hints.of(params),
        approval=approval(params, mode),
        raised=params["raise_offline_time"],
    )
    return {**plan_rolling_restart(api, wanted), "check_mode": mode.check_mode}


LINES = {
    "forecast": line_of("message"),
    "clusters": line_of("name", "id", "batches", "blocked", "message", "signs"),
    "batches": line_of("number", "cluster", "zone", "servers", "canary", "reason"),
    "left_alone": line_of("name", "cluster", "zone", "reason"),
    "done": line_of("name", "cluster", "zone", "reason"),
}
DEFINITION = Definition(OPTIONS, run, lines=LINES)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
