#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: rolling_restart_info
short_description: Plan a rolling restart of database clusters
version_added: 1.0.0
description:
  - Tells which servers of clusters are to be restarted, in which order and why, and who needs no restart. It restarts
    nothing; the role P(oceanbase.ocp.rolling_restart#role) does that.
  - One cluster comes after another, one zone after another. The zone that has the root server is the last of its
    cluster, and the root server is the last of its zone. Never are servers of two zones in one batch.
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
    description: How many servers of a zone are restarted at the same time.
    type: int
    default: 1
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
      - It is an instant by the clock of the machine that runs the module.
    type: str
    required: true
  min_zones:
    description:
      - Refuse a cluster that has fewer zones than this, since a restart of one of them can interrupt what it serves.
    type: int
    default: 3
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
  - module: oceanbase.ocp.cluster_wait
  - module: oceanbase.ocp.server_restart
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Plan the restart of what started before a change of parameters
  oceanbase.ocp.rolling_restart_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    clusters: [orders, payments]
    started_before: "2026-05-04T03:00:00+08:00"
  register: plan

- name: Show who is restarted, in order
  ansible.builtin.debug:
    msg: "{{ plan.batches | map(attribute='servers') | flatten | map(attribute='name') }}"
"""

RETURN = r"""
clusters:
  description:
    - The clusters in order, each with C(id), C(name), the number of its C(batches), and in C(task_ids) the restarts
      that run on it or on a part of it now.
  returned: success
  type: list
  elements: dict
batches:
  description:
    - What is restarted at the same time, in order. Each has its C(number) from 1, C(cluster), C(cluster_id), C(zone),
      C(servers), the C(reason) why it comes when it does, and whether it is the C(first_of_zone) and the
      C(last_of_zone).
    - Each of the servers has C(id), C(name), C(with_rootserver), whether the restart is C(needed), which it may not be
      for some of a whole zone, and the C(reason) for that.
  returned: success
  type: list
  elements: dict
left_alone:
  description:
    - The servers within the scope that are left alone, as in RV(batches), with C(cluster), C(cluster_id) and C(zone).
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

from ..module_utils._base.clock import instant_option
from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._rolling.rolling_order import Strategy
from ..module_utils._rolling.rolling_plan import Wanted, plan_rolling_restart

OPTIONS = {
    "clusters": {"type": "list", "elements": "str", "required": True},
    "zones": {"type": "list", "elements": "str"},
    "servers": {"type": "list", "elements": "str"},
    "batch": {"type": "int", "default": 1},
    "strategy": {"type": "str", "choices": [choice.value for choice in Strategy], "default": Strategy.SERVER.value},
    "started_before": {"type": "str", "required": True},
    "min_zones": {"type": "int", "default": 3},
}


def run(api, params, _mode):
    wanted = Wanted(
        clusters=params["clusters"],
        zones=params["zones"],
        servers=params["servers"],
        batch=params["batch"],
        strategy=Strategy(params["strategy"]),
        started_before=instant_option("started_before", params["started_before"]),
        min_zones=params["min_zones"],
    )
    return plan_rolling_restart(api, wanted)


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
