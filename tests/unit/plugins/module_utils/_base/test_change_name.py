# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Names of changes given as options."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.change_name import parse_change_name
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("name", ["memory-2026-11-20", "x", "0", "CHG 4711: more memory", "内存", "None", "x" * 200])
def test_name_is_taken_as_it_is(name):
    assert parse_change_name(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("", "an empty text"),
        (" ", "' '"),
        ("memory ", "'memory '"),
        (" memory", "' memory'"),
        ("memory\n", "'memory\\n'"),
        ("mem\x1b[31mory", "'mem\\x1b[31mory'"),
        ("mem\u200bory", "'mem\\u200bory'"),
        ("x" * 201, "a text of 201 characters"),
        ("memory\xa02026", "'memory\\xa02026'"),
    ],
)
def test_other_text_is_refused_in_one_sentence(name, shown):
    with pytest.raises(OptionError) as raised:
        parse_change_name(name)
    assert str(raised.value) == (
        f"change: {shown} is not the name of a change; give at most 200 printable characters, without a space at "
        "either end, as in memory-2026-11-20."
    )
    assert raised.value.facts == {}


@given(st.text(max_size=210))
def test_any_text_is_a_name_or_an_option_error(text):
    try:
        assert parse_change_name(text) == text
    except OptionError as error:
        assert str(error).startswith("change: ")
        assert str(error).isprintable()
