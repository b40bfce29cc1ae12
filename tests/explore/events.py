# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which event happens at each point of a run, and all other ways in which the run could go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class ChosenEvents:
    """Which event happens at each point: those of the path, then none."""

    def __init__(self, path: Sequence[str] = ()) -> None:
        self._path = path
        self._points: list[tuple[int, str]] = []
        self.taken: list[str] = []

    def choose(self, options: Sequence[str]) -> str:
        """The event at this point, "" for none."""
        number = len(self.taken)
        chosen = self._path[number] if number < len(self._path) else ""
        if number >= len(self._path):
            self._points += [(number, option) for option in options]
        self.taken.append(chosen)
        return chosen

    def alternatives(self) -> Iterator[tuple[str, ...]]:
        """The paths that differ from this one by one more event."""
        for number, option in self._points:
            yield (*self.taken[:number], option)
