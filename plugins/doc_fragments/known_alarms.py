# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options about what was there before: alarms and medians of metrics."""

from __future__ import annotations


class ModuleDocFragment:
    """Which alarms are known, and what metrics were."""

    DOCUMENTATION = r"""
options:
  alarms_before:
    description: Ids of alarms that do not count, such as those that C(cluster_rolling_restart_info) found when it
      planned.
    type: list
    elements: int
  metrics_before:
    description: The medians of metrics before the change, by their names, such as those that
      C(cluster_rolling_restart_info) returns as C(metrics). They are what C(rise) in O(metric_limits) is compared with.
    type: dict
"""
