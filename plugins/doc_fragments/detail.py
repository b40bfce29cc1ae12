# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option for how much of a result is returned."""

from __future__ import annotations


class ModuleDocFragment:
    """How much of a result is returned."""

    DOCUMENTATION = r"""
options:
  detail:
    description:
      - How much of the result comes back. V(full) has everything. Playbooks that read subtasks need it.
      - V(summary) has only the FAILED subtasks of tasks. It keeps the result small for hundreds of tasks.
      - V(compact) is for reading in a terminal, such as after an ad-hoc command. A task has C(id), C(name), C(status),
        C(succeeded), C(duration), C(targets) and, if it was rolled back, C(rolled_back), a target C(kind), C(name) and
        C(cluster_name). C(before), C(after), C(safety), C(failed_subtasks) and everything that is null or empty are
        left out. A failure has its message, which ends with the commands to run, and is without C(reason), C(target),
        C(task) and C(elapsed). Its message always has the end of the log. Modules with C(_info) at the end of their
        names return each object as one line of text, not as a dictionary, so playbooks that read its keys need another
        choice.
      - Without it, a success has everything. A failure has its message and what a playbook branches on, such as
        C(task_id), C(verified) and C(failed_task_ids). A task is without its subtasks then, and a failed subtask
        without its log. C(before) and C(after) have the starts alone, C(safety) whether it is safe and what is not, and
        the lists C(servers) and C(results) are left out. Give V(full) to have all of a failure. The command C(ansible)
        shows a failure as V(compact) does.
    type: str
    choices: [full, summary, compact]
"""
