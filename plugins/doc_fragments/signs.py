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
      - Which signs of trouble in the cluster prevent the restart. Without it none are checked. V(alarms) and V(ntp)
        together cost one request, V(lag) one unless a restart sends it anyway, and V(backup) two; the others need no
        extra request.
      - V(alarms) are active alarms of the cluster or its hosts that were not there before. Cautions and reminders do
        not count. An alarm about a server that is restarting, or has restarted and serves, counts only if it is still
        active after the 5 minutes that OCP takes to clear it. If an alarm names no server and a restart may have raised
        it, the module waits for its end. Any other alarm stops at once.
      - V(lag) means that replicas are further behind than O(max_lag). It does not count while a server restarts.
      - V(backup) is a data backup that runs, or a restore of a tenant into the cluster, V(merge) a major compaction.
      - V(versions) means that the servers of the cluster have different versions. Waiting does not help.
      - V(ntp) is an active alarm about the clock of a host, even if it was known before.
      - V(metrics) means that a metric passes a limit of O(metric_limits), or has too few samples since the last
        restart. It costs one request, and with C(rise) one more for what was before the change. It does not count
        while a server restarts.
      - A sign that the service does not show, or not to this user, causes a warning and does not stop the restart.
    type: list
    elements: str
    choices: [alarms, lag, backup, merge, versions, ntp, metrics]
  max_lag:
    description:
      - How many seconds replicas may be behind, with V(lag) in O(stop_on). The database does not stop a server while
        they are more than 5 seconds behind, so a larger value does not let a restart with V(safety=majority) go.
    type: int
    default: 5
  metric_limits:
    description:
      - Metrics of OCP for the cluster, and how far each may go, with V(metrics) in O(stop_on). If O(stop_on) is not
        given, they are checked alone.
      - The median decides, of the samples since the end of the last restart of the database in the cluster. Give
        C(most), C(rise), or both.
    type: list
    elements: dict
    suboptions:
      name:
        description: The name of the metric in OCP, as in C(GET /api/v2/monitor/metric).
        type: str
        required: true
      most:
        description: The largest median.
        type: float
      rise:
        description:
          - How many percent the median may be above that before the change, which is read from the time before
            C(started_before), or before the first use of the name C(change). A restart for neither compares with the
            time before its own run.
        type: float
      samples:
        description: Fewer samples decide nothing. They are waited for like other signs, and then stop.
        type: int
        default: 5
      seconds:
        description: Over how many seconds the median is formed, up to 3600. OCP is asked for a sample every 5 seconds.
        type: int
        default: 120
"""
