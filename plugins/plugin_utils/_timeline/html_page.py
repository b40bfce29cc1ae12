# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The HTML page of tasks: chart, facts, logs, overview; the template of every page."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from ...module_utils._base.cli_hints import NEXT_STEPS_HEADING
from .scale import Scale
from .timeline import STATES, Step, TaskView

FOLDER = Path(__file__).parent
# Heights in CSS pixels.
_AXIS, _PITCH, _THICKNESS = 26, 40, 10


def render_html(tasks: list[TaskView], title: str | None) -> str:
    """The document: facts, chart and logs of one task; for several tasks an overview first.

    Without a title it has the name of the only task, or the number of tasks.
    """
    title = title or (tasks[0].row.name if len(tasks) == 1 else f"{len(tasks)} tasks")
    shown = {row.state for task in tasks for row in (task.row, *task.steps)}
    states = [state for state in STATES if state in shown]
    return page_template(FOLDER / "page.html.j2").render(tasks=tasks, title=title, states=states)


@cache
def page_template(path: Path) -> Template:
    """A template of a page, with the marks, the style and the frame that all pages share."""
    environment = Environment(
        loader=FileSystemLoader([path.parent, FOLDER]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["percent"] = _percent
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    environment.globals |= {
        "axis": _AXIS,
        "pitch": _PITCH,
        "thickness": _THICKNESS,
        "scale_over": Scale.over,
        "census": _census,
        "next_steps_heading": NEXT_STEPS_HEADING,
        "style": Markup(style.strip().replace("AXIS", str(_AXIS)).replace("PITCH", str(_PITCH))),
    }
    return environment.get_template(path.name)


def _percent(part: float) -> str:
    return f"{part * 100:.2f}%"


def _census(rows: list[Step]) -> str:
    counted = Counter(row.state for row in rows)
    return ", ".join(f"{counted[state]} {state.key.replace('-', ' ')}" for state in STATES if counted[state])
