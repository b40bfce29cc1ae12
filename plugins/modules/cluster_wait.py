#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: cluster_wait
short_description: Wait until a database cluster is healthy
version_added: 1.0.0
description:
  - Waits until a cluster is RUNNING, each of its servers is RUNNING and ACTIVE, no task is at work on it or holds a
    part of it, and enough of its zones are up. Where that does not come in time, the module fails and names who is not
    well.
  - A healthy cluster costs one look, of two or three requests.
  - A look that fails is survived until O(wait_timeout). Refused credentials, a missing permission and a cluster that
    does not exist end the wait at once.
options:
  cluster:
    description: Name or id of the cluster.
    type: str
    required: true
  min_zones:
    description:
      - How many zones have to be up at least. A zone is up when it is RUNNING and all of its servers are well.
      - A cluster with fewer zones needs a smaller number.
    type: int
    default: 3
extends_documentation_fragment:
  - oceanbase.ocp.connection
  - oceanbase.ocp.attributes
  - oceanbase.ocp.patience
attributes:
  check_mode:
    support: full
    details: Only reads, and waits as it does otherwise.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: Only reads.
seealso:
  - module: oceanbase.ocp.rolling_restart_info
  - module: oceanbase.ocp.task_wait
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Wait until the cluster is healthy, for ten minutes at the most
  oceanbase.ocp.cluster_wait:
    url: https://ocp.example.com:8080
    username: admin
    password: "{{ ocp_password }}"
    cluster: orders
    wait_timeout: 600
"""

RETURN = r"""
cluster:
  description: The cluster as last seen, with the keys that RV(oceanbase.ocp.cluster_info#module:clusters) has; null
    where no look found it.
  returned: success, and when wait_timeout was used up
  type: dict
servers:
  description: Its servers as last seen, with the keys that RV(oceanbase.ocp.server_info#module:servers) has.
  returned: success, and when wait_timeout was used up
  type: list
  elements: dict
problems:
  description: Why the cluster is not healthy, a sentence for each reason that names who. Empty if it is.
  returned: success, and when wait_timeout was used up
  type: list
  elements: str
elapsed:
  description: Seconds that were waited.
  returned: success, and when wait_timeout was used up
  type: float
url:
  description: Address of the request that the module failed by.
  returned: when a request made the module fail
  type: str
trace_id:
  description: Trace id of the answer to it, for whoever reads the logs of the service; null where none came.
  returned: when a request made the module fail
  type: str
"""

from ..module_utils._health.health_gate import await_health
from ..module_utils._module.bridge import PATIENCE_OPTIONS, Definition, patience, run_module

OPTIONS = {
    "cluster": {"type": "str", "required": True},
    "min_zones": {"type": "int", "default": 3},
    **PATIENCE_OPTIONS,
}


def run(api, params, mode):
    return await_health(api, params["cluster"], params["min_zones"], patience(params, mode))


DEFINITION = Definition(OPTIONS, run)


def main():
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
