# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options about how long a server may be away."""

from __future__ import annotations


class ModuleDocFragment:
    """How long a server may be away."""

    DOCUMENTATION = r"""
options:
  offline_budget:
    description:
      - What to do about a restart that may take longer than a server may be away. After the cluster parameter
        C(server_permanent_offline_time), 3600 seconds by default, a cluster gives up the replicas of a server.
      - V(refuse) refuses the restart of a server or zone if one of its last five successful restarts took longer, by
        the list of tasks. V(warn) restarts it with a warning.
      - With V(refuse) and V(warn) the progress lines of the wait say how much of the time is left, from half of it on,
        and a warning in the result names a restart that took more than half. Time is counted from the beginning of the
        wait.
      - V(ignore) reads nothing for it.
    type: str
    choices: [refuse, warn, ignore]
    default: ignore
  offline_time:
    description:
      - How many seconds a server of the cluster may be away, such as C(rolling_restart_info) has found. Without it
        C(server_permanent_offline_time) is read.
    type: int
"""
