# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which variables a role or playbook documents, and the refusal of a misspelt one with the nearest name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

COLLECTION = Path(__file__).parents[2]
# Of the caller, with any name behind it.
USER = "user_"


def unknown_variables(name: str, prefix: str, variables: Iterable[str]) -> list[str]:
    """A sentence for each of ``variables`` that has the prefix, and that the role or playbook does not know.

    Raises ValueError if there is no role or playbook of this name.
    """
    known = _documented(name, prefix)
    # With a second underscore: the role's or playbook's own.
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
    # Without the prefix, which would make all of them alike.
    near = get_close_matches(variable.removeprefix(prefix), [each.removeprefix(prefix) for each in known], 1)
    hint = (
        f"did you mean {prefix}{near[0]}?"
        if near
        else f"a variable of your own begins with {prefix}{USER}, so rename it."
    )
    return f"{variable}: is not a variable of oceanbase.ocp.{name}; {hint}"
