#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: cluster_info
short_description: Read clusters of OCP
version_added: 1.0.0
description:
  - Returns the clusters that pass the filters, or all of them, each with its zones. All pages are read.
  - Where nothing fits, the list is empty.
options:
  cluster:
    description: Only clusters of these names or ids.
    type: list
    elements: str
  status:
    description: Only clusters in one of these states.
    type: list
    elements: str
    choices:
      - RUNNING
      - CREATING
      - DELETING
      - STARTING
      - RESTARTING
      - STOPPING
      - STOPPED
      - TAKINGOVER
      - MOVINGOUT
      - SWITCHOVER
      - FAILOVER
      - OPERATING
  zone:
    description: Only clusters that have a zone of one of these names.
    type: list
    elements: str
  region:
    description: Only clusters that have a zone in one of these regions.
    type: list
    elements: str
  idc:
    description: Only clusters that have a zone in one of these data centers. With O(zone) or O(region) it is
      the same zone that has to fit.
    type: list
    elements: str
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
  - module: oceanbase.ocp.server_info
  - module: oceanbase.ocp.cluster_restart
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Read a cluster
  oceanbase.ocp.cluster_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
  register: found

- name: Go on only if it runs with all of its zones
  ansible.builtin.assert:
    that:
      - found.clusters | length == 1
      - found.clusters[0].status == "RUNNING"
      - found.clusters[0].zones | rejectattr("status", "eq", "RUNNING") | length == 0
"""

RETURN = r"""
clusters:
  description:
    - The clusters, in the order of the service.
    - What the service does not tell is null. Times are as the service writes them, ISO 8601 with offset.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: Cluster id in OCP.
      type: int
      returned: always
    name:
      description: Name.
      type: str
      returned: always
    ob_cluster_id:
      description: Id of the cluster in the database itself.
      type: int
      returned: always
    type:
      description: V(PRIMARY) or V(STANDBY).
      type: str
      returned: always
    status:
      description: See O(status).
      type: str
      returned: always
    version:
      description: Version of the database.
      type: str
      returned: always
    start_time:
      description: When the cluster was last started as a whole.
      type: str
      returned: always
    task_id:
      description: Task that works on it now; null where there is none, or the service does not tell.
      type: int
      returned: always
    zones:
      description: Its zones, each with C(name), C(region), C(idc), C(status), C(servers), the number of its
        servers, and C(with_rootserver), whether the root service runs there.
      type: list
      elements: dict
      returned: always
url:
  description: Address of the request that the module failed by.
  returned: when a request made the module fail
  type: str
trace_id:
  description: Trace id of the answer to it, for whoever reads the logs of the service; null where none came.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._fleet.fleet_queries import read_clusters
from ..module_utils._module.bridge import Definition, run_module

OPTIONS = {
    "cluster": {"type": "list", "elements": "str"},
    "status": {
        "type": "list",
        "elements": "str",
        "choices": [
            "RUNNING",
            "CREATING",
            "DELETING",
            "STARTING",
            "RESTARTING",
            "STOPPING",
            "STOPPED",
            "TAKINGOVER",
            "MOVINGOUT",
            "SWITCHOVER",
            "FAILOVER",
            "OPERATING",
        ],
    },
    "zone": {"type": "list", "elements": "str"},
    "region": {"type": "list", "elements": "str"},
    "idc": {"type": "list", "elements": "str"},
}


def run(api, params, _mode):
    return {"changed": False, "clusters": read_clusters(api, params)}


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
