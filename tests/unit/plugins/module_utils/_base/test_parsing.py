# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Texts of the service are of bounded length, and can be written as UTF-8."""

from __future__ import annotations

import json

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.censor import Censor
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.parsing import LONGEST_TEXT, integer, text


@pytest.mark.parametrize(
    ("sent", "read"),
    [(r"a\ud800b", r"a\ud800b"), (r"\udcff\ud83d", r"\udcff\ud83d"), (r"\ud83d\ude00", "\U0001f600")],
)
def test_half_a_surrogate_pair_is_escaped(sent, read):
    assert text(json.loads(f'"{sent}"')) == read


def test_secret_is_removed_where_a_long_text_is_cut():
    secret = "s3cret-password"
    for length in range(6, len(secret)):
        cut = text("x" * (LONGEST_TEXT - length) + secret)
        assert len(cut) == LONGEST_TEXT + 1
        assert secret[:6] not in Censor([secret]).clean(cut)


def test_text_of_the_longest_length_stays():
    assert text("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT


@pytest.mark.parametrize("number", [0, -1, 10**18, 2**63 - 1, -(2**63)])
def test_integer_has_64_bits_as_a_number_and_as_text(number):
    assert (integer(number), integer(str(number))) == (number, number)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_larger_number_is_no_id(number):
    assert (integer(number), integer(str(number))) == (None, None)
