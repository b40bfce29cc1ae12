# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option that says how much of a result comes back."""

from __future__ import annotations


class ModuleDocFragment:
    """How much of a result comes back."""

    DOCUMENTATION = r"""
options:
  detail:
    description:
      - How much of the result comes back. V(full) has everything, as playbooks need that read subtasks.
      - V(summary) has only those subtasks of tasks that FAILED. It keeps the result small for hundreds of tasks.
      - V(compact) is for people who read the result in a terminal, as after an ad-hoc command. A task has C(id),
        C(name), C(status), C(succeeded), C(duration) and C(targets), a target C(kind), C(name) and C(cluster_name).
        C(before), C(after), C(safety), C(failed_subtasks) and everything that is null or empty are left out.
        The message of a failure has the end of the log in any case.
    type: str
    choices: [full, summary, compact]
    default: full
"""
