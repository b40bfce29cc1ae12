# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of how modules wait."""

from __future__ import annotations


class ModuleDocFragment:
    """How long to wait, and how often to look."""

    DOCUMENTATION = r"""
options:
  wait_timeout:
    description:
      - How many seconds to wait for the task. When they are used up the module fails, the task runs on in the
        service, and the failure names its id, to wait for it again.
    type: int
    default: 7200
  wait_interval:
    description:
      - The longest pause between two looks at the task, in seconds.
      - The first looks follow each other faster, since a pause is 5 % of the time waited so far and at least
        0.5 seconds.
    type: float
    default: 10
"""
