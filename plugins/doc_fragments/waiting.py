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
      - How many seconds to wait for the task. After that the module fails, and names the id of the task so that you can
        wait for it again. The task keeps running in the service.
    type: int
    default: 7200
  wait_interval:
    description:
      - The longest pause between two polls of the task, in seconds.
      - The first pauses are shorter. A pause is 4 to 5 % of the time waited so far, and at least 0.5 seconds. It is
        longer if the request limit of the service is used up.
    type: float
    default: 10
  log_lines:
    description:
      - How many of the last log lines of a failed subtask a failure shows, 0 to 200. They are of the last attempt. The
        message cuts a line after 500 characters.
    type: int
    default: 20
  show_progress:
    description:
      - Whether to show progress. There is a line when a subtask has ended, or for more than four tasks the number that
        have ended, and at least one line a minute.
      - The line with the id of the task is always shown before a restart module begins to wait.
      - Lines are shown if the module runs in the controller's process, as it does on a local connection. A task with
        C(no_log) shows none, and with C(ANSIBLE_DISPLAY_OK_HOSTS=false) only the line with the id is shown.
    type: bool
    default: true
"""
