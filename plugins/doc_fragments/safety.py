# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options about what a restart may take down."""

from __future__ import annotations


class ModuleDocFragment:
    """Which tenants must keep their majority."""

    DOCUMENTATION = r"""
options:
  safety:
    description:
      - Which restarts are refused because of what they take down. A refused restart is not sent.
      - V(majority) refuses a restart that would leave a tenant without the voters that it needs. A tenant needs more
        than half of its FULL and LOGONLY replicas, or half of them if it has an arbitration service and no degraded log
        stream. Replicas that are down, restarting or unclear at the same time count as missing.
      - A server that is down by all that OCP shows can always be restarted. One that may serve, such as one that is
        UNAVAILABLE but ACTIVE, counts as serving.
      - It also refuses the restart of a server or zone if OCP shows that the database would refuse to stop it, which is
        a step of the restart. That is so while a server or zone of another zone is stopped or restarted, while a tenant
        is created, modified or deleted or has no majority, while a tenant of more than two voters would need its
        arbitration service, or while replicas are more than 5 seconds behind. A locked tenant is refused as well.
      - If OCP does not show the tenants, more than half of the zones of the cluster have to stay up, and there is a
        warning.
      - V(none) does not check.
    type: str
    choices: [majority, none]
    default: majority
  tolerate_outage_of:
    description:
      - Names of tenants that may be without a majority while the restart runs, such as those with one replica. Their
        status does not prevent the restart either.
    type: list
    elements: str
  safety_timeout:
    description:
      - How many seconds to wait until the restart is safe, if waiting can help. With V(0) it is refused at once. What
        was shown as down counts as down for a minute, since an answer may be old, so less than 60 hardly helps.
      - It does not count towards O(wait_timeout). Check mode does not wait. The module waits as long for signs of
        trouble that may end.
    type: int
    default: 0
notes:
  - Restarts by one user on one machine check a cluster and send their request one after another, under a lock in the
    folder for temporary files. So loops, forks and playbooks of one controller do not collide. Restarts of other
    controllers are seen only when OCP shows them.
"""
