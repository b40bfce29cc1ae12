# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The option C(hint_variables): how a role or playbook names its own variables to a module."""

from __future__ import annotations


class ModuleDocFragment:
    """The variables of a role or playbook, for messages."""

    DOCUMENTATION = r"""
options:
  hint_variables:
    description:
      - For roles and playbooks that call the module. For each option of the module the variable of the caller, such as
        V(rolling_restart_safety) for C(safety).
      - Messages that propose or refuse such an option then name its variable, as in V(-e rolling_restart_safety=none),
        and do not propose an option without one.
    type: dict
"""
