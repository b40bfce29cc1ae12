# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every error message, provoked through the code that raises it; ``make errors`` shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError, OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import RunMode, call_module
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.connection_options import Params
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._in_process import _refusal
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import MODULES, definition_of

ANSIBLE, OPTIONS, TARGETS, ANSWERS, TRANSPORT, TASKS = "ansible", "options", "targets", "answers", "transport", "tasks"
# The address of the service in every message of the catalogue.
ADDRESS = "ocp.example.com:8080"


@dataclass(frozen=True)
class Entry:
    """One message: its group and heading on the page, its cause, and the ``names`` it must have.

    ``kind`` is the error, None if ansible-core refuses an option. ``faults`` are triples of module, option and fault
    that the message covers. ``results`` are pairs of a module and the keys of its failure.
    """

    group: str
    heading: str
    cause: str
    message: str
    names: tuple[str, ...]
    kind: type[OcpError] | None
    modules: tuple[str, ...] = ()
    faults: frozenset[tuple[str, str, str]] = frozenset()
    results: frozenset[tuple[str, frozenset[str]]] = frozenset()

    @property
    def place(self) -> tuple[str, ...]:
        """The key of entries that are merged on the page."""
        return self.group, self.heading, self.cause, self.message


def outcome_of(
    module: str, params: Params, *, check_mode: bool = False
) -> tuple[dict[str, Any], type[OcpError] | None]:
    """The failed result for ``params``, and its error; None if ansible-core refuses them."""
    definition = definition_of(module)
    validation = ArgumentSpecValidator(definition.argument_spec, **definition.rules).validate(params)
    refusal = _refusal(validation, f"oceanbase.ocp.{module}", definition.argument_spec)
    if refusal is not None:
        return {"msg": re.sub(r"(?<=Valid booleans include: ).*", _sorted, refusal)}, None
    raised: list[type[OcpError]] = []

    def body(*args: Any) -> dict[str, Any]:
        try:
            return definition.body(*args)
        except OcpError as error:
            raised.append(type(error))
            raise

    outcome = call_module(replace(definition, body=body), validation.validated_parameters, RunMode(check_mode))
    assert outcome.failed, f"{module} does not fail with {params}"
    # An error outside the body is about a connection option.
    return outcome.result, raised[0] if raised else OptionError


def keys_of(module: str, result: dict[str, Any]) -> frozenset[tuple[str, frozenset[str]]]:
    """The ``results`` of an entry."""
    return frozenset({(module, frozenset(result))})


def _sorted(words: re.Match[str]) -> str:
    """A set printed by ansible-core, in a stable order."""
    return ", ".join(sorted(words[0].split(", ")))


def merged(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, with those that differ by the module alone as one."""
    found: dict[tuple[str, ...], Entry] = {}
    for entry in entries:
        same = found.get(entry.place, entry)
        modules = [name for name in MODULES if name in (*same.modules, *entry.modules)]
        found[entry.place] = replace(
            same,
            modules=tuple(modules),
            faults=same.faults | entry.faults,
            results=same.results | entry.results,
        )
    return list(found.values())
