# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a progress line is written and shown: no control characters, not endless, at least one a minute."""

from __future__ import annotations

from collections.abc import Callable

from .._base.text import escape_unprintable, shorten

# Shows one line; the flag marks a failure.
Show = Callable[[str, bool], None]

# Columns; a terminal may show fewer.
LONGEST_LINE = 1000
HEARTBEAT_SECONDS = 60.0
INDENT = "  "


def show_nothing(_line: str, _failed: bool) -> None:
    """Shows nothing."""


def progress_line(text: str) -> str:
    """``text`` as a progress line: no line breaks, no control characters, not endless."""
    return shorten(escape_unprintable(f"{INDENT}{text}"), LONGEST_LINE)


def started_line(what: str, started: str) -> str:
    """A progress line that, if it is too long, shortens only ``what``: ``started`` has the id of a task."""
    end = f": {started}"
    return shorten(escape_unprintable(f"{INDENT}{what}"), LONGEST_LINE - len(end)) + end


def minutes_and_seconds(seconds: float) -> str:
    """As in ``12:05``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
