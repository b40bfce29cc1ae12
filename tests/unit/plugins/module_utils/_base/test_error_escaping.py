# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Control characters of the service in an error's text are escaped."""

from __future__ import annotations

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ModuleCrashed, TargetError

NAME = "\x1b[2J\u202eorders"
SHOWN = r"\x1b[2J\u202eorders"


def test_unprintable_characters_are_escaped():
    error = TargetError(f"cluster: {NAME} matches nothing.")
    error.add_context(f"Did not restart {NAME}.")
    error.add_advice(f"Look at {NAME}.")
    assert str(error) == f"Did not restart {SHOWN}. cluster: {SHOWN} matches nothing. Look at {SHOWN}."


def test_lines_and_tabs_stay():
    assert str(TargetError("The end of its log:\n  a\tb\n")) == "The end of its log:\n  a\tb\n"


def test_text_of_a_crash_is_escaped():
    assert SHOWN in str(ModuleCrashed(ValueError(NAME)))
