# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Sample tasks for the HTML page, and a parser of the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

from hypothesis import settings
from hypothesis import strategies as st

settings.register_profile("filters", deadline=None, derandomize=True, database=None)
settings.load_profile("filters")

SVG = "{http://www.w3.org/2000/svg}"
NASTY = [
    "<script>alert(1)</script>",
    "</pre></svg></style><img src=x onerror=alert(1)>",
    "\" onload='alert(1)' x=\"",
    "]]>&amp;&#0;{{ 1 + 1 }}{% raw %}",
    "\x1b[31mred\x1b]0;title\x07\r\n\x00\x9b2J",
    "\u202eevil\u2066\u200f\ufeff\u2028",
    "\ud800\uffff\ufdd0",
    "集群重启" * 40,
    "e\u0301" * 300,
    "\\x1b",
]

texts = st.sampled_from(NASTY) | st.text(max_size=30)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
times = st.datetimes(timezones=st.timezones(no_cache=False) | st.none()).map(lambda time: time.isoformat()) | scalars
steps = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(1, 9) | scalars,
        "name": scalars,
        "description": scalars,
        "status": st.sampled_from(["PENDING", "READY", "RUNNING", "SUCCESSFUL", "FAILED"]) | scalars,
        "operation": st.sampled_from(["EXECUTE", "RETRY", "SKIP", "ROLLBACK", "rollback"]) | scalars,
        "run_time": scalars,
        "executor": scalars,
        "start_time": times,
        "finish_time": times,
        "log_tail": scalars | st.lists(scalars, max_size=3),
    },
)
tasks = st.fixed_dictionaries(
    {"subtasks": st.lists(steps, max_size=5) | st.none()},
    optional={
        "id": scalars,
        "name": scalars,
        "status": scalars,
        "operation": scalars,
        "creator": scalars,
        "cluster_name": scalars,
        "cluster_id": scalars,
        "host_id": scalars,
        "start_time": times,
        "finish_time": times,
        "rolled_back": scalars,
        "progress": scalars,
        "failed_subtasks": st.lists(steps, max_size=2) | scalars,
    },
)


def at(seconds: float, zone: str = "+08:00") -> str:
    """The time this number of seconds after the beginning."""
    return f"2026-05-04T03:{int(seconds) // 60:02}:{seconds % 60:06.3f}{zone}"


def step(
    status: str = "SUCCESSFUL", begin: float | None = None, end: float | None = None, **values: Any
) -> dict[str, Any]:
    return {
        "id": 50001,
        "name": "Step",
        "description": "Stop server",
        "status": status,
        "operation": "EXECUTE",
        "run_time": 1,
        "executor": "10.0.0.9",
        "start_time": None if begin is None else at(begin),
        "finish_time": None if end is None else at(end),
        **values,
    }


def task(*subtasks: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {
        "id": 1001,
        "name": "Restart OB server",
        "status": "SUCCESSFUL",
        "operation": "EXECUTE",
        "creator": "admin",
        "start_time": at(0),
        "finish_time": at(10),
        "cluster_id": 1,
        "cluster_name": "orders",
        "host_id": 3,
        "rolled_back": False,
        "progress": {"done": len(subtasks), "total": len(subtasks), "running": []},
        "subtasks": list(subtasks),
        **values,
    }


VOID = {"meta", "img", "br", "link", "input"}


class Page(HTMLParser):
    """An HTML document: its tags in order, its visible text, its SVG charts as XML."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.document = document
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.charts = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg .*?</svg>", document, re.DOTALL)]
        self.feed(document)
        self.close()
        assert self.open == [], "not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _tag, attributes in self.tags if name in (attributes.get("class") or "").split()]

    @property
    def bars(self) -> list[ElementTree.Element]:
        """The bars and marks of all charts except the overview."""
        return [mark for chart in self.charts for mark in chart.iter() if "bar" in mark.get("class", "").split()]
