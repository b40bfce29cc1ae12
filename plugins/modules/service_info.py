#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: service_info
short_description: Check what an OCP offers to the modules
version_added: 1.0.0
description:
  - Reads everything once that the restarts of this collection rely on, and says which modules will work fully, which
    with less proof, which not, and why.
  - Sends GET requests only, so it restarts nothing and changes nothing. Run it before the first restart.
  - A read that fails is an entry of the result and does not make the module fail. Neither does a service that is no OCP
    or refuses the credentials, see RV(verdict).
  - Rejected credentials end the check at once, since failed logins lock the user. No more than one request is
    sent with them.
  - Whether the user may restart is not known before a restart is tried. No documented GET tells it.
options:
  cluster:
    description:
      - The cluster to look at more closely, by name or id.
      - Without it, the first one that is RUNNING.
    type: str
  host:
    description:
      - The host whose agent to look at, by id or inner IP address.
      - Without it, a host with servers of the cluster, or any.
    type: str
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
- name: Check the OCP
  oceanbase.ocp.service_info:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
  register: service

- name: Stop if a restart would not work
  ansible.builtin.assert:
    that: service.restarts_work
    fail_msg: "{{ service.message or (not_working | map(attribute='why') | flatten | unique | join('; ')) }}"
  vars:
    not_working: "{{ service.modules | selectattr('works', 'eq', 'no') }}"

- name: Name what works with less proof
  ansible.builtin.debug:
    msg: "{{ service.modules | selectattr('works', 'eq', 'less') | items2dict(key_name='name', value_name='why') }}"
"""

RETURN = r"""
"""

from ..module_utils._module.bridge import Definition, run_module
from ..module_utils._ocp.service_reads import ServiceReads
from ..module_utils._service.ask_service import Samples
from ..module_utils._service.service_report import service_report

OPTIONS = {
    "cluster": {"type": "str"},
    "host": {"type": "str"},
}


def run(api, params, _mode):
    samples = Samples(params["cluster"], params["host"])
    return {"changed": False, **service_report(ServiceReads(api.client), samples)}


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
