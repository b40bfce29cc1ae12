# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A module called in the process of the test: a run of Ansible would take a second for each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import (
    Definition,
    Outcome,
    RunMode,
    call_module,
)


def called(module: str, url: str, **options: Any) -> dict[str, Any]:
    """The result of a module with these options, which has to succeed."""
    outcome = outcome_of(module, {"url": url, **options})
    assert not outcome.failed, outcome.result
    return outcome.result


def outcome_of(module: str, options: dict[str, Any], *, check_mode: bool = False) -> Outcome:
    """How a call of a module with these options ends, which Ansible has to accept."""
    definition: Definition = import_module(f"ansible_collections.oceanbase.ocp.plugins.modules.{module}").DEFINITION
    validated = ArgumentSpecValidator(definition.argument_spec, **definition.rules).validate(options)
    assert not validated.error_messages
    return call_module(definition, validated.validated_parameters, RunMode(check_mode))
