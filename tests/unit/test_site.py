# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What docs/docsite/conf.py adds to Sphinx, without Sphinx; tools/site checks what comes of it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

CONFIGURATION = runpy.run_path(str(Path(__file__).parents[2] / "docs/docsite/conf.py"))


@pytest.mark.parametrize(
    ("page", "home"),
    [("index", "index.html"), ("docs/fleet", "../index.html"), ("docs/dev/files", "../../index.html")],
)
def test_logo_leads_to_the_home_page_from_every_folder(page, home):
    context = {"pathto": lambda name: "../" * page.count("/") + f"{name}.html"}
    CONFIGURATION["link_logo"](None, page, "page.html", context, None)
    assert context["theme_documentation_home_url"] == home


def test_handlers_are_connected():
    connected = {}

    class App:
        def connect(self, event, handler):
            connected[event] = handler

    CONFIGURATION["setup"](App())
    assert {event: handler.__name__ for event, handler in connected.items()} == {
        "missing-reference": "refer_to_ansible",
        "html-page-context": "link_logo",
    }
