# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The list of mutants that `make mutants` tries: there are enough of code that is there, and reasons are of these."""

from __future__ import annotations

import ast

from ansible_collections.oceanbase.ocp.tests.mutants.keys import FILES, JUDGED, ROOT, Key
from ansible_collections.oceanbase.ocp.tests.mutants.outcomes import explained, listed


def definitions(file):
    """The dotted names of the functions and classes of a file."""
    found = {"-"}

    def add(body, outer):
        for each in body:
            if isinstance(each, ast.FunctionDef | ast.ClassDef):
                found.add(".".join([*outer, each.name]))
                add(each.body, [*outer, each.name])

    add(ast.parse((ROOT / file).read_text()).body, [])
    return found


def test_list_has_a_thousand_mutants_each_of_them_once():
    keys = listed()
    assert len(keys) == len(set(keys)) > 1000


def test_each_deciding_file_is_there_and_has_mutants():
    assert {key.file for key in listed()} == set(FILES)


def test_each_mutant_is_of_a_definition_that_is_there():
    there = {file: definitions(file) for file in FILES}
    assert [str(key) for key in listed() if key.definition not in there[key.file]] == []


def test_each_reason_is_that_of_a_mutant_in_the_list():
    reasons = explained()
    assert set(reasons) <= set(listed())
    assert all(reason.endswith(".") for reason in reasons.values())


def test_hundred_of_the_list_are_judged_with_a_reason():
    rows = [line.split("\t") for line in JUDGED.read_text().splitlines()]
    assert len(rows) == 100
    assert {Key.of("\t".join(row[:5])) for row in rows} <= set(listed())
    assert {row[5] for row in rows} <= {"no", *map(str, range(1, 17))}
    assert all(row[6].endswith(".") for row in rows)
