# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The documentation of the option by which a role or playbook tells a module the names of its own variables."""

from __future__ import annotations


class ModuleDocFragment:
    """The variables of a role or playbook, for messages."""

    DOCUMENTATION = r"""
options:
  hint_variables:
    description:
      - For roles and playbooks that call the module. The variables by which a user gives options of the module, by the
        name of the option, such as V(rolling_restart_safety) for C(safety).
      - Messages that propose or refuse such an option then name its variable, as in V(-e rolling_restart_safety=none),
        and do not propose an option without one.
    type: dict
"""
