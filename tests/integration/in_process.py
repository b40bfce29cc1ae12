# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A module that only reads, called in the process of the test: a run of Ansible would take a second for each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import Definition, RunMode, call_module


def called(module: str, url: str, **options: Any) -> dict[str, Any]:
    """The result of a module with these options, which has to succeed."""
    definition: Definition = import_module(f"ansible_collections.oceanbase.ocp.plugins.modules.{module}").DEFINITION
    validated = ArgumentSpecValidator(definition.argument_spec).validate({"url": url, **options})
    assert not validated.error_messages
    outcome = call_module(definition, validated.validated_parameters, RunMode(check_mode=False))
    assert not outcome.failed, outcome.result
    return outcome.result
