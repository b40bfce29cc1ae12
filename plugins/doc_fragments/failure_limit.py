# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the options about how much of one change may have failed."""

from __future__ import annotations


class ModuleDocFragment:
    """How many restarts of one change may have failed, wherever they were started."""

    DOCUMENTATION = r"""
options:
  max_failures:
    description:
      - How many servers, zones or clusters FAILED restarts of this change may hold, anywhere in the service and whoever
        started them. With more of them nothing is restarted. Without it nobody looks.
      - A restart is of this change if it began at or after O(started_before), without which nobody looks either. One
        that failed before it changed anything, or was followed by one of the same target that succeeded, does not
        count.
      - It costs one request for each look before a restart.
    type: int
  judged_tasks:
    description: Ids of FAILED tasks that do not count for O(max_failures), since a person has judged them.
    type: list
    elements: int
"""
