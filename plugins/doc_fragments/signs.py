# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options about signs of trouble."""

from __future__ import annotations


class ModuleDocFragment:
    """Which signs of trouble stop."""

    DOCUMENTATION = r"""
options:
  stop_on:
    description:
      - Which signs of trouble in the cluster are not accepted. Without it nobody looks for any. Each of V(alarms) and
        V(ntp) together, V(lag) and V(backup) costs one request; the others show in what is read anyway.
      - V(alarms) are active alarms of the cluster or its hosts that were not there before. Cautions and reminders do
        not count. Nor does what is about a server that is being restarted or has restarted and serves, for the 5
        minutes that OCP takes to clear it; if it stays, it counts. An alarm that names no server and that a restart may
        have raised is waited for. Any other one stops at once.
      - V(lag) means that replicas are further behind than O(max_lag). It does not count while a server restarts.
      - V(backup) is a data backup that runs, V(merge) a major compaction.
      - V(versions) means that the servers of the cluster do not have one version. No wait ends that.
      - V(ntp) is an active alarm about the clock of a host, whether known before or not.
      - What the service does not show, or not for this user, is named in a warning and does not stop.
    type: list
    elements: str
    choices: [alarms, lag, backup, merge, versions, ntp]
  max_lag:
    description: How many seconds replicas may be behind, with V(lag) in O(stop_on).
    type: int
    default: 30
"""
