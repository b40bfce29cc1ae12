# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every message of an error, provoked through the code that makes it; ``docs/errors.md`` shows them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError, OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import Definition, RunMode, call_module
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.connection_options import Params
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._in_process import _refusal
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import COLLECTION, MODULES

ANSIBLE, OPTIONS, TARGETS, ANSWERS, TRANSPORT, TASKS = "ansible", "options", "targets", "answers", "transport", "tasks"
# As every message of the catalogue shows the service.
ADDRESS = "ocp.example.com:8080"


@dataclass(frozen=True)
class Entry:
    """One message: its group and heading on the page, how it comes about, and what it has to ``name``.

    ``kind`` is the error, None where ansible-core refuses an option itself. ``faults`` are the pairs of module and
    option that it is about, with what is wrong. ``results`` are the pairs of module and the keys that it fails with.
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
        """What entries have in common that are one on the page."""
        return self.group, self.heading, self.cause, self.message


def definition_of(module: str) -> Definition:
    found: Definition = importlib.import_module(f"{COLLECTION}.plugins.modules.{module}").DEFINITION
    return found


def outcome_of(
    module: str, params: Params, *, check_mode: bool = False
) -> tuple[dict[str, Any], type[OcpError] | None]:
    """The result with which ``params`` fail, and its error; None where ansible-core refuses them."""
    definition = definition_of(module)
    validation = ArgumentSpecValidator(definition.argument_spec, **definition.rules).validate(params)
    refusal = _refusal(validation, f"oceanbase.ocp.{module}")
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
    # What the body does not raise is said of the options of the connection, before it is called.
    return outcome.result, raised[0] if raised else OptionError


def keys_of(module: str, result: dict[str, Any]) -> frozenset[tuple[str, frozenset[str]]]:
    """The ``results`` of an entry."""
    return frozenset({(module, frozenset(result))})


def _sorted(words: re.Match[str]) -> str:
    """A set of ansible-core's in an order that stays."""
    return ", ".join(sorted(words[0].split(", ")))


def merged(entries: Iterable[Entry]) -> list[Entry]:
    """Those that differ by the module alone, as one."""
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
