# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options about how long a server may be offline."""

from __future__ import annotations


class ModuleDocFragment:
    """How long a server may be offline."""

    DOCUMENTATION = r"""
options:
  offline_budget:
    description:
      - What to do about a restart that may take longer than a server may be offline. After the cluster parameter
        C(server_permanent_offline_time), 3600 seconds by default, a cluster gives up the replicas of a server.
      - V(refuse) refuses the restart of a server or zone if one of its last five successful restarts took longer,
        according to the task list. V(warn) restarts it with a warning.
      - With V(refuse) and V(warn) the progress lines show how much of the time is left once half of it is used up, and
        a warning in the result names a restart that took more than half. Time counts from the start of the wait.
      - V(ignore) does not check.
    type: str
    choices: [refuse, warn, ignore]
    default: ignore
  offline_time:
    description:
      - How many seconds a server of the cluster may be offline, as C(cluster_rolling_restart_info) returns it.
        Without it the module reads C(server_permanent_offline_time).
    type: int
"""
