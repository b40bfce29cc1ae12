# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The table of docs/at-most-once-reference.md is the rules of the decision, in their order, with what they decide."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import InFlight
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.rules import Rule, Step, decide
from ansible_collections.oceanbase.ocp.tests.unit.support.rule_cases import RULE_CASES

PAGE = (Path(__file__).parents[2] / "docs/at-most-once-reference.md").read_text()
WORDS = {
    Step.SEND: "restart",
    Step.SKIP: "skip",
    Step.JOIN: "attach",
    Step.ADOPT: "adopt",
    Step.QUEUE: "wait",
    Step.WAIT: "wait",
    Step.FAIL: "fail",
}


def table() -> list[list[str]]:
    """The rows of the table, without its head."""
    section = PAGE.split("## What is decided")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in re.findall(r"^\| .*$", section, re.MULTILINE)]


def test_each_rule_has_its_row_in_the_order_of_the_rules():
    (head, *rows) = table()
    assert head[1:] == ["`in_flight: attach` (default)", "`fail`", "`queue`"]
    assert [row[0] for row in rows] == [rule.value for rule in Rule]


@pytest.mark.parametrize("rule", Rule, ids=lambda rule: rule.name)
def test_row_says_what_its_rule_decides_for_each_in_flight(rule):
    """Of a restart that waits; the text below the table tells of the others."""
    [row] = [row for row in table() if row[0] == rule.value]
    found = []
    for in_flight in InFlight:
        wishes = [
            (case.known, replace(case.wish, in_flight=in_flight, waits=True, proven_later=False)) for case in RULE_CASES
        ]
        decisions = [decide(known, wish) for known, wish in wishes]
        found.append({WORDS[each.step] for each in decisions if each.rule is rule})
    assert found == [set() if cell == "-" else {cell} for cell in row[1:]]
