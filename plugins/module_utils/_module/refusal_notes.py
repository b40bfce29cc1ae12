# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Ansible's refusal of options: in the caller's words, where values come from, why one is required, what is alike."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from difflib import get_close_matches

from ansible.module_utils.common.arg_spec import ValidationResult

from .._base.cli_hints import Hints
from .connection_options import CONNECTION_OPTIONS, Params

_WHY_REQUIRED = {
    "freeze_server": (
        "has no default because OCP requires the choice and documents none. true runs a minor compaction "
        "before the server stops, as OCP's console does by default; it takes time and shortens the recovery at the "
        "start. false stops the server without one."
    ),
}

# Ansible's sentences about options: what comes before the names of options, and the names.
_NAMES = (
    re.compile(r"^(value of |argument '|Elements value for option ')(\w+)"),
    re.compile(
        r"^(missing required arguments: |parameters are [\w ]+: |one of the following is required: "
        r"|missing parameter\(s\) required by '\w+': |\w+ is .+ of the following are missing: )([\w|, ]+)$"
    ),
    re.compile(r"^(missing parameter\(s\) required by ')(\w+)"),
    re.compile(r"^()(\w+)(?= is .+ of the following are missing: )"),
)


def with_notes(message: str, validation: ValidationResult, options: Collection[str]) -> str:
    """Ansible's ``message`` about options, with the notes on it; ``options`` are the names of all that exist.

    It names the variables of the role or playbook that called the module.
    """
    params = validation.validated_parameters
    hints = Hints.of(params)
    notes = [
        *_environment_notes(message, params),
        *_unknown_notes(validation, options),
        *_choice_notes(message),
        *_required_notes(message, hints),
    ]
    said = _by_caller(message, hints)
    if not notes:
        return said
    *first, last = [said.removesuffix("."), *notes]
    return " ".join([*(each if each.endswith("?") else f"{each}." for each in first), last])


def _by_caller(message: str, hints: Hints) -> str:
    """Ansible's ``message`` with the caller's variables instead of options."""
    for names in _NAMES:
        message = names.sub(
            lambda found: found[1] + re.sub(r"\w+", lambda name: hints.named(name[0]), found[2]), message
        )
    return message


def _unknown_notes(validation: ValidationResult, options: Collection[str]) -> list[str]:
    """A sentence for each unknown name, with the nearest option. Ansible's message is that of its first error alone."""
    unknown = sorted(name for name in validation.unsupported_parameters if isinstance(name, str))
    return [f"There is no option {name}{_nearest(name, options)}" for name in unknown]


def _nearest(name: str, options: Collection[str]) -> str:
    near = get_close_matches(name, sorted(options), 1)
    return f", did you mean {near[0]}?" if near else ""


def _choice_notes(message: str) -> list[str]:
    """The choice that is meant, where one is alike."""
    found = re.search(r"must be one of: (.+), got: (\w+)$", message)
    near = get_close_matches(found[2], found[1].split(", "), 1) if found else []
    return [f"Did you mean {each}?" for each in near]


def _required_notes(message: str, hints: Hints) -> list[str]:
    missing = re.search(r"(?:missing required arguments|all of the following are missing): ([\w, ]+)", message)
    named = missing.group(1).split(", ") if missing else []
    return [f"{hints.named(option)} {_WHY_REQUIRED[option]}" for option in named if option in _WHY_REQUIRED]


def _environment_notes(message: str, params: Params) -> list[str]:
    """A sentence for an option of the ``message`` whose value is one of the environment."""
    for option, spec in CONNECTION_OPTIONS.items():
        variable = spec["fallback"][1][0]
        value = params.get(option)
        # A converted value is no longer text.
        unconverted = spec["type"] in ("float", "bool") and isinstance(value, str)
        if unconverted and option in message and value == os.environ.get(variable):
            return [f"The value {value} comes from the environment variable {variable}"]
    return []
