#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: host_info
short_description: Read hosts of OCP
version_added: 1.0.0
description:
  - Returns the hosts that pass the filters, or all of them. All pages are read.
  - Where nothing fits, the list is empty.
options:
  host:
    description: Only hosts of these inner IP addresses, names or ids.
    type: list
    elements: str
  status:
    description: Only hosts in one of these states.
    type: list
    elements: str
    choices:
      - NEW
      - AVAILABLE
      - ONLINE
      - OFFLINE
      - DELETING
  agent_status:
    description: Only hosts whose management agent is in one of these states, spelt as OCP does.
    type: list
    elements: str
    choices:
      - AVAILABLE
      - RESTARTING
      - STOPPING
      - REINTSTALLING
      - OFFLINE
      - DELETED
  region:
    description: Only hosts in one of these regions.
    type: list
    elements: str
  idc:
    description: Only hosts in one of these data centers.
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
  - module: oceanbase.ocp.agent_restart
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Read the hosts whose agents are out of reach
  oceanbase.ocp.host_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    agent_status: [OFFLINE]
  register: found

- name: Restart those agents, if there are any
  oceanbase.ocp.agent_restart:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    hosts: "{{ found.hosts | map(attribute='ip') }}"
  when: found.hosts | length > 0
"""

RETURN = r"""
hosts:
  description:
    - The hosts, in the order of the service.
    - What the service does not tell is null. Times are as the service writes them, ISO 8601 with offset.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: Host id.
      type: int
      returned: always
    name:
      description: Name.
      type: str
      returned: always
    ip:
      description: Inner IP address.
      type: str
      returned: always
    status:
      description: See O(status).
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
    agent_id:
      description: Id of its management agent.
      type: int
      returned: always
    agent_status:
      description: See O(agent_status).
      type: str
      returned: always
    agent_version:
      description: Version of the agent.
      type: str
      returned: always
    services:
      description: What runs on it, each with C(name), C(type) such as V(OB_CLUSTER), and C(version).
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

from ..module_utils._fleet.fleet_queries import read_hosts
from ..module_utils._module.bridge import Definition, run_module

OPTIONS = {
    "host": {"type": "list", "elements": "str"},
    "status": {
        "type": "list",
        "elements": "str",
        "choices": [
            "NEW",
            "AVAILABLE",
            "ONLINE",
            "OFFLINE",
            "DELETING",
        ],
    },
    "agent_status": {
        "type": "list",
        "elements": "str",
        "choices": [
            "AVAILABLE",
            "RESTARTING",
            "STOPPING",
            "REINTSTALLING",
            "OFFLINE",
            "DELETED",
        ],
    },
    "region": {"type": "list", "elements": "str"},
    "idc": {"type": "list", "elements": "str"},
}


def run(api, params, _mode):
    return {"changed": False, "hosts": read_hosts(api, params)}


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
