# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lookup oceanbase.ocp.unknown_variables."""

from __future__ import annotations

DOCUMENTATION = r"""
name: unknown_variables
short_description: Find misspelt variables of a role or playbook of this collection
version_added: 1.0.0
description:
  - Returns a sentence for each variable that has the prefix of a role or playbook of this collection, but is not
    documented by it, with the nearest documented name.
  - Every role and playbook of the collection uses it first of all, and refuses what it finds, since a misspelt
    C(rolling_restart_servers) would restart more than was meant.
  - Names that begin with the prefix and C(user_) are free, as in C(rolling_restart_user_ticket). Names with two
    underscores after the role, as in C(rolling_restart__plan), are the role's own.
options:
  _terms:
    description: Names of roles or playbooks of this collection.
    type: list
    elements: str
    required: true
  prefix:
    description: The prefix of the variables, by default the name of the role or playbook and an underscore.
    type: str
author:
  - oceanbase.ocp contributors (@oceanbase)
"""

EXAMPLES = r"""
- name: Check the variables of a role before a playbook does anything
  ansible.builtin.assert:
    that: unknown | length == 0
    fail_msg: "{{ unknown | join(' ') }}"
    quiet: true
  vars:
    unknown: "{{ query('oceanbase.ocp.unknown_variables', 'rolling_restart') }}"
"""

RETURN = r"""
_raw:
  description: A sentence for each unknown variable, by name; empty if all are known.
  type: list
  elements: str
"""

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ..plugin_utils._known_variables import unknown_variables


class LookupModule(LookupBase):
    """Find misspelt variables."""

    def run(self, terms, variables=None, **kwargs):
        """The sentences. Raises AnsibleLookupError."""
        self.set_options(var_options=variables, direct=kwargs)
        given = self.get_option("prefix")
        try:
            return [
                sentence
                for name in terms
                for sentence in unknown_variables(name, given or f"{name}_", map(str, variables or {}))
            ]
        except ValueError as error:
            raise AnsibleLookupError(f"oceanbase.ocp.unknown_variables: {error}") from None
