# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Real results of a module compared with its RETURN: keys and types at every depth, nulls, and what never occurs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import yaml

# Python types by those of RETURN.
TYPES = {"bool": bool, "dict": dict, "float": float, "int": int, "list": list, "str": str}
# Keys that any module may return; Ansible documents them.
COMMON = {"changed", "diff", "exception", "failed", "invocation", "msg", "warnings"}
REFERENCE = re.compile(r"\bthe keys of RV\(([\w.]+)\)")
# Other keys of a dictionary, such as addresses, are data.
WORD = re.compile(r"[a-z_]+")

Facts = dict[str, Any]


def documentation_of(module: str) -> Facts:
    """The RETURN of a module."""
    found: Facts = yaml.safe_load(import_module(f"ansible_collections.oceanbase.ocp.plugins.modules.{module}").RETURN)
    return found


class Comparison:
    """The results of one module so far beside what it documents. Keys are named as in ``tasks[].progress.done``."""

    def __init__(self, documented: Facts) -> None:
        self._documented = documented
        self._returned: set[str] = set()
        self._with_value: set[str] = set()
        self._faults: dict[str, None] = {}

    def add(self, result: Facts, *, failed: bool = False, full: bool = True) -> None:
        """Compare one more result; ``full`` is false for one from which the option ``detail`` has left out keys."""
        # Ansible adds ``changed`` to a failure.
        whole = {"changed": False, **result}
        own = {key: value for key, value in whole.items() if key in self._documented or key not in COMMON}
        required = {"always"} if failed else {"always", "success"}
        self._compare_keys("", own, self._documented, required if full else set())

    @property
    def faults(self) -> list[str]:
        """What results have and RETURN does not tell, or tells otherwise; a sentence each."""
        return list(self._faults)

    @property
    def never_returned(self) -> set[str]:
        """The documented keys that no result has."""
        return set(_keys("", self._documented)) - self._returned

    @property
    def without_value(self) -> set[str]:
        """The documented keys that some results have, but always with null or an empty list."""
        return self._returned.intersection(_keys("", self._documented)) - self._with_value

    def _compare_keys(self, place: str, value: Facts, documented: Facts, required: set[str]) -> None:
        for key in value.keys() - documented.keys():
            self._add_fault(f"{place}{key} is returned and not documented")
        for key, facts in documented.items():
            if key in value:
                self._compare(f"{place}{key}", value[key], facts, required)
            elif facts["returned"] in required:
                self._add_fault(f"{place}{key} is documented as returned: {facts['returned']}, and is not")

    def _compare(self, place: str, value: Any, facts: Facts, required: set[str]) -> None:
        self._returned.add(place)
        if value is None:
            if not re.search(r"\bnull\b", _description(facts), re.IGNORECASE):
                self._add_fault(f"{place} is null, which is not documented")
        elif self._has_type(place, value, facts["type"]):
            if value != []:
                self._with_value.add(place)
            self._compare_content(place, value, facts, required)

    def _compare_content(self, place: str, value: Any, facts: Facts, required: set[str]) -> None:
        contains = self._contains(facts)
        if isinstance(value, list):
            for entry in value:
                if self._has_type(f"{place}[]", entry, facts["elements"]) and isinstance(entry, dict):
                    self._compare_keys(f"{place}[].", entry, contains or {}, required)
        elif isinstance(value, dict) and contains is not None:
            self._compare_keys(f"{place}.", value, contains, required)
        elif isinstance(value, dict) and not _is_like(value, facts.get("sample"), are_data=True):
            self._add_fault(f"{place} is a dictionary without contains and without a sample of the same form")

    def _contains(self, facts: Facts) -> Facts | None:
        """What a dictionary, or an entry of a list, contains; None if its keys are data."""
        reference = REFERENCE.search(_description(facts))
        if reference is None:
            return facts.get("contains")
        found = self._documented
        for key in reference[1].split("."):
            found = found[key]["contains"]
        return found

    def _has_type(self, place: str, value: Any, documented: str) -> bool:
        # In Python, a bool is an int too.
        is_right = isinstance(value, TYPES[documented]) and (documented == "bool") == isinstance(value, bool)
        if not is_right:
            self._add_fault(f"{place} has the type {type(value).__name__}, and {documented} is documented")
        return is_right

    def _add_fault(self, words: str) -> None:
        self._faults[words] = None


def _keys(place: str, documented: Facts) -> Iterator[str]:
    """All keys; those that a reference stands for are only where they are written."""
    for key, facts in documented.items():
        yield f"{place}{key}"
        inner = f"{place}{key}[]." if facts["type"] == "list" else f"{place}{key}."
        yield from _keys(inner, facts.get("contains", {}))


def _description(facts: Facts) -> str:
    told = facts["description"]
    return told if isinstance(told, str) else " ".join(told)


def _is_like(value: Any, sample: Any, *, are_data: bool = False) -> bool:
    """Whether a value has the form of a sample. Keys ``are_data``, and may be others, if not all are words."""
    if value is None or not isinstance(value, dict):
        return value is None or type(value) is type(sample)
    if not isinstance(sample, dict) or not sample:
        return False
    if are_data or not all(map(WORD.fullmatch, sample)):
        one = next(iter(sample.values()))
        return all(_is_like(each, one) for each in value.values())
    return value.keys() == sample.keys() and all(_is_like(value[key], sample[key]) for key in value)
