# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of what the restart verbs share."""

from __future__ import annotations


class ModuleDocFragment:
    """Waiting for the restart, and what every restart verb does."""

    DOCUMENTATION = r"""
options:
  wait:
    description:
      - Whether to wait until the task of the restart has ended, and to prove that the target has started anew.
      - Without it the module returns as soon as the service has started the task; wait for it later with
        M(oceanbase.ocp.task_wait).
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details: Finds and reads the target and reports what would be done. No restart is sent.
  diff_mode:
    support: none
notes:
  - The request that starts the restart is sent over a connection once. When its answer is lost, the module
    fails and says that the outcome is unknown, since sending it again might restart the target twice.
"""
