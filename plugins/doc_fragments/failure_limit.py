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
      - How many servers, zones or clusters may be held by FAILED restarts of this change, anywhere in the service and
        whoever started them. If there are more, nothing is restarted. Without this option the module does not check.
      - A restart belongs to this change if it began at or after O(started_before), or without that, after the name of
        O(change) was first used for anything in this journal. Without both the module does not check. A restart does
        not count if it failed before it changed anything, or if a later restart of the same target succeeded.
      - It costs one request for each check before a restart.
    type: int
  judged_tasks:
    description: Ids of FAILED tasks that do not count for O(max_failures), since a person has judged them.
    type: list
    elements: int
"""
