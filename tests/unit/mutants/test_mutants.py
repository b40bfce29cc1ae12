# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The list of mutants that `make mutants` tries: a thousand at least of the files that decide, and reasons for some."""

from __future__ import annotations

from ansible_collections.oceanbase.ocp.tests.mutants.keys import FILES, JUDGED, ROOT, Key
from ansible_collections.oceanbase.ocp.tests.mutants.outcomes import explained, listed


def test_list_has_a_thousand_mutants_each_of_them_once():
    keys = listed()
    assert len(keys) == len(set(keys)) > 1000


def test_each_deciding_file_is_there_and_has_mutants():
    assert {key.file for key in listed()} == set(FILES)
    assert all((ROOT / file).is_file() for file in FILES)


def test_each_reason_is_that_of_a_mutant_in_the_list():
    reasons = explained()
    assert set(reasons) <= set(listed())
    assert all(reason.endswith(".") for reason in reasons.values())


def test_hundred_of_the_list_are_judged_with_a_reason():
    rows = [line.split("\t") for line in JUDGED.read_text().splitlines()]
    assert len(rows) == 100
    assert {Key.of("\t".join(row[:5])).file for row in rows} <= set(FILES)
    assert {row[5] for row in rows} <= {"no", *map(str, range(1, 17))}
    assert all(row[6].endswith(".") for row in rows)
