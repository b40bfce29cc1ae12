# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A step that takes effect on the fleet, and the type of the functions that carry it out."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CompletedStep:
    """A step that is done or rolled back: its task, the batch element it worked on (or None), and when."""

    task_id: int
    element: str | None
    at: int

    @property
    def element_id(self) -> int | None:
        """The batch element as an id."""
        return None if self.element is None else int(self.element)


# Changes the fleet; returns messages for the log of the subtask.
Effect = Callable[[sqlite3.Connection, CompletedStep], list[str]]
