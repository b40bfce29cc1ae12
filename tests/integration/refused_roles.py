# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A role that refuses its variables, case by case in one run of Ansible."""

from __future__ import annotations

from typing import Any

from ansible_runs import Ansible


def refusals(ansible: Ansible, role: str, cases: dict[str, dict[str, Any]], **keywords: Any) -> dict[str, Any]:
    """What the task returned that ended the role, by the name of the case; its variables are without their prefix."""
    blocks = [
        {
            "block": [
                {
                    "ansible.builtin.include_role": {"name": f"oceanbase.ocp.{role}"},
                    "vars": {f"{role}_{name}": value for name, value in given.items()},
                },
                {"ansible.builtin.fail": {"msg": "The role has ended well."}},
            ],
            "rescue": [{"name": case, "ansible.builtin.debug": {"var": "ansible_failed_result"}}],
        }
        for case, given in cases.items()
    ]
    outcome = ansible.tasks(*blocks, **keywords)
    assert outcome.rc == 0, outcome.output
    return {case: outcome.results[case]["ansible_failed_result"] for case in cases}
