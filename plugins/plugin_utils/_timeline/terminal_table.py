# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The text table of tasks: widths of columns, from which width on there are bars, how many log lines."""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils._base.cli_hints import NEXT_STEPS_HEADING
from ...module_utils._base.text import LogTail, display_width, shorten, wrap
from .durations import fit
from .scale import Bar, Scale
from .timeline import State, Step, TaskView

LEAST_WIDTH = 40
LOG_LINES = 20
# Narrower tables have no bars, so that the names have room.
WIDTH_FOR_BARS = 72
_TIME_WIDTH = 13


def render_table(tasks: list[TaskView], title: str | None, width: int, color: bool) -> str:
    """The tasks below each other, each line at most ``width`` columns; with ``color`` in ANSI colours."""
    page = _Page(width, color)
    blocks = ["\n".join(page.task(task)) for task in tasks] or ["There is no task to show."]
    heading = ["\n".join(wrap(title, width))] if title else []
    return "\n\n".join([*heading, *blocks])


class _Page:
    def __init__(self, width: int, color: bool) -> None:
        self._width, self._color = width, color
        self._bars = width // 4 if width >= WIDTH_FOR_BARS else 0

    def task(self, task: TaskView) -> Iterator[str]:
        row = task.row
        heading, *rest = wrap(f"{row.state.sign} {row.name}: {row.status}", self._width)
        yield from (self._in(row.state, line) for line in (heading, *rest))
        yield from self._facts(task.facts)
        scale = Scale.over(task.steps)
        digits = len(str(len(task.steps)))
        for step in task.steps:
            yield self._row(f"{step.number:>{digits}}", step, scale)
        for step in task.failed:
            if step.log:
                yield from self._log(step, step.log)
        if task.next_steps:
            yield from wrap(f"  {NEXT_STEPS_HEADING}", self._width)
        for what, command in task.next_steps:
            yield from wrap(f"  {what}:", self._width)
            yield from self._command(command)

    def _facts(self, facts: list[tuple[str, str]]) -> Iterator[str]:
        line = ""
        for name, value in facts:
            fact = f"{name.lower()} {value}"
            if line and display_width(f"  {line}, {fact}") > self._width:
                yield f"  {line},"
                line = ""
            line = f"{line}, {fact}" if line else fact
            *full, line = wrap(line, self._width - 3)
            yield from (f"  {piece}" for piece in full)
        if line:
            yield f"  {line}"

    def _row(self, number: str, step: Step, scale: Scale) -> str:
        begin, time = f"  {number} {step.state.sign} ", fit(step.duration or "-", _TIME_WIDTH)
        room = self._width - display_width(begin) - _TIME_WIDTH - 1 - (self._bars + 1 if self._bars else 0)
        note = f" [{step.note}]" if step.note else ""
        name = shorten(step.name, max(room - display_width(note), room // 2))
        line = f"  {number} {self._in(step.state, step.state.sign)} {fit(name + note, room)} {time}"
        return f"{line} {self._in(step.state, self._bar(scale.place(step)))}" if self._bars else line.rstrip()

    def _bar(self, drawn: Bar) -> str:
        if drawn.is_mark:
            return " " * (self._bars - 1) + "·"
        first = min(int(drawn.left * self._bars), self._bars - 1)
        halves = max(1, round(drawn.width * self._bars * 2))
        return shorten(" " * first + "█" * (halves // 2) + "▌" * (halves % 2), self._bars)

    def _log(self, step: Step, log: LogTail) -> Iterator[str]:
        yield from wrap(f"  End of the log of {step.number}, {step.name}:", self._width)
        for line in log.lines[-LOG_LINES:]:
            yield from (f"    {piece}".rstrip() for piece in wrap(line, self._width - 4))

    def _command(self, command: str) -> Iterator[str]:
        """Its lines, which can be pasted into a shell unless the terminal is very narrow."""
        room = self._width - 4
        split = command if display_width(command) <= room else command.replace(" -a ", " \\\n  -a ", 1)
        for line in split.splitlines():
            yield from (f"    {piece}" for piece in wrap(line, room))

    def _in(self, state: State, text: str) -> str:
        return f"\x1b[{state.ansi}m{text}\x1b[0m" if self._color else text
