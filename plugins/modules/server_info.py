#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: server_info
short_description: Read database server nodes of OCP
version_added: 1.0.0
description:
  - Returns the server nodes that pass the filters, of all clusters where no O(cluster) is given.
  - Where nothing fits, the list is empty.
options:
  cluster:
    description: Only servers of the clusters of these names or ids.
    type: list
    elements: str
  server:
    description: Only servers of these ids or addresses, as V(ip:port) with the port of the server's RPC, as OCP
      shows it.
    type: list
    elements: str
  status:
    description: Only servers in one of these states.
    type: list
    elements: str
    choices:
      - CREATING
      - RUNNING
      - STOPPING
      - STOPPED
      - STARTING
      - RESTARTING
      - DELETING
      - UNAVAILABLE
      - OPERATING
      - DELETED
  zone:
    description: Only servers of zones of these names.
    type: list
    elements: str
  region:
    description: Only servers in one of these regions.
    type: list
    elements: str
  idc:
    description: Only servers in one of these data centers.
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
  - module: oceanbase.ocp.cluster_info
  - module: oceanbase.ocp.server_restart
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Read the servers of a cluster that are not well
  oceanbase.ocp.server_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
    status: [UNAVAILABLE, STOPPED]
  register: unwell

- name: Read what serves in two zones
  oceanbase.ocp.server_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
    zone: [zone1, zone2]
    status: RUNNING
  register: found

- name: Show them, those that started first on top
  ansible.builtin.debug:
    msg: "{{ found.servers | sort(attribute='start_time') | map(attribute='name') }}"
"""

RETURN = r"""
servers:
  description:
    - The servers, in the order of the service.
    - What the service does not tell is null. Times are as the service writes them, ISO 8601 with offset.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: Server id.
      type: int
      returned: always
    name:
      description: Its address, as O(server) takes it.
      type: str
      returned: always
      sample: 10.0.0.1:2882
    ip:
      description: IP address.
      type: str
      returned: always
    port:
      description: Port of the RPC.
      type: int
      returned: always
    sql_port:
      description: Port for SQL.
      type: int
      returned: always
    host_id:
      description: Id of its host.
      type: int
      returned: always
    cluster_id:
      description: Id of its cluster.
      type: int
      returned: always
    cluster_name:
      description: Name of its cluster.
      type: str
      returned: always
    zone:
      description: Its zone.
      type: str
      returned: always
    region:
      description: Its region.
      type: str
      returned: always
    idc:
      description: Its data center.
      type: str
      returned: always
    status:
      description: See O(status).
      type: str
      returned: always
    inner_status:
      description: What the database says of it, such as V(ACTIVE).
      type: str
      returned: always
    with_rootserver:
      description: Whether the root service runs on it.
      type: bool
      returned: always
    start_time:
      description: When its process was last started.
      type: str
      returned: always
    stop_time:
      description: When it was last taken out of service; null if it is in service.
      type: str
      returned: always
    version:
      description: Version of the database.
      type: str
      returned: always
    task_id:
      description: Task that works on it now; null where there is none, or the service does not tell.
      type: int
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

from ..module_utils._fleet.fleet_queries import read_servers
from ..module_utils._module.bridge import Definition, run_module

OPTIONS = {
    "cluster": {"type": "list", "elements": "str"},
    "server": {"type": "list", "elements": "str"},
    "status": {
        "type": "list",
        "elements": "str",
        "choices": [
            "CREATING",
            "RUNNING",
            "STOPPING",
            "STOPPED",
            "STARTING",
            "RESTARTING",
            "DELETING",
            "UNAVAILABLE",
            "OPERATING",
            "DELETED",
        ],
    },
    "zone": {"type": "list", "elements": "str"},
    "region": {"type": "list", "elements": "str"},
    "idc": {"type": "list", "elements": "str"},
}


def run(api, params, _mode):
    return {"changed": False, "servers": read_servers(api, params)}


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
