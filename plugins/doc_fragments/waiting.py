# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the waiting options."""

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
      - The first looks follow each other faster, since a pause is 4 to 5 % of the time waited so far and at least
        0.5 seconds. It is longer when the service says that the request limit is used up.
    type: float
    default: 10
  log_lines:
    description:
      - How many lines from the end of the log of a failed subtask a failure shows, 0 to 200. It is the log of the last
        attempt. A line is cut after 500 characters in the message.
    type: int
    default: 20
  show_progress:
    description:
      - Whether to show a line when a subtask has ended, or for more than four tasks how many of them have, and at least
        one a minute.
      - The line with the id of the task that a restart module waits for is shown in any case, before the wait begins.
      - Lines are shown where the module runs in the controller's own process, as it does on a local connection. None is
        shown for a task with C(no_log), and with C(ANSIBLE_DISPLAY_OK_HOSTS=false) only the one with the id.
    type: bool
    default: true
"""
