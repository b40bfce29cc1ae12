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
      - Which restarts are refused because of what they take down. Nothing is sent then.
      - V(majority) refuses a restart that would leave a tenant without the voters that it needs. That is more than half
        of its replicas of the types FULL and LOGONLY, or half of them where it has an arbitration service and no
        degraded log stream. Whatever is down or being restarted at the same time counts as missing.
      - A tenant that has lost its majority already is not lost by this restart. So a server that does not serve can be
        restarted in any case.
      - Where OCP does not show the tenants, more than half of the zones of the cluster have to stay up, and there is a
        warning.
      - V(none) refuses none of them, and reads nothing for it.
    type: str
    choices: [majority, none]
    default: majority
  tolerate_outage_of:
    description: Names of tenants that may be without a majority while the restart runs, such as those with one replica.
    type: list
    elements: str
  safety_timeout:
    description:
      - How many seconds to wait until the restart is safe, where it may become so. With V(0) it is refused at once.
      - It is a limit of its own beside O(wait_timeout). Check mode does not wait. Signs of trouble that may end are
        waited for as long.
    type: int
    default: 0
notes:
  - Restarts by one user on one machine look at a cluster and send their request one after another, with a lock in the
    folder for temporary files. So loops, forks and playbooks of one controller know of each other. Those of other
    controllers are seen when OCP shows them.
"""
