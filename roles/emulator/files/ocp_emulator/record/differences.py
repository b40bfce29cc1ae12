# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where a value differs from its schema: fields that are missing or undocumented, other types, other words.

A field that is null counts as absent, as in the documents, and is no difference where it may be absent.
"""

from collections.abc import Callable, Iterator
from typing import Any

from ocp_emulator.record.contract import Contract, Json

# How a word is shown.
Shown = Callable[[str], str]

_KINDS: dict[type, tuple[str, ...]] = {
    dict: ("object",),
    list: ("array",),
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    type(None): ("null",),
}


def differences(value: Any, schema: Json, contract: Contract, shown: Shown, where: str = "") -> Iterator[str]:
    """The differences, each as a text; `shown` returns a name of a field or a word without secrets."""
    view = contract.view(schema)
    kinds = view.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    own = _KINDS[type(value)]
    if value is None:
        return
    if kinds and not set(own) & set(kinds):
        yield f"{where or 'the answer'} is {_named(own[0])}, documented as {' or '.join(map(str, kinds))}"
    elif "enum" in view and value not in view["enum"]:
        yield f"{where} is {shown(str(value))}, which no document has"
    elif isinstance(value, dict):
        yield from _of_record(value, view, contract, shown, where)
    elif isinstance(value, list) and "items" in view:
        for each in value:
            yield from differences(each, view["items"], contract, shown, f"{where}[]")


def _of_record(
    value: dict[str, Any], view: dict[str, Any], contract: Contract, shown: Shown, where: str
) -> Iterator[str]:
    known: Json = view.get("properties", {})
    others = view.get("additionalProperties", {})
    for key in view.get("required", ()):
        if key not in value:
            yield f"{_below(where, key)} is missing"
    for key, each in value.items():
        if key in known:
            yield from differences(each, known[key], contract, shown, _below(where, key))
        elif isinstance(others, dict):
            yield from differences(each, others, contract, shown, _below(where, "*"))
        elif known:
            yield f"{_below(where, shown(key))} is not documented"


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _named(kind: str) -> str:
    return f"{'an' if kind[0] in 'aio' else 'a'} {kind}"
