# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which texts the option ``change`` takes as the name of a change."""

from __future__ import annotations

from .errors import OptionError

LONGEST_NAME = 200


def parse_change_name(value: str) -> str:
    """The name of a change: 1 to LONGEST_NAME printable characters, no space at either end. Raises OptionError."""
    if 0 < len(value) <= LONGEST_NAME and value.isprintable() and value == value.strip():
        return value
    raise OptionError(
        f"change: {_shown(value)} is not the name of a change; give at most {LONGEST_NAME} printable characters, "
        "without a space at either end, as in memory-2026-11-20."
    )


def _shown(value: str) -> str:
    if len(value) > LONGEST_NAME:
        return f"a text of {len(value)} characters"
    return repr(value) if value else "an empty text"
