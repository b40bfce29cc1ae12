# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Additions to Ansible's refusal of an option: where its value came from, and why the option is required."""

from __future__ import annotations

import os
import re

from .connection_options import CONNECTION_OPTIONS, Params

_WHY_REQUIRED = {
    "freeze_server": (
        "freeze_server has no default because OCP requires the choice and documents none. true runs a minor compaction "
        "before the server stops, as OCP's console does by default; it takes time and shortens the recovery at the "
        "start. false stops the server without one."
    ),
}


def refusal_notes(message: str, params: Params) -> str:
    """The text after Ansible's ``message`` about options; "" if there is nothing to add."""
    return _environment_note(message, params) + _required_note(message)


def _required_note(message: str) -> str:
    missing = re.search(r"(?:missing required arguments|all of the following are missing): ([\w, ]+)", message)
    named = missing.group(1).split(", ") if missing else []
    return "".join(f". {_WHY_REQUIRED[option]}" for option in named if option in _WHY_REQUIRED)


def _environment_note(message: str, params: Params) -> str:
    """A sentence for Ansible's ``message`` about an option, if its value is one of the environment; else ""."""
    for option, spec in CONNECTION_OPTIONS.items():
        variable = spec["fallback"][1][0]
        value = params.get(option)
        # A converted value is no longer text.
        unconverted = spec["type"] in ("float", "bool") and isinstance(value, str)
        if unconverted and option in message and value == os.environ.get(variable):
            return f". The value {value} comes from the environment variable {variable}"
    return ""
