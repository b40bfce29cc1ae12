#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: arbitration_service_info
short_description: Read arbitration services of OCP
version_added: 1.0.0
description:
  - Returns the arbitration services that pass the filters, or all of them. All pages are read.
  - Where nothing fits, the list is empty.
options:
  arbitration_service:
    description: Only services of these ids or addresses, as V(ip:port).
    type: list
    elements: str
  status:
    description: Only services in one of these states.
    type: list
    elements: str
    choices:
      - RUNNING
      - STOPPED
      - UNAVAILABLE
      - RESTARTING
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
  - module: oceanbase.ocp.arbitration_service_restart
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Read an arbitration service
  oceanbase.ocp.arbitration_service_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    arbitration_service: 10.0.0.10:2888
  register: found

- name: Go on only if it is there, and no tenant depends on it now
  ansible.builtin.assert:
    that:
      - found.arbitration_services | length == 1
      - clusters | map(attribute='degraded_tenants') | flatten | length == 0
  vars:
    clusters: "{{ found.arbitration_services | map(attribute='clusters') | flatten }}"
"""

RETURN = r"""
arbitration_services:
  description:
    - The arbitration services, in the order of the service.
    - What the service does not tell is null. Times are as the service writes them, ISO 8601 with offset.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: Id of the service.
      type: int
      returned: always
    name:
      description: Its address, as O(arbitration_service) takes it.
      type: str
      returned: always
      sample: 10.0.0.10:2888
    ip:
      description: IP address.
      type: str
      returned: always
    port:
      description: Port.
      type: int
      returned: always
    host_id:
      description: Id of its host.
      type: int
      returned: always
    status:
      description: See O(status).
      type: str
      returned: always
    version:
      description: Version.
      type: str
      returned: always
    description:
      description: What a person wrote about it.
      type: str
      returned: always
    update_time:
      description: When the service last noted a change of it; it shows no start.
      type: str
      returned: always
    task_id:
      description: Task that works on it now; null where there is none, or the service does not tell.
      type: int
      returned: always
    clusters:
      description: The clusters that it serves, each with C(id), C(name) and C(degraded_tenants). These are
        the tenants with degraded log streams, each with C(id), C(name) and C(log_streams); while there are
        any, do not restart the service.
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

from ..module_utils._fleet.fleet_queries import read_arbitration_services
from ..module_utils._module.bridge import Definition, run_module

OPTIONS = {
    "arbitration_service": {"type": "list", "elements": "str"},
    "status": {
        "type": "list",
        "elements": "str",
        "choices": [
            "RUNNING",
            "STOPPED",
            "UNAVAILABLE",
            "RESTARTING",
        ],
    },
}


def run(api, params, _mode):
    return {"changed": False, "arbitration_services": read_arbitration_services(api, params)}


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
