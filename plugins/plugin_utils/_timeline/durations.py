# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a duration is written for people (3 min 4 s)."""

from __future__ import annotations

from itertools import pairwise

from ...module_utils._base.text import display_width, shorten

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def duration(seconds: float) -> str:
    """As in ``0.45 s``, ``3 min 4 s``, ``2 h 5 min`` or ``3 d 4 h``."""
    if seconds < _MINUTE and (short := f"{round(seconds, 2):.3g}") != "60":
        return f"{short} s"
    whole = round(seconds)
    units = [("d", _DAY), ("h", _HOUR), ("min", _MINUTE), ("s", 1)]
    for (name, size), (next_name, next_size) in pairwise(units):
        if whole >= size:
            count, rest = divmod(whole, size)
            return f"{count} {name}" + (f" {rest // next_size} {next_name}" if rest // next_size else "")
    return f"{whole} s"


def fit(text: str, width: int) -> str:
    """``text`` in exactly ``width`` columns."""
    short = shorten(text, width)
    return short + " " * (width - display_width(short))
