# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option about alarms that were there before."""

from __future__ import annotations


class ModuleDocFragment:
    """Which alarms are known."""

    DOCUMENTATION = r"""
options:
  alarms_before:
    description: Ids of alarms that do not count, such as those that C(cluster_rolling_restart_info) found when it
      planned.
    type: list
    elements: int
"""
