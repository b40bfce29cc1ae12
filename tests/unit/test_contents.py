# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The contents page lists everything that the collection has, and the index of the site every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def names(folder: str, ending: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / folder).glob(f"*{ending}") if path.stem != "__init__")


@pytest.mark.parametrize(
    ("table", "there"),
    [
        ("module", names("plugins/modules", ".py")),
        ("playbook", names("playbooks", ".yml")),
        ("role", sorted(path.name for path in (ROOT / "roles").iterdir() if path.is_dir())),
        ("callback", names("plugins/callback", ".py")),
        ("inventory", names("plugins/inventory", ".py")),
        ("filter", names("plugins/filter", ".py")),
        ("lookup", names("plugins/lookup", ".py")),
        (
            "for `ansible-rulebook`",
            names("extensions/eda/plugins/event_source", ".py") + names("extensions/eda/rulebooks", ".yml"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_contents_page_lists_every_plugin_playbook_and_role(table, there):
    page = (ROOT / "docs/contents.md").read_text()
    rows = re.search(rf"^\| {re.escape(table)} \|.*\n\|-.*\n((?:\|.*\n)+)", page, re.MULTILINE)[1].splitlines()
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])) == sorted(there)


def test_index_of_the_site_has_every_page():
    lines = (ROOT / "docs/docsite/index.md").read_text().splitlines()
    pages = [f"{folder}/{name}" for folder in ("docs", "docs/dev") for name in names(folder, ".md")]
    assert [page for page in pages if page not in lines] == []
