# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `make returns` writes, and the RETURN of the modules that it writes into."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[3]
RETURNS = SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools/returns/__main__.py")))
VALUES = RETURNS.returned_values()
CODE = f'before = 1\n\n{RETURNS.BEGIN}old: {{}}\n"""\n\nafter = r"""\n"""\n'


def values(**facts: Any) -> dict[str, Any]:
    return {"value": {"description": "One.", "returned": "always", "type": "str", **facts}}


@pytest.mark.parametrize("module", VALUES)
def test_return_of_a_module_is_what_is_generated(module):
    code = (RETURNS.MODULES / f"{module}.py").read_text()
    assert code == RETURNS.generated(module, code, VALUES[module]), "edit tools/returns/modules.yml and `make returns`"


def test_every_module_is_in_the_source():
    assert sorted(VALUES) == sorted(path.stem for path in RETURNS.MODULES.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("module", VALUES)
def test_every_key_can_be_read_with_a_dot_in_a_template(module):
    """A newer ansible-test than that of Python 3.11 refuses the names of what every dictionary can do."""
    assert sorted(keys(VALUES[module]) & set(dir({}))) == []


def keys(described: dict[str, Any]) -> set[str]:
    """The keys of a result, at any depth."""
    return set(described).union(*(keys(facts.get("contains", {})) for facts in described.values()))


def test_only_the_return_is_replaced():
    code = RETURNS.generated("some", CODE, values())
    assert code == CODE.replace("old: {}\n", "value:\n  description: One.\n  returned: always\n  type: str\n")


@pytest.mark.parametrize("code", ["", CODE.replace("# Generated", "# Written"), CODE.replace('"""\n', '"""')])
def test_module_without_a_return_to_write_into_is_named(code):
    with pytest.raises(SystemExit, match="some has no RETURN"):
        RETURNS.generated("some", code, values())


def test_later_block_adds_keys_and_changes_only_what_it_names():
    shared = values(contains={"inner": {"type": "int", "sample": {"a": 1}}})
    own = {"value": {"contains": {"inner": {"sample": {"b": 2}}}}, "new": {"type": "bool"}}
    expected = {**values(contains={"inner": {"type": "int", "sample": {"b": 2}}}), "new": {"type": "bool"}}
    assert RETURNS.laid_over(shared, own) == expected
    assert list(RETURNS.laid_over(shared, own)) == ["value", "new"]
    assert shared == values(contains={"inner": {"type": "int", "sample": {"a": 1}}})


def test_keys_have_one_order_and_lines_120_columns():
    contains = {"inner": {"type": "int", "description": ["word " * 40 + "end.", "Two."]}}
    assert RETURNS.rendered(values(sample={"é": [1, None]}, contains=contains)).splitlines() == [
        "value:",
        "  description: One.",
        "  returned: always",
        "  type: str",
        "  contains:",
        "    inner:",
        "      description:",
        f"        - {'word ' * 21}word",
        f"          {'word ' * 18}end.",
        "        - Two.",
        "      type: int",
        '  sample: {"é": [1, null]}',
    ]


@pytest.mark.parametrize("text", ["a key: a value", "end #1", "- item", "5", "true", "'quoted", "[list", "V(x):"])
def test_text_that_yaml_would_read_otherwise_is_folded(text):
    written = RETURNS.rendered(values(description=text))
    assert f"  description: >-\n    {text}\n" in written
    assert yaml.safe_load(written) == values(description=text)


def test_text_that_cannot_be_wrapped_is_refused():
    with pytest.raises(SystemExit, match="not the same values"):
        RETURNS.rendered(values(description="two\nlines"))


def test_unknown_key_is_refused():
    with pytest.raises(SystemExit, match="value: unknown key return;"):
        RETURNS.rendered({"value": {"return": "always"}})
