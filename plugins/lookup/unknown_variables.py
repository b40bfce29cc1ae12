# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lookup oceanbase.ocp.unknown_variables: what a role or playbook documents, and the refusal of other variables."""

from __future__ import annotations

DOCUMENTATION = r"""
name: unknown_variables
short_description: Find misspelt variables of a role or playbook of this collection
version_added: 1.0.0
description:
  - Returns a sentence for each variable that has the prefix of a role or playbook of this collection but is not
    documented there, with the nearest documented name.
  - Every role and playbook of the collection begins with it and refuses such variables, because a misspelt
    C(rolling_restart_servers) would restart more than intended.
  - Names that begin with the prefix and C(user_) are free, as in C(rolling_restart_user_ticket). Names with two
    underscores after the role, as in C(rolling_restart__plan), are internal to the role.
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

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

COLLECTION = Path(__file__).parents[2]
# Reserved for the caller, followed by any name.
USER = "user_"


def unknown_variables(name: str, prefix: str, variables: Iterable[str]) -> list[str]:
    """A sentence for each of ``variables`` that has the prefix but is unknown to the role or playbook.

    Raises ValueError if no role or playbook has this name.
    """
    known = _documented(name, prefix)
    # With a second underscore it is internal to the role or playbook.
    free = (f"{prefix}_", f"{prefix}{USER}")
    unknown = sorted(each for each in variables if each.startswith(prefix) and not each.startswith(free))
    return [_refusal(each, name, prefix, known) for each in unknown if each not in known]


def _documented(name: str, prefix: str) -> list[str]:
    """The names in the argument specification of the role, else in the comment at the head of the playbook."""
    role, playbook = COLLECTION / "roles" / name / "meta/argument_specs.yml", COLLECTION / "playbooks" / f"{name}.yml"
    if role.is_file():
        text = role.read_text(encoding="utf-8")
    elif playbook.is_file():
        text = "\n".join(re.findall(r"^#.*", playbook.read_text(encoding="utf-8"), re.MULTILINE))
    else:
        raise ValueError(f"oceanbase.ocp has no role or playbook {name}.")
    # Behind a dot it is a module.
    return sorted(set(re.findall(rf"(?<![\w.]){re.escape(prefix)}\w+", text)))


def _refusal(variable: str, name: str, prefix: str, known: list[str]) -> str:
    # Compared without the prefix, which would make all of them similar.
    near = get_close_matches(variable.removeprefix(prefix), [each.removeprefix(prefix) for each in known], 1)
    hint = (
        f"did you mean {prefix}{near[0]}?"
        if near
        else f"a variable of your own begins with {prefix}{USER}, so rename it."
    )
    return f"{variable}: is not a variable of oceanbase.ocp.{name}; {hint}"


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
